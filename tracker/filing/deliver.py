"""The outbox, carried out: after a look at every issue, one write at a time.

Every write is in the database before it is sent, and so is what came of it before the next one. Nothing is written
on an incomplete view.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tracker.errors import GitHubError, OutcomeUnknown, Rejected
from tracker.filing import marks, words
from tracker.filing.outlook import Outlook, limited
from tracker.filing.reconcile import Look, View, as_issue, events_in, home_of
from tracker.filing.states import Do, Policy, Step
from tracker.github.answers import Issue, Repository
from tracker.github.client import GitHub
from tracker.ledger import Family, Item, State, passed
from tracker.store.database import Database
from tracker.store.facts import remember
from tracker.store.issues import DONE, REFUSED, UNKNOWN, conclude, intend, items, last_event, save

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Delivery:
    """What came of it, for the report of the run."""

    done: list[tuple[Do, Item]] = field(default_factory=list)
    waiting: int = 0
    """Creations that the limits keep for later."""
    held: int = 0
    """Closings that are too many to be believed without a person."""
    stuck: list[Item] = field(default_factory=list)
    """Items that need a person."""
    warnings: list[str] = field(default_factory=list)
    broken: str = ""
    """Why not everything that was planned was done."""


class Unsure(Exception):
    """A write whose outcome is not known: this run writes nothing more."""


class Outbox:
    """One delivery to one repository."""

    def __init__(
        self,
        database: Database,
        github: GitHub,
        outlook: Outlook,
        names: words.Names,
        policy: Policy,
        *,
        repository: str,
        authors: Collection[str],
        labels: Sequence[str],
        run: int | None,
        clock: Callable[[], float],
        stopped: Callable[[], bool] = lambda: False,
        all_closes: bool = False,
    ) -> None:
        self._database, self._github, self._outlook = database, github, outlook
        self._names, self._policy = names, policy
        self._target, self._labels = repository, tuple(labels)
        self._named = tuple(authors)
        self._authors: frozenset[str] = frozenset()
        self._run, self._clock, self._stopped, self._all_closes = run, clock, stopped, all_closes

    def deliver(self) -> Delivery:
        """Look, reconcile, write. Children of TrackerError of `github` end it; what was written till then is kept."""
        delivery = Delivery()
        look = Look(self._database, self._github, self._outlook, self._policy, self._named, self._clock())
        view = look.at(self._target)
        self._authors = view.authors
        try:
            self._close_doubles(view, delivery)
            self._carry_out(view, delivery)
        except Unsure as error:
            delivery.broken = str(error)
        stored = items(self._database).values()
        delivery.stuck = [item for item in stored if item.state in (State.NEEDS_HUMAN, State.BLOCKED)]
        delivery.warnings += self._github.warnings
        remember(self._database, delivered=str(self._clock()))
        return delivery

    def _carry_out(self, view: View, delivery: Delivery) -> None:
        planned, steps = self._outlook.plan(view.items, view.issues, self._clock(), self._policy)
        save(self._database, [item for key, item in planned.items() if view.items.get(key) != item])
        chosen = limited(self._database, steps, planned, self._clock(), self._policy, self._all_closes)
        delivery.waiting, delivery.held = len(chosen.later), len(chosen.held)
        for step in chosen.now:
            if self._stopped():
                delivery.broken = "it was asked to stop"
                return
            self._do(view.home, step, delivery)

    def _close_doubles(self, view: View, delivery: Delivery) -> None:
        """Of several open issues with one key the lowest stays; the others are closed unless people talk there."""
        by_key: dict[str, list[Issue]] = defaultdict(list)
        for issue in sorted(view.ours, key=lambda issue: issue.number):
            name = marks.key_of(issue.body)
            if name in view.items and issue.state == "open" and not issue.locked:
                by_key[name].append(issue)
        for name, (first, *others) in by_key.items():
            if not others:
                continue
            item = as_issue(view.items[name], first, view.home)
            view.items[name] = item
            view.issues[name] = first
            save(self._database, [item])
            for other in others:
                self._close_double(view.home, item, other.number, delivery)

    def _close_double(self, home: Repository, item: Item, number: int, delivery: Delivery) -> None:
        assert item.number is not None
        if any(comment.author.lower() not in self._authors for comment in self._github.comments(home, number)):
            delivery.warnings.append(f"issues #{item.number} and #{number} are the same, and people talk in both")
            return
        if not self._comment(home, replace(item, number=number), words.duplicate(item, number, item.number)):
            return
        write = intend(self._database, item, "duplicate", self._clock(), run=self._run)
        try:
            changed = self._github.update(home, number, state="closed", state_reason="duplicate")
        except GitHubError as error:
            conclude(self._database, item, write, UNKNOWN, said=str(error))
            raise
        conclude(self._database, item, write, DONE, request_id=changed.request_id)

    # What is written

    def _do(self, home: Repository, step: Step, delivery: Delivery) -> None:
        item = step.item
        where = home_of(item, home)
        doing = {
            Do.CREATE: self._create,
            Do.UPDATE: self._update,
            Do.CLOSE: self._close,
            Do.REOPEN: self._reopen,
            Do.REMIND: self._remind,
        }[step.do]
        after = doing(where, step)
        if after is not None:
            log.info("%s #%s", step.do.value, after.number, extra={"key": after.key, "url": after.url})
            delivery.done.append((step.do, after))

    def _create(self, home: Repository, step: Step) -> Item | None:
        finding, now = step.finding, self._clock()
        assert finding is not None
        item = replace(
            step.item,
            state=State.POSTING,
            fingerprint=finding.fingerprint,
            title=words.title(finding),
            repository=home.full_name,
            repository_id=home.id,
            posted_at=now,
            attempts=step.item.attempts + 1,
            lists_without=0,
        )
        body = words.body(finding, item, self._names)
        write = intend(self._database, item, Do.CREATE.value, now, run=self._run)
        try:
            created = self._github.create(home, item.title, body, self._labels)
        except OutcomeUnknown as error:
            conclude(self._database, item, write, UNKNOWN, said=str(error))
            raise Unsure(str(error)) from error
        except Rejected as error:
            blocked = replace(step.item, state=State.BLOCKED, fingerprint=finding.fingerprint, note=str(error))
            conclude(self._database, blocked, write, REFUSED, said=str(error))
            return None
        except GitHubError as error:
            conclude(self._database, step.item, write, REFUSED, said=str(error))
            raise
        opened = as_issue(replace(item, state=State.OPEN), created.issue, home)
        conclude(self._database, opened, write, DONE, request_id=created.request_id)
        return opened

    def _update(self, home: Repository, step: Step) -> Item | None:
        finding, item = step.finding, step.item
        assert finding is not None
        assert item.number is not None
        issue = self._fresh(home, item)
        if issue is None:
            return None
        tells = finding.family is Family.MEANING and item.state is State.OPEN
        if tells and not self._comment(home, item, words.changed(finding, item, self._names)):
            return None
        return self._rewrite(home, step, issue, replace(item, fingerprint=finding.fingerprint), item.state)

    def _rewrite(
        self,
        home: Repository,
        step: Step,
        issue: Issue,
        item: Item,
        state: State,
        also: Mapping[str, str] | None = None,
    ) -> Item | None:
        """The issue's own part, and its title unless a person changed that; one PATCH, or none."""
        finding = step.finding
        assert finding is not None
        assert item.number is not None
        fields = dict(also or {})
        if issue.title == item.title and words.title(finding) != issue.title:
            fields["title"] = words.title(finding)
        if marks.owned(issue.body):
            with suppress(ValueError):  # what a person wrote there leaves no room: the comment has to do
                body = words.body(finding, item, self._names, issue.body)
                if body != issue.body:
                    fields["body"] = body
        after = replace(item, state=state, title=fields.get("title", item.title))
        if not fields:
            save(self._database, [after])
            return after
        write = intend(self._database, step.item, step.do.value, self._clock(), run=self._run)
        try:
            changed = self._github.update(home, item.number, **fields)
        except Rejected as error:
            blocked = replace(item, state=State.BLOCKED, note=str(error))
            conclude(self._database, blocked, write, REFUSED, said=str(error))
            return None
        except GitHubError as error:
            conclude(self._database, step.item, write, UNKNOWN, said=str(error))
            raise
        conclude(self._database, after, write, DONE, request_id=changed.request_id)
        return after

    def _close(self, home: Repository, step: Step) -> Item | None:
        assert step.gone is not None
        assert step.item.number is not None
        item = replace(step.item, state=State.CLOSING)
        issue = self._fresh(home, item)
        if issue is None:
            return None
        save(self._database, [item])
        closed = replace(item, state=State.RESOLVED, closed_at=self._clock(), note=step.gone.reason)
        if issue.state != "open":
            save(self._database, [closed])
            return None
        if not self._comment(home, item, words.settled(item, step.gone)):
            return None
        write = intend(self._database, item, Do.CLOSE.value, self._clock(), run=self._run)
        try:
            changed = self._github.update(home, step.item.number, state="closed", state_reason="completed")
        except GitHubError as error:
            conclude(self._database, item, write, UNKNOWN, said=str(error))
            raise
        conclude(self._database, closed, write, DONE, request_id=changed.request_id)
        return closed

    def _reopen(self, home: Repository, step: Step) -> Item | None:
        finding = step.finding
        assert finding is not None
        item = replace(step.item, state=State.REOPENING)
        save(self._database, [item])
        issue = self._fresh(home, item)
        if issue is None:
            return None
        step = replace(step, item=item)
        if not self._comment(home, item, words.reopened(finding, item, self._names)):
            return None
        open_again = replace(item, fingerprint=finding.fingerprint, closed_at=None, note="")
        return self._rewrite(home, step, issue, open_again, State.OPEN, {"state": "open"})

    def _remind(self, home: Repository, step: Step) -> Item | None:
        finding, item = step.finding, step.item
        assert finding is not None
        if not self._comment(home, item, words.reminder(finding, item, self._names)):
            return None
        reminded = replace(item, until=None, fingerprint=finding.fingerprint)
        save(self._database, [reminded])
        return reminded

    def _fresh(self, home: Repository, item: Item) -> Issue | None:
        """The issue as it is this moment; None where it went away since the list was made: the next run sees to it."""
        assert item.number is not None
        issue = self._github.issue(home, item.number)
        return issue if isinstance(issue, Issue) and not issue.locked else None

    def _comment(self, home: Repository, item: Item, body: str) -> bool:
        """Write a comment once, however often this is asked for. False: not now, its last try may still arrive."""
        assert item.number is not None
        (event,) = marks.events_of(body)
        before = last_event(self._database, item.key, event)
        if before is not None and before[0] == DONE:
            return True
        if event in events_in(self._github, home, item.number, self._authors):
            return True
        if (
            before is not None
            and before[0] != REFUSED
            and not passed(before[1], self._clock(), self._policy.quarantine)
        ):
            return False
        stored = items(self._database).get(item.key, item)
        write = intend(self._database, stored, "comment", self._clock(), run=self._run, event=event)
        try:
            request = self._github.comment(home, item.number, body)
        except OutcomeUnknown as error:
            conclude(self._database, stored, write, UNKNOWN, said=str(error))
            raise Unsure(str(error)) from error
        except GitHubError as error:
            conclude(self._database, stored, write, REFUSED, said=str(error))
            raise
        conclude(self._database, stored, write, DONE, request_id=request)
        return True
