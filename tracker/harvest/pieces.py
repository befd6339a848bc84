"""A file cut into its top-level definitions: what is equal in two versions of a file need not be read twice.

A piece is harvested by itself, so that names of the module around it are not known in it. Good for following a site
from version to version, not for the text of its message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from tracker.harvest.sites import harvest
from tracker.harvest.source import normalize
from tracker.model import Site

# Column 0: what begins a definition. Inside a string or a bracket the cut is wrong, and the parser says so.
_START = re.compile(rb"\n(?=(@)|def\b|class\b|async\b)")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a file with the sites in them."""

    data: bytes
    line: int
    """How many lines of the file stand before it."""
    sites: tuple[Site, ...]
    """Without a path, lines counted within the piece."""


def pieces(raw: bytes) -> tuple[Piece, ...]:
    """The pieces of a file that hold sites, in source order; the whole file where a cut would be wrong."""
    source = normalize(raw).data
    found = []
    line = 0
    for data in _cut(source):
        if b"raise" in data:
            sites = _sites(data)
            if sites is None:
                return (Piece(source, 0, harvest("", source).sites),)
            if sites:
                found.append(Piece(data, line, sites))
        line += data.count(b"\n")
    return tuple(found)


def _cut(source: bytes) -> list[bytes]:
    edges = [0]
    decorated = False
    for match in _START.finditer(source):
        if not decorated:
            edges.append(match.end())
        decorated = match[1] is not None
    edges.append(len(source))
    return [source[start:stop] for start, stop in pairwise(edges)]


@lru_cache(maxsize=50_000)
def _sites(data: bytes) -> tuple[Site, ...] | None:
    """The sites of a piece; None where it is no whole piece of source."""
    found = harvest("", data)
    return None if found.problem else found.sites
