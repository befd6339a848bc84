"""The words of the index of the history as values, and which releases hold what. No SQL here."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tracker.model import Cause, Kind, Site


class Commit(NamedTuple):
    """A commit on the line of first parents."""

    position: int
    cause: Cause


class Release(NamedTuple):
    """A release, and how far along the line of first parents it reaches."""

    version: str
    rank: int
    position: int
    date: str
    commit: str
    """What the tag stands on; of the line, or of a branch that left it at `position`."""


class Span(NamedTuple):
    """From a commit on, an error is raised like this."""

    error: int
    since: int
    """Position of the commit on the line of first parents."""
    kinds: tuple[Kind, ...]
    """What differs from before, `new` at the beginning; empty where nothing differs that anyone is told."""
    site: Site


class Held(NamedTuple):
    """What a file holds from a commit on: what is needed to go on from there."""

    path: str
    since: int
    blob: str | None
    """None: it is not there any more."""
    sound: bool
    """Whether it is followed by its definitions, not as a whole."""
    units: Sequence[tuple[Sequence[int], Sequence[str], Sequence[str]]]
    """Of each definition that can hold sites: the errors, names it refers to in its module, and functions whose calls
    have a say in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """An interval of commits in which an error reads the same."""

    since: int
    until: int | None
    """Position of the commit that ended it; None: it still reads so."""
    kinds: tuple[Kind, ...]
    site: Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One text that an error had at some time."""

    error: int
    text: str
    exception: str | None
    path: str
    scope: str
    first: str | None
    """The first release that said so; None: it never was in one."""
    last: str | None
    """The last one; still said at the newest commit where `alive`."""
    alive: bool


class Released:
    """Which releases hold what lies between two positions."""

    def __init__(self, releases: Sequence[Release]) -> None:
        self._releases = sorted(releases, key=lambda release: (release.position, release.rank))
        self._positions = [release.position for release in self._releases]
        self._known: dict[tuple[int, int], tuple[Release, Release] | None] = {}

    def within(self, since: int, until: int | None = None) -> tuple[Release, Release] | None:
        """The lowest and the highest version whose position is at `since` or behind it, and before `until`."""
        first = bisect_left(self._positions, since)
        last = len(self._positions) if until is None else bisect_left(self._positions, until)
        if (first, last) not in self._known:
            some = sorted(self._releases[first:last], key=lambda release: release.rank)
            self._known[first, last] = (some[0], some[-1]) if some else None
        return self._known[first, last]
