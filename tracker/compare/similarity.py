"""How alike two sites are, part by part: text, guard, scope. Numbers from 0 to 1; no decisions here."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from rapidfuzz.distance import LCSseq
from rapidfuzz.fuzz import ratio

from tracker.message import HOLE, tokens, wording
from tracker.model import Site, leaf


def texts(site: Site) -> tuple[str, ...]:
    """The wordings a site can show."""
    return tuple(map(wording, site.messages))


def text_likeness(before: Site, after: Site) -> float | None:
    """Of the closest two wordings; None where neither side has any, 0 where one has not."""
    ours, theirs = texts(before), texts(after)
    if not ours and not theirs:
        return None
    return max((wording_likeness(a, b) for a, b in product(ours, theirs)), default=0.0)


@lru_cache(maxsize=1 << 18)
def wording_likeness(a: str, b: str) -> float:
    """Characters in common, or words: what only lost or gained a part still holds the shorter one's words in order."""
    if a == b:
        return 1.0
    characters = ratio(a, b) / 100
    ours, theirs = _words(a), _words(b)
    shorter = min(len(ours), len(theirs))
    if shorter < 3:
        return characters
    shared = LCSseq.similarity(ours, theirs)
    return max(characters, 0.95 * shared / shorter if shared >= 3 else 0.0)


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> list[str]:
    return [word for word in tokens(text.replace(HOLE, " ").lower()) if word.isalnum()]


@lru_cache(maxsize=1 << 16)
def guard_tokens(guard: tuple[str, ...]) -> tuple[str, ...]:
    """A guard as one stream of tokens: layout and quotes do not show."""
    return tuple(token for condition in guard for token in ("|", *tokens(condition)))


def guard_likeness(before: Site, after: Site) -> float:
    """Tokens in common; two sites without any guard are alike in nothing that tells them apart (0.5)."""
    ours, theirs = guard_tokens(before.guard), guard_tokens(after.guard)
    if not ours and not theirs:
        return 0.5
    if ours == theirs:
        return 1.0
    return 2 * LCSseq.similarity(ours, theirs) / (len(ours) + len(theirs))


def scope_likeness(before: Site, after: Site) -> float:
    """Of the dotted names, whatever the files; the innermost name weighs most."""
    if before.scope == after.scope:
        return 1.0
    ours, theirs = before.scope.rpartition(".")[2], after.scope.rpartition(".")[2]
    return 0.9 if ours == theirs else ratio(ours, theirs) / 100


_UNTOLD = 0.42
"""Stands for the likeness of texts where one side has none: a text that was added or taken away tells little."""


def likeness(before: Site, after: Site) -> float:
    """How surely two sites of one scope, or of one that moved, are the same error, all parts together."""
    text, guard = text_likeness(before, after), guard_likeness(before, after)
    exception = 1.0 if leaf(before.exception) == leaf(after.exception) else 0.0
    if text is None:
        return 0.65 * guard + 0.25 * exception
    if before.message is None or after.message is None:
        text = _UNTOLD
    return 0.55 * text + 0.3 * guard + 0.15 * exception


def far_likeness(before: Site, after: Site) -> float:
    """The same for sites that stand apart: the names around them count, and what says little does not.

    Of two functions, each can have a check of its own that reads much the same: unless the texts all but agree, the
    conditions must. Sites without text need conditions that say something.
    """
    text, guard = text_likeness(before, after), guard_likeness(before, after)
    if text is None:
        if guard < 0.8 or min(len(guard_tokens(before.guard)), len(guard_tokens(after.guard))) < TELLING:
            return 0.0
    elif _fewest_words(before, after) < 3 or (text < 0.9 and guard < 0.5):
        return 0.0
    return 0.85 * likeness(before, after) + 0.15 * scope_likeness(before, after)


TELLING = 9
"""Tokens of a guard from which it tells one check from another; `if x` does not."""


def _fewest_words(before: Site, after: Site) -> int:
    return min((len(text.split()) for text in (*texts(before), *texts(after))), default=0)
