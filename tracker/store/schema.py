"""The tables, as a chain of migrations. What a migration did once is never edited; a change is a new one.

A person reads these tables in any SQLite browser, so times are ISO 8601 in UTC, and what is not a name or a number is
JSON.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

MIGRATIONS = Migrations("tracker")

_FIRST = """
create table runs (
    id integer primary key,
    started_at text not null,
    finished_at text,
    outcome text not null,      -- running, ok, unchanged, failed, crashed, stopped
    said text not null default '',  -- the error, or the event, in one line
    code integer,               -- exit code
    target text,                -- commit
    previous text,              -- commit of the branch before
    forced integer not null default 0,
    base text,                  -- commit
    input text,                 -- hash of all that the outcome depends on
    files integer, sites integer, checked integer,
    appeared integer, closed integer,
    baseline integer not null default 0
) strict;
create index runs_outcome on runs (outcome, id);

create table drifts (
    id integer primary key,
    entry text not null,        -- id of an entry; fingerprint of a site that has none
    page text not null,
    family text not null,       -- meaning, new, lines
    kinds text not null,        -- JSON list
    severity text not null,
    certain integer not null,
    fingerprint text not null,  -- hash of what it says
    content text not null,      -- JSON: the drift as `diff` reports it
    base_commit text not null,
    target_commit text not null,
    first_run integer not null references runs (id),
    last_run integer not null references runs (id),
    first_seen text not null,
    last_seen text not null,
    confirmed integer not null,
    baseline integer not null,
    closed_run integer references runs (id),
    closed_at text,
    closed text,                -- why
    by_hand integer not null default 0
) strict;
create unique index drifts_open on drifts (entry, family) where closed is null;
create index drifts_closed on drifts (closed_run);

create table issues (
    key text primary key,
    family text not null,
    entry text not null,
    state text not null,
    fingerprint text not null,
    title text not null,
    repository text not null,
    repository_id integer,
    number integer,
    issue_id integer,
    node_id text not null,
    url text not null,
    episode integer not null,
    attempts integer not null,
    posted_at text,
    lists_without integer not null,
    until text,
    closed_at text,
    previous integer,
    "group" text not null,
    note text not null
) strict;

create table writes (
    id integer primary key,
    at text not null,
    run integer references runs (id),
    key text not null,
    action text not null,       -- create, update, comment, close, reopen, duplicate
    event text not null,        -- of a comment: the line it can be told by
    outcome text not null,      -- intended, done, refused, unknown
    request_id text,            -- GitHub's own, for its support
    said text not null default ''
) strict;
create index writes_at on writes (action, at);
create index writes_event on writes (key, event);

create table acknowledgements (
    id integer primary key,
    entry text not null,
    fingerprint text not null,
    reason text not null,
    by text not null,
    at text not null,
    undone_at text
) strict;
create unique index acknowledgements_open on acknowledgements (entry, fingerprint) where undone_at is null;

create table facts (
    name text primary key,
    value text not null
) strict;
"""


@MIGRATIONS()
def first(db: Database) -> None:
    for statement in _FIRST.split(";\n"):
        if statement.strip():
            db.execute(statement)


@MIGRATIONS()
def pin(db: Database) -> None:
    """What the page said when its drift was last seen: with another pin, the page was brought up to date."""
    db.execute("alter table drifts add column pin text not null default ''")
