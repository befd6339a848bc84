"""What is wrong with pages, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tracker.model import Revision


class Fault(StrEnum):
    """What is wrong with a page, in the order in which a person is told."""

    UNREADABLE = "unreadable"
    DUPLICATE_ID = "duplicate-id"
    DUPLICATE_SITE = "duplicate-site"
    UNLOCATED = "unlocated"
    EXCEPTION_DIFFERS = "exception-differs"
    LINE_DIFFERS = "line-differs"
    EXCERPT_DIFFERS = "excerpt-differs"
    RELATED_GONE = "related-gone"
    RELATED_REWORDED = "related-reworded"
    REFERENCE_GONE = "reference-gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault of one page."""

    fault: Fault
    entry: str | None
    """None where the page has no id that can be used."""
    file: str
    line: int
    """Of the page's file."""
    name: str
    """What is meant: the related error, the reference; empty where it is the page itself."""
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What is wrong, and how much was looked at."""

    at: Revision
    pages: int
    """Pages that were read."""
    pinned: int
    """Those of them that were compared with their pins."""
    related: int
    """Related errors whose state is known."""
    names: int
    """References whose state is known."""
    findings: tuple[Finding, ...]
    """By file and line."""
    unjudged: Mapping[str, int]
    """What was looked at and could not be judged -> how often."""
    unverified: tuple[str, ...]
    """What could not be looked at at all, and why."""
