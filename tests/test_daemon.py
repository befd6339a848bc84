"""The daemon as a process: on time, one at a time, ended in time, and flat over many runs."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from apscheduler.events import EVENT_JOB_EXECUTED, EVENT_JOB_MISSED

from tests.conftest import Repository
from tests.support import Workplace, page
from tracker.daemon import Tick, due_after, next_due, overdue, run_command, scheduled, trigger
from tracker.errors import ConfigError
from tracker.sections import Schedule

RUNS = int(os.environ.get("TRACKER_SOAK_RUNS", "6"))
"""How many runs the soak makes; `make soak` asks for 500."""


@pytest.mark.parametrize(
    ("schedule", "after", "due"),
    [
        ({"cron": "17 */6 * * *"}, "2026-12-01T00:00:00", "2026-12-01T00:17:00"),
        ({"cron": "17 */6 * * *"}, "2026-12-01T00:17:00", "2026-12-01T06:17:00"),
        ({"every": "6h"}, "2026-12-01T00:00:00", "2026-12-01T06:00:00"),
        # Fault 35, both changes of the clock in New York: UTC knows neither.
        ({"cron": "30 2 * * *"}, "2026-03-08T00:00:00", "2026-03-08T02:30:00"),
        ({"cron": "30 1 * * *"}, "2026-11-01T00:00:00", "2026-11-01T01:30:00"),
        ({"cron": "30 1 * * *"}, "2026-11-01T01:30:00", "2026-11-02T01:30:00"),
        ({"cron": "0 12 * * *", "timezone": "Europe/Berlin"}, "2026-07-01T00:00:00", "2026-07-01T10:00:00"),
        ({"cron": "0 0 29 2 *"}, "2026-12-01T00:00:00", "2028-02-29T00:00:00"),
    ],
)
def test_when_a_run_is_due(schedule: dict[str, str], after: str, due: str) -> None:
    moment = datetime.fromisoformat(after).replace(tzinfo=UTC)
    assert due_after(Schedule(**schedule), moment).replace(tzinfo=None).isoformat() == due


@pytest.mark.parametrize("cron", ["99 * * * *", "* * * * 9", "0 0 31 2 *"])
def test_a_schedule_that_is_none_is_said(cron: str) -> None:
    with pytest.raises(ConfigError, match=r"\[schedule\] cron"):
        due_after(Schedule(cron=cron), datetime(2026, 12, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("hours", "late"),
    [(1, False), (7, False), (12, False), (12.9, False), (13.1, True), (87_600, True), (-0.5, False), (-10, True)],
)
def test_overdue_is_two_intervals_and_the_time_of_a_run(hours: float, late: bool) -> None:
    """Fault 35: a success that lies ahead, by a clock that was wrong, is none."""
    now = datetime(2026, 12, 1, tzinfo=UTC)
    assert overdue(Schedule(every="6h"), now - timedelta(hours=hours), now) is late
    assert overdue(Schedule(every="6h"), None, now)


@pytest.mark.parametrize(
    ("schedule", "last", "due"),
    [
        (Schedule(every="6h"), None, 0),
        (Schedule(every="6h"), -1, 5),
        (Schedule(every="6h"), -7, 0),
        (Schedule(every="6h"), -87_600, 0),
        (Schedule(every="6h"), 0.5, 6.5),
        (Schedule(every="6h"), 87_600, 0),
        (Schedule(cron="0 3 * * *"), -1, 3),
        (Schedule(cron="0 3 * * *"), 87_600, 0),
    ],
)
def test_when_the_next_run_is_due(schedule: Schedule, last: float | None, due: float) -> None:
    """Faults 34 and 35, in hours from a midnight."""
    now = datetime(2026, 12, 1, tzinfo=UTC)
    success = now + timedelta(hours=last) if last is not None else None
    assert next_due(schedule, success, now) == now + timedelta(hours=due)


@pytest.mark.parametrize(
    ("schedule", "late", "runs"),
    [
        (Schedule(every="6h"), timedelta(hours=12), 1),
        (Schedule(every="1s"), timedelta(days=3650), 1),
        (Schedule(cron="* * * * *"), timedelta(days=3650), 1),
        (Schedule(), timedelta(seconds=1), 1),
        (Schedule(every="6h", grace="1h"), timedelta(minutes=30), 1),
        (Schedule(every="6h", grace="1h"), timedelta(hours=12), 0),
    ],
)
def test_what_was_missed_is_made_up_once(schedule: Schedule, late: timedelta, runs: int) -> None:
    """Faults 35 and 36: a machine that slept, a clock set ten years ahead; nothing of that is counted out first."""
    made = []
    over = threading.Event()
    scheduler = scheduled(schedule, lambda: made.append(datetime.now(UTC)))
    scheduler.add_listener(lambda event: over.set(), EVENT_JOB_EXECUTED | EVENT_JOB_MISSED)
    scheduler.start(paused=True)
    try:
        now = datetime.now(UTC)
        scheduler.modify_job("run", next_run_time=now - late)
        scheduler.resume()
        assert over.wait(10)
        assert len(made) == runs
        assert scheduler.get_job("run").next_run_time > now
    finally:
        scheduler.shutdown()


def test_a_tick_that_hangs_is_ended_and_leaves_nothing(tmp_path: Path) -> None:
    """Fault 32, from outside; its own children go with it."""
    marker = tmp_path / "child"
    script = (
        "import subprocess, time\n"
        f"p = subprocess.Popen(['sleep', '60']); open({str(marker)!r}, 'w').write(str(p.pid)); time.sleep(60)"
    )
    began = time.monotonic()
    assert Tick([sys.executable, "-c", script], 1.0)() == -signal.SIGTERM
    assert time.monotonic() - began < 30
    os.kill(int(marker.read_text(encoding="utf-8")), signal.SIGKILL)


def test_a_tick_that_ignores_being_asked_is_killed_with_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.daemon.GRACE_S", 0.5)
    marker = tmp_path / "child"
    script = (
        "import signal, subprocess, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"p = subprocess.Popen(['sleep', '60']); open({str(marker)!r}, 'w').write(str(p.pid)); time.sleep(60)"
    )
    assert Tick([sys.executable, "-c", script], 1.0)() == -signal.SIGKILL
    child = int(marker.read_text(encoding="utf-8"))
    for _ in range(100):
        if _state(child) in ("", "Z"):
            break
        time.sleep(0.02)
    assert _state(child) in ("", "Z")


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize("code", [0, 1, 75, 139])
def test_the_outcome_of_a_tick_is_that_of_its_process(code: int) -> None:
    """Fault 33: whatever a run dies of, it is the run and not the daemon."""
    assert Tick([sys.executable, "-c", f"raise SystemExit({code})"], 30)() == code


def test_a_run_is_this_very_program() -> None:
    assert run_command(["--config", "x"]) == [sys.executable, "-m", "tracker", "--config", "x", "run"]
    assert str(trigger(Schedule()))


class Watch:
    """A daemon, its upstream and its state."""

    def __init__(self, folder: Path, upstream: Repository, **schedule: str) -> None:
        source = 'def f(x):\n    raise ValueError("no")\n'
        pin = upstream.commit({"pkg/a.py": source})
        self.upstream = upstream
        self.workplace = Workplace(folder / "place", upstream.url)
        self.workplace.page("a.txt", page(source, 2, message="no", pin=pin))
        lines = "".join(f'{key} = "{value}"\n' for key, value in schedule.items())
        with self.workplace.config.open("a", encoding="utf-8") as file:
            file.write(f"[schedule]\n{lines}")
        self.log = folder / "log"
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, command: str = "daemon") -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tracker", "-c", self.workplace.config, "--log-format", "json", command],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        self.processes.append(process)
        return process

    def runs(self, *outcomes: str) -> int:
        database = self.workplace.folder / "state" / "tracker.sqlite3"
        if not database.exists():
            return 0
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        try:
            named = ", ".join("?" * len(outcomes))
            return int(
                connection.execute(f"select count(*) from runs where outcome in ({named})", outcomes).fetchone()[0]
            )
        except sqlite3.OperationalError:
            return 0
        finally:
            connection.close()

    def said(self) -> list[str]:
        """What the runs that failed said."""
        connection = sqlite3.connect(self.workplace.folder / "state" / "tracker.sqlite3")
        try:
            return [
                said for (said,) in connection.execute("select said from runs where outcome in ('failed', 'crashed')")
            ]
        finally:
            connection.close()

    def ready(self, daemons: int) -> None:
        """So many daemons have begun to wait for their time."""
        deadline = time.monotonic() + 60
        while self.log.read_text(encoding="utf-8").count('"next run at 2') < daemons:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def wait(self, count: int, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while self.runs("ok", "unchanged") < count:
            assert time.monotonic() < deadline, self.log.read_text(encoding="utf-8")[-2000:]
            time.sleep(0.05)


@pytest.fixture
def watch(tmp_path: Path, repository: Repository) -> Iterator[Watch]:
    made = Watch(tmp_path, repository, every="1s")
    yield made
    for process in made.processes:
        if process.poll() is None:
            process.kill()
        process.wait()


def test_it_runs_by_the_clock_and_stops_when_told(watch: Watch) -> None:
    daemon = watch.start()
    watch.wait(2)
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(30) == 0
    assert watch.runs("running") == 0
    lines = [json.loads(line) for line in watch.log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    assert any(line["message"].startswith("next run at") for line in lines)
    assert any(line["message"] == "stopping, by SIGTERM" for line in lines)


def test_what_is_overdue_runs_at_the_start(tmp_path: Path, repository: Repository) -> None:
    """Fault 34: a restart must not begin the interval anew."""
    watch = Watch(tmp_path, repository, every="6h")
    daemon = watch.start()
    try:
        watch.wait(1)
    finally:
        daemon.terminate()
        daemon.wait(30)
    daemon = watch.start()
    watch.ready(2)
    daemon.terminate()
    assert daemon.wait(30) == 0
    assert watch.runs("ok", "unchanged") == 1


def test_two_daemons_and_cron_at_once(watch: Watch) -> None:
    """Fault 29: whoever comes second does nothing, and nobody gets in the way."""
    daemons = [watch.start(), watch.start()]
    for _ in range(3):
        assert watch.start("run").wait(60) in (0, 75)
    watch.wait(3)
    for daemon in daemons:
        daemon.terminate()
        assert daemon.wait(30) == 0
    assert watch.runs("running", "crashed", "failed") == 0


def _used(pid: int) -> tuple[int, int, int]:
    """Open files, children and resident memory (kB) of a process."""
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = sum(len((task / "children").read_text(encoding="utf-8").split()) for task in tasks)
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return files, children, memory


def test_many_runs_leave_the_daemon_as_it_was(watch: Watch) -> None:
    """Fault 46, against an upstream that gains commits."""
    daemon = watch.start()
    watch.wait(2, 120)
    time.sleep(0.3)
    before = _used(daemon.pid)
    for number in range(RUNS // 2):
        watch.upstream.commit({"pkg/b.py": f'def g():\n    raise KeyError("{number}")\n'})
        watch.wait(2 + 2 * number + 2, 120)
    after = _used(daemon.pid)
    daemon.terminate()
    assert daemon.wait(30) == 0
    print(f"{watch.runs('ok', 'unchanged')} runs: files, children, kB before {before}, after {after}")
    assert after[0] <= before[0] + 3  # the pipe of a run that was under way
    assert after[1] <= 1
    assert after[2] <= before[2] * 1.1 + 2000
    assert watch.said() == []


def test_a_machine_that_slept_makes_one_run(watch: Watch) -> None:
    """Fault 36: twelve hours of suspension are one run late, not many."""
    daemon = watch.start()
    watch.wait(1)
    daemon.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    while watch.runs("running"):
        time.sleep(0.05)
    before = watch.runs("ok", "unchanged")
    time.sleep(3.5)
    woken = time.monotonic()
    daemon.send_signal(signal.SIGCONT)
    watch.wait(before + 1)
    daemon.terminate()
    assert daemon.wait(30) == 0
    # The one that was missed, and those that were due since.
    assert watch.runs("ok", "unchanged", "stopped") - before <= 2 + (time.monotonic() - woken)
