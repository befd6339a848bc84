"""kill -9 at every step of a whole run: before each git command, transaction, commit and request, and so after the one
before it. The next runs end where a run that was not killed ends.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Repository
from tests.filing.desk import HOUR, REPO
from tests.github.fake import TOKEN, FakeGitHub
from tests.test_run import Station
from tracker.cli import main
from tracker.repository import process
from tracker.store.database import Database


class Countdown:
    """Counts the steps of this process, and kills it at one of them, as the kernel or an operator does."""

    def __init__(self, last: int | None) -> None:
        self.steps: list[str] = []
        self._last = last

    def __call__(self, name: str) -> None:
        self.steps.append(name)
        if self._last is not None and len(self.steps) > self._last:
            os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def counted(step: Countdown, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """While the block runs, every effect is a step."""
    writing, execute, client = Database.writing, process._execute, httpx.Client

    @contextmanager
    def stepped(self: Database) -> Iterator[sqlite3.Connection]:
        step("before a transaction")
        with writing(self) as db:
            yield db
            step("before a commit")

    def executed(directory: Path, arguments: Any, **how: Any) -> Any:
        step(f"before git {arguments[0]}")
        return execute(directory, arguments, **how)

    class Client(client):  # type: ignore[misc, valid-type]
        def send(self, request: httpx.Request, **more: Any) -> httpx.Response:
            step(f"before {request.method}")
            return super().send(request, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Database, "writing", stepped)
        patched.setattr(process, "_execute", executed)
        patched.setattr("tracker.github.transport.httpx.Client", Client)
        yield


def _killed(config: Path, last: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """A run in a process of its own, killed after so many steps -> the signal that ended it."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        with counted(Countdown(last), monkeypatch):
            main(["-c", str(config), "run"])
        os._exit(0)
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # its workers, which would find out by themselves a moment later
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_run_killed_at_any_step_ends_as_one_that_was_not(
    tmp_path: Path, repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 1, 2, 30 and 38."""
    station = Station(tmp_path, repository, capsys)
    with FakeGitHub(now=time.time()) as fake:
        for key, value in {"repository": REPO, "apply": "true", "api": fake.url, "spacing": "0"}.items():
            monkeypatch.setenv(f"TRACKER_FILING_{key.upper()}", value)
        monkeypatch.setenv("TRACKER_GITHUB_TOKEN", TOKEN)
        monkeypatch.setattr(time, "time", lambda: fake.now)
        fake.repository(REPO)
        station("run")
        station.change("must not be negative", "must be positive")
        saved = tmp_path / "saved"
        shutil.copytree(station.state, saved)

        def afresh() -> None:
            shutil.rmtree(station.state)
            shutil.copytree(saved, station.state)
            fake.repository(REPO).issues.clear()

        def ended() -> tuple[object, ...]:
            issues = [(issue.title, issue.state, len(issue.comments)) for issue in fake.ours(REPO)]
            return (
                issues,
                station.rows("select state, attempts > 0, lists_without from issues"),
                station.rows("select entry, family, kinds, closed from drifts"),
            )

        afresh()
        step = Countdown(None)
        with counted(step, monkeypatch):
            assert station("run")[0] == 0
        right, total = ended(), len(step.steps)
        assert {"before git fetch", "before a commit", "before GET", "before POST"} <= set(step.steps)
        assert right[0] == [("Reworded: x must not be negative", "open", 0)]
        for last in range(total):
            afresh()
            assert _killed(station.workplace.config, last, monkeypatch) == signal.SIGKILL, step.steps[last]
            for _ in range(3):
                fake.now += HOUR
                code, out, err = station("run")
                assert (code, err) == (0, ""), out
                if ended() == right:
                    break
            assert ended() == right, f"killed after {last} steps ({step.steps[last]})"
            assert station.rows("select count(*) from runs where outcome = 'running'") == [(0,)]
