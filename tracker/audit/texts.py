"""The texts of a snapshot, to be found by the title of a page. As fast for thousands of pages as for one."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tracker.locate import beginnings, wordings
from tracker.message import wording
from tracker.model import Site


class Texts:
    """The wordings of a snapshot, to be found by a title, whole or cut."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self._sites: dict[str, list[Site]] = defaultdict(list)
        for site in sites:
            for message in site.messages:
                self._sites[wording(message)].append(site)
        self._sorted = sorted(self._sites)

    def of(self, title: str) -> list[Site]:
        """The sites that a title can stand for."""
        whole = [site for claim in wordings(title) for site in self._sites.get(claim, ())]
        return whole or [
            site for start in beginnings(title) for text in self._from(start) for site in self._sites[text]
        ]

    def _from(self, start: str) -> Sequence[str]:
        at = stop = bisect_left(self._sorted, start)
        while stop < len(self._sorted) and self._sorted[stop].startswith(start):
            stop += 1
        return self._sorted[at:stop]
