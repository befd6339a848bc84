"""A file cut into its top-level definitions, version by version: what two in a row share is read once.

For following a site from version to version: each piece is told from the next by its lines and by its sites.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from tracker.harvest.modules import Change, Module, cut, recut, words
from tracker.harvest.reading import Parts
from tracker.harvest.segments import Segment
from tracker.harvest.sites import Part, numbered
from tracker.model import Site

Key = bytes
"""A hash of the lines of a piece: of their text, not of where they stand."""
AS_BEFORE = -1


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a file with the sites in them."""

    key: Key
    line: int
    """How many lines of the file stand before it."""
    sites: tuple[Site, ...]
    """Without a path, lines and ordinals counted within the piece."""


class Entry(NamedTuple):
    """A piece of a version that can hold sites."""

    key: Key
    line: int
    found: int
    """Which of the reader's `found` its sites are; `AS_BEFORE`: those of the first version's piece with this key."""


class Owed(NamedTuple):
    """What of a module has a say in the texts of its sites."""

    asked: Collection[str]
    """Names that were looked for among its statements."""
    called: Collection[str]
    """Functions whose calls were looked for."""


NOTHING_OWED = Owed((), ())


NOTHING_SETTLED: frozenset[str] = frozenset()


def definitions(scope: str) -> set[str]:
    """What a site of this scope can be settled with: the definition of the module that it stands in (`f`, `C`), and
    the one in that (`C.f`).
    """
    names = scope.split(".", 2)
    return {names[0], ".".join(names[:2])}


def unsettled(sites: Sequence[Site], settled: Set[str]) -> tuple[Site, ...]:
    """The sites that do not stand in one of the definitions."""
    return tuple(site for site in sites if settled.isdisjoint(definitions(site.scope)))


def pieces(
    raw: bytes, sites: Sequence[Site], asserts: bool = False, settled: Set[str] = NOTHING_SETTLED
) -> tuple[Piece, ...]:
    """The pieces of a file that hold sites, in source order, where all `sites` of it are known: nothing is read. Sites
    in definitions that are `settled` are left out.
    """
    sites = unsettled(sites, settled)
    at = [site.line for site in sites]
    found = []
    end = 0
    for one in cut(raw, words(asserts)).segments:
        line, end = end, end + one.lines
        inside = sites[bisect_right(at, line) : bisect_right(at, end + (not one.data.endswith(b"\n")))]
        if inside:
            found.append(Piece(_key(one.data), line, numbered(site.shifted(-line, "") for site in inside)))
    return tuple(found)


def texts(raw: bytes, asserts: bool = False) -> list[bytes]:
    """The source of all pieces of a file that can hold sites, in order."""
    return [one.data for one in cut(raw, words(asserts)).segments if one.raises]


class _Known(NamedTuple):
    """What is known of a segment."""

    key: Key
    found: int
    part: Part | None
    """None: its sites are those of the first version; nobody read it here."""


class Reader:
    """Reads the versions of a file one after the other."""

    def __init__(
        self,
        parts: Parts,
        first: bytes | None = None,
        owed: Owed = NOTHING_OWED,
        settled: Set[str] = NOTHING_SETTLED,
    ) -> None:
        """`first` is a version whose sites are known already, and what of its module has a say in them. Definitions
        that are `settled` are not read.
        """
        self._parts, self._settled = parts, settled
        self._module = cut(first, parts.words) if first is not None else None
        self._known: dict[Segment, _Known] = {}
        if self._module is not None and not self._module.in_doubt:
            self._known = {one: _Known(_key(one.data), AS_BEFORE, None) for one in self._module.segments if one.raises}
        self._asked, self._called = set(owed.asked), set(owed.called)
        self._is_cut = True
        self.found: list[tuple[Site, ...]] = []
        """The sites of all pieces that were read."""

    @property
    def owed(self) -> Owed:
        """What of the module has a say in the texts of its sites, so far."""
        return Owed(sorted(self._asked), sorted(self._called))

    @property
    def is_cut(self) -> bool:
        """Whether the last version was read piece by piece."""
        return self._is_cut

    def next(self, raw: bytes) -> list[Entry]:
        """The version after it: its new pieces are read, and those in whose texts something around them has its say
        and changed. A file that cannot be cut is a single piece.
        """
        still = self._known
        if self._module is None:
            self._module = cut(raw, self._parts.words)
        else:
            change = recut(self._module, raw, self._parts.words)
            self._module, still = change.module, self._still_known(change)
        entries = self._entries(self._module, still)
        self._is_cut = entries is not None
        if entries is not None:
            return entries
        self._known = {}
        self.found.append(unsettled(self._parts.whole(self._module).sites, self._settled))
        return [Entry(_key(self._module.source), 0, len(self.found) - 1)]

    def _still_known(self, change: Change) -> dict[Segment, _Known]:
        asked = {name.encode(): name for name in self._asked}
        rebound = {asked[name] for name in change.rebound(asked)}
        called = change.called(self._called)
        if not rebound and not called:
            return self._known
        return {
            one: known
            for one, known in self._known.items()
            if known.part and rebound.isdisjoint(known.part.asked) and called.isdisjoint(known.part.called)
        }

    def _entries(self, module: Module, still: Mapping[Segment, _Known]) -> list[Entry] | None:
        """None: the file cannot be cut."""
        if module.in_doubt:
            return None
        known: dict[Segment, _Known] = {}
        entries = []
        line = 0
        for one in module.segments:
            if one.raises and one.only not in self._settled:
                now = still.get(one) or self._read(module, one)
                if now is None:
                    return None
                known[one] = now
                entries.append(Entry(now.key, line, now.found))
            line += one.lines
        self._known = known
        return entries

    def _read(self, module: Module, one: Segment) -> _Known | None:
        """None: the segment does not stand by itself."""
        part = self._parts.of(module, one, self._settled)
        if not part.sound:
            return None
        self._asked |= part.asked
        self._called |= part.called
        old = self._known.get(one)
        if old is not None and old.part is not None and old.part.sites == part.sites:
            return old._replace(part=part)
        self.found.append(unsettled(part.sites, self._settled))
        return _Known(_key(one.data), len(self.found) - 1, part)


def _key(data: bytes) -> Key:
    return blake2b(data, digest_size=16).digest()
