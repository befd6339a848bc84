"""Words of reports: counted nouns, and two texts with the differing words marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_WORD = re.compile(r"\s+|\w+|[^\w\s]")

ALIKE = 0.6
"""Share of words that two texts have in common from which they are shown as one text that changed."""


def counted(number: int, noun: str) -> str:
    """A number and its noun: 1 page, 2 pages."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Run(NamedTuple):
    """A stretch of text that is in both, or only in this one."""

    text: str
    differs: bool


def marked(before: str, after: str) -> tuple[list[Run], list[Run]]:
    """Both texts cut into runs, by words; joined again, the runs give the texts."""
    ours, theirs = _WORD.findall(before), _WORD.findall(after)
    # autojunk would call every frequent word of a long message noise.
    operations = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    left = [Run("".join(ours[a:b]), name != "equal") for name, a, b, _, _ in operations if a < b]
    right = [Run("".join(theirs[a:b]), name != "equal") for name, _, _, a, b in operations if a < b]
    return list(_bridged(left)), list(_bridged(right))


def in_signs(before: str, after: str) -> tuple[str, str]:
    """Both texts with what is only in the one as `[-words-]` and what is only in the other as `{+words+}`; nothing is
    marked where the other side has no text at all.
    """
    if not before or not after:
        return before, after
    ours, theirs = marked(before, after)
    return (
        "".join(f"[-{run.text}-]" if run.differs else run.text for run in ours),
        "".join(f"{{+{run.text}+}}" if run.differs else run.text for run in theirs),
    )


Change = tuple[str, str]
"""A text, and what it is now; empty: there is none on that side."""


def compared(changes: Iterable[Change]) -> list[str]:
    """The texts in signs, a `-` before each line of what was and a `+` before each of what is."""
    return [
        f"{sign} {line}"
        for change in changes
        for sign, text in zip("-+", in_signs(*change), strict=True)
        for line in text.split("\n")
        if line
    ]


def paired(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """Each text with the one on the other side that it is likest to, one to one, in order; those that are like none
    stand alone, with nothing on the other side.
    """
    if len(before) == len(after) == 1:
        return [(before[0], after[0])]
    likeness = [
        (-SequenceMatcher(None, _WORD.findall(a), _WORD.findall(b), autojunk=False).quick_ratio(), n, m)
        for n, a in enumerate(before)
        for m, b in enumerate(after)
    ]
    partners: dict[int, int] = {}
    for apart, n, m in sorted(likeness):
        if -apart >= ALIKE and n not in partners and m not in partners.values():
            partners[n] = m
    pairs = [(text, after[partners[n]] if n in partners else "") for n, text in enumerate(before)]
    return pairs + [("", text) for m, text in enumerate(after) if m not in partners.values()]


def _bridged(runs: list[Run]) -> Iterator[Run]:
    """Blanks between two changed words are changed as well: one mark instead of two."""
    waiting: Run | None = None
    for n, run in enumerate(runs):
        between = run.text.isspace() and 0 < n < len(runs) - 1 and runs[n - 1].differs and runs[n + 1].differs
        run = Run(run.text, run.differs or between)
        if waiting is not None and waiting.differs == run.differs:
            waiting = Run(waiting.text + run.text, run.differs)
            continue
        if waiting is not None:
            yield waiting
        waiting = run
    if waiting is not None:
        yield waiting
