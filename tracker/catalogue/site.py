"""Answers of the site that publishes a catalogue, politely. Only this module and tracker.github know httpx.

One request a second, none that robots.txt does not allow, none that leaves the host; an answer that is too long, too
slow or not for now is a failure in one line. What an answer holds is not its business.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.metadata import version
from typing import Self
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx
from protego import Protego

from tracker.errors import SiteDeferred, SiteError

PACE = 1.0
"""Seconds between two requests."""
CONNECT_S, READ_S = 10.0, 30.0
WHOLE_S = 120.0
"""For one answer, however it trickles."""
LARGEST = 64 << 20
"""Bytes of one answer, unpacked."""
PATIENCE = 120.0
"""The longest `Retry-After` that is waited for."""
TRIES = 3
HOPS = 5
LONGEST_ROBOTS = 500 << 10
"""What RFC 9309 wants a reader of robots.txt to take at least."""

_PASSING = {429, 500, 502, 503, 504}
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the site said to one address."""

    url: str
    """Where it came from in the end."""
    content: bytes | None
    """None: the same as last time."""
    etag: str = ""
    modified: str = ""
    """The validators, to be sent the next time."""


class Site:
    """One host. Not for two threads at once."""

    def __init__(
        self,
        url: str,
        *,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """SiteError: `url` is no address that can be asked."""
        self._say, self._clock, self._sleep = say, clock, sleep
        self._start = _checked(url)
        if self._start.scheme == "http" and self._start.hostname not in _LOCAL:
            say(f"{self._start.netloc} is asked over http: on the way, anybody can read and change what it answers")
        self._last: float | None = None
        self._pace = PACE
        self._robots: Protego | None = None
        self._agent = f"tracker/{version('tracker')}"
        self._client = httpx.Client(
            headers={"User-Agent": self._agent, "Accept": "application/json, text/plain, text/html, */*;q=0.1"},
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
            follow_redirects=False,
            verify=_certificates(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: str, validators: Mapping[str, str] | None = None) -> Answer:
        """Ask for an address of this site; with the `etag` and `modified` of last time, only for what is new.

        SiteError: it may not be asked, or says no. SiteDeferred: not for now.
        """
        self._check(url)
        headers = {
            name: value
            for name, key in (("If-None-Match", "etag"), ("If-Modified-Since", "modified"))
            if (value := (validators or {}).get(key, ""))
        }
        for _ in range(HOPS + 1):
            self._allowed(url)
            status, answer, content = self._patiently(url, headers)
            if status in (301, 302, 303, 307, 308):
                url = self._redirected(url, answer.get("location", ""))
                continue
            if status == 304 and headers:
                return Answer(url=url, content=None, etag=headers.get("If-None-Match", ""),
                              modified=headers.get("If-Modified-Since", ""))  # fmt: skip
            if status != 200:
                raise SiteError(f"{url} is not to be had: {_said(status)}")
            return Answer(
                url=url, content=content, etag=answer.get("etag", ""), modified=answer.get("last-modified", "")
            )
        raise SiteError(f"{url} redirects more than {HOPS} times")

    def _check(self, url: str) -> None:
        """SiteError: the address is not one of this site's."""
        there = _checked(url)
        if (there.scheme, there.netloc) == (self._start.scheme, self._start.netloc):
            return
        upgraded = (self._start.scheme, there.scheme) == ("http", "https")
        if not (upgraded and there.hostname == self._start.hostname and None is there.port is self._start.port):
            raise SiteError(
                f"{url} leaves {self._start.scheme}://{self._start.netloc}: import it by itself if you trust it"
            )

    def _redirected(self, url: str, location: str) -> str:
        if not location:
            raise SiteError(f"{url} redirects, but not to anywhere")
        try:
            target = joined(url, location)
            self._check(target)
        except SiteError as error:
            raise SiteError(f"{url} redirects, and {error}") from None
        return target

    def _allowed(self, url: str) -> None:
        """SiteError: robots.txt does not want this address to be read by programs."""
        if self._robots is None:
            self._robots = self._rules()
            delay = float(self._robots.crawl_delay(self._agent) or 0)
            if not delay <= PATIENCE:
                raise SiteError(
                    f"robots.txt of {self._start.netloc} wants {delay:.0f} s between two requests: "
                    "get its pages as an archive, and import that"
                )
            self._pace = max(PACE, delay)
        if not self._robots.can_fetch(url, self._agent):
            raise SiteError(f"robots.txt of {self._start.netloc} does not allow programs to read {urlsplit(url).path}")

    def _rules(self) -> Protego:
        """robots.txt as RFC 9309 has it: without one everything is allowed, while it cannot be had nothing."""
        url = f"{self._start.scheme}://{self._start.netloc}/robots.txt"
        for _ in range(HOPS + 1):
            status, answer, content = self._patiently(url, {})
            if status in (301, 302, 303, 307, 308):
                url = self._redirected(url, answer.get("location", ""))
                continue
            text = content[:LONGEST_ROBOTS].decode("utf-8", "replace") if status == 200 else ""
            return Protego.parse(text)
        return Protego.parse("")

    def _patiently(self, url: str, headers: Mapping[str, str]) -> tuple[int, httpx.Headers, bytes]:
        """One answer; asked again where the failure may pass. SiteDeferred: it did not."""
        last = ""
        for attempt in range(TRIES):
            wait = 2.0**attempt
            try:
                status, answer, content = self._once(url, headers)
            except httpx.TimeoutException:
                last = "no answer in time"
            except httpx.HTTPError as error:
                last = str(error) or type(error).__name__
            except httpx.InvalidURL as error:
                raise SiteError(f"{url} is no address: {error}") from None
            else:
                if status not in _PASSING:
                    return status, answer, content
                last, wait = _said(status), _after(answer.get("retry-after", ""), wait)
            if wait > PATIENCE:
                raise SiteDeferred(f"{self._start.netloc} wants no request for {wait:.0f} s ({last}): try again then")
            if attempt + 1 < TRIES:
                self._sleep(wait)
        raise SiteDeferred(f"{url} cannot be had ({last}): try again later")

    def _once(self, url: str, headers: Mapping[str, str]) -> tuple[int, httpx.Headers, bytes]:
        if self._last is not None and (pause := self._last + self._pace - self._clock()) > 0:
            self._sleep(pause)
        began = self._clock()
        try:
            with self._client.stream("GET", url, headers=dict(headers)) as answer:
                parts, size = [], 0
                for part in answer.iter_bytes():
                    size += len(part)
                    if size > LARGEST:
                        raise SiteError(f"{url} answers with more than {LARGEST >> 20} MB: it is no catalogue")
                    if self._clock() - began > WHOLE_S:
                        raise httpx.ReadTimeout("too slow")
                    parts.append(part)
                return answer.status_code, answer.headers, b"".join(parts)
        finally:
            self._last = self._clock()


def joined(base: str, link: str) -> str:
    """An address as another one names it. SiteError: it is none."""
    try:
        return urljoin(base, link)
    except ValueError as error:
        raise SiteError(f"{link!r} is no address: {error}") from None


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes longer than a whole request."""
    return httpx.create_ssl_context()


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        named, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SiteError(f"{url!r} is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not named or not url.isprintable():
        raise SiteError(f"{url!r} is no address that starts with https://")
    if parts.username is not None or parts.password is not None:
        raise SiteError(f"the address of {named} holds a name or a password: pages are only read where anybody can")
    return parts


def _said(status: int) -> str:
    phrase = httpx.codes.get_reason_phrase(status)
    return f"it answered {status}{f' {phrase}' if phrase else ''}"


def _after(value: str, otherwise: float) -> float:
    """`Retry-After` in seconds, from a number or a date."""
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return otherwise
