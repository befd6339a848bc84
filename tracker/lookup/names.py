"""Where a line of a paste names an exception, and where its message begins. Knows names by their form only."""

from __future__ import annotations

import re
from typing import NamedTuple


class Named(NamedTuple):
    """A name in a line."""

    start: int
    name: str
    """As written, dotted; of several stacked names the last."""
    message: int
    """Where the message begins."""


# What Python and JAX call the classes of exceptions. In the place of a name, JAX also puts what stands for a traceback.
_NAME = re.compile(
    r"(?<![\w.])((?:[A-Za-z_][\w.]*)?(?:Error|Exception|Warning|Interrupt|SystemExit|StopIteration|ExceptionGroup"
    r"|StackTrace|StackTraceBeforeTransformation|SimplifiedTraceback))(?=[`*]{0,2}:(?!:)|$)"
)
_ANY_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?::\s|:?$)")
_SUMMARY = re.compile(r"(?:FAILED|ERROR) \S+ - ")
_NOT_RAISED = re.compile(r"(?:\bexcept|\braise|\bRaises|\bwith|\bfrom|\bimport|\bcatch(?:es)?)\s*:?\s*\(?\s*$")


def named(bare: str) -> Named | None:
    """The first name in a line that a message follows, or that is the whole line."""
    found = _NAME.search(bare)
    while found is not None and (
        _NOT_RAISED.search(bare[max(0, found.start() - 12) : found.start()])
        or (found.end() == len(bare) and found.start() > 0)
    ):
        found = _NAME.search(bare, found.end())
    if found is None:
        return None
    name, at = found[1], _behind(bare, found.end(1))
    while (stacked := _NAME.match(bare, at)) is not None and stacked.end(1) < len(bare):
        name, at = stacked[1], _behind(bare, stacked.end(1))
    return Named(found.start(), name, at)


def any_name(bare: str) -> Named | None:
    """Whatever has the form of a name at the start of a line; for where nothing else can stand."""
    found = _ANY_NAME.match(bare)
    return Named(0, found[1], _behind(bare, found.end(1))) if found else None


def is_summary(bare: str) -> bool:
    """Whether a line is one of pytest's short summary, where the name stands behind the test."""
    return _SUMMARY.match(bare) is not None


def _behind(line: str, at: int) -> int:
    """Where the message begins behind a name that ends at `at`."""
    while line.startswith(("`", "*"), at):
        at += 1
    at += line.startswith(":", at)
    while line.startswith(" ", at):
        at += 1
    return at
