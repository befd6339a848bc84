"""Errors that say nearly the same: for drafts, so that one page is written where one will do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz, process

from tracker.message import wording
from tracker.model import Site

NEAR = 90
"""Of 100: one word of ten differs. Measured on JAX's messages by eye: below, they are different errors."""
FEW = 3
"""How many are named."""


def alike(sites: Sequence[Site]) -> Mapping[Site, tuple[str, ...]]:
    """Site -> the messages of others that are nearly its own, the nearest first; without its equals."""
    texts: dict[str, list[Site]] = defaultdict(list)
    for site in sites:
        if site.message is not None:
            texts[wording(site.message)].append(site)
    words = list(texts)
    # Texts that are near have nearly the same length, so that each is held against a few hundred, not against all.
    order = sorted(range(len(words)), key=lambda number: len(words[number]))
    found: dict[Site, tuple[str, ...]] = {}
    for at, number in enumerate(order):
        word = words[number]
        if len(word) < 12:
            continue
        near = []
        for step in (-1, 1):
            other = at + step
            while 0 <= other < len(order) and abs(len(words[order[other]]) - len(word)) <= len(word) // 8:
                near.append(words[order[other]])
                other += step
        hits = process.extract(word, near, scorer=fuzz.ratio, score_cutoff=NEAR, limit=FEW)
        if hits:
            for site in texts[word]:
                found[site] = tuple(str(texts[hit][0].message) for hit, _, _ in hits)
    return found
