"""The files of a mirror at one commit, each with the errors in it, and how one version of a file follows another.

Nothing here decides who is who: a part of a file is the same as before, or it went and came.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tracker.harvest.modules import Module, cut, recut, words
from tracker.harvest.reading import Parts
from tracker.harvest.segments import Segment
from tracker.harvest.sites import Part
from tracker.model import Site
from tracker.repository.mirror import Mirror
from tracker.store.timeline import Held


@dataclass(slots=True, eq=False)
class Unit:
    """A segment of a file and the errors in it."""

    segment: Segment
    errors: list[int]
    asked: frozenset[str]
    called: frozenset[str]
    part: Part | None = None
    """None: not read yet in this process."""


@dataclass(slots=True)
class File:
    """One version of a file."""

    blob: str
    module: Module | None
    """None: it holds nothing that could be a site."""
    sound: bool
    units: list[Unit] = field(default_factory=list)


Load = Callable[[str], Held | None]
"""What is known of a file that was not touched yet."""


class Lone(NamedTuple):
    """A unit that went or came, and its sites where they stand."""

    unit: Unit
    sites: list[Site]


class Files:
    """What is known of the files so far; those that nobody asked for yet come through `load`."""

    def __init__(self, mirror: Mirror, asserts: bool, load: Load) -> None:
        self._mirror = mirror
        self._words = words(asserts)
        self._parts = Parts(asserts)
        self._load = load
        self._files: dict[str, File | None] = {}

    def __setitem__(self, path: str, file: File | None) -> None:
        self._files[path] = file

    def sites(self, path: str, wanted: Collection[int] | None = None) -> list[tuple[int, Site]]:
        """The errors in a file, or those wanted of them, with their sites, in order."""
        file = self.known(path)
        units = [unit for unit in file.units if wanted is None or set(wanted) & set(unit.errors)] if file else []
        lones = self.placed(path, file, units) if file is not None and units else ()
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

    def known(self, path: str) -> File | None:
        if path not in self._files:
            held = self._load(path)
            self._files[path] = self._restored(held) if held is not None and held.blob is not None else None
        return self._files[path]

    def _restored(self, held: Held) -> File:
        assert held.blob is not None
        if not held.units:
            return File(held.blob, None, held.sound)
        module = cut(self._mirror.content(held.blob), self._words)
        raising = [one for one in module.segments if one.raises] if held.sound else [_whole(module)]
        units = [
            Unit(one, list(errors), frozenset(asked), frozenset(called))
            for one, (errors, asked, called) in zip(raising, held.units, strict=True)
        ]
        return File(held.blob, module, held.sound, units)

    def placed(self, path: str, file: File, units: Sequence[Unit]) -> Iterator[Lone]:
        """Units with the sites as they stand in the file."""
        assert file.module is not None
        wanted = {unit.segment: unit for unit in units}
        line = 0
        for one in file.module.segments if file.sound else [unit.segment for unit in units]:
            if (unit := wanted.get(one)) is not None:
                part = self._part(file, unit)
                yield Lone(unit, [site.shifted(line, path) for site in part.sites])
            line += one.lines

    def _part(self, file: File, unit: Unit) -> Part:
        if unit.part is None:
            assert file.module is not None
            unit.part = self._parts.of(file.module, unit.segment) if file.sound else self._parts.whole(file.module)
        return unit.part

    def read(self, path: str, blob: str, raw: bytes, before: File | None) -> tuple[File, list[Unit], list[Unit]]:
        """The next version of a file -> it, and the units that went and came."""
        olds = before.units if before is not None else []
        if not any(word in raw for word in self._words):
            return File(blob, None, True), olds, []
        rebound: set[str] = set()
        called: set[str] = set()
        if before is None or before.module is None:
            module = cut(raw, self._words)
        else:
            change = recut(before.module, raw, self._words)
            module = change.module
            asked = {name.encode(): name for unit in olds for name in unit.asked}
            rebound = {asked[name] for name in change.rebound(asked)}
            called = change.called({name for unit in olds for name in unit.called})
        if module.in_doubt:
            return self._read_whole(blob, module, olds)
        known = {unit.segment: unit for unit in olds}
        units: list[Unit] = []
        come: list[Unit] = []
        for one in module.segments:
            if not one.raises:
                continue
            old = known.get(one)
            if old is not None and rebound.isdisjoint(old.asked) and called.isdisjoint(old.called):
                unit = Unit(one, old.errors, old.asked, old.called, old.part)
                del known[old.segment]
            else:
                part = self._parts.of(module, one)
                if not part.sound:
                    return self._read_whole(blob, module, olds)
                unit = Unit(one, [-1] * len(part.sites), part.asked, part.called, part)
                if old is not None and before is not None and self._part(before, old).sites == part.sites:
                    unit.errors = old.errors
                    del known[old.segment]
                else:
                    come.append(unit)
            units.append(unit)
        return File(blob, module, True, units), list(known.values()), come

    def _read_whole(self, blob: str, module: Module, olds: list[Unit]) -> tuple[File, list[Unit], list[Unit]]:
        part = self._parts.whole(module)
        unit = Unit(_whole(module), [-1] * len(part.sites), part.asked, part.called, part)
        return File(blob, module, False, [unit]), olds, [unit]


def sites_in(
    mirror: Mirror, held: Held, asserts: bool, wanted: Collection[int] | None = None
) -> list[tuple[int, Site]]:
    """The errors in a file, or those wanted of them, each with its site as the file has it. GitError: unreadable."""
    return Files(mirror, asserts, lambda path: held).sites(held.path, wanted)


def _whole(module: Module) -> Segment:
    """A file as a single segment."""
    return Segment(module.source, 0, True, 0, None)
