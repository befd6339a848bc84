"""Where on the line something is: a date, a version or a revision as a position, a page as the error it speaks of."""

from __future__ import annotations

import re

from tracker.compare.keys import said
from tracker.compare.similarity import guard_tokens
from tracker.errors import RevisionError
from tracker.history.query import saying
from tracker.history.releases import position_under
from tracker.locate import agrees, in_snapshot
from tracker.model import Entry, Site
from tracker.repository import revisions
from tracker.repository.mirror import Mirror
from tracker.snapshots import Sources
from tracker.store.history import History
from tracker.store.recall import life, sites_at

_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ].*)?)?")
_VERSION = re.compile(r"v?\d+(\.\d+)+\S*")


def position(history: History, mirror: Mirror, branch: str, name: str) -> int:
    """A date, a version or a revision as a position. RevisionError: it is none of them."""
    if _DATE.fullmatch(name):
        return history.position_before(name if len(name) > 7 else f"{name}-01")
    if _VERSION.fullmatch(name) or name.startswith(revisions.RELEASE):
        version = name.removeprefix(revisions.RELEASE).removeprefix("v")
        known = history.releases()
        if version == revisions.LATEST and known:
            return known[-1].position
        for release in known:
            if release.version == version:
                return release.position
        if name.startswith(revisions.RELEASE) or mirror.commit(name) is None:
            listed = ", ".join(release.version for release in known[-4:])
            raise RevisionError(f"the history has no release {version!r}: the newest are {listed or 'none'}")
    commit = revisions.resolve(mirror, name).commit
    position = position_under(mirror, history, commit)
    if not position:
        raise RevisionError(f"{name} is on no way to {branch}: the history does not know it")
    return position


def error_of(history: History, mirror: Mirror, asserts: bool, entry: Entry) -> int:
    """The error that a page speaks of. RevisionError: no error ever said what the page says."""
    commit = mirror.commit(entry.pin)
    position = position_under(mirror, history, commit) if commit is not None else 0
    if commit is not None and (here := sites_at(history, position, entry.path)):
        sources = Sources(mirror, [entry.path], asserts=asserts)
        (snapshot,) = sources.snapshots([revisions.resolve(mirror, commit)])
        located = in_snapshot(entry, snapshot)
        if isinstance(located, Site):
            # Of twins that nothing tells apart, the one that is as manieth.
            twins = [site for site in snapshot.sites if _same(site, located)]
            same = [error for error, site in here if _same(site, located)]
            if len(same) == len(twins):
                return same[twins.index(located)]
        if agreeing := [error for error, site in here if agrees(entry, site)]:
            return agreeing[0]
    # Without its pin, by what the page says: in its file, and newest first.
    wanted = entry.message.partition("{")[0].rstrip("\\ ")
    for error in saying(history, wanted) if wanted else ():
        if any(stretch.site.path == entry.path and agrees(entry, stretch.site) for stretch in life(history, error)):
            return error
    raise RevisionError(
        f"{entry.file}: no error of {entry.path} ever said what this page says, as far as the history goes"
    )


def _same(site: Site, other: Site) -> bool:
    return (site.scope, said(site), guard_tokens(site.guard)) == (other.scope, said(other), guard_tokens(other.guard))
