"""A module read definition by definition: each by itself, with just as much of the rest as has a say in it.

The answer is that of reading the whole file, for a fraction of the parsing: what did not change from one version of
a file to the next is not read again, and what a definition refers to in its module is taken along.
"""

from __future__ import annotations

import builtins
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from tracker.harvest.segments import Segment, Statement, edges, segment
from tracker.harvest.sites import Part, harvest, harvest_part
from tracker.harvest.source import normalize

_KEPT = 8192
"""Parts that are remembered: what is reverted and landed again is not read again."""
_ROUNDS = 12
"""How often what a definition refers to may refer to more; deeper ones are read with the whole file."""
_RAISED = re.compile(rb"\braise\s+([A-Za-z_]\w*)")
_EXCEPTIONS = {name.encode() for name, value in vars(builtins).items() if isinstance(value, type)}


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """One version of a file, cut."""

    source: bytes
    """Normalized."""
    segments: Sequence[Segment]
    names: Mapping[bytes, tuple[Segment, ...]]
    """Which segments bind a name, in order."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a module's segments."""

    module: Module
    lost: Sequence[Segment]
    found: Sequence[Segment]
    kept: Mapping[Segment, Segment]
    """New segment -> the equal one it stands for, where both lie in the changed lines; all others are shared."""
    rebound: frozenset[bytes]
    """Names that stand for something else than before."""


def words(asserts: bool) -> tuple[bytes, ...]:
    """One of these stands in whatever holds a site."""
    return (b"raise", b"assert") if asserts else (b"raise",)


def cut(raw: bytes, words: tuple[bytes, ...]) -> Module:
    """A file -> its segments."""
    source = normalize(raw).data
    found = [segment(source[a:b], words) for a, b in pairwise([0, *edges(source), len(source)])]
    return Module(source, found, _index({}, (), found, found))


def recut(old: Module, raw: bytes, words: tuple[bytes, ...]) -> Change:
    """The next version of a file; segments before and behind what changed are those of the old one."""
    source = normalize(raw).data
    segments = old.segments
    first = at = 0
    while first < len(segments) and source.startswith(segments[first].data, at):
        at += len(segments[first].data)
        first += 1
    # What follows decides where a segment ends: the last one before the change is cut again.
    if first:
        first -= 1
        at -= len(segments[first].data)
    last, stop = len(segments), len(source)
    while last > first and source.endswith(segments[last - 1].data, at, stop):
        last -= 1
        stop -= len(segments[last].data)
    starts = list(edges(source, max(0, at - 1), min(len(source), stop + _LOOK)))
    if last < len(segments) and stop not in starts:
        # What is behind does not begin with an edge any more: a decorator came before it, say.
        last, stop = len(segments), len(source)
        starts = list(edges(source, max(0, at - 1)))
    inside = [at, *(edge for edge in starts if at < edge < stop), stop]
    found = [segment(source[a:b], words) for a, b in pairwise(inside)] if at < stop else []
    lost = segments[first:last]
    after = [*segments[:first], *found, *segments[last:]]
    module = Module(source, after, _index(old.names, lost, found, after))
    waiting: dict[bytes, list[Segment]] = {}
    for one in reversed(lost):
        waiting.setdefault(one.data, []).append(one)
    kept = {one: waiting[one.data].pop() for one in found if waiting.get(one.data)}
    same = set(kept.values())
    return Change(
        module=module,
        lost=[one for one in lost if one not in same],
        found=[one for one in found if one not in kept],
        kept=kept,
        rebound=_rebound(lost, found),
    )


_LOOK = 8
"""Bytes behind an edge that tell it: `async` and what is no letter."""


def _rebound(lost: Iterable[Segment], found: Iterable[Segment]) -> frozenset[bytes]:
    before: dict[bytes, list[bytes]] = {}
    after: dict[bytes, list[bytes]] = {}
    for said, segments in ((before, lost), (after, found)):
        for one in segments:
            for name, statements in one.names.items():
                said.setdefault(name, []).extend(source for _, source in statements)
    return frozenset(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _index(
    names: Mapping[bytes, tuple[Segment, ...]],
    lost: Iterable[Segment],
    found: Sequence[Segment],
    segments: Sequence[Segment],
) -> Mapping[bytes, tuple[Segment, ...]]:
    index = dict(names)
    for one in lost:
        for name in one.names:
            left = tuple(other for other in index[name] if other is not one)
            if left:
                index[name] = left
            else:
                del index[name]
    several = set()
    for one in found:
        for name in one.names:
            if name in index:
                index[name] += (one,)
                several.add(name)
            else:
                index[name] = (one,)
    if several and names:
        order = {one: n for n, one in enumerate(segments)}
        for name in several:
            index[name] = tuple(sorted(index[name], key=order.__getitem__))
    return index


class Parts:
    """Reads segments, and remembers what it read."""

    def __init__(self, asserts: bool = False) -> None:
        self._asserts = asserts
        self._known: OrderedDict[bytes, Part] = OrderedDict()

    def of(self, module: Module, one: Segment) -> Part:
        """The sites of one segment of a module."""
        # What is raised is nearly always asked for; but these words stand in texts and comments, too.
        guessed = {name for name in _RAISED.findall(one.data) if name in module.names and name not in _EXCEPTIONS}
        part = self._from(module, one, guessed)
        return part if part.sound or not guessed else self._from(module, one, set())

    def _from(self, module: Module, one: Segment, wanted: set[bytes]) -> Part:
        called: frozenset[str] = frozenset()
        for _ in range(_ROUNDS):
            part = self._read(module, one, wanted, called)
            asked = wanted | {name.encode() for name in part.asked}
            if not part.sound or (part.called == called and self._same(module, one, asked, wanted)):
                return part
            wanted, called = asked, part.called
        return self._read(module, one, set(module.names), called)

    def _same(self, module: Module, one: Segment, asked: set[bytes], wanted: set[bytes]) -> bool:
        return not any(
            other is not one for name in asked - wanted if name in module.names for other in module.names[name]
        )

    def _read(self, module: Module, one: Segment, wanted: set[bytes], called: frozenset[str]) -> Part:
        around: dict[Segment, set[Statement]] = {}
        for name in wanted:
            for other in module.names.get(name, ()):
                if other is not one:
                    around.setdefault(other, set()).update(other.names[name])
        if called:
            calls = [f"{name}(".encode() for name in called]
            for other in module.segments:
                if other is not one and any(call in other.data for call in calls):
                    around[other] = {(0, other.data)}
        if not around:
            return self._part(one.data, 0, len(one.data))
        before: list[bytes] = []
        after: list[bytes] = []
        side = before
        for other in module.segments:
            if other is one:
                side = after
            elif other in around:
                side += [source for _, source in sorted(around[other])]
        head = b"".join(before)
        return self._part(b"".join((head, one.data, *after)), len(head), len(head) + len(one.data))

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

    def whole(self, module: Module) -> Part:
        """The sites of a file that cannot be read in parts."""
        found = harvest("", module.source, self._asserts)
        return Part(sites=found.sites, sound=True, asked=frozenset(), called=frozenset())
