"""The top-level statements of a source by their first characters, before anything is parsed.

Only a guess: a line that looks like a statement can stand in a string or a bracket. Whoever parses a part sees it
there, as an error. What is not going to be parsed is held to more, see `Part.plain`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# In column 0: a decorator, the head of a definition, or another statement. What closes a bracket or a string, or is a
# comment, goes on with what is before it.
_STATEMENT = re.compile(rb"\n(?:(@)|(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)(?=[ \t]*[(:\[])|(?=[^\s#)\]}\"']))")

_STUMBLE = re.compile(rb"\[\s*\*\s*\(")
"""The one thing found in the history of JAX that tree-sitter-python 0.25 cannot read though Python can: `x[*(y)]`."""


@dataclass(frozen=True, slots=True)
class Part:
    """A definition, or the other statements between two of them."""

    start: int
    stop: int
    name: str | None
    """Of a definition."""
    plain: bool
    """Whether it is so surely a whole definition, which the parser would read, that it need not be parsed to know."""


def outline(source: bytes) -> list[Part] | None:
    """The parts of a source in order, without gaps; None where lines do not tell where statements begin."""
    if b"\f" in source or b"\\\n@" in source:
        return None
    return list(_parts(source))


def _parts(source: bytes) -> Iterator[Part]:
    start = 0
    name: str | None = None
    inside = decorated = plain = False
    for match in _STATEMENT.finditer(b"\n" + source):
        at, what = match.start(), match.lastindex
        if decorated:
            # The head of what is decorated follows; anything else is unusual enough to have a look.
            if what == 2:
                name, decorated = match[2].decode(), False
            elif what is None:
                plain = False
            continue
        if what is None and not inside:
            continue
        if at > start:
            yield _part(source, start, at, name, plain)
        start = at
        inside = what is not None
        decorated = what == 1
        name = match[2].decode() if what == 2 else None
        plain = inside
    if start < len(source):
        yield _part(source, start, len(source), name, plain)


def _part(source: bytes, start: int, stop: int, name: str | None, plain: bool) -> Part:
    plain = (
        plain
        and name is not None
        # An odd number of them: a string begins or ends elsewhere.
        and not source.count(b'"""', start, stop) & 1
        and not source.count(b"'''", start, stop) & 1
        and _STUMBLE.search(source, start, stop) is None
    )
    return Part(start, stop, name, plain)
