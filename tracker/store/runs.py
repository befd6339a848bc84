"""The runs: begun before anything is done, ended with what came of it. A run left `running` was killed."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.store.database import Database, instant, stamp

RUNNING, OK, UNCHANGED, FAILED, CRASHED, STOPPED = "running", "ok", "unchanged", "failed", "crashed", "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run as the table has it. Times are seconds since 1970."""

    id: int
    started_at: float
    outcome: str
    said: str
    code: int | None
    target: str | None
    base: str | None
    input: str | None
    sites: int | None


def begin(database: Database, now: float) -> tuple[int, list[int]]:
    """A new run -> its number, and those that a crash had left running and that are marked so now."""
    with database.writing() as connection:
        left = [int(row["id"]) for row in database.rows("select id from runs where outcome = ?", RUNNING)]
        connection.execute(
            "update runs set outcome = ?, finished_at = ?, said = 'it ended without a word' where outcome = ?",
            [CRASHED, stamp(now), RUNNING],
        )
        begun = connection.execute("insert into runs (started_at, outcome) values (?, ?)", [stamp(now), RUNNING])
    run = begun.lastrowid
    assert run is not None
    return run, left


def end(database: Database, run: int, now: float, outcome: str, *, code: int, said: str = "") -> None:
    """How a run ended, in a transaction of its own; one that has ended stays as it is."""
    with database.writing() as connection:
        connection.execute(
            "update runs set finished_at = ?, outcome = ?, code = ?, said = ? where id = ? and outcome = ?",
            [stamp(now), outcome, code, said, run, RUNNING],
        )


def note(database: Database, run: int, said: str) -> None:
    """What happened in a run besides the check."""
    with database.writing() as connection:
        connection.execute("update runs set said = ? where id = ?", [said, run])


def unchanged(database: Database, run: int, now: float, target: str, last: Run) -> None:
    """A run that found all that its outcome depends on as it was at the `last` one."""
    with database.writing() as connection:
        connection.execute(
            "update runs set finished_at = ?, outcome = ?, code = 0, target = ?, input = ?, sites = ?, base = ? "
            "where id = ?",
            [stamp(now), UNCHANGED, target, last.input, last.sites, last.base, run],
        )


def last(database: Database, *outcomes: str) -> Run | None:
    """The last run of these outcomes (of any, without)."""
    condition = f"where outcome in ({', '.join('?' * len(outcomes))})" if outcomes else ""
    rows = database.rows(f"select * from runs {condition} order by id desc limit 1", *outcomes)
    return _run(rows[0]) if rows else None


def failures(database: Database) -> list[Run]:
    """The runs that failed since the last one that did not, the first of them first."""
    rows = database.rows(
        "select * from runs where outcome in ('failed', 'crashed') and id > "
        "coalesce((select max(id) from runs where outcome in ('ok', 'unchanged')), 0) order by id"
    )
    return [_run(row) for row in rows]


def _run(row: dict[str, object]) -> Run:
    return Run(
        id=int(str(row["id"])),
        started_at=instant(str(row["started_at"])),
        outcome=str(row["outcome"]),
        said=str(row["said"]),
        code=int(str(row["code"])) if row["code"] is not None else None,
        target=str(row["target"]) if row["target"] else None,
        base=str(row["base"]) if row["base"] else None,
        input=str(row["input"]) if row["input"] else None,
        sites=int(str(row["sites"])) if row["sites"] is not None else None,
    )
