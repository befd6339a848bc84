"""Commits taken in batch by batch: in this process, and from a later one on in another process, where that pays.

Each batch is one transaction, and where batches end depends on nothing but the position, so that the tables are the
same however a build came to its end.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from tracker.collector import no_collector
from tracker.history.follow import Follower, Taken
from tracker.repository.mirror import Mirror
from tracker.repository.steps import Step
from tracker.sections import Upstream
from tracker.store.history import History
from tracker.store.timeline import Commit, Held

BATCH = 500
"""Commits of one transaction: about a second's work."""
PARALLEL_FROM = 3000
"""Changed files from which a second process pays: it begins with reading all files of a commit (some 2 s)."""

Said = Callable[[str], None]


class _Batch(NamedTuple):
    """What some commits in a row did."""

    commits: list[Commit]
    taken: Taken
    files: list[Held]


def take_in(
    mirror: Mirror,
    history: History,
    upstream: Upstream,
    steps: Sequence[tuple[int, Step]],
    keep_from: int,
    executor: Executor | None,
    progress: Said,
) -> None:
    """Follow the steps at their positions and write what they did. Behind `keep_from`, what files held is kept for
    every commit. GitError, StoreError.
    """
    later: Future[_Later] | None = None
    half = len(steps)
    if executor is not None and (middle := _middle(steps)) is not None:
        half = middle
        later = executor.submit(
            _follow_later, mirror.path, upstream, steps[half - 1][1].cause.commit, steps[half:], keep_from
        )
    follower = Follower(mirror, upstream.asserts, history.held, history.next_error)
    told = _told(sum(_weight(step) for _, step in steps[:half]), progress)
    with no_collector():
        for batch in _batches(follower, steps[:half], keep_from, told):
            _write(history, batch)
    if later is not None:
        found = later.result()
        errors = [error for _, held in sorted(history.files().items()) for unit in held.units for error in unit[0]]
        if found.begins != len(errors):
            # Not to be expected; commit by commit it is right in any case.
            take_in(mirror, history, upstream, steps[half:], keep_from, None, progress)
            return
        # Its own numbers begin with what was there at its first commit.
        shift = history.next_error - len(errors) - 1
        for batch in found.batches:
            _write(history, _renumbered(batch, lambda n: errors[n - 1] if n <= len(errors) else n + shift))


class _Later(NamedTuple):
    """What another process made of the later commits, in numbers of its own."""

    begins: int
    """How many sites there were at its first commit: they have the first numbers, by path and line."""
    batches: list[_Batch]


def _follow_later(
    mirror: Path, upstream: Upstream, commit: str, steps: Sequence[tuple[int, Step]], keep_from: int
) -> _Later:
    with Mirror.open(mirror, create=False) as opened:
        follower = Follower(opened, upstream.asserts, lambda path: None, 1)
        files = opened.files(commit, upstream.paths, upstream.exclude)
        with no_collector():
            begins = follower.begin({file.path: file.blob for file in files})
            return _Later(begins, list(_batches(follower, steps, keep_from, lambda step: None)))


def _renumbered(batch: _Batch, number: Callable[[int], int]) -> _Batch:
    return _Batch(
        batch.commits,
        Taken(
            [span._replace(error=number(span.error)) for span in batch.taken.spans],
            [(number(error), position) for error, position in batch.taken.ends],
        ),
        [
            held._replace(
                units=[([number(error) for error in errors], asked, called) for errors, asked, called in held.units]
            )
            for held in batch.files
        ],
    )


def _middle(steps: Sequence[tuple[int, Step]]) -> int | None:
    """How many of the steps this process takes, so that another one, which begins with reading a whole commit, is
    ready at the same time; None: it would not pay. They end where a batch ends.
    """
    work = list(accumulate(_weight(step) for _, step in steps))
    if not work or work[-1] < PARALLEL_FROM:
        return None
    middle = bisect_left(work, 0.66 * work[-1]) + 1
    return middle - steps[middle - 1][0] % BATCH or None


def _weight(step: Step) -> int:
    return len(step.changes)


def _told(work: int, progress: Said) -> Callable[[Step], None]:
    """Says now and then how much of the work is done, and how long the rest will take."""
    began = said = time.monotonic()
    done = 0

    def told(step: Step) -> None:
        nonlocal done, said
        done += _weight(step)
        if (now := time.monotonic()) - said >= 0.5 and done:
            said = now
            progress(f"{done / work:.0%}, {_span((now - began) * (work - done) / done)} left")

    return told


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _write(history: History, batch: _Batch) -> None:
    with history.writing():
        history.add(batch.commits, batch.taken.spans, batch.taken.ends, batch.files)


def _batches(
    follower: Follower, steps: Sequence[tuple[int, Step]], keep_from: int, told: Callable[[Step], None]
) -> Iterator[_Batch]:
    """Where batches end does not depend on where a build begins; what files hold is told where they last changed."""
    batch = _Batch([], Taken([], []), [])
    changed: dict[str, int] = {}
    for position, step, taken in follower.along(steps):
        batch.commits.append(Commit(position, step.cause))
        batch.taken.spans.extend(taken.spans)
        batch.taken.ends.extend(taken.ends)
        changed |= {path: position for change in step.changes for path in (change.before, change.after) if path}
        done = position % BATCH == 0 or position == steps[-1][0]
        if done or position >= keep_from:
            batch.files.extend(follower.files.held(path, since) for path, since in sorted(changed.items()))
            changed = {}
        told(step)
        if done:
            yield batch
            batch = _Batch([], Taken([], []), [])
