"""Pages brought up to a target: what became of their entries -> the pages as they should be. Reads and writes nothing.

Only the facts that the tracker owns are touched. What has not been verified at the target, or differs in meaning and
was not accepted, keeps its page as it is, pin and all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from tracker.catalogue.excerpt import first_line_in, window
from tracker.catalogue.page import Facts, Page, PageError, retire, with_facts
from tracker.catalogue.restate import as_title, restated
from tracker.locate import agrees
from tracker.message import wording
from tracker.model import Drift, Entry, Kind, Report, Site, leaf

MECHANICAL = frozenset({Kind.MOVED, Kind.EXCERPT_CHANGED, Kind.PLACEHOLDER_CHANGED, Kind.RELOCATED})
"""Kinds that are mended without being asked: what the page says of the error stays true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What pages are pinned to."""

    commit: str
    """40 hex digits of upstream's own commit."""
    date: str
    """ISO date of that commit."""
    lines: Callable[[str], Sequence[str]]
    """Path -> the source there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Since when an error is no longer raised, as far as it is known."""

    commit: str
    date: str
    known: bool
    """Whether the commit is the one that took it out; else it is one without it."""
    last: str | None = None
    """The last release that raised it, and the first that does not, as `jax 0.12.0`."""
    first: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A page, and as it should be."""

    before: Page
    after: Page
    drift: Drift | None
    """None: nothing but the pin."""

    @property
    def accepted(self) -> bool:
        """Whether the meaning differs, and somebody accepted that."""
        return self.drift is not None and bool(self.drift.kinds - MECHANICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A page that stays as it is, and why."""

    page: Page
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A page that stays as it is until somebody accepts its drift."""

    page: Page
    drift: Drift


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Every page but those that are right already; each in the order of the pages."""

    changes: Sequence[Change]
    waiting: Sequence[Waiting]
    left: Sequence[Left]


def plan(
    pages: Sequence[Page],
    report: Report,
    target: Target,
    origin: Callable[[Entry], Sequence[str]],
    accepted: Collection[str],
    ending: Callable[[Page, Drift], Ending],
) -> Plan:
    """What is to be done to each page, `report` being of these pages and this target.

    `origin` has the source that a page was taken from, nothing where that is not known. `accepted` holds the ids of
    entries whose drift of meaning is accepted. `ending` tells of a removed error since when it is gone.
    """
    drifts = {drift.entry: drift for drift in report.drifts if drift.entry is not None}
    unlocated = {one.entry: one.reason for one in report.unlocated}
    changes: list[Change] = []
    waiting: list[Waiting] = []
    left: list[Left] = []
    for page in pages:
        drift = drifts.get(page.entry.id)
        if reason := unlocated.get(page.entry.id) or (drift and _undecidable(page, drift)):
            left.append(Left(page=page, reason=reason))
            continue
        if drift is not None and drift.kinds - MECHANICAL and page.entry.id not in accepted:
            waiting.append(Waiting(page=page, drift=drift))
            continue
        try:
            if drift is not None and drift.after is None:
                after = retire(page, _farewell(page, drift, ending(page, drift), target))
            else:
                after = _repinned(page, drift, target, origin(page.entry))
        except PageError as error:
            left.append(Left(page=page, reason=error.fault.reason))
            continue
        if after.text != page.text:
            changes.append(Change(before=page, after=after, drift=drift))
    return Plan(changes=changes, waiting=waiting, left=left)


def _undecidable(page: Page, drift: Drift) -> str | None:
    """Why nobody can accept this drift, if so."""
    if drift.before is None and drift.after is not None:
        return (
            f"its error is raised again at {drift.after.path}:{drift.after.line}: take line "
            f"{page.line_of('retired')} out of the page, then repin it"
        )
    if drift.before is not None and not drift.certain:
        return f"its error was not found, and {drift.before.path} could not be wholly read: it may still be there"
    return None


def _repinned(page: Page, drift: Drift | None, target: Target, origin: Sequence[str]) -> Page:
    """The page with its facts as they are at the target. PageError: it could not state them, or not be read again."""
    entry = page.entry
    if entry.retired:
        return page
    facts = Facts()
    if not target.commit.startswith(entry.pin):
        facts |= {"pin": target.commit[: len(entry.pin)], "date": target.date}
    path, at = entry.path, entry.line
    if drift is not None and drift.before is not None and drift.after is not None:
        path, at = drift.after.path, drift.after.line
        facts |= {"path": path, "line": at, **_said(page, drift.before, drift.after)}
    if entry.excerpt and (facts or drift is not None):
        facts["excerpt"] = _excerpt(page, target.lines(path), at, origin)
    after = with_facts(page, **facts)
    if drift is not None and drift.after is not None and not agrees(after.entry, drift.after):
        raise page.fault("message", "it has no place for what is raised now, so it has to be written by hand")
    ours = {name: getattr(entry, name) for name in (*facts, "message", "message_cut", "excerpt_line")}
    if replace(after.entry, **ours) != entry:
        raise page.fault("excerpt", "with its new excerpt, the rest of the page would be read as something else")
    return after


def _excerpt(page: Page, source: Sequence[str], line: int, origin: Sequence[str]) -> str:
    """The excerpt as it is now, through the window that the page has. PageError: the window is not known."""
    entry = page.entry
    first = first_line_in(origin, entry.excerpt, line=entry.line, guess=entry.excerpt_line)
    if first is None:
        raise page.fault("excerpt", "its excerpt does not show the raise statement, so its window is not known")
    before = entry.line - first
    after = entry.excerpt.count("\n") - before
    same = "\n".join(source[max(0, line - before - 1) : line + after])
    if same == entry.excerpt:
        return same
    start, stop = window(source, line, before, after)
    return "\n".join(source[start - 1 : stop])


def _said(page: Page, before: Site, after: Site) -> Facts:
    """Exception, title and message, where they differ between the sites; in the page's own way."""
    facts = Facts()
    if leaf(before.exception) != leaf(after.exception):
        if after.exception is None:
            raise page.fault("exception", "what is raised now has no name, so the page has to be written by hand")
        name = after.exception
        facts["exception"] = name if "." in page.entry.exception else name.rpartition(".")[2]
    pairs = [
        (old, new)
        for old in before.messages
        if (new := _continued(old, before, after)) is not None and restated(page.entry.message, old, new) is not None
    ]
    if not pairs or pairs[0][0] == pairs[0][1]:
        return facts
    old, new = pairs[0]
    if (title := as_title(page.said("title"), old, new)) is not None and "title" in page.spans:
        facts["title"] = title
    if (message := restated(page.said("message"), old, new)) is not None and "message" in page.spans:
        facts["message"] = message
    return facts


def _continued(old: str, before: Site, after: Site) -> str | None:
    """The text of a site that goes on as one of the next site's texts."""
    texts = after.messages
    if old in texts:
        return old
    if len(texts) == len(before.messages):
        return texts[before.messages.index(old)]
    same = [text for text in texts if wording(text) == wording(old)]
    return max(same or texts, key=lambda text: SequenceMatcher(None, old, text).ratio(), default=None)


def _farewell(page: Page, drift: Drift, ending: Ending, target: Target) -> str:
    """The line of a page whose error is no longer raised."""
    digits = len(page.entry.pin)
    line = f"No longer raised {'since' if ending.known else 'at'} {ending.commit[:digits]} ({ending.date})"
    if ending.first:
        line += f", {ending.first}"
    if ending.last:
        line += f"; last raised in {ending.last}"
    line += "."
    if (heir := drift.possible) is not None:
        says = " ".join((heir.message or "").split())
        raises = f"{leaf(heir.exception) or 'raise'}{': ' if says else ''}{says}"
        line += f" Likely successor: {heir.path}:{heir.line} at {target.commit[:digits]}, {raises}"
    return line
