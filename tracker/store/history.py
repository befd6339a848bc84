"""The index of every error's life, in a file of its own: disposable, rebuilt from the mirror whenever it does not fit.

For readers (`lookup`, say): `History.read(path)` -> the index or None, and then

* `messages()`: every text that any error ever had, each with the error, the exception, where, and the first and last
  release that said so;
* `sites_at(position)`: every site at a position on the line of first parents, and `release(version)` or
  `position_of(commit)` for the position;
* `errors_saying(text)`, `errors_at(path, position)` and `life(error)`.

Lines are those of the commit that a span begins with: a line that only moved is no event. A span is an interval of
commits in which an error reads the same; an error is a chain of spans.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tracker.errors import StoreError
from tracker.model import Cause, Form, Kind, Site

FILE = "history.sqlite3"
"""Its name in the state directory."""
SCHEMA = 1
BUSY_S = 30.0

_TABLES = """
create table facts (name text primary key, value text not null) without rowid;
create table commits (
    position integer primary key,    -- on the line of first parents, from 1
    sha text not null,
    author text not null, date text not null, subject text not null, pull_request integer
);
create index commits_sha on commits (sha);
create table releases (
    version text primary key,
    rank integer not null,           -- by version, from 1
    position integer not null,       -- of the newest first-parent commit that it holds
    date text not null,
    tagged text not null             -- the commit that is the release
) without rowid;
create table paths (id integer primary key, path not null unique);
create table messages (id integer primary key, text not null unique);
create table states (
    id integer primary key,
    scope, exception, form text not null, guard not null,
    key text not null unique         -- all of it, texts included, by their numbers
);
create table said (state integer not null, n integer not null, message integer not null, primary key (state, n))
    without rowid;
create index said_message on said (message);
create table errors (id integer primary key, born integer not null, died integer);
create table spans (
    error integer not null, since integer not null, until integer,
    kinds text not null,
    path integer not null, state integer not null,
    line integer not null, end_line integer not null, ordinal integer not null,
    primary key (error, since)
) without rowid;
create index spans_state on spans (state);
create index spans_since on spans (since);
create index spans_open on spans (path) where until is null;
create table files (
    path integer not null, since integer not null, blob text, sound integer not null, units text not null,
    primary key (path, since)
) without rowid;
"""


class Commit(NamedTuple):
    """A commit on the line of first parents."""

    position: int
    cause: Cause


class Release(NamedTuple):
    """A release, and how far along the line of first parents it reaches."""

    version: str
    rank: int
    position: int
    date: str
    commit: str
    """What the tag stands on; of the line, or of a branch that left it at `position`."""


class Span(NamedTuple):
    """From a commit on, an error is raised like this."""

    error: int
    since: int
    """Position of the commit on the line of first parents."""
    kinds: tuple[Kind, ...]
    """What differs from before, `new` at the beginning; empty where nothing differs that anyone is told."""
    site: Site


class Held(NamedTuple):
    """What a file holds from a commit on: what is needed to go on from there."""

    path: str
    since: int
    blob: str | None
    """None: it is not there any more."""
    sound: bool
    """Whether it is followed by its definitions, not as a whole."""
    units: Sequence[tuple[Sequence[int], Sequence[str], Sequence[str]]]
    """Of each definition that can hold sites: the errors, names it refers to in its module, and functions whose calls
    have a say in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """An interval of commits in which an error reads the same."""

    since: int
    until: int | None
    """Position of the commit that ended it; None: it still reads so."""
    kinds: tuple[Kind, ...]
    site: Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One text that an error had at some time."""

    error: int
    text: str
    exception: str | None
    path: str
    scope: str
    first: str | None
    """The first release that said so; None: it never was in one."""
    last: str | None
    """The last one; still said at the newest commit where `alive`."""
    alive: bool


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
            found = cls(path, _connect(path, "rwc"))
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _unusable(path, error) from error
            remove(path)
            found = cls(path, _connect(path, "rwc"))
        try:
            found._db.execute("pragma journal_mode = wal")
            found._db.execute("pragma synchronous = normal")
        except sqlite3.Error as error:
            found.close()
            raise _unusable(path, error) from error
        return found

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """For reading; None where there is none that this program can use."""
        if not path.exists():
            return None
        try:
            found = cls(path, _connect(path, "ro"))
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
                raise _unusable(self.path, error) from error
            raise

    def make(self, facts: dict[str, str]) -> None:
        """Empty tables, and what they are made for."""
        self._ids.clear()
        for (name,) in self._db.execute("select name from sqlite_master where type = 'table'").fetchall():
            self._db.execute(f'drop table "{name}"')
        for statement in _TABLES.split(";\n"):
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
            [(at, c.commit, _put(c.author), c.date, _put(c.subject), c.pull_request) for at, c in causes],
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
                (self._id("paths", _put(one.path)), one.since, one.blob, one.sound, json.dumps(one.units))
                for one in files
            ],
        )

    def _row(self, span: Span) -> tuple[object, ...]:
        site = span.site
        path, state = self._id("paths", _put(site.path)), self._state(site)
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
        texts = [self._id("messages", _put(text)) for text in site.messages]
        values = (_put(site.scope), _put(site.exception), site.form.value, _put(json.dumps(site.guard)))
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

    def commit_at(self, position: int) -> Cause | None:
        rows = self._all("select sha, author, date, subject, pull_request from commits where position = ?", position)
        return _cause(rows[0]) if rows else None

    def position_of(self, commit: str) -> int | None:
        """Where a commit stands on the line of first parents; None: it does not."""
        rows = self._all("select position from commits where sha = ? order by position desc limit 1", commit)
        return int(rows[0][0]) if rows else None

    def position_before(self, date: str) -> int:
        """Position of the last commit that was made before a date (ISO 8601, UTC where it has no offset)."""
        return int(
            self._one("select coalesce(max(position), 0) from commits where datetime(date) < datetime(?)", date)[0]
        )

    def held(self, path: str) -> Held | None:
        """What a file holds at the newest commit, None where it was never there."""
        rows = self._all(
            "select path, since, blob, sound, units from files "
            "where path = (select id from paths where path = ?) order by since desc limit 1",
            _put(path),
        )
        return next(
            (Held(path, since, blob, bool(sound), json.loads(units)) for _, since, blob, sound, units in rows), None
        )

    def files(self) -> dict[str, Held]:
        """The same of all files that are there."""
        rows = self._all(
            "select paths.path, max(since), blob, sound, units from files join paths on paths.id = files.path "
            "group by files.path"
        )
        found = (
            Held(_got(path), since, blob, bool(sound), json.loads(units)) for path, since, blob, sound, units in rows
        )
        return {one.path: one for one in found if one.blob is not None}

    def releases(self) -> list[Release]:
        """By version, oldest first."""
        return [
            Release(*row)
            for row in self._all("select version, rank, position, date, tagged from releases order by rank")
        ]

    def release(self, version: str) -> Release | None:
        rows = self._all("select version, rank, position, date, tagged from releases where version = ?", version)
        return Release(*rows[0]) if rows else None

    def life(self, error: int) -> list[Stretch]:
        """The spans of an error, oldest first."""
        return [stretch for _, stretch in self._stretches("spans.error = ? order by since", error)]

    def sites_at(self, position: int, path: str | None = None) -> list[tuple[int, Site]]:
        """Every error that is raised at a position, and how; in one file where `path` is given.

        A site's line is that of the commit that its span begins with.
        """
        where = "since <= ?1 and (until is null or until > ?1)"
        if path is not None:
            found = self._stretches(f"paths.path = ?2 and {where}", position, _put(path))
        else:
            found = self._stretches(where, position)
        return sorted(
            ((error, stretch.site) for error, stretch in found), key=lambda one: (one[1].path, one[1].line, one[0])
        )

    def changes(self, after: int, until: int) -> list[tuple[int, Stretch]]:
        """What began behind the position `after`, up to `until`, and the errors that ended there, by commit."""
        return list(
            self._stretches("(since > ?1 and since <= ?2) or (until > ?1 and until <= ?2) order by since", after, until)
        )

    def died(self, error: int) -> int | None:
        """Position of the commit that ended an error."""
        died = self._one("select died from errors where id = ?", error)[0]
        return None if died is None else int(died)

    def errors_saying(self, text: str) -> tuple[list[int], list[int]]:
        """The errors that said exactly this at some time, and those that said something that contains it."""
        exact = self._errors_of("messages.text = ?", _put(text))
        pattern = "".join(f"\\{sign}" if sign in "%_\\" else sign for sign in text)
        containing = self._errors_of("messages.text like ? escape '\\'", _put(f"%{pattern}%"))
        return exact, [error for error in containing if error not in set(exact)]

    def _errors_of(self, where: str, value: object) -> list[int]:
        rows = self._all(
            "select distinct error from messages join said on said.message = messages.id "
            f"join spans on spans.state = said.state where {where} order by error desc",
            value,
        )
        return [int(row[0]) for row in rows]

    def messages(self) -> Iterator[Message]:
        """Every text that any error ever had, with the releases that said so; by error, then oldest first."""
        released = Released(self.releases())
        rows = self._db.execute(
            "select error, messages.text, states.exception, paths.path, states.scope, since, until from spans "
            "join states on states.id = spans.state join said on said.state = states.id "
            "join messages on messages.id = said.message join paths on paths.id = spans.path order by error, since, n"
        )
        known: dict[tuple[int, str], Message] = {}
        at = 0
        for error, text, exception, path, scope, since, until in rows:
            if error != at:
                yield from known.values()
                known, at = {}, error
            inside = released.within(since, until)
            one = Message(
                error=error,
                text=_got(text),
                exception=None if exception is None else _got(exception),
                path=_got(path),
                scope=_got(scope),
                first=inside[0].version if inside else None,
                last=inside[1].version if inside else None,
                alive=until is None,
            )
            before = known.get((error, one.text))
            first = before.first if before is not None and before.first is not None else one.first
            last = one.last or (before.last if before is not None else None)
            known[error, one.text] = replace(one, first=first, last=last)
        yield from known.values()

    def _stretches(self, where: str, *values: object) -> Iterator[tuple[int, Stretch]]:
        rows = self._all(
            "select error, since, until, kinds, paths.path, scope, exception, form, guard, state, line, end_line, "
            "ordinal from spans join states on states.id = spans.state join paths on paths.id = spans.path where "
            + where,
            *values,
        )
        texts: dict[int, list[str]] = {}
        numbers = sorted({row[9] for row in rows})
        for n in range(0, len(numbers), 500):
            some = numbers[n : n + 500]
            marks = ", ".join("?" * len(some))
            for state, text in self._all(
                "select state, text from said join messages on messages.id = said.message "
                f"where state in ({marks}) order by state, n", *some,
            ):  # fmt: skip
                texts.setdefault(state, []).append(_got(text))
        for error, since, until, kinds, path, scope, exception, form, guard, state, line, end_line, ordinal in rows:
            said = texts.get(state, [])
            yield (
                error,
                Stretch(
                    since=since,
                    until=until,
                    kinds=tuple(map(Kind, kinds.split())),
                    site=Site(
                        path=_got(path),
                        line=line,
                        end_line=end_line,
                        scope=_got(scope),
                        exception=None if exception is None else _got(exception),
                        message=said[0] if said else None,
                        alternatives=tuple(said[1:]),
                        form=Form(form),
                        guard=tuple(json.loads(_got(guard))),
                        ordinal=ordinal,
                    ),
                ),
            )

    def _all(self, sql: str, *values: object) -> list[Any]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def _one(self, sql: str, *values: object) -> Any:
        return self._all(sql, *values)[0]


class Released:
    """Which releases hold what lies between two positions."""

    def __init__(self, releases: Sequence[Release]) -> None:
        self._releases = sorted(releases, key=lambda release: (release.position, release.rank))
        self._positions = [release.position for release in self._releases]
        self._known: dict[tuple[int, int], tuple[Release, Release] | None] = {}

    def within(self, since: int, until: int | None = None) -> tuple[Release, Release] | None:
        """The lowest and the highest version whose position is at `since` or behind it, and before `until`."""
        first = bisect_left(self._positions, since)
        last = len(self._positions) if until is None else bisect_left(self._positions, until)
        if (first, last) not in self._known:
            some = sorted(self._releases[first:last], key=lambda release: release.rank)
            self._known[first, last] = (some[0], some[-1]) if some else None
        return self._known[first, last]


def remove(path: Path) -> None:
    """Take the index away, whatever is in it."""
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        file.unlink(missing_ok=True)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    quoted = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(f"file:{quoted}?mode={mode}", uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _put(text: str | None) -> str | bytes | None:
    """A text as the tables have it: what is no UTF-8 as bytes."""
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _got(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def _cause(row: Sequence[Any]) -> Cause:
    return Cause(commit=row[0], author=_got(row[1]), date=row[2], subject=_got(row[3]), pull_request=row[4])


def _unusable(path: Path, error: Exception) -> StoreError:
    said = str(error)
    if "full" in said:
        return StoreError(f"{path}: the disk is full: free some space and run it again; nothing was lost")
    if "locked" in said or "busy" in said:
        return StoreError(f"{path} is being written by another tracker: wait for it, and run it again")
    if "readonly" in said or "unable to open" in said:
        return StoreError(f"{path} cannot be written ({said}): look at the rights of its folder")
    return StoreError(f"{path} is damaged ({said}): remove it, and it is built anew")
