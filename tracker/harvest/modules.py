"""A module cut into its segments, and the next version of it cut again only where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tracker.harvest import cuts
from tracker.harvest.segments import Segment, segment
from tracker.harvest.source import normalize


@dataclass(slots=True, eq=False)
class Module:
    """One version of a file, cut."""

    source: bytes
    """Normalized."""
    segments: Sequence[Segment]
    binding_so_far: dict[bytes, tuple[Segment, ...]] = field(default_factory=dict, repr=False)
    """What `binding` was asked."""

    def binding(self, name: bytes) -> tuple[Segment, ...]:
        """The segments that bind a name, in order."""
        found = self.binding_so_far.get(name)
        if found is None:
            holding = [one for one in self.segments if name in one.data]
            found = self.binding_so_far[name] = tuple(one for one in holding if name in one.names)
        return found

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
    before: Sequence[Segment]
    """All segments of the old module between the first and the last that differ."""
    after: Sequence[Segment]
    """The same of the new one."""
    touched: bytes
    """The source of whatever went, came or changed places."""

    def rebound(self, names: Iterable[bytes]) -> set[bytes]:
        """Which of the names stand for something else than before."""
        held = [name for name in names if name in self.touched]
        return {name for name in held if _statements(self.before, name) != _statements(self.after, name)}

    def called(self, functions: Iterable[str]) -> set[str]:
        """Which of the functions are called in what is not as before."""
        return {name for name in functions if f"{name}(".encode() in self.touched}


def _statements(segments: Iterable[Segment], name: bytes) -> list[bytes]:
    return [source for one in segments if one.binds(name) for _, source in one.names[name]]


def words(asserts: bool) -> tuple[bytes, ...]:
    """One of these stands in whatever holds a site."""
    return (b"raise", b"assert") if asserts else (b"raise",)


def cut(raw: bytes, words: tuple[bytes, ...]) -> Module:
    """A file -> its segments."""
    source = normalize(raw).data
    found = [segment(data, words) for data in cuts.cut(source)]
    return Module(source, found)


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
    before, came, gone = segments[first:last], set(found), set(lost)
    stayed = [one for one in before if one not in gone]
    in_order = stayed == [one for one in between if one not in came]
    touched = b"\n".join(one.data for one in (*lost, *found, *(() if in_order else stayed)))
    binding = {name: ones for name, ones in old.binding_so_far.items() if name not in touched}
    module = Module(source, [*segments[:first], *between, *segments[last:]], binding)
    return Change(module, lost, found, before, between, touched)
