"""A plain tick, and the scheduler around it: each tick is a `tracker run` of its own, ended from outside in time.

A job that hangs would keep its scheduler from every later one, so the work is never done in this process.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import FrameType
from zoneinfo import ZoneInfo

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobEvent,
)
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from tracker.errors import ConfigError
from tracker.sd_notify import notify, watchdog_s
from tracker.sections import Schedule, seconds

log = logging.getLogger(__name__)

GRACE_S = 10.0
"""Between SIGTERM, at which a run marks itself, and SIGKILL."""
LOOK_S = 600.0
"""How often the daemon looks whether the clock was set, or the machine slept."""
JITTER_S = 5
"""A run that is overdue at the start waits a moment: a daemon that is restarted in a loop must not storm upstream."""


def trigger(schedule: Schedule) -> BaseTrigger:
    """When runs are due. ConfigError: a cron expression that is none."""
    if schedule.every:
        return IntervalTrigger(seconds=seconds(schedule.every), timezone=UTC)
    try:
        return CronTrigger.from_crontab(schedule.cron, timezone=ZoneInfo(schedule.timezone))
    except ValueError as error:
        raise ConfigError(f"[schedule] cron = {schedule.cron!r}: {error}") from None


def due_after(schedule: Schedule, moment: datetime) -> datetime:
    """The first time after `moment` at which a run is due, in UTC."""
    if schedule.every:
        return moment + timedelta(seconds=seconds(schedule.every))
    found: datetime | None = trigger(schedule).get_next_fire_time(None, moment + timedelta(seconds=1))
    if found is None:
        raise ConfigError(f"[schedule] cron = {schedule.cron!r} never comes")
    return found.astimezone(UTC)


def next_due(schedule: Schedule, last: datetime | None, now: datetime) -> datetime:
    """When the next run is due after the `last` that succeeded; now, where it should have been, or there was none."""
    return now if last is None or _ahead(schedule, last, now) else max(due_after(schedule, last), now)


def overdue(schedule: Schedule, last: datetime | None, now: datetime) -> bool:
    """Whether no run succeeded for two intervals, and the time that a run may take; without any, at once."""
    if last is None or _ahead(schedule, last, now):
        return True
    second = due_after(schedule, due_after(schedule, last))
    return now > second + timedelta(seconds=seconds(schedule.deadline))


def _ahead(schedule: Schedule, last: datetime, now: datetime) -> bool:
    """A run that lies ahead was recorded by a clock that was wrong: to wait for its time could take years."""
    return last > now + timedelta(seconds=seconds(schedule.deadline))


class Ahead(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """The times of a trigger that are still to come.

    However long the machine slept, or however far its clock was set, one run makes up for all that were missed, and
    what was missed is not even counted.
    """

    def __init__(self, trigger: BaseTrigger) -> None:
        self._trigger = trigger

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime | None:
        found: datetime | None = self._trigger.get_next_fire_time(None, now + timedelta(microseconds=1))
        return found


class Tick:
    """One run in a process of its own, within a deadline."""

    def __init__(self, command: Sequence[str], deadline: float) -> None:
        self._command, self._deadline = list(command), deadline
        self._child: subprocess.Popen[bytes] | None = None
        self._guard = threading.Lock()
        self._stopping = False

    def __call__(self) -> int | None:
        """Make one run -> its exit code; None where the daemon is being stopped."""
        with self._guard:
            if self._stopping:
                return None
            self._child = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            code = self._child.wait(self._deadline)
        except subprocess.TimeoutExpired:
            log.error("the run took more than %g s, and is ended", self._deadline)
            code = self._end(self._child)
        finally:
            self._child = None
        if code not in (0, 75):
            log.warning("the run ended with exit code %d", code)
        return code

    def stop(self) -> None:
        """End the run under way, and make no other."""
        with self._guard:
            self._stopping = True
            child = self._child
        if child is not None:
            self._end(child)

    @staticmethod
    def _end(child: subprocess.Popen[bytes]) -> int:
        child.terminate()
        try:
            return child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return child.wait()


def scheduled(schedule: Schedule, tick: Callable[[], int | None]) -> BackgroundScheduler:
    """A scheduler, not started yet, with one job: `tick`, by the schedule."""
    scheduler = BackgroundScheduler(
        timezone=UTC,
        job_defaults={
            "coalesce": True,
            "max_instances": 1,
            "misfire_grace_time": seconds(schedule.grace) if schedule.grace else None,
        },
    )
    scheduler.add_listener(_note, EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
    scheduler.add_job(tick, Ahead(trigger(schedule)), id="run")
    return scheduler


def serve(schedule: Schedule, tick: Callable[[], int | None], stop: Callable[[], None], overdue_now: bool) -> None:
    """Tick by the schedule until SIGTERM or SIGINT; at once where a run is overdue."""
    done = threading.Event()

    def asked(number: int, frame: FrameType | None) -> None:
        log.info("stopping, by %s", signal.Signals(number).name)
        done.set()

    scheduler = scheduled(schedule, tick)
    # What listens must not ask the scheduler, which waits for it while it is shut down.
    scheduler.add_listener(
        lambda event: notify(f"STATUS=the last run ended with exit code {event.retval}"), EVENT_JOB_EXECUTED
    )
    if overdue_now:
        first = datetime.now(UTC) + timedelta(seconds=JITTER_S)
        scheduler.modify_job("run", next_run_time=first)
    before = {number: signal.signal(number, asked) for number in (signal.SIGTERM, signal.SIGINT)}
    scheduler.start()
    try:
        log.info("%s", _following(scheduler))
        notify("READY=1", f"STATUS={_following(scheduler)}")
        watched = watchdog_s()
        while not done.wait(min(watched / 2 if watched is not None else LOOK_S, LOOK_S)):
            _look_at_the_clock(scheduler, schedule)
            if watched is not None and _goes_on(scheduler, schedule):
                notify("WATCHDOG=1")
    finally:
        notify("STOPPING=1")
        stop()
        scheduler.shutdown(wait=True)
        for number, handler in before.items():
            signal.signal(number, handler)


def _look_at_the_clock(scheduler: BackgroundScheduler, schedule: Schedule) -> None:
    """The scheduler sleeps by a clock that stands still while the machine does, and believes the other one for ever."""
    job = scheduler.get_job("run")
    if job is None or job.next_run_time is None:
        return
    due = due_after(schedule, datetime.now(UTC))
    if job.next_run_time > due + timedelta(seconds=LOOK_S):
        scheduler.reschedule_job("run", trigger=Ahead(trigger(schedule)))
        log.warning("the clock was set back: %s", _following(scheduler))
    scheduler.wakeup()


def _following(scheduler: BackgroundScheduler) -> str:
    return f"next run at {scheduler.get_job('run').next_run_time.isoformat(timespec='seconds')}"


def _goes_on(scheduler: BackgroundScheduler, schedule: Schedule) -> bool:
    """Whether runs are still made: the next one lies ahead, or is not later than one that takes all its time."""
    job = scheduler.get_job("run")
    if not scheduler.running or job is None or job.next_run_time is None:
        return False
    late: timedelta = datetime.now(UTC) - job.next_run_time
    return late < timedelta(seconds=seconds(schedule.deadline) + GRACE_S)


def _note(event: JobEvent) -> None:
    if event.code == EVENT_JOB_ERROR:
        log.error("a run could not be started: %s", event.exception)
    elif event.code == EVENT_JOB_MISSED:
        log.warning("a run was missed: it was due at %s", event.scheduled_run_time.isoformat(timespec="seconds"))
    else:
        log.warning("a run was due while the one before was still under way")


def run_command(arguments: Sequence[str]) -> list[str]:
    """The command line of one run, by this very program, with these global options."""
    return [sys.executable, "-m", "tracker", *arguments, "run"]
