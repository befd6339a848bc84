"""How far along the line of first parents each release reaches.

Release tags stand on branches of their own: a release holds what its branch had when it left the main one, that is the
newest first-parent commit among the tag's ancestors. What was picked onto the branch afterwards counts as of the
release after it. The order is that of the versions: 0.4.38.1 can be tagged long after 0.5.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from packaging.version import InvalidVersion, Version

from tracker.errors import GitError
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import Release as Imported
from tracker.sections import Upstream
from tracker.store.history import History
from tracker.store.timeline import Release


def of_tags(mirror: Mirror, history: History, upstream: Upstream, unchanged: int) -> list[Release]:
    """The releases among the tags (`jax-v0.6.0`, or `v0.6.0` where the package has none by name), oldest first.

    What the index knows of releases that left the line before the position `unchanged` is still so.
    """
    tags = _versions(mirror, upstream.package)
    known = {(one.version, one.commit): one.position for one in history.releases() if one.position < unchanged}
    positions = {commit: known[key] for version, commit, _ in tags if (key := (str(version), commit)) in known}
    positions |= _positions(mirror, history, sorted({commit for _, commit, _ in tags} - positions.keys()))
    found = sorted((version, commit, date) for version, commit, date in tags if commit in positions)
    return [
        Release(str(version), rank, positions[commit], date, commit)
        for rank, (version, commit, date) in enumerate(found, 1)
    ]


def of_versions(history: History, imported: Sequence[Imported]) -> list[Release]:
    """The same where each release is a commit of the line."""
    return [Release(one.version, n, n, one.committed_at, one.commit) for n, one in enumerate(imported, 1)]


def _versions(mirror: Mirror, package: str) -> list[tuple[Version, str, str]]:
    """Version, commit and date of each tag that is a release; pre-releases are none."""
    listing = mirror.git(
        "for-each-ref", "--format=%(refname:lstrip=2)%00%(objectname)%00%(*objectname)%00%(creatordate:iso-strict)",
        "refs/tags",
    )  # fmt: skip
    rows = [line.split("\0") for line in listing.out.decode("utf-8", "replace").splitlines()]
    for prefix in (f"{package}-v", "v"):
        found: dict[Version, tuple[Version, str, str]] = {}
        for name, tag, commit, date in rows:
            match = re.fullmatch(re.escape(prefix) + r"(\d.*)", name)
            try:
                version = Version(match[1]) if match else None
            except InvalidVersion:
                version = None
            if version is not None and not version.is_prerelease:
                found[version] = (version, commit or tag, date)
        if found:
            return list(found.values())
    return []


def _positions(mirror: Mirror, history: History, commits: Sequence[str]) -> dict[str, int]:
    """Commit -> position of the newest first-parent commit that it holds; without those that hold none."""
    positions = {commit: at for commit in commits if (at := history.position_of(commit)) is not None}
    beside = [commit for commit in commits if commit not in positions]
    tip = history.commit_at(history.tip)
    if not beside or tip is None:
        return positions
    listed = mirror.git("rev-list", "--parents", *beside, f"^{tip.commit}")
    if listed.status:
        raise GitError(f"the releases in {mirror.path} cannot be placed: {listed.err.strip()}")
    parents = {line.split()[0]: line.split()[1:] for line in listed.out.decode().splitlines()}
    for commit in beside:
        # Back over what the branch has by itself, to where it left.
        waiting, seen, found = [commit], {commit}, 0
        while waiting:
            for parent in parents.get(waiting.pop(), ()):
                if (at := history.position_of(parent)) is not None:
                    found = max(found, at)
                elif parent not in parents:
                    found = max(found, position_under(mirror, history, parent))
                elif parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        if commit not in parents:
            found = position_under(mirror, history, commit)
        if found:
            positions[commit] = found
    return positions


def position_under(mirror: Mirror, history: History, commit: str) -> int:
    """Position of the newest first-parent commit that a commit holds, itself included; 0: none."""
    if (at := history.position_of(commit)) is not None:
        return at
    for many in (_NEAR, _FAR):
        ancestors = mirror.git("rev-list", f"--max-count={many}", commit).out.decode().split()
        if found := max((history.position_of(ancestor) or 0 for ancestor in ancestors), default=0):
            return found
    return 0


_NEAR, _FAR = 500, 1_000_000
"""Commits that are looked through for one of the line, newest first: nearly always it is among the first."""
