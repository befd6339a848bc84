"""The client on a real socket: what each answer means, what is retried, and what never is."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.github.fake import TOKEN, FakeGitHub
from tests.github.world import REPO, World
from tracker.errors import (
    AuthError,
    GitHubError,
    IncompleteList,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    Rejected,
)
from tracker.github import answers, transport
from tracker.github.answers import Moved, Repository
from tracker.github.client import GitHub


def test_what_is_filed_is_there(world: World) -> None:
    with world.client() as github:
        home = github.repository(REPO)
        created = github.create(home, "title", "body", ["docs"])
        assert created.request_id
        (issue,) = github.issues(home)
        assert issue == created.issue
        assert (issue.title, issue.body, issue.state, issue.labels) == ("title", "body", "open", ("docs",))
        assert github.comment(home, issue.number, "hello")
        assert [comment.body for comment in github.comments(home, issue.number)] == ["hello"]
        done = github.update(home, issue.number, state="closed", state_reason="not_planned")
        closed = done.issue
        assert done.request_id
        assert (closed.state, closed.state_reason) == ("closed", "not_planned")
        assert github.login() == "tracker-bot"
        assert world.slept >= 6  # R22: three writes, three seconds apart


Call = Callable[[GitHub, Repository], object]
QUESTIONS: dict[str, Call] = {
    "login": lambda github, home: github.login(),
    "repository": lambda github, home: github.repository(REPO),
    "issue": lambda github, home: github.issue(home, 1),
    "issues": lambda github, home: github.issues(home),
    "comments": lambda github, home: github.comments(home, 1),
}
WRITES: dict[str, Call] = {
    "create": lambda github, home: github.create(home, "t", "b"),
    "comment": lambda github, home: github.comment(home, 1, "b"),
    "update": lambda github, home: github.update(home, 1, title="t"),
}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"id": 1',
        b"<html>Please log in</html>",
        b"null",
        b"5",
        b"[5]",
        b"{}",
        b'{"id": 1e999, "number": 1e999}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
    ids=lambda content: repr(content[:12]),
)
@pytest.mark.parametrize("name", [*QUESTIONS, *WRITES])
def test_an_answer_that_cannot_be_read_is_an_error_in_one_line(world: World, name: str, content: bytes) -> None:
    """Fault 7: a proxy's page, half an answer. What was asked is not known; what was written may have happened."""
    world.fake.file(REPO, "x")
    with world.client() as github:
        home = github.repository(REPO)
        world.fake.fail("", "", "says", times=9, content=content)
        expected = OutcomeUnknown if name in WRITES else IncompleteList if name in ("issues", "comments") else NotSent
        with pytest.raises(expected) as error:
            (QUESTIONS | WRITES)[name](github, home)
    assert "\n" not in str(error.value)
    assert len(world.fake.writes) == (name in WRITES)


def test_a_name_that_is_none_makes_no_address(world: World) -> None:
    world.fake.repository(REPO).name = "../../user"
    world.fake.repos[REPO].id = 7
    with world.client() as github, pytest.raises(NotSent, match="it is no repository"):
        github.repository(REPO)


def test_a_server_that_never_answers_is_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """R23: a question is asked again, a creation may have been carried out."""
    monkeypatch.setattr(transport, "READ_S", 0.2)
    with world.client() as github:
        home = github.repository(REPO)
        world.fake.fail("POST", "issues", "slow", seconds=0.6)
        with pytest.raises(OutcomeUnknown, match="ReadTimeout"):
            github.create(home, "t", "b")
        assert len(world.fake.writes) == len(world.fake.ours(REPO)) == 1
        world.fake.fail("GET", "issues", "slow", seconds=0.6)
        assert len(github.issues(home)) == 1


@pytest.mark.parametrize(("method", "error"), [("POST", OutcomeUnknown), ("GET", NotSent)])
def test_an_answer_without_end_is_left(world: World, method: str, error: type[GitHubError]) -> None:
    """R23: each read has its time-out, and all of them together have the time of one run."""
    world.fake.fail(method, "issues", "drip", times=9, seconds=40)
    issue = world.fake.file(REPO, "x", "y" * 5000)
    with world.client(budget=300.0) as github:
        home = github.repository(REPO)
        with pytest.raises(error):
            github.issue(home, issue.number) if method == "GET" else github.create(home, "t", "y" * 5000)
    assert world.fake.now < 1_750_000_000 + 600


def test_an_answer_that_ends_late_is_taken(world: World) -> None:
    with world.client(budget=100.0) as github:
        home = github.repository(REPO)
        world.fake.fail("POST", "", "slow", seconds=0, clock=101.0)
        assert github.create(home, "t", "b").issue.number == 1


def test_writes_are_spaced_when_they_are_tried_again_too(world: World) -> None:
    """R22."""
    issue = world.fake.file(REPO, "x")
    with world.client() as github:
        home = github.repository(REPO)
        github.create(home, "t", "b")
        world.fake.fail("PATCH", "", "status", times=3, code=502)
        github.update(home, issue.number, title="y")
        github.comment(home, issue.number, "z")
    times = [seen.at for seen in world.fake.writes]
    assert len(times) == 6
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= 3


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


def test_long_lists_are_asked_for_in_the_longest_pages_the_oldest_first(world: World) -> None:
    for number in range(101):
        issue = world.fake.file(REPO, f"issue {number}")
    world.fake.close(issue)
    for number in range(101):
        world.fake.say(issue, f"comment {number}")
    with world.client() as github:
        home = github.repository(REPO)
        asked = len(world.fake.requests)
        issues = github.issues(home)
        assert (len(issues), issues[-1].state) == (101, "closed")
        assert len(github.comments(home, issue.number)) == 101
    paths = [seen.path for seen in world.fake.requests[asked:]]
    assert len(paths) == 4
    assert all("sort=created&direction=asc" in path for path in paths[:2])


def test_a_list_that_goes_on_elsewhere_is_not_followed(world: World) -> None:
    """Fault 7: the token is not sent there."""
    with FakeGitHub() as other:
        other.repository(REPO)
        world.fake.fail("GET", r"issues\?", "link", to=f"{other.url}/repos/{REPO}/issues?page=2")
        with world.client() as github:
            home = github.repository(REPO)
            with pytest.raises(IncompleteList, match="another host"):
                github.issues(home)
        assert not other.requests


def test_an_issue_that_names_another_host_is_not_followed(world: World) -> None:
    issue = world.fake.file(REPO, "x")
    with FakeGitHub() as other:
        other.repository(REPO)
        shown = world.fake._issue(world.fake.repository(REPO), issue)
        shown["repository_url"] = f"{other.url}/repos/{REPO}"
        world.fake.fail("GET", "issues/1", "says", content=json.dumps(shown).encode())
        with world.client() as github:
            found = github.issue(github.repository(REPO), 1)
        assert isinstance(found, answers.Issue)
        assert not other.requests


def test_a_pull_request_is_never_an_issue(world: World) -> None:
    """Fault 17, one by one: as an answer to a write it is none that can be trusted."""
    asked = world.fake.file(REPO, "x", pull_request=True)
    shown = json.dumps(world.fake._issue(world.fake.repository(REPO), asked)).encode()
    with world.client() as github:
        home = github.repository(REPO)
        assert github.issue(home, asked.number) is None
        world.fake.fail("", "issues", "says", times=9, content=shown)
        for name in ("create", "update"):
            with pytest.raises(OutcomeUnknown, match="something else"):
                WRITES[name](github, home)


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
    for code in (502, 503, 504):
        world.fake.fail("GET", "", "status", code=code)
    world.fake.fail("PATCH", "", "reset", times=2)
    issue = world.fake.file(REPO, "x")
    with world.client() as github:
        home = github.repository(REPO)
        assert github.update(home, issue.number, title="y").issue.title == "y"
    assert issue.title == "y"


def test_long_trouble_is_left_to_the_next_run(world: World) -> None:
    with world.client() as github:
        home = github.repository(REPO)
        asked = len(world.fake.requests)
        world.fake.fail("", "", "status", times=99, code=502)
        for call in (QUESTIONS["login"], WRITES["update"]):
            with pytest.raises(NotSent, match="in 4 tries"):
                call(github, home)
    assert len(world.fake.requests) - asked == 8


def test_a_clock_that_is_set_back_does_not_stop_the_writes(world: World) -> None:
    """Fault 35."""
    with world.client() as github:
        home = github.repository(REPO)
        github.create(home, "t", "b")
        world.fake.now -= 3600
        github.create(home, "t", "b")
    assert world.slept == 3


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
        pytest.param("status", {"code": 404, "message": "Not Found"}, 0, AuthError, id="11 missing"),
        pytest.param("status", {"code": 410, "message": "Issues are disabled"}, 0, AuthError, id="12"),
        pytest.param("html", {"code": 504}, 0, OutcomeUnknown, id="4 of a proxy"),
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


@pytest.mark.parametrize(("ahead", "asked"), [(-1.0, True), (0.0, True), (86_400.0, False), (315_360_000.0, True)])
def test_a_gate_that_a_wrong_clock_closed_does_not_stay_closed(world: World, ahead: float, asked: bool) -> None:
    """Fault 35, ten years ahead."""
    world.gate.closed = world.fake.now + ahead
    with world.client() as github:
        if asked:
            github.repository(REPO)
        else:
            with pytest.raises(RateLimited):
                github.repository(REPO)
    assert bool(world.fake.requests) == asked


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
            lambda fake: fake.fail(
                "GET",
                "/repos",
                "status",
                code=403,
                message="SAML",
                headers={"x_github_sso": "required; url=https://g/x"},
            ),
            "single sign-on: required; url=https://g/x",
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


@pytest.mark.parametrize("to", ["", "//evil.example/x", "http://[bad", "http://127.0.0.1:99999/", "https://127.0.0.1/"])
def test_a_redirect_to_nowhere_is_refused(world: World, to: str) -> None:
    """Fault 15."""
    world.fake.fail("POST", "", "redirect", code=307, to=to)
    with world.client() as github:
        home = github.repository(REPO)
        with pytest.raises(GitHubError, match="another host"):
            github.create(home, "t", "b")
    assert len(world.fake.writes) == 1


def test_a_renamed_repository_is_found_and_said(world: World) -> None:
    """Fault 15: 301 for a question, 307 for a write, as GitHub answers them."""
    issue = world.fake.file(REPO, "x")
    old = world.fake.repository(REPO)
    world.fake.rename(REPO, "docs/faults")
    with world.client() as github:
        home = github.repository(REPO)
        assert (home.id, home.full_name) == (old.id, "docs/faults")
        assert github.warnings == [f"{REPO} is now docs/faults: set it in [filing] repository"]
        before = Repository(
            id=old.id, full_name=REPO, archived=False, has_issues=True
        )  # renamed in the middle of a run
        assert isinstance(github.issue(before, issue.number), answers.Issue)
        assert github.update(before, issue.number, title="y").issue.title == "y"
        assert github.create(before, "t", "b").issue.number == 2
        assert [issue.number for issue in github.issues(before)] == [1, 2]
    assert [seen.method for seen in world.fake.writes] == ["PATCH", "PATCH", "POST", "POST"]


def test_letters_make_no_other_repository(world: World) -> None:
    with world.client() as github:
        assert github.repository(REPO.upper()).full_name == REPO
        assert not github.warnings


def test_a_token_that_may_not_say_whose_it_is(world: World) -> None:
    world.fake.login = None
    with world.client() as github:
        assert github.login() is None


@pytest.mark.parametrize(
    ("message", "error", "said"),
    [
        ("This issue was deleted", GitHubError, "is gone from GitHub (This issue was deleted)"),
        ("Issues has been disabled in this repository.", AuthError, "issues are switched off"),
        ("This API version is no longer supported", AuthError, "no longer served"),
    ],
)
def test_what_is_gone_is_told_apart(world: World, message: str, error: type[GitHubError], said: str) -> None:
    """Faults 12 and 13, and an issue that is deleted between two requests."""
    world.fake.fail("PATCH", "", "status", code=410, message=message)
    with world.client() as github, pytest.raises(error) as raised:
        github.update(github.repository(REPO), 1, title="x")
    assert type(raised.value) is error
    assert said in str(raised.value)


def test_a_long_reason_is_cut(world: World) -> None:
    """Fault 14."""
    world.fake.fail("POST", "", "status", code=422, message="x" * 5000)
    with world.client() as github, pytest.raises(Rejected) as error:
        github.create(github.repository(REPO), "t", "b")
    assert len(str(error.value)) < 400


def test_a_redirect_in_a_circle_ends(world: World) -> None:
    world.fake.fail("GET", "", "redirect", times=99, code=301, to=f"{world.fake.url}/repos/{REPO}")
    with world.client() as github, pytest.raises(GitHubError, match="more than 3 times"):
        github.repository(REPO)


def test_what_became_of_an_issue(world: World) -> None:
    """None is deleted; what GitHub does not know at all is as good as that."""
    kept, deleted, moved = (world.fake.file(REPO, title) for title in ("kept", "deleted", "moved"))
    deleted.deleted = True
    world.fake.transfer(REPO, moved.number, "docs/other")
    with world.client() as github:
        home = github.repository(REPO)
        found = [github.issue(home, issue.number) for issue in (kept, deleted, moved)]
        assert github.issue(home, 99) is None
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
        assert len([warning for warning in github.warnings if "sunset" in warning]) == 1


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


def test_the_token_is_not_in_an_address_that_cannot_be_reached(world: World) -> None:
    home = Repository(id=1, full_name=REPO, archived=False, has_issues=True)
    with world.client(url=f"http://127.0.0.1:1/{TOKEN}") as github, pytest.raises(NotSent) as error:
        github.create(home, "t", "b")
    assert TOKEN not in str(error.value)


def test_the_token_is_not_in_what_is_kept(world: World) -> None:
    """R28: where GitHub itself says it, in an address, a header, or at the place where a long reason is cut."""
    world.fake.file(REPO, "x")
    world.fake.extra_headers = {"Sunset": TOKEN, "X-GitHub-Request-Id": TOKEN}
    world.fake.fail("GET", "issues", "link", to=f"{world.fake.url}/repos/{REPO}/issues?page={TOKEN}")
    world.fake.fail("GET", TOKEN, "says", code=403, content=json.dumps({"message": "y" * 290 + TOKEN}).encode())
    with world.client() as github:
        home = github.repository(REPO)
        with pytest.raises(GitHubError) as error:
            github.issues(home)
        kept = f"{error.value}{world.lines}{github.warnings}"
    world.fake.wrong.clear()  # no page has such a number
    assert "***" in kept
    assert TOKEN[:8] not in kept


def test_the_token_is_not_in_a_place_that_github_leads_to(world: World) -> None:
    """R28."""
    world.fake.fail("GET", "issues/1", "redirect", code=301, to=f"{world.fake.url}/{TOKEN}/issues/2")
    world.fake.fail("GET", TOKEN, "html", code=200)
    with world.client() as github:
        home = github.repository(REPO)
        with pytest.raises(NotSent, match=r"/\*\*\*/issues/2") as error:
            github.issue(home, 1)
    assert TOKEN not in f"{error.value}{world.lines}"
    world.fake.wrong.clear()  # GitHub has no such place


@pytest.mark.parametrize("token", ["", " ", "a b", "a\nb", "tok\u00e9n", "\u2028"])
def test_a_token_that_no_header_can_hold_is_refused(world: World, token: str) -> None:
    """R28: httpx would show it."""
    with pytest.raises(AuthError, match="that no token has") as error:
        world.client(token=token)
    assert "Bearer" not in str(error.value)
    assert not world.fake.requests


def test_a_slow_server_ends_with_the_time_for_one_run(world: World) -> None:
    with world.client(budget=100.0) as github:
        github.repository(REPO)
        world.fake.now += 101
        with pytest.raises(NotSent, match="the time for one run is over"):
            github.repository(REPO)
