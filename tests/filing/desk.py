"""A catalogue's desk without a catalogue: runs that found what a test says, filed on a fake GitHub, with one clock."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.github.fake import TOKEN, FakeGitHub
from tracker.filing.deliver import Delivery, Outbox
from tracker.filing.outlook import Coverage, Outlook
from tracker.filing.states import Policy
from tracker.filing.words import Names
from tracker.github.client import GitHub
from tracker.ledger import Family, Found, Gone, Item, content, family
from tracker.model import Cause, Drift, Form, Kind, Site
from tracker.store import issues, runs
from tracker.store.database import Database
from tracker.store.drifts import Checked, Seen, record
from tracker.store.facts import Gate

REPO = "docs/errors"
UPSTREAM = "a/b"
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
POLICY = Policy(per_run=5, per_day=20, quarantine=30 * MINUTE, reopen=30 * DAY, patience=7 * DAY)


def site(message: str, path: str = "pkg/a.py", line: int = 10, guard: str = "x < 0") -> Site:
    return Site(
        path=path,
        line=line,
        end_line=line,
        scope="f",
        exception="ValueError",
        message=message,
        form=Form.LITERAL,
        guard=(guard,),
    )


def reworded(entry: str, new: str = "b", old: str = "a", path: str = "pkg/a.py") -> Drift:
    cause = Cause(
        commit="c" * 40, author="Ada", date="2026-01-01T00:00:00+00:00", subject="say it better (#7)", pull_request=7
    )
    return Drift(
        entry=entry,
        kinds=frozenset({Kind.REWORDED, Kind.MOVED}),
        before=site(f"{entry} {old}", path),
        after=site(f"{entry} {new}", path, 12),
        cause=cause,
    )


def removed(entry: str, certain: bool = True) -> Drift:
    return Drift(entry=entry, kinds=frozenset({Kind.REMOVED}), before=site(entry), after=None, certain=certain)


def new(message: str) -> Drift:
    return Drift(entry=None, kinds=frozenset({Kind.NEW}), before=None, after=site(message))


class Desk:
    """One database, one GitHub, one clock: that of the fake."""

    def __init__(self, folder: Path, fake: FakeGitHub, policy: Policy = POLICY) -> None:
        self.fake, self.policy = fake, policy
        self.path = folder / "tracker.sqlite3"
        self.database = self._opened()
        self.families = [Family.NEW]
        self.authors: tuple[str, ...] = ()
        self.labels: tuple[str, ...] = ()
        self.target = REPO
        self.token = TOKEN
        self.entries: set[str] = set()
        self.commits = 0
        self.run = 0
        self.slept = 0.0

    def clock(self) -> float:
        return self.fake.now

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.fake.now += seconds

    def later(self, seconds: float) -> None:
        self.fake.now += seconds

    def start(self) -> None:
        """The first run, on a catalogue without a drift."""
        self.see()

    def see(
        self,
        *drifts: Drift,
        entries: set[str] | None = None,
        uncovered: set[str] | None = None,
        whole: bool = True,
        by_hand: bool = False,
        commit: bool = True,
    ) -> None:
        """A verified run that found these drifts."""
        self.commits += commit
        target = f"{self.commits:040x}"
        self.run, _ = runs.begin(self.database, self.clock())
        self.entries |= {drift.entry for drift in drifts if drift.entry is not None}
        covered = (self.entries if entries is None else entries) - (uncovered or set())
        seen = [
            Seen(
                entry=drift.entry or (drift.after or drift.before).fingerprint,  # type: ignore[union-attr]
                page=f"{drift.entry}.txt" if drift.entry else "",
                family=family(drift),
                fingerprint=content(drift),
                drift=drift,
                base_commit="b" * 40,
                target_commit=target,
            )
            for drift in drifts
        ]

        def gone(found: Found) -> Gone | None:
            if found.entry in (uncovered or set()):
                return None
            if found.drift.entry is not None and found.entry not in covered:
                return Gone(reason="there is no such page any more", by_hand=False) if whole else None
            reason = "the page was brought up to date" if by_hand else "the source says again what the page says"
            return Gone(reason=reason, by_hand=by_hand)

        first = runs.last(self.database, runs.OK) is None
        record(
            self.database,
            self.run,
            Checked(
                target=target,
                previous=None,
                forced=False,
                base=None,
                input=target,
                files=1,
                sites=10,
                checked=max(1, len(covered)),
                baseline=first,
            ),
            seen,
            gone,
            self.clock(),
            Coverage(entries=frozenset(covered), whole=whole, new=True, checked=max(1, len(covered))).text(),
        )

    def deliver(self, all_closes: bool = False) -> Delivery:
        """What is due, filed."""
        with GitHub(
            self.fake.url,
            self.token,
            gate=Gate(self.database),
            clock=self.clock,
            sleep=self.sleep,
            spacing=3.0,
        ) as github:
            outbox = Outbox(
                self.database,
                github,
                Outlook.of(self.database, UPSTREAM, self.families),
                Names(repository=UPSTREAM, web=f"https://github.com/{UPSTREAM}"),
                self.policy,
                repository=self.target,
                authors=self.authors,
                labels=self.labels,
                run=self.run or None,
                clock=self.clock,
                all_closes=all_closes,
            )
            return outbox.deliver()

    def items(self) -> Mapping[str, Item]:
        return issues.items(self.database)

    def reopen_database(self) -> None:
        """As a new process finds it."""
        self.database.close()
        self.database = self._opened()

    def lose_database(self) -> None:
        """Somebody deletes the state."""
        self.database.close()
        for file in self.path.parent.glob("tracker.sqlite3*"):
            file.unlink()
        self.database = self._opened()

    def _opened(self) -> Database:
        database = Database.open(self.path)
        # Only a machine that loses power needs the disk to be asked each time; here processes end, not machines.
        database.db.execute("pragma synchronous = off")
        return database
