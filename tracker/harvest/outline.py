"""The top-level definitions of a source by the first characters of its lines, before anything is parsed.

Only a guess: a line that looks like a statement can stand in a string or a bracket. Whoever parses a part sees it
there, as an error. What is left out of the parsing is held to more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# In column 0: a decorator, the head of a definition, or another statement. What closes a bracket or a string, or is a
# comment, goes on with what is before it.
_STATEMENT = re.compile(rb"\n(?:(@)|(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)(?=[ \t]*[(:\[])|(?=[^\s#)\]}\"'\\]))")

_STUMBLE = re.compile(rb"\[\s*\*\(")
"""The one thing found in the history of JAX that tree-sitter-python 0.25 cannot read though Python can: `x[*(y)]`."""

# Quotes in a comment, in a string of the other quotes, or behind a backslash: they neither begin nor end anything.
_UNCOUNTED = re.compile(rb"""#[^\n]*(?:\"{3}|'{3})|"[^"\n]*'{3}|'[^'\n]*\"{3}|\\(?:\"{3}|'{3})""")

_CONTINUED = re.compile(rb"\\\n[@\w]")
"""A line that goes on in column 0 looks like a statement there."""

Span = tuple[int, int]
"""Where something begins and ends in the source."""


class Definition(NamedTuple):
    """A function or class of the module, with its decorators and the comments behind it."""

    name: str
    start: int
    stop: int


def divide(source: bytes, words: Sequence[bytes]) -> tuple[list[Span], list[Definition]] | None:
    """What has to be parsed of a source, and the definitions that hold none of the words and can be left for later.

    None where lines do not tell where statements begin.
    """
    if b"\f" in source or _CONTINUED.search(source):
        return None
    read: list[Span] = []
    left: list[Definition] = []
    for start, stop, name in _parts(source):
        if name is not None and _can_wait(source, start, stop, words):
            left.append(Definition(name.decode(), start, stop))
        elif read and read[-1][1] == start:
            read[-1] = read[-1][0], stop
        else:
            read.append((start, stop))
    return read, left


def _can_wait(source: bytes, start: int, stop: int, words: Sequence[bytes]) -> bool:
    return (
        all(source.find(word, start, stop) < 0 for word in words)
        # An odd number of them: a string begins or ends elsewhere.
        and not (double := source.count(b'"""', start, stop)) & 1
        and not (single := source.count(b"'''", start, stop)) & 1
        and not ((double or single) and _UNCOUNTED.search(source, start, stop))
        and (source.find(b"*(", start, stop) < 0 or not _STUMBLE.search(source, start, stop))
    )


def _parts(source: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    """The parts of a source in order, without gaps: definitions with their names, and all that is between them."""
    start = 0
    name: bytes | None = None
    inside = decorated = sure = False
    for match in _STATEMENT.finditer(b"\n" + source):
        what = match.lastindex
        if decorated:
            # The head of what is decorated follows; with anything else between, the whole is parsed to see.
            if what == 2:
                name, decorated = match[2] if sure else None, False
            elif what is None:
                sure = False
            continue
        if what is None and not inside:
            continue
        at = match.start()
        if at > start:
            yield start, at, name
        start, name = at, match[2]
        inside, decorated, sure = what is not None, what == 1, True
    if start < len(source):
        yield start, len(source), name
