"""A file cut into its top-level definitions: what is equal in two versions of a file need not be read twice.

A piece is harvested by itself, so that names of the module around it are not known in it. Good for following a site
from version to version, not for the text of its message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from tracker.harvest.sites import harvest
from tracker.harvest.source import DEFINITION, normalize
from tracker.model import Site

Key = bytes
"""A hash of the lines of a piece: of their text, not of where they stand."""
Listing = list[tuple[Key, int]]
"""The pieces of a version of a file that can hold sites, each with the number of lines before it."""
Found = tuple[Site, ...] | None
"""The sites of a piece, without a path, lines counted within it; None where it is no whole piece of source."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a file with the sites in them."""

    key: Key
    line: int
    """How many lines of the file stand before it."""
    sites: tuple[Site, ...]
    """Without a path, lines counted within the piece."""


class Pieces:
    """Cuts files, and harvests each piece that it has not seen yet."""

    def __init__(self, asserts: bool = False) -> None:
        self._asserts = asserts
        self._seen: dict[Key, Found] = {}

    def of(self, raw: bytes, known: Sequence[Site] | None = None) -> tuple[Piece, ...]:
        """The pieces of a file that hold sites, in source order; the whole file where a cut would be wrong.

        `known` are the sites of the file where it has been harvested as a whole: then nothing is parsed again.
        """
        source = normalize(raw).data
        at = [site.line for site in known or ()]
        found = []
        for key, line, data in _pieces(source, self._asserts):
            if known is not None:
                end = line + data.count(b"\n") + (not data.endswith(b"\n"))
                inside = known[bisect_right(at, line) : bisect_right(at, end)]
                self._seen[key] = tuple(site.shifted(-line, "") for site in inside)
            elif key not in self._seen:
                self._seen[key] = _found(data, self._asserts)
            sites = self._seen[key]
            if sites is None:
                return (Piece(_key(source), 0, harvest("", source, self._asserts).sites),)
            if sites:
                found.append(Piece(key, line, sites))
        return tuple(found)

    def add(self, found: Mapping[Key, Found]) -> None:
        """Take over what somebody else harvested."""
        for key, sites in found.items():
            self._seen.setdefault(key, sites)

    def listed(self, listing: Listing) -> tuple[Piece, ...] | None:
        """The same as `of`, for a file whose pieces somebody else has listed; None where one of them was not seen."""
        pieces = [(self._seen.get(key), key, line) for key, line in listing]
        if any(sites is None for sites, _, _ in pieces):
            return None
        return tuple(Piece(key, line, sites) for sites, key, line in pieces if sites)


def read_on(before: bytes | None, versions: Iterable[bytes], asserts: bool) -> tuple[list[Listing], dict[Key, Found]]:
    """Versions of a file, one after the other, listed; and the pieces that neither `before` nor an earlier one had."""
    old = {key for key, _, _ in _pieces(normalize(before).data, asserts)} if before is not None else set()
    found: dict[Key, Found] = {}
    listings = []
    for raw in versions:
        listing = []
        for key, line, data in _pieces(normalize(raw).data, asserts):
            listing.append((key, line))
            if key not in old and key not in found:
                found[key] = _found(data, asserts)
        listings.append(listing)
    return listings, found


def _pieces(source: bytes, asserts: bool) -> Iterator[tuple[Key, int, bytes]]:
    """The pieces that can hold sites, each with the number of lines before it."""
    words = (b"raise", b"assert") if asserts else (b"raise",)
    line = 0
    for data in cut(source):
        if any(word in data for word in words):
            yield _key(data), line, data
        line += data.count(b"\n")


def _key(data: bytes) -> Key:
    return blake2b(data, digest_size=16).digest()


def _found(data: bytes, asserts: bool) -> Found:
    harvested = harvest("", data, asserts)
    return None if harvested.problem else harvested.sites


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
