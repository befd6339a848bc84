"""One commit after the other: which sites it made, changed and ended, by the very same match and classify as `diff`.

Values in, values out: blobs come through the mirror, and what was known of a file through `load`. Nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.harvest.modules import Module, Parts, cut, recut, words
from tracker.harvest.segments import Segment
from tracker.harvest.sites import Part
from tracker.model import Kind, Site
from tracker.repository.mirror import Mirror
from tracker.repository.steps import Step
from tracker.store.history import Held, Span


class Taken(NamedTuple):
    """What one commit, or several in a row, did."""

    spans: list[Span]
    ends: list[tuple[int, int]]
    """Error, and the position of the commit that ended it."""


@dataclass(slots=True, eq=False)
class _Unit:
    """A segment of a file and the errors in it."""

    segment: Segment
    errors: list[int]
    asked: frozenset[str]
    called: frozenset[str]
    part: Part | None = None
    """None: not read yet in this process."""


@dataclass(slots=True)
class _File:
    blob: str
    module: Module | None
    """None: it holds nothing that could be a site."""
    sound: bool
    units: list[_Unit] = field(default_factory=list)


Load = Callable[[str], Held | None]
"""What is known of a file that was not touched yet."""


class Follower:
    """The state of all files at one commit, and the way to the next one."""

    def __init__(self, mirror: Mirror, asserts: bool, load: Load, next_error: int) -> None:
        self._mirror = mirror
        self._words = words(asserts)
        self._parts = Parts(asserts)
        self._load = load
        self._files: dict[str, _File | None] = {}
        self._next = next_error

    def begin(self, files: Mapping[str, str]) -> int:
        """Take the sites of all files (path -> blob) as they are, numbered by path and line -> how many there are."""
        first = self._next
        for path in sorted(files):
            file = self._read(path, files[path], self._mirror.content(files[path]), None)[0]
            self._files[path] = file
            for unit in file.units:
                unit.errors = [self._number() for _ in unit.errors]
        return self._next - first

    def along(self, steps: Iterable[tuple[int, Step]]) -> Iterator[tuple[int, Step, Taken]]:
        """The steps at their positions, each with what happened there. GitError: an object cannot be read."""
        steps = list(steps)
        contents = self._mirror.read(change.new for _, step in steps for change in step.changes if change.new)
        for position, step in steps:
            yield position, step, self._take(position, step, contents)

    def sites(self, path: str, wanted: Collection[int] | None = None) -> list[tuple[int, Site]]:
        """The errors in a file, or those wanted of them, with their sites, in order."""
        file = self._known(path)
        units = [unit for unit in file.units if wanted is None or set(wanted) & set(unit.errors)] if file else []
        lones = self._placed(path, file, units) if file is not None and units else ()
        found = [pair for one in lones for pair in zip(one.unit.errors, one.sites, strict=True)]
        return [(error, site) for error, site in found if wanted is None or error in wanted]

    def held(self, path: str, since: int) -> Held:
        """What a file holds now."""
        file = self._files.get(path)
        if file is None:
            return Held(path, since, None, True, ())
        units = tuple(
            (tuple(unit.errors), tuple(sorted(unit.asked)), tuple(sorted(unit.called))) for unit in file.units
        )
        return Held(path, since, file.blob, file.sound, units)

    def _number(self) -> int:
        self._next += 1
        return self._next - 1

    def _known(self, path: str) -> _File | None:
        if path not in self._files:
            held = self._load(path)
            self._files[path] = self._restored(held) if held is not None and held.blob is not None else None
        return self._files[path]

    def _restored(self, held: Held) -> _File:
        assert held.blob is not None
        if not held.units:
            return _File(held.blob, None, held.sound)
        module = cut(self._mirror.content(held.blob), self._words)
        raising = [one for one in module.segments if one.raises] if held.sound else [_whole(module)]
        units = [
            _Unit(one, list(errors), frozenset(asked), frozenset(called))
            for one, (errors, asked, called) in zip(raising, held.units, strict=True)
        ]
        return _File(held.blob, module, held.sound, units)

    def _take(self, position: int, step: Step, contents: Iterator[tuple[str, bytes]]) -> Taken:
        lost: list[_Lone] = []
        found: list[_Lone] = []
        for change in step.changes:
            path = change.before or change.after
            assert path is not None
            before = self._known(path)
            after: _File | None = None
            gone = before.units if before is not None else []
            come: list[_Unit] = []
            if change.new is not None:
                after, gone, come = self._read(path, change.new, next(contents)[1], before)
            self._files[path] = after
            if before is not None and gone:
                lost += self._placed(path, before, gone)
            if after is not None and come:
                found += self._placed(path, after, come)
        return self._settle(position, lost, found)

    def _placed(self, path: str, file: _File, units: Sequence[_Unit]) -> Iterator[_Lone]:
        """Units with the sites as they stand in the file."""
        assert file.module is not None
        wanted = {unit.segment: unit for unit in units}
        line = 0
        for one in file.module.segments if file.sound else [unit.segment for unit in units]:
            if (unit := wanted.get(one)) is not None:
                part = self._part(file, unit)
                yield _Lone(unit, [site.shifted(line, path) for site in part.sites])
            line += one.lines

    def _part(self, file: _File, unit: _Unit) -> Part:
        if unit.part is None:
            assert file.module is not None
            unit.part = self._parts.of(file.module, unit.segment) if file.sound else self._parts.whole(file.module)
        return unit.part

    def _read(self, path: str, blob: str, raw: bytes, before: _File | None) -> tuple[_File, list[_Unit], list[_Unit]]:
        """The next version of a file -> it, and the units that went and came."""
        olds = before.units if before is not None else []
        if not any(word in raw for word in self._words):
            return _File(blob, None, True), olds, []
        rebound: frozenset[bytes] = frozenset()
        if before is None or before.module is None:
            module = cut(raw, self._words)
            lost: Sequence[Segment] = ()
            come_segments: Sequence[Segment] = module.segments
        else:
            change = recut(before.module, raw, self._words)
            module, rebound = change.module, change.rebound
            lost, come_segments = change.lost, change.found
        known = {unit.segment: unit for unit in olds}
        asked = {name.decode("utf-8", "replace") for name in rebound}
        units: list[_Unit] = []
        come: list[_Unit] = []
        for one in module.segments:
            if not one.raises:
                continue
            old = known.get(one)
            if old is not None and (asked.isdisjoint(old.asked)) and not _calls(old.called, (*lost, *come_segments)):
                unit = _Unit(one, old.errors, old.asked, old.called, old.part)
                del known[old.segment]
            else:
                part = self._parts.of(module, one)
                if not part.sound:
                    return self._read_whole(blob, module, olds)
                unit = _Unit(one, [-1] * len(part.sites), part.asked, part.called, part)
                if old is not None and before is not None and self._part(before, old).sites == part.sites:
                    unit.errors = old.errors
                    del known[old.segment]
                else:
                    come.append(unit)
            units.append(unit)
        return _File(blob, module, True, units), list(known.values()), come

    def _read_whole(self, blob: str, module: Module, olds: list[_Unit]) -> tuple[_File, list[_Unit], list[_Unit]]:
        part = self._parts.whole(module)
        unit = _Unit(_whole(module), [-1] * len(part.sites), part.asked, part.called, part)
        return _File(blob, module, False, [unit]), olds, [unit]

    def _settle(self, position: int, lost: list[_Lone], found: list[_Lone]) -> Taken:
        """Who is who among the sites of what went and came."""
        taken = Taken([], [])
        for before, after in _carried(lost, found):
            after.unit.errors = before.unit.errors
            for error, ours, theirs in zip(before.unit.errors, before.sites, after.sites, strict=True):
                taken.spans.extend(_continued(position, error, ours, theirs))
        errors = {site: error for one in lost for site, error in zip(one.sites, one.unit.errors, strict=True)}
        places = {site: (one.unit, n) for one in found for n, site in enumerate(one.sites)}
        for pair in match(errors, places):
            error = errors[pair.before]
            if pair.after is None:
                taken.ends.append((error, position))
                continue
            unit, n = places.pop(pair.after)
            unit.errors[n] = error
            taken.spans.extend(_continued(position, error, pair.before, pair.after))
        for site, (unit, n) in sorted(places.items(), key=lambda item: (item[0].path, item[0].line, item[1][1])):
            unit.errors[n] = self._number()
            taken.spans.append(Span(unit.errors[n], position, (Kind.NEW,), site))
        return taken


def sites_in(
    mirror: Mirror, held: Held, asserts: bool, wanted: Collection[int] | None = None
) -> list[tuple[int, Site]]:
    """The errors in a file, or those wanted of them, each with its site as the file has it. GitError: unreadable."""
    follower = Follower(mirror, asserts, lambda path: held, 0)
    return follower.sites(held.path, wanted)


class _Lone(NamedTuple):
    """A unit that went or came, and its sites where they stand."""

    unit: _Unit
    sites: list[Site]


def _carried(lost: list[_Lone], found: list[_Lone]) -> Iterator[tuple[_Lone, _Lone]]:
    """What was carried from file to file as it is, where nobody can mistake it; taken out of both lists."""
    gone: dict[tuple[bytes, tuple[Site, ...]], list[_Lone]] = defaultdict(list)
    come: dict[tuple[bytes, tuple[Site, ...]], list[_Lone]] = defaultdict(list)
    for said, lones in ((gone, lost), (come, found)):
        for one in lones:
            assert one.unit.part is not None
            said[one.unit.segment.data, one.unit.part.sites].append(one)
    taken = set()
    for key, ours in gone.items():
        if key in come and len(come[key]) == len(ours):
            for pair in zip(ours, come[key], strict=True):
                taken |= {id(pair[0].unit), id(pair[1].unit)}
                yield pair
    lost[:] = [one for one in lost if id(one.unit) not in taken]
    found[:] = [one for one in found if id(one.unit) not in taken]


def _continued(position: int, error: int, before: Site, after: Site) -> Iterator[Span]:
    """The span that begins where a site differs from what it was, if it does in more than its line."""
    changed = kinds(before, after) - {Kind.MOVED}
    if changed or _said(before) != _said(after):
        yield Span(error, position, tuple(kind for kind in Kind if kind in changed), after)


def _said(site: Site) -> tuple[object, ...]:
    return site.exception, site.messages, site.form, site.guard


def _calls(names: frozenset[str], segments: Iterable[Segment]) -> bool:
    """Whether one of the functions is called in the segments."""
    calls = [f"{name}(".encode() for name in names]
    return any(call in one.data for one in segments for call in calls) if calls else False


def _whole(module: Module) -> Segment:
    """A file as a single segment."""
    return Segment(module.source, 0, True, {})
