"""What `textwrap` and the string methods do to a text with holes."""

from __future__ import annotations

import re
import textwrap

from tracker.harvest.parts import Foreign, Hole, Parts


def dedent(parts: Parts) -> Parts:
    """`textwrap.dedent` of a text with holes."""
    marks = {f"\ue000{n}\ue001": part for n, part in enumerate(parts) if not isinstance(part, str)}
    keys = iter(marks)
    flat = textwrap.dedent("".join(part if isinstance(part, str) else next(keys) for part in parts))
    found: list[str | Hole | Foreign] = []
    for mark, hole in marks.items():
        before, _, flat = flat.partition(mark)
        found += [before, hole] if before else [hole]
    return (*found, flat) if flat else tuple(found)


def stripped(parts: Parts, method: str) -> Parts:
    """Case changes and replacements are left as written: who reads the page reads the source's words."""
    ends = list(parts)
    if method in ("strip", "lstrip") and isinstance(ends[0], str):
        ends[0] = ends[0].lstrip()
    if method in ("strip", "rstrip") and isinstance(ends[-1], str):
        ends[-1] = ends[-1].rstrip()
    return tuple(part for part in ends if part != "")


_ENDS = re.compile(r"(\d*) *: *(?:-(\d+))?")


def cut(parts: Parts, bounds: str) -> Parts:
    """`text[a:-b]`: without so much of the literal text at both ends. Other slices are left whole: who sees the error
    sees its beginning.
    """
    found = _ENDS.fullmatch(bounds)
    ends = list(parts)
    if found is not None:
        front, back = int(found[1] or 0), int(found[2] or 0)
        if isinstance(ends[0], str):
            ends[0] = ends[0][front:]
        if isinstance(ends[-1], str):
            ends[-1] = ends[-1][: len(ends[-1]) - back] if back <= len(ends[-1]) else ""
    return tuple(part for part in ends if part != "")
