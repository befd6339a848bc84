"""Reads a module definition by definition: each by itself, with just as much of the rest as has a say in it.

The answer is that of reading the whole file, for a fraction of the parsing.
"""

from __future__ import annotations

import builtins
import re
from collections import OrderedDict
from collections.abc import Set
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from tracker.harvest.modules import Module, words
from tracker.harvest.segments import Class, Segment, Statement, class_of
from tracker.harvest.sites import Part, harvest, harvest_part, numbered

_KEPT = 20_000
"""Parts that are remembered: some three times those of one revision of JAX."""
_LARGE = 2_000
"""Bytes from which a class is read method by method."""
_HINT = 60
"""Bytes at the beginning of a definition by which it is known from version to version."""
_NO: frozenset[str] = frozenset()
_RAISED = re.compile(rb"\braise\s+([A-Za-z_]\w*)")
_EXCEPTIONS = {name.encode() for name, value in vars(builtins).items() if isinstance(value, type)}


class Parts:
    """Reads segments, and remembers what it read."""

    def __init__(self, asserts: bool = False) -> None:
        self._asserts = asserts
        self.words = words(asserts)
        """One of these stands in whatever holds a site."""
        self._known: OrderedDict[bytes, Part] = OrderedDict()
        self._hints: dict[bytes, _Needs] = {}

    def of(self, module: Module, one: Segment, settled: Set[str] = _NO) -> Part:
        """The sites of one segment of a module; of what is `settled`, some may be missing."""
        body = class_of(one.data, self.words) if len(one.data) >= _LARGE else None
        if body is not None:
            # Of a class, each method by itself.
            found = [
                (line, self._settled(_Unit(module, one, body, n)))
                for n, (statement, line) in enumerate(zip(body.statements, body.lines, strict=True))
                if any(word in statement for word in self.words) and body.method(n) not in settled
            ]
            scope = f"{body.name}."
            if all(part.sound and all(site.scope.startswith(scope) for site in part.sites) for _, part in found):
                return Part(
                    sites=numbered(site.shifted(line) for line, part in found for site in part.sites),
                    sound=True,
                    asked=frozenset().union(*(part.asked for _, part in found)),
                    members=frozenset(),
                    called=frozenset().union(*(part.called for _, part in found)),
                )
        return self._settled(_Unit(module, one))

    def whole(self, module: Module) -> Part:
        """The sites of a file that cannot be read in parts."""
        sites = harvest("", module.source, self._asserts).sites
        return Part(sites=sites, sound=True, asked=_NO, members=_NO, called=_NO)

    def _settled(self, unit: _Unit) -> Part:
        # What an earlier version needed this one most often needs, too; and what is raised is nearly always asked for.
        # It can be wrong (these words stand in texts and comments, too): then there is just more to read.
        hint = unit.data[:_HINT]
        known = self._hints.get(hint, _NOTHING)
        raised = {name for name in _RAISED.findall(unit.data) if name not in _EXCEPTIONS and unit.module.binding(name)}
        part = self._from(unit, known._replace(names=known.names | raised))
        if not part.sound and (known.names or raised):
            part = self._from(unit, _NOTHING)
        if len(self._hints) > _KEPT:
            self._hints.clear()
        self._hints[hint] = _NOTHING.and_those_of(part)
        return part

    def _from(self, unit: _Unit, needs: _Needs) -> Part:
        source = unit.source(needs)
        while True:
            part = self._part(*source)
            more = needs.and_those_of(part)
            if not part.sound or more == needs:
                return part
            needs = more
            settled = unit.source(needs)
            if settled == source:
                return part
            source = settled

    def _part(self, source: bytes, start: int, stop: int) -> Part:
        key = blake2b(source, digest_size=16, salt=start.to_bytes(8, "big"), person=stop.to_bytes(8, "big")).digest()
        part = self._known.get(key)
        if part is None:
            part = self._known[key] = harvest_part(source, start, stop, self._asserts)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return part


class _Needs(NamedTuple):
    """What a part needs of the rest of its module."""

    names: frozenset[bytes]
    members: frozenset[bytes]
    called: frozenset[str]

    def and_those_of(self, part: Part) -> _Needs:
        """These, and what was looked for when a part was read."""
        return _Needs(
            self.names.union(name.encode() for name in part.asked),
            self.members.union(name.encode() for name in part.members),
            self.called | part.called,
        )


_NOTHING = _Needs(frozenset(), frozenset(), frozenset())


class _Calls:
    """Finds calls of some functions."""

    def __init__(self, names: frozenset[str]) -> None:
        self._words = [f"{name}(".encode() for name in sorted(names)]
        self._pattern = re.compile(rb"\b(?:%s)" % b"|".join(map(re.escape, self._words)))

    def within(self, data: bytes) -> bool:
        """Whether one is there; plain words first, they are found ten times faster."""
        return any(word in data for word in self._words) and self._pattern.search(data) is not None


@dataclass(frozen=True, slots=True)
class _Unit:
    """A segment, or one statement in the body of a class."""

    module: Module
    segment: Segment
    body: Class | None = None
    n: int = 0

    @property
    def data(self) -> bytes:
        return self.segment.data if self.body is None else self.body.statements[self.n]

    def source(self, needs: _Needs) -> tuple[bytes, int, int]:
        """The unit among what binds the names and calls the functions, in the order of the file, and where it stands
        there.
        """
        around: dict[Segment, set[Statement]] = {}
        for name in needs.names:
            for other in self.module.binding(name):
                if other is not self.segment:
                    around.setdefault(other, set()).update(other.names[name])
        members = needs.members
        calls = _Calls(needs.called) if needs.called else None
        if calls is not None:
            for other in self.module.segments:
                if other is not self.segment and calls.within(other.data):
                    around.setdefault(other, set()).add((0, self._calling(other, members, calls)))
        before, own, behind = self._own(members, calls)
        if around:
            sides: tuple[list[bytes], list[bytes]] = ([], [])
            side = 0
            for other in self.module.segments:
                if other is self.segment:
                    side = 1
                elif other in around:
                    sides[side].extend(source for _, source in sorted(around[other]))
            before, behind = b"".join((*sides[0], before)), b"".join((behind, *sides[1]))
        return b"".join((before, own, behind)), len(before), len(before) + len(own)

    def _own(self, members: frozenset[bytes], calls: _Calls | None) -> tuple[bytes, bytes, bytes]:
        """The unit in its own segment: what stands before it, itself, and what stands behind."""
        body = self.body
        if body is None:
            return b"", self.segment.data, b""
        chosen = [n for n in _chosen(body, members, calls) if n != self.n]
        head = b"".join([body.head, *(body.statements[n] for n in chosen if n < self.n)])
        return head, self.data, b"".join(body.statements[n] for n in chosen if n > self.n)

    def _calling(self, other: Segment, members: frozenset[bytes], calls: _Calls) -> bytes:
        """As much of a segment as calls the functions."""
        body = class_of(other.data, ()) if len(other.data) >= _LARGE else None
        if body is None or calls.within(body.head):
            return other.data
        return b"".join([body.head, *(body.statements[n] for n in _chosen(body, members, calls))])


def _chosen(body: Class, members: frozenset[bytes], calls: _Calls | None) -> list[int]:
    """The statements of a class that bind one of the names or call one of the functions."""
    return [
        n
        for n, (statement, names) in enumerate(zip(body.statements, body.names, strict=True))
        if not members.isdisjoint(names) or (calls is not None and calls.within(statement))
    ]
