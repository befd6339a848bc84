"""A file cut into its top-level definitions: what is equal in two versions of a file need not be read twice.

A piece is harvested by itself, so that names of the module around it are not known in it. Good for following a site
from version to version, not for the text of its message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tracker.harvest.sites import harvest
from tracker.harvest.source import DEFINITION, normalize
from tracker.model import Site


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a file with the sites in them."""

    data: bytes
    line: int
    """How many lines of the file stand before it."""
    sites: tuple[Site, ...]
    """Without a path, lines counted within the piece."""


class Pieces:
    """Cuts files, and harvests each piece that it has not seen yet."""

    def __init__(self, asserts: bool = False) -> None:
        self._asserts = asserts
        self._words = (b"raise", b"assert") if asserts else (b"raise",)
        self._seen: dict[bytes, tuple[Site, ...] | None] = {}

    def of(self, raw: bytes, known: Sequence[Site] | None = None) -> tuple[Piece, ...]:
        """The pieces of a file that hold sites, in source order; the whole file where a cut would be wrong.

        `known` are the sites of the file where it has been harvested as a whole: then nothing is parsed again.
        """
        source = normalize(raw).data
        at = [site.line for site in known or ()]
        found = []
        line = 0
        sites: tuple[Site, ...] | None
        for data in cut(source):
            lines = data.count(b"\n")
            if any(word in data for word in self._words):
                if known is not None:
                    end = line + lines + (not data.endswith(b"\n"))
                    inside = known[bisect_right(at, line) : bisect_right(at, end)]
                    sites = self._seen[data] = tuple(site.shifted(-line, "") for site in inside)
                elif (sites := self._sites(data)) is None:
                    return (Piece(source, 0, harvest("", source, self._asserts).sites),)
                if sites:
                    found.append(Piece(data, line, sites))
            line += lines
        return tuple(found)

    def _sites(self, data: bytes) -> tuple[Site, ...] | None:
        """The sites of a piece; None where it is no whole piece of source."""
        if data not in self._seen:
            harvested = harvest("", data, self._asserts)
            self._seen[data] = None if harvested.problem else harvested.sites
        return self._seen[data]


def cut(source: bytes) -> list[bytes]:
    """The top-level definitions of a source, and what stands between them; joined they are the source."""
    edges = [0]
    decorated = False
    for match in DEFINITION.finditer(source):
        if not decorated:
            edges.append(match.end())
        decorated = match[1] is not None
    edges.append(len(source))
    return [source[start:stop] for start, stop in pairwise(edges)]
