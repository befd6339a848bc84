"""Locks: one run at a time of every way to start one (cron, daemon, a person), and one writer of the history."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tracker.errors import LockedError

_held: set[int] = set()


def _let_go() -> None:
    while _held:
        os.close(_held.pop())


# Programs that are started do not inherit the lock (Python opens files so); workers that are forked do, and would
# keep it after a killed run.
os.register_at_fork(after_in_child=_let_go)


def run_lock(state: Path) -> AbstractContextManager[None]:
    """Held while the block runs; the system lets go of it with the process, however that ends.

    LockedError: another process holds it; its number is in the line.
    """
    return _locked(state / "run.lock", "another run is under way{}; this one does nothing")


def history_lock(state: Path) -> AbstractContextManager[None]:
    """The same for whoever writes the index of the history."""
    return _locked(state / "history.lock", "another tracker is reading the history{}: wait for it, and run it again")


@contextmanager
def _locked(file: Path, said: str) -> Iterator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
            raise LockedError(said.format(f" (process {holder})" if holder else "")) from None
        os.truncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        _held.add(lock)
        yield
    finally:
        _held.discard(lock)
        os.close(lock)
