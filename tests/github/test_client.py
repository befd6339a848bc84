"""The client on a real socket: what each answer means, what is retried, and what never is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from openapi_core.exceptions import OpenAPIError

from tests.github.fake import TOKEN, FakeGitHub, check_request, check_response
from tracker.errors import (
    AuthError,
    GitHubError,
    IncompleteList,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    Rejected,
)
from tracker.github.answers import Moved, limited_until, next_page
from tracker.github.client import GitHub

REPO = "docs/errors"


class Gate:
    """A gate in memory."""

    def __init__(self) -> None:
        self.closed: float | None = None

    def until(self) -> float | None:
        return self.closed

    def close(self, until: float, reason: str) -> None:
        self.closed = until


class World:
    """A fake, a client and what passes between them."""

    def __init__(self, fake: FakeGitHub) -> None:
        self.fake, self.gate, self.slept = fake, Gate(), 0.0
        self.lines: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.fake.now += seconds

    def client(self, token: str = TOKEN, url: str | None = None, **more: Any) -> GitHub:
        return GitHub(
            url or self.fake.url,
            token,
            gate=self.gate,
            clock=lambda: self.fake.now,
            sleep=self.sleep,
            log=lambda line, facts: self.lines.append(f"{line} {facts}"),
            **more,
        )


@pytest.fixture
def world() -> Iterator[World]:
    with FakeGitHub() as fake:
        fake.repository(REPO)
        yield World(fake)


def test_what_is_filed_is_there(world: World) -> None:
    with world.client() as github:
        home = github.repository(REPO)
        created = github.create(home, "title", "body", ["docs"])
        assert created.request_id
        (issue,) = github.issues(home)
        assert issue == created.issue
        assert (issue.title, issue.body, issue.state, issue.labels) == ("title", "body", "open", ("docs",))
        github.comment(home, issue.number, "hello")
        assert [comment.body for comment in github.comments(home, issue.number)] == ["hello"]
        closed = github.update(home, issue.number, state="closed", state_reason="not_planned")
        assert (closed.state, closed.state_reason) == ("closed", "not_planned")
        assert github.login() == "tracker-bot"
        assert world.slept >= 6  # R22: three writes, three seconds apart


def test_every_page_is_read_and_pull_requests_are_none(world: World) -> None:
    """Fault 17, and the Link header under /repositories/<id>."""
    world.fake.page_size = 2
    for number in range(7):
        world.fake.file(REPO, f"issue {number}", None if number % 2 else "text", pull_request=number == 3)
    with world.client() as github:
        issues = github.issues(github.repository(REPO))
    assert [issue.number for issue in issues] == [1, 2, 3, 5, 6, 7]
    assert issues[1].body == ""
    assert sum("/repositories/" in seen.path for seen in world.fake.requests) == 3


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("status", {"code": 500}),
        ("truncated", {}),
        ("cut", {}),
        ("html", {"code": 200}),
        ("reset", {}),
        ("link", {"to": "https://evil.example/x"}),
        ("link", {"to": ""}),
    ],
)
def test_a_list_is_whole_or_an_error(world: World, kind: str, options: dict[str, Any]) -> None:
    """Fault 7."""
    world.fake.page_size = 2
    for number in range(5):
        world.fake.file(REPO, f"issue {number}")
    world.fake.fail("GET", "page=2", kind, times=9, **options)
    with world.client() as github, pytest.raises(IncompleteList):
        github.issues(github.repository(REPO))


def test_a_moment_of_trouble_is_no_trouble(world: World) -> None:
    world.fake.fail("GET", "", "status", times=2, code=502)
    world.fake.fail("PATCH", "", "reset", times=2)
    issue = world.fake.file(REPO, "x")
    with world.client() as github:
        home = github.repository(REPO)
        assert github.update(home, issue.number, title="y").title == "y"
    assert issue.title == "y"


@pytest.mark.parametrize(
    ("kind", "options", "filed", "error"),
    [
        pytest.param("processed-reset", {}, 1, OutcomeUnknown, id="3"),
        pytest.param("processed-status", {"code": 502}, 1, OutcomeUnknown, id="4 processed"),
        pytest.param("status", {"code": 502}, 0, OutcomeUnknown, id="4 not processed"),
        pytest.param("reset", {}, 0, OutcomeUnknown, id="3 not processed"),
        pytest.param("truncated", {}, 1, OutcomeUnknown, id="truncated"),
        pytest.param("cut", {}, 1, OutcomeUnknown, id="cut"),
        pytest.param("lazy", {}, 1, OutcomeUnknown, id="no issue in the answer"),
        pytest.param("status", {"code": 403, "message": "Resource not accessible"}, 0, AuthError, id="11"),
        pytest.param("status", {"code": 410, "message": "Issues are disabled"}, 0, AuthError, id="12"),
        pytest.param("status", {"code": 422, "message": "Validation Failed"}, 0, Rejected, id="422"),
        pytest.param("status", {"code": 429}, 0, RateLimited, id="9"),
    ],
)
def test_a_creation_is_sent_once(
    world: World, kind: str, options: dict[str, Any], filed: int, error: type[GitHubError]
) -> None:
    """R24: what may have happened is never done again."""
    world.fake.fail("POST", "", kind, **options)
    with world.client() as github:
        home = github.repository(REPO)
        with pytest.raises(error):
            github.create(home, "t", "b")
    assert len(world.fake.writes) == 1
    assert len(world.fake.ours(REPO)) == filed


def test_what_never_left_is_known_not_to_have_happened(world: World) -> None:
    with world.client() as github:
        home = github.repository(REPO)
    with world.client(url="http://127.0.0.1:1") as github, pytest.raises(NotSent, match="no way to"):
        github.create(home, "t", "b")


@pytest.mark.parametrize(
    ("code", "message", "headers", "wait"),
    [
        (403, "You have exceeded a secondary rate limit", {"retry-after": "120"}, 120),
        (403, "You have exceeded a secondary rate limit", {}, 60),
        (403, "API rate limit exceeded", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000500"}, 501),
        (403, "API rate limit exceeded", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, 60),
        (429, "slow down", {}, 60),
        (429, "slow down", {"retry-after": "never"}, 60),
        (429, "slow down", {"retry-after": "0"}, 1),
        (403, "Resource not accessible by integration", {"x-ratelimit-remaining": "4999"}, None),
        (404, "Not Found", {}, None),
        (200, "", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000500"}, None),
    ],
)
def test_how_long_a_limit_lasts(code: int, message: str, headers: dict[str, str], wait: float | None) -> None:
    """Faults 8 and 9: never less than GitHub says, never a busy loop."""
    now = 1_750_000_000.0
    until = limited_until(code, headers, message, now)
    assert until == (None if wait is None else now + wait)


def test_a_limit_is_kept_by_the_next_process(world: World) -> None:
    """Fault 8."""
    world.fake.fail("POST", "", "status", code=403, message="secondary rate limit", headers={"retry_after": "120"})
    with world.client() as github:
        home = github.repository(REPO)
        with pytest.raises(RateLimited):
            github.create(home, "t", "b")
    asked = len(world.fake.requests)
    with world.client() as github, pytest.raises(RateLimited, match="no request for another 120 s"):
        github.repository(REPO)
    assert len(world.fake.requests) == asked
    world.fake.now += 121
    with world.client() as github:
        assert github.repository(REPO).full_name == REPO


def test_after_a_refused_token_nothing_more_is_asked(world: World) -> None:
    """Fault 10: GitHub locks out who goes on."""
    with world.client(token="github_pat_wrong") as github:
        for _ in range(3):
            with pytest.raises(AuthError, match="does not accept the token") as error:
                github.repository(REPO)
            assert error.value.exit_code == 4
    assert len(world.fake.requests) == 1


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda fake: setattr(fake.repository(REPO), "archived", True), "archived"),
        (lambda fake: setattr(fake.repository(REPO), "has_issues", False), "switched off"),
        (lambda fake: fake.repos.clear(), "missing"),
        (
            lambda fake: fake.fail(
                "GET",
                "/repos",
                "status",
                code=403,
                message="no",
                headers={"x_accepted_github_permissions": "issues=write"},
            ),
            "it needs issues=write",
        ),
        (
            lambda fake: fake.fail("GET", "/repos", "status", code=410, message="API version 2022 is gone"),
            "no longer served",
        ),
    ],
)
def test_what_cannot_be_filed_in_is_said(world: World, prepare: Any, said: str) -> None:
    """Faults 11, 12 and 13."""
    prepare(world.fake)
    with world.client() as github, pytest.raises(AuthError, match=said):
        github.repository(REPO)


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_a_redirect_keeps_method_and_body(world: World, code: int) -> None:
    """Fault 15."""
    path = f"{world.fake.url}/repos/{REPO}/issues"
    world.fake.fail("POST", "", "redirect", code=code, to=path)
    with world.client() as github:
        github.create(github.repository(REPO), "t", "b")
    assert [seen.method for seen in world.fake.writes] == ["POST", "POST"]
    assert world.fake.writes[1].body == {"title": "t", "body": "b"}


def test_a_redirect_to_another_host_is_refused(world: World) -> None:
    """Fault 15: the token is not sent there."""
    with FakeGitHub() as other:
        world.fake.fail("POST", "", "redirect", code=307, to=f"{other.url}/repos/{REPO}/issues")
        with world.client() as github:
            home = github.repository(REPO)
            with pytest.raises(GitHubError, match="another host"):
                github.create(home, "t", "b")
        assert not other.requests


def test_a_redirect_in_a_circle_ends(world: World) -> None:
    world.fake.fail("GET", "", "redirect", times=99, code=301, to=f"{world.fake.url}/repos/{REPO}")
    with world.client() as github, pytest.raises(GitHubError, match="more than 3 times"):
        github.repository(REPO)


def test_what_became_of_an_issue(world: World) -> None:
    kept, deleted, moved = (world.fake.file(REPO, title) for title in ("kept", "deleted", "moved"))
    deleted.deleted = True
    world.fake.transfer(REPO, moved.number, "docs/other")
    with world.client() as github:
        home = github.repository(REPO)
        found = [github.issue(home, issue.number) for issue in (kept, deleted, moved)]
    assert found[0] is not None
    assert found[1] is None
    assert isinstance(found[2], Moved)
    assert (found[2].full_name, found[2].number) == ("docs/other", 1)


def test_labels_that_were_dropped_and_dates_that_end_are_said(world: World) -> None:
    """Faults 13 and 16."""
    world.fake.keeps_labels = False
    world.fake.extra_headers = {"Sunset": "Wed, 01 Jan 2031 00:00:00 GMT"}
    with world.client() as github:
        github.create(github.repository(REPO), "t", "b", ["docs"])
        assert [warning for warning in github.warnings if "labels docs" in warning]
        assert [warning for warning in github.warnings if "sunset" in warning]


def test_an_enterprise_server_has_a_prefix_and_no_limits() -> None:
    """Fault 17."""
    with FakeGitHub(prefix="/api/v3") as fake:
        fake.rate_headers = False
        fake.repository(REPO)
        fake.page_size = 1
        world = World(fake)
        with world.client() as github:
            home = github.repository(REPO)
            github.create(home, "one", "b")
            github.create(home, "two", "b")
            assert len(github.issues(home)) == 2


@pytest.mark.parametrize("kind", ["reset", "html", "status"])
def test_the_token_is_nowhere(world: World, kind: str) -> None:
    """R28: not in errors, not in the log, whatever brings it up."""
    options = {"code": 403, "message": f"bad {TOKEN}"} if kind == "status" else {}
    world.fake.fail("GET", "", kind, times=9, **options)
    with world.client() as github, pytest.raises(GitHubError) as error:
        github.repository(REPO)
    assert TOKEN not in f"{error.value}{error.value!r}{world.lines}{github!r}{error.value.__cause__!r}"


def test_a_slow_server_ends_with_the_time_for_one_run(world: World) -> None:
    with world.client(budget=100.0) as github:
        github.repository(REPO)
        world.fake.now += 101
        with pytest.raises(NotSent, match="the time for one run is over"):
            github.repository(REPO)


@pytest.mark.parametrize(
    ("link", "following"),
    [
        (None, None),
        ("", None),
        ('<https://h/x?page=2>; rel="next", <https://h/x?page=9>; rel="last"', "https://h/x?page=2"),
        ('<https://h/x>; rel="first"', None),
        ("<https://h/x>; rel=next", "https://h/x"),
    ],
)
def test_the_next_page(link: str | None, following: str | None) -> None:
    assert next_page(link, "https://h") == following


# Fault 48: a validator that lets everything pass would make all of the above worth nothing.

GOOD: tuple[str, str, Any] = ("POST", f"/repos/{REPO}/issues", {"title": "t", "body": "b", "labels": ["x"]})


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", f"/repos/{REPO}/issues", {"body": "no title"}),
        ("POST", f"/repos/{REPO}/issues", {"title": None}),
        ("POST", f"/repos/{REPO}/issues", {"title": "t", "labels": "x"}),
        ("POST", f"/repos/{REPO}/issues", {"title": "t", "unknown": 1}),
        ("POST", f"/repos/{REPO}/issues", {"title": "t" * 257}),
        ("POST", f"/repos/{REPO}/issues", {"title": "t", "body": "b" * 65537}),
        ("PATCH", f"/repos/{REPO}/issues/1", {"state": "shut"}),
        ("PATCH", f"/repos/{REPO}/issues/1", {"state": "closed", "state_reason": "done"}),
        ("PATCH", f"/repos/{REPO}/issues/x", {"state": "closed"}),
        ("POST", f"/repos/{REPO}/issues/1/comments", {}),
        ("GET", f"/repos/{REPO}/issues?per_page=1000", None),
        ("GET", f"/repos/{REPO}/issues?state=both", None),
        ("GET", f"/repos/{REPO}/issues/", None),
        ("GET", "/nowhere", None),
    ],
)
def test_a_bad_request_is_known_as_one(method: str, path: str, body: Any) -> None:
    import json

    headers = {"authorization": "Bearer x"}
    check_request(GOOD[0], GOOD[1], headers, json.dumps(GOOD[2]).encode())
    with pytest.raises(OpenAPIError):
        check_request(method, path, headers, json.dumps(body).encode() if body is not None else None)


def test_a_request_without_a_token_is_a_bad_one() -> None:
    with pytest.raises(OpenAPIError):
        check_request("GET", f"/repos/{REPO}", {}, None)


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("POST", f"/repos/{REPO}/issues", 201, b'{"number": 1}'),
        ("GET", f"/repos/{REPO}/issues", 200, b"{}"),
        ("GET", f"/repos/{REPO}", 200, b'{"id": "one"}'),
        ("GET", f"/repos/{REPO}", 299, b"{}"),
    ],
)
def test_a_lazy_answer_is_known_as_one(method: str, path: str, status: int, body: bytes) -> None:
    with pytest.raises(OpenAPIError):
        check_response(method, path, status, body)
