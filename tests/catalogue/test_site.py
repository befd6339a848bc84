"""A real server on a loopback port: what is asked for, how often, how politely, and what comes of every bad answer."""

from __future__ import annotations

import itertools
import re
import time
from email.utils import formatdate

import pytest

from tests.catalogue.publisher import Reply, publisher
from tracker.catalogue import site as module
from tracker.catalogue.site import Site
from tracker.errors import SiteDeferred, SiteError


@pytest.fixture
def there():
    with publisher() as site:
        yield site


@pytest.fixture
def slept():
    return []


@pytest.fixture
def ask(there, slept):
    """ask(path or address) through one site whose clock stands still and whose sleep is noted."""
    with Site(there.address, say=lambda line: None, clock=lambda: 0.0, sleep=slept.append) as site:
        yield lambda path, **known: site.get(path if "://" in path else there.address + path, known)


def test_one_answer(there, ask):
    there.replies["/a"] = Reply(headers={"ETag": '"1"', "Last-Modified": "Tue, 01 Dec 2026 00:00:00 GMT"}, body=b"hi")
    answer = ask("/a")
    assert (answer.content, answer.etag, answer.url) == (b"hi", '"1"', there.address + "/a")
    assert there.paths == ["/robots.txt", "/a"]
    assert all(re.match(r"tracker/\d", one.headers["user-agent"]) for one in there.asked)
    again = ask("/a", etag=answer.etag, modified=answer.modified)
    assert (again.content, again.etag, again.modified) == (None, answer.etag, answer.modified)
    assert there.asked[-1].headers["if-none-match"] == '"1"'
    assert there.asked[-1].headers["if-modified-since"] == "Tue, 01 Dec 2026 00:00:00 GMT"
    assert there.paths == ["/robots.txt", "/a", "/a"]


def test_a_second_between_two_requests(there, ask, slept):
    there.replies["/a"] = Reply(body=b"")
    ask("/a")
    ask("/a")
    assert slept == [1.0, 1.0]


def test_the_pace_is_kept_on_the_clock_of_the_server(there, monkeypatch):
    monkeypatch.setattr(module, "PACE", 0.15)
    there.replies["/a"] = Reply(body=b"")
    with Site(there.address, say=print) as site:
        for _ in range(3):
            site.get(there.address + "/a")
    times = [one.at for one in there.asked]
    assert all(later - earlier > 0.14 for earlier, later in itertools.pairwise(times))


ROBOTS = "User-agent: *\nDisallow: /private\nCrawl-delay: 7\n\nUser-agent: tracker\nDisallow: /not/*/tracker$\n"


@pytest.mark.parametrize(
    ("robots", "path", "allowed"),
    [
        (Reply(status=404), "/private", True),
        (Reply(status=403), "/private", True),
        (Reply(body=b""), "/private", True),
        (Reply(body=b"\xff\xfe\0 no text"), "/private", True),
        (Reply(body=b"User-agent: *\nDisallow: /"), "/a", False),
        (Reply(body=b"User-agent: *\nDisallow: /\nAllow: /a"), "/a", True),
        (Reply(body=b"User-agent: others\nDisallow: /"), "/a", True),
        (Reply(body=ROBOTS.encode()), "/private", True),
        (Reply(body=ROBOTS.encode()), "/not/for/tracker", False),
        (Reply(body=ROBOTS.encode()), "/not/for/tracker/all", True),
        (Reply(status=301, headers={"Location": "/r"}), "/b", False),
        (Reply(status=301, headers={"Location": "/robots.txt"}), "/b", True),
    ],
)
def test_robots(there, ask, robots, path, allowed):
    there.replies |= {"/robots.txt": robots, "/r": Reply(body=b"User-agent: *\nDisallow: /b"), path: Reply(body=b"x")}
    if allowed:
        assert ask(path).content == b"x"
    else:
        with pytest.raises(SiteError, match=r"robots\.txt of 127.* does not allow programs to read "):
            ask(path)
        assert path not in there.paths


def test_robots_may_want_more_time_and_are_asked_for_once(there, ask, slept):
    there.replies |= {"/robots.txt": Reply(body=b"User-agent: *\nCrawl-delay: 7"), "/a": Reply(body=b"x")}
    ask("/a")
    ask("/a")
    assert slept == [7.0, 7.0]
    assert there.paths.count("/robots.txt") == 1


def test_nothing_is_asked_while_robots_cannot_be_had(there, ask):
    there.replies |= {"/robots.txt": Reply(status=500), "/a": Reply(body=b"x")}
    with pytest.raises(SiteDeferred, match=r"robots\.txt cannot be had \(it answered 500"):
        ask("/a")
    assert set(there.paths) == {"/robots.txt"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_on_the_host_are_followed(there, ask, status):
    there.replies |= {"/a": Reply(status=status, headers={"Location": "b"}), "/b": Reply(body=b"x")}
    answer = ask("/a")
    assert (answer.content, answer.url) == (b"x", there.address + "/b")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://example.org/b", "leaves http://127"),
        ("//example.org/b", "leaves"),
        ("http://127.0.0.1:1/b", "leaves"),
        ("file:///etc/passwd", "no address that starts with https"),
        ("ftp://127.0.0.1/", "no address that starts with https"),
        ("http://me:secret@127.0.0.1/", "name or a password"),
        ("/a", "more than 5 times"),
        ("", "not to anywhere"),
        ("http://[", "no address"),
    ],
)
def test_redirects_elsewhere_are_not(there, ask, location, said):
    there.replies["/a"] = Reply(status=302, headers={"Location": location})
    with pytest.raises(SiteError, match=said):
        ask("/a")


def test_a_redirect_to_what_robots_forbid(there, ask):
    there.replies |= {
        "/robots.txt": Reply(body=b"User-agent: *\nDisallow: /b"),
        "/a": Reply(status=302, headers={"Location": "/b"}),
        "/b": Reply(body=b"x"),
    }
    with pytest.raises(SiteError, match="does not allow"):
        ask("/a")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 501, 206, 304])
def test_a_no_is_said_once(there, ask, slept, status):
    there.replies["/a"] = Reply(status=status)
    with pytest.raises(SiteError, match=f"/a is not to be had: it answered {status}") as caught:
        ask("/a")
    assert not isinstance(caught.value, SiteDeferred)
    assert there.paths.count("/a") == 1


@pytest.mark.parametrize(
    ("retry", "waited"), [("3", 3.0), ("0", 0.0), ("", 1.0), ("soon", 1.0), ("-5", 1.0), ("DATE", 5.0), ("PAST", 0.0)]
)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_obeyed(there, ask, slept, status, retry, waited):
    dates = {"DATE": formatdate(time.time() + 5.9, usegmt=True), "PAST": formatdate(0, usegmt=True)}
    headers = {"Retry-After": dates.get(retry, retry)} if retry else {}
    there.replies["/a"] = [Reply(status=status, headers=headers), Reply(body=b"x")]
    assert ask("/a").content == b"x"
    assert slept[1] == pytest.approx(waited, abs=1.0 if retry == "DATE" else 0)


def test_a_site_that_wants_to_be_left_alone(there, ask, slept):
    there.replies["/a"] = Reply(status=429, headers={"Retry-After": "3600"})
    with pytest.raises(SiteDeferred, match=r"wants no request for 3600 s .*429 Too Many"):
        ask("/a")
    assert there.paths.count("/a") == 1
    assert sum(slept) < 10


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_does_not_pass(there, ask, status):
    there.replies["/a"] = Reply(status=status)
    with pytest.raises(SiteDeferred, match=f"cannot be had .it answered {status}"):
        ask("/a")
    assert there.paths.count("/a") == 3


def test_nobody_there(slept):
    with publisher() as gone:
        pass
    with (
        Site(gone.address, say=print, sleep=slept.append) as site,
        pytest.raises(SiteDeferred, match="try again later"),
    ):
        site.get(gone.address + "/a")


def test_an_answer_that_breaks_off(there, ask):
    there.replies["/a"] = Reply(headers={"Content-Length": "100"}, later=lambda handler: handler.wfile.write(b"x"))
    with pytest.raises(SiteDeferred, match="cannot be had"):
        ask("/a")


def test_an_answer_without_end(there, ask, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 1 << 16)

    def endless(handler):
        while True:
            handler.wfile.write(b"x" * 4096)

    there.replies["/a"] = Reply(later=endless)
    with pytest.raises(SiteError, match="answers with more than"):
        ask("/a")


def test_an_answer_that_trickles(there, monkeypatch):
    monkeypatch.setattr(module, "WHOLE_S", 0.2)
    monkeypatch.setattr(module, "TRIES", 1)

    def trickle(handler):
        for _ in range(100):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.02)

    there.replies["/a"] = Reply(later=trickle)
    with Site(there.address, say=print) as site, pytest.raises(SiteDeferred, match="no answer in time"):
        site.get(there.address + "/a")


def test_an_answer_that_never_comes(there, monkeypatch):
    monkeypatch.setattr(module, "READ_S", 0.2)
    monkeypatch.setattr(module, "TRIES", 1)
    there.replies["/a"] = Reply(later=lambda handler: time.sleep(1))
    with Site(there.address, say=print) as site, pytest.raises(SiteDeferred, match="no answer in time"):
        site.get(there.address + "/a")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ftp://x.org/", "no address that starts with https"),
        ("https://", "no address that starts with https"),
        ("https:///a", "no address that starts with https"),
        ("https://me:secret@x.org/", "holds a name or a password"),
        ("https://x.org:port/", "no address"),
        ("https://[::1/", "no address"),
        ("https://x.org/\x1b[1m", "no address"),
    ],
)
def test_what_is_no_address(address, said):
    with pytest.raises(SiteError, match=said) as caught:
        Site(address, say=print)
    assert "secret" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "noticed"),
    [("http://x.org/", True), ("https://x.org/", False), ("http://127.0.0.1:1/", False), ("http://localhost/", False)],
)
def test_http_is_taken_with_a_notice(address, noticed):
    said: list[str] = []
    with Site(address, say=said.append):
        pass
    assert bool(said) == noticed
