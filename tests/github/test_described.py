"""Fault 48: a validator that lets everything pass would make every test on the fake worth nothing."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from openapi_core.exceptions import OpenAPIError

from tests.github.described import check_request, check_response
from tests.github.fake import TOKEN, FakeGitHub
from tests.github.world import REPO, World
from tracker.errors import NotSent

HEADERS = {"authorization": "Bearer x", "content-type": "application/json"}
ISSUES, ISSUE = f"/repos/{REPO}/issues", f"/repos/{REPO}/issues/1"


@pytest.mark.parametrize(
    ("method", "good", "bad"),
    [
        ("POST", (ISSUES, {"title": "t", "body": "b"}), (ISSUES, {"body": "b"})),
        ("POST", (ISSUES, {"title": "t"}), (ISSUES, {"title": None})),
        ("POST", (ISSUES, {"title": "t"}), (ISSUES, {"title": ""})),
        ("POST", (ISSUES, {"title": "t"}), (ISSUES, {"title": 5})),
        ("POST", (ISSUES, {"title": "t", "labels": ["x"]}), (ISSUES, {"title": "t", "labels": "x"})),
        ("POST", (ISSUES, {"title": "t", "labels": []}), (ISSUES, {"title": "t", "lables": []})),
        ("POST", (ISSUES, {"title": "t" * 256}), (ISSUES, {"title": "t" * 257})),
        ("POST", (ISSUES, {"title": "t", "body": "b" * 65536}), (ISSUES, {"title": "t", "body": "b" * 65537})),
        ("POST", (ISSUES, {"title": "t"}), (f"{ISSUES}/", {"title": "t"})),
        ("POST", (ISSUES, {"title": "t"}), (ISSUES, None)),
        ("POST", (ISSUES, {"title": "t"}), (ISSUES, ["t"])),
        ("PATCH", (ISSUE, {"state": "closed"}), (ISSUE, {"state": "shut"})),
        ("PATCH", (ISSUE, {"state_reason": "not_planned"}), (ISSUE, {"state_reason": "done"})),
        ("PATCH", (ISSUE, {"state": "closed"}), (ISSUE, {"closed": True})),
        ("PATCH", (ISSUE, {"state": "closed"}), (f"{ISSUES}/x", {"state": "closed"})),
        ("POST", (f"{ISSUE}/comments", {"body": "b"}), (f"{ISSUE}/comments", {})),
        ("POST", (f"{ISSUE}/comments", {"body": "b"}), (f"{ISSUE}/comments", {"body": None})),
        ("GET", (f"{ISSUES}?per_page=100", None), (f"{ISSUES}?per_page=1000", None)),
        ("GET", (f"{ISSUES}?per_page=100", None), (f"{ISSUES}?perpage=100", None)),
        ("GET", (f"{ISSUES}?state=all", None), (f"{ISSUES}?state=both", None)),
        ("GET", (f"{ISSUES}?page=2", None), (f"{ISSUES}?page=two", None)),
        ("GET", (ISSUES, None), ("/nowhere", None)),
        ("GET", (ISSUES, None), (f"{ISSUES}/", None)),
        ("GET", (ISSUE, None), (f"{ISSUE}/comments/extra", None)),
    ],
)
def test_a_bad_request_is_known_as_one(method: str, good: tuple[str, Any], bad: tuple[str, Any]) -> None:
    """Each beside its good twin: what is refused is the one thing that differs."""
    check_request(method, good[0], HEADERS, json.dumps(good[1]).encode() if good[1] is not None else None)
    with pytest.raises(OpenAPIError):
        check_request(method, bad[0], HEADERS, json.dumps(bad[1]).encode() if bad[1] is not None else None)


@pytest.mark.parametrize(
    "headers", [{"authorization": None}, {"authorization": "Basic eDp4"}, {"content-type": "text/plain"}]
)
def test_a_request_without_its_headers_is_a_bad_one(headers: dict[str, str | None]) -> None:
    kept = {name: value for name, value in (HEADERS | headers).items() if value is not None}
    with pytest.raises(OpenAPIError):
        check_request("POST", ISSUES, kept, b'{"title": "t"}')


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


@pytest.mark.parametrize("fault", [None, "reset", "status", "html"])
def test_the_fake_itself_raises_what_is_bad(fault: str | None) -> None:
    """Through the socket, and whatever else goes wrong with the same request."""
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "User-Agent": "tracker/0",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }

    def session(title: str | None) -> None:
        with FakeGitHub() as fake, httpx.Client(headers=headers) as client:
            fake.repository(REPO)
            if fault is not None:
                fake.fail("POST", "", fault, code=502)
            try:
                client.post(f"{fake.url}{ISSUES}", json={"title": title})
            except httpx.HTTPError:
                assert fault == "reset"

    session("t")
    with pytest.raises(AssertionError, match="GitHub does not speak like this"):
        session(None)


def test_the_fake_itself_raises_its_own_lazy_answers() -> None:
    with pytest.raises(AssertionError, match="the fake's 200"), FakeGitHub() as fake:  # noqa: PT012
        fake.repository(REPO)
        fake._repository = lambda repo: {"id": repo.id}  # type: ignore[method-assign]
        with World(fake).client() as github, pytest.raises(NotSent):
            github.repository(REPO)
