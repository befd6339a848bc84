"""The outbox, carried out: look at every issue, take over what people did, then write one thing at a time.

Every write is in the database before it is sent, and so is what came of it before the next one. Nothing is written
on an incomplete view.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tracker.errors import (
    GitHubError,
    NeedsHumanError,
    NotSent,
    OutcomeUnknown,
    Rejected,
)
from tracker.filing import words
from tracker.filing.outlook import Outlook, limited
from tracker.filing.states import Do, Policy, Step, lost, observe
from tracker.github.answers import Issue, Moved, Repository
from tracker.github.client import GitHub
from tracker.ledger import Family, Item, State, key
from tracker.store.database import Database
from tracker.store.facts import fact, remember
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
        self._authors = {author.lower() for author in authors}
        self._run, self._clock, self._stopped, self._all_closes = run, clock, stopped, all_closes
        self._issues: dict[str, Issue] = {}

    def deliver(self) -> Delivery:
        """Look, reconcile, write. Children of TrackerError of `github` end it; what was written till then is kept."""
        delivery = Delivery()
        home = self._github.repository(self._target)
        self._know_ourselves()
        listed = self._github.issues(home)
        ours = [issue for issue in listed if issue.author.lower() in self._authors]
        self._refuse_strangers(listed)
        known = self._reconcile(home, ours)
        try:
            self._close_doubles(home, known, ours, delivery)
            self._carry_out(home, known, delivery)
        except Unsure as error:
            delivery.broken = str(error)
        stored = items(self._database).values()
        delivery.stuck = [item for item in stored if item.state in (State.NEEDS_HUMAN, State.BLOCKED)]
        delivery.warnings += self._github.warnings
        remember(self._database, delivered=str(self._clock()))
        return delivery

    def _carry_out(self, home: Repository, known: Mapping[str, Item], delivery: Delivery) -> None:
        planned, steps = self._outlook.plan(known, self._issues, self._clock(), self._policy)
        save(self._database, [item for key, item in planned.items() if known.get(key) != item])
        chosen = limited(self._database, steps, planned, self._clock(), self._policy, self._all_closes)
        delivery.waiting, delivery.held = len(chosen.later), len(chosen.held)
        for step in chosen.now:
            if self._stopped():
                delivery.broken = "it was asked to stop"
                return
            self._do(home, step, delivery)

    def _know_ourselves(self) -> None:
        """Whose issues are ours. NeedsHumanError: not the account of before, which would file everything again."""
        login = self._github.login()
        before = fact(self._database, "author")
        if not self._authors:
            if login is None:
                raise NeedsHumanError(
                    "the token does not say whose it is: name the account that its issues are of, such as "
                    'authors = ["github-actions[bot]"] in [filing]'
                )
            if before is not None and before.lower() != login.lower():
                raise NeedsHumanError(
                    f"the issues so far are of {before}, and the token is of {login}: use the token of {before}, or "
                    f'set authors = ["{before}", "{login}"] in [filing]; nothing was written'
                )
            self._authors = {login.lower()}
        elif login is not None and login.lower() not in self._authors:
            raise NeedsHumanError(
                f"the token is of {login}, which is not among authors in [filing]; nothing was written"
            )
        if login is not None and before != login:
            remember(self._database, author=login)

    def _refuse_strangers(self, listed: Sequence[Issue]) -> None:
        """With an empty ledger, another account's issues with our keys may be ours of before."""
        if items(self._database):
            return
        wanted, _ = self._outlook.findings({})
        for issue in listed:
            mark = words.mark_of(issue.body)
            if mark is not None and mark.key in wanted and issue.author.lower() not in self._authors:
                if fact(self._database, "strangers") == "known":
                    continue
                raise NeedsHumanError(
                    f"issue #{issue.number} carries a key of the tracker and is of {issue.author}: if that is an older "
                    f"account of the tracker, add it to authors in [filing], else set authors to your own alone; "
                    "nothing was written"
                )

    # What people did

    def _reconcile(self, home: Repository, ours: Sequence[Issue]) -> dict[str, Item]:
        """The ledger after a look at every issue, in one transaction."""
        now = self._clock()
        known = items(self._database)
        wanted, _ = self._outlook.findings(known)
        by_number = {issue.number: issue for issue in ours}
        by_key: dict[str, list[Issue]] = defaultdict(list)
        for issue in sorted(ours, key=lambda issue: issue.number):
            if (name := words.key_of(issue.body)) is not None:
                by_key[name].append(issue)
        after = {}
        for name, item in known.items():
            if item.number is None:
                after[name] = self._adopt(item, by_key.get(name, []), home, now)
                continue
            item, own = self._look(item, home, by_number)
            after[name] = observe(item, own, name in wanted, now, self._policy)
            if own is not None:
                self._issues[name] = own
        for name, issues in by_key.items():
            if name not in known and (rebuilt := self._rebuild(name, issues, home, name in wanted, now)) is not None:
                after[name] = rebuilt
        save(self._database, [item for name, item in after.items() if known.get(name) != item])
        return after

    def _look(self, item: Item, home: Repository, listed: dict[int, Issue]) -> tuple[Item, Issue | None]:
        """An item's issue; one that the list lacks is asked for by itself, wherever it went."""
        assert item.number is not None
        if item.repository_id in (None, home.id) and item.number in listed:
            return item, listed[item.number]
        found = self._github.issue(self._home(item, home), item.number)
        if isinstance(found, Moved):
            item = replace(item, repository=found.full_name, repository_id=found.repository_id, number=found.number)
            found = self._github.issue(self._home(item, home), found.number)
        return item, found if isinstance(found, Issue) else None

    def _home(self, item: Item, home: Repository) -> Repository:
        if item.repository_id in (None, home.id):
            return home
        assert item.repository_id is not None
        return replace(home, id=item.repository_id, full_name=item.repository)

    def _adopt(self, item: Item, issues: Sequence[Issue], home: Repository, now: float) -> Item:
        """An item without an issue: is there one that carries its key after all?"""
        later = [issue for issue in issues if issue.number > (item.previous or 0)]
        if not later:
            return lost(item, now, self._policy) if item.state is State.POSTING else item
        issue = next((issue for issue in later if issue.state == "open"), later[-1])
        log.info("issue #%d carries %s and was taken over", issue.number, item.key)
        taken = self._as_issue(replace(item, state=State.OPEN, posted_at=None, lists_without=0), issue, home)
        self._issues[item.key] = issue
        return observe(taken, issue, True, now, self._policy)

    def _rebuild(self, name: str, issues: Sequence[Issue], home: Repository, wanted: bool, now: float) -> Item | None:
        """An item out of an issue that the ledger does not know: the database was lost."""
        issue = next((issue for issue in issues if issue.state == "open"), issues[-1])
        mark = words.mark_of(issue.body)
        if mark is None or mark.key != key(self._outlook.repository, mark.entry, mark.family):
            return None
        item = self._as_issue(
            Item(
                key=name,
                family=mark.family,
                entry=mark.entry,
                state=State.OPEN,
                fingerprint=mark.fingerprint,
                title=issue.title,
                episode=mark.episode,
            ),
            issue,
            home,
        )
        self._issues[name] = issue
        if issue.state == "closed" and wanted:
            told = {event for comment in self._comments(home, issue.number) for event in comment}
            if any(event.startswith(f"{name}/") and "/settled-" in event for event in told):
                return replace(item, state=State.RESOLVED, closed_at=now)
        return observe(item, issue, wanted, now, self._policy)

    def _as_issue(self, item: Item, issue: Issue, home: Repository) -> Item:
        return replace(
            item,
            repository=home.full_name,
            repository_id=home.id,
            number=issue.number,
            issue_id=issue.id,
            node_id=issue.node_id,
            url=issue.url,
        )

    def _close_doubles(
        self, home: Repository, known: dict[str, Item], ours: Sequence[Issue], delivery: Delivery
    ) -> None:
        """Of several open issues with one key the lowest stays; the others are closed unless people talk there."""
        by_key: dict[str, list[Issue]] = defaultdict(list)
        for issue in sorted(ours, key=lambda issue: issue.number):
            name = words.key_of(issue.body)
            if name in known and issue.state == "open" and not issue.locked:
                by_key[name].append(issue)
        for name, (first, *others) in by_key.items():
            if not others:
                continue
            item = self._as_issue(known[name], first, home)
            known[name] = item
            self._issues[name] = first
            save(self._database, [item])
            for other in others:
                comments = self._github.comments(home, other.number)
                if any(comment.author.lower() not in self._authors for comment in comments):
                    delivery.warnings.append(
                        f"issues #{first.number} and #{other.number} are the same, and people talk in both"
                    )
                    continue
                double = replace(item, number=other.number)
                write = intend(self._database, item, "duplicate", self._clock(), run=self._run)
                try:
                    self._comment(home, double, words.duplicate(item, other.number, first.number))
                    self._github.update(home, other.number, state="closed", state_reason="duplicate")
                except GitHubError as error:
                    conclude(self._database, item, write, UNKNOWN, said=str(error))
                    raise
                conclude(self._database, item, write, DONE)

    # What is written

    def _do(self, home: Repository, step: Step, delivery: Delivery) -> None:
        item = step.item
        where = self._home(item, home)
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
        except NotSent as error:
            conclude(self._database, step.item, write, REFUSED, said=str(error))
            raise
        except GitHubError as error:
            conclude(self._database, step.item, write, REFUSED, said=str(error))
            raise
        opened = self._as_issue(replace(item, state=State.OPEN, posted_at=None), created.issue, home)
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
        if words.owned(issue.body):
            body = words.body(finding, item, self._names, issue.body)
            if body != issue.body:
                fields["body"] = body
        write = intend(self._database, step.item, step.do.value, self._clock(), run=self._run)
        try:
            if fields:
                self._github.update(home, item.number, **fields)
        except Rejected as error:
            blocked = replace(item, state=State.BLOCKED, note=str(error))
            conclude(self._database, blocked, write, REFUSED, said=str(error))
            return None
        except GitHubError as error:
            conclude(self._database, step.item, write, UNKNOWN, said=str(error))
            raise
        after = replace(item, state=state, title=fields.get("title", item.title))
        conclude(self._database, after, write, DONE)
        return after

    def _close(self, home: Repository, step: Step) -> Item | None:
        assert step.gone is not None
        assert step.item.number is not None
        item = replace(step.item, state=State.CLOSING)
        write = intend(self._database, item, Do.CLOSE.value, self._clock(), run=self._run)
        issue = self._fresh(home, item)
        if issue is None:
            return None
        try:
            if issue.state == "open":
                if not self._comment(home, item, words.settled(item, step.gone)):
                    return None
                self._github.update(home, step.item.number, state="closed", state_reason="completed")
        except GitHubError as error:
            conclude(self._database, item, write, UNKNOWN, said=str(error))
            raise
        closed = replace(item, state=State.RESOLVED, closed_at=self._clock(), note=step.gone.reason)
        conclude(self._database, closed, write, DONE)
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

    def _comments(self, home: Repository, number: int) -> list[list[str]]:
        """The events in each comment of ours."""
        return [
            words.events_of(comment.body)
            for comment in self._github.comments(home, number)
            if comment.author.lower() in self._authors
        ]

    def _comment(self, home: Repository, item: Item, body: str) -> bool:
        """Write a comment once, however often this is asked for. False: not now, its last try may still arrive."""
        assert item.number is not None
        (event,) = words.events_of(body)
        before = last_event(self._database, item.key, event)
        if before is not None and before[0] == DONE:
            return True
        if any(event in events for events in self._comments(home, item.number)):
            return True
        if before is not None and before[0] != REFUSED and self._clock() - before[1] < self._policy.quarantine:
            return False
        stored = items(self._database).get(item.key, item)
        write = intend(self._database, stored, "comment", self._clock(), run=self._run, event=event)
        try:
            self._github.comment(home, item.number, body)
        except OutcomeUnknown as error:
            conclude(self._database, stored, write, UNKNOWN, said=str(error))
            raise Unsure(str(error)) from error
        except GitHubError as error:
            conclude(self._database, stored, write, REFUSED, said=str(error))
            raise
        conclude(self._database, stored, write, DONE)
        return True
