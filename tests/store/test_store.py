"""The database: transactions, migrations, damage, a full disk, and several processes at once."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filing.desk import reworded
from tracker.errors import LockedError, StoreError
from tracker.ledger import Family, Item, State
from tracker.store import acknowledgements, issues, runs
from tracker.store.database import SCHEMA, Database, instant, stamp
from tracker.store.drifts import _content, open_drifts
from tracker.store.facts import Gate, fact, remember
from tracker.store.lock import run_lock
from tracker.store.schema import MIGRATIONS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "tracker.sqlite3"


def _item(key: str = "k", **more: object) -> Item:
    return Item(key=key, family=Family.MEANING, entry="e", state=State.QUEUED, **more)  # type: ignore[arg-type]


def test_what_is_saved_is_read_back(file: Path) -> None:
    item = _item(number=7, posted_at=1_750_000_000.5, until=None, note="a\nb", group="g")
    with Database.open(file) as database:
        issues.save(database, [item])
        remember(database, name="value", gone="x")
        remember(database, gone=None)
        Gate(database).close(1_750_000_000.25, "slow down")
    with Database.open(file) as database:
        assert issues.items(database) == {"k": item}
        assert (fact(database, "name"), fact(database, "gone")) == ("value", None)
        assert Gate(database).until() == 1_750_000_000.25


@given(st.integers(min_value=0, max_value=4_000_000_000_000))
def test_a_time_is_the_same_as_text(milliseconds: int) -> None:
    at = milliseconds / 1000
    assert abs(instant(stamp(at)) - at) < 0.0011


def test_the_tables_are_for_people(file: Path) -> None:
    with Database.open(file) as database:
        number, _ = runs.begin(database, 1_750_000_000)
        runs.end(database, number, 1_750_000_001, runs.OK, code=0)
        (row,) = database.rows("select * from runs")
        assert (row["started_at"], row["outcome"]) == ("2025-06-15T15:06:40.000+00:00", "ok")
        (mode,) = database.rows("pragma journal_mode")
        assert mode["journal_mode"] == "wal"
        (keys,) = database.rows("pragma foreign_keys")
        assert keys["foreign_keys"] == 1


def test_a_transaction_is_whole_or_nothing(file: Path) -> None:
    with Database.open(file) as database:
        with pytest.raises(KeyError), database.writing():
            database.db.table("facts").insert({"name": "a", "value": {}["none"]})
        assert fact(database, "a") is None
        with pytest.raises(StoreError), database.writing():
            database.db.table("facts").insert_all([{"name": "a", "value": "1"}, {"name": "a", "value": "2"}])
        assert fact(database, "a") is None


def test_a_run_that_was_killed_is_marked_at_the_next_start(file: Path) -> None:
    """R45."""
    with Database.open(file) as database:
        first, _ = runs.begin(database, 1.0)
        second, left = runs.begin(database, 2.0)
        assert left == [first]
        assert [run.outcome for run in runs.failures(database)] == [runs.CRASHED]
        runs.end(database, first, 3.0, runs.OK, code=0)  # too late
        runs.end(database, second, 3.0, runs.OK, code=0)
        found = runs.last(database, runs.OK)
        assert found is not None
        assert found.id == second


def _damaged(file: Path) -> None:
    file.write_bytes(b"not a database" * 100)


def _newer(file: Path) -> None:
    with Database.open(file) as database, database.writing() as connection:
        connection.execute(f"pragma user_version = {SCHEMA + 1}")
        database.db.table("_sqlite_migrations").insert(
            {"migration_set": "tracker", "name": "of tomorrow", "applied_at": "x"}
        )


def _torn(file: Path) -> None:
    with Database.open(file) as database:
        for number in range(300):
            remember(database, **{f"fact{number}": "x" * 500})
    content = bytearray(file.read_bytes())
    content[8192:40000] = os.urandom(40000 - 8192)
    file.write_bytes(content)


def _folder(file: Path) -> None:
    file.mkdir(parents=True)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [(_damaged, "is damaged"), (_newer, "of a newer tracker"), (_torn, "is damaged"), (_folder, "cannot be")],
)
def test_what_cannot_be_used_is_refused(file: Path, prepare: object, said: str) -> None:
    """Fault 28: and the last backup is named."""
    if prepare is not _folder:
        with Database.open(file) as database:
            database.backup(file.with_suffix(".backup.sqlite3"))
    prepare(file)  # type: ignore[operator]
    with pytest.raises(StoreError, match=said) as error:
        Database.open(file)
    if "damaged" in said:
        assert "tracker.backup.sqlite3" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_older_schema_is_brought_up_to_date_with_a_backup(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Database.open(file) as database:
        remember(database, name="value")
    added = [*MIGRATIONS._migrations, MIGRATIONS._Migration("added", lambda db: db.execute("create table t (x)"))]
    monkeypatch.setattr(MIGRATIONS, "_migrations", added)
    monkeypatch.setattr("tracker.store.database.SCHEMA", len(added))
    with pytest.raises(StoreError, match="older tracker"):
        Database.read(file)
    with Database.open(file) as database:
        assert fact(database, "name") == "value"
        assert database.rows("select * from t") == []
    assert [found.name for found in file.parent.glob("*.before-*")] == [f"tracker.before-{len(added)}.sqlite3"]


def test_the_drifts_of_an_older_tracker_are_still_there(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(MIGRATIONS, "_migrations", MIGRATIONS._migrations[:1])
        patched.setattr("tracker.store.database.SCHEMA", 1)
        with Database.open(file) as database:
            run, _ = runs.begin(database, 0)
            with database.writing() as db:
                db.execute(
                    "insert into drifts (entry, page, family, kinds, severity, certain, fingerprint, content, "
                    "base_commit, target_commit, first_run, last_run, first_seen, last_seen, confirmed, baseline) "
                    "values ('e', 'e.txt', 'meaning', '[]', 'error', 1, 'x', ?, 'b', 't', ?, ?, ?, ?, 1, 0)",
                    [_content(reworded("e")), run, run, stamp(0), stamp(0)],
                )
    with Database.open(file) as database:
        (found,) = open_drifts(database)
    assert (found.entry, found.base_commit, found.pin) == ("e", "b", "")


def test_the_version_of_the_schema_is_the_number_of_its_migrations() -> None:
    assert len(MIGRATIONS._migrations) == SCHEMA


def test_a_migration_that_was_killed_before_it_was_noted_is_noted(file: Path) -> None:
    with Database.open(file) as database:
        remember(database, name="value")
        database.connection.execute("pragma user_version = 0")
    found = Database.read(file)
    assert found is not None
    with found as database:
        assert fact(database, "name") == "value"
    with Database.open(file) as database:
        assert database.rows("pragma user_version") == [{"user_version": SCHEMA}]
        assert fact(database, "name") == "value"
    assert not list(file.parent.glob("*.before-*"))


def test_a_migration_that_fails_leaves_all_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Database.open(file) as database:
        remember(database, name="value")

    def half(db: object) -> None:
        db.execute("create table half (x)")  # type: ignore[attr-defined]
        db.execute("no sql")  # type: ignore[attr-defined]

    with monkeypatch.context() as patched:
        patched.setattr(MIGRATIONS, "_migrations", [*MIGRATIONS._migrations, MIGRATIONS._Migration("half", half)])
        patched.setattr("tracker.store.database.SCHEMA", len(MIGRATIONS._migrations))
        with pytest.raises(StoreError):
            Database.open(file)
    with Database.open(file) as database:
        assert not database.rows("select name from sqlite_master where name = 'half'")


def test_a_backup_holds_what_is_still_in_the_log(file: Path, tmp_path: Path) -> None:
    """R47."""
    with Database.open(file) as database:
        remember(database, name="value")
        database.backup(tmp_path / "copy.sqlite3")
    with Database.open(tmp_path / "copy.sqlite3") as copy:
        assert fact(copy, "name") == "value"


def test_a_full_disk_loses_nothing(file: Path) -> None:
    """Fault 27."""
    with Database.open(file) as database:
        remember(database, name="value")
        database.db.execute("pragma max_page_count = 40")
        with pytest.raises(StoreError, match="the disk is full"):
            remember(database, **{f"fact{number}": "x" * 4000 for number in range(1000)})
        assert fact(database, "fact0") is None
    with Database.open(file) as database:
        assert fact(database, "name") == "value"
        assert database.rows("pragma integrity_check") == [{"integrity_check": "ok"}]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_said(file: Path) -> None:
    """Fault 27."""
    file.parent.mkdir(parents=True)
    file.parent.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="cannot be written"):
            Database.open(file)
    finally:
        file.parent.chmod(0o700)


def test_a_writer_waits_for_another(file: Path) -> None:
    """Fault 26: no half run, and no error at once."""
    with Database.open(file) as database:
        remember(database, name="before")
        ready = threading.Event()

        def hold() -> None:
            other = sqlite3.connect(file, isolation_level=None)
            other.execute("begin immediate")
            other.execute("update facts set value = 'other'")
            ready.set()
            time.sleep(0.3)
            other.execute("commit")
            other.close()

        thread = threading.Thread(target=hold)
        thread.start()
        ready.wait()
        remember(database, name="after")
        thread.join()
        assert fact(database, "name") == "after"


def test_reading_needs_no_lock_and_makes_nothing(file: Path) -> None:
    assert Database.read(file) is None
    assert not file.parent.exists()


def _hold(state: Path, held: object, leave: object) -> None:
    with run_lock(state):
        held.set()  # type: ignore[attr-defined]
        leave.wait()  # type: ignore[attr-defined]


def test_one_run_at_a_time(tmp_path: Path) -> None:
    """Fault 29, R32: and the second says whose turn it is."""
    context = multiprocessing.get_context("spawn")
    held, leave = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path, held, leave))
    other.start()
    held.wait()
    with pytest.raises(LockedError, match=f"process {other.pid}") as error, run_lock(tmp_path):
        pass
    assert error.value.exit_code == 75
    other.kill()
    other.join()
    with run_lock(tmp_path):
        pass


def test_a_child_that_outlives_its_run_does_not_keep_the_lock(tmp_path: Path) -> None:
    """Fault 30: neither a program nor a worker that was forked."""
    script = (
        "import os, subprocess, sys, time\n"
        "from pathlib import Path\n"
        "from tracker.store.lock import run_lock\n"
        "with run_lock(Path(sys.argv[1])):\n"
        "    program = subprocess.Popen(['sleep', '30'])\n"
        "    worker = os.fork()\n"
        "    if not worker:\n"
        "        print(program.pid, os.getpid(), flush=True)\n"
        "        time.sleep(30)\n"
        "        os._exit(0)\n"
        "    time.sleep(30)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    children = [int(word) for word in run.stdout.readline().split()]
    run.kill()
    run.wait()
    run.stdout.close()
    try:
        with run_lock(tmp_path):
            pass
    finally:
        for child in children:
            os.kill(child, 9)


def _migrate(file: Path, go: object) -> None:
    go.wait()  # type: ignore[attr-defined]
    try:
        with run_lock(file.parent):
            Database.open(file).close()
    except LockedError:
        sys.exit(75)


def test_three_that_start_at_once_leave_a_right_schema(file: Path) -> None:
    """Fault 29."""
    context = multiprocessing.get_context("spawn")
    go = context.Event()
    processes = [context.Process(target=_migrate, args=(file, go)) for _ in range(3)]
    for process in processes:
        process.start()
    go.set()
    for process in processes:
        process.join()
    codes = sorted(process.exitcode for process in processes)
    assert codes[0] == 0
    assert set(codes) <= {0, 75}
    with Database.open(file) as database:
        assert not MIGRATIONS.pending(database.db)


def test_what_is_accepted_can_be_taken_back(file: Path) -> None:
    with Database.open(file) as database:
        acknowledgements.acknowledge(database, "e", "f", "because", "Ada", 1.0)
        acknowledgements.acknowledge(database, "e", "f", "really", "Ada", 2.0)
        acknowledgements.acknowledge(database, "e", "g", "too", "Ada", 3.0)
        assert [one.reason for one in acknowledgements.acknowledgements(database)] == ["really", "too"]
        assert acknowledgements.undo(database, "e", 4.0) == 2
        assert not acknowledgements.acknowledgements(database)
