"""A mirror that is damaged, filled anew from upstream beside the old one, which is put aside and not thrown away.

What only the old one had (releases, pins, commits that upstream rewrote) comes along where it can still be read.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tracker.repository import process
from tracker.repository.fetch import PullResult, pull
from tracker.repository.mirror import Mirror, is_ours

OWN_REFS = "refs/tracker/"
"""What no upstream has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """A mirror that was filled anew."""

    pulled: PullResult
    aside: Path
    """Where the old one is now."""
    lost: tuple[str, ...]
    """Releases, pins and the like that could not be read in the old one."""

    def words(self, why: str) -> str:
        """What happened, and why, on one line."""
        lost = f"; {', '.join(self.lost)} could not be carried over" if self.lost else ""
        return f"the mirror was damaged ({why}) and was filled anew; the old one is {self.aside}{lost}"


def damage(path: Path) -> str | None:
    """What is wrong with a mirror, in git's own words; None where nothing is found, or where it is no mirror of ours.

    Every object is read, which for the whole of JAX takes 20 s: for whoever has a reason to doubt.
    """
    if not is_ours(path):
        return None
    if process.run(path, "rev-parse", "--is-bare-repository").out.strip() != b"true":
        return "it is no git repository any more"
    checked = process.run(path, "fsck", "--no-dangling", "--no-progress")
    return process.last_words(checked.err or checked.out.decode("utf-8", "replace")) if checked.status else None


def renew(
    path: Path,
    url: str,
    branch: str,
    *,
    timeout_s: float = 3600,
    progress: Callable[[str], None] = lambda line: None,
) -> Renewed:
    """Fill the mirror at `path` anew. GitError: upstream cannot be had; then the old one stays where it is."""
    making = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    aside = path.with_name(f"{path.name}.damaged")
    try:
        with Mirror.open(making / path.name) as mirror:
            pulled = pull(mirror, url, branch, timeout_s=timeout_s, progress=progress)
            lost = _carried_over(path, mirror)
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
        # Who dies here leaves no mirror at all, and the next pull makes one.
        (making / path.name).rename(path)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return Renewed(pulled=pulled, aside=aside, lost=lost)


def _carried_over(old: Path, mirror: Mirror) -> tuple[str, ...]:
    """Bring the old mirror's own refs into the new one -> those whose commits cannot be read."""
    listed = process.run(old, "for-each-ref", "--format=%(refname)", OWN_REFS)
    names = listed.out.decode("utf-8", "replace").splitlines()
    lost = []
    for name in names:
        brought = mirror.git("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(old), f"+{name}:{name}")
        if brought.status:
            lost.append(name.removeprefix(OWN_REFS))
    return tuple(lost)
