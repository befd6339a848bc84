"""A report -> what is recorded of it: whether it can be believed, its drifts by entry, and why others ended.

Pure: it takes values and gives values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracker.errors import RunError
from tracker.filing.outlook import Coverage
from tracker.ledger import Family, Found, Gone, content, family
from tracker.model import Entry, Report
from tracker.report.words import counted
from tracker.store.drifts import Seen
from tracker.store.runs import Run

LEAST_SHARE = 0.5
"""Fewer sites than this share of last time are no check: a folder moved, or the wrong repository."""


def verify(report: Report, last: Run | None) -> None:
    """RunError: what was read cannot be all of it."""
    sites = report.coverage[1].sites
    if not sites:
        raise RunError(f"{report.target.commit[:12]} has no raise statement at all: the check is not believed")
    if last is not None and last.sites and sites < LEAST_SHARE * last.sites:
        raise RunError(
            f"{report.target.commit[:12]} has {counted(sites, 'raise statement')}, and {last.sites} were there at the "
            "last run: the check is not believed; if it is right, look at [upstream] paths, and start with a new state"
        )
    if not report.summary.checked:
        raise RunError("not one page could be located: nothing was checked")


def seen(report: Report, entries: Sequence[Entry], upstream: Mapping[str, str]) -> list[Seen]:
    """The drifts of a report by (entry, family), each with the commits it is between.

    `upstream` names the commits of releases as upstream does: for others the mirror's own name is no address.
    """
    pinned = {entry.id: entry.pin for entry in entries}
    base = report.base.commit if report.base is not None else ""
    found: dict[tuple[str, Family], Seen] = {}
    for drift in report.drifts:
        site = drift.before or drift.after
        assert site is not None
        entry = drift.entry or site.fingerprint
        pin = pinned.get(entry, "")
        origin = drift.origin or pin or base
        one = Seen(
            entry=entry,
            page=report.pages.get(entry, ""),
            family=family(drift),
            fingerprint=content(drift),
            drift=drift,
            base_commit=upstream.get(origin, origin),
            target_commit=report.target.commit,
            pin=pin,
        )
        found.setdefault((one.entry, one.family), one)
    return list(found.values())


def coverage(report: Report, entries: Sequence[Entry], faulty: bool) -> Coverage:
    """What the check could look at; `faulty` where a page could not be read."""
    unlocated = {one.entry for one in report.unlocated}
    return Coverage(
        entries=frozenset({entry.id for entry in entries} - unlocated),
        whole=not faulty and not unlocated,
        new=report.base is not None,
        checked=report.summary.checked,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Why a drift that was not seen again is over."""

    tracked: str
    """`pages`, or `all` sites of the base."""
    covered: Coverage
    pins: Mapping[str, str]
    """Entry -> its pin."""

    def __call__(self, found: Found) -> Gone | None:
        """None where the run did not look there."""
        if found.family is Family.NEW:
            return Gone(reason="it is gone, or has a page", by_hand=True) if self.covered.new else None
        if found.drift.entry is None:  # tracked as a site of the base
            if self.tracked != "all":
                return Gone(reason="it is no longer tracked", by_hand=True)
            return Gone(reason="the source says again what the base said", by_hand=False)
        pin = self.pins.get(found.entry)
        if pin is None:
            return Gone(reason="there is no such page any more", by_hand=False) if self.covered.whole else None
        if found.entry not in self.covered.entries:
            return None
        before = found.pin or found.base_commit  # the latter is all that an older tracker kept
        if not (before.startswith(pin) or pin.startswith(before)):
            return Gone(reason="the page was brought up to date", by_hand=True)
        return Gone(reason="the source says again what the page says", by_hand=False)
