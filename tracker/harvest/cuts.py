"""A source cut at its top-level definitions by plain bytes, and its next version cut again only where it changed.

Nothing is parsed: a cut can fall into a string or a bracket, which the parser then says of the piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tracker.harvest.source import DEFINITION

_LOOK = 8
"""Bytes behind an edge that tell it: `async` and what is no letter."""


def cut(source: bytes) -> list[bytes]:
    """The top-level definitions of a source, and what stands between them; joined they are the source."""
    return [source[start:stop] for start, stop in pairwise([0, *_edges(source), len(source)]) if start < stop]


def recut(pieces: Sequence[bytes], source: bytes) -> tuple[int, int, list[bytes]]:
    """The next version of a source that was cut into `pieces` -> what is new, and where: `pieces[first:last]` went, and
    the pieces that came stand in their place. Some of those can be equal to some that went.
    """
    first = at = 0
    while first < len(pieces) and source.startswith(pieces[first], at):
        at += len(pieces[first])
        first += 1
    # What follows decides where a piece ends: the last one before the change is cut again.
    if first:
        first -= 1
        at -= len(pieces[first])
    last, stop = len(pieces), len(source)
    while last > first and source.endswith(pieces[last - 1], at, stop):
        last -= 1
        stop -= len(pieces[last])
    edges = list(_edges(source, max(0, at - 1), min(len(source), stop + _LOOK)))
    if last < len(pieces) and stop not in edges:
        # What is behind does not begin with an edge any more: a decorator came before it, say.
        last, stop = len(pieces), len(source)
        edges = list(_edges(source, max(0, at - 1)))
    inside = [at, *(edge for edge in edges if at < edge < stop), stop]
    return first, last, [source[start:end] for start, end in pairwise(inside)] if at < stop else []


def _edges(source: bytes, start: int = 0, stop: int | None = None) -> Iterator[int]:
    """Where the definitions of a module begin, decorators included; `start` is the end of a line that has none."""
    decorated = False
    for match in DEFINITION.finditer(source, start, len(source) if stop is None else stop):
        if not decorated:
            yield match.end()
        decorated = match[1] is not None
