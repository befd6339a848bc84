"""The outbox ledger, and every write that went to GitHub; what is not in here did not happen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from tracker.ledger import Family, Item, State
from tracker.store.database import Database, instant, stamp

INTENDED, DONE, REFUSED, UNKNOWN = "intended", "done", "refused", "unknown"

_TIMES = ("posted_at", "until", "closed_at")


def items(database: Database) -> dict[str, Item]:
    """Every line of the ledger, by key."""
    return {row["key"]: _item(row) for row in database.rows("select * from issues order by rowid")}


def save(database: Database, changed: Iterable[Item]) -> None:
    """Items as they are now, in one transaction."""
    changed = list(changed)
    if changed:
        with database.writing():
            for item in changed:
                database.db.table("issues").upsert(_row(item), pk="key")


def intend(database: Database, item: Item, action: str, now: float, *, run: int | None, event: str = "") -> int:
    """What is about to be sent, with the item as it then is, durable before anything is sent -> the write."""
    with database.writing():
        database.db.table("issues").upsert(_row(item), pk="key")
        write = (
            database.db.table("writes")
            .insert(
                {
                    "at": stamp(now),
                    "run": run,
                    "key": item.key,
                    "action": action,
                    "event": event,
                    "outcome": INTENDED,
                }
            )
            .last_pk
        )
    assert isinstance(write, int)
    return write


def conclude(
    database: Database, item: Item, write: int, outcome: str, *, request_id: str | None = None, said: str = ""
) -> None:
    """What came of a write, and the item as it is then, in one transaction."""
    with database.writing():
        database.db.table("issues").upsert(_row(item), pk="key")
        database.db.table("writes").update(write, {"outcome": outcome, "request_id": request_id, "said": said})


def created_between(database: Database, since: float, until: float) -> int:
    """How many creations went out then, whatever came of them, but not those that were surely refused."""
    (row,) = database.rows(
        "select count(*) n from writes where action = 'create' and outcome != ? and at >= ? and at <= ?",
        REFUSED,
        stamp(since),
        stamp(until),
    )
    return int(row["n"])


def last_event(database: Database, key: str, event: str) -> tuple[str, float] | None:
    """The last (outcome, time) of a comment that was to be written."""
    rows = database.rows(
        "select outcome, at from writes where key = ? and event = ? order by id desc limit 1", key, event
    )
    return (rows[0]["outcome"], instant(rows[0]["at"])) if rows else None


def _item(row: dict[str, Any]) -> Item:
    values = dict(row) | {name: instant(row[name]) if row[name] else None for name in _TIMES}
    values |= {"family": Family(row["family"]), "state": State(row["state"])}
    return Item(**values)


def _row(item: Item) -> dict[str, Any]:
    row = {field.name: getattr(item, field.name) for field in fields(item)}
    row |= {name: stamp(row[name]) if row[name] is not None else None for name in _TIMES}
    return row | {"family": item.family.value, "state": item.state.value}
