"""A site with pages on a loopback port: answers from a table, real sockets, and a record of who asked for what when."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer. `later` writes the rest of the body by itself."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    later: Callable[[BaseHTTPRequestHandler], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request that came."""

    path: str
    headers: dict[str, str]
    at: float


class Publisher:
    """`replies` maps a path to a reply, or to several that are given one after the other, the last one for ever."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.replies: dict[str, Reply | list[Reply]] = {}
        self.asked: list[Asked] = []
        self.etags = True

    @property
    def paths(self) -> list[str]:
        return [one.path for one in self.asked]

    def reply(self, path: str, headers: dict[str, str]) -> Reply:
        found = self.replies.get(path, Reply(status=404))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        etag = found.headers.get("ETag")
        return Reply(status=304) if etag and headers.get("if-none-match") == etag else found


@contextmanager
def publisher() -> Iterator[Publisher]:
    site: Publisher

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            site.asked.append(Asked(path=self.path, headers=headers, at=time.monotonic()))
            reply = site.reply(self.path, headers)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.later is None:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            try:
                self.wfile.write(reply.body)
                if reply.later is not None:
                    reply.later(self)
            except OSError:
                pass  # whoever asked went away

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = Publisher(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
