"""The issues of a repository, over GitHub's REST interface. It knows nothing of drifts, keys or states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from tracker.errors import AuthError, IncompleteList, NotSent, OutcomeUnknown
from tracker.github import answers
from tracker.github.answers import Comment, Issue, Moved, Repository, Unreadable, Written
from tracker.github.transport import Answer, Gate, Transport, json_of

_T = TypeVar("_T")


class GitHub:
    """The issues that one token may read and write. A context manager; not for two threads at once."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        gate: Gate,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        log: Callable[[str, Mapping[str, Any]], None] = lambda event, facts: None,
        spacing: float = 3.0,
        budget: float = 600.0,
    ) -> None:
        self._transport = Transport(
            base_url, token, gate=gate, clock=clock, sleep=sleep, log=log, spacing=spacing, budget=budget
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.close()

    @property
    def warnings(self) -> list[str]:
        """What a person should be told."""
        return self._transport.warnings

    # What is asked

    def login(self) -> str | None:
        """Whose token it is; None where it may not ask (that of an app, or of a workflow)."""
        answer = self._transport.ask("GET", f"{self._transport.base}/user", allow=(403, 404))
        return self._read(answers.login, answer) if answer.status == 200 else None

    def repository(self, full_name: str) -> Repository:
        """The repository, followed to its new name. AuthError: missing, closed to this token, or without issues."""
        answer = self._transport.ask("GET", f"{self._transport.base}/repos/{full_name}", allow=(404,))
        if answer.status == 404:
            raise AuthError(f"{full_name} is missing on GitHub, or the token may not see it")
        found = self._read(answers.repository, answer)
        if found.archived:
            raise AuthError(f"{found.full_name} is archived: nothing can be filed there")
        if not found.has_issues:
            raise AuthError(f"issues are switched off in {found.full_name}: switch them on in its settings")
        if found.full_name.lower() != full_name.lower():
            self._transport.warn(f"{full_name} is now {found.full_name}: set it in [filing] repository")
        return found

    def issues(self, repository: Repository) -> list[Issue]:
        """Every issue, open and closed, ordered by number. IncompleteList: any doubt that it is every one."""
        found: dict[int, Issue] = {}
        for page in self._transport.pages(
            f"{self._issues(repository)}?state=all&sort=created&direction=asc&per_page=100"
        ):
            for data in page:
                try:
                    issue = answers.issue(data)
                except Unreadable as error:
                    raise IncompleteList(f"the issues of {repository.full_name} cannot be listed: {error}") from error
                if issue is not None:
                    found[issue.number] = issue
        return [found[number] for number in sorted(found)]

    def issue(self, repository: Repository, number: int) -> Issue | Moved | None:
        """One issue; where it was transferred to; None where it was deleted."""
        url = f"{self._issues(repository)}/{number}"
        answer = self._transport.ask("GET", url, allow=(404, 410))
        if answer.status in (404, 410):
            return None
        found = self._read(answers.issue, answer)
        if found is None:
            return None
        away = self._elsewhere(repository, found.repository_url)
        return found if away is None else Moved(full_name=away.full_name, repository_id=away.id, number=found.number)

    def comments(self, repository: Repository, number: int) -> list[Comment]:
        """Every comment of an issue. IncompleteList: any doubt."""
        try:
            pages = self._transport.pages(f"{self._issues(repository)}/{number}/comments?per_page=100")
            return [answers.comment(data) for page in pages for data in page]
        except Unreadable as error:
            raise IncompleteList(f"the comments of #{number} cannot be listed: {error}") from error

    # What is written

    def create(self, repository: Repository, title: str, body: str, labels: Sequence[str] = ()) -> Written:
        """A new issue, sent once. OutcomeUnknown: it may exist. With any other error it does not."""
        fields: dict[str, Any] = {"title": title, "body": body}
        if labels:
            fields["labels"] = list(labels)
        answer = self._transport.write("POST", self._issues(repository), fields)
        issue = self._sure(answers.issue, answer, f"creating an issue in {repository.full_name}")
        if issue is None:
            raise OutcomeUnknown(f"creating an issue in {repository.full_name} was answered with something else")
        dropped = sorted(set(labels) - set(issue.labels))
        if dropped:
            self._transport.warn(
                f"the labels {', '.join(dropped)} were not set: the token may not, or they do not exist"
            )
        return Written(issue=issue, request_id=_request_id(answer))

    def update(self, repository: Repository, number: int, **fields: str) -> Written:
        """Change `title`, `body`, `state`, `state_reason`; doing it twice is doing it once, so it is retried."""
        answer = self._transport.write("PATCH", f"{self._issues(repository)}/{number}", fields)
        issue = self._sure(answers.issue, answer, f"changing #{number}")
        if issue is None:
            raise OutcomeUnknown(f"changing #{number} was answered with something else")
        return Written(issue=issue, request_id=_request_id(answer))

    def comment(self, repository: Repository, number: int, body: str) -> str | None:
        """A new comment, sent once -> GitHub's own name of the request. The errors are those of `create`."""
        answer = self._transport.write("POST", f"{self._issues(repository)}/{number}/comments", {"body": body})
        self._sure(answers.comment, answer, f"a comment on #{number}")
        return _request_id(answer)

    def _issues(self, repository: Repository) -> str:
        return f"{self._transport.base}/repos/{repository.full_name}/issues"

    def _elsewhere(self, repository: Repository, home: str) -> Repository | None:
        """The repository that an issue lives in now, where that is another one."""
        if not home or home.lower() == f"{self._transport.base}/repos/{repository.full_name}".lower():
            return None
        if not answers.same_host(home, self._transport.base):
            return None
        found = self._read(answers.repository, self._transport.ask("GET", home))
        return None if found.id == repository.id else found

    def _read(self, reader: Callable[[Any], _T], answer: Answer) -> _T:
        try:
            return reader(json_of(answer))
        except Unreadable as error:
            raise NotSent(
                f"GitHub's answer to {answer.path} cannot be read ({error}): if the next run says so too, "
                "look at [filing] api"
            ) from error

    def _sure(self, reader: Callable[[Any], _T], answer: Answer, what: str) -> _T:
        """The answer to a write; where it cannot be read the write may have happened all the same."""
        try:
            return reader(json_of(answer))
        except Unreadable as error:
            raise OutcomeUnknown(f"{what}: the answer cannot be read ({error})") from error


def _request_id(answer: Answer) -> str | None:
    return answer.headers.get("x-github-request-id")
