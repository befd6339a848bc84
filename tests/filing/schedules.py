"""Random years at the desk: drifts come and go, people act, GitHub fails, the process is killed; then the invariants.

    python -m tests.filing.schedules 1000

plays a thousand of them and prints what went wrong; `test_schedules.py` plays some in every run of the tests.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.filing.crash import deliver_killed
from tests.filing.desk import DAY, HOUR, MINUTE, REPO, UPSTREAM, Desk, new, removed, reworded
from tests.github.fake import BOT, FakeGitHub, Issue
from tracker.errors import TrackerError
from tracker.filing.marks import events_of, key_of, mark_of
from tracker.ledger import Family, State, content, key
from tracker.model import Drift
from tracker.store.drifts import open_drifts

ENTRIES = ("e1", "e2", "e3", "e4")
FAULTS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("POST", "", "processed-reset", {}),
    ("POST", "", "reset", {}),
    ("POST", "", "processed-status", {"code": 502}),
    ("POST", "/issues$", "late", {"seconds": 120}),
    ("POST", "", "truncated", {}),
    ("POST", "", "cut", {}),
    ("POST", "", "lazy", {}),
    ("POST", "", "html", {"code": 502}),
    ("POST", "", "status", {"code": 403, "message": "secondary rate limit", "headers": {"retry_after": "120"}}),
    ("POST", "", "status", {"code": 429}),
    ("POST", "", "status", {"code": 422}),
    ("PATCH", "", "processed-reset", {}),
    ("PATCH", "", "status", {"code": 500}),
    ("GET", "issues\\?", "truncated", {}),
    ("GET", "issues\\?", "status", {"code": 500}),
    ("GET", "comments", "status", {"code": 502}),
    ("GET", "/user", "status", {"code": 401}),
    ("GET", "/user", "truncated", {}),
    ("GET", "issues/\\d+$", "truncated", {}),
    ("GET", "comments", "html", {"code": 200}),
    ("", "", "says", {"content": b"[]"}),
    ("", "", "status", {"code": 403, "message": "Resource not accessible"}),
    ("", "", "redirect", {"code": 307, "to": "https://elsewhere.example/"}),
    ("POST", "", "status", {"code": 410, "message": "Issues has been disabled in this repository."}),
    ("PATCH", "", "status", {"code": 410, "message": "This issue was deleted"}),
    ("PATCH", "", "truncated", {}),
    ("", "", "drip", {"seconds": 300}),
    ("", "", "reset", {}),
]


class Year:
    """One random schedule."""

    def __init__(self, seed: int, folder: Path, patch: Any) -> None:
        self.random = random.Random(seed)
        self.patch, self.folder = patch, folder
        self.wrong: list[str] = []
        self.log: list[str] = []
        self.drifts: dict[str, Drift] = {}
        self.touched: set[int] = set()
        """Issues that a person acted upon."""
        self.lost_database = False

    def play(self, steps: int = 14) -> list[str]:
        """What went wrong; empty where nothing did."""
        with FakeGitHub() as fake:
            fake.repository(REPO)
            self.fake, self.desk = fake, Desk(self.folder, fake)
            self.desk.entries = set(ENTRIES)
            self.desk.start()
            for _ in range(steps):
                self.random.choices(
                    [self._upstream, self._person, self._fault, self._deliver, self._wait, self._lose],
                    [4, 2, 3, 8, 3, 0.3],
                )[0]()
            self._converge()
            self.desk.database.close()
            self.wrong += fake.wrong
        return self.wrong

    # What happens

    def _upstream(self) -> None:
        entry = self.random.choice(ENTRIES)
        what = self.random.choice(["reword", "reword", "remove", "back", "new"])
        if what == "reword":
            self.drifts[entry] = reworded(entry, self.random.choice("bcd"))
        elif what == "remove":
            self.drifts[entry] = removed(entry, certain=self.random.random() < 0.8)
        elif what == "back":
            self.drifts.pop(entry, None)
        else:
            self.drifts["new"] = new(f"new {self.random.randrange(3)}")
        self.log.append(f"{what} {entry}")
        self._see()

    def _see(self) -> None:
        self.desk.see(*self.drifts.values(), entries=set(ENTRIES))

    def _person(self) -> None:
        issues = self.fake.ours(REPO)
        if not issues:
            return
        issue = self.random.choice(issues)
        deed = self.random.choice(
            ["not_planned", "completed", "reopen", "lock", "unlock", "delete", "edit", "say", "label"]
        )
        self.log.append(f"a person: {deed} #{issue.number}")
        self.touched.add(issue.number)
        if deed in ("not_planned", "completed"):
            self.fake.close(issue, deed)
        elif deed == "reopen":
            self.fake.reopen(issue)
        elif deed in ("lock", "unlock"):
            issue.locked = deed == "lock"
        elif deed == "delete":
            issue.deleted = True
        elif deed == "edit":
            issue.body = f"mine\r\n{issue.body}"
        elif deed == "say":
            self.fake.say(issue, "hm")
        else:
            issue.labels.append("tracker:ignore")

    def _fault(self) -> None:
        method, path, kind, options = self.random.choice(FAULTS)
        self.fake.fail(method, path, kind, self.random.choice([1, 1, 2, 5]), **options)
        self.fake.stale = self.random.choice([0, 0, 600])
        self.log.append(f"fault {method} {path} {kind} {options}")

    def _wait(self) -> None:
        self.desk.later(self.random.choice([MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 10 * DAY, 40 * DAY]))

    def _lose(self) -> None:
        self.lost_database = True
        self.desk.lose_database()
        self._see()
        self.log.append("the database is lost")

    def _deliver(self) -> None:
        before = {issue.number: issue.state for issue in self.fake.ours(REPO)}
        last = self.random.randrange(60) if self.random.random() < 0.4 else None
        try:
            _, steps = deliver_killed(self.desk, last, self.patch)
            self.log.append(f"delivered, killed after {last} of {len(steps.taken)}")
        except TrackerError as error:
            self.log.append(f"delivered: {error}")
        self._closed_rightly(before)
        self._no_doubles()
        self.desk.later(self.random.choice([5 * MINUTE, HOUR, 6 * HOUR]))

    # What must hold

    def _closed_rightly(self, before: dict[int, str]) -> None:
        for issue in self.fake.ours(REPO):
            if before.get(issue.number) == "open" and issue.state == "closed" and issue.state_reason != "duplicate":
                mark = mark_of(issue.body or "")
                if mark is not None and mark.family is Family.MEANING and mark.entry in self.drifts:
                    self._fail(f"#{issue.number} was closed while its drift was there")

    def _no_doubles(self) -> None:
        alive = Counter(key_of(issue.body or "") for issue in self.fake.open(REPO) if issue.number not in self.touched)
        for name, count in alive.items():
            if name is not None and count > 1:
                self._fail(f"{count} open issues of one key")

    def _converge(self) -> None:
        self.fake.heal()
        self.fake.stale = 0
        for _ in range(3):
            self._see()
            self.desk.later(DAY + HOUR)
            for _ in range(3):
                self._peaceful()
                self.desk.later(HOUR)
        writes = len(self.fake.writes)
        self._peaceful()
        if len(self.fake.writes) != writes:
            self._fail("it does not come to rest")
        self._no_doubles()
        self._nothing_lost()
        self._once_each()

    def _peaceful(self) -> None:
        before = {issue.number: issue.state for issue in self.fake.ours(REPO)}
        try:
            self.desk.deliver()
        except TrackerError as error:
            self._fail(f"it does not recover: {error}")
        self._closed_rightly(before)

    def _nothing_lost(self) -> None:
        items = self.desk.items()
        told = {found.entry: found for found in open_drifts(self.desk.database)}
        for entry, drift in self.drifts.items():
            if entry == "new" or not drift.certain:
                continue
            item = items.get(key(UPSTREAM, entry, Family.MEANING))
            if item is None or item.state in (State.QUEUED, State.POSTING, State.RESOLVED, State.BLOCKED):
                if told[entry].baseline and self.lost_database:
                    continue  # what was there when the database was lost is the baseline of the new one
                if item is not None and item.state is State.BLOCKED:
                    continue  # GitHub said 422: it is shown to a person
                self._fail(f"{entry} is lost: {item}")
            elif item.state is State.OPEN and item.number not in self.touched and item.fingerprint != content(drift):
                self._fail(f"{entry} says something old")

    def _once_each(self) -> None:
        """Without a person's hand, a key has one issue, or a later one a month after the first was closed."""
        by_key: dict[str, list[Issue]] = {}
        for issue in self.fake.repository(REPO).issues.values():
            name = key_of(issue.body or "")
            if issue.author == BOT and name is not None:
                by_key.setdefault(name, []).append(issue)
        for issue in self.fake.ours(REPO):
            events = Counter(event for _, _, text, _ in issue.comments for event in events_of(text))
            for event, count in events.items():
                if count > 1:
                    self._fail(f"#{issue.number} has {count} comments of {event}")
        for name, issues in by_key.items():
            for older, newer in itertools.pairwise(issues):
                young = older.closed_at is None or newer.created_at - older.closed_at < 30 * DAY
                if young and older.number not in self.touched and older.state_reason != "duplicate":
                    self._fail(f"#{newer.number} repeats #{older.number} of {name}")

    def _fail(self, what: str) -> None:
        self.wrong.append(f"{what}\n    " + "\n    ".join(self.log))


def play(seed: int) -> list[str]:
    """One schedule in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        patch = pytest.MonkeyPatch()
        return Year(seed, Path(folder), patch).play()


if __name__ == "__main__":
    count, failed = int(sys.argv[1]), 0
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for number in range(first, first + count):
        if wrong := play(number):
            failed += 1
            print(f"schedule {number}:", *wrong[:2], sep="\n  ", flush=True)
    print(f"{count} schedules, {failed} with a fault")
