"""Who is who: base sites and target sites -> pairs. Nothing here says what differs.

Equal before alike, and near before far: the same scope, then a scope that moved, then the same file, then the whole
repository. Each rule takes its pairs out of the game, one to one; lines only break ties.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tracker.compare.keys import Key, index, said, said_aloud
from tracker.compare.scopes import Scope, moved, scope_of
from tracker.compare.similarity import far_likeness, guard_tokens, likeness
from tracker.model import Pair, Site, leaf

SAME_SCOPE = 0.53
"""Likeness from which two sites of one scope are the same error; set on the kinds of change seen in JAX."""
MOVED_SCOPE = 0.55
SAME_FILE = 0.7


def match(base: Iterable[Site], target: Iterable[Site]) -> list[Pair]:
    """A pair for each base site, ordered by (path, line); one without `after` where nothing continues the site."""
    game = _Game(base, target)
    game.same(lambda site: (scope_of(site), leaf(site.exception)))
    game.equal(lambda site: (scope_of(site), *said(site), guard_tokens(site.guard)))
    game.alike(_grouped(lambda site: (scope_of(site), *said(site))), 0.0)
    goals = moved(game.base, game.target, game.kept)
    game.alike(_between(goals, said), 0.0)
    game.equal(lambda site: (site.path, *said(site)) if site.message is not None else None, unique=True)
    game.equal(said_aloud, unique=True)
    game.alike(_grouped(scope_of), SAME_SCOPE)
    game.alike(_between(goals, lambda site: 0), MOVED_SCOPE)
    game.alike(_grouped(lambda site: site.path), SAME_FILE, far_likeness)
    return game.pairs()


Measure = Callable[[Site, Site], float]

Candidates = Callable[[Sequence[Site], Sequence[Site]], Iterator[tuple[list[int], list[int]]]]
"""Base and target sites -> groups within which any can be the partner of any, as indexes."""


def _grouped(key: Key) -> Candidates:
    """Sites with equal keys."""

    def groups(base: Sequence[Site], target: Sequence[Site]) -> Iterator[tuple[list[int], list[int]]]:
        theirs = index(target, key)
        for value, ours in index(base, key).items():
            if value in theirs:
                yield ours, theirs[value]

    return groups


def _between(goals: Mapping[Scope, Sequence[Scope]], key: Key) -> Candidates:
    """Sites with equal keys, from a scope and from those that continue it."""

    def groups(base: Sequence[Site], target: Sequence[Site]) -> Iterator[tuple[list[int], list[int]]]:
        theirs = index(target, lambda site: (scope_of(site), key(site)))
        for n, site in enumerate(base):
            for goal in goals.get(scope_of(site), ()):
                if (found := theirs.get((goal, key(site)))) is not None:
                    yield [n], found

    return groups


class _Game:
    """The sites that have no partner yet, and the pairs made so far."""

    def __init__(self, base: Iterable[Site], target: Iterable[Site]) -> None:
        self.all = sorted(base, key=_position)
        self.base = self.all
        self.target = sorted(target, key=_position)
        self.kept = {scope_of(site) for site in self.base} & {scope_of(site) for site in self.target}
        self._made: dict[Site, Pair] = {}

    def same(self, key: Key) -> None:
        """What `equal` would pair by wording and guard where nothing at all changed: without taking any text apart."""
        pairs = []
        for ours, theirs in _grouped(key)(self.base, self.target):
            before, after = [self.base[i] for i in ours], [self.target[j] for j in theirs]
            if list(map(_written, before)) == list(map(_written, after)):
                pairs += [Pair(before=one, after=other) for one, other in zip(before, after, strict=True)]
        self._take(pairs)

    def equal(self, key: Key, unique: bool = False) -> None:
        """Pair, in order, the sites with equal keys where both sides have as many of them; `unique`: where one."""
        pairs = []
        for ours, theirs in _grouped(key)(self.base, self.target):
            if len(ours) == len(theirs) and (not unique or len(ours) == 1):
                pairs += [Pair(before=self.base[i], after=self.target[j]) for i, j in zip(ours, theirs, strict=True)]
        self._take(pairs)

    def alike(self, candidates: Candidates, least: float, measure: Measure = likeness) -> None:
        """Pair the candidates from a likeness on, the most alike first, then the nearest in order."""
        scores: dict[tuple[int, int], float] = {}
        order: dict[tuple[int, int], int] = {}
        for ours, theirs in candidates(self.base, self.target):
            for m, i in enumerate(ours):
                for n, j in enumerate(theirs):
                    score = measure(self.base[i], self.target[j])
                    if score >= least:
                        scores[i, j] = score
                        order[i, j] = abs(m - n)
        best = defaultdict(list)
        for (i, j), score in scores.items():
            best["base", i].append((score, j))
            best["target", j].append((score, i))
        pairs = []
        gone: set[int] = set()
        taken: set[int] = set()
        for i, j in sorted(scores, key=lambda at: (-scores[at], order[at], at)):
            if i not in gone and j not in taken:
                gone.add(i)
                taken.add(j)
                others = [s for s, other in best["base", i] if other != j]
                others += [s for s, other in best["target", j] if other != i]
                pairs.append(
                    Pair(
                        before=self.base[i],
                        after=self.target[j],
                        score=scores[i, j],
                        runner_up=max(others, default=0.0),
                    )
                )
        self._take(pairs)

    def _take(self, pairs: Sequence[Pair]) -> None:
        self._made.update((pair.before, pair) for pair in pairs)
        gone = {pair.before for pair in pairs}
        taken = {pair.after for pair in pairs}
        self.base = [site for site in self.base if site not in gone]
        self.target = [site for site in self.target if site not in taken]

    def pairs(self) -> list[Pair]:
        return [self._made.get(site) or Pair(before=site, after=None) for site in self.all]


def _written(site: Site) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return site.messages, site.guard


def _position(site: Site) -> tuple[str, int, int]:
    return site.path, site.line, site.end_line
