"""GitHub as far as the tracker uses it: issues that stay, on a real socket, with a clock and faults of its own.

Every request and every answer is held against GitHub's own description (`description/`); what does not fit is kept in
`wrong`, and leaving the fake raises it. Answers that are meant to be broken are marked so by their fault.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from openapi_core.exceptions import OpenAPIError

from tests.github.described import check_request, check_response, why

TOKEN = "github_pat_of_the_tests"
BOT = "tracker-bot"


@dataclass
class Fault:
    """What goes wrong, with which requests, and how often."""

    method: str
    path: str
    kind: str
    times: int
    options: dict[str, Any]


@dataclass
class Issue:
    """An issue as GitHub keeps it."""

    number: int
    title: str
    body: str | None
    author: str
    created_at: float
    state: str = "open"
    state_reason: str | None = None
    locked: bool = False
    labels: list[str] = field(default_factory=list)
    comments: list[tuple[int, str, str, float]] = field(default_factory=list)
    updated_at: float = 0.0
    closed_at: float | None = None
    deleted: bool = False
    moved: tuple[str, int] | None = None
    pull_request: bool = False


@dataclass
class Repo:
    """A repository as GitHub keeps it."""

    id: int
    name: str
    archived: bool = False
    has_issues: bool = True
    push: bool = True
    issues: dict[int, Issue] = field(default_factory=dict)


@dataclass
class Seen:
    """A request that arrived."""

    method: str
    path: str
    body: dict[str, Any] | None
    headers: dict[str, str]
    at: float
    """By the fake's clock."""


class FakeGitHub:
    """The fake. `now` is its clock, in seconds since 1970; it stands still until it is set."""

    def __init__(self, prefix: str = "", now: float = 1_750_000_000.0) -> None:
        self.now = now
        self.login: str | None = BOT
        """None: a token that may not ask whose it is."""
        self.stale = 0.0
        """Whoever asks is not told of issues younger than this."""
        self.keeps_labels = True
        self.rate_headers = True
        self.extra_headers: dict[str, str] = {}
        self.page_size: int | None = None
        self.repos: dict[str, Repo] = {}
        self.renamed: dict[str, str] = {}
        self.requests: list[Seen] = []
        self.wrong: list[str] = []
        self._prefix = prefix
        self._faults: list[Fault] = []
        self._late: list[tuple[float, str, dict[str, Any]]] = []
        self._ids = 1000
        self._lock = threading.RLock()

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self._prefix}"

    def __enter__(self) -> Self:
        fake = self

        class Handler(_Handler):
            github = fake

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if kind is None and self.wrong:
            raise AssertionError("GitHub does not speak like this:\n" + "\n".join(self.wrong))

    # What a test does

    def repository(self, name: str) -> Repo:
        """The repository of this name, made at the first call."""
        if name not in self.repos:
            self.repos[name] = Repo(id=self._id(), name=name)
        return self.repos[name]

    def file(self, repo: str, title: str, body: str | None = "", author: str = "somebody", **more: Any) -> Issue:
        """An issue that somebody files."""
        return self._create(self.repository(repo), title, body, author, **more)

    def close(self, issue: Issue, reason: str | None = "completed") -> None:
        """A person closes it."""
        issue.state, issue.state_reason, issue.closed_at = "closed", reason, self.now

    def reopen(self, issue: Issue) -> None:
        """A person reopens it."""
        issue.state, issue.state_reason, issue.closed_at = "open", "reopened", None

    def say(self, issue: Issue, text: str, author: str = "somebody") -> None:
        """Somebody comments."""
        issue.comments.append((self._id(), author, text, self.now))

    def transfer(self, repo: str, number: int, to: str) -> Issue:
        """An issue moves to another repository."""
        issue = self.repos[repo].issues[number]
        target = self.repository(to)
        new = self._create(target, issue.title, issue.body, issue.author)
        new.comments = issue.comments
        issue.moved = (to, new.number)
        return new

    def rename(self, old: str, new: str) -> None:
        """A repository gets another name."""
        repo = self.repos.pop(old)
        repo.name = new
        self.repos[new] = repo
        self.renamed[old] = new

    def fail(self, method: str, path: str, kind: str, times: int = 1, **options: Any) -> None:
        """The next `times` requests of a method ("" for any) whose path a pattern finds go wrong."""
        self._faults.append(Fault(method, path, kind, times, options))

    def heal(self) -> None:
        """Nothing goes wrong any more; what is late stays late."""
        self._faults.clear()

    @property
    def writes(self) -> list[Seen]:
        """The requests that change something."""
        return [seen for seen in self.requests if seen.method not in ("GET", "HEAD")]

    def open(self, repo: str) -> list[Issue]:
        """The open issues of the bot."""
        return [issue for issue in self._living(repo) if issue.state == "open" and issue.author == BOT]

    def ours(self, repo: str) -> list[Issue]:
        """Every issue of the bot that is still there."""
        return [issue for issue in self._living(repo) if issue.author == BOT]

    def _living(self, repo: str) -> list[Issue]:
        return [issue for issue in self.repository(repo).issues.values() if not issue.deleted and issue.moved is None]

    # What GitHub does

    def _id(self) -> int:
        self._ids += 1
        return self._ids

    def _create(self, repo: Repo, title: str, body: str | None, author: str, **more: Any) -> Issue:
        number = max(repo.issues, default=0) + 1
        issue = Issue(number, title, body, author, self.now, updated_at=self.now, **more)
        repo.issues[number] = issue
        return issue

    def _arrive(self) -> None:
        """What was late is done now."""
        for due, name, fields in list(self._late):
            if due <= self.now:
                self._late.remove((due, name, fields))
                self._create(self.repos[name], fields["title"], fields.get("body"), BOT)

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes | None) -> Answer:
        """One exchange, checked."""
        with self._lock:
            self._arrive()
            path = target.removeprefix(self._prefix)
            data = json.loads(body) if body else None
            self.requests.append(Seen(method, path, data, headers, self.now))
            known = self._known(path)
            self._check(method, known, path, headers, data, body)
            for fault in self._faults:
                if fault.method in ("", method) and re.search(fault.path, path) and fault.times > 0:
                    fault.times -= 1
                    return self._faulty(fault, method, known, path, headers, data)
            return self._checked(method, known, path, headers, data)

    def _known(self, path: str) -> str:
        """/repositories/<id> as /repos/<name>, as which GitHub describes it."""
        if found := re.match(r"/repositories/(\d+)", path):
            for repo in self.repos.values():
                if repo.id == int(found[1]):
                    return f"/repos/{repo.name}{path[found.end() :]}"
        return path

    def _check(
        self, method: str, known: str, path: str, headers: dict[str, str], data: Any, body: bytes | None
    ) -> None:
        """A request, whatever becomes of it."""
        try:
            check_request(method, known, headers, body)
        except OpenAPIError as error:
            self.wrong.append(f"{method} {path} {data}: {why(error)}")
        for name, wanted in (
            ("x-github-api-version", "2022-11-28"),
            ("accept", "application/vnd.github+json"),
        ):
            if headers.get(name) != wanted:
                self.wrong.append(f"{method} {path}: {name} is {headers.get(name)!r}")
        if not headers.get("user-agent", "").startswith("tracker/"):
            self.wrong.append(f"{method} {path}: no user agent of ours")

    def _checked(self, method: str, known: str, path: str, headers: dict[str, str], data: Any) -> Answer:
        """An answer as it should be."""
        answer = self._serve(method, known, headers, data)
        if answer.status not in (301, 307, 401):
            try:
                check_response(method, known, answer.status, answer.content)
            except OpenAPIError as error:
                self.wrong.append(f"the fake's {answer.status} to {method} {path}: {why(error)}")
        return answer

    def _serve(self, method: str, path: str, headers: dict[str, str], data: Any) -> Answer:
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return self._said(401, "Bad credentials")
        parts = urlsplit(path)
        if parts.path == "/user":
            if self.login is None:
                return self._said(403, "Resource not accessible by integration")
            return self._json(200, _user(self.login, self.url) | _PRIVATE)
        found = re.fullmatch(r"/repos/([^/]+/[^/]+)(/issues(?:/(\d+)(/comments)?)?)?", parts.path)
        if found is None:
            return self._said(404, "Not Found")
        name = found[1]
        if name in self.renamed:
            repo = self.repos[self.renamed[name]]
            rest = parts.path.removeprefix(f"/repos/{name}") + (f"?{parts.query}" if parts.query else "")
            return self._moved(301 if method == "GET" else 307, f"{self.url}/repositories/{repo.id}{rest}")
        repo = next((one for other, one in self.repos.items() if other.lower() == name.lower()), None)
        if repo is None:
            return self._said(404, "Not Found")
        if not found[2]:
            return self._json(200, self._repository(repo))
        if found[3] is None:
            return self._list(repo, parts.query) if method == "GET" else self._post(repo, data)
        issue = repo.issues.get(int(found[3]))
        if issue is None or (method == "GET" and self.now - issue.created_at < self.stale):
            return self._said(404, "Not Found")
        if issue.deleted:
            return self._said(410, "This issue was deleted")
        if issue.moved is not None:
            target, number = issue.moved
            return self._moved(301, f"{self.url}/repositories/{self.repos[target].id}/issues/{number}")
        if found[4]:
            return self._comments(repo, issue, parts.query) if method == "GET" else self._comment(repo, issue, data)
        return self._json(200, self._issue(repo, issue)) if method == "GET" else self._patch(repo, issue, data)

    def _list(self, repo: Repo, query: str) -> Answer:
        if not repo.has_issues:
            return self._said(404, "Not Found")
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        shown = [
            issue
            for issue in repo.issues.values()
            if not issue.deleted
            and issue.moved is None
            and (asked.get("state", "open") in ("all", issue.state))
            and ("creator" not in asked or asked["creator"] == issue.author)
            and self.now - issue.created_at >= self.stale
        ]
        return self._page([self._issue(repo, issue) for issue in shown], asked, f"/repositories/{repo.id}/issues")

    def _page(self, rows: list[Any], asked: dict[str, str], path: str) -> Answer:
        size = self.page_size or int(asked.get("per_page", "30"))
        page = int(asked.get("page", "1"))
        part = rows[(page - 1) * size : page * size]
        answer = self._json(200, part)
        if page * size < len(rows):
            following = urlencode(asked | {"page": str(page + 1)})
            answer.headers["Link"] = f'<{self.url}{path}?{following}>; rel="next", <{self.url}{path}>; rel="first"'
        return answer

    def _post(self, repo: Repo, data: dict[str, Any]) -> Answer:
        if not repo.has_issues:
            return self._said(410, "Issues has been disabled in this repository.")
        if refused := _too_long(data):
            return self._refused(refused)
        issue = self._create(repo, data["title"], data.get("body"), self.login or BOT)
        if self.keeps_labels and repo.push:
            issue.labels = list(data.get("labels", []))
        return self._json(201, self._issue(repo, issue))

    def _patch(self, repo: Repo, issue: Issue, data: dict[str, Any]) -> Answer:
        if refused := _too_long(data):
            return self._refused(refused)
        issue.title = data.get("title", issue.title)
        issue.body = data.get("body", issue.body)
        if "state" in data and data["state"] != issue.state:
            issue.state = data["state"]
            issue.closed_at = self.now if issue.state == "closed" else None
            issue.state_reason = data.get("state_reason", "completed") if issue.state == "closed" else "reopened"
        issue.updated_at = self.now
        return self._json(200, self._issue(repo, issue))

    def _comments(self, repo: Repo, issue: Issue, query: str) -> Answer:
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        rows = [self._said_comment(repo, issue, comment) for comment in issue.comments]
        return self._page(rows, asked, f"/repositories/{repo.id}/issues/{issue.number}/comments")

    def _comment(self, repo: Repo, issue: Issue, data: dict[str, Any]) -> Answer:
        if refused := _too_long(data):
            return self._refused(refused)
        comment = (self._id(), self.login or BOT, data["body"], self.now)
        issue.comments.append(comment)
        return self._json(201, self._said_comment(repo, issue, comment))

    # How it answers

    def _json(self, status: int, data: Any) -> Answer:
        return Answer(status, json.dumps(data).encode(), self._headers())

    def _said(self, status: int, message: str, **headers: str) -> Answer:
        answer = self._json(status, {"message": message, "documentation_url": "https://docs.github.com/rest"})
        answer.headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        return answer

    def _refused(self, message: str) -> Answer:
        errors = [{"resource": "Issue", "code": "custom", "field": message.split()[0], "message": message}]
        documented = {"documentation_url": "https://docs.github.com/rest"}
        return self._json(422, {"message": "Validation Failed", "errors": errors} | documented)

    def _moved(self, status: int, location: str) -> Answer:
        answer = self._json(status, {"message": "Moved Permanently", "url": location, "documentation_url": "x"})
        answer.headers["Location"] = location
        return answer

    def _headers(self) -> dict[str, str]:
        headers = {"X-GitHub-Request-Id": f"{self._id():X}"} | self.extra_headers
        if self.rate_headers:
            headers |= {"X-RateLimit-Remaining": "4999", "X-RateLimit-Reset": str(int(self.now) + 3600)}
        return headers

    def _faulty(
        self,
        fault: Fault,
        method: str,
        known: str,
        path: str,
        headers: dict[str, str],
        data: Any,
    ) -> Answer:
        kind, options = fault.kind, fault.options
        if kind == "reset":
            return Answer(0, b"", {}, drop=True)
        if kind == "late":
            name = known.split("/repos/")[1].partition("/issues")[0]
            self._late.append((self.now + options["seconds"], name, data))
            return Answer(0, b"", {}, drop=True)
        if kind == "status":
            return self._said(options["code"], options.get("message", "no"), **options.get("headers", {}))
        if kind == "redirect":
            return self._moved(options["code"], options["to"])
        if kind == "html":
            return Answer(options.get("code", 502), b"<html>Unicorn!</html>", {"Content-Type": "text/html"})
        if kind == "says":
            return Answer(options.get("code", 200), options["content"], options.get("headers", {}))
        answer = self._checked(method, known, path, headers, data)
        if kind == "processed-reset":
            return Answer(0, b"", {}, drop=True)
        if kind == "processed-status":
            return self._said(options["code"], "Server Error")
        if kind == "truncated":
            return Answer(answer.status, answer.content[: len(answer.content) // 2], answer.headers)
        if kind == "cut":
            return Answer(answer.status, answer.content, answer.headers, cut=True)
        if kind == "lazy":
            return Answer(answer.status, b'{"number": 1}', answer.headers)
        if kind == "link":
            answer.headers["Link"] = f'<{options["to"] or self.url + path}>; rel="next"'
            return answer
        if kind == "slow":
            self.now += options.get("clock", 0.0)
            return Answer(answer.status, answer.content, answer.headers, delay=options["seconds"])
        if kind == "drip":
            return Answer(answer.status, answer.content, answer.headers, drip=options["seconds"])
        raise AssertionError(f"no such fault: {kind}")

    # What it shows

    def _repository(self, repo: Repo) -> dict[str, Any]:
        owner, _, name = repo.name.partition("/")
        url = f"{self.url}/repos/{repo.name}"
        made = _stamp(1_600_000_000)
        permissions = {"admin": False, "maintain": False, "push": repo.push, "triage": repo.push, "pull": True}
        return (
            {key: f"{url}/{key.removesuffix('_url')}" for key in _REPOSITORY_URLS}
            | dict.fromkeys(_REPOSITORY_FLAGS, False)
            | dict.fromkeys(_REPOSITORY_COUNTS, 0)
            | {
                "id": repo.id,
                "node_id": f"R_{repo.id}",
                "name": name,
                "full_name": repo.name,
                "owner": _user(owner, self.url),
                "private": False,
                "html_url": f"https://github.com/{repo.name}",
                "description": None,
                "url": url,
                "homepage": None,
                "language": None,
                "default_branch": "main",
                "visibility": "public",
                "has_issues": repo.has_issues,
                "archived": repo.archived,
                "pushed_at": made,
                "created_at": made,
                "updated_at": made,
                "permissions": permissions,
                "license": None,
                "mirror_url": None,
            }
        )

    def _issue(self, repo: Repo, issue: Issue) -> dict[str, Any]:
        url = f"{self.url}/repos/{repo.name}/issues/{issue.number}"
        labels = [
            {
                "id": n,
                "node_id": f"L_{n}",
                "url": f"{url}/l/{n}",
                "name": name,
                "color": "ededed",
                "default": False,
                "description": None,
            }
            for n, name in enumerate(issue.labels)
        ]
        shown = {
            "id": repo.id * 1000 + issue.number,
            "node_id": f"I_{repo.id}_{issue.number}",
            "url": url,
            "repository_url": f"{self.url}/repos/{repo.name}",
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "html_url": f"https://github.com/{repo.name}/issues/{issue.number}",
            "number": issue.number,
            "state": issue.state,
            "state_reason": issue.state_reason,
            "title": issue.title,
            "body": issue.body,
            "user": _user(issue.author, self.url),
            "labels": labels,
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "locked": issue.locked,
            "active_lock_reason": None,
            "comments": len(issue.comments),
            "closed_at": _stamp(issue.closed_at) if issue.closed_at is not None else None,
            "created_at": _stamp(issue.created_at),
            "updated_at": _stamp(issue.updated_at),
            "author_association": "NONE",
        }
        if issue.pull_request:
            link = f"https://github.com/{repo.name}/pull/{issue.number}"
            shown["pull_request"] = {
                "url": url,
                "html_url": link,
                "diff_url": f"{link}.diff",
                "patch_url": f"{link}.patch",
            }
        return shown

    def _said_comment(self, repo: Repo, issue: Issue, comment: tuple[int, str, str, float]) -> dict[str, Any]:
        number, author, text, at = comment
        url = f"{self.url}/repos/{repo.name}/issues"
        return {
            "id": number,
            "node_id": f"C_{number}",
            "url": f"{url}/comments/{number}",
            "html_url": f"https://github.com/{repo.name}/issues/{issue.number}#issuecomment-{number}",
            "body": text,
            "user": _user(author, self.url),
            "created_at": _stamp(at),
            "updated_at": _stamp(at),
            "issue_url": f"{url}/{issue.number}",
            "author_association": "NONE",
        }


@dataclass
class Answer:
    """What goes back, and how."""

    status: int
    content: bytes
    headers: dict[str, str]
    drop: bool = False
    cut: bool = False
    delay: float = 0.0
    """In seconds of the wall clock, for which a client has its time-outs."""
    drip: float = 0.0
    """In seconds of the fake's clock, after every hundred bytes."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is killed, or that closes in the middle, is what some tests are about."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    github: FakeGitHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _exchange(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.github.answer(self.command, self.path, headers, body)
        if answer.delay:
            time.sleep(answer.delay)
        if answer.drop:
            # Closed with a reset, as a crashed server or a firewall does it.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in ({"Content-Type": "application/json; charset=utf-8"} | answer.headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        if answer.cut:
            self.wfile.write(answer.content[: len(answer.content) // 2])
            self.close_connection = True
            return
        step = 100 if answer.drip else max(1, len(answer.content))
        try:
            for start in range(0, len(answer.content), step):
                self.wfile.write(answer.content[start : start + step])
                if answer.drip:
                    self.github.now += answer.drip
                    time.sleep(0.005)  # so that the pieces arrive one by one
        except OSError:  # the client did not wait for it
            self.close_connection = True

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _exchange

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:  # it was reset
            self.rfile.close()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _too_long(data: dict[str, Any]) -> str:
    if len(data.get("title") or "") > 256:
        return "title is too long (maximum is 256 characters)"
    return "body is too long (maximum is 65536 characters)" if len(data.get("body") or "") > 65536 else ""


def _stamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


_USER_URLS_TEXT = """
followers_url following_url gists_url starred_url subscriptions_url organizations_url repos_url events_url
received_events_url
"""
_USER_URLS = _USER_URLS_TEXT.split()
_PRIVATE: dict[str, Any] = {
    "name": None,
    "company": None,
    "blog": None,
    "location": None,
    "email": None,
    "hireable": None,
    "bio": None,
    "public_repos": 0,
    "public_gists": 0,
    "followers": 0,
    "following": 0,
    "created_at": _stamp(1_600_000_000),
    "updated_at": _stamp(1_600_000_000),
}
_REPOSITORY_URLS_TEXT = """
archive_url assignees_url blobs_url branches_url collaborators_url comments_url commits_url compare_url
contents_url contributors_url deployments_url downloads_url events_url forks_url git_commits_url git_refs_url
git_tags_url git_url hooks_url issue_comment_url issue_events_url issues_url keys_url labels_url languages_url
merges_url milestones_url notifications_url pulls_url releases_url ssh_url stargazers_url statuses_url
subscribers_url subscription_url tags_url teams_url trees_url clone_url svn_url
"""
_REPOSITORY_URLS = _REPOSITORY_URLS_TEXT.split()
_REPOSITORY_FLAGS_TEXT = """
fork is_template has_projects has_wiki has_pages has_downloads has_discussions disabled
"""
_REPOSITORY_FLAGS = _REPOSITORY_FLAGS_TEXT.split()
_REPOSITORY_COUNTS_TEXT = """
forks_count stargazers_count watchers_count size open_issues_count subscribers_count network_count forks
open_issues watchers
"""
_REPOSITORY_COUNTS = _REPOSITORY_COUNTS_TEXT.split()


def _user(login: str, url: str) -> dict[str, Any]:
    own = f"{url}/users/{login}"
    return {key: f"{own}/{key.removesuffix('_url')}" for key in _USER_URLS} | {
        "login": login,
        "id": sum(login.encode()),
        "node_id": f"U_{login}",
        "avatar_url": "https://avatars.githubusercontent.com/u/1",
        "gravatar_id": "",
        "url": own,
        "html_url": f"https://github.com/{login}",
        "type": "User",
        "site_admin": False,
    }
