"""Killed at every step of a delivery, then started again: all is as without the crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.filing.crash import deliver_killed, full_after
from tests.filing.desk import DAY, HOUR, MINUTE, REPO, Desk, new, removed, reworded
from tests.github.fake import FakeGitHub
from tracker.errors import StoreError
from tracker.filing.marks import key_of
from tracker.ledger import State


def _file(desk: Desk) -> None:
    desk.see(reworded("e1"), removed("e2"), new("n1"))
    desk.see(reworded("e1"), removed("e2"), new("n1"))


def _update(desk: Desk) -> None:
    _file(desk)
    desk.deliver()
    desk.see(reworded("e1", "c"), removed("e2"), new("n1"), new("n2"))


def _close(desk: Desk) -> None:
    _file(desk)
    desk.deliver()
    desk.see()


def _reopen(desk: Desk) -> None:
    _close(desk)
    desk.deliver()
    desk.later(DAY)
    desk.see(reworded("e1", "c"))


def _remind(desk: Desk) -> None:
    _file(desk)
    desk.deliver()
    desk.fake.close(desk.fake.open(REPO)[0])
    desk.deliver()
    desk.later(8 * DAY)


def _rebuild(desk: Desk) -> None:
    _file(desk)
    desk.deliver()
    desk.lose_database()
    desk.see(reworded("e1", "c"), removed("e2"), new("n1"))


Situation = Callable[[Desk], None]
SITUATIONS: list[Situation] = [_file, _update, _close, _reopen, _remind, _rebuild]


def _world(desk: Desk) -> list[tuple[str, str, str, list[str]]]:
    """All that a person sees on GitHub, whatever the order it came in."""
    return sorted(
        (issue.title, issue.state, str(key_of(issue.body or "")), [text for _, _, text, _ in issue.comments])
        for issue in desk.fake.ours(REPO)
    )


def _settle(desk: Desk) -> None:
    for _ in range(2):
        desk.later(HOUR)
        desk.deliver()


@pytest.fixture(params=SITUATIONS, ids=lambda situation: situation.__name__.strip("_"))
def situation(request: pytest.FixtureRequest) -> Situation:
    chosen: Situation = request.param
    return chosen


def _desks(folder: Path) -> Iterator[Desk]:
    number = 0
    while True:
        with FakeGitHub() as fake:
            fake.repository(REPO)
            place = folder / str(number)
            place.mkdir()
            desk = Desk(place, fake)
            desk.start()
            try:
                yield desk
            finally:
                desk.database.close()
        number += 1


def test_a_delivery_killed_at_any_step_ends_as_one_that_was_not(
    situation: Situation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 1 and 2, at every step there is."""
    desks = _desks(tmp_path)
    desk = next(desks)
    situation(desk)
    _, steps = deliver_killed(desk, None, monkeypatch)
    _settle(desk)
    right, total = _world(desk), len(steps.taken)
    assert {"before GET", "after GET", "before a commit", "after a commit"} <= set(steps.taken)
    assert {"POST", "PATCH"} & {name.rpartition(" ")[2] for name in steps.taken}
    for last in range(total):
        desk = next(desks)
        situation(desk)
        delivery, _ = deliver_killed(desk, last, monkeypatch)
        assert delivery is None
        desk.later(MINUTE)
        _settle(desk)
        assert _world(desk) == right, f"killed after {last} steps ({steps.taken[last]})"
        writes = len(desk.fake.writes)
        desk.deliver()
        assert len(desk.fake.writes) == writes, "a delivery with nothing to do wrote"
        assert not [item for item in desk.items().values() if item.state in (State.POSTING, State.CLOSING)]
    desks.close()  # type: ignore[attr-defined]


def test_a_disk_that_is_full_at_any_commit_stops_the_writes_and_doubles_nothing(
    situation: Situation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 27 and 31: also between an answer of GitHub and its recording."""
    desks = _desks(tmp_path)
    desk = next(desks)
    situation(desk)
    with full_after(None, monkeypatch) as tried:
        desk.deliver()
    _settle(desk)
    right = _world(desk)
    for last in range(len(tried)):
        desk = next(desks)
        situation(desk)
        before = len(desk.fake.writes)
        with full_after(last, monkeypatch) as again:
            with pytest.raises(StoreError, match="the disk is full"):
                desk.deliver()
            sent = len(desk.fake.writes) - before
            assert len(again) <= last + 2, "it went on without being able to record"
            if last == 0:
                assert not sent, "something was sent before its intent was durable"
        desk.later(MINUTE)
        _settle(desk)
        assert _world(desk) == right, f"full at commit {last}"
