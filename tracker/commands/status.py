"""`tracker status`: how the unattended runs do, for people and monitors."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from tracker.commands.options import Settings, write
from tracker.report.words import counted

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.store.database import Database

SCHEMA = "tracker.status/1"
OVERDUE = 1


@click.command("status")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(settings: Settings, form: str) -> int:
    """Say when the last run succeeded, when the next one is due, which drifts are open, and what waits in the outbox.

    Exit code: 0 all is well; 1 overdue: no run succeeded for two intervals of [schedule], or none ever did.

    \b
    Example:
      tracker status --format json
    """
    from tracker.store.database import Database

    config = settings.config()
    found = Database.read(config.state.database)
    now = datetime.now(UTC)
    if found is None:
        facts = _facts(config, None, now)
    else:
        with found as database:
            facts = _facts(config, database, now)
    if form == "json":
        import msgspec

        write(msgspec.json.format(msgspec.json.encode(facts), indent=2).decode() + "\n")
    else:
        write(_text(facts, now))
    return OVERDUE if facts["overdue"] else 0


def _facts(config: Config, database: Database | None, now: datetime) -> dict[str, Any]:
    from tracker.daemon import next_due, overdue
    from tracker.store import runs

    success = runs.last(database, runs.OK, runs.UNCHANGED) if database is not None else None
    last = runs.last(database) if database is not None else None
    succeeded = datetime.fromtimestamp(success.started_at, UTC) if success is not None else None
    return {
        "schema": SCHEMA,
        "repository": config.catalogue.repository,
        "overdue": overdue(config.schedule, succeeded, now),
        "last_success": {"at": _iso(succeeded), "commit": success.target} if success is not None else None,
        "last_run": (
            {
                "number": last.id,
                "at": _iso(datetime.fromtimestamp(last.started_at, UTC)),
                "outcome": last.outcome,
                "exit_code": last.code,
                "said": last.said,
            }
            if last is not None
            else None
        ),
        "next_run": _iso(next_due(config.schedule, succeeded, now)),
        "open_drifts": _drifts(database),
        "outbox": _outbox(database),
        "closed_until": _closed_until(database, now),
    }


def _drifts(database: Database | None) -> dict[str, int]:
    from tracker.store.drifts import open_drifts

    found = Counter(one.family.value for one in open_drifts(database)) if database is not None else Counter[str]()
    return {name: found[name] for name in ("meaning", "new", "lines")}


def _outbox(database: Database | None) -> dict[str, int]:
    from tracker.ledger import State
    from tracker.store.issues import items

    found = Counter(item.state.value for item in items(database).values()) if database is not None else Counter[str]()
    return {state.value: found[state.value] for state in State if found[state.value]}


def _closed_until(database: Database | None, now: datetime) -> str | None:
    from tracker.store.facts import Gate

    until = Gate(database).until() if database is not None else None
    return _iso(datetime.fromtimestamp(until, UTC)) if until is not None and until > now.timestamp() else None


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment is not None else None


def _text(facts: dict[str, Any], now: datetime) -> str:
    success, last = facts["last_success"], facts["last_run"]
    lines = [
        f"last success  {_since(success['at'], now)}, at {success['commit'][:12]}" if success else "last success  never"
    ]
    if last and last["outcome"] not in ("ok", "unchanged"):
        said = f": {last['said']}" if last["said"] else ""
        lines.append(f"last run      {_since(last['at'], now)}, {last['outcome']}{said}")
    lines.append(f"next run      {_until(facts['next_run'], now)}")
    drifts = facts["open_drifts"]
    lines.append(
        f"open          {counted(drifts['meaning'], 'drift')} of meaning, {counted(drifts['new'], 'new error')}, "
        f"{drifts['lines']} on other lines"
    )
    outbox = ", ".join(f"{number} {state}" for state, number in facts["outbox"].items())
    lines.append(f"issues        {outbox or 'none'}")
    if facts["closed_until"]:
        lines.append(f"GitHub        wants no request before {_until(facts['closed_until'], now)}")
    if facts["overdue"]:
        lines.append("OVERDUE: is cron, the timer or the daemon running?")
    return "\n".join(lines) + "\n"


def _since(at: str, now: datetime) -> str:
    return f"{at[:16].replace('T', ' ')} UTC ({_span((now - datetime.fromisoformat(at)).total_seconds())} ago)"


def _until(at: str, now: datetime) -> str:
    left = (datetime.fromisoformat(at) - now).total_seconds()
    return f"{at[:16].replace('T', ' ')} UTC (in {_span(left)})" if left > 1 else "now"


def _span(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return counted(int(seconds // size), name)
    return counted(max(0, int(seconds)), "second")
