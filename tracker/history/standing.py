"""What an index was made for, and whether it is up to date. Light: a query that finds it so needs nothing else."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tracker.repository.mirror import Mirror
from tracker.sections import Upstream
from tracker.store.history import History


class Standing(NamedTuple):
    """Where the mirror stands."""

    head: str | None
    """Of the branch; None: it was never pulled, and there are only releases."""
    refs: str
    """A hash of all that the index depends on: head, tags, releases."""


def standing(mirror: Mirror, upstream: Upstream) -> Standing:
    """Where the mirror stands now."""
    branch = f"refs/heads/{upstream.branch}"
    listed = mirror.git(
        "for-each-ref", "--format=%(objectname) %(refname)", branch, "refs/tags", "refs/tracker/releases"
    ).out
    heads = [line.split()[0] for line in listed.decode("utf-8", "replace").splitlines() if line.endswith(f" {branch}")]
    return Standing(heads[0] if heads else None, hashlib.sha256(listed).hexdigest()[:16])


def purpose(upstream: Upstream, branch: bool) -> dict[str, str]:
    """What an index of today is made for: with what it was read, which files, and along what."""
    return {
        "harvester": _version(),
        "scope": repr((upstream.paths, upstream.exclude, upstream.asserts)),
        "line": "first parents" if branch else "releases",
    }


def is_current(history: History, mirror: Mirror, upstream: Upstream) -> bool:
    """Whether the index says all that the mirror has to say."""
    return can_go_on(history, mirror, upstream) and history.facts().get("refs") == standing(mirror, upstream).refs


def can_go_on(history: History, mirror: Mirror, upstream: Upstream) -> bool:
    """Whether what the index has is right, so that only what is new has to be read."""
    return purpose(upstream, standing(mirror, upstream).head is not None).items() <= history.facts().items()


@cache
def _version() -> str:
    """A hash of all that decides what a site is, who is who and what differs."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    files = [*package.glob("harvest/*.py"), *package.glob("compare/*.py"), package / "message.py", package / "model.py"]
    for file in sorted([*files, *(Path(__file__).with_name(name) for name in ("files.py", "follow.py"))]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
