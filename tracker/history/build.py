"""The index brought to the newest commit: from nothing, from where a killed build stopped, or over a few new commits.

Each batch of commits and the point to go on from are one transaction, so the tables are the same however often a
build was interrupted. Who reads the index needs nothing of this.
"""

from __future__ import annotations

import gc
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from tracker.errors import RevisionError
from tracker.history.follow import Follower, Taken
from tracker.history.releases import of_tags, of_versions
from tracker.history.standing import purpose, standing
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import Release as Imported
from tracker.repository.revisions import releases
from tracker.repository.steps import Step, first_parents, in_turn
from tracker.sections import Upstream
from tracker.store.history import FILE, Commit, Held, History
from tracker.store.lock import history_lock

BATCH = 500
"""Commits of one transaction: about a second's work."""
UNDO = 500
"""Commits behind the newest one up to which a rewritten branch can be followed without building anew."""
PARALLEL_FROM = 3000
"""Changed files from which a second process pays: it begins with reading all files of a commit (some 2 s)."""

Said = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What `extend` did."""

    commits: int
    """How many were taken in."""
    because: str | None = None
    """Why the index was built anew, if it was, in a few words."""


def refresh(
    mirror: Mirror,
    state: Path,
    upstream: Upstream,
    executor: Executor | None = None,
    progress: Said = lambda words: None,
) -> Outcome:
    """Bring the index in the folder `state` up to date; made if there is none. For whoever has just pulled.

    LockedError: another process is at it. The others as of `extend`.
    """
    with history_lock(state), History.open(state / FILE) as history:
        return extend(mirror, history, upstream, executor, progress)


class _Batch(NamedTuple):
    commits: list[Commit]
    taken: Taken
    files: list[Held]


def extend(
    mirror: Mirror,
    history: History,
    upstream: Upstream,
    executor: Executor | None = None,
    progress: Said = lambda words: None,
) -> Outcome:
    """Take in what the mirror has and the index has not: the branch's first parents, or without a branch the releases.

    After a force-push what is no longer on the branch is forgotten first. Can be killed at any moment and goes on
    from there. RevisionError: the mirror is empty. GitError, StoreError: it is unreadable, or the index unwritable.
    """
    now = standing(mirror, upstream)
    head = now.head
    imported = releases(mirror) if head is None else []
    if head is None and not imported:
        raise RevisionError("the mirror is empty: run `tracker pull`, or name a release such as `release:latest`")
    because = _prepare(history, purpose(upstream, head is not None))
    if head is not None:
        forked, steps = _new_commits(mirror, history, upstream, head)
    else:
        forked, steps = _new_releases(mirror, history, upstream, imported)
    if forked is not None and forked < history.tip:
        because = _forget(history, upstream, head, forked) or because
        if not history.tip:
            forked, steps = _all(mirror, upstream, head, imported)
    if not steps and history.facts().get("refs") == now.refs:
        return Outcome(commits=0, because=because)
    start = history.tip
    numbered = [(start + n, step) for n, step in enumerate(steps, 1)]
    _follow(mirror, history, upstream, numbered, executor if head is not None else None, progress)
    tip = history.tip
    placed = min(start, int(history.facts().get("placed", 0)))
    known = of_tags(mirror, history, upstream, placed) if head is not None else of_versions(history, imported)
    with history.writing():
        history.set_releases(known)
        history.forget_files(tip - UNDO)
        history.remember({"refs": now.refs, "placed": str(tip)})
    return Outcome(commits=len(steps), because=because)


def _prepare(history: History, wanted: dict[str, str]) -> str | None:
    """Empty tables where those that are there do not fit; why, if there were some."""
    found = history.facts()
    if wanted.items() <= found.items():
        return None
    with history.writing():
        history.make(wanted)
    if not found:
        return None
    if found.get("harvester") != wanted["harvester"]:
        return "the tracker reads sources otherwise than before"
    return "[upstream] says otherwise than before" if found.get("line") == wanted["line"] else "upstream was pulled"


def _new_commits(mirror: Mirror, history: History, upstream: Upstream, head: str) -> tuple[int | None, list[Step]]:
    """The position up to which the index and the branch agree (None: up to its tip), and the commits from there."""
    tip = history.commit_at(history.tip)
    if tip is None:
        return None, first_parents(mirror, None, head, upstream.paths, upstream.exclude)
    if tip.commit == head:
        return None, []
    if not mirror.git("merge-base", "--is-ancestor", tip.commit, head).status:
        steps = first_parents(mirror, tip.commit, head, upstream.paths, upstream.exclude)
        if steps and mirror.commit(f"{steps[0].cause.commit}^1") == tip.commit:
            return None, steps
    for commit in mirror.git("rev-list", "--first-parent", head).out.decode().split():
        if (position := history.position_of(commit)) is not None:
            return position, first_parents(mirror, commit, head, upstream.paths, upstream.exclude)
    return 0, first_parents(mirror, None, head, upstream.paths, upstream.exclude)


def _new_releases(
    mirror: Mirror, history: History, upstream: Upstream, imported: Sequence[Imported]
) -> tuple[int | None, list[Step]]:
    """The same where the line is that of the releases by version."""
    commits = [release.commit for release in imported]
    same = 0
    while same < len(commits) and (at := history.commit_at(same + 1)) is not None and at.commit == commits[same]:
        same += 1
    return same, in_turn(mirror, commits[same - 1] if same else None, commits[same:], upstream.paths, upstream.exclude)


def _all(
    mirror: Mirror, upstream: Upstream, head: str | None, imported: Sequence[Imported]
) -> tuple[int | None, list[Step]]:
    if head is not None:
        return None, first_parents(mirror, None, head, upstream.paths, upstream.exclude)
    commits = [release.commit for release in imported]
    return None, in_turn(mirror, None, commits, upstream.paths, upstream.exclude)


def _forget(history: History, upstream: Upstream, head: str | None, position: int) -> str | None:
    """Back to a position; where what was then is not known any more, to nothing, and why."""
    if position >= history.tip - UNDO:
        with history.writing():
            history.go_back(position)
        return None
    with history.writing():
        history.make(purpose(upstream, head is not None))
    return f"upstream rewrote more than {UNDO} commits" if head is not None else "older releases came into the mirror"


def _follow(
    mirror: Mirror,
    history: History,
    upstream: Upstream,
    steps: Sequence[tuple[int, Step]],
    executor: Executor | None,
    progress: Said,
) -> None:
    keep_from = steps[-1][0] - UNDO if steps else 0
    later: Future[_Later] | None = None
    half = len(steps)
    if executor is not None and (middle := _middle([step for _, step in steps])) is not None:
        half = middle
        later = executor.submit(
            _follow_later, mirror.path, upstream, steps[half - 1][1].cause.commit, steps[half:], keep_from
        )
    follower = Follower(mirror, upstream.asserts, history.held, history.next_error)
    told = _told(sum(_weight(step) for _, step in steps[:half]), progress)
    with _no_collector():
        for batch in _batches(follower, steps[:half], keep_from, told):
            _write(history, batch)
    if later is not None:
        found = later.result()
        errors = [error for _, held in sorted(history.files().items()) for unit in held.units for error in unit[0]]
        if found.begins != len(errors):
            # Not to be expected; commit by commit it is right in any case.
            _follow(mirror, history, upstream, steps[half:], None, progress)
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
        with _no_collector():
            begins = follower.begin({file.path: file.blob for file in files})
            return _Later(begins, list(_batches(follower, steps, keep_from, lambda step: None)))


@contextmanager
def _no_collector() -> Iterator[None]:
    """Without the collector of cycles: none are left behind here, and to look for them takes a sixth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


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


def _middle(steps: Sequence[Step]) -> int | None:
    """How many of the steps this process takes, so that another one, which begins with reading a whole commit, is
    ready at the same time; None: it would not pay.
    """
    work = list(accumulate(map(_weight, steps)))
    if not work or work[-1] < PARALLEL_FROM:
        return None
    return bisect_left(work, 0.66 * work[-1]) + 1


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
