"""What is recorded of a report: which commits its lines are of, and why a drift that is gone is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.filing.desk import new, reworded
from tracker.filing.outlook import Coverage
from tracker.ledger import Family, Found
from tracker.model import Coverage as Read
from tracker.model import Drift, Entry, Report, Revision, Summary
from tracker.recording import Ends, seen

PIN, FULL, RELEASE, TARGET = "a" * 10, "a" * 40, "e" * 40, "f" * 40


def _found(pin: str, base_commit: str) -> Found:
    return Found(
        id=1,
        entry="e1",
        page="e1.txt",
        family=Family.MEANING,
        fingerprint="x",
        drift=reworded("e1"),
        base_commit=base_commit,
        target_commit=TARGET,
        pin=pin,
        first_seen=0,
        last_seen=0,
        confirmed=True,
        baseline=False,
    )


@pytest.mark.parametrize(
    ("recorded", "base_commit", "now", "by_hand"),
    [
        (PIN, FULL, PIN, False),
        (PIN, RELEASE, PIN, False),  # the mirror has the pin only as a release that was built from it
        (PIN, FULL, FULL, False),  # the same, written out
        (FULL, FULL, PIN, False),
        (PIN, FULL, "b" * 10, True),
        ("", FULL, PIN, False),  # as older trackers recorded it
        ("", PIN, FULL, False),
        ("", FULL, "b" * 10, True),
    ],
)
def test_whether_a_person_did_it(recorded: str, base_commit: str, now: str, by_hand: bool) -> None:
    covered = Coverage(entries=frozenset({"e1"}), whole=True, new=True, checked=1)
    gone = Ends(tracked="pages", covered=covered, pins={"e1": now})(_found(recorded, base_commit))
    assert gone is not None
    assert gone.by_hand is by_hand
    assert gone.reason == ("the page was brought up to date" if by_hand else "the source says again what the page says")


@pytest.mark.parametrize(
    ("drift", "base_commit", "pin"),
    [
        (replace(reworded("e1"), origin=FULL), FULL, PIN),
        (replace(reworded("e1"), origin=RELEASE), FULL, PIN),
        (replace(reworded("e1"), origin=PIN), PIN, PIN),
        (replace(reworded("e1"), before=None), PIN, PIN),  # of a page that says that it is no longer raised
        (new("n"), FULL, ""),
    ],
)
def test_lines_are_of_a_commit_that_upstream_has(drift: Drift, base_commit: str, pin: str) -> None:
    read = Read(files=1, sites=1, with_message=1)
    report = Report(
        repository="a/b",
        base=Revision(name="release:1", commit=RELEASE, committed_at="2026-01-01T00:00:00+00:00"),
        target=Revision(name="main", commit=TARGET, committed_at="2026-01-01T00:00:00+00:00"),
        files=((), ()),
        coverage=(read, read),
        partial={},
        summary=Summary(checked=1, unchanged=0, differing=1, kinds={}),
        drifts=(drift,),
        tracked="pages",
        pages={"e1": "e1.txt"},
    )
    entry = Entry(
        id="e1",
        file="e1.txt",
        repository="a/b",
        exception="ValueError",
        title="t",
        message="m",
        message_cut=False,
        path="pkg/a.py",
        line=1,
        excerpt="",
        excerpt_line=None,
        pin=PIN,
        date="2026-01-01",
    )
    (one,) = seen(report, [entry], {RELEASE: FULL})
    assert (one.base_commit, one.target_commit, one.pin) == (base_commit, TARGET, pin)
