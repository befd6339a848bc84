"""The past of an error out of the releases' own files: which of them can have raised a text, and where a wording begins
and ends. Reads the mirror anew each time: seconds, no index, nothing written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.harvest.sites import harvest
from tracker.lookup.past import MOST_CHANGES, Change, Release, Span, Story
from tracker.lookup.paste import Raised
from tracker.lookup.rank import Ranker, best
from tracker.lookup.releases import Releases, Run
from tracker.lookup.squeeze import literals
from tracker.message import split
from tracker.model import Kind, Revision, Site, Snapshot, leaf
from tracker.repository.mirror import Mirror
from tracker.snapshots import Sources

MOST_WORDS = 16
"""Words of a text by which files are sieved; the longest say most."""
MANY = 20
"""Releases from which on whoever waits is told what makes it quick."""
MOST_FILES = 500
"""Versions of files that are read for a text that no known release has."""

Named = tuple[str, str]
"""Path and blob."""

_WORD = re.compile(r"[A-Za-z_]{4,}")


class Sieve:
    """A `Past` that looks into every version of every file, sieved by the words of the text."""

    def __init__(self, mirror: Mirror, sources: Sources, releases: Releases, say: Callable[[str], None]) -> None:
        self._mirror, self._sources, self._releases, self._say = mirror, sources, releases, say
        self._texts: dict[Named, set[tuple[tuple[str, ...], str | None]]] = {}

    def raising(self, error: Raised) -> list[Release]:
        """The releases, newest first, one of whose files by itself can have raised the whole text of an error."""
        words = _words([error.message], MOST_WORDS)
        if not words or not self._releases.all:
            return []
        self._tell(f"searching {len(self._releases.all)} releases for the text")
        held = self._words_held(words)
        common = len(held)
        weights = {word: common / (1 + sum(word in found for found in held.values())) for word in words}
        scores = {named: sum(weights[word] for word in found) for named, found in held.items() if found}
        most = max(scores.values(), default=0.0)
        likely = sorted((named for named in scores if scores[named] >= 0.6 * most), key=lambda named: -scores[named])
        likely = likely[:MOST_FILES]
        sites: dict[Site, Named] = {}
        paths = sorted({path for path, _ in likely})
        for (path, blob), raw in zip(
            likely, (raw for _, raw in self._mirror.read(blob for _, blob in likely)), strict=True
        ):
            sites.update((site, (path, blob)) for site in harvest(path, raw).sites)
        nowhere = Revision(name="", commit="", committed_at="")
        ranker = Ranker(Snapshot(revision=nowhere, sites=tuple(sites), files=tuple(paths)), {})
        found = {sites[one.site] for one in best(ranker.rank(error)) if not one.partial}
        return [release for release in reversed(self._releases.all) if found & self._named(release)]

    def story(self, site: Site, at: Revision, newest: Revision) -> Story:
        """The releases that raise what a site of a revision says, and what became of it since, release by release."""
        run = self._run(site, at)
        span = None
        if run is not None:
            first, last = self._releases.all[run.first].version, self._releases.all[run.last].version
            span = Span(first=first, last=last, ongoing=run.last + 1 == len(self._releases.all))
        changes: list[Change] = []
        here, when = site, at
        while run is not None and run.last + 1 < len(self._releases.all) and len(changes) < MOST_CHANGES:
            final, following = self._releases.all[run.last], self._releases.all[run.last + 1]
            held = self._continued(here, when, final.revision)
            after = self._continued(held, final.revision, following.revision) if held is not None else None
            found = kinds(held, after) - {Kind.MOVED} if held is not None and after is not None else {Kind.REMOVED}
            changes.append(Change(release=following.version, kinds=frozenset(found), site=after))
            if after is None:
                return Story(span=span, changes=tuple(changes), now=None)
            here, when = after, following.revision
            run = self._run(here, when)
        return Story(span=span, changes=tuple(changes), now=self._continued(here, when, newest))

    def _continued(self, site: Site, at: Revision, then: Revision) -> Site | None:
        """The site that continues this one at another revision."""
        if at.commit == then.commit:
            return site
        before, after = self._sources.snapshots([at, then])
        return next((pair.after for pair in match(before.sites, after.sites) if pair.before == site), None)

    def _run(self, site: Site, at: Revision) -> Run | None:
        """The releases in a row, around a revision, that raise what a site says; None: no release does."""
        words = _words(split(site.message)[0], MOST_WORDS) if site.message is not None else []
        if not words or not self._releases.all:
            return None
        self._tell(f"following the text through {len(self._releases.all)} releases")
        held = self._words_held(words)
        has_all = {named for named, found in held.items() if len(found) == len(words)}
        there = [self._named(release) & has_all for release in self._releases.all]
        run = self._releases.run([*map(bool, there)], at)
        if run is None:
            return None
        start, first, last = run.start, run.first, run.last
        # The words alone can be there for other reasons; the statement itself must be.
        if self._raises(there[start], site):
            while first < start and not self._raises(there[first], site):
                first += 1
            while last > start and not self._raises(there[last], site):
                last -= 1
        return Run(start, first, last)

    def _tell(self, what: str) -> None:
        hint = " (with an index of the history, which `tracker history` makes, this is quick)"
        self._say(what + hint * (len(self._releases.all) >= MANY))

    def _raises(self, files: Iterable[Named], site: Site) -> bool:
        wanted = {(literals(message), leaf(site.exception)) for message in site.messages[:1]}
        return any(wanted & self._said(named) for named in sorted(files))

    def _said(self, named: Named) -> set[tuple[tuple[str, ...], str | None]]:
        if named not in self._texts:
            found = harvest(named[0], self._mirror.content(named[1])).sites
            self._texts[named] = {(literals(message), leaf(s.exception)) for s in found for message in s.messages}
        return self._texts[named]

    def _named(self, release: Release) -> set[Named]:
        return {(file.path, file.blob) for file in self._sources.files(release.revision)}

    def _words_held(self, words: Sequence[str]) -> Mapping[Named, frozenset[str]]:
        """Each version of each file of all releases, with those of the words that it holds."""
        named = sorted(
            {one for release in self._releases.all for one in self._named(release)}, key=lambda one: (one[1], one[0])
        )
        wanted = [(word, word.encode()) for word in words]
        held: dict[Named, frozenset[str]] = {}
        for one, (_, raw) in zip(named, self._mirror.read(blob for _, blob in named), strict=True):
            held[one] = frozenset(word for word, raw_word in wanted if raw_word in raw)
        return held


def _words(texts: Iterable[str], most: int) -> list[str]:
    found = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    return sorted(found, key=lambda word: (-len(word), word))[:most]
