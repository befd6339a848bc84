"""The life of an issue as a pure state machine: what was seen on GitHub, and what there is to tell -> what to do.

A person always has the last word: what they closed, locked, labelled, renamed or deleted is left as they made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from tracker.ledger import Finding, Gone, Item, State, passed

if TYPE_CHECKING:
    from tracker.github.answers import Issue

IGNORE = "tracker:ignore"
"""The label with which a person silences an issue."""
ATTEMPTS = 3
LISTS = 2
"""So many complete lists without the key, and the quarantine, before a creation is believed not to have happened."""

_LIVE = (State.OPEN, State.HELD, State.MUTED)
_DECLINED = ("not_planned", "duplicate")


class Do(StrEnum):
    """What is done to an issue."""

    CREATE = "create"
    UPDATE = "update"
    CLOSE = "close"
    REOPEN = "reopen"
    REMIND = "remind"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings that decide, in seconds and counts."""

    per_run: int
    per_day: int
    quarantine: float
    reopen: float
    patience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do, with the item as it is before it."""

    do: Do
    item: Item
    finding: Finding | None = None
    gone: Gone | None = None


def observe(item: Item, issue: Issue | None, wanted: bool, now: float, policy: Policy) -> Item:
    """What people did to an issue since the tracker last looked. None: it is deleted, or out of reach.

    `wanted` says that there still is something to tell.
    """
    if issue is None:
        return _moved(item, State.SUPPRESSED, note="the issue was deleted")
    item = replace(item, url=issue.url, number=issue.number)
    state = item.state
    if state is State.CLOSING:
        if issue.state == "open":
            return _moved(item, State.MUTED, note="the issue is locked") if issue.locked else item
        return _moved(item, State.RESOLVED, closed_at=now)
    if state is State.REOPENING:
        if issue.locked:
            return _moved(item, State.RESOLVED, note="the issue is locked") if issue.state == "closed" else item
        return item  # what is left of it is done again, and doing it twice is doing it once
    if state is State.RESOLVED:
        return _moved(item, State.HELD, note="a person reopened it") if issue.state == "open" else item
    if state is State.SNOOZED:
        return _observe_live(_moved(item, State.OPEN), issue, wanted, now, policy) if issue.state == "open" else item
    if state is State.SUPPRESSED:
        if issue.state == "open" and IGNORE not in issue.labels and not issue.locked:
            return _moved(item, State.OPEN, note="a person reopened it")
        return item
    return _observe_live(item, issue, wanted, now, policy) if state in _LIVE else item


def _observe_live(item: Item, issue: Issue, wanted: bool, now: float, policy: Policy) -> Item:
    if IGNORE in issue.labels:
        return _moved(item, State.SUPPRESSED, note=f"labelled {IGNORE}")
    if issue.state == "closed":
        if issue.state_reason in _DECLINED:
            return _moved(item, State.SUPPRESSED, note=f"a person closed it as {issue.state_reason}", closed_at=now)
        if not wanted:
            return _moved(item, State.RESOLVED, note="a person closed it", closed_at=now)
        return _moved(
            item, State.SNOOZED, note="a person closed it as completed", closed_at=now, until=now + policy.patience
        )
    if issue.locked:
        return _moved(item, State.MUTED, note="the issue is locked")
    return _moved(item, State.OPEN) if item.state is State.MUTED else item


def lost(item: Item, now: float, policy: Policy) -> Item:
    """An item whose creation has no known outcome, after one more complete list in which its key was not."""
    item = replace(item, lists_without=item.lists_without + 1)
    if item.lists_without < LISTS or (
        item.posted_at is not None and not passed(item.posted_at, now, policy.quarantine)
    ):
        return item
    if item.attempts >= ATTEMPTS:
        return _moved(item, State.NEEDS_HUMAN, note=f"{item.attempts} creations went out and none was ever seen")
    return _moved(item, State.QUEUED, posted_at=None, lists_without=0)


def decide(
    item: Item, finding: Finding | None, gone: Gone | None, issue: Issue | None, now: float, policy: Policy
) -> tuple[Item, Step | None]:
    """The item as it stands, and the one thing to do next, if any. `issue` is its own, where that was looked at."""
    if finding is not None:
        if not finding.ready:
            return item, None
        return _tell(item, finding, issue, now, policy)
    if gone is None:
        return item, None
    return _settle(item, gone, now)


def _tell(item: Item, finding: Finding, issue: Issue | None, now: float, policy: Policy) -> tuple[Item, Step | None]:
    differs = finding.fingerprint != item.fingerprint
    state = item.state
    if state is State.GROUPED:
        item = _moved(item, State.QUEUED, group="")
        return item, Step(do=Do.CREATE, item=item, finding=finding)
    if state is State.CLOSING:
        item, state = _moved(item, State.OPEN), State.OPEN
    if state is State.RESOLVED:
        young = item.closed_at is not None and not passed(item.closed_at, now, policy.reopen)
        if item.number is not None and young and not (issue is not None and issue.locked):
            return item, Step(do=Do.REOPEN, item=replace(item, episode=item.episode + 1), finding=finding)
        item = _again(item)
        return item, Step(do=Do.CREATE, item=item, finding=finding)
    if state is State.SUPPRESSED and differs:
        if issue is not None and issue.state == "open":
            # Still open, and labelled to be ignored: a second issue beside it would be no answer to that.
            return item, None if issue.locked else Step(do=Do.UPDATE, item=item, finding=finding)
        item = _again(item)
        return item, Step(do=Do.CREATE, item=item, finding=finding)
    if state is State.BLOCKED and differs:
        item, state = _moved(item, State.QUEUED), State.QUEUED
    if state is State.QUEUED:
        return item, Step(do=Do.CREATE, item=item, finding=finding)
    if state is State.REOPENING:
        return item, Step(do=Do.REOPEN, item=item, finding=finding)
    if state in (State.OPEN, State.HELD) and differs:
        return item, Step(do=Do.UPDATE, item=item, finding=finding)
    due = differs or (item.until is not None and passed(item.until - policy.patience, now, policy.patience))
    if state is State.SNOOZED and due and not (issue is not None and issue.locked):
        return item, Step(do=Do.REMIND, item=item, finding=finding)
    return item, None


def _settle(item: Item, gone: Gone, now: float) -> tuple[Item, Step | None]:
    if item.state in (State.QUEUED, State.BLOCKED, State.GROUPED, State.NEEDS_HUMAN):
        return _moved(item, State.RESOLVED, closed_at=now, note=gone.reason, group=""), None
    if item.state is State.SNOOZED:
        return _moved(item, State.RESOLVED, closed_at=item.closed_at, note=gone.reason), None
    if item.state in (State.OPEN, State.CLOSING, State.REOPENING):
        return item, Step(do=Do.CLOSE, item=item, gone=gone)
    return item, None


def _again(item: Item) -> Item:
    """The same key, to be told in a new issue that names the old one."""
    return replace(
        item,
        state=State.QUEUED,
        previous=item.number if item.number is not None else item.previous,
        number=None,
        issue_id=None,
        node_id="",
        url="",
        attempts=0,
        lists_without=0,
        posted_at=None,
        until=None,
        closed_at=None,
        note="",
        episode=item.episode + 1,
    )


def _moved(item: Item, state: State, **changes: object) -> Item:
    return replace(item, state=state, **({"note": "", "until": None} | changes))  # type: ignore[arg-type]


def within(steps: Sequence[Step], policy: Policy, created_today: int, open_items: int, all_closes: bool) -> Chosen:
    """The steps that the limits allow now, in the order in which they are done, and what has to wait.

    Closings first, then what is known is kept right, then what is new, the gravest first.
    """
    closes = [step for step in steps if step.do is Do.CLOSE]
    unasked = [step for step in closes if step.gone is not None and not step.gone.by_hand]
    held = []
    if not all_closes and len(unasked) > max(3, open_items / 5):
        held = unasked
        closes = [step for step in closes if step not in unasked]
    kept = [step for step in steps if step.do in (Do.UPDATE, Do.REMIND)]
    loud = sorted((step for step in steps if step.do in (Do.CREATE, Do.REOPEN)), key=_urgency)
    room = max(0, min(policy.per_run, policy.per_day - created_today))
    return Chosen(now=(*closes, *kept, *loud[:room]), later=tuple(loud[room:]), held=tuple(held))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is done now, what waits for the next run, and the closings that a person has to allow."""

    now: tuple[Step, ...]
    later: tuple[Step, ...]
    held: tuple[Step, ...]


def _urgency(step: Step) -> tuple[bool, bool, int, float, str]:
    drifts = step.finding.drifts if step.finding is not None else ()
    gravest = max((one.drift.severity for one in drifts), default=0)
    since = min((one.first_seen for one in drifts), default=0.0)
    return step.do is Do.CREATE, step.item.family.value == "new", -int(gravest), since, step.item.key
