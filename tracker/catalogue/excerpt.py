"""Where a page's excerpt begins in the source file: found from the raise statement that the page is about.

Plain text only: the excerpt is a fragment, and what cannot be said by looking at its lines is not said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracker.message import split
from tracker.model import leaf

BEFORE = 18
"""Source lines that a page shows before the site, measured on the samples: fewer near the file's start and
where the first ones are blank."""

# A statement of its own, or the only one of a clause on one line.
_RAISE = re.compile(r"\s*(?:(?:if|elif|else|for|while|try|except|finally|with|case|def)\b.*:\s*)?raise\b")
_WORD = re.compile(r"\w+")
AFTER = 18
"""Source lines that a page shows from the site on, its first line aside; measured on the samples."""

_CLOSING = (")", "]", "}")


def first_line(lines: Sequence[str], *, line: int, exception: str, message: str) -> int | None:
    """The line number of the excerpt's first line, where its site is at `line`; None where it shows no raise.

    Of several raises the site is the one that holds most words of the message, then the one with the
    exception's name, then the one nearest to where the page's window has its site, in doubt the earlier.
    """
    words = {word for literal in split(message)[0] for word in _WORD.findall(literal)}
    name = leaf(exception)
    best: tuple[tuple[int, bool, int], int] | None = None
    for index, text in enumerate(lines):
        if "raise" not in text or index >= line or not _RAISE.match(text):
            continue
        held = set(_WORD.findall(_statement(lines, index)))
        found = len(words & held)
        # Fewer than half is what any two messages share; the message is then in a variable.
        merit = (found if 2 * found >= len(words) else 0, name in held, -abs(index - BEFORE))
        if best is None or merit > best[0]:
            best = merit, index
    return None if best is None else line - best[1]


def first_line_in(source: Sequence[str], excerpt: str, *, line: int, guess: int | None) -> int | None:
    """The same, from the file that the excerpt was taken out of; the guess where the file does not have it there.

    Two raise statements close to each other can share so many words that the excerpt alone does not tell.
    """
    lines = excerpt.split("\n")
    first, last = max(1, line - len(lines) + 1), line
    starts = [*([guess] if guess is not None and guess > 0 else []), *range(first, last + 1)]
    return next((start for start in starts if list(source[start - 1 : start - 1 + len(lines)]) == lines), guess)


def window(lines: Sequence[str], line: int, before: int, after: int) -> tuple[int, int]:
    """First and last line of the excerpt that shows so many lines before and after the site at `line`.

    A page shows no blank line at either end, nor anything beyond the file. To a blank end the window goes on to the
    next line that says something, as far as pages do; else it draws back. So it never shrinks from one repin to the
    next by more than the pages' own window would.
    """
    start = _end(lines, max(1, line - before), -1, max(1, line - max(before, BEFORE)))
    stop = _end(lines, min(len(lines), line + after), 1, min(len(lines), line + max(after, AFTER)))
    return start, stop


def _end(lines: Sequence[str], line: int, outwards: int, last: int) -> int:
    """The line nearest to `line` that is not blank: outwards as far as `last`, else inwards."""
    for way in (range(line, last + outwards, outwards), range(line, 0 if outwards > 0 else len(lines) + 1, -outwards)):
        for at in way:
            if lines[at - 1].strip():
                return at
    return line


def _statement(lines: Sequence[str], index: int) -> str:
    """The lines of a raise statement: up to the next one that is indented no deeper and closes nothing."""
    indent = _indent(lines[index])
    stop = index + 1
    while stop < len(lines):
        text = lines[stop].strip()
        if text and _indent(lines[stop]) <= indent and not text.startswith(_CLOSING):
            break
        stop += 1
    return "\n".join(lines[index:stop])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
