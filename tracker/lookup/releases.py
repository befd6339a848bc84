"""The releases that a mirror knows: which of them a version means, and which of them a traceback shows lines of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from tracker.lookup.frames import Frame
from tracker.lookup.past import Release
from tracker.lookup.rank import endings
from tracker.lookup.squeeze import squeeze
from tracker.model import Revision
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import releases, tagged
from tracker.snapshots import Sources

SHOWN = 60
"""Squeezed characters of a line that are compared: a paste may cut it."""


class Run(NamedTuple):
    """Releases in a row, by their places among all."""

    start: int
    """The one that was asked about."""
    first: int
    last: int


class Releases:
    """Every final release that a mirror knows as a tag or as an imported package."""

    def __init__(self, mirror: Mirror, sources: Sources, package: str, say: Callable[[str], None]) -> None:
        self._mirror, self._sources, self._package, self._say = mirror, sources, package, say

    @cached_property
    def all(self) -> list[Release]:
        """Oldest version first; upstream's tag where there are both."""
        found: dict[Version, Release] = {}
        for version, revision in tagged(self._mirror, self._package):
            found[version] = Release(str(version), revision)
        for release in releases(self._mirror):
            version = Version(release.version)
            if not version.is_prerelease and release.package in ("", self._package):
                found.setdefault(version, Release(str(version), release.revision))
        return [found[version] for version in sorted(found)]

    def of(self, version: str) -> Release | None:
        """The release of a version as a paste states it; of one that was never released, the last one before it."""
        try:
            wanted = Version(version)
        except InvalidVersion:
            return None
        return next((release for release in reversed(self.all) if Version(release.version) <= wanted), None)

    def run(self, there: Sequence[bool], at: Revision) -> Run | None:
        """The releases in a row around a revision for which `there` says yes; None: there are none."""
        near = self._nearest(at)
        start = next((n for n in (near, near + 1, near - 1) if 0 <= n < len(there) and there[n]), None)
        if start is None:
            return None
        first = last = start
        while first > 0 and there[first - 1]:
            first -= 1
        while last + 1 < len(there) and there[last + 1]:
            last += 1
        return Run(start, first, last)

    def _nearest(self, at: Revision) -> int:
        """The place of the release that a revision is, or of the last one made before it."""
        for n, release in enumerate(self.all):
            if release.revision.commit == at.commit:
                return n
        dates = [release.revision.committed_at for release in self.all]
        return max((n for n, date in enumerate(dates) if date <= at.committed_at), key=lambda n: dates[n], default=0)

    def by_frames(self, frames: Iterable[Frame]) -> list[Release]:
        """The releases in which the most of the frames' lines read as pasted, oldest first; empty: in none."""
        shown = [frame for frame in frames if frame.line and frame.source and len(frame.source.split()) > 1]
        if not shown or not self.all:
            return []
        self._say(f"comparing the traceback's lines with {len(self.all)} releases")
        agree = [0] * len(self.all)
        for frame in shown:
            for n, reads in enumerate(self._reading(frame)):
                agree[n] += reads
        most = max(agree)
        return [release for release, count in zip(self.all, agree, strict=True) if count == most] if most else []

    def _reading(self, frame: Frame) -> list[bool]:
        """Whether a frame's line reads as pasted, in each of the releases."""
        revisions = [release.revision for release in self.all]
        reads: list[bool | None] = [None] * len(revisions)
        shown = squeeze(frame.source or "")[:SHOWN]
        for path in endings(frame.file):
            for n, lines in enumerate(self._sources.versions(revisions, path)):
                if lines is not None and reads[n] is None:
                    there = lines[(frame.line or 0) - 1 : frame.line]
                    reads[n] = bool(there) and squeeze(there[0]).startswith(shown)
        return list(map(bool, reads))
