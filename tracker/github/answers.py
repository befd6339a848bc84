"""GitHub's answers as values, and what they say about limits, pages and redirects. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from tracker.harmless import printable

LEAST_PAUSE_S = 60.0
"""After a rate limit that names no time. GitHub's own rule: at least a minute."""
LONGEST_PAUSE_S = 86_400.0
"""GitHub's limits are over within the hour: more than a day is a broken header, or a clock that was wrong."""

_BROKEN = (TypeError, KeyError, ValueError, AttributeError, OverflowError)
"""What reading a value that is not what GitHub documents ends in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The repository that issues are filed in."""

    id: int
    full_name: str
    archived: bool
    has_issues: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One issue; never a pull request."""

    number: int
    id: int
    node_id: str
    title: str
    body: str
    """With line feeds alone; empty where GitHub has null."""
    state: str
    """`open` or `closed`."""
    state_reason: str | None
    locked: bool
    author: str
    labels: tuple[str, ...]
    url: str
    repository_url: str
    """Of the repository that it is in now, as GitHub's interface names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment on an issue."""

    id: int
    author: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """An issue that was transferred to another repository."""

    full_name: str
    repository_id: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An issue as a write left it, and GitHub's own name of the request, for its support."""

    issue: Issue
    request_id: str | None


class Unreadable(ValueError):
    """An answer that is not what GitHub documents."""


def login(data: Any) -> str:
    """The name of an account. Unreadable: it is none."""
    try:
        return str(data["login"])
    except _BROKEN as error:
        raise Unreadable("it is no account") from error


def repository(data: Any) -> Repository:
    """A repository. Unreadable: it is none."""
    try:
        full_name = str(data["full_name"])
        # Addresses are made of it.
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", full_name, re.ASCII):
            raise ValueError(full_name)
        return Repository(
            id=int(data["id"]),
            full_name=full_name,
            archived=bool(data.get("archived", False)),
            has_issues=bool(data.get("has_issues", True)),
        )
    except _BROKEN as error:
        raise Unreadable("it is no repository") from error


def issue(data: Any) -> Issue | None:
    """An issue; None for a pull request, which the same lists hold. Unreadable: it is neither."""
    try:
        if data.get("pull_request") is not None:
            return None
        user = data.get("user")
        return Issue(
            number=int(data["number"]),
            id=int(data["id"]),
            node_id=str(data["node_id"]),
            title=str(data["title"]),
            body=(data.get("body") or "").replace("\r\n", "\n"),
            state=str(data["state"]),
            state_reason=data.get("state_reason"),
            locked=bool(data.get("locked", False)),
            author=str(user["login"]) if user else "",  # a deleted account
            labels=tuple(label if isinstance(label, str) else str(label["name"]) for label in data["labels"]),
            url=str(data["html_url"]),
            repository_url=str(data.get("repository_url") or ""),
        )
    except _BROKEN as error:
        raise Unreadable("it is no issue") from error


def comment(data: Any) -> Comment:
    """A comment. Unreadable: it is none."""
    try:
        user = data.get("user")
        return Comment(
            id=int(data["id"]),
            author=str(user["login"]) if user else "",
            body=(data.get("body") or "").replace("\r\n", "\n"),
        )
    except _BROKEN as error:
        raise Unreadable("it is no comment") from error


def next_page(link: str | None, base: str) -> str | None:
    """The address of the next page, of the Link header. Unreadable: it leads away from GitHub's own host.

    It may be under /repositories/<id>, so it is taken as it stands and never built.
    """
    for part in (link or "").split(","):
        found = re.fullmatch(r"\s*<([^>]*)>\s*((?:;\s*[^;]*)*)", part)
        if found and re.search(r';\s*rel="?next"?', found[2]):
            if not same_host(found[1], base):
                raise Unreadable("the list goes on at another host")
            return found[1]
    return None


def same_host(url: str, base: str) -> bool:
    """Whether the token may be sent there: the same scheme, host and port, and no user, who would replace the token."""
    try:
        one, other = urlsplit(url), urlsplit(base)
        same = (one.scheme, one.hostname, one.port) == (other.scheme, other.hostname, other.port)
        return same and one.username is None
    except ValueError:
        return False


def redirected(location: str | None, url: str) -> str | None:
    """Where a redirect leads; None where it does not say, or away from GitHub's own host."""
    if not location:
        return None
    try:
        target = urljoin(url, location)
    except ValueError:
        return None
    return target if same_host(target, url) else None


def limited_until(status: int, headers: Mapping[str, str], message: str, now: float) -> float | None:
    """Until when no request may be sent, as an answer says; None where it speaks of no limit.

    GitHub's documented order: `retry-after`, else the reset where nothing remains, else at least a minute.
    """
    retry, remaining = _number(headers.get("retry-after")), _number(headers.get("x-ratelimit-remaining"))
    speaks = retry is not None or remaining == 0 or "rate limit" in message.lower() or "abuse" in message.lower()
    if status != 429 and not (status == 403 and speaks):
        return None
    reset = _number(headers.get("x-ratelimit-reset"))
    if retry is not None:
        pause = max(retry, 1.0)
    elif remaining == 0 and reset is not None and reset > now:
        pause = reset + 1.0 - now
    else:
        pause = LEAST_PAUSE_S
    return now + min(pause, LONGEST_PAUSE_S)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) else None


def reasons(data: Any) -> str:
    """Why GitHub refuses something, in one line that can be printed."""
    if not isinstance(data, dict):
        return "no reason given"
    parts = [str(data.get("message") or "")]
    errors = data.get("errors")
    for error in errors if isinstance(errors, list) else [errors]:
        if isinstance(error, dict):
            words = (error.get("field"), error.get("code"), error.get("message"))
            parts.append(" ".join(str(word) for word in words if word))
        elif error:
            parts.append(str(error))
    return " ".join(printable("; ".join(part for part in parts if part)).split()) or "no reason given"
