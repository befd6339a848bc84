"""The one pipeline: entries or a base, and a target -> the report. `diff` calls it, and so will everything else.

What was not read is never reported as removed, and what could not be verified never as fine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tracker.claims import Claim, completed, excerpt_changed, locate
from tracker.collector import no_collector
from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.errors import RevisionError
from tracker.locate import finder
from tracker.model import (
    Coverage,
    Drift,
    Entry,
    Kind,
    Pair,
    Report,
    Revision,
    Severity,
    Site,
    Snapshot,
    Summary,
    Unlocated,
)
from tracker.pairing import Paired, pair_up
from tracker.report.words import counted
from tracker.snapshots import Sources


@no_collector()
def check_entries(
    sources: Sources,
    entries: Sequence[Entry],
    target: Revision,
    base: Revision | None,
    pins: Mapping[str, Revision],
    repository: str,
    history: bool = True,
) -> Report:
    """What became of each entry, and which errors are new.

    `pins` holds the pins that the mirror has. New errors are those since `base`, or since the pin where all entries
    share one that the mirror has; else a notice says why there are none. With `history`, what the two ends do not
    settle is followed step by step, and drifts get their cause.
    """
    living = [entry for entry in entries if not entry.retired] or entries
    if base is None and len({entry.pin for entry in living}) == 1:
        base = pins.get(living[0].pin)
    known = list(pins.values())
    snapshots = sources.snapshots([target, *known, *([base] if base else [])])
    after, before = snapshots[0], snapshots[-1] if base is not None else None
    _check_target(after, before)
    located, unlocated = locate(sources, entries, dict(zip(pins, snapshots[1:], strict=False)), before)
    partners = _Partners(sources, after, history)
    paired_claims = [(claim, *partners.of(claim)) for claim in located]
    after = _verified(sources, after, (pair for _, _, pair in paired_claims))
    drifts = []
    for claim, paired, pair in paired_claims:
        if claim.entry.retired:
            drifts += _raised_again(claim.entry, pair)
            continue
        extra = {Kind.EXCERPT_CHANGED} if excerpt_changed(claim, pair.after, sources, target) else set()
        drifts += _drifts(pair, paired, after, claim.at, claim.entry.id, frozenset(extra))
    if before is None:
        notice = _no_base(living)
    else:
        paired = partners.between(before)
        again = {drift.after for drift in drifts if drift.before is None}
        drifts += [drift for drift in _new(paired) if drift.after not in again]
        removed = sum(pair.after is None for pair in paired.pairs.values())
        notice = (
            f"between {before.revision.name} and {target.name}, catalogued or not: "
            f"{counted(len(paired.new), 'new error')}, {removed} removed"
        )
    return _report(repository, before, after, "pages", len(located), drifts, unlocated, [notice], entries)


@no_collector()
def check_all(
    sources: Sources,
    entries: Sequence[Entry],
    target: Revision,
    base: Revision,
    repository: str,
    history: bool = True,
) -> Report:
    """What became of every site of the base, catalogued or not, and which sites are new."""
    before, after = sources.snapshots([base, target])
    _check_target(after, before)
    find = finder(before)
    catalogued = {site: entry.id for entry in entries if isinstance(site := find(entry), Site)}
    paired = pair_up(sources, before, after, history)
    after = _verified(sources, after, paired.pairs.values())
    drifts = _new(paired)
    for site, pair in paired.pairs.items():
        drifts += _drifts(pair, paired, after, base.commit, catalogued.get(site))
    return _report(repository, before, after, "all", len(before.sites), drifts, [], [], entries)


def _check_target(target: Snapshot, base: Snapshot | None) -> None:
    """RevisionError: nothing is raised in the target, and no file of the base is there to show that this is so."""
    still_there = base is not None and (not base.sites or {site.path for site in base.sites} & set(target.files))
    if not target.sites and not still_there:
        raise RevisionError(
            f"{target.revision.name} has {len(target.files)} files in scope and not one raise statement: "
            "is it the right repository?"
        )


def _verified(sources: Sources, target: Snapshot, pairs: Iterable[Pair]) -> Snapshot:
    """The target, its files that lost a site read as a whole: only then is the site surely gone."""
    return sources.verified(target, {pair.before.path for pair in pairs if pair.after is None})


class _Partners:
    """The partners of entries of any origin in one target."""

    def __init__(self, sources: Sources, target: Snapshot, history: bool) -> None:
        self._sources = sources
        self._target = target
        self._history = history
        self._made: dict[str, Paired] = {}

    def between(self, base: Snapshot) -> Paired:
        """All of a snapshot's sites and their partners, worked out once."""
        commit = base.revision.commit
        if commit not in self._made:
            self._made[commit] = pair_up(self._sources, base, self._target, self._history)
        return self._made[commit]

    def of(self, claim: Claim) -> tuple[Paired | None, Pair]:
        """The pair of an entry, and the pairs it was made among; None where the page's excerpt had to do."""
        if claim.origin is not None:
            paired = self.between(claim.origin)
            return paired, paired.pairs[claim.site]
        (pair,) = match([claim.site], self._target.sites)
        return None, replace(pair, before=completed(pair.before, pair.after)) if pair.after is not None else pair


def _drifts(
    pair: Pair,
    paired: Paired | None,
    target: Snapshot,
    origin: str,
    entry: str | None,
    extra: frozenset[Kind] = frozenset(),
) -> list[Drift]:
    """The drift of a pair as a list of one, or of none where nothing differs."""
    before, after = pair.before, pair.after
    found = (kinds(before, after) if after is not None else frozenset({Kind.REMOVED})) | extra
    if not found:
        return []
    drift = Drift(
        entry=entry,
        kinds=found,
        before=before,
        after=after,
        certain=after is not None or before.path not in target.partial,
        score=pair.score,
        runner_up=pair.runner_up,
        cause=paired.cause(before, after, found) if paired is not None else None,
        possible=pair.possible,
        origin=origin,
    )
    return [drift]


def _raised_again(entry: Entry, pair: Pair) -> list[Drift]:
    """The drift of a page that says that its error is no longer raised: only where these very words are raised again,
    not where they have a successor.
    """
    if pair.after is None or kinds(pair.before, pair.after) & {Kind.REWORDED, Kind.RETYPED}:
        return []
    return [Drift(entry=entry.id, kinds=frozenset({Kind.NEW}), before=None, after=pair.after)]


def _new(paired: Paired) -> list[Drift]:
    found = frozenset({Kind.NEW})
    return [
        Drift(entry=None, kinds=found, before=None, after=site, cause=paired.cause(None, site, found))
        for site in paired.new
    ]


def _no_base(entries: Sequence[Entry]) -> str:
    pins = sorted({entry.pin for entry in entries})
    missing = pins[0] if len(pins) == 1 else f"{len(pins)} different pins"
    return (
        f"new errors were not looked for: that takes a whole base, and the mirror does not have the pages' pin "
        f"({missing}). Name one with --base (such as --base release:VERSION), or run `tracker pull`"
    )


def _report(
    repository: str,
    before: Snapshot | None,
    after: Snapshot,
    tracked: str,
    checked: int,
    drifts: list[Drift],
    unlocated: list[Unlocated],
    notices: list[str],
    entries: Sequence[Entry],
) -> Report:
    return Report(
        repository=repository,
        base=before.revision if before else None,
        target=after.revision,
        files=(before.files if before else (), after.files),
        coverage=(_coverage(before) if before else None, _coverage(after)),
        partial={**(before.partial if before else {}), **after.partial},
        tracked=tracked,
        summary=_summary(checked, drifts),
        drifts=tuple(sorted(drifts, key=_order)),
        unlocated=tuple(unlocated),
        pages={entry.id: entry.file for entry in entries},
        notices=tuple(notices),
    )


def _summary(checked: int, drifts: Sequence[Drift]) -> Summary:
    # An error that is raised again is new, and its page is one of those checked.
    old = [drift for drift in drifts if drift.before is not None or drift.entry is not None]
    return Summary(
        checked=checked,
        unchanged=checked - len(old),
        differing=sum(drift.severity > Severity.INFO for drift in old),
        kinds={kind: sum(kind in drift.kinds for drift in drifts) for kind in Kind},
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
