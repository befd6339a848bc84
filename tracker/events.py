"""What became of errors over time, as values: the words of `tracker history`. No input, no output, no formatting."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.model import Cause, Kind, Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What one commit did to an error."""

    kinds: tuple[Kind, ...]
    """`new` alone: it came; `removed` alone: it went."""
    cause: Cause
    release: str | None
    """The lowest version that holds the commit; None: none yet."""
    site: Site
    """As the commit left it, or as it was when the commit took it away."""
    before: Site | None
    """As it was before; None where it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """An error from the first commit that raised it to the last."""

    entry: str | None
    """The page that speaks of it."""
    site: Site
    """The newest: where it is now, or as it was last."""
    alive: bool
    first: str | None
    """The first release that could raise it; None: it never was in one."""
    last: str | None
    """The last one."""
    events: tuple[Event, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answer to one question."""

    query: str
    lives: tuple[Life, ...]
    """Newest first."""
    more: int = 0
    """How many more there are."""
    since: str | None = None
    """Where only events behind a date, revision or version are told: which one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One line of a changelog."""

    kinds: tuple[Kind, ...]
    before: Site | None
    after: Site | None
    cause: Cause | None
    """The last commit that made a difference of these kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changelog:
    """What became of all errors between two releases or revisions."""

    base: str
    target: str
    changes: tuple[Changed, ...]
    """Ordered by file and line."""
    errors: tuple[int, int]
    """How many there were, and are."""
