"""Packing a mirror that many fetches have left in pieces: in the foreground, within a time, and never by git itself.

git would do it after a fetch, in the middle of a check, or in the background, where it outlives the lock.
"""

from __future__ import annotations

import os
from pathlib import Path

from tracker.errors import GitError
from tracker.repository import process
from tracker.repository.mirror import DOUBT, Mirror

PACKS = 50
LOOSE = 27
"""Packs, and loose objects in one of the 256 folders: more is too many for git, too (gc.autoPackLimit, gc.auto)."""


def in_pieces(path: Path) -> bool:
    """Whether a mirror should be packed; without a git command, for this is asked at every run."""
    return _count(path / "objects" / "pack", ".pack") > PACKS or _count(path / "objects" / "17", "") >= LOOSE


def _count(folder: Path, end: str) -> int:
    try:
        return sum(name.endswith(end) for name in os.listdir(folder))
    except FileNotFoundError:
        return 0


def pack(mirror: Mirror, timeout_s: float) -> None:
    """One pack, one file of refs; nothing is lost that a ref leads to, and nothing younger than two weeks.

    GitError: it took too long, the disk is full, or an object cannot be read, which leaves the mirror in doubt.
    """
    with mirror.writing() as lock:
        packing = process.start(mirror.path, "gc", "--quiet", hold=[lock])
        packing.stdin.close()
        result = process.watch(packing, timeout_s, lambda line: None)
    if result.status:
        (mirror.path / DOUBT).touch()
        raise GitError(f"the mirror could not be packed: {process.last_words(result.err)}")
