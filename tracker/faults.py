"""What is wrong with pages by themselves: not what became of their errors, which is `check`'s to say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tracker.catalogue.page import CUT
from tracker.locate import in_excerpt, in_snapshot
from tracker.message import wording
from tracker.model import Entry, Revision, Site
from tracker.names import Names
from tracker.snapshots import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something on a page that is not so."""

    page: str
    entry: str
    kind: str
    """`unlocated`, `excerpt`, `twice`, `related-gone`, `reference-gone`."""
    said: str


def faults_of(
    sources: Sources,
    entries: Sequence[Entry],
    target: Revision,
    pins: Mapping[str, Revision],
    package: str,
) -> tuple[list[Fault], Counter[str]]:
    """The faults of the pages in their order, and how much could not be checked, by what it is."""
    unchecked: Counter[str] = Counter()
    snapshots = dict(zip(pins, sources.snapshots(list(pins.values())), strict=True))
    (current,) = sources.snapshots([target])
    names = Names(sources, target, package)
    known = {wording(page)[:CUT] for entry in entries for page in (entry.title, entry.message)}
    known |= {wording(text)[:CUT] for site in current.sites for text in site.messages}
    owners: dict[tuple[str, Site], Entry] = {}
    found: list[Fault] = []
    for entry in entries:
        pinned = snapshots.get(entry.pin)
        site = in_snapshot(entry, pinned) if pinned is not None else in_excerpt(entry)
        if pinned is None:
            unchecked["pages whose pin the mirror does not have"] += 1
        if isinstance(site, str):
            found.append(_fault(entry, "unlocated", site))
        elif (other := owners.setdefault((entry.pin, site), entry)) is not entry:
            found.append(_fault(entry, "twice", f"{other.file} is about the same raise statement"))
        elif pinned is not None and _differs(entry, sources.lines(pinned.revision, entry.path)):
            found.append(_fault(entry, "excerpt", f"the excerpt is not what {entry.path} says at its own pin"))
        for title in entry.related:
            start = wording(title)[:CUT]
            if start and not any(one.startswith(start) or start.startswith(one) for one in known if one):
                found.append(_fault(entry, "related-gone", f"no page and no error of {target.name} says {title!r}"))
        for name in _dotted(entry, package):
            verdict = names.has(name)
            if verdict is None:
                unchecked["names that cannot be told from the source alone"] += 1
            elif not verdict:
                found.append(_fault(entry, "reference-gone", f"{target.name} has no {name}"))
    return found, unchecked


def _fault(entry: Entry, kind: str, said: str) -> Fault:
    return Fault(page=entry.file, entry=entry.id, kind=kind, said=said)


def _differs(entry: Entry, source: Sequence[str]) -> bool:
    if not entry.excerpt or entry.excerpt_line is None:
        return False
    lines = entry.excerpt.split("\n")
    return list(source[entry.excerpt_line - 1 : entry.excerpt_line - 1 + len(lines)]) != lines


def _dotted(entry: Entry, package: str) -> Iterator[str]:
    """The names of the package that the page's own words mention, each once."""
    said = "\n".join((*entry.solutions, entry.trigger, entry.meaning))
    pattern = rf"(?<![\w./-]){re.escape(package)}(?:\.[A-Za-z_]\w*)+(?![\w/])"
    yield from dict.fromkeys(match[0] for match in re.finditer(pattern, said) if not match[0].endswith(".py"))
