"""What every format says of a drift, as plain text: no markup, no layout, no colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tracker.model import Cause, Drift, Kind, Report, Revision, Site
from tracker.report.words import Change, counted, paired

NO_TEXT = "(no text)"
CLEAR = 0.5
"""Lead over the runner-up from which a match is not worth a remark."""

TITLES = {
    Kind.REMOVED: "Removed",
    Kind.REWORDED: "Reworded",
    Kind.RETYPED: "Another exception",
    Kind.GUARD_CHANGED: "Raised under other conditions",
    Kind.NEW: "New",
    Kind.PLACEHOLDER_CHANGED: "Other placeholders",
    Kind.RELOCATED: "Elsewhere",
    Kind.EXCERPT_CHANGED: "Source around it changed",
    Kind.MOVED: "Moved, and nothing else",
}
"""Of the drifts that are told under one kind."""


class Row(NamedTuple):
    """One fact of a drift."""

    label: str
    text: str
    """What is the same on both sides."""
    changes: Sequence[Change]
    """What is not."""


def rows(drift: Drift) -> Iterator[Row]:
    """Message, exception and condition of a drift that has a site on one side at least."""
    before, after = drift.before or drift.after, drift.after or drift.before
    assert before is not None
    assert after is not None
    if drift.kinds & {Kind.REWORDED, Kind.PLACEHOLDER_CHANGED}:
        changes, rest = text_changes(before, after)
        yield Row("message", rest, [(folded(ours), folded(theirs)) for ours, theirs in changes])
    else:
        yield Row("message", texts(before), ())
    for label, kind, fact in (("raises", Kind.RETYPED, exception), ("when", Kind.GUARD_CHANGED, condition)):
        differs = kind in drift.kinds
        yield Row(label, "" if differs else fact(before), [(fact(before), fact(after))] if differs else ())


def texts(site: Site) -> str:
    """All texts of a site on one line."""
    return " | ".join(map(folded, site.messages)) or NO_TEXT


def text_changes(before: Site, after: Site) -> tuple[list[Change], str]:
    """Each text that only one of two sites can have, beside what it is on the other (empty: nothing); and a remark on
    those that both can have. White space does not count.
    """
    both = set(map(folded, before.messages)) & set(map(folded, after.messages))
    ours, theirs = ([text for text in site.messages if folded(text) not in both] for site in (before, after))
    if not both and ours != theirs:
        ours, theirs = ours or [NO_TEXT], theirs or [NO_TEXT]
    return paired(ours, theirs), f"{counted(len(both), 'other text')}, as before" if both else ""


def folded(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def exception(site: Site) -> str:
    """The exception as written."""
    return site.exception or "what was caught"


def condition(site: Site) -> str:
    """The guard of a site on one line."""
    return ", ".join(site.guard) or "(always)"


def kinds(drift: Drift) -> list[Kind]:
    """The kinds in the order in which a person is told."""
    return [kind for kind in Kind if kind in drift.kinds]


def doubt(drift: Drift) -> str:
    """How good a pair is and how good the second best would have been, where that is worth a remark."""
    if drift.score is None or drift.score - (drift.runner_up or 0) >= CLEAR:
        return ""
    return f"likeness {drift.score:.2f}, of the next best {drift.runner_up or 0:.2f}"


def subject(cause: Cause) -> str:
    """The first line of a commit, without the pull request that is named apart."""
    number = cause.pull_request
    return cause.subject.removesuffix(f"(#{number})").rstrip() if number else cause.subject


def revision(one: Revision) -> str:
    """A revision, its commit and its day."""
    return f"{one.name} ({one.commit[:10]}, {one.committed_at[:10]})"


def base(report: Report) -> str:
    """What the report compares with."""
    return revision(report.base) if report.base else "the pages"
