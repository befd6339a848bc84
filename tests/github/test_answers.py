"""What GitHub's answers, headers and addresses mean, without any request."""

from __future__ import annotations

from typing import Any

import pytest

from tests.github.fake import FakeGitHub
from tests.github.world import REPO
from tracker.github import answers
from tracker.github.answers import limited_until, next_page, reasons, redirected


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"body": None}, "body", ""),
        ({"body": "a\r\nb\nc"}, "body", "a\nb\nc"),
        ({"user": None}, "author", ""),
        ({"user": {"login": "ghost"}}, "author", "ghost"),
        ({"locked": True}, "locked", True),
        ({"locked": None}, "locked", False),
        ({"labels": ["a", {"name": "b"}]}, "labels", ("a", "b")),
        ({"state_reason": "not_planned"}, "state_reason", "not_planned"),
        ({"pull_request": None}, "number", 1),
    ],
)
def test_what_an_issue_says(change: dict[str, Any], field: str, value: object) -> None:
    with FakeGitHub() as fake:
        shown = fake._issue(fake.repository(REPO), fake.file(REPO, "x"))
    assert getattr(answers.issue(shown | change), field) == value


def test_a_comment_of_a_deleted_account_is_of_nobody() -> None:
    shown = {"id": 1, "user": None, "body": "a\r\nb", "created_at": "2026-01-01T00:00:00Z"}
    found = answers.comment(shown)
    assert (found.author, found.body) == ("", "a\nb")


@pytest.mark.parametrize(
    ("code", "message", "headers", "wait"),
    [
        (403, "You have exceeded a secondary rate limit", {"retry-after": "120"}, 120),
        (403, "You have exceeded a secondary rate limit", {}, 60),
        (403, "API rate limit exceeded", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000500"}, 501),
        (403, "API rate limit exceeded", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, 60),
        (403, "Forbidden", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000500"}, 501),
        (429, "slow down", {}, 60),
        (429, "slow down", {"retry-after": "never"}, 60),
        (429, "slow down", {"retry-after": "0"}, 1),
        (429, "slow down", {"retry-after": "-5"}, 1),
        (429, "slow down", {"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, 60),
        (429, "slow down", {"retry-after": "nan"}, 60),
        (429, "slow down", {"retry-after": "inf"}, 60),
        (429, "slow down", {"retry-after": "1e18"}, 86_400),
        (429, "slow down", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9e18"}, 86_400),
        (429, "slow down", {"x-ratelimit-remaining": "0"}, 60),
        (403, "You have triggered an abuse detection mechanism", {}, 60),
        (503, "secondary rate limit", {"retry-after": "5"}, None),
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


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "no reason given"),
        ([1], "no reason given"),
        ({}, "no reason given"),
        ({"message": None, "errors": None}, "no reason given"),
        ({"message": "Validation Failed"}, "Validation Failed"),
        ({"message": "a", "errors": "b"}, "a; b"),
        ({"message": "a", "errors": 5}, "a; 5"),
        ({"message": "a", "errors": ["b", None, {"code": "c", "field": "f", "message": "m"}]}, "a; b; f c m"),
        ({"message": "two\nlines\x1b[2J"}, "two lines\\x1b[2J"),
    ],
)
def test_why_github_refuses_is_one_line(data: object, said: str) -> None:
    """Fault 14, and text that would act on a terminal."""
    assert reasons(data) == said


@pytest.mark.parametrize(
    ("link", "following"),
    [
        (None, None),
        ("", None),
        ('<https://h/x?page=2>; rel="next", <https://h/x?page=9>; rel="last"', "https://h/x?page=2"),
        ('<https://h/x>; rel="first"', None),
        ("<https://h/x>; rel=next", "https://h/x"),
        ("nonsense, <>, <https://h/x", None),
    ],
)
def test_the_next_page(link: str | None, following: str | None) -> None:
    assert next_page(link, "https://h") == following


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (None, None),
        ("/b", "https://h/b"),
        ("https://h/b", "https://h/b"),
        ("https://H/b", "https://H/b"),
        ("http://h/b", None),
        ("https://h:444/b", None),
        ("https://h.evil/b", None),
        ("https://evil@h/b", None),
        ("https://h@evil/b", None),
    ],
)
def test_where_a_redirect_leads(location: str | None, target: str | None) -> None:
    assert redirected(location, "https://h/a") == target
