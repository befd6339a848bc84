"""What became of sites step by step: who each of them is at the end, and which step changed, made or ended it.

From one commit to the next little changes, and who is who is nearly always plain. Only files that hold a site in
question are followed, and of them only the top-level definitions that a step changed are read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.harvest.pieces import Key, Piece
from tracker.model import Cause, Kind, Site
from tracker.repository.steps import Change, Step

Position = tuple[str, int]
"""Path and line: names a site at one revision."""


@dataclass(slots=True)
class Life:
    """What is known of one site along the steps."""

    born: Cause | None = None
    """None: it was there at the first step, or came out of a file that was not followed."""
    died: Cause | None = None
    changes: list[tuple[Cause, frozenset[Kind]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lives:
    """The lives of all sites in the files followed."""

    starts: Mapping[Position, Life]
    ends: Mapping[Position, Life]
    only: Cause | None = None
    """Where there is a single step, it is the cause of everything, and there is nothing to follow."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a file with the lives of its sites."""

    piece: Piece
    lives: list[Life | None]

    def sites(self, path: str) -> list[Site]:
        return [site.shifted(self.piece.line, path) for site in self.piece.sites]


class Versions(Protocol):
    """The versions of files, by their blobs."""

    def of(self, path: str, blob: str) -> Sequence[Piece]:
        """The pieces of a version that hold sites."""

    def differ(self, old: str | None, new: str | None) -> bool:
        """Whether two versions of a file (None: there is none) differ where sites can be."""


def follow(start: Mapping[str, str], steps: Iterable[Step], paths: Iterable[str], versions: Versions) -> Lives:
    """Follow every site of the files `paths` from `start` (path -> blob) along the steps."""
    return _Followed(start, set(paths), versions).along(steps)


class _Followed:
    def __init__(self, start: Mapping[str, str], paths: set[str], versions: Versions) -> None:
        self._paths = paths
        self._versions = versions
        self._files: dict[str, list[_Part]] = {}
        held = sorted(paths & set(start))
        for path in held:
            self._files[path] = [
                _Part(piece, [Life() for _ in piece.sites]) for piece in self._versions.of(path, start[path])
            ]

    def along(self, steps: Iterable[Step]) -> Lives:
        starts = self._positions()
        for step in steps:
            ours = [change for change in step.changes if self._paths & {change.before, change.after}]
            if ours:
                self._take(step, ours)
        return Lives(starts, self._positions())

    def _positions(self) -> dict[Position, Life]:
        """The lives by position; where several sites stand on one line, a position names none of them."""
        found: dict[Position, list[Life | None]] = defaultdict(list)
        for path, parts in self._files.items():
            for part in parts:
                for site, life in zip(part.sites(path), part.lives, strict=True):
                    found[path, site.line].append(life)
        return {at: lives[0] for at, lives in found.items() if len(lives) == 1 and lives[0] is not None}

    def _take(self, step: Step, ours: list[Change]) -> None:
        lost, found = self._replace(step, ours)
        pairs = match(lost, found)
        if sum(pair.after is not None for pair in pairs) < max(len(lost), len(found)):
            # Something came from, or went to, a file that is not followed: from now on it is.
            others = [
                change
                for change in step.changes
                if change not in ours and self._versions.differ(change.old, change.new)
            ]
            if others:
                gone, come = self._replace(step, others)
                self._paths |= {path for change in others for path in (change.before, change.after) if path}
                lost |= gone
                found |= come
                pairs = match(lost, found)
        for pair in pairs:
            life = lost[pair.before]
            if pair.after is None:
                life.died = step.cause
                continue
            part, n = found.pop(pair.after)
            part.lives[n] = life
            if changed := kinds(pair.before, pair.after) - {Kind.MOVED}:
                life.changes.append((step.cause, changed))
        for part, n in found.values():
            part.lives[n] = Life(born=step.cause)

    def _replace(self, step: Step, changes: list[Change]) -> tuple[dict[Site, Life], dict[Site, tuple[_Part, int]]]:
        """Put the new versions of files in the place of the old ones -> the sites of changed pieces, old and new."""
        lost: dict[Site, Life] = {}
        found: dict[Site, tuple[_Part, int]] = {}
        olds = {
            change.old: self._versions.of(change.before, change.old)
            for change in changes
            if change.before and change.old and change.before not in self._files
        }
        arrived: dict[str, list[_Part]] = {}
        for change in changes:
            kept: dict[Key, list[_Part]] = defaultdict(list)
            if change.before is not None:
                known = self._files.pop(change.before, None)
                if known is None:
                    known = [_Part(piece, [Life() for _ in piece.sites]) for piece in olds[change.old or ""]]
                for part in known:
                    kept[part.piece.key].append(part)
            if change.after is not None:
                arrived[change.after] = []
                for piece in self._versions.of(change.after, change.new or ""):
                    same = next((part for part in kept[piece.key] if part.piece.sites == piece.sites), None)
                    part = _Part(piece, same.lives if same else [None] * len(piece.sites))
                    arrived[change.after].append(part)
                    if same is None:
                        found.update((site, (part, n)) for n, site in enumerate(part.sites(change.after)))
                        continue
                    kept[piece.key].remove(same)
                    if change.before != change.after:
                        for life in filter(None, same.lives):
                            life.changes.append((step.cause, frozenset({Kind.RELOCATED})))
            for part in (part for parts in kept.values() for part in parts):
                lost.update(
                    (site, life)
                    for site, life in zip(part.sites(change.before or ""), part.lives, strict=True)
                    if life is not None
                )
        self._files |= arrived
        return lost, found
