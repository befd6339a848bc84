"""Sites -> draft pages: what the source says is filled in, what only a person can say is marked. Writes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tracker.catalogue.compose import Content, compose, titles
from tracker.catalogue.excerpt import AFTER, BEFORE, first_line_in, window
from tracker.catalogue.page import Page, PageError
from tracker.compare.near import near, says_something
from tracker.locate import agrees, in_snapshot
from tracker.message import wording
from tracker.model import Entry, Revision, Site, Snapshot
from tracker.pairing import pair_up
from tracker.snapshots import Sources

UNWRITTEN = "Draft: not written yet."
RELATED = 5
"""Related errors that a page names, as the samples do."""
PLACES = 3
"""Other places that are written out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What drafts are pinned to."""

    repository: str
    commit: str
    """40 hex digits of upstream's own commit."""
    date: str
    """ISO date of that commit."""
    lines: Callable[[str], Sequence[str]]
    """Path -> the source there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A page that was made of a site."""

    site: Site
    page: Page
    same: Sequence[Site]
    """Other sites with the same wording."""
    near: Sequence[Site]
    """A site of each wording that is nearly the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undrafted:
    """A site that no page can be made of, and why."""

    site: Site
    reason: str


def identity(site: Site) -> str:
    """The id of the page of a site: the first 16 hex digits of its fingerprint."""
    return site.fingerprint.partition(":")[2][:16]


def without_page(
    sources: Sources, target: Revision, entries: Sequence[Entry], pinned: Mapping[str, Revision]
) -> list[Site]:
    """The sites of the target that no entry speaks of.

    `pinned` are the pins that the mirror has. An entry without its pin speaks of the nearest site of its file that
    agrees with it.
    """
    wanted = list(dict.fromkeys(entry.pin for entry in entries if entry.pin in pinned))
    after, *before = sources.snapshots([target, *(pinned[pin] for pin in wanted)])
    snapshots = dict(zip(wanted, before, strict=True))
    pairs = {pin: pair_up(sources, one, after, history=False).pairs for pin, one in snapshots.items()}
    taken: set[Site | None] = set()
    for entry in entries:
        found = in_snapshot(entry, snapshots[entry.pin]) if entry.pin in snapshots else ""
        if isinstance(found, Site):
            taken.add(pairs[entry.pin][found].after)
        else:
            same = [site for site in after.sites if site.path == entry.path and agrees(entry, site)]
            taken.add(min(same, key=lambda site: abs(site.line - entry.line), default=None))
    return [site for site in after.sites if site not in taken]


def draft(snapshot: Snapshot, sites: Iterable[Site], origin: Origin) -> tuple[list[Draft], list[Undrafted]]:
    """A page of each of these sites of the snapshot, or why there can be none; in their order."""
    places: dict[str, list[Site]] = defaultdict(list)
    for site in snapshot.sites:
        if site.message is not None and says_something(words := wording(site.message)):
            places[words].append(site)
    alike = near(site.message for site in snapshot.sites if site.message is not None)
    made: list[Draft] = []
    left: list[Undrafted] = []
    for site in sites:
        if site.exception is None or site.message is None or not site.message.strip():
            reason = snapshot.reasons.get(site) or "the source shows no text"
            left.append(Undrafted(site=site, reason=reason))
            continue
        words = wording(site.message)
        same = [other for other in places.get(words, ()) if other != site]
        others = [places[other][0] for other in alike.get(words, ())]
        try:
            page = _page(site, origin, same, others)
        except PageError as error:
            left.append(Undrafted(site=site, reason=error.fault.reason))
        else:
            made.append(Draft(site=site, page=page, same=same, near=others))
    return made, left


def _page(site: Site, origin: Origin, same: Sequence[Site], others: Sequence[Site]) -> Page:
    """The page of a site. PageError: it cannot state the site so that it is found again."""
    assert site.exception is not None
    assert site.message is not None
    lines = origin.lines(site.path)
    start, stop = window(lines, site.line, BEFORE, AFTER)
    content = Content(
        id=identity(site),
        repository=origin.repository,
        exception=site.exception,
        message=site.message,
        path=site.path,
        line=site.line,
        pin=origin.commit,
        date=origin.date,
        excerpt="\n".join(lines[start - 1 : stop]),
        meaning=" ".join([UNWRITTEN, *_elsewhere(same)]),
        solutions=[UNWRITTEN],
        example=UNWRITTEN,
        trigger=f"Draft, from the source: {_condition(site)}.",
        situations=UNWRITTEN,
        related=titles(other.message or "" for other in others)[:RELATED],
    )
    file = f"{content.id}.txt"
    page = compose(content, file)
    if not agrees(page.entry, site):
        raise page.fault("message", "no page can state its message so that it is found again")
    first = first_line_in(lines, content.excerpt, line=site.line, guess=page.entry.excerpt_line)
    if first is None or list(lines[first - 1 : first + stop - start]) != content.excerpt.split("\n"):
        # Broken syntax makes a parser see statements where none are.
        raise page.fault("excerpt", "no raise statement stands where the file, which is broken, seems to have one")
    return page


def _elsewhere(same: Sequence[Site]) -> list[str]:
    if not same:
        return []
    named = ", ".join(f"{site.path}:{site.line}" for site in same[:PLACES])
    more = f" and {len(same) - PLACES} more" if len(same) > PLACES else ""
    return [f"The same message is raised at {named}{more}."]


def _condition(site: Site) -> str:
    """Where and when a site is reached, on one line."""
    where = f"in {site.scope}" if site.scope else "when the module is read"
    guard = ", ".join(" ".join(condition.split()) for condition in site.guard)
    return f"{where}: {guard}" if guard else where
