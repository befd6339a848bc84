"""A process that is killed at its n-th step: before or after any request, before or after any transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.filing.desk import Desk
from tracker.filing.deliver import Delivery
from tracker.store.database import Database


class Killed(BaseException):
    """Nothing of the process runs any more."""


class Steps:
    """Counts the steps of a process, and ends it at one of them."""

    def __init__(self, last: int | None) -> None:
        self.taken: list[str] = []
        self._last = last

    def __call__(self, name: str) -> None:
        self.taken.append(name)
        if self._last is not None and len(self.taken) > self._last:
            raise Killed(name)


@contextmanager
def killed_at(steps: Steps, patch: Any) -> Iterator[None]:
    """While the block runs, every effect is a step."""
    writing, client = Database.writing, httpx.Client

    @contextmanager
    def stepped(self: Database) -> Iterator[sqlite3.Connection]:
        steps("before a transaction")
        with writing(self) as db:
            yield db
            steps("before a commit")
        steps("after a commit")

    class Client(client):  # type: ignore[misc, valid-type]
        def send(self, request: httpx.Request, **more: Any) -> httpx.Response:
            steps(f"before {request.method}")
            answer = super().send(request, **more)
            steps(f"after {request.method}")
            return answer

    with patch.context() as patched:
        patched.setattr(Database, "writing", stepped)
        patched.setattr("tracker.github.transport.httpx.Client", Client)
        yield


def deliver_killed(desk: Desk, last: int | None, patch: Any) -> tuple[Delivery | None, Steps]:
    """A delivery that is killed after so many steps, or not (None); the next process finds the database as it is."""
    steps = Steps(last)
    try:
        with killed_at(steps, patch):
            return desk.deliver(), steps
    except Killed:
        return None, steps
    finally:
        desk.reopen_database()


@contextmanager
def full_after(commits: int | None, patch: Any) -> Iterator[list[int]]:
    """While the block runs, the disk is full from the commit after so many (None: never).

    Yields a list with an item for each commit that was tried.
    """
    writing = Database.writing
    tried: list[int] = []

    @contextmanager
    def filling(self: Database) -> Iterator[sqlite3.Connection]:
        with writing(self) as db:
            yield db
            tried.append(len(tried))
            if commits is not None and len(tried) > commits:
                raise sqlite3.OperationalError("database or disk is full")

    with patch.context() as patched:
        patched.setattr(Database, "writing", filling)
        yield tried
