"""Questions to the index: the life of an error, and what changed between two points. Nothing is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tracker.compare.classify import kinds
from tracker.compare.keys import said
from tracker.compare.similarity import guard_tokens
from tracker.errors import RevisionError
from tracker.events import Changed, Changelog, Event, Life, Told
from tracker.history.follow import sites_in
from tracker.history.releases import position_under
from tracker.locate import agrees, in_snapshot
from tracker.message import escape
from tracker.model import Entry, Kind, Site
from tracker.repository import revisions
from tracker.repository.mirror import Mirror
from tracker.snapshots import Sources
from tracker.store.history import History, Released, Stretch

_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ].*)?)?")
_VERSION = re.compile(r"v?\d+(\.\d+)+\S*")


class Chronicle:
    """The index with the mirror it was made from."""

    def __init__(self, history: History, mirror: Mirror, branch: str, asserts: bool) -> None:
        self._history = history
        self._mirror = mirror
        self._branch = branch
        self._asserts = asserts
        self._released = Released(history.releases())
        self._tip = history.tip

    def saying(self, text: str) -> list[int]:
        """The errors that said a text at some time: exactly that first, then those that contain it; newest first."""
        found: dict[int, None] = {}
        for wanted in dict.fromkeys((text, escape(text))):
            exact, containing = self._history.errors_saying(wanted)
            found = dict.fromkeys((*exact, *found, *containing))
        return list(found)

    def at(self, path: str, line: int) -> list[int]:
        """The errors at a line of the newest revision. RevisionError: there is none, with those next to it."""
        held = self._history.held(path)
        if held is None or held.blob is None:
            raise RevisionError(
                f"{self._branch} has no file {path} with errors in it: name one as `tracker sites` does"
            )
        sites = sites_in(self._mirror, held, self._asserts)
        if here := [error for error, site in sites if site.line <= line <= site.end_line]:
            return here
        near = sorted(sites, key=lambda one: abs(one[1].line - line))[:4]
        lines = ", ".join(str(site.line) for site in sorted((site for _, site in near), key=lambda site: site.line))
        hint = f": nearest to it they are at {lines}" if lines else ""
        raise RevisionError(f"{path}:{line} raises no error at {self._branch}{hint}")

    def of_entry(self, entry: Entry) -> list[int]:
        """The error that a page speaks of. RevisionError: no error ever said what the page says."""
        commit = self._mirror.commit(entry.pin)
        position = position_under(self._mirror, self._history, commit) if commit is not None else 0
        if commit is not None and (here := self._history.sites_at(position, entry.path)):
            sources = Sources(self._mirror, [entry.path], asserts=self._asserts)
            (snapshot,) = sources.snapshots([revisions.resolve(self._mirror, commit)])
            located = in_snapshot(entry, snapshot)
            if isinstance(located, Site):
                # Of twins that nothing tells apart, the one that is as manieth.
                twins = [site for site in snapshot.sites if _same(site, located)]
                same = [error for error, site in here if _same(site, located)]
                if len(same) == len(twins):
                    return [same[twins.index(located)]]
            if agreeing := [error for error, site in here if agrees(entry, site)]:
                return agreeing[:1]
        # Without its pin, by what the page says: in its file, and newest first.
        wanted = entry.message.partition("{")[0].rstrip("\\ ")
        for error in self.saying(wanted) if wanted else ():
            if any(stretch.site.path == entry.path and agrees(entry, stretch.site) for stretch in self._life(error)):
                return [error]
        raise RevisionError(
            f"{entry.file}: no error of {entry.path} ever said what this page says, as far as the history goes"
        )

    def lives(self, query: str, errors: Sequence[int], limit: int, since: str | None, entries: dict[int, str]) -> Told:
        """The lives of errors as an answer; `entries`: the pages that are known to speak of them."""
        after = self.position(since) if since is not None else 0
        found: list[Life] = []
        for error in errors:
            if len(found) == limit and since is None:
                break
            life = self._told(error, after, entries.get(error))
            if life is not None:
                found.append(life)
        total = len(errors) if since is None else len(found)
        return Told(query=query, lives=tuple(found[:limit]), more=total - len(found[:limit]), since=since)

    def position(self, name: str) -> int:
        """A date, a version or a revision as a position. RevisionError: it is none of them."""
        if _DATE.fullmatch(name):
            return self._history.position_before(name if len(name) > 7 else f"{name}-01")
        if _VERSION.fullmatch(name) or name.startswith(revisions.RELEASE):
            version = name.removeprefix(revisions.RELEASE).removeprefix("v")
            known = self._history.releases()
            if version == revisions.LATEST and known:
                return known[-1].position
            for release in known:
                if release.version == version:
                    return release.position
            if name.startswith(revisions.RELEASE) or self._mirror.commit(name) is None:
                listed = ", ".join(release.version for release in known[-4:])
                raise RevisionError(f"the history has no release {version!r}: the newest are {listed or 'none'}")
        commit = revisions.resolve(self._mirror, name).commit
        position = position_under(self._mirror, self._history, commit)
        if not position:
            raise RevisionError(f"{name} is on no way to {self._branch}: the history does not know it")
        return position

    def between(self, base: str, target: str) -> Changelog:
        """What became of all errors between two points. RevisionError: they are none, or the wrong way round."""
        first, last = self.position(base), self.position(target)
        if first > last:
            raise RevisionError(f"{base} is newer than {target}: name the older one first")
        before, after = dict(self._history.sites_at(first)), dict(self._history.sites_at(last))
        causes: dict[int, list[tuple[Stretch, bool]]] = defaultdict(list)
        for error, stretch in self._history.changes(first, last):
            causes[error].append((stretch, stretch.until is not None and stretch.until <= last))
        pairs = [(error, before.get(error), after.get(error)) for error in before.keys() | after.keys()]
        changes = []
        for ours, theirs in _relanded(pairs):
            error = theirs[0] if theirs is not None else ours[0] if ours is not None else 0
            made = self._changed(
                ours[1] if ours is not None else None, theirs[1] if theirs is not None else None, causes.get(error, ())
            )
            if made is not None:
                changes.append(made)
        return Changelog(
            base=base,
            target=target,
            changes=tuple(sorted(changes, key=_order)),
            errors=(len(before), len(after)),
        )

    def _changed(
        self, before: Site | None, after: Site | None, stretches: Iterable[tuple[Stretch, bool]]
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
            cause=self._history.commit_at(at),
        )

    def _life(self, error: int) -> list[Stretch]:
        return self._history.life(error)

    def _told(self, error: int, after: int, entry: str | None) -> Life | None:
        """The life of an error; None where nothing happened behind the position `after`."""
        stretches = self._life(error)
        died = self._history.died(error)
        events = [(one.since, one.kinds, one.site) for one in stretches if one.kinds]
        if died is not None:
            events.append((died, (Kind.REMOVED,), stretches[-1].site))
        shown = [event for event in events if event[0] > after]
        if not shown:
            return None
        inside = self._released.within(stretches[0].since, died)
        return Life(
            entry=entry,
            site=self._newest(error, stretches[-1].site) if died is None else stretches[-1].site,
            alive=died is None,
            first=inside[0].version if inside else None,
            last=inside[1].version if inside else None,
            events=tuple(self._event(*event) for event in shown),
        )

    def _event(self, position: int, found: tuple[Kind, ...], site: Site) -> Event:
        cause = self._history.commit_at(position)
        assert cause is not None
        inside = self._released.within(position)
        return Event(kinds=found, cause=cause, release=inside[0].version if inside else None, site=site)

    def _newest(self, error: int, site: Site) -> Site:
        """A site where it stands at the newest commit."""
        held = self._history.held(site.path)
        found = dict(sites_in(self._mirror, held, self._asserts, {error})) if held is not None else {}
        return found.get(error, site)


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


def _same(site: Site, other: Site) -> bool:
    return (site.scope, said(site), guard_tokens(site.guard)) == (other.scope, said(other), guard_tokens(other.guard))


def _order(change: Changed) -> tuple[str, int, str]:
    site = change.after or change.before
    assert site is not None
    return site.path, site.line, site.scope
