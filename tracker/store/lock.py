"""The lock that makes one run at a time of every way to start one: cron, daemon, a person."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracker.errors import LockedError

_held: set[int] = set()


def _let_go() -> None:
    while _held:
        os.close(_held.pop())


# Programs that are started do not inherit the lock (Python opens files so); workers that are forked do, and would
# keep it after a killed run.
os.register_at_fork(after_in_child=_let_go)


@contextmanager
def run_lock(state: Path) -> Iterator[None]:
    """Held while the block runs; the system lets go of it with the process, however that ends.

    LockedError: another process holds it; its number is in the line.
    """
    state.mkdir(parents=True, exist_ok=True)
    lock = os.open(state / "run.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
            who = f" (process {holder})" if holder else ""
            raise LockedError(f"another run is under way{who}; this one does nothing") from None
        os.truncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        _held.add(lock)
        yield
    finally:
        _held.discard(lock)
        os.close(lock)
