"""Which function or class went where: base scopes -> the target scopes that continue them.

A function that is renamed, split or carried to another file takes its sites along. Sites that are equal on both
sides vote for the pair of scopes they stand in; so does an equal name where the old one is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tracker.compare.similarity import guard_tokens, texts
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
    for key in (_text, _bare):
        theirs = defaultdict(list)
        for site in target:
            if (value := key(site)) is not None:
                theirs[value].append(scope_of(site))
        ours = defaultdict(list)
        for site in base:
            if (value := key(site)) in theirs:
                ours[value].append(scope_of(site))
        for value, sources in ours.items():
            for source in sources:
                for goal in theirs[value]:
                    votes[source, goal] += 1 / max(len(sources), len(theirs[value]))
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


def _text(site: Site) -> object:
    return (leaf(site.exception), texts(site)) if site.message is not None else None


def _bare(site: Site) -> object:
    """Sites without text have little to show: only an equal guard makes them vote."""
    return (leaf(site.exception), guard_tokens(site.guard)) if site.message is None and site.guard else None
