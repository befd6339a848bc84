"""The changelog of errors between two points. Nothing is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tracker.compare.classify import kinds
from tracker.compare.keys import said
from tracker.errors import RevisionError
from tracker.events import Changed, Changelog
from tracker.history.query import Point
from tracker.model import Kind, Site
from tracker.store.history import History
from tracker.store.recall import changes as changes_between
from tracker.store.recall import sites_at
from tracker.store.timeline import Stretch


def between(history: History, base: Point, target: Point) -> Changelog:
    """What became of all errors between two points. RevisionError: they are the wrong way round."""
    (_, first), (_, last) = base, target
    if first > last:
        raise RevisionError(f"{base[0]} is newer than {target[0]}: name the older one first")
    before, after = dict(sites_at(history, first)), dict(sites_at(history, last))
    causes: dict[int, list[tuple[Stretch, bool]]] = defaultdict(list)
    for error, stretch in changes_between(history, first, last):
        causes[error].append((stretch, stretch.until is not None and stretch.until <= last))
    pairs = [(error, before.get(error), after.get(error)) for error in before.keys() | after.keys()]
    changes = []
    for ours, theirs in _relanded(pairs):
        error = theirs[0] if theirs is not None else ours[0] if ours is not None else 0
        made = _changed(
            history,
            ours[1] if ours is not None else None,
            theirs[1] if theirs is not None else None,
            causes.get(error, ()),
        )
        if made is not None:
            changes.append(made)
    return Changelog(
        base=base[0],
        target=target[0],
        changes=tuple(sorted(changes, key=_order)),
        errors=(len(before), len(after)),
    )


def _changed(
    history: History, before: Site | None, after: Site | None, stretches: Iterable[tuple[Stretch, bool]]
) -> Changed | None:
    if before is not None and after is not None:
        found = kinds(before, after) - {Kind.MOVED}
    else:
        found = frozenset({Kind.NEW if before is None else Kind.REMOVED})
    if not found:
        return None
    at = 0
    for stretch, ended in stretches:
        if after is None and ended and stretch.until is not None:
            at = max(at, stretch.until)
        elif after is not None and found & set(stretch.kinds):
            at = max(at, stretch.since)
    return Changed(
        kinds=tuple(kind for kind in Kind if kind in found),
        before=before,
        after=after,
        cause=history.commit_at(at),
    )


def _relanded(
    pairs: Iterable[tuple[int, Site | None, Site | None]],
) -> list[tuple[tuple[int, Site] | None, tuple[int, Site] | None]]:
    """Errors with what they were and are. One that went and one that came with the same words at the same place are
    one: taken out on the way, and put back.
    """
    found: list[tuple[tuple[int, Site] | None, tuple[int, Site] | None]] = []
    gone: dict[object, list[tuple[int, Site]]] = defaultdict(list)
    come: dict[object, list[tuple[int, Site]]] = defaultdict(list)
    for error, before, after in sorted(pairs, key=lambda pair: pair[0]):
        if before is not None and after is not None:
            found.append(((error, before), (error, after)))
        elif before is not None:
            gone[before.path, before.scope, said(before)].append((error, before))
        elif after is not None:
            come[after.path, after.scope, said(after)].append((error, after))
    for key, ours in gone.items():
        theirs = come.pop(key, [])
        if len(ours) == len(theirs):
            found += zip(ours, theirs, strict=True)
        else:
            found += [(one, None) for one in ours] + [(None, one) for one in theirs]
    return found + [(None, one) for ones in come.values() for one in ones]


def _order(change: Changed) -> tuple[str, int, str]:
    site = change.after or change.before
    assert site is not None
    return site.path, site.line, site.scope
