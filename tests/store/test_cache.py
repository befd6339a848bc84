"""What is kept is found again by the same program alone; whatever is wrong with the file, nothing needs it."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.store import cache as module
from tracker.store.cache import Cache

VALUES = {b"a": b"one", b"b": b"", b"c": bytes(1000)}


def kept(path: Path, program: bytes = b"p") -> dict[bytes, bytes]:
    with Cache(path, program) as cache:
        names = {cache.name("value", key): key for key in VALUES}
        return {names[name]: value for name, value in cache.get(names).items()}


def keep(path: Path, program: bytes = b"p") -> None:
    with Cache(path, program) as cache:
        cache.put({cache.name("value", key): value for key, value in VALUES.items()})


def test_what_was_kept_is_found_by_the_same_program(tmp_path: Path) -> None:
    path = tmp_path / "state" / "cache.sqlite3"
    assert kept(path) == {}
    keep(path)
    assert kept(path) == VALUES
    assert kept(path, b"another") == {}


def test_many_at_once(tmp_path: Path) -> None:
    with Cache(tmp_path / "c", b"p") as cache:
        values = {cache.name(str(n)): str(n).encode() for n in range(2_500)}
        cache.put(values)
        assert cache.get(values) == values
        assert cache.get([]) == {}


def _raw(part: str | bytes) -> bytes:
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


@given(st.lists(st.text() | st.binary(), max_size=4), st.lists(st.text() | st.binary(), max_size=4))
def test_a_name_tells_the_parts_apart(some, others):
    cache = Cache.__new__(Cache)
    cache._program = b"p"
    parts = [list(map(_raw, some)), list(map(_raw, others))]
    assert (cache.name(*some) == cache.name(*others)) == (parts[0] == parts[1])


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all " * 100)


def _torn(path: Path) -> None:
    keep(path)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2] + b"\xff" * (len(raw) // 2))
    Path(f"{path}-wal").unlink(missing_ok=True)


def _somebody_elses(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("create table kept (key, value, sum, used)")
        db.execute("insert into kept values (x'00', 'mine', 0, 0)")
    db.close()


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("spoil", [_garbage, _torn, _somebody_elses, _folder])
def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path, spoil, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tracker.cache")
    path = tmp_path / "c"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    keep(path)
    found = kept(path)
    assert all(found[key] == VALUES[key] for key in found)
    assert f"{path}" in caplog.text
    if spoil in (_garbage, _somebody_elses):
        assert path.read_bytes() == before


def test_an_empty_file_becomes_one(tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_bytes(b"")
    keep(path)
    assert kept(path) == VALUES


def test_a_value_that_was_changed_on_the_disk_is_not_believed(tmp_path: Path) -> None:
    keep(tmp_path / "c")
    with sqlite3.connect(tmp_path / "c") as db:
        assert db.execute("update kept set value = x'00' where length(value) = 3").rowcount == 1
    db.close()
    assert kept(tmp_path / "c") == {key: value for key, value in VALUES.items() if key != b"a"}


def test_where_nothing_can_be_made_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    keep(tmp_path / "file" / "c")
    assert kept(tmp_path / "file" / "c") == {}


def test_another_writer_is_not_waited_for_long(tmp_path: Path) -> None:
    path = tmp_path / "c"
    keep(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    began = time.monotonic()
    with Cache(path, b"p") as cache:
        cache.put({cache.name("new"): b"x"})
        assert cache.get([cache.name("new")]) == {}
        assert cache.get([cache.name("value", b"a")]) == {cache.name("value", b"a"): b"one"}
        other.execute("rollback")
        cache.put({cache.name("new"): b"x"})
        assert cache.get([cache.name("new")]) == {cache.name("new"): b"x"}
    other.close()
    assert time.monotonic() - began < 20


def test_many_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c"

    def write(who: int) -> None:
        with Cache(path, b"p") as cache:
            for n in range(20):
                cache.put({cache.name(str(who), str(n)): f"{who} {n}".encode()})

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Cache(path, b"p") as cache:
        names = {cache.name(str(who), str(n)): f"{who} {n}".encode() for who in range(4) for n in range(20)}
        found = cache.get(names)
        assert found.items() <= names.items()
        assert found


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c"
    with Cache(path, b"p") as cache:
        cache.put({cache.name("old", str(n)): os.urandom(4000) for n in range(50)})
    monkeypatch.setattr(module.time, "time", lambda: time.mktime((2030, 1, 1, 0, 0, 0, 0, 0, 0)))
    with Cache(path, b"p") as cache:
        used = [cache.name("old", str(n)) for n in range(10)]
        assert len(cache.get(used)) == 10
        monkeypatch.setattr(module, "LIMIT", 150_000)
        cache.put({cache.name("new", str(n)): os.urandom(4000) for n in range(10)})
        fresh = [cache.name("new", str(n)) for n in range(10)]
        assert len(cache.get([*used, *fresh])) == 20
        assert len(cache.get(cache.name("old", str(n)) for n in range(50))) < 50
