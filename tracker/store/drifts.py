"""The drifts that runs found: when each was first and last seen, and when and why it ended.

A drift that says something else than before is another row; the old one ends as `changed`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tracker.ledger import Family, Found, Gone, passed
from tracker.model import Drift, Kind
from tracker.store.database import Database, instant, stamp
from tracker.store.runs import OK

if TYPE_CHECKING:
    import sqlite_utils

CONFIRM_S = 3600.0
"""A removal counts when it is seen at a second commit, or still this long after it was seen first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One drift of the run at hand, to be recorded."""

    entry: str
    page: str
    family: Family
    fingerprint: str
    drift: Drift
    base_commit: str
    """The commit that `before` is of, by upstream's name for it."""
    target_commit: str
    """The commit that `after` is of."""
    pin: str = ""
    """Of the page; empty for a site without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a verified run is recorded with."""

    target: str
    previous: str | None
    forced: bool
    base: str | None
    input: str
    files: int
    sites: int
    checked: int
    baseline: bool
    """Nothing of it is filed until a person says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a run changed: drifts by entry."""

    appeared: tuple[Seen, ...]
    closed: tuple[tuple[Found, Gone], ...]


def record(
    database: Database,
    run: int,
    checked: Checked,
    seen: Sequence[Seen],
    gone: Callable[[Found], Gone | None],
    now: float,
    coverage: str,
) -> Changes:
    """The outcome of a verified run, all of it in one transaction.

    `gone` says of an open drift that was not seen why that is so; None where the run could not tell, and then the
    drift stays as it is. `coverage` is kept for whoever asks what the run looked at.
    """
    wanted = {(one.entry, one.family): one for one in seen}
    appeared, closed = [], []
    with database.writing():
        db = database.db
        for row in _open_rows(database):
            found = _found(row)
            one = wanted.pop((found.entry, found.family), None)
            if one is None:
                why = gone(found)
                if why is not None:
                    _close(db, found.id, run, now, why)
                    closed.append((found, why))
            elif one.fingerprint == found.fingerprint:
                _seen_again(db, found, one, run, now)
            elif one.drift.certain or not found.drift.certain:
                _close(db, found.id, run, now, Gone(reason="changed", by_hand=False))
                _insert(db, one, run, now, baseline=checked.baseline)
                appeared.append(one)
        for one in wanted.values():
            _insert(db, one, run, now, baseline=checked.baseline)
            appeared.append(one)
        db.table("facts").upsert({"name": "coverage", "value": coverage}, pk="name")
        db.table("runs").update(
            run,
            {
                "target": checked.target,
                "previous": checked.previous,
                "forced": int(checked.forced),
                "base": checked.base,
                "input": checked.input,
                "files": checked.files,
                "sites": checked.sites,
                "checked": checked.checked,
                "baseline": int(checked.baseline),
                "appeared": len(appeared),
                "closed": len(closed),
                "outcome": OK,
                "code": 0,
                "finished_at": stamp(now),
            },
        )
    return Changes(appeared=tuple(appeared), closed=tuple(closed))


def open_drifts(database: Database) -> list[Found]:
    """Every drift that has not ended, in the order in which they were found."""
    return [_found(row) for row in _open_rows(database)]


def last_closed(database: Database) -> dict[tuple[str, Family], Gone]:
    """(entry, family) -> why its last drift ended, of those that have none now."""
    rows = database.rows(
        "select entry, family, closed, by_hand, max(id) from drifts d where closed is not null and not exists "
        "(select 1 from drifts o where o.entry = d.entry and o.family = d.family and o.closed is null) "
        "group by entry, family"
    )
    return {
        (row["entry"], Family(row["family"])): Gone(reason=row["closed"], by_hand=bool(row["by_hand"])) for row in rows
    }


def release_baseline(database: Database) -> int:
    """A person wants what was there at the first run filed, too -> how many drifts that are."""
    with database.writing() as connection:
        return connection.execute("update drifts set baseline = 0 where baseline = 1 and closed is null").rowcount


def _open_rows(database: Database) -> list[dict[str, Any]]:
    return database.rows("select * from drifts where closed is null order by id")


def _found(row: dict[str, Any]) -> Found:
    return Found(
        id=row["id"],
        entry=row["entry"],
        page=row["page"],
        family=Family(row["family"]),
        fingerprint=row["fingerprint"],
        drift=msgspec.json.decode(row["content"], type=Drift),
        base_commit=row["base_commit"],
        target_commit=row["target_commit"],
        pin=row["pin"],
        first_seen=instant(row["first_seen"]),
        last_seen=instant(row["last_seen"]),
        confirmed=bool(row["confirmed"]),
        baseline=bool(row["baseline"]),
    )


def _insert(db: sqlite_utils.Database, one: Seen, run: int, now: float, *, baseline: bool) -> None:
    db.table("drifts").insert(
        {
            "entry": _text(one.entry),
            "page": _text(one.page),
            "family": one.family.value,
            "kinds": _json([kind.value for kind in Kind if kind in one.drift.kinds]),
            "severity": one.drift.severity.name.lower(),
            "certain": int(one.drift.certain),
            "fingerprint": one.fingerprint,
            "content": _content(one.drift),
            "base_commit": one.base_commit,
            "target_commit": one.target_commit,
            "pin": one.pin,
            "first_run": run,
            "last_run": run,
            "first_seen": stamp(now),
            "last_seen": stamp(now),
            "confirmed": int(one.drift.certain and Kind.REMOVED not in one.drift.kinds),
            "baseline": int(baseline),
        }
    )


def _seen_again(db: sqlite_utils.Database, found: Found, one: Seen, run: int, now: float) -> None:
    twice = one.target_commit != found.target_commit or passed(found.first_seen, now, CONFIRM_S)
    confirmed = one.drift.certain and (found.confirmed or twice)
    db.table("drifts").update(
        found.id,
        {
            "last_run": run,
            "last_seen": stamp(now),
            "confirmed": int(confirmed or found.confirmed),
            "certain": int(one.drift.certain),
            "page": _text(one.page),
            "content": _content(one.drift),
            # Lines mean something only at their commits.
            "base_commit": one.base_commit,
            "target_commit": one.target_commit,
            "pin": one.pin,
        },
    )


def _close(db: sqlite_utils.Database, drift: int, run: int, now: float, why: Gone) -> None:
    db.table("drifts").update(
        drift, {"closed_run": run, "closed_at": stamp(now), "closed": why.reason, "by_hand": int(why.by_hand)}
    )


def _content(drift: Drift) -> str:
    return _json(msgspec.to_builtins(drift, order="deterministic"))


def _json(value: object) -> str:
    return msgspec.json.encode(_printable(value)).decode()


def _printable(value: Any) -> Any:
    """Lone surrogates are no JSON: they are kept as escapes."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {key: _printable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(item) for item in value]
    return value


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
