"""The versions of files along the steps, cut into pieces: read ahead of whoever follows the steps, file by file.

In other processes where there are some; the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, Future
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracker.harvest.pieces import AS_BEFORE, NOTHING_OWED, NOTHING_SETTLED, Entry, Owed, Piece, Reader, pieces, texts
from tracker.harvest.reading import Parts
from tracker.harvest.sites import Harvest
from tracker.model import Site
from tracker.repository.mirror import Mirror
from tracker.repository.steps import Step
from tracker.tasks import Named, opened

WINDOW = 1_000
"""Versions of files that are read ahead at a time: while one window is followed, the next is read."""
TASK = 30
"""Versions from which on a task is large enough to be handed over."""

Known = Callable[[str, str], Harvest | None]
"""Path and blob -> the harvest of that version of a file, where there is one already."""


class _Chain(NamedTuple):
    """The versions of one file in a window, oldest first, wherever it was moved."""

    before: Named | None
    """The version that came before them."""
    versions: list[Named]


class _Task(NamedTuple):
    """Chains to be read."""

    chains: list[_Chain]
    owed: list[Owed | None]
    """For each, what is owed to the module of the version before; None: it is read from nothing."""
    settled: list[Set[str]]
    """For each, what need not be read."""


class _Read(NamedTuple):
    """What was read of a chain."""

    versions: list[list[Entry]]
    found: list[tuple[Site, ...]]
    """What the entries point to."""
    owed: Owed
    is_cut: bool
    """Whether the last version was read piece by piece, so that the next can be read from there."""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[_Read])


class Versions:
    """The pieces of any version of a file."""

    def __init__(
        self,
        mirror: Mirror,
        known: Known,
        settled: Mapping[str, Set[str]],
        asserts: bool = False,
        executor: Executor | None = None,
    ) -> None:
        """`settled`: path -> what in it is nobody's question, and left out of all its versions."""
        self._mirror, self._known, self._asserts, self._executor = mirror, known, asserts, executor
        self._settled = settled
        self._parts = Parts(asserts)
        self._read: dict[Named, tuple[Piece, ...]] = {}
        """Of this window."""
        self._ends: dict[Named, tuple[tuple[Piece, ...], Owed]] = {}
        """Versions that can be read on from: the last of each chain, and those that are known already."""
        self._readers: dict[str, Reader] = {}
        """Of files that came in on the way, by path."""

    def of(self, path: str, blob: str) -> tuple[Piece, ...]:
        """The pieces of a version that hold sites. GitError: it cannot be read."""
        if (known := self._known(path, blob)) is not None:
            return pieces(self._mirror.content(blob), known.sites, self._asserts, self._settled_in(path))
        if (path, blob) not in self._read:
            if path not in self._readers:
                self._readers[path] = Reader(self._parts, settled=self._settled_in(path))
            reader = self._readers[path]
            self._read[path, blob] = _pieces(reader.next(self._mirror.content(blob)), reader.found, ())
        return self._read[path, blob]

    def _settled_in(self, path: str) -> Set[str]:
        return self._settled.get(path, NOTHING_SETTLED)

    def differ(self, old: str | None, new: str | None) -> bool:
        """Whether two versions of a file (None: there is none) differ where sites can be. GitError: as of `of`."""
        ours, theirs = (texts(self._mirror.content(blob), self._asserts) if blob else [] for blob in (old, new))
        return ours != theirs

    def along(self, start: Mapping[str, str], steps: Sequence[Step], paths: set[str]) -> Iterator[Step]:
        """The steps, the versions of the files `paths` read ahead of each; `start`: path -> blob before the first."""
        last = {path: start[path] for path in paths if path in start}
        windows = list(_windows(steps, paths))
        chains = [self._chains(window, last, paths) for window in windows]
        reading = self._read_ahead(chains[0]) if chains else []
        for n, window in enumerate(windows):
            self._read.clear()
            for task, result in reading:
                for chain, owed, read in zip(task.chains, task.owed, result(), strict=True):
                    self._take(chain, owed, read)
            reading = self._read_ahead(chains[n + 1]) if n + 1 < len(chains) else []
            yield from window

    def _chains(self, window: Sequence[Step], last: dict[str, str], paths: set[str]) -> list[_Chain]:
        """What is to be read for a window; `last` is brought on to its end."""
        growing: dict[str, _Chain] = {}
        for change in (change for step in window for change in step.changes if paths & {change.before, change.after}):
            chain, before = None, None
            if change.before is not None:
                chain = growing.pop(change.before, None)
                blob = last.pop(change.before, None)
                before = (change.before, blob) if blob is not None else None
            if change.after is not None and change.new is not None:
                chain = chain or _Chain(before, [])
                if self._known(change.after, change.new) is None:
                    chain.versions.append((change.after, change.new))
                growing[change.after] = chain
                last[change.after] = change.new
        return [chain for chain in growing.values() if chain.versions]

    def _read_ahead(self, chains: Sequence[_Chain]) -> list[tuple[_Task, Callable[[], list[_Read]]]]:
        """What is to be read, and how to come by it: from another process, or by doing it then."""
        tasks = [_Task([], [], [])]
        for chain in sorted(chains, key=lambda chain: -len(chain.versions)):
            if sum(len(one.versions) for one in tasks[-1].chains) >= TASK:
                tasks.append(_Task([], [], []))
            tasks[-1].chains.append(chain)
            tasks[-1].owed.append(self._owed(chain))
            tasks[-1].settled.append(self._settled_in(chain.before[0]) if chain.before is not None else NOTHING_SETTLED)
        if self._executor is None:
            return [(task, partial(_read, self._mirror, task, self._parts)) for task in tasks]
        path, asserts = self._mirror.path, self._asserts
        running = [self._executor.submit(_read_at, path, task, asserts) for task in tasks if task.chains]
        return [(task, partial(_result, future)) for task, future in zip(tasks, running, strict=False)]

    def _owed(self, chain: _Chain) -> Owed | None:
        """What is owed to the module of the version before a chain; None: it cannot be read on from there."""
        if chain.before is None:
            return None
        if chain.before not in self._ends:
            known = self._known(*chain.before)
            if known is None or known.problem is not None:
                return None
            self._ends[chain.before] = self.of(*chain.before), Owed(known.asked, known.called)
        return self._ends[chain.before][1]

    def _take(self, chain: _Chain, owed: Owed | None, read: _Read) -> None:
        before = self._ends[chain.before][0] if owed is not None and chain.before is not None else ()
        for version, entries in zip(chain.versions, read.versions, strict=True):
            self._read[version] = _pieces(entries, read.found, before)
        if read.is_cut:
            self._ends[chain.versions[-1]] = self._read[chain.versions[-1]], read.owed


def _pieces(entries: Iterable[Entry], found: Sequence[tuple[Site, ...]], before: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces of a version that hold sites; `before` are those of the version that was known."""
    known = {piece.key: piece.sites for piece in before}
    read = (Piece(key, line, known.get(key, ()) if at == AS_BEFORE else found[at]) for key, line, at in entries)
    return tuple(piece for piece in read if piece.sites)


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


def _read(mirror: Mirror, task: _Task, parts: Parts) -> list[_Read]:
    read = []
    for chain, owed, settled in zip(*task, strict=True):
        first = mirror.content(chain.before[1]) if owed is not None and chain.before is not None else None
        reader = Reader(parts, first, owed or NOTHING_OWED, settled)
        versions = [reader.next(raw) for _, raw in mirror.read(blob for _, blob in chain.versions)]
        read.append(_Read(versions, reader.found, reader.owed, reader.is_cut))
    return read


def _read_at(path: Path, task: _Task, asserts: bool) -> bytes | list[_Read]:
    """The same in a worker, which reads the mirror itself."""
    read = _read(opened(path), task, _parts(asserts))
    try:
        return _ENCODER.encode(read)
    except UnicodeEncodeError:  # odd escapes in messages
        return read


@lru_cache(maxsize=1)
def _parts(asserts: bool) -> Parts:
    """What is remembered of them, for the whole life of a worker."""
    return Parts(asserts)


def _result(reading: Future[bytes | list[_Read]]) -> list[_Read]:
    read = reading.result()
    return _DECODER.decode(read) if isinstance(read, bytes) else read
