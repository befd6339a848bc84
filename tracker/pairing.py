"""Two snapshots -> who is who between them, and which commit made the difference.

The two ends settle what is equal. What is not is settled by the steps in between, where the mirror knows them: there
each change is small, and the chain of them tells the partner and the cause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.compare.similarity import likeness
from tracker.harvest.pieces import definitions
from tracker.lives import Life, Lives
from tracker.model import Cause, Kind, Pair, Site, Snapshot
from tracker.snapshots import Sources

RELANDED = 0.7
LEAD = 0.3
"""A site that was taken out on the way and put back is the same error where both ends look alike from here on, with
this lead over the next best; set on reverted and relanded changes of JAX."""

POSSIBLE = 0.55
"""Likeness from which a new site of the same file is worth a look by who retires a page."""

_NOTHING = Lives({}, {})


@dataclass(frozen=True, slots=True)
class Paired:
    """Every base site with its partner, the target sites without one, and what is known of the way between."""

    pairs: Mapping[Site, Pair]
    new: Sequence[Site]
    lives: Lives

    def cause(self, before: Site | None, after: Site | None, found: frozenset[Kind]) -> Cause | None:
        """The commit that made a drift of these kinds, if it is more than a moved line and the way is known."""
        if self.lives.only is not None:
            return self.lives.only if found - QUIET else None
        start = self.lives.starts.get(_position(before)) if before is not None else None
        end = self.lives.ends.get(_position(after)) if after is not None else None
        if before is None or after is None:
            return start.died if start is not None else end.born if end is not None else None
        # A site that was taken out and put back has two lives; what it came back as counts first.
        changes = [change for life in (start, end) if life is not None for change in life.changes]
        for kind in (kind for kind in Kind if kind in found):
            for cause, changed in reversed(changes):
                if kind in changed:
                    return cause
        return end.born if end is not None and end is not start and found - QUIET else None


QUIET = frozenset({Kind.MOVED, Kind.EXCERPT_CHANGED})


def pair_up(sources: Sources, before: Snapshot, after: Snapshot, history: bool) -> Paired:
    """Pair the sites of two snapshots; with `history`, along the steps between them. GitError: they are unreadable."""
    pairs = match(before.sites, after.sites)
    new = _new(pairs, after)
    doubtful = [pair for pair in pairs if pair.after is None or kinds(pair.before, pair.after) - {Kind.MOVED}]
    questions = [site for pair in doubtful for site in (pair.before, pair.after) if site is not None] + new
    lives = _NOTHING
    if history and questions:
        paths = {site.path for site in questions}
        lives = sources.lives(before.revision, after.revision, paths, _left_out(before, questions))
    pairs = _settled(pairs, after, lives)
    new = _new(pairs, after)
    return Paired({pair.before: _hinted(pair, new) for pair in pairs}, new, lives)


def _left_out(before: Snapshot, questions: Iterable[Site]) -> dict[str, set[str]]:
    """Path -> definitions whose sites are equal at both ends: what happened to them on the way is nobody's question."""
    asked: dict[str, set[str]] = defaultdict(set)
    for site in questions:
        asked[site.path] |= definitions(site.scope)
    settled: dict[str, set[str]] = defaultdict(set)
    for site in before.sites:
        if site.path in asked:
            settled[site.path] |= definitions(site.scope) - asked[site.path]
    return settled


def _hinted(pair: Pair, new: Sequence[Site]) -> Pair:
    """A lone base site with the new site of its file that it may continue in, if one is at all like it."""
    if pair.after is not None:
        return pair
    near = [(likeness(pair.before, site), site) for site in new if site.path == pair.before.path]
    score, site = max(near, key=lambda one: one[0], default=(0.0, None))
    return replace(pair, possible=site, runner_up=score) if score >= POSSIBLE else pair


def _new(pairs: Sequence[Pair], after: Snapshot) -> list[Site]:
    continued = {pair.after for pair in pairs}
    return [site for site in after.sites if site not in continued]


def _settled(pairs: Sequence[Pair], after: Snapshot, lives: Lives) -> list[Pair]:
    """The same pairs, where the steps say otherwise as the steps say."""
    if not lives.starts and not lives.ends:
        return list(pairs)
    ends = {id(life): position for position, life in lives.ends.items()}
    sites = {_position(site): site for site in after.sites}
    settled: dict[Site, Pair] = {}
    taken: set[Site] = set()
    kept = []
    for pair in pairs:
        life = lives.starts.get(_position(pair.before))
        partner = sites.get(ends.get(id(life), ("", 0))) if life is not None else None
        if life is not None and partner is not None:
            taken.add(partner)
            settled[pair.before] = pair if partner == pair.after else _by_steps(pair, partner)
        elif life is None or pair.after is None or _relanded(pair, lives.ends.get(_position(pair.after))):
            kept.append(pair)
        else:
            settled[pair.before] = Pair(before=pair.before, after=None)
    for pair in kept:
        settled[pair.before] = pair if pair.after not in taken else Pair(before=pair.before, after=None)
    return [settled[pair.before] for pair in pairs]


def _by_steps(pair: Pair, partner: Site) -> Pair:
    """The partner that the steps lead to; the two ends' own best guess is the runner-up."""
    guess = likeness(pair.before, pair.after) if pair.after is not None else 0.0
    return replace(pair, after=partner, score=likeness(pair.before, partner), runner_up=guess)


def _relanded(pair: Pair, life: Life | None) -> bool:
    """Whether a site that ended on the way is back, as the one that its end of the steps says is new."""
    if pair.after is None or pair.after.path != pair.before.path or life is None or life.born is None:
        return False
    return pair.score is None or (pair.score >= RELANDED and pair.score - (pair.runner_up or 0.0) >= LEAD)


def _position(site: Site) -> tuple[str, int]:
    return site.path, site.line
