"""Sites by key: what two sites must share to be looked at together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from tracker.compare.similarity import texts
from tracker.model import Site, leaf

Key = Callable[[Site], Hashable]
"""Sites with equal keys can be partners; None: the site takes no part."""


def said(site: Site) -> tuple[Hashable, ...]:
    """The exception and the wordings: what who sees the error sees of it."""
    return leaf(site.exception), texts(site)


def said_aloud(site: Site) -> Hashable:
    """The same of a site with text; one without has nothing to be known by far from its place."""
    return said(site) if site.message is not None else None


def index(sites: Sequence[Site], key: Key) -> dict[Hashable, list[int]]:
    """Key -> the indexes of the sites that have it, in order."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for n, site in enumerate(sites):
        if (value := key(site)) is not None:
            found[value].append(n)
    return found
