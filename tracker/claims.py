"""What pages claim: the site that each of them speaks of, where it was true, and what of it can still be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tracker.catalogue.excerpt import first_line_in
from tracker.locate import finder, in_excerpt, in_snapshot
from tracker.model import Entry, Revision, Site, Snapshot, Unlocated
from tracker.snapshots import Sources


@dataclass(frozen=True, slots=True)
class Claim:
    """An entry, the site it speaks of, and the snapshot that site was found in; None: the page's own excerpt."""

    entry: Entry
    site: Site
    origin: Snapshot | None

    @property
    def at(self) -> str:
        """The commit at which the site stands so."""
        return self.origin.revision.commit if self.origin is not None else self.entry.pin


def locate(
    sources: Sources, entries: Sequence[Entry], pinned: Mapping[str, Snapshot], base: Snapshot | None
) -> tuple[list[Claim], list[Unlocated]]:
    """The sites that entries speak of, and the entries without one; `pinned`: pin -> snapshot, where the mirror has it.

    A page is believed where it was written; without its pin, a base that shows exactly what it says will do.
    """
    located, unlocated = [], []
    finders: dict[str, Callable[[Entry], Site | str]] = {}
    for entry in entries:
        origin: Snapshot | None = pinned.get(entry.pin) or base
        found: Site | str = ""
        if origin is not None:
            find = finders.get(origin.revision.commit)
            if find is None:
                find = finders[origin.revision.commit] = finder(origin)
            found = find(entry)
        if isinstance(found, str) and entry.pin not in pinned:
            origin, found = None, in_excerpt(entry)
        elif isinstance(found, str) and origin is not None:
            found = in_snapshot(entry, sources.verified(origin, [entry.path]))
        if isinstance(found, str):
            unlocated.append(Unlocated(entry=entry.id, reason=found))
        else:
            located.append(Claim(entry, found, origin))
    return located, unlocated


def completed(before: Site, after: Site) -> Site:
    """What an excerpt does not show of a site is taken to be as it is now."""
    if not before.scope:
        seen = len(before.guard)
        same = before.guard == after.guard[len(after.guard) - seen :]
        return replace(before, scope=after.scope, guard=after.guard if same else before.guard)
    return replace(before, scope=after.scope) if after.scope.endswith("." + before.scope) else before


def excerpt_changed(claim: Claim, after: Site | None, sources: Sources, target: Revision) -> bool:
    """Whether the lines that a page shows read otherwise around the site that its own became."""
    entry, origin = claim.entry, claim.origin
    source = sources.lines(origin.revision, entry.path) if origin is not None else []
    first = first_line_in(source, entry.excerpt, line=entry.line, guess=entry.excerpt_line)
    if after is None or not entry.excerpt or first is None:
        return False
    start = after.line - (entry.line - first) - 1
    lines = entry.excerpt.split("\n")
    return start < 0 or sources.lines(target, after.path)[start : start + len(lines)] != lines
