"""One commit after the other: which sites it made, changed and ended, by the very same match and classify as `diff`.

Values in, values out: blobs come through the mirror, and what was known of a file through `load`. Nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.history.files import File, Files, Load, Lone, Unit
from tracker.model import Kind, Site
from tracker.repository.mirror import Mirror
from tracker.repository.steps import Step
from tracker.store.timeline import Span


class Taken(NamedTuple):
    """What one commit, or several in a row, did."""

    spans: list[Span]
    ends: list[tuple[int, int]]
    """Error, and the position of the commit that ended it."""


class Follower:
    """The state of all files at one commit, and the way to the next one."""

    def __init__(self, mirror: Mirror, asserts: bool, load: Load, next_error: int) -> None:
        self._mirror = mirror
        self.files = Files(mirror, asserts, load)
        self._next = next_error

    def begin(self, files: Mapping[str, str]) -> int:
        """Take the sites of all files (path -> blob) as they are, numbered by path and line -> how many there are."""
        first = self._next
        for path in sorted(files):
            file = self.files.read(path, files[path], self._mirror.content(files[path]), None)[0]
            self.files[path] = file
            for unit in file.units:
                unit.errors = [self._number() for _ in unit.errors]
        return self._next - first

    def along(self, steps: Iterable[tuple[int, Step]]) -> Iterator[tuple[int, Step, Taken]]:
        """The steps at their positions, each with what happened there. GitError: an object cannot be read."""
        steps = list(steps)
        contents = self._mirror.read(change.new for _, step in steps for change in step.changes if change.new)
        for position, step in steps:
            yield position, step, self._take(position, step, contents)

    def _number(self) -> int:
        self._next += 1
        return self._next - 1

    def _take(self, position: int, step: Step, contents: Iterator[tuple[str, bytes]]) -> Taken:
        lost: list[Lone] = []
        found: list[Lone] = []
        for change in step.changes:
            path = change.before or change.after
            assert path is not None
            before = self.files.known(path)
            after: File | None = None
            gone = before.units if before is not None else []
            come: list[Unit] = []
            if change.new is not None:
                after, gone, come = self.files.read(path, change.new, next(contents)[1], before)
            self.files[path] = after
            if before is not None and gone:
                lost += self.files.placed(path, before, gone)
            if after is not None and come:
                found += self.files.placed(path, after, come)
        return self._settle(position, lost, found)

    def _settle(self, position: int, lost: list[Lone], found: list[Lone]) -> Taken:
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


def _carried(lost: list[Lone], found: list[Lone]) -> Iterator[tuple[Lone, Lone]]:
    """What was carried from file to file as it is, where nobody can mistake it; taken out of both lists."""
    gone: dict[tuple[bytes, tuple[Site, ...]], list[Lone]] = defaultdict(list)
    come: dict[tuple[bytes, tuple[Site, ...]], list[Lone]] = defaultdict(list)
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
