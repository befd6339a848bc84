"""Small facts that outlive a run: until when GitHub wants no request, whose the issues are, what was told."""

from __future__ import annotations

from tracker.store.database import Database, instant, stamp


def fact(database: Database, name: str) -> str | None:
    """What is known under this name."""
    rows = database.rows("select value from facts where name = ?", name)
    return str(rows[0]["value"]) if rows else None


def remember(database: Database, **values: str | None) -> None:
    """Facts by name; None forgets one."""
    if not values:
        return
    with database.writing() as connection:
        for name, value in values.items():
            if value is None:
                connection.execute("delete from facts where name = ?", [name])
            else:
                connection.execute("insert or replace into facts (name, value) values (?, ?)", [name, value])


class Gate:
    """Until when no request may be sent, obeyed by every process that uses this database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def until(self) -> float | None:
        """Seconds since 1970; None where the way is free."""
        value = fact(self._database, "closed_until")
        return instant(value) if value else None

    def close(self, until: float, reason: str) -> None:
        """Not before `until`."""
        remember(self._database, closed_until=stamp(until), closed_because=reason)
