"""The way from one revision to another, step by step: first-parent commits, or the releases in between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tracker.errors import GitError
from tracker.model import Cause, Revision
from tracker.repository.globs import scope
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import releases

# Pull requests are merged as `Merge pull request #123 from …` or squashed with `(#123)` at the end of the subject.
_REQUEST = re.compile(r"^Merge pull request #(\d+)\b|\(#(\d+)\)$")


@dataclass(frozen=True, slots=True)
class Change:
    """What a step did to a file. None: the file was not there, or is not there any more."""

    before: str | None
    after: str | None
    old: str | None
    """Blobs."""
    new: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """A commit, and the files in scope that it changed."""

    cause: Cause
    changes: tuple[Change, ...]


def steps(
    mirror: Mirror, base: Revision, target: Revision, paths: Sequence[str], exclude: Sequence[str]
) -> list[Step] | None:
    """The steps from `base` to `target`, oldest first; None where no way is known. GitError: git failed.

    Between two releases the steps are the releases of the mirror that lie between them by version; else the first
    parents of `target` back to what `base` holds, if `base` is one of its ancestors.
    """
    in_scope = scope(paths, exclude)
    # By what it is, not by its name: a pin can be the upstream commit that a release was built from.
    commits = [release.commit for release in releases(mirror)]
    if base.commit in commits and target.commit in commits:
        way = commits[commits.index(base.commit) : commits.index(target.commit) + 1]
        return [_between(mirror, a, b, in_scope) for a, b in pairwise(way)] if way else None
    if mirror.git("merge-base", "--is-ancestor", base.commit, target.commit).status:
        return None
    log = mirror.git(
        "log", "--first-parent", "--diff-merges=first-parent", "--reverse", *_FOLLOWED, f"--format={_FORMAT}",
        f"{base.commit}..{target.commit}",
    )  # fmt: skip
    if log.status:
        raise GitError(f"the history from {base.name} to {target.name} cannot be read: {log.err.strip()}")
    found = [_step(entry, in_scope) for entry in log.out.split(b"\x01")[1:]]
    first = mirror.commit(f"{found[0].cause.commit}^1") if found else None
    if first is not None and first != base.commit:
        # The first parents never meet the base itself: what else it holds is one step by itself.
        found.insert(0, _between(mirror, base.commit, first, in_scope))
    return [step for step in found if step.changes]


def first_parents(
    mirror: Mirror, base: str | None, target: str, paths: Sequence[str], exclude: Sequence[str]
) -> list[Step]:
    """Every first-parent commit behind `base` (None: from the root) up to `target`, oldest first, with or without
    changes. A file that moved is one that went and one that came. GitError: the history cannot be read.
    """
    log = mirror.git(
        "log", "--first-parent", "--diff-merges=first-parent", "--reverse", *_RAW, f"--format={_FORMAT}",
        f"{base}..{target}" if base is not None else target,
    )  # fmt: skip
    if log.status:
        raise GitError(f"the history up to {target[:12]} cannot be read: {log.err.strip()}")
    in_scope = scope(paths, exclude)
    return [_step(entry, in_scope) for entry in log.out.split(b"\x01")[1:]]


def in_turn(
    mirror: Mirror, base: str | None, commits: Sequence[str], paths: Sequence[str], exclude: Sequence[str]
) -> list[Step]:
    """The way from `base` (None: nothing at all) over each of the commits as one step. GitError: git failed."""
    in_scope = scope(paths, exclude)
    return [_between(mirror, a, b, in_scope, _RAW) for a, b in pairwise([base or _NOTHING, *commits])]


_NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The empty tree, which every git knows by its name."""
_RAW = ("--raw", "-z", "--no-abbrev", "--no-renames")
_FOLLOWED = ("--raw", "-z", "--no-abbrev", "-M")
_FORMAT = "%x01%H%x02%an%x02%cI%x02%s%x03"


def _between(
    mirror: Mirror, base: str, target: str, in_scope: Callable[[str], bool], raw: Sequence[str] = _FOLLOWED
) -> Step:
    """Everything between two commits as one step, in the name of the second."""
    head = mirror.git("show", "--no-patch", f"--format={_FORMAT}", target)
    tree = mirror.git("diff-tree", "-r", *raw, base, target)
    if head.status or tree.status:
        raise GitError(f"{base[:12]} and {target[:12]} cannot be compared: {(head.err or tree.err).strip()}")
    return _step(head.out.strip().lstrip(b"\x01") + tree.out, in_scope)


def _step(entry: bytes, in_scope: Callable[[str], bool]) -> Step:
    head, _, tree = entry.partition(b"\x03")
    commit, author, date, subject = head.decode("utf-8", "replace").split("\x02")
    request = _REQUEST.search(subject)
    cause = Cause(
        commit=commit,
        author=author,
        date=date,
        subject=subject,
        pull_request=int(request[1] or request[2]) if request else None,
    )
    return Step(cause, tuple(_changes(tree, in_scope)))


def _changes(tree: bytes, in_scope: Callable[[str], bool]) -> Iterator[Change]:
    fields = iter(tree.decode("utf-8", "surrogateescape").lstrip("\0\n").split("\0"))
    for field in fields:
        if not field.startswith(":"):
            continue
        mode_before, mode_after, old, new, status = field[1:].split(" ")
        before = after = next(fields)
        if status[0] in "RC":
            after = next(fields)
        # A regular file has a mode of 100…; the source of a copy stays what it is.
        is_old = mode_before.startswith("100") and status[0] != "C" and in_scope(before)
        is_new = mode_after.startswith("100") and in_scope(after)
        if is_old or is_new:
            yield Change(
                before=before if is_old else None,
                after=after if is_new else None,
                old=old if is_old else None,
                new=new if is_new else None,
            )
