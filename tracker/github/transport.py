"""Requests to GitHub: what is retried, what never is, and how long to wait. The only module that knows httpx.

A creation is sent once. Whatever then happens to the answer, it is for the caller to find out whether it was made.
"""

from __future__ import annotations

import json
import random
import ssl
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

import httpx

from tracker.errors import AuthError, GitHubError, IncompleteList, NotSent, OutcomeUnknown, RateLimited, Rejected
from tracker.github import answers
from tracker.github.answers import Unreadable

API_VERSION = "2022-11-28"
CONNECT_S, READ_S = 10.0, 30.0
"""GitHub ends a request after 10 s: with httpx's own 5 s every slow day would leave writes of unknown outcome."""
TRIES = 4
HOPS = 3
PAGES = 1000
"""More pages than this of 100 issues each are no list but a loop."""

_RETRIED = {500, 502, 503, 504}


class Gate(Protocol):
    """Until when no request may be sent; kept where every process sees it."""

    def until(self) -> float | None:
        """Seconds since 1970, or None."""

    def close(self, until: float, reason: str) -> None:
        """Not before then."""


class Transport:
    """Sends requests for one token and reads refusals. Not for two threads at once."""

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
        self.base, self._token = base_url.rstrip("/"), token
        self._gate, self._clock, self._sleep, self._log = gate, clock, sleep, log
        self._spacing, self._deadline = spacing, clock() + budget
        self._last_write: float | None = None
        self._refused = ""
        self.warnings: list[str] = []
        self._client = httpx.Client(
            headers={
                "Authorization": f"Bearer {token}",
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": API_VERSION,
                "User-Agent": f"tracker/{version('tracker')}",
            },
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
            follow_redirects=False,
            verify=_certificates(),
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def pages(self, url: str) -> list[list[Any]]:
        pages: list[list[Any]] = []
        seen: set[str] = set()
        following: str | None = url
        while following is not None:
            if following in seen or len(seen) == PAGES:
                raise IncompleteList("GitHub's list leads back to itself: nothing is written on it")
            seen.add(following)
            try:
                answer = self.ask("GET", following)
                page = json_of(answer)
                if not isinstance(page, list):
                    raise Unreadable("it is no list")
                following = answers.next_page(answer.headers.get("link"), self.base)
            except (NotSent, Unreadable) as error:
                raise IncompleteList(f"not every issue could be listed ({error}): nothing is written") from error
            pages.append(page)
        return pages

    def ask(self, method: str, url: str, allow: Sequence[int] = ()) -> httpx.Response:
        """A question, asked again where it fails for the moment."""
        return self._retried(method, url, None, allow)

    def write(self, method: str, url: str, fields: Mapping[str, Any]) -> httpx.Response:
        if self._last_write is not None:
            pause = self._last_write + self._spacing - self._clock()
            if pause > 0:
                self._sleep(min(pause, self._spacing))
        try:
            return self._once_sent(method, url, fields) if method == "POST" else self._retried(method, url, fields, ())
        finally:
            self._last_write = self._clock()

    def _once_sent(self, method: str, url: str, fields: Mapping[str, Any]) -> httpx.Response:
        """A creation. Only what surely never reached GitHub is called so."""
        try:
            answer = self._send(method, url, fields)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
            raise NotSent(f"there is no way to {self.base}: {self._redacted(error)}") from None
        except httpx.HTTPError as error:
            raise OutcomeUnknown(f"GitHub's answer to a creation was lost ({self._redacted(error)})") from None
        if answer.status_code >= 500:
            raise OutcomeUnknown(f"GitHub answered a creation with {answer.status_code}")
        self._refuse(answer, ())
        return answer

    def _retried(self, method: str, url: str, fields: Mapping[str, Any] | None, allow: Sequence[int]) -> httpx.Response:
        last = ""
        for attempt in range(TRIES):
            if attempt:
                self._sleep(2.0**attempt * random.uniform(0.5, 1.0))
            try:
                answer = self._send(method, url, fields)
            except httpx.HTTPError as error:
                last = self._redacted(error)
                continue
            if answer.status_code in _RETRIED:
                last = f"it answered {answer.status_code}"
                continue
            self._refuse(answer, allow)
            return answer
        raise NotSent(f"GitHub could not be reached in {TRIES} tries ({last})")

    def _send(self, method: str, url: str, fields: Mapping[str, Any] | None) -> httpx.Response:
        """One request and its redirects, which keep method and body and never leave the host."""
        for _ in range(HOPS + 1):
            self._may_send()
            answer = self._client.request(
                method,
                url,
                content=json.dumps(fields).encode() if fields is not None else None,
                headers={"Content-Type": "application/json"} if fields is not None else {},
            )
            self._heard(method, url, answer)
            if answer.status_code not in (301, 302, 307, 308):
                return answer
            target = answers.redirected(answer.headers.get("location"), url)
            if target is None:
                raise GitHubError("GitHub redirects to another host: the token is not sent there; look at [filing] api")
            url = target
        raise GitHubError(f"GitHub redirected more than {HOPS} times: look at [filing] api and repository")

    def _may_send(self) -> None:
        if self._refused:
            raise AuthError(self._refused)
        until, now = self._gate.until(), self._clock()
        if until is not None and now < until:
            raise RateLimited(f"GitHub wants no request for another {until - now:.0f} s: the next run goes on")
        if now > self._deadline:
            raise NotSent("GitHub was too slow: the time for one run is over, the next run goes on")

    def _heard(self, method: str, url: str, answer: httpx.Response) -> None:
        facts = {
            "method": method,
            "url": url.removeprefix(self.base),
            "status": answer.status_code,
            "request_id": answer.headers.get("x-github-request-id"),
        }
        self._log(f"{method} {facts['url']} {answer.status_code}", facts)
        for name in ("deprecation", "sunset"):
            if (when := answer.headers.get(name)) is not None:
                warning = f"GitHub will no longer answer like this ({name} {when}): look for a newer tracker"
                if warning not in self.warnings:
                    self.warnings.append(warning)

    def _refuse(self, answer: httpx.Response, allow: Sequence[int]) -> None:
        """The errors that an answer stands for."""
        status = answer.status_code
        if status < 300:
            return
        try:
            data = answer.json()
        except ValueError:
            data = {}
        said = self._hidden(answers.reasons(data))
        until = answers.limited_until(status, answer.headers, said, self._clock())
        if until is not None:
            self._gate.close(until, said)
            raise RateLimited(f"GitHub's rate limit ({said}): no request for {until - self._clock():.0f} s")
        if status == 401:
            self._refused = f"GitHub does not accept the token ({said}): give it a new one"
            raise AuthError(self._refused)
        if status in allow:
            return
        if status == 403:
            needs = answer.headers.get("x-accepted-github-permissions")
            sso = answer.headers.get("x-github-sso")
            hint = f"; it needs {needs}" if needs else "; authorise it for single sign-on" if sso else ""
            raise AuthError(f"the token may not do this ({said}){hint}")
        if status == 404:
            raise AuthError(f"{answer.url.path} is missing on GitHub, or the token may not see it")
        if status == 410:
            version = "version" in said.lower()
            raise AuthError(
                f"this version of GitHub's API is no longer served ({said}): take a newer tracker"
                if version
                else f"GitHub says that it is gone ({said}): are issues switched on?"
            )
        if status == 422:
            raise Rejected(f"GitHub refuses it: {said}")
        raise GitHubError(f"GitHub answered {status} ({said})")

    def _redacted(self, error: Exception) -> str:
        return self._hidden(f"{type(error).__name__}: {error}")

    def _hidden(self, text: str) -> str:
        """By value: tokens come in too many forms for a pattern."""
        return text.replace(self._token, "***") if self._token else text


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes longer than a whole request."""
    return httpx.create_ssl_context()


def json_of(answer: httpx.Response) -> Any:
    """What an answer holds. Unreadable: it is cut off, or no JSON."""
    try:
        return answer.json()
    except ValueError as error:
        raise Unreadable("an answer of GitHub is cut off or no JSON") from error
