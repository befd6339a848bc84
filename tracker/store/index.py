"""The file of the index: its tables, how it is opened, and what its errors mean."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tracker.errors import StoreError

SCHEMA = 1
BUSY_S = 30.0

TABLES = """
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


def remove(path: Path) -> None:
    """Take the index away, whatever is in it."""
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        file.unlink(missing_ok=True)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    quoted = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(f"file:{quoted}?mode={mode}", uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def put(text: str | None) -> str | bytes | None:
    """A text as the tables have it: what is no UTF-8 as bytes."""
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def got(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def unusable(path: Path, error: Exception) -> StoreError:
    said = str(error)
    if "full" in said:
        return StoreError(f"{path}: the disk is full: free some space and run it again; nothing was lost")
    if "locked" in said or "busy" in said:
        return StoreError(f"{path} is being written by another tracker: wait for it, and run it again")
    if "readonly" in said or "unable to open" in said:
        return StoreError(f"{path} cannot be written ({said}): look at the rights of its folder")
    return StoreError(f"{path} is damaged ({said}): remove it, and it is built anew")
