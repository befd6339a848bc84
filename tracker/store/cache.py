"""Results that can be worked out again, by the hash of all they were made of: `cache.sqlite3` of the state directory.

Never needed. Whatever is wrong with the file, its folder or the disk, the tracker works as if nothing had been kept,
and says so in one line of the log. It is no part of the database: `diff` writes here, and anybody may delete it.
"""

from __future__ import annotations

import logging
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Self

_log = logging.getLogger("tracker.cache")

LIMIT = 256 * 1024 * 1024
"""Bytes of kept values from which the half that was not used for longest goes. The sites of one JAX revision are 4 MB,
and a month of its commits adds 15 MB."""
BUSY_S = 0.5
"""How long to wait for another writer: to harvest anew takes hardly longer."""
DAY_S = 86400
_OURS = 0x7472636B
"""`application_id` of the file. The one of anything else is left alone."""
_AT_ONCE = 500
"""Names in one query; sqlite before 3.32 allows 999."""

_TABLES = f"""
begin immediate;
pragma application_id = {_OURS};
create table if not exists kept (
    key blob primary key,   -- hash of the program, and of all that the value was made of
    value blob not null,
    sum integer not null,   -- CRC-32 of the value
    used integer not null   -- day, since 1970
);
create index if not exists kept_used on kept (used);
commit;
"""


class Cache:
    """What was kept. No method fails: what cannot be read is not there, what cannot be written is not kept.

    Several processes may read and write at once; not for use by two threads.
    """

    def __init__(self, path: Path, program: bytes) -> None:
        """`program`: what the values are made by; those of another one are not found."""
        self.path = path
        self._program = program
        self._db: sqlite3.Connection | None = None
        self._today = int(time.time() // DAY_S)
        try:
            self._db = _open(path)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def name(self, *parts: bytes | str) -> bytes:
        """The key of what was made of these parts."""
        made = blake2b(self._program, digest_size=16)
        for part in parts:
            raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            made.update(len(raw).to_bytes(8, "little") + raw)
        return made.digest()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values that are there, by key."""
        wanted = list(keys)
        found: dict[bytes, bytes] = {}
        seen_before: list[bytes] = []
        try:
            for start in range(0, len(wanted) if self._db else 0, _AT_ONCE):
                some = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                for key, value, check, used in self._run(
                    f"select key, value, sum, used from kept where key in ({marks})", some
                ):
                    if zlib.crc32(value) == check:
                        found[key] = value
                        if used != self._today:
                            seen_before.append(key)
        except (sqlite3.Error, TypeError) as error:
            self._give_up(error)
            return {}
        if seen_before:
            self._write("update kept set used = ? where key = ?", [(self._today, key) for key in seen_before])
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep these values."""
        rows = [(key, value, zlib.crc32(value), self._today) for key, value in values.items()]
        if rows:
            self._write("insert or replace into kept (key, value, sum, used) values (?, ?, ?, ?)", rows)

    def close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            with suppress(sqlite3.Error):
                db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, sql: str, values: Iterable[object] = ()) -> sqlite3.Cursor:
        assert self._db is not None
        return self._db.execute(sql, tuple(values))

    def _write(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        if self._db is None:
            return
        try:
            self._run("begin immediate")
            try:
                self._db.executemany(sql, rows)
                self._shrink()
                self._run("commit")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._run("rollback")
                raise
        except sqlite3.Error as error:
            # A reader can go on reading where nothing can be written.
            _log.info("nothing is kept in %s: %s", self.path, error)

    def _shrink(self) -> None:
        """Let the older half go once there is too much; the file itself stays, and is filled again."""
        (pages,) = self._run("pragma page_count").fetchone()
        (free,) = self._run("pragma freelist_count").fetchone()
        (size,) = self._run("pragma page_size").fetchone()
        if (pages - free) * size > LIMIT:
            (count,) = self._run("select count(*) from kept").fetchone()
            self._run(
                "delete from kept where rowid in (select rowid from kept order by used, rowid limit ?)", [count // 2]
            )

    def _give_up(self, error: Exception) -> None:
        _log.info("%s is not used: %s; delete it if it stays so", self.path, error)
        self.close()


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        (ours,) = db.execute("pragma application_id").fetchone()
        (tables,) = db.execute("select count(*) from sqlite_master").fetchone()
        if not tables:
            db.execute("pragma journal_mode = wal")
            db.executescript(_TABLES)
        elif ours != _OURS:
            raise sqlite3.DatabaseError("it is not a cache of the tracker")
        db.execute("pragma synchronous = normal")
        return db
    except BaseException:
        db.close()
        raise
