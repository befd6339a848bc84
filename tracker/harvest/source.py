"""Bytes of a file -> the UTF-8 bytes that are parsed, and what was wrong with them.

Line numbers follow CPython: `\\n`, `\\r\\n` and a lone `\\r` end a line, a form feed does not.
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

DEFINITION = re.compile(rb"\n(?=(@)|def\b|class\b|async\b)")
"""The line end before what begins a definition in column 0; the group tells a decorator. A match inside a string or a
bracket is none: the parser says so of the piece that is cut there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file made ready for the parser."""

    data: bytes
    """UTF-8, `\\n` line ends, no byte order mark."""
    problem: str | None
    """Why the text is not surely what Python would read; None where it is."""


def normalize(raw: bytes) -> Source:
    """The bytes of a file -> `Source`. Never fails: what cannot be decoded is kept byte by byte and said."""
    text, problem = _decode(raw)
    data = raw.removeprefix(b"\xef\xbb\xbf") if text is None else text.encode("utf-8", "surrogatepass")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in data:
        problem = problem or "holds a null byte"
        data = data.replace(b"\0", b" ")
    if _may_be_deep(data) and (line := _too_deep(data)):
        problem = problem or f"has too many levels of indentation at line {line}"
        data = _DEEP.sub(b"\n" + b" " * LEVELS, data)
    return Source(data=data, problem=problem)


LEVELS = 100
"""Levels of indentation that CPython allows (MAXINDENT of its tokenizer); the grammar's scanner breaks at 510."""

_DEEP = re.compile(rb"\n[ \t\f]{%d,}(?=[^\s])" % (LEVELS // 8))
_TABBED = re.compile(rb"\n *[\t\f][ \t\f]{%d}" % (LEVELS // 8 - 1))


def _may_be_deep(data: bytes) -> bool:
    """Whether a line has the columns that so many levels take: one blank for each, or a tab for eight."""
    return b"\n" + b" " * LEVELS in data or ((b"\t" in data or b"\f" in data) and _TABBED.search(data) is not None)


def _too_deep(data: bytes) -> int | None:
    """The first line with more levels of indentation than Python allows, brackets and strings not looked at."""
    levels = [0]
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.expandtabs(8).lstrip(b" \f")
        if text:
            column = len(line.expandtabs(8)) - len(text)
            while levels[-1] > column:
                levels.pop()
            if levels[-1] < column:
                levels.append(column)
            if len(levels) > LEVELS:
                return number
    return None


def _decode(raw: bytes) -> tuple[str | None, str | None]:
    """Text (None: the bytes are UTF-8 as they stand) and problem."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except SyntaxError:
        # An unknown coding cookie, or one that contradicts the byte order mark, or no UTF-8 in the first lines.
        encoding = "utf-8"
    if encoding not in ("utf-8", "utf-8-sig"):
        try:
            return raw.decode(encoding), None
        except (UnicodeDecodeError, LookupError):
            return _salvage(raw), f"cannot be decoded as {encoding}, the encoding it names"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return _salvage(raw), f"is not valid UTF-8 at line {line}"
    return None, None


def _salvage(raw: bytes) -> str:
    """Invalid bytes as the Latin-1 characters they most often are; everything valid stays what it is."""
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return "".join(chr(ord(c) - 0xDC00) if "\udc80" <= c <= "\udcff" else c for c in text)
