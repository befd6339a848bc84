"""The messages of many sites, ready to be found in a pasted text: which of them can have printed it, and how well.

Literal parts only, in order; there are no patterns, so nothing can backtrack. Which site is meant is not decided here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log

from tracker.lookup.squeeze import ELISION, literals
from tracker.model import Site

GRAM = 6
STRIDE = 3
"""Pieces of literal text by which messages are found: six characters, from every third on."""

MOST_CANDIDATES = 300
"""Messages that are laid against a text one by one; those that share the rarest pieces with it come first."""

LONGEST = 60_000
"""Squeezed characters of a pasted message that are read; JAX's longest messages are a tenth of that."""


_STOPS = ".!?"
"""Signs that end a sentence: what follows may be another's words."""


@dataclass(frozen=True, slots=True)
class Text:
    """One wording and the sites that have it."""

    literals: tuple[str, ...]
    """Squeezed; the first and the last may be empty: there a placeholder begins or ends the text."""
    length: int
    """Characters in all literals."""
    letters: int
    """How many of them are letters."""
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class Pasted:
    """A pasted message, squeezed."""

    text: str
    starts: tuple[int, ...] = (0,)
    """Where a wording may begin."""
    breaks: frozenset[int] = frozenset()
    """Where lines begin: what stands from there on may be another's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a wording lies on a pasted text."""

    text: Text
    matched: int
    """Literal characters of the wording that were found, in order."""
    letters: int
    """How many of them are letters."""
    complete: bool
    """All literals were found, in order."""
    anchored: bool
    """The wording begins where the pasted message begins, or at one of its lines."""
    at_end: bool
    """The wording ends where the pasted message or a line or a sentence of it ends, or with a placeholder."""
    cut: bool
    """The pasted message ends inside the wording: what is there fits, the rest is missing."""
    elided: bool
    """What is missing can stand where a person cut something out."""
    shown: int
    """Of a cut wording, the characters of the interrupted literal that are there."""
    rest: int
    """Of a cut wording, the letters that are missing."""

    @property
    def holes(self) -> int:
        return len(self.text.literals) - 1


class Index:
    """All wordings of a set of sites; `fuller` are more of them, with what callers hand in."""

    def __init__(self, sites: Iterable[Site], fuller: Mapping[Site, Sequence[str]]) -> None:
        by_literals: dict[tuple[str, ...], dict[Site, None]] = defaultdict(dict)
        for site in sites:
            for message in site.messages:
                by_literals[literals(message)][site] = None
            for message in fuller.get(site, ()):
                first, *rest = literals(message)
                by_literals[first, *rest][site] = None
                # What many errors begin with is often left out, and tells nothing.
                by_literals["", *rest][site] = None
        self.texts = [
            Text(key, sum(map(len, key)), sum(map(_letters, key)), tuple(found))
            for key, found in by_literals.items()
            if any(key)
        ]
        self._grams: dict[str, list[int]] = defaultdict(list)
        self._short: list[int] = []
        for n, text in enumerate(self.texts):
            grams = {
                literal[at : at + GRAM] for literal in text.literals for at in range(0, len(literal) - GRAM + 1, STRIDE)
            }
            for gram in grams:
                self._grams[gram].append(n)
            if not grams:
                self._short.append(n)

    def fits(self, pasted: Pasted) -> list[Fit]:
        """The wordings of which something of note is in a squeezed message, laid against it."""
        message = pasted.text[:LONGEST]
        pasted = Pasted(message, pasted.starts, pasted.breaks)
        weights: dict[int, float] = defaultdict(float)
        size = log(len(self.texts) + 2)
        for gram in {message[at : at + GRAM] for at in range(max(1, len(message) - GRAM + 1))}:
            if (found := self._grams.get(gram)) is not None:
                weight = size - log(len(found))
                for n in found:
                    weights[n] += weight
        chosen = nlargest(MOST_CANDIDATES, weights, key=weights.__getitem__) + self._short
        fits = (lay(self.texts[n], pasted) for n in chosen)
        return [fit for fit in fits if fit is not None]


def lay(text: Text, pasted: Pasted) -> Fit | None:
    """A wording against a pasted message; None where nothing of it is there in order."""
    message, starts = pasted.text, pasted.starts
    first, last = text.literals[0], text.literals[-1]
    end = len(message)
    at, anchored = _begin(first, message, starts)
    matched = len(first) if at >= 0 else 0
    taken = [first] if at >= 0 else []
    at = at + len(first) if at >= 0 else 0
    missing = matched < len(first)
    cut = elided = inside = False
    part = 0
    if missing:
        if (overlap := _overlap(first, message, starts)) is not None:
            matched, cut, at, part, anchored = overlap, True, end, overlap, True
            taken = [first[:part]]
        elif any(message in literal for literal in text.literals):
            matched, elided, anchored, inside = end, True, True, True
            taken = [message]
        elif ELISION in message:
            elided = True
            before = message[: message.index(ELISION)]
            if (start := next((n for n in starts if before[n:] and first.startswith(before[n:])), None)) is not None:
                matched, anchored, at = len(before) - start, True, len(before)
                taken = [before[start:]]
    for n, literal in enumerate(text.literals[1:], 1):
        if cut or inside:
            break
        final = n == len(text.literals) - 1
        found = message.rfind(literal, at) if final and message.endswith(literal) else message.find(literal, at)
        if found >= 0:
            matched += len(literal)
            at = found + len(literal)
            taken.append(literal)
            continue
        missing = True
        if (mark := message.find(ELISION, at)) >= 0:
            # The wording goes on behind what was cut out; its part before the mark counts.
            part = _tail(literal, message[max(at, mark - len(literal)) : mark])
            taken.append(literal[:part])
            matched, elided = matched + part, True
            continue
        if elided:
            continue
        part = _tail(literal, message[max(at, end - len(literal)) :])
        taken.append(literal[:part])
        matched += part
        cut = True
    if not matched:
        return None
    letters = sum(map(_letters, taken))
    return Fit(
        text=text,
        matched=matched,
        letters=letters,
        complete=not missing,
        anchored=anchored,
        at_end=not missing and (not last or at == end or at in pasted.breaks or last[-1] in _STOPS),
        cut=cut,
        elided=elided,
        shown=part if cut else 0,
        rest=text.letters - letters,
    )


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _begin(first: str, message: str, starts: Sequence[int]) -> tuple[int, bool]:
    """Where a wording begins in the message, and whether it may begin there; -1 where it does not."""
    if not first:
        return 0, True
    for start in starts:
        if message.startswith(first, start):
            return start, True
    return message.find(first), False


def _overlap(first: str, message: str, starts: Sequence[int]) -> int | None:
    """Length of the message's rest, where that is but the beginning of the first literal."""
    for start in starts:
        rest = message[start:]
        if rest and len(rest) < len(first) and first.startswith(rest):
            return len(rest)
    return None


def _tail(literal: str, window: str) -> int:
    """Length of the longest beginning of the literal that the window ends with."""
    return next((n for n in range(min(len(literal), len(window)), 0, -1) if window.endswith(literal[:n])), 0)
