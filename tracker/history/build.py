"""The index brought to the newest commit: from nothing, from where a killed build stopped, or over a few new commits.

Each batch of commits and the point to go on from are one transaction, so the tables are the same however often a
build was interrupted. Who reads the index needs nothing of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from tracker.errors import RevisionError
from tracker.history.batches import Said, take_in
from tracker.history.releases import of_tags, of_versions
from tracker.history.standing import purpose, standing
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import Release as Imported
from tracker.repository.revisions import releases
from tracker.repository.steps import Step, first_parents, in_turn
from tracker.sections import Upstream
from tracker.store.history import FILE, History
from tracker.store.lock import history_lock

UNDO = 500
"""Commits behind the newest one up to which a rewritten branch can be followed without building anew."""


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
    take_in(mirror, history, upstream, numbered, start + len(steps) - UNDO, executor, progress)
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
