"""The past of an error out of the index of the history: every wording there ever was, and when. Writes nothing.

The index follows the branch; what was picked onto the branch of a release counts as of the release after it.
"""

from __future__ import annotations

from functools import cache, cached_property

from tracker.compare.classify import kinds
from tracker.harvest.sites import harvest
from tracker.history.releases import position_under
from tracker.lookup.past import MOST_CHANGES, Change, Past, Release, Span, Story
from tracker.lookup.paste import Raised
from tracker.lookup.rank import Ranker, best
from tracker.lookup.releases import Releases
from tracker.lookup.squeeze import literals
from tracker.model import Form, Kind, Revision, Site, Snapshot, leaf
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import upstream_commit
from tracker.store.history import History
from tracker.store.recall import errors_saying, life, messages, sites_at
from tracker.store.timeline import Message, Stretch

Wording = tuple[tuple[str, ...] | None, str | None]
"""The literal parts of a text, None where the source shows none, and the last part of the exception's name."""


class Indexed:
    """A `Past` that asks the index; what the index does not know, it leaves to another one."""

    def __init__(self, history: History, mirror: Mirror, releases: Releases, otherwise: Past) -> None:
        self._history, self._mirror, self._releases, self._otherwise = history, mirror, releases, otherwise
        self._life = cache(lambda error: life(history, error))
        self._under = cache(lambda commit: position_under(mirror, history, commit))

    def raising(self, error: Raised) -> list[Release]:
        """The releases, newest first, that can have raised the whole text of an error."""
        found = [self._texts[one.site] for one in best(self._ranker.rank(error)) if not one.partial]
        said = [
            stretch
            for one in found
            for stretch in self._life(one.error)
            if literals(one.text) in map(literals, stretch.site.messages)
        ]
        return [release for release, there in zip(self._releases.all, self._there(said), strict=True) if there][::-1]

    def story(self, site: Site, at: Revision, newest: Revision) -> Story:
        """The releases that raise what a site of a revision says, and what became of it since, release by release."""
        error = self._error(site, at)
        if error is None:
            return self._otherwise.story(site, at, newest)
        releases = self._releases.all
        first = run = self._releases.run(self._there(self._saying(error, site)), at)
        changes: list[Change] = []
        here = site
        while run is not None and run.last + 1 < len(releases) and len(changes) < MOST_CHANGES:
            final, following = releases[run.last], releases[run.last + 1]
            before = self._standing(error, final.revision)
            if before is None and (twin := self._twin(error, here, final.revision)) is not None:
                error = twin
                before = self._standing(error, final.revision)
            after = self._standing(error, following.revision)
            if before is None or after is None:
                changes.append(Change(release=following.version, kinds=frozenset({Kind.REMOVED}), site=None))
                break
            here = self._placed(after, following.revision)
            changes.append(Change(release=following.version, kinds=kinds(before, after) - {Kind.MOVED}, site=here))
            run = self._releases.run(self._there(self._saying(error, here)), following.revision)
        now = self._standing(error, newest)
        span = None
        if first is not None:
            ongoing = first.last + 1 == len(releases)
            span = Span(first=releases[first.first].version, last=releases[first.last].version, ongoing=ongoing)
        return Story(span=span, changes=tuple(changes), now=self._placed(now, newest) if now is not None else None)

    @cached_property
    def _texts(self) -> dict[Site, Message]:
        """Every text that any error ever had, as if a site said it now."""
        return {
            Site(
                path=one.path,
                line=0,
                end_line=0,
                scope=one.scope,
                exception=one.exception,
                message=one.text,
                form=Form.LITERAL,
                ordinal=n,
            ): one
            for n, one in enumerate(messages(self._history))
        }

    @cached_property
    def _ranker(self) -> Ranker:
        sites = tuple(self._texts)
        files = tuple(sorted({site.path for site in sites}))
        return Ranker(Snapshot(revision=Revision(name="", commit="", committed_at=""), sites=sites, files=files), {})

    def _error(self, site: Site, at: Revision) -> int | None:
        """The error that a site of a revision is; of twins that nothing tells apart, the one that is as manieth."""
        here = sites_at(self._history, self._position(at), site.path)
        same = [(error, one) for error, one in here if one.scope == site.scope and _wording(one) == _wording(site)]
        same = [(error, one) for error, one in same if one.guard == site.guard] or same
        if not same:
            return None
        return min(same, key=lambda one: (abs(one[1].ordinal - site.ordinal), abs(one[1].line - site.line)))[0]

    def _saying(self, error: int, site: Site) -> list[Stretch]:
        """When an error, or any other, says what this site says."""
        own = [stretch for stretch in self._life(error) if _says(stretch.site, site)]
        texts = {text for stretch in own for text in stretch.site.messages if literals(text) == _wording(site)[0]}
        others = {other for text in texts for other in errors_saying(self._history, text)[0]} - {error}
        return own + [s for other in sorted(others) for s in self._life(other) if _says(s.site, site)]

    def _twin(self, error: int, site: Site, at: Revision) -> int | None:
        """Another error that says the same at a revision."""
        for text in site.messages[:1]:
            for other in errors_saying(self._history, text)[0]:
                standing = self._standing(other, at) if other != error else None
                if standing is not None and _says(standing, site):
                    return other
        return None

    def _there(self, stretches: list[Stretch]) -> list[bool]:
        """Whether each of the releases lies in one of the stretches; one that the index does not know lies in none."""
        return [
            any(_holds(stretch, self._positions.get(release.version, 0)) for stretch in stretches)
            for release in self._releases.all
        ]

    @cached_property
    def _positions(self) -> dict[str, int]:
        """How far along the branch each release reaches, by its version."""
        return {release.version: release.position for release in self._history.releases()}

    @cached_property
    def _tagged(self) -> dict[str, int]:
        """The same by its commit."""
        return {release.commit: release.position for release in self._history.releases()}

    def _position(self, revision: Revision) -> int:
        """How far along the branch a revision reaches; 0: not at all."""
        if (known := self._tagged.get(revision.commit)) is not None:
            return known
        return self._under(revision.commit) or self._under(upstream_commit(self._mirror, revision))

    def _standing(self, error: int, at: Revision) -> Site | None:
        """An error at a revision, its lines as of the commit that made it so; None where it is not raised."""
        position = self._position(at)
        return next((one.site for one in self._life(error) if _holds(one, position)), None)

    def _placed(self, site: Site, at: Revision) -> Site:
        """A site where its file has it at a revision."""
        (raw,) = self._mirror.versions([(at.commit, site.path)])
        there = [one for one in harvest(site.path, raw).sites if one.scope == site.scope] if raw is not None else []
        same = [one for one in there if _wording(one) == _wording(site)]
        same = [one for one in same if one.guard == site.guard] or same
        return min(same, key=lambda one: (abs(one.ordinal - site.ordinal), abs(one.line - site.line)), default=site)


def _holds(stretch: Stretch, position: int) -> bool:
    return stretch.since <= position and (stretch.until is None or stretch.until > position)


def _wording(site: Site) -> Wording:
    return (literals(site.message) if site.message is not None else None), leaf(site.exception)


def _says(site: Site, other: Site) -> bool:
    """Whether a site can say what another one says first."""
    wanted, exception = _wording(other)
    if leaf(site.exception) != exception:
        return False
    return site.message is None if wanted is None else wanted in map(literals, site.messages)
