"""What the database knows -> what there is to file: the one plan that `file` shows and that is carried out.

Reads the store, asks nobody, writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracker.filing.findings import findings, gone
from tracker.filing.states import Chosen, Policy, Step, decide, within
from tracker.ledger import DAY_S, Family, Finding, Found, Gone, Item, State
from tracker.store.acknowledgements import acknowledgements
from tracker.store.database import Database
from tracker.store.drifts import last_closed, open_drifts
from tracker.store.facts import fact
from tracker.store.issues import created_between

if TYPE_CHECKING:
    from tracker.github.answers import Issue


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the last verified run could look at."""

    entries: frozenset[str]
    whole: bool
    """False where a page could not be read: an entry that is missing may then be one of those."""
    new: bool
    """Whether new errors were looked for."""
    checked: int

    def text(self) -> str:
        """For the store."""
        return json.dumps(
            {"entries": sorted(self.entries), "whole": self.whole, "new": self.new, "checked": self.checked}
        )

    @classmethod
    def of(cls, database: Database) -> Coverage | None:
        """As the last verified run left it; None where there was none."""
        text = fact(database, "coverage")
        if text is None:
            return None
        data = json.loads(text)
        return cls(entries=frozenset(data["entries"]), whole=data["whole"], new=data["new"], checked=data["checked"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """All that filing goes by, as of the last verified run."""

    repository: str
    families: Collection[Family]
    drifts: tuple[Found, ...]
    accepted: Mapping[tuple[str, str], str]
    """(entry, fingerprint) -> the reason."""
    ended: Mapping[tuple[str, Family], Gone]
    coverage: Coverage | None

    @classmethod
    def of(cls, database: Database, repository: str, families: Collection[Family]) -> Outlook:
        """As the database has it."""
        return cls(
            repository=repository,
            families=families,
            drifts=tuple(open_drifts(database)),
            accepted={(one.entry, one.fingerprint): one.reason for one in acknowledgements(database)},
            ended=last_closed(database),
            coverage=Coverage.of(database),
        )

    def findings(self, items: Mapping[str, Item]) -> tuple[dict[str, Finding], dict[str, str]]:
        """By key what there is to tell, and which of it is told in which group."""
        checked = self.coverage.checked if self.coverage is not None else 0
        return findings(self.repository, self.drifts, self.accepted, items, self.families, checked)

    def plan(
        self, items: Mapping[str, Item], issues: Mapping[str, Issue], now: float, policy: Policy
    ) -> tuple[dict[str, Item], list[Step]]:
        """The items as they now stand, and what is to be done, before any limit. `issues` are by key."""
        found, grouped = self.findings(items)
        current, steps = dict(items), []
        for name in [*found, *(name for name in items if name not in found)]:
            finding = found.get(name)
            item = items.get(name)
            if item is None:
                assert finding is not None
                if not finding.ready and name not in grouped:
                    continue
                item = Item(key=name, family=finding.family, entry=finding.entry, state=State.QUEUED)
            if name in grouped and item.state is State.QUEUED:
                item = replace(item, state=State.GROUPED, group=grouped[name])
            why = None if finding is not None else self._gone(item, found, current)
            item, step = decide(item, finding, why, issues.get(name), now, policy)
            current[name] = item
            if step is not None:
                steps.append(step)
        return current, steps

    def _gone(self, item: Item, found: Mapping[str, Finding], items: Mapping[str, Item]) -> Gone | None:
        if self.coverage is None:
            return None
        reasons = {one.entry: self.accepted[(one.entry, one.fingerprint)] for one in self._accepted_now()}
        covered = self.coverage.entries
        return gone(item, found, items, self.ended, reasons, covered, self.coverage.whole, self.coverage.new)

    @property
    def pages_in_doubt(self) -> list[Found]:
        """The drifts of meaning that nobody accepted."""
        return [
            one
            for one in self.drifts
            if one.family is Family.MEANING and (one.entry, one.fingerprint) not in self.accepted
        ]

    def _accepted_now(self) -> list[Found]:
        return [
            one for one in self.drifts if one.family is Family.MEANING and (one.entry, one.fingerprint) in self.accepted
        ]


def limited(
    database: Database, steps: list[Step], items: Mapping[str, Item], now: float, policy: Policy, all_closes: bool
) -> Chosen:
    """What the limits allow now, counted from the ledger: another process, or this one before a restart, counts too."""
    alive = sum(item.state in (State.OPEN, State.CLOSING, State.HELD, State.MUTED) for item in items.values())
    return within(steps, policy, created_between(database, now - DAY_S, now + DAY_S), alive, all_closes)
