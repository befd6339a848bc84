"""Questions to the index: the life of an error, and what changed between two points. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracker.errors import RevisionError
from tracker.events import Event, Life, Told
from tracker.history.files import sites_in
from tracker.message import escape
from tracker.model import Kind, Site
from tracker.repository.mirror import Mirror
from tracker.sections import Upstream
from tracker.store.history import History
from tracker.store.recall import errors_saying
from tracker.store.recall import life as life_of
from tracker.store.timeline import Released

Point = tuple[str, int]
"""A name as the user wrote it, and its position on the line of first parents."""


def saying(history: History, text: str) -> list[int]:
    """The errors that said a text at some time: exactly that first, then those that contain it; newest first."""
    found: dict[int, None] = {}
    for wanted in dict.fromkeys((text, escape(text))):
        exact, containing = errors_saying(history, wanted)
        found = dict.fromkeys((*exact, *found, *containing))
    return list(found)


def at(history: History, mirror: Mirror, upstream: Upstream, path: str, line: int) -> list[int]:
    """The errors at a line of the newest revision. RevisionError: there is none, with those next to it."""
    held = history.held(path)
    if held is None or held.blob is None:
        raise RevisionError(f"{upstream.branch} has no file {path} with errors in it: name one as `tracker sites` does")
    sites = sites_in(mirror, held, upstream.asserts)
    if here := [error for error, site in sites if site.line <= line <= site.end_line]:
        return here
    near = sorted(sites, key=lambda one: abs(one[1].line - line))[:4]
    lines = ", ".join(str(site.line) for site in sorted((site for _, site in near), key=lambda site: site.line))
    hint = f": nearest to it they are at {lines}" if lines else ""
    raise RevisionError(f"{path}:{line} raises no error at {upstream.branch}{hint}")


class Chronicle:
    """The index with the mirror it was made from."""

    def __init__(self, history: History, mirror: Mirror, asserts: bool) -> None:
        self._history = history
        self._mirror = mirror
        self._asserts = asserts
        self._released = Released(history.releases())

    def lives(
        self, query: str, errors: Sequence[int], limit: int, since: Point | None, entries: Mapping[int, str]
    ) -> Told:
        """The lives of errors as an answer; `entries`: the pages that are known to speak of them."""
        after = since[1] if since is not None else 0
        found: list[Life] = []
        for error in errors:
            if len(found) == limit and since is None:
                break
            life = self._told(error, after, entries.get(error))
            if life is not None:
                found.append(life)
        total = len(errors) if since is None else len(found)
        return Told(
            query=query,
            lives=tuple(found[:limit]),
            more=total - len(found[:limit]),
            since=since[0] if since is not None else None,
        )

    def _told(self, error: int, after: int, entry: str | None) -> Life | None:
        """The life of an error; None where nothing happened behind the position `after`."""
        stretches = life_of(self._history, error)
        died = self._history.died(error)
        sites: list[Site | None] = [None, *(one.site for one in stretches)]
        events = [(one.since, one.kinds, before, one.site) for before, one in zip(sites, stretches, strict=False)]
        if died is not None:
            events.append((died, (Kind.REMOVED,), sites[-1], stretches[-1].site))
        shown = [event for event in events if event[0] > after and event[1]]
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

    def _event(self, position: int, found: tuple[Kind, ...], before: Site | None, site: Site) -> Event:
        cause = self._history.commit_at(position)
        assert cause is not None
        inside = self._released.within(position)
        return Event(kinds=found, cause=cause, release=inside[0].version if inside else None, site=site, before=before)

    def _newest(self, error: int, site: Site) -> Site:
        """A site where it stands at the newest commit."""
        held = self._history.held(site.path)
        found = dict(sites_in(self._mirror, held, self._asserts, {error})) if held is not None else {}
        return found.get(error, site)
