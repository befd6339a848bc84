"""A pair -> the kinds of drift in it. What differs, never who is who."""

from __future__ import annotations

from tracker.compare.similarity import guard_tokens, texts
from tracker.message import placeholders
from tracker.model import Form, Kind, Site, leaf


def kinds(before: Site, after: Site) -> frozenset[Kind]:
    """What differs between a site and the one that continues it; empty: nothing."""
    found: set[Kind] = set()
    if before.path != after.path or before.scope != after.scope:
        found.add(Kind.RELOCATED)
    if before.path == after.path and before.line != after.line:
        found.add(Kind.MOVED)
    # What is raised again is whatever was caught, by whichever name.
    again = before.form is after.form is Form.RERAISE
    if leaf(before.exception) != leaf(after.exception) and not again:
        found.add(Kind.RETYPED)
    # Most pairs are equal to the letter, and need not be taken apart to know.
    if before.messages != after.messages:
        if set(texts(before)) != set(texts(after)):
            found.add(Kind.REWORDED)
        elif _placeholders(before) != _placeholders(after):
            found.add(Kind.PLACEHOLDER_CHANGED)
    if before.guard != after.guard and guard_tokens(before.guard) != guard_tokens(after.guard):
        found.add(Kind.GUARD_CHANGED)
    return frozenset(found)


def _placeholders(site: Site) -> set[tuple[tuple[str, ...], ...]]:
    return set(map(placeholders, site.messages))
