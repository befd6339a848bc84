"""Which function or class went where: base scopes -> the target scopes that continue them.

A function that is renamed, split or carried to another file takes its sites along. Sites that are equal on both
sides vote for the pair of scopes they stand in; so does an equal name where the old one is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import product

from tracker.compare.keys import index, said_aloud
from tracker.compare.similarity import guard_tokens
from tracker.model import Site, leaf

Scope = tuple[str, str]
"""Path and dotted scope."""

ENOUGH = 1.0
"""Votes that make a pair of scopes: one site that is equal on both sides and has no double."""
SAME_NAME, KEPT_NAME = 1.0, 0.7
"""An equal name makes a pair of a scope that went and one that came; of one that stayed, it supports other votes."""


def scope_of(site: Site) -> Scope:
    return site.path, site.scope


def moved(base: Sequence[Site], target: Sequence[Site], kept: set[Scope]) -> Mapping[Scope, Sequence[Scope]]:
    """For the scopes of the lone sites `base`, the scopes among the lone sites `target` that continue them, best first.

    `kept` are the scopes that stand in the target as they stood in the base.
    """
    votes: dict[tuple[Scope, Scope], float] = defaultdict(float)
    for key in (said_aloud, _bare):
        theirs = index(target, key)
        for value, ours in index(base, key).items():
            for i, j in product(ours, theirs.get(value, ())):
                votes[scope_of(base[i]), scope_of(target[j])] += 1 / max(len(ours), len(theirs[value]))
    names = defaultdict(set)
    for goal in map(scope_of, target):
        names[_name(goal)].add(goal)
    for source in {scope_of(site) for site in base} - kept:
        for goal in names[_name(source)] if source[1] else ():
            votes[source, goal] += KEPT_NAME if goal in kept else SAME_NAME
    found = defaultdict(list)
    for (source, goal), number in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if number >= ENOUGH - 1e-9 and source != goal:
            found[source].append(goal)
    return found


def _name(scope: Scope) -> str:
    """The innermost name; whether it is private is often what changes when a function moves."""
    return scope[1].rpartition(".")[2].strip("_")


def _bare(site: Site) -> Hashable:
    """Sites without text have little to show: only an equal guard makes them vote."""
    return (leaf(site.exception), guard_tokens(site.guard)) if site.message is None and site.guard else None
