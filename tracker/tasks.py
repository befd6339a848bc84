"""What is read of a mirror for a snapshot, here or in another process.

A worker opens the mirror itself: little is handed to it, and an interrupted run never waits for a full pipe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tracker.harvest.kept import pack, unpack_all
from tracker.harvest.link import link
from tracker.harvest.sites import Harvest, harvest, problem_of
from tracker.repository.mirror import Mirror

Named = tuple[str, str]
"""A file's path and blob: what its harvest depends on."""
Packed = bytes | Harvest
"""A harvest on its way between processes: as itself only where it cannot be packed."""


def harvested(mirror: Mirror, names: Sequence[Named], asserts: bool) -> list[tuple[Named, Harvest]]:
    """The harvest of each of these files."""
    blobs = mirror.read(blob for _, blob in names)
    return [(name, harvest(name[0], raw, asserts)) for name, (_, raw) in zip(names, blobs, strict=True)]


def problems(mirror: Mirror, names: Sequence[Named]) -> dict[Named, str]:
    """What is wrong with these files; empty where nothing is."""
    blobs = mirror.read(blob for _, blob in names)
    return {name: problem_of(raw) or "" for name, (_, raw) in zip(names, blobs, strict=True)}


def linked(mirror: Mirror, blobs: Mapping[str, str], harvests: Mapping[str, Harvest]) -> dict[str, Harvest]:
    """The harvests of those files whose texts stand in other files, completed."""

    def read(path: str) -> bytes | None:
        return mirror.content(blobs[path]) if path in blobs else None

    return {path: found for path, found in link(harvests, read).items() if found is not harvests[path]}


@lru_cache(maxsize=1)
def opened(path: Path) -> Mirror:
    """The mirror, for the whole life of a worker."""
    return Mirror.open(path, create=False)


def harvested_at(path: Path, names: Sequence[Named], asserts: bool) -> list[tuple[Named, Packed]]:
    """`harvested`, in a worker."""
    return [(name, pack(found) or found) for name, found in harvested(opened(path), names, asserts)]


def problems_at(path: Path, names: Sequence[Named]) -> dict[Named, str]:
    """`problems`, in a worker."""
    return problems(opened(path), names)


def linked_at(path: Path, blobs: Mapping[str, str], packed: bytes) -> dict[str, Harvest]:
    """`linked`, in a worker; `packed` are the harvests."""
    return linked(opened(path), blobs, unpack_all(packed) or {})
