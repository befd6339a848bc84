"""A file cut into its top-level definitions: what is equal in two versions of a file need not be read twice.

A piece is harvested by itself, so that names of the module around it are not known in it. Good for following a site
from version to version, not for the text of its message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from tracker.harvest.cuts import cut, recut
from tracker.harvest.sites import harvest
from tracker.harvest.source import normalize
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
        end = 0
        for data, lines, key in (_part(data, self._asserts) for data in cut(source)):
            line, end = end, end + lines
            if key is None:
                continue
            if known is not None:
                inside = known[bisect_right(at, line) : bisect_right(at, end + (not data.endswith(b"\n")))]
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


class Reader:
    """Reads the versions of a file one after the other; what two in a row share is looked at once."""

    def __init__(self, asserts: bool = False) -> None:
        self._asserts = asserts
        self._parts: list[_Part] = []
        self._old: set[Key | None] = set()
        self.found: dict[Key, Found] = {}
        """The pieces that were not in the first version."""

    def first(self, raw: bytes) -> None:
        """The version that is known already."""
        self._parts = [_part(data, self._asserts) for data in cut(normalize(raw).data)]
        self._old = {part.key for part in self._parts}

    def next(self, raw: bytes) -> Listing:
        """The version after it, listed, and its new pieces harvested."""
        first, last, came = recut([part.data for part in self._parts], normalize(raw).data)
        self._parts[first:last] = [_part(data, self._asserts) for data in came]
        listing = []
        line = 0
        for part in self._parts:
            if part.key is not None:
                listing.append((part.key, line))
                if part.key not in self._old and part.key not in self.found:
                    self.found[part.key] = _found(part.data, self._asserts)
            line += part.lines
        return listing


class _Part(NamedTuple):
    """A piece that was not harvested."""

    data: bytes
    lines: int
    key: Key | None
    """None: no site can be in it."""


def _part(data: bytes, asserts: bool) -> _Part:
    words = (b"raise", b"assert") if asserts else (b"raise",)
    return _Part(data, data.count(b"\n"), _key(data) if any(word in data for word in words) else None)


def _key(data: bytes) -> Key:
    return blake2b(data, digest_size=16).digest()


def _found(data: bytes, asserts: bool) -> Found:
    harvested = harvest("", data, asserts)
    return None if harvested.problem else harvested.sites
