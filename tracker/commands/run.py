"""`tracker run`: one unattended check. What it does is in `tracker.run`; here it gets its signals and its lock."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import click

from tracker.commands.filing import deliver_due
from tracker.commands.options import ReaderGone, Settings, workers, write

if TYPE_CHECKING:
    from tracker.filing.outlook import Outlook
    from tracker.run import Outcome
    from tracker.store.database import Database


class Terminated(SystemExit):
    """SIGTERM while nothing was being written: the run is marked as stopped."""


class Signals:
    """SIGTERM and SIGINT end a run at once, except between two writes to GitHub, where they wait for the first."""

    def __init__(self) -> None:
        self.asked = False
        self._gentle = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._gentle and not self.asked:
            self.asked = True
            return
        raise Terminated(128 + number)

    @contextmanager
    def gently(self) -> Iterator[None]:
        """While writes are under way, the first signal only asks."""
        self._gentle = True
        try:
            yield
        finally:
            self._gentle = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Installed for the block."""
        before = {number: signal.signal(number, self) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


DRIFT = 10
"""With --exit-code; apart from the codes of failures."""


@click.command("run")
@click.option(
    "--exit-code", is_flag=True, help="Exit 10 instead of 0 while a page says something that is no longer so."
)
@click.pass_obj
def command(settings: Settings, exit_code: bool) -> int:
    """Pull upstream, check every page, record what changed, and file what is due.

    For cron and timers: it prints nothing where nothing changed, tells a failure once when it begins and once when it
    is over, and only one runs at a time. The first run is the baseline. Issues are filed where [filing] names a
    repository and has apply = true; without that `tracker file` shows what would be.

    Exit code: 0 done; 2 wrong usage, or the check is not to be trusted; 3 git; 4 GitHub's permission; 5 GitHub's rate
    limit, the next run goes on; 6 something needs a person; 10 see --exit-code; 75 another run is under way; 143 it was
    told to stop.

    \b
    Example:
      tracker run
    """
    from tracker.run import once
    from tracker.store.database import Database
    from tracker.store.lock import run_lock

    config = settings.config()
    signals = Signals()
    in_doubt = False

    def deliver(database: Database, number: int, outlook: Outlook) -> Outcome:
        nonlocal in_doubt
        in_doubt = bool(outlook.pages_in_doubt)
        with signals.gently():
            return deliver_due(config, database, number, outlook, stopped=lambda: signals.asked)

    unsaid: list[Exception] = []

    def tell(lines: Sequence[str]) -> None:
        try:
            write("".join(f"{line}\n" for line in lines))
        except (ReaderGone, OSError) as error:  # what is due is filed all the same
            unsaid.append(error)

    with run_lock(config.state.path), Database.open(config.state.database) as database, signals.heard():
        outcome = once(config, database, workers, deliver, tell, time.time)
    if unsaid:
        raise unsaid[0]
    if signals.asked:
        print("tracker: it was asked to stop, and did so between two writes", file=sys.stderr)
        return 143
    if outcome.succeeded and config.schedule.heartbeat:
        from tracker.heartbeat import beat

        beat(config.schedule.heartbeat)
    return DRIFT if exit_code and in_doubt and not outcome.code else outcome.code
