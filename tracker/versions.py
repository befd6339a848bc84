"""The versions of files along the steps, cut into pieces: other processes read them ahead of whoever follows the steps.

What they did not read, or cannot hand over, is read when it is asked for; the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tracker.harvest.pieces import Found, Key, Listing, Piece, Pieces, Reader
from tracker.model import Site
from tracker.repository.mirror import Mirror
from tracker.repository.steps import Step
from tracker.tasks import opened

WINDOW = 1_000
"""Versions of files that are read ahead at a time: while one window is followed, the next is read."""
TASK = 30
"""Versions from which on a task is large enough to be handed over."""

Known = Callable[[str, str], Sequence[Site] | None]
"""Path and blob -> the sites of that version of a file, where it has been harvested already."""

_Read = tuple[list[Listing], dict[Key, Found]]
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[_Read])


@dataclass(slots=True)
class _Chain:
    """The versions of one file in a window, oldest first, wherever it was moved."""

    before: str | None
    """The blob that came before them."""
    blobs: list[str] = field(default_factory=list)


class Versions:
    """The pieces of any version of a file."""

    def __init__(self, mirror: Mirror, known: Known, asserts: bool = False, executor: Executor | None = None) -> None:
        self._mirror, self._known, self._asserts, self._executor = mirror, known, asserts, executor
        self._pieces = Pieces(asserts)
        self._listings: dict[str, Listing] = {}

    def of(self, path: str, blob: str) -> tuple[Piece, ...]:
        """The pieces of a version that hold sites. GitError: it cannot be read."""
        known = self._known(path, blob)
        if known is None and blob in self._listings:
            listed = self._pieces.listed(self._listings[blob])
            if listed is not None:
                return listed
        return self._pieces.of(self._mirror.content(blob), known)

    def along(self, start: Mapping[str, str], steps: Sequence[Step], paths: set[str]) -> Iterator[Step]:
        """The steps, the versions of the files `paths` read ahead of each; `start`: path -> blob before the first."""
        if self._executor is None:
            yield from steps
            return
        last = {path: start[path] for path in paths if path in start}
        windows = list(_windows(steps, paths))
        chains = [self._chains(window, last, paths) for window in windows]
        reading = self._read_ahead(chains[0]) if chains else []
        for n, window in enumerate(windows):
            self._listings.clear()
            for some, future in reading:
                for chain, (listings, found) in zip(some, _unpacked(future.result()), strict=True):
                    self._listings.update(zip(chain.blobs, listings, strict=True))
                    self._pieces.add(found)
            reading = self._read_ahead(chains[n + 1]) if n + 1 < len(chains) else []
            yield from window

    def _chains(self, window: Sequence[Step], last: dict[str, str], paths: set[str]) -> list[_Chain]:
        """What is to be read for a window; `last` is brought on to its end."""
        growing: dict[str, _Chain] = {}
        for change in (change for step in window for change in step.changes if paths & {change.before, change.after}):
            chain = growing.pop(change.before, None) if change.before is not None else None
            before = last.pop(change.before, None) if change.before is not None else None
            if change.after is not None and change.new is not None:
                chain = chain or _Chain(before)
                if self._known(change.after, change.new) is None:
                    chain.blobs.append(change.new)
                growing[change.after] = chain
                last[change.after] = change.new

        return [chain for chain in growing.values() if chain.blobs]

    def _read_ahead(self, chains: Sequence[_Chain]) -> list[tuple[list[_Chain], Future[bytes | list[_Read]]]]:
        assert self._executor is not None
        tasks: list[list[_Chain]] = [[]]
        for chain in sorted(chains, key=lambda chain: -len(chain.blobs)):
            if sum(len(one.blobs) for one in tasks[-1]) >= TASK:
                tasks.append([])
            tasks[-1].append(chain)
        path, asserts = self._mirror.path, self._asserts
        return [
            (task, self._executor.submit(_read_at, path, [(one.before, one.blobs) for one in task], asserts))
            for task in tasks
            if task
        ]


def _windows(steps: Sequence[Step], paths: set[str]) -> Iterator[list[Step]]:
    window: list[Step] = []
    count = 0
    for step in steps:
        window.append(step)
        count += sum(bool(paths & {change.before, change.after}) for change in step.changes)
        if count >= WINDOW:
            yield window
            window, count = [], 0
    if window:
        yield window


def _unpacked(read: bytes | list[_Read]) -> list[_Read]:
    return _DECODER.decode(read) if isinstance(read, bytes) else read


def _read_at(path: Path, chains: Sequence[tuple[str | None, list[str]]], asserts: bool) -> bytes | list[_Read]:
    """In a worker, which reads the mirror itself."""
    mirror = opened(path)
    read = []
    for before, blobs in chains:
        reader = Reader(asserts)
        if before is not None:
            reader.first(mirror.content(before))
        read.append(([reader.next(raw) for _, raw in mirror.read(blobs)], reader.found))
    try:
        return _ENCODER.encode(read)
    except UnicodeEncodeError:  # odd escapes in messages
        return read
