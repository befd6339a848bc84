"""Who is who: base sites and target sites -> pairs. Nothing here says what differs.

Equal before alike, and near before far: the same scope, then the same file, then the whole repository.
Each rule takes its pairs out of the game; lines only break ties.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from tracker.compare.similarity import guard_likeness, guard_tokens, text_likeness, texts
from tracker.model import Pair, Site, leaf

Key = Callable[[Site], Hashable]


def match(base: Iterable[Site], target: Iterable[Site]) -> list[Pair]:
    game = _Game(sorted(base, key=_position), sorted(target, key=_position))
    game.equal(
        lambda s: (s.path, s.scope, leaf(s.exception), s.message, s.alternatives, guard_tokens(s.guard))
    )
    game.equal(lambda s: (s.path, s.scope, leaf(s.exception), texts(s), guard_tokens(s.guard)))
    game.alike(lambda s: (s.path, s.scope, leaf(s.exception), texts(s)), 0.0, 0)
    game.equal(lambda s: (s.path, texts(s), leaf(s.exception)) if s.message else None, unique=True)
    game.equal(
        lambda s: (texts(s), leaf(s.exception), s.scope.rpartition(".")[2]) if s.message else None,
        unique=True,
    )
    game.alike(lambda s: (s.path, s.scope), 0.5, 0)
    game.equal(lambda s: (texts(s)) if s.message else None, unique=True)
    game.alike(lambda s: s.path, 0.75, 1)
    return game.pairs()


def _position(site: Site) -> tuple[str, int, int]:
    return site.path, site.line, site.end_line


class _Game:
    def __init__(self, base: Sequence[Site], target: Sequence[Site]) -> None:
        self.base = list(base)
        self.target = list(target)
        self.made: dict[int, Pair] = {}
        self.all = list(base)
        self.ids = {id(s): n for n, s in enumerate(self.all)}

    def groups(self, key: Key) -> Iterable[tuple[list[Site], list[Site]]]:
        theirs: dict[Hashable, list[Site]] = defaultdict(list)
        for site in self.target:
            if (value := key(site)) is not None:
                theirs[value].append(site)
        ours: dict[Hashable, list[Site]] = defaultdict(list)
        for site in self.base:
            if (value := key(site)) in theirs:
                ours[value].append(site)
        return [(ours[value], theirs[value]) for value in ours]

    def take(self, pairs: list[Pair]) -> None:
        gone, taken = set(), set()
        for pair in pairs:
            self.made[self.ids[id(pair.before)]] = pair
            gone.add(id(pair.before))
            taken.add(id(pair.after))
        self.base = [s for s in self.base if id(s) not in gone]
        self.target = [s for s in self.target if id(s) not in taken]

    def equal(self, key: Key, unique: bool = False) -> None:
        pairs = []
        for ours, theirs in self.groups(key):
            if len(ours) == len(theirs) and (not unique or len(ours) == 1):
                pairs += [Pair(before=b, after=a) for b, a in zip(ours, theirs)]
        self.take(pairs)

    def alike(self, key: Key, threshold: float, mode: int) -> None:
        pairs = []
        for ours, theirs in self.groups(key):
            scored = []
            for i, b in enumerate(ours):
                for j, a in enumerate(theirs):
                    s = score(b, a)
                    if s >= threshold:
                        scored.append((-s, abs(i - j), i, j))
            scored.sort()
            used_b, used_a = set(), set()
            for s, _, i, j in scored:
                if i in used_b or j in used_a:
                    continue
                used_b.add(i), used_a.add(j)
                rest = [-x for x, _, p, q in scored if (p == i) != (q == j)]
                pairs.append(
                    Pair(before=ours[i], after=theirs[j], score=-s, runner_up=max(rest, default=0.0))
                )
        self.take(pairs)

    def pairs(self) -> list[Pair]:
        return [self.made.get(n) or Pair(before=s, after=None) for n, s in enumerate(self.all)]


def score(before: Site, after: Site) -> float:
    text = text_likeness(before, after)
    guard = guard_likeness(before, after)
    exc = 1.0 if leaf(before.exception) == leaf(after.exception) else 0.0
    if text is None:
        return 0.65 * guard + 0.25 * exc
    return 0.55 * text + 0.3 * guard + 0.15 * exc
