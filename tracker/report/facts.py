"""What every format says of a drift, as plain text: no markup, no layout, no colour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tracker.model import Cause, Drift, Kind, Report, Revision, Site

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
    """One fact of a drift; `after` is None where it is the same on both sides."""

    label: str
    before: str
    after: str | None


def rows(drift: Drift) -> Iterator[Row]:
    """Message, exception and condition of a drift that has a site on one side at least."""
    before, after = drift.before or drift.after, drift.after or drift.before
    assert before is not None
    assert after is not None
    texts_differ = drift.kinds & {Kind.REWORDED, Kind.PLACEHOLDER_CHANGED}
    yield Row("message", texts(before), texts(after) if texts_differ else None)
    yield Row("raises", exception(before), exception(after) if Kind.RETYPED in drift.kinds else None)
    yield Row("when", condition(before), condition(after) if Kind.GUARD_CHANGED in drift.kinds else None)


def texts(site: Site | None) -> str:
    """All texts of a site on one line."""
    return " | ".join(" ".join(text.split()) for text in site.messages) if site and site.messages else "(no text)"


def exception(site: Site) -> str:
    """The exception as written."""
    return site.exception or "what was caught"


def condition(site: Site | None) -> str:
    """The guard of a site on one line."""
    return ", ".join(site.guard) if site is not None and site.guard else "(always)"


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
