"""What a lookup asks of the past: values, and the questions as a protocol, which whoever knows the past can answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


MOST_CHANGES = 4
"""Changes of a site that are told, one after the other."""


class Past(Protocol):
    """Who has seen every release."""

    def raising(self, error: Raised) -> Sequence[Release]:
        """The releases, newest first, that can have raised the whole text of an error."""

    def story(self, site: Site, at: Revision, newest: Revision) -> Story:
        """The releases that raise what a site of a revision says, and what became of it since."""
