"""`tracker daemon`: `run` on a schedule, until it is told to stop."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import click

from tracker.commands.options import Settings


@click.command("daemon")
@click.pass_obj
def command(settings: Settings) -> int:
    """Make a run whenever [schedule] says so, and at once where the last success is older than that.

    Each run is a process of its own and is ended after [schedule] deadline. SIGTERM and SIGINT end the run under way,
    which marks itself, and then the daemon. It may run beside cron: whoever comes second does nothing.

    \b
    Example:
      tracker --log-format json daemon
    """
    from tracker.daemon import Tick, next_due, run_command, serve, trigger
    from tracker.sections import seconds

    logging.getLogger("tracker").setLevel(logging.DEBUG if settings.verbose else logging.INFO)
    config = settings.config()
    trigger(config.schedule)
    last = _last_success(settings)
    now = datetime.now(UTC)
    tick = Tick(run_command(settings.arguments()), seconds(config.schedule.deadline))
    serve(config.schedule, tick, tick.stop, next_due(config.schedule, last, now) <= now)
    return 0


def _last_success(settings: Settings) -> datetime | None:
    from tracker.store import runs
    from tracker.store.database import Database

    found = Database.read(settings.config().state.database)
    if found is None:
        return None
    with found as database:
        last = runs.last(database, runs.OK, runs.UNCHANGED)
    return datetime.fromtimestamp(last.started_at, UTC) if last is not None else None
