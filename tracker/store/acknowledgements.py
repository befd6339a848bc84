"""The drifts that a person accepted: they are not told again, until they say something else."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from tracker.store.database import Database, stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """One accepted drift."""

    entry: str
    fingerprint: str
    reason: str
    by: str
    at: str
    """ISO 8601."""


def acknowledgements(database: Database) -> list[Acknowledgement]:
    """Those that hold, the oldest first."""
    return [
        Acknowledgement(
            entry=row["entry"], fingerprint=row["fingerprint"], reason=row["reason"], by=row["by"], at=row["at"]
        )
        for row in database.rows("select * from acknowledgements where undone_at is null order by id")
    ]


def acknowledge(database: Database, entry: str, fingerprint: str, reason: str, by: str, now: float) -> None:
    """Accept what an entry's drift says now; said twice, the last reason holds."""
    with database.writing() as connection:
        _undo(connection, entry, now, fingerprint)
        database.db.table("acknowledgements").insert(
            {"entry": entry, "fingerprint": fingerprint, "reason": reason, "by": by, "at": stamp(now)}
        )


def undo(database: Database, entry: str, now: float) -> int:
    """Take back what was accepted of an entry -> how many acknowledgements that were."""
    with database.writing() as connection:
        return _undo(connection, entry, now)


def _undo(connection: sqlite3.Connection, entry: str, now: float, fingerprint: str | None = None) -> int:
    cursor = connection.execute(
        "update acknowledgements set undone_at = ?1 "
        "where entry = ?2 and undone_at is null and (?3 is null or fingerprint = ?3)",
        [stamp(now), entry, fingerprint],
    )
    return cursor.rowcount
