"""The index of every error's life, in a file of its own: disposable, rebuilt from the mirror whenever it does not fit.

An error is a chain of spans; a span is an interval of commits in which it reads the same. For readers: `History.read`,
which is None where there is none, and then `tracker.store.recall`:

* `messages(history)`: every text that any error ever had, each with the error, the exception, where, and the first and
  last release that said so;
* `sites_at(history, position)`: every site at a position on the line of first parents; `history.release(version)` or
  `history.position_of(commit)` tell the position;
* `errors_saying(history, text)` and `life(history, error)`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tracker.model import Cause, Kind, Site
from tracker.store.index import SCHEMA, TABLES, connect, got, put, remove, unusable
from tracker.store.timeline import Commit, Held, Release, Span

FILE = "history.sqlite3"
"""Its name in the state directory."""


class History:
    """The index. Not for use by two threads at once."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._ids: dict[tuple[str, object], int] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        """For writing; made if there is none. StoreError: it cannot be written. What is no index is made anew."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            found = cls(path, connect(path, "rwc"))
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise unusable(path, error) from error
            remove(path)
            found = cls(path, connect(path, "rwc"))
        try:
            found._db.execute("pragma journal_mode = wal")
            found._db.execute("pragma synchronous = normal")
        except sqlite3.Error as error:
            found.close()
            raise unusable(path, error) from error
        return found

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """For reading; None where there is none that this program can use."""
        if not path.exists():
            return None
        try:
            found = cls(path, connect(path, "ro"))
        except sqlite3.Error:
            return None
        with suppress(sqlite3.Error):
            if found._db.execute("pragma user_version").fetchone()[0] == SCHEMA:
                return found
        found.close()
        return None

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it or nothing. StoreError: the disk is full, another one writes, and the like."""
        try:
            self._db.execute("begin immediate")
            yield
            self._db.execute("commit")
        except BaseException as error:
            self._ids.clear()
            with suppress(sqlite3.Error):
                self._db.execute("rollback")
            if isinstance(error, sqlite3.Error):
                raise unusable(self.path, error) from error
            raise

    def make(self, facts: dict[str, str]) -> None:
        """Empty tables, and what they are made for."""
        self._ids.clear()
        for (name,) in self._db.execute("select name from sqlite_master where type = 'table'").fetchall():
            self._db.execute(f'drop table "{name}"')
        for statement in TABLES.split(";\n"):
            if statement.strip():
                self._db.execute(statement)
        self._db.execute(f"pragma user_version = {SCHEMA}")
        self.remember(facts)

    def remember(self, facts: dict[str, str]) -> None:
        self._db.executemany("insert or replace into facts values (?, ?)", list(facts.items()))

    def facts(self) -> dict[str, str]:
        """What the tables were made for; empty where there are none."""
        try:
            if self._db.execute("pragma user_version").fetchone()[0] != SCHEMA:
                return {}
            return dict(self._db.execute("select name, value from facts").fetchall())
        except sqlite3.Error:
            return {}

    def add(
        self,
        commits: Iterable[Commit],
        spans: Iterable[Span],
        ends: Iterable[tuple[int, int]],
        files: Iterable[Held],
    ) -> None:
        """What some commits did, in order; `ends`: error, and the position of the commit that ended it."""
        causes = [(one.position, one.cause) for one in commits]
        self._db.executemany(
            "insert into commits values (?, ?, ?, ?, ?, ?)",
            [(at, c.commit, put(c.author), c.date, put(c.subject), c.pull_request) for at, c in causes],
        )
        born, closed, rows = [], list(ends), []
        for span in spans:
            if Kind.NEW in span.kinds:
                born.append((span.error, span.since))
            else:
                closed.append((span.error, span.since))
            rows.append(self._row(span))
        self._db.executemany("insert into errors values (?, ?, null)", born)
        self._db.executemany("insert into spans values (?, ?, null, ?, ?, ?, ?, ?, ?)", rows)
        # Of the spans of an error, each but the last ends where the next one begins.
        self._db.executemany(
            "update spans set until = ?1 where error = ?2 and since = "
            "(select max(since) from spans where error = ?2 and since < ?1)",
            [(position, error) for error, position in closed],
        )
        self._db.executemany("update errors set died = ? where id = ?", [(at, error) for error, at in ends])
        self._db.executemany(
            "insert or replace into files values (?, ?, ?, ?, ?)",
            [
                (self._id("paths", put(one.path)), one.since, one.blob, one.sound, json.dumps(one.units))
                for one in files
            ],
        )

    def _row(self, span: Span) -> tuple[object, ...]:
        site = span.site
        path, state = self._id("paths", put(site.path)), self._state(site)
        kinds = " ".join(span.kinds)
        return span.error, span.since, kinds, path, state, site.line, site.end_line, site.ordinal

    def _id(self, table: str, value: object) -> int:
        """The number of a path or a message, a new one where it has none."""
        number = self._ids.get((table, value))
        if number is None:
            column = "path" if table == "paths" else "text"
            row = self._db.execute(f"select id from {table} where {column} = ?", (value,)).fetchone()
            number = int(row[0]) if row else self._insert(f"insert into {table} values (null, ?)", value)
            self._ids[table, value] = number
        return number

    def _state(self, site: Site) -> int:
        texts = [self._id("messages", put(text)) for text in site.messages]
        values = (put(site.scope), put(site.exception), site.form.value, put(json.dumps(site.guard)))
        key = json.dumps([*map(str, values), *texts])
        number = self._ids.get(("states", key))
        if number is None:
            row = self._db.execute("select id from states where key = ?", (key,)).fetchone()
            if row is None:
                number = self._insert("insert into states values (null, ?, ?, ?, ?, ?)", *values, key)
                self._db.executemany("insert into said values (?, ?, ?)", [(number, n, t) for n, t in enumerate(texts)])
            else:
                number = int(row[0])
            self._ids["states", key] = number
        return number

    def _insert(self, sql: str, *values: object) -> int:
        number = self._db.execute(sql, values).lastrowid
        assert number is not None
        return number

    def set_releases(self, releases: Iterable[Release]) -> None:
        """All releases, in place of those that were there."""
        self._db.execute("delete from releases")
        self._db.executemany("insert into releases values (?, ?, ?, ?, ?)", list(releases))

    def forget_files(self, before: int) -> None:
        """Of what files held, drop what was no longer so at this position."""
        self._db.execute(
            "delete from files where exists (select 1 from files as later where later.path = files.path "
            "and later.since > files.since and later.since <= ?)",
            (before,),
        )

    def go_back(self, position: int) -> None:
        """Forget everything behind a position. What files held then must still be there."""
        for sql in (
            "delete from errors where born > ?",
            "update errors set died = null where died > ?",
            "delete from spans where since > ?",
            "update spans set until = null where until > ?",
            "delete from files where since > ?",
            "delete from commits where position > ?",
        ):
            self._db.execute(sql, (position,))

    # Reading

    @property
    def tip(self) -> int:
        """Position of the newest commit; 0: there is none yet."""
        return int(self._one("select coalesce(max(position), 0) from commits")[0])

    @property
    def next_error(self) -> int:
        return int(self._one("select coalesce(max(id), 0) + 1 from errors")[0])

    def died(self, error: int) -> int | None:
        """Position of the commit that ended an error."""
        died = self._one("select died from errors where id = ?", error)[0]
        return None if died is None else int(died)

    def commit_at(self, position: int) -> Cause | None:
        rows = self.rows("select sha, author, date, subject, pull_request from commits where position = ?", position)
        return cause_of(rows[0]) if rows else None

    def position_of(self, commit: str) -> int | None:
        """Where a commit stands on the line of first parents; None: it does not."""
        rows = self.rows("select position from commits where sha = ? order by position desc limit 1", commit)
        return int(rows[0][0]) if rows else None

    def position_before(self, date: str) -> int:
        """Position of the last commit that was made before a date (ISO 8601, UTC where it has no offset)."""
        return int(
            self._one("select coalesce(max(position), 0) from commits where datetime(date) < datetime(?)", date)[0]
        )

    def held(self, path: str) -> Held | None:
        """What a file holds at the newest commit, None where it was never there."""
        rows = self.rows(
            "select path, since, blob, sound, units from files "
            "where path = (select id from paths where path = ?) order by since desc limit 1",
            put(path),
        )
        return next(
            (Held(path, since, blob, bool(sound), json.loads(units)) for _, since, blob, sound, units in rows), None
        )

    def files(self) -> dict[str, Held]:
        """The same of all files that are there."""
        rows = self.rows(
            "select paths.path, max(since), blob, sound, units from files join paths on paths.id = files.path "
            "group by files.path"
        )
        found = (
            Held(got(path), since, blob, bool(sound), json.loads(units)) for path, since, blob, sound, units in rows
        )
        return {one.path: one for one in found if one.blob is not None}

    def releases(self) -> list[Release]:
        """By version, oldest first."""
        return [
            Release(*row)
            for row in self.rows("select version, rank, position, date, tagged from releases order by rank")
        ]

    def release(self, version: str) -> Release | None:
        rows = self.rows("select version, rank, position, date, tagged from releases where version = ?", version)
        return Release(*rows[0]) if rows else None

    def rows(self, sql: str, *values: object) -> list[Any]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error

    def _one(self, sql: str, *values: object) -> Any:
        return self.rows(sql, *values)[0]


def cause_of(row: Sequence[Any]) -> Cause:
    return Cause(commit=row[0], author=got(row[1]), date=row[2], subject=got(row[3]), pull_request=row[4])
