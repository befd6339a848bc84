"""Runs against an upstream or a mirror that is not what it should be: each ends in time, is told in a line, and the
next run on a sound one works as if nothing had been.
"""

from __future__ import annotations

import random
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.test_run import Station

LIMIT_S = 30
"""A run that is not over by then is wedged."""


@contextmanager
def served(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server on loopback that treats each caller in one way -> its address."""
    server = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                caller, _ = server.accept()
            except OSError:
                return
            kept.append(caller)
            with suppress(OSError):
                behave(caller)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        for caller in kept:
            caller.close()


def _silent(caller: socket.socket) -> None:
    """Accepts, and never answers."""


def _reset(caller: socket.socket) -> None:
    caller.recv(1024)
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    caller.close()


def _garbage(caller: socket.socket) -> None:
    caller.recv(1024)
    caller.sendall(random.Random(7).randbytes(4096))
    caller.close()


def _closed(caller: socket.socket) -> None:
    caller.close()


def _dripping(caller: socket.socket) -> None:
    """Answers a byte at a time, for ever."""
    caller.recv(1024)
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"0" * 100:
        caller.sendall(bytes([byte]))
        time.sleep(0.05)


def _answer(status: str) -> Callable[[socket.socket], None]:
    def behave(caller: socket.socket) -> None:
        caller.recv(4096)
        caller.sendall(
            f"HTTP/1.1 {status}\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        caller.close()

    return behave


def _watched(station: Station) -> Station:
    """A station that has made its first run, with a short limit for each."""
    text = station.workplace.config.read_text(encoding="utf-8")
    station.workplace.config.write_text(f'{text}[schedule]\nevery = "1h"\ndeadline = "4s"\n', encoding="utf-8")
    assert station("run")[0] == 0
    return station


@pytest.fixture
def watched(tmp_path: Path, repository: Repository, capsys: pytest.CaptureFixture[str]) -> Station:
    return _watched(Station(tmp_path, repository, capsys))


@pytest.mark.parametrize("scheme", ["git", "http"])
@pytest.mark.parametrize(
    "behave",
    [
        _silent,
        _reset,
        _garbage,
        _closed,
        _dripping,
        _answer("401 Unauthorized"),
        _answer("500 Oops"),
        _answer("404 Not Found"),
    ],
    ids=["silent", "reset", "garbage", "closed", "dripping", "401", "500", "404"],
)
def test_a_server_that_misbehaves(
    watched: Station, behave: Callable[[socket.socket], None], scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 37 and 45: in time, in one line, without a prompt, and the next run works."""
    before = watched.dump()
    user = "user:secret@" if scheme == "http" else ""
    with served(behave) as address, monkeypatch.context() as patched:
        patched.setenv("TRACKER_UPSTREAM_URL", f"{scheme}://{user}{address}/a/b.git")
        began = time.monotonic()
        code, out, err = watched("run")
        assert time.monotonic() - began < LIMIT_S
    assert code == 3
    assert len(out.splitlines()) == 1
    assert err == ""
    assert "secret" not in out
    assert watched.dump() == before
    code, out, _ = watched("run")
    assert (code, "it works again" in out) == (0, True)


def test_a_password_is_not_shown_even_where_git_shows_it(watched: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKER_UPSTREAM_URL", "git://user:secret@127.0.0.1/a")
    code, out, _ = watched("run")
    assert code == 3
    assert "secret" not in out


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c 'touch {marker}'", "ext::touch {marker}", "fd::7", "/nowhere/at/all", "file:///nowhere"],
)
def test_an_address_that_is_none_runs_nothing(
    watched: Station, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 44."""
    marker = tmp_path / "marker"
    monkeypatch.setenv("TRACKER_UPSTREAM_URL", url.format(marker=marker))
    code, out, _ = watched("run")
    assert code == 3
    assert len(out.splitlines()) == 1
    assert not marker.exists()


@pytest.mark.parametrize("branch", ["--upload-pack=touch x", "-x", "a b", "a..b"])
def test_a_branch_that_is_none_runs_nothing(watched: Station, branch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 44."""
    monkeypatch.setenv("TRACKER_UPSTREAM_BRANCH", branch)
    code, out, err = watched("run")
    assert code in (2, 3)
    assert len((out + err).splitlines()) == 1


def _mirror(station: Station) -> Path:
    return station.state / "mirror"


def _lose_a_blob(station: Station) -> None:
    """Upstream moves on, and then an object of it is gone from the mirror."""
    station.change("must not be negative", "must be positive")
    station("pull")
    mirror = _mirror(station)
    for pack in (mirror / "objects" / "pack").glob("*.pack"):
        loose = pack.rename(mirror / pack.name)
        with loose.open("rb") as file:
            subprocess.run(["git", "-C", mirror, "unpack-objects", "-q"], stdin=file, check=True)
        for rest in (mirror / "objects" / "pack").glob(f"{pack.stem}*"):
            rest.unlink()
        loose.unlink()
    blob = subprocess.run(
        ["git", "-C", mirror, "rev-parse", "main:pkg/a.py"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (mirror / "objects" / blob[:2] / blob[2:]).unlink()


def _stale_locks(station: Station) -> None:
    """Fault 39: what a killed git left."""
    mirror = _mirror(station)
    for name in ("HEAD.lock", "packed-refs.lock", "shallow.lock", "refs/heads/main.lock", "gc.pid", "config.lock"):
        (mirror / name).write_text("", encoding="utf-8")
    (mirror / "objects" / "pack").mkdir(exist_ok=True)
    (mirror / "objects" / "pack" / "tmp_pack_x").write_text("x", encoding="utf-8")
    station.change("must not be negative", "must be positive")


def _no_repository(station: Station) -> None:
    shutil.rmtree(_mirror(station))
    _mirror(station).mkdir()
    (_mirror(station) / "file").write_text("x", encoding="utf-8")


def _gone(station: Station) -> None:
    shutil.rmtree(_mirror(station))
    station.change("must not be negative", "must be positive")


@pytest.mark.parametrize(("damage", "code"), [(_lose_a_blob, 0), (_stale_locks, 0), (_no_repository, 3), (_gone, 0)])
def test_a_mirror_that_is_damaged_removes_nothing(
    watched: Station, damage: Callable[[Station], None], code: int
) -> None:
    """Faults 38, 39, 42 and 43: a check that could not read all is no check."""
    damage(watched)
    found, out, _ = watched("run")
    assert found == code, out
    families = {family for (family,) in watched.rows("select family from drifts where kinds like '%removed%'")}
    assert not families
    if code:
        assert len(out.splitlines()) == 1
        shutil.rmtree(_mirror(watched))
        assert watched("run")[0] == 0
