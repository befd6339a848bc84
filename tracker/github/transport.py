"""Requests to GitHub: what is retried, what never is, and how long to wait. The only module that knows httpx.

A creation is sent once. Whatever then happens to the answer, it is for the caller to find out whether it was made.
"""

from __future__ import annotations

import json
import random
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

import httpx

from tracker.errors import AuthError, GitHubError, IncompleteList, NotSent, OutcomeUnknown, RateLimited, Rejected
from tracker.github import answers
from tracker.github.answers import Unreadable
from tracker.harmless import cut_title

API_VERSION = "2022-11-28"
CONNECT_S, READ_S = 10.0, 30.0
"""GitHub ends a request after 10 s: with httpx's own 5 s every slow day would leave writes of unknown outcome."""
TRIES = 4
HOPS = 3
PAGES = 1000
"""More pages than this of 100 issues each are no list but a loop."""
REASON = 300
"""Of what GitHub gives as its reason, so many characters are shown."""

_RETRIED = {500, 502, 503, 504}


class Gate(Protocol):
    """Until when no request may be sent; kept where every process sees it."""

    def until(self) -> float | None:
        """Seconds since 1970, or None."""

    def close(self, until: float, reason: str) -> None:
        """Not before then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, read to its end."""

    status: int
    headers: Mapping[str, str]
    """By name, in whatever letters."""
    content: bytes
    path: str


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
        # What a header cannot hold, httpx shows in its error, written in another way than it can be redacted.
        if not re.fullmatch(r"[!-~]+", token):
            raise AuthError("the token holds a blank, a line break or a letter that no token has: copy it again")
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

    def warn(self, text: str) -> None:
        """Something that a person should be told, once."""
        if (warning := self._hidden(text)) not in self.warnings:
            self.warnings.append(warning)

    def pages(self, url: str) -> list[list[Any]]:
        """The pages of a list, to the last one. IncompleteList: any doubt that they are all."""
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
                raise IncompleteList(
                    f"GitHub's list could not be read to its end ({error}): nothing is written"
                ) from error
            pages.append(page)
        return pages

    def ask(self, method: str, url: str, allow: Sequence[int] = ()) -> Answer:
        """A question, asked again where it fails for the moment. The answers in `allow` are for the caller to read."""
        return self._retried(method, url, None, allow)

    def write(self, method: str, url: str, fields: Mapping[str, Any]) -> Answer:
        """A change, some time after the last one. OutcomeUnknown: a POST that may have been carried out."""
        if self._last_write is not None:
            pause = self._last_write + self._spacing - self._clock()
            if pause > 0:
                self._sleep(min(pause, self._spacing))
        try:
            return self._once_sent(method, url, fields) if method == "POST" else self._retried(method, url, fields, ())
        finally:
            self._last_write = self._clock()

    def _once_sent(self, method: str, url: str, fields: Mapping[str, Any]) -> Answer:
        """A creation. Only what surely never reached GitHub is called so."""
        try:
            answer = self._send(method, url, fields)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
            raise NotSent(self._hidden(f"there is no way to {self.base}: {error}")) from None
        except httpx.HTTPError as error:
            raise OutcomeUnknown(f"GitHub's answer to a creation was lost ({self._redacted(error)})") from None
        if answer.status >= 500:
            raise OutcomeUnknown(f"GitHub answered a creation with {answer.status}")
        self._refuse(answer, ())
        return answer

    def _retried(self, method: str, url: str, fields: Mapping[str, Any] | None, allow: Sequence[int]) -> Answer:
        last = ""
        for attempt in range(TRIES):
            if attempt:
                pause = 2.0**attempt * random.uniform(0.5, 1.0)
                self._sleep(pause if fields is None else max(pause, self._spacing))
            try:
                answer = self._send(method, url, fields)
            except httpx.HTTPError as error:
                last = self._redacted(error)
                continue
            if answer.status in _RETRIED:
                last = f"it answered {answer.status}"
                continue
            self._refuse(answer, allow)
            return answer
        raise NotSent(f"GitHub could not be reached in {TRIES} tries ({last})")

    def _send(self, method: str, url: str, fields: Mapping[str, Any] | None) -> Answer:
        """One request and its redirects, which keep method and body and never leave the host."""
        for _ in range(HOPS + 1):
            self._may_send()
            with self._client.stream(
                method,
                url,
                content=json.dumps(fields).encode() if fields is not None else None,
                headers={"Content-Type": "application/json"} if fields is not None else {},
            ) as response:
                answer = Answer(
                    status=response.status_code,
                    headers=response.headers,
                    content=self._whole(response),
                    path=self._hidden(response.url.path),
                )
            self._heard(method, url, answer)
            if answer.status not in (301, 302, 307, 308):
                return answer
            target = answers.redirected(answer.headers.get("location"), url)
            if target is None:
                raise GitHubError("GitHub redirects to another host: the token is not sent there; look at [filing] api")
            url = target
        raise GitHubError(f"GitHub redirected more than {HOPS} times: look at [filing] api and repository")

    def _whole(self, response: httpx.Response) -> bytes:
        """What an answer holds. The timeouts are of one read each, and there can be any number of reads."""
        parts: list[bytes] = []
        late = False
        for part in response.iter_bytes():
            if late:
                raise httpx.ReadTimeout("it goes on for longer than one run may take")
            parts.append(part)
            late = self._clock() > self._deadline
        return b"".join(parts)

    def _may_send(self) -> None:
        if self._refused:
            raise AuthError(self._refused)
        until, now = self._gate.until(), self._clock()
        # A time beyond all limits was written by a clock that was wrong.
        if until is not None and now < until <= now + answers.LONGEST_PAUSE_S:
            raise RateLimited(f"GitHub wants no request for another {until - now:.0f} s: the next run goes on")
        if now > self._deadline:
            raise NotSent("GitHub was too slow: the time for one run is over, the next run goes on")

    def _heard(self, method: str, url: str, answer: Answer) -> None:
        facts = {
            "method": method,
            "url": self._hidden(url.removeprefix(self.base)),
            "status": answer.status,
            "request_id": self._hidden(answer.headers.get("x-github-request-id", "")) or None,
        }
        self._log(f"{method} {facts['url']} {answer.status}", facts)
        for name in ("deprecation", "sunset"):
            if (when := answer.headers.get(name)) is not None:
                self.warn(f"GitHub will no longer answer like this ({name} {when}): look for a newer tracker")

    def _refuse(self, answer: Answer, allow: Sequence[int]) -> None:
        """The errors that an answer stands for."""
        status = answer.status
        if status < 300:
            return
        try:
            data = json_of(answer)
        except Unreadable:
            data = {}
        said = cut_title(self._hidden(answers.reasons(data)), REASON)
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
            hint = f"; it needs {needs}" if needs else f"; authorise it for single sign-on: {sso}" if sso else ""
            raise AuthError(self._hidden(f"the token may not do this ({said}){hint}"))
        if status == 404:
            raise AuthError(f"{answer.path} is missing on GitHub, or the token may not see it")
        if status == 410:
            if "version" in said.lower():
                raise AuthError(f"this version of GitHub's API is no longer served ({said}): take a newer tracker")
            if "disabled" in said.lower():
                raise AuthError(f"issues are switched off ({said}): switch them on in the repository's settings")
            raise GitHubError(f"{answer.path} is gone from GitHub ({said}): the next run looks again")
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


def json_of(answer: Answer) -> Any:
    """What an answer holds. Unreadable: it is cut off, or no JSON."""
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is cut off or no JSON") from error
