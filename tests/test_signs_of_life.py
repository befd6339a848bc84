"""What watches over a daemon and its runs is told: systemd by its socket, a service by an address, cron by a code."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from apscheduler.schedulers.background import BackgroundScheduler

from tests.conftest import Repository
from tests.test_daemon import Watch
from tests.test_run import Station
from tracker.daemon import _goes_on, _look_at_the_clock, trigger
from tracker.heartbeat import beat
from tracker.sd_notify import notify, watchdog_s
from tracker.sections import Schedule


@pytest.fixture
def station(tmp_path: Path, repository: Repository, capsys: pytest.CaptureFixture[str]) -> Station:
    return Station(tmp_path, repository, capsys)


class Listener:
    """A service that counts heartbeats."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.status = 200
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                listener.paths.append(self.path)
                self.send_response(listener.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/ping/abc?x=1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.thread.join()


def test_a_run_that_succeeded_is_a_heartbeat(
    station: Station, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert station("run")[0] == 0
    assert listener.paths == []
    monkeypatch.setenv("TRACKER_SCHEDULE_HEARTBEAT", listener.url)
    assert station("run") == (0, "", "")
    assert listener.paths == ["/ping/abc?x=1"]
    listener.status = 500
    assert station("run") == (0, "", "")
    station.upstream.path.rename(f"{station.upstream.path}-away")
    assert station("run")[0] == 3
    assert len(listener.paths) == 2


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://127.0.0.1:1/a b", "http://nowhere.invalid/"])
def test_a_heartbeat_that_does_not_arrive_fails_nothing(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="tracker.heartbeat")
    beat(url)
    assert "the heartbeat did not arrive" in caplog.text


def test_drift_can_be_an_exit_code_of_its_own(station: Station) -> None:
    assert station("run", "--exit-code")[0] == 0
    station.upstream.commit({"pkg/a.py": "\n\n" + (station.upstream.path / "pkg/a.py").read_text()})
    assert station("run", "--exit-code")[0] == 0
    station.change("must not be negative", "must be positive")
    assert station("run", "--exit-code")[0] == 10
    assert station("run")[0] == 0
    assert station("run", "--exit-code")[0] == 10
    assert station("ack", "000000000000000a", "--reason", "still right")[0] == 0
    assert station("run", "--exit-code")[0] == 0
    station.upstream.path.rename(f"{station.upstream.path}-away")
    assert station("run", "--exit-code")[0] == 3


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket that systemd gives to a service."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as made:
        address = os.path.relpath(tmp_path / "notify")
        made.bind(address)
        made.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield made


def test_the_daemon_tells_systemd(
    systemd: socket.socket, tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    watch = Watch(tmp_path, repository, every="6h")
    daemon = watch.start()
    try:
        first = systemd.recv(1000).decode()
        assert first.startswith("READY=1\nSTATUS=next run at 2")
        said = {systemd.recv(1000) for _ in range(3)}
        assert said == {b"WATCHDOG=1"}
        while b"STATUS=the last run ended with exit code 0" not in said:
            said.add(systemd.recv(1000))
    finally:
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(30) == 0
    said = b""
    while said != b"STOPPING=1":
        said = systemd.recv(1000)
        assert said in (b"WATCHDOG=1", b"STOPPING=1")


def test_an_abstract_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as made:
        made.bind(f"\0tracker-test-{os.getpid()}")
        monkeypatch.setenv("NOTIFY_SOCKET", f"@tracker-test-{os.getpid()}")
        notify("READY=1", "STATUS=well")
        assert made.recv(100) == b"READY=1\nSTATUS=well"


def test_where_nobody_listens_nothing_happens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "none"))
    notify("READY=1")


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "3000000"}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_how_often_systemd_wants_a_sign(
    environment: dict[str, str], seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert watchdog_s() == seconds


@pytest.mark.parametrize(
    ("schedule", "ahead", "kept", "goes_on"),
    [
        (Schedule(every="6h"), timedelta(hours=5), True, True),
        (Schedule(every="6h"), timedelta(hours=7), False, True),
        (Schedule(every="6h"), timedelta(days=3650), False, True),  # the clock was ten years ahead, and was set right
        (Schedule(), timedelta(days=3650), False, True),
        (Schedule(every="6h", deadline="1h"), timedelta(minutes=-30), True, True),  # a run is under way
        (Schedule(every="6h", deadline="1h"), timedelta(hours=-2), True, False),  # and should have been ended
    ],
)
def test_a_clock_that_is_set_is_noticed(schedule: Schedule, ahead: timedelta, kept: bool, goes_on: bool) -> None:
    """Fault 35: no run is put off for years, and systemd is not told that all is well where no run is made."""
    now = datetime.now(UTC)
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_job(lambda: None, trigger(schedule), id="run", misfire_grace_time=1)
    scheduler.start(paused=True)
    try:
        scheduler.modify_job("run", next_run_time=now + ahead)
        _look_at_the_clock(scheduler, schedule)
        found = scheduler.get_job("run").next_run_time
        assert (found == now + ahead) is kept
        assert found <= now + max(ahead if kept else timedelta(), timedelta(hours=6, minutes=1))
        following = scheduler.get_job("run").trigger.get_next_fire_time(found, max(found, now))
        assert following <= found + timedelta(hours=12)
        assert _goes_on(scheduler, schedule) is goes_on
    finally:
        scheduler.shutdown()


def test_no_sign_where_the_scheduler_has_ended() -> None:
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_job(lambda: None, trigger(Schedule()), id="run")
    scheduler.start(paused=True)
    scheduler.shutdown()
    time.sleep(0)
    assert not _goes_on(scheduler, Schedule())
