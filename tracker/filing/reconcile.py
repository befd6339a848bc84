"""A look at every issue before anything is written: whose they are, what people did, and what the ledger lacks.

It changes the ledger and nothing on GitHub. An incomplete view is an error, and then nothing is written at all.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tracker.errors import NeedsHumanError
from tracker.filing import marks
from tracker.filing.outlook import Outlook
from tracker.filing.states import Policy, lost, observe
from tracker.github.answers import Issue, Moved, Repository
from tracker.github.client import GitHub
from tracker.ledger import Item, State, key, passed
from tracker.store.database import Database
from tracker.store.facts import fact, remember
from tracker.store.issues import items, save

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """GitHub as it is now, and the ledger after a look at it."""

    home: Repository
    authors: frozenset[str]
    """Accounts whose issues are ours, in small letters."""
    ours: tuple[Issue, ...]
    items: dict[str, Item]
    issues: dict[str, Issue]
    """By key, as far as the issue is there."""


def home_of(item: Item, home: Repository) -> Repository:
    """The repository that an item's issue is in: issues can be transferred."""
    if item.repository_id in (None, home.id):
        return home
    assert item.repository_id is not None
    return replace(home, id=item.repository_id, full_name=item.repository)


def as_issue(item: Item, issue: Issue, home: Repository) -> Item:
    """The item with this issue as its own."""
    return replace(
        item,
        repository=home.full_name,
        repository_id=home.id,
        number=issue.number,
        issue_id=issue.id,
        node_id=issue.node_id,
        url=issue.url,
    )


def events_in(github: GitHub, home: Repository, number: int, authors: Collection[str]) -> set[str]:
    """The events that our comments on an issue tell of."""
    ours = [comment for comment in github.comments(home, number) if comment.author.lower() in authors]
    return {event for comment in ours for event in marks.events_of(comment.body)}


class Look:
    """One look, for one delivery."""

    def __init__(
        self, database: Database, github: GitHub, outlook: Outlook, policy: Policy, authors: Collection[str], now: float
    ) -> None:
        self._database, self._github, self._outlook, self._policy = database, github, outlook, policy
        self._authors = {author.lower() for author in authors}
        self._named = bool(authors)
        self._now = now
        self._issues: dict[str, Issue] = {}

    def at(self, repository: str) -> View:
        """Ask, take over, save. Children of TrackerError: no permission, a limit, no whole list, not our account."""
        home = self._github.repository(repository)
        self._know_ourselves()
        listed = self._github.issues(home)
        ours = [issue for issue in listed if issue.author.lower() in self._authors]
        self._refuse_strangers(listed)
        after = self._reconcile(home, ours)
        return View(home=home, authors=frozenset(self._authors), ours=tuple(ours), items=after, issues=self._issues)

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
        if items(self._database) or self._named:
            return
        wanted, _ = self._outlook.findings({})
        for issue in listed:
            mark = marks.mark_of(issue.body)
            if mark is not None and mark.key in wanted and issue.author.lower() not in self._authors:
                raise NeedsHumanError(
                    f"issue #{issue.number} carries a key of the tracker and is of {issue.author}: if that is an older "
                    f"account of the tracker, add it to authors in [filing], else set authors to your own alone; "
                    "nothing was written"
                )

    def _reconcile(self, home: Repository, ours: Sequence[Issue]) -> dict[str, Item]:
        """The ledger after a look at every issue, in one transaction."""
        known = items(self._database)
        wanted, _ = self._outlook.findings(known)
        by_number = {issue.number: issue for issue in ours}
        by_key: dict[str, list[Issue]] = defaultdict(list)
        for issue in sorted(ours, key=lambda issue: issue.number):
            if (name := marks.key_of(issue.body)) is not None:
                by_key[name].append(issue)
        after = {}
        for name, item in known.items():
            if item.posted_at is not None and item.posted_at > self._now:
                # Written by a clock that has been set back since: the time of waiting begins anew.
                item = replace(item, posted_at=self._now)
            if item.number is None:
                after[name] = self._adopt(item, by_key.get(name, []), home)
                continue
            item, own = self._look(item, home, by_number)
            if own is None and self._young(item):
                after[name] = item
                continue
            after[name] = observe(item, own, name in wanted, self._now, self._policy)
            if own is not None:
                self._issues[name] = own
        for name, issues in by_key.items():
            if name not in known and (rebuilt := self._rebuild(name, issues, home, name in wanted)) is not None:
                after[name] = rebuilt
        save(self._database, [item for name, item in after.items() if known.get(name) != item])
        return after

    def _look(self, item: Item, home: Repository, listed: dict[int, Issue]) -> tuple[Item, Issue | None]:
        """An item's issue; one that the list lacks is asked for by itself, wherever it went."""
        assert item.number is not None
        if item.repository_id in (None, home.id) and item.number in listed:
            return item, listed[item.number]
        found = self._github.issue(home_of(item, home), item.number)
        if isinstance(found, Moved):
            item = replace(item, repository=found.full_name, repository_id=found.repository_id, number=found.number)
            found = self._github.issue(home_of(item, home), found.number)
        return item, found if isinstance(found, Issue) else None

    def _young(self, item: Item) -> bool:
        """Whether it was filed so lately that a copy of GitHub may not know it yet: not found is not yet deleted."""
        return item.posted_at is not None and not passed(item.posted_at, self._now, self._policy.quarantine)

    def _adopt(self, item: Item, issues: Sequence[Issue], home: Repository) -> Item:
        """An item without an issue: is there one that carries its key after all?"""
        later = [issue for issue in issues if issue.number > (item.previous or 0)]
        if not later:
            return lost(item, self._now, self._policy) if item.state is State.POSTING else item
        issue = next((issue for issue in later if issue.state == "open"), later[-1])
        log.info("issue #%d carries %s and was taken over", issue.number, item.key)
        taken = as_issue(replace(item, state=State.OPEN, lists_without=0), issue, home)
        self._issues[item.key] = issue
        return observe(taken, issue, True, self._now, self._policy)

    def _rebuild(self, name: str, issues: Sequence[Issue], home: Repository, wanted: bool) -> Item | None:
        """An item out of an issue that the ledger does not know: the database was lost."""
        issue = next((issue for issue in issues if issue.state == "open"), issues[-1])
        mark = marks.mark_of(issue.body)
        if mark is None or mark.key != key(self._outlook.repository, mark.entry, mark.family):
            return None
        item = as_issue(
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
            told = events_in(self._github, home, issue.number, self._authors)
            if any(event.startswith(f"{name}/") and "/settled-" in event for event in told):
                return replace(item, state=State.RESOLVED, closed_at=self._now)
        return observe(item, issue, wanted, self._now, self._policy)
