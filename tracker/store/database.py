"""The database under the state directory: opening, migrating, transactions, backup.

Whoever writes holds the run lock (`lock.py`) and a `begin immediate`: sqlite-utils' own `atomic` begins deferred, and
a transaction that reads first and writes later fails at once when another writer was faster.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tracker.errors import StoreError

if TYPE_CHECKING:
    import sqlite_utils

SCHEMA = 2
"""How many migrations there are in `schema`. What a file has stands in its user_version, so that a run that finds
nothing new needs neither them nor sqlite-utils, which takes 50 ms to import.
"""
BUSY_S = 30.0
"""How long a writer waits for another; sqlite's own 5 s are short for a backup on a slow disk."""


class Database:
    """The tables of one state directory. Not for use by two threads at once."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @cached_property
    def db(self) -> sqlite_utils.Database:
        """The tables, for whoever writes whole rows."""
        import sqlite_utils

        return sqlite_utils.Database(self.connection, execute_plugins=False)

    @classmethod
    def open(cls, path: Path) -> Self:
        """For writing, under the run lock: made if there is none, brought to this program's schema.

        StoreError: not a database, damaged, of a newer tracker, or it cannot be written.
        """
        fresh = not path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            opened = cls(path, _connect(path, f"file:{_quoted(path)}?mode=rwc"))
        except (sqlite3.Error, OSError) as error:
            raise _unusable(path, error) from error
        try:
            opened._prepare(fresh)
        except BaseException as error:
            opened.close()
            if isinstance(error, sqlite3.Error):
                raise _unusable(path, error) from error
            raise
        return opened

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """For reading only; None where there is none yet. StoreError: as of `open`, or an older schema."""
        if not path.exists():
            return None
        try:
            opened = cls(path, _connect(path, f"file:{_quoted(path)}?mode=ro"))
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        try:
            if opened._version() != SCHEMA:
                from tracker.store.schema import MIGRATIONS

                if not MIGRATIONS.applied(opened.db):  # somebody is making it this moment
                    opened.close()
                    return None
                opened._refuse_newer()
                if MIGRATIONS.pending(opened.db):
                    raise StoreError(f"{path} is of an older tracker: `tracker run` brings it up to date")
        except BaseException as error:
            opened.close()
            if isinstance(error, sqlite3.Error):
                raise _unusable(path, error) from error
            raise
        return opened

    def _prepare(self, fresh: bool) -> None:
        (mode,) = self.rows("pragma journal_mode = wal")
        if mode["journal_mode"] != "wal":
            raise StoreError(f"{self.path} cannot use a write-ahead log: put [state] path on a local disk")
        (health,) = self.rows("pragma quick_check(1)")
        if health["quick_check"] != "ok":
            raise _unusable(self.path, sqlite3.DatabaseError(str(health["quick_check"])))
        if self._version() != SCHEMA:
            self._migrate(fresh)

    def _migrate(self, fresh: bool) -> None:
        from tracker.store.schema import MIGRATIONS

        self._refuse_newer()
        if MIGRATIONS.pending(self.db):
            if not fresh and MIGRATIONS.applied(self.db):
                self.backup(self.path.with_suffix(f".before-{len(MIGRATIONS.applied(self.db)) + 1}.sqlite3"))
            MIGRATIONS.apply(self.db)
        self.connection.execute(f"pragma user_version = {SCHEMA}")

    def _version(self) -> int:
        (found,) = self.rows("pragma user_version")
        return int(found["user_version"])

    def _refuse_newer(self) -> None:
        from tracker.store.schema import MIGRATIONS

        known = {migration.name for migration in MIGRATIONS._migrations}
        newer = [applied.name for applied in MIGRATIONS.applied(self.db) if applied.name not in known]
        if newer:
            raise StoreError(
                f"{self.path} is of a newer tracker (it has {newer[-1]!r}): use that one, or an older backup beside it"
            )

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing. StoreError: the disk is full, or the like; nothing was written."""
        try:
            self.connection.execute("begin immediate")
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error
        try:
            yield self.connection
            self.connection.execute("commit")
        except BaseException as error:
            with suppress(sqlite3.Error):
                self.connection.execute("rollback")
            if isinstance(error, sqlite3.Error):
                raise _unusable(self.path, error) from error
            raise

    def rows(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """The rows of a query. StoreError: the file is damaged."""
        try:
            cursor = self.connection.execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def backup(self, to: Path) -> None:
        """A whole copy, by the library's own way (a copied file would miss what is still in the log).

        StoreError: the disk is full, or the like; the copy of before stays.
        """
        making = to.with_suffix(".making")
        making.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(making)) as copy:
                self.connection.backup(copy)
            os.replace(making, to)
        except sqlite3.Error as error:
            making.unlink(missing_ok=True)
            raise _unusable(to, error) from error


def stamp(at: float) -> str:
    """Seconds since 1970 as the tables have it: ISO 8601, UTC, ordered as text."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def instant(text: str) -> float:
    """The other way round."""
    return datetime.fromisoformat(text).timestamp()


def _connect(path: Path, uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        connection.execute("pragma foreign_keys = on")
        connection.execute("pragma synchronous = full")
        connection.execute("select count(*) from sqlite_master").fetchone()
        return connection
    except BaseException:
        connection.close()
        raise


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _unusable(path: Path, error: Exception) -> StoreError:
    said = " ".join(str(error).split())
    if "full" in said:
        return StoreError(f"{path}: the disk is full: free some space and run it again; nothing was lost")
    if "locked" in said or "busy" in said:
        return StoreError(
            f"{path} is held by another program for more than {BUSY_S:g} s: end that one, and run it again"
        )
    if "readonly" in said or "unable to open" in said or isinstance(error, OSError):
        return StoreError(f"{path} cannot be written ({said}): look at the rights of its folder")
    backups = sorted(path.parent.glob(f"{path.stem}*.backup.sqlite3"))
    hint = f"; the last backup is {backups[-1].name}" if backups else ""
    return StoreError(
        f"{path} is damaged ({said}): move it away{hint}; without it, the outbox is read back from the issues"
    )
