"""What a lookup asks of the past: values, and the questions as a protocol. Who knows the history can answer them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tracker.lookup.frames import Frame
from tracker.lookup.paste import Raised
from tracker.model import Kind, Revision, Site


@dataclass(frozen=True, slots=True)
class Release:
    """A released version that the mirror has."""

    version: str
    revision: Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The releases in a row that raise a wording."""

    first: str
    last: str
    ongoing: bool
    """The last one is the newest release known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a site in one release."""

    release: str
    kinds: frozenset[Kind]
    site: Site | None
    """None: nothing continues it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """In which releases a site's text is raised, and what became of it."""

    span: Span | None
    """None: no release raises it, or it has no text to follow."""
    changes: tuple[Change, ...]
    """Since the last release of the span, oldest first."""
    now: Site | None
    """The site at the newest revision; None: removed, or not followed so far."""


class Past(Protocol):
    """Every release there was."""

    def of(self, version: str) -> Release | None:
        """The release of a version as a paste states it; of one that was never released, the last one before it."""

    def by_frames(self, frames: Iterable[Frame]) -> Sequence[Release]:
        """The releases in which the most of the frames' lines read as pasted, oldest first; empty: in none."""

    def raising(self, error: Raised) -> Sequence[Release]:
        """The releases, newest first, that can have raised the whole text of an error."""

    def story(self, site: Site, at: Revision, newest: Revision) -> Story:
        """The releases that raise what a site of a revision says, and what became of it since."""
