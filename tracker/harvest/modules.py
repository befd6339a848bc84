"""A module cut into its segments, and the next version of it cut again only where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tracker.harvest import cuts
from tracker.harvest.segments import Segment, segment
from tracker.harvest.source import normalize


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """One version of a file, cut."""

    source: bytes
    """Normalized."""
    segments: Sequence[Segment]
    names: Mapping[bytes, tuple[Segment, ...]]
    """Which segments bind a name, in order."""

    @property
    def in_doubt(self) -> bool:
        """Whether a segment that can hold a site may stand inside of a long string: then only the whole file tells."""
        quotes = 0
        for one in self.segments:
            if quotes and one.raises:
                return True
            quotes ^= one.quotes
        return False


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a module's segments; those that are still there are the same objects."""

    module: Module
    lost: Sequence[Segment]
    found: Sequence[Segment]
    rebound: frozenset[bytes]
    """Names that stand for something else than before."""


def words(asserts: bool) -> tuple[bytes, ...]:
    """One of these stands in whatever holds a site."""
    return (b"raise", b"assert") if asserts else (b"raise",)


def cut(raw: bytes, words: tuple[bytes, ...]) -> Module:
    """A file -> its segments."""
    source = normalize(raw).data
    found = [segment(data, words) for data in cuts.cut(source)]
    return Module(source, found, _index({}, (), found, found))


def recut(old: Module, raw: bytes, words: tuple[bytes, ...]) -> Change:
    """The next version of a file; segments before and behind what changed are those of the old one."""
    source = normalize(raw).data
    segments = old.segments
    first, last, pieces = cuts.recut([one.data for one in segments], source)
    waiting: dict[bytes, list[Segment]] = {}
    for one in reversed(segments[first:last]):
        waiting.setdefault(one.data, []).append(one)
    between, found = [], []
    for data in pieces:
        if waiting.get(data):
            between.append(waiting[data].pop())
        else:
            found.append(segment(data, words))
            between.append(found[-1])
    lost = [one for ones in waiting.values() for one in ones]
    after = [*segments[:first], *between, *segments[last:]]
    return Change(
        module=Module(source, after, _index(old.names, lost, found, after)),
        lost=lost,
        found=found,
        rebound=_rebound(lost, found),
    )


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
