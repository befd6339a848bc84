"""The one pipeline: entries or a base, and a target -> the report. `diff` calls it, and so will everything else.

What was not read is never reported as removed, and what could not be verified never as fine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.errors import RevisionError
from tracker.locate import in_excerpt, in_snapshot
from tracker.model import (
    Coverage,
    Drift,
    Entry,
    Kind,
    Pair,
    Report,
    Revision,
    Site,
    Snapshot,
    Unlocated,
)  # fmt: skip
from tracker.snapshots import Sources


def check_entries(
    sources: Sources,
    entries: Sequence[Entry],
    target: Revision,
    base: Revision | None,
    pins: Mapping[str, Revision],
    repository: str,
) -> Report:
    """What became of each entry, and which errors are new.

    `pins` holds the pins that the mirror has. New errors are those since `base`, or since the pin where all entries
    share one that the mirror has; else a notice says why there are none.
    """
    if base is None and len({entry.pin for entry in entries}) == 1:
        base = pins.get(entries[0].pin)
    wanted = {revision.commit: revision for revision in (target, *([base] if base else []), *pins.values())}
    taken = dict(zip(wanted, sources.snapshots(list(wanted.values())), strict=True))
    before = taken[base.commit] if base is not None else None
    after = _checked(taken[target.commit], before)
    located, unlocated = _locate(entries, {pin: taken[r.commit] for pin, r in pins.items()}, before, after)

    drifts = []
    pairs = _Pairs(after)
    for claim in located:
        pair = pairs.of(claim)
        found = kinds(pair.before, pair.after) if pair.after is not None else {Kind.REMOVED}
        if pair.after is not None and _excerpt_changed(claim.entry, pair.after, sources, target):
            found = {*found, Kind.EXCERPT_CHANGED}
        if found:
            drifts.append(_drift(pair, frozenset(found), after, claim.entry.id))
    notices = []
    if base is None:
        notices.append(_no_base(entries))
    else:
        new, removed = pairs.turnover(taken[base.commit])
        drifts += [Drift(entry=None, kinds=frozenset({Kind.NEW}), before=None, after=site) for site in new]
        notices.append(
            f"between {base.name} and {target.name}, catalogued or not: "
            f"{_count(len(new), 'new error')}, {len(removed)} removed"
        )
    return _report(repository, base, target, taken, len(located), drifts, unlocated, notices, entries, "pages")


def check_all(
    sources: Sources,
    entries: Sequence[Entry],
    target: Revision,
    base: Revision,
    repository: str,
) -> Report:
    """What became of every site of the base, catalogued or not, and which sites are new."""
    before, after = sources.snapshots([base, target])
    _checked(after, before)
    catalogued = {site: entry.id for entry in entries if isinstance(site := in_snapshot(entry, before), Site)}
    drifts = []
    pairs = match(before.sites, after.sites)
    for pair in pairs:
        found = kinds(pair.before, pair.after) if pair.after is not None else frozenset({Kind.REMOVED})
        if found:
            drifts.append(_drift(pair, found, after, catalogued.get(pair.before)))
    continued = {pair.after for pair in pairs}
    drifts += [
        Drift(entry=None, kinds=frozenset({Kind.NEW}), before=None, after=site)
        for site in after.sites
        if site not in continued
    ]
    taken = {base.commit: before, target.commit: after}
    return _report(repository, base, target, taken, len(before.sites), drifts, [], [], entries, "all")


@dataclass(frozen=True, slots=True)
class _Claim:
    """An entry, the site it speaks of, and the snapshot that site was found in; None: the page's own excerpt."""

    entry: Entry
    site: Site
    origin: Snapshot | None


def _checked(target: Snapshot, base: Snapshot | None) -> Snapshot:
    """A target in which nothing is raised any more is no target, unless the files are still there to show it."""
    if (
        not target.sites
        and not (base and {site.path for site in base.sites} & set(target.files))
        and not (base and not base.sites)
    ):
        raise RevisionError(
            f"{target.revision.name} has {len(target.files)} files in scope and not one raise statement: "
            "is it the right repository?"
        )
    return target


def _locate(
    entries: Iterable[Entry], pinned: Mapping[str, Snapshot], base: Snapshot | None, target: Snapshot
) -> tuple[list[_Claim], list[Unlocated]]:
    """A page is believed where it was written; without its pin, a base that shows exactly what it says will do."""
    located, unlocated = [], []
    for entry in entries:
        origin: Snapshot | None = pinned.get(entry.pin) or base
        found = in_snapshot(entry, origin) if origin is not None else ""
        if isinstance(found, str) and entry.pin not in pinned:
            origin, found = None, in_excerpt(entry)
        if isinstance(found, str):
            unlocated.append(Unlocated(entry=entry.id, reason=found))
        else:
            located.append(_Claim(entry, found, origin))
    return located, unlocated


class _Pairs:
    """The partners of sites of any origin in one target."""

    def __init__(self, target: Snapshot) -> None:
        self._target = target
        self._made: dict[str, dict[Site, Pair]] = {}

    def _all(self, origin: Snapshot) -> dict[Site, Pair]:
        commit = origin.revision.commit
        if commit not in self._made:
            self._made[commit] = {pair.before: pair for pair in match(origin.sites, self._target.sites)}
        return self._made[commit]

    def of(self, claim: _Claim) -> Pair:
        if claim.origin is not None:
            return self._all(claim.origin)[claim.site]
        (pair,) = match([claim.site], self._target.sites)
        return replace(pair, before=_completed(pair.before, pair.after)) if pair.after is not None else pair

    def turnover(self, base: Snapshot) -> tuple[list[Site], list[Site]]:
        """Target sites that continue nothing, and base sites that nothing continues."""
        pairs = self._all(base).values()
        continued = {pair.after for pair in pairs}
        new = [site for site in self._target.sites if site not in continued]
        return new, [pair.before for pair in pairs if pair.after is None]


def _completed(before: Site, after: Site) -> Site:
    """What an excerpt does not show of a site is taken to be as it is now."""
    if not before.scope:
        seen = len(before.guard)
        same = before.guard == after.guard[len(after.guard) - seen :]
        return replace(before, scope=after.scope, guard=after.guard if same else before.guard)
    return replace(before, scope=after.scope) if after.scope.endswith("." + before.scope) else before


def _excerpt_changed(entry: Entry, after: Site, sources: Sources, target: Revision) -> bool:
    if not entry.excerpt or entry.excerpt_line is None:
        return False
    start = after.line - (entry.line - entry.excerpt_line) - 1
    lines = entry.excerpt.split("\n")
    return start < 0 or sources.lines(target, after.path)[start : start + len(lines)] != lines


def _drift(pair: Pair, found: frozenset[Kind], target: Snapshot, entry: str | None) -> Drift:
    return Drift(
        entry=entry,
        kinds=found,
        before=pair.before,
        after=pair.after,
        certain=pair.after is not None or pair.before.path not in target.partial,
        score=pair.score,
        runner_up=pair.runner_up,
    )


def _no_base(entries: Sequence[Entry]) -> str:
    pins = sorted({entry.pin for entry in entries})
    missing = pins[0] if len(pins) == 1 else f"{len(pins)} different pins"
    return (
        f"new errors were not looked for: that takes a whole base, and the mirror does not have the pages' pin "
        f"({missing}). Name one with --base (such as --base release:VERSION), or run `tracker pull`"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _report(
    repository: str,
    base: Revision | None,
    target: Revision,
    taken: Mapping[str, Snapshot],
    checked: int,
    drifts: list[Drift],
    unlocated: list[Unlocated],
    notices: list[str],
    entries: Sequence[Entry],
    tracked: str,
) -> Report:
    before, after = base and taken[base.commit], taken[target.commit]
    return Report(
        repository=repository,
        base=base,
        target=target,
        files=(before.files if before else (), after.files),
        coverage=(_coverage(before) if before else None, _coverage(after)),
        partial={**(before.partial if before else {}), **after.partial},
        tracked=tracked,
        checked=checked,
        drifts=tuple(sorted(drifts, key=_order)),
        unlocated=tuple(unlocated),
        pages={entry.id: entry.file for entry in entries},
        notices=tuple(notices),
    )


def _coverage(snapshot: Snapshot) -> Coverage:
    return Coverage(
        files=len(snapshot.files),
        sites=len(snapshot.sites),
        with_message=sum(site.message is not None for site in snapshot.sites),
    )


def _order(drift: Drift) -> tuple[bool, str, int, str, int]:
    before, after = drift.before, drift.after
    return (
        before is None,
        before.path if before else "",
        before.line if before else 0,
        after.path if after else "",
        after.line if after else 0,
    )
