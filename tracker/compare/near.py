"""Messages that are nearly the same as others: which a writer should look at together. It decides nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz import fuzz, process

from tracker.message import HOLE, wording

NEARLY = 90.0
"""Percent of likeness from which on two wordings are nearly the same: at 60 it holds for most messages of JAX."""
LEAST = 8
"""Letters of a wording that says something; below, likeness is chance."""


def near(messages: Iterable[str]) -> dict[str, list[str]]:
    """Wording -> the other wordings among the messages that are nearly the same, the most alike first."""
    wordings = sorted({text for message in messages if says_something(text := wording(message))}, key=_by_length)
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    stop = 0
    for at, text in enumerate(wordings):
        # Of two texts so unlike in length, even all of the shorter one is not enough.
        longest = len(text) * (200 / NEARLY - 1)
        while stop < len(wordings) and len(wordings[stop]) <= longest:
            stop += 1
        longer = wordings[at + 1 : stop]
        for other, score, _ in process.extract(text, longer, scorer=fuzz.ratio, score_cutoff=NEARLY, limit=None):
            found[text].append((-score, other))
            found[other].append((-score, text))
    return {text: [other for _, other in sorted(others)] for text, others in found.items()}


def says_something(text: str) -> bool:
    """Whether a wording has enough letters of its own for likeness to mean anything."""
    return sum(map(str.isalpha, text.replace(HOLE, ""))) >= LEAST


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text
