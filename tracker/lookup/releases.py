"""The releases of a mirror as the past of an error: which of them a traceback fits, which can have raised a text, and
where a wording begins and ends. Reads the mirror anew each time: seconds, no index, nothing written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from packaging.version import InvalidVersion, Version

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.harvest.sites import harvest
from tracker.lookup.frames import Frame
from tracker.lookup.past import Change, Release, Span, Story
from tracker.lookup.paste import Raised
from tracker.lookup.rank import Ranker, best, within
from tracker.lookup.squeeze import squeeze
from tracker.message import split
from tracker.model import Kind, Revision, Site, Snapshot, leaf
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import releases as imported
from tracker.repository.revisions import resolve
from tracker.snapshots import Sources

MOST_WORDS = 16
"""Words of a text by which files are sieved; the longest say most."""
MOST_CHANGES = 4
"""Changes of a site that are followed, one after the other."""
MOST_FILES = 500
"""Versions of files that are read for a text that no known release has."""

Named = tuple[str, str]
"""Path and blob."""

_WORD = re.compile(r"[A-Za-z_]{4,}")


@dataclass(frozen=True, slots=True)
class _Run:
    """Releases in a row, by their places among all."""

    first: int
    last: int


class Releases:
    """Every release that a mirror knows as a tag or as an imported package."""

    def __init__(self, mirror: Mirror, sources: Sources, package: str, say: Callable[[str], None]) -> None:
        self._mirror, self._sources, self._package, self._say = mirror, sources, package, say
        self._texts: dict[Named, set[tuple[tuple[str, ...], str | None]]] = {}

    @cached_property
    def all(self) -> list[Release]:
        """The final releases, oldest version first."""
        found: dict[Version, Release] = {}
        tags = self._mirror.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags").out.decode(
            "utf-8", "replace"
        )
        for tag in tags.splitlines():
            version = _version(tag.removeprefix(f"{self._package}-").removeprefix("v"))
            if version is not None and (tag.startswith((self._package, "v")) or tag[:1].isdigit()):
                found[version] = Release(str(version), resolve(self._mirror, f"refs/tags/{tag}"))
                found[version] = Release(str(version), _named(found[version].revision, tag))
        for release in imported(self._mirror):
            version = _version(release.version)
            if version is not None and release.package in ("", self._package):
                found.setdefault(version, Release(str(version), release.revision))
        return [found[version] for version in sorted(found)]

    def of(self, version: str) -> Release | None:
        """The release of a version as a paste states it; of one that was never released, the last one before it."""
        try:
            wanted = Version(version)
        except InvalidVersion:
            return None
        return next((release for release in reversed(self.all) if Version(release.version) <= wanted), None)

    def by_frames(self, frames: Iterable[Frame]) -> list[Release]:
        """The releases in which the most of the frames' lines read as pasted; empty where none does in any."""
        shown = [frame for frame in frames if frame.line and frame.source and len(frame.source.split()) > 1]
        if not shown or not self.all:
            return []
        self._say(f"comparing the traceback's lines with {len(self.all)} releases")
        agree = []
        for release in self.all:
            files = frozenset(file.path for file in self._sources.files(release.revision))
            agree.append(sum(self._reads(release, files, frame) for frame in shown))
        most = max(agree)
        return [release for release, count in zip(self.all, agree, strict=True) if count == most] if most else []

    def _reads(self, release: Release, files: frozenset[str], frame: Frame) -> bool:
        path = within(frame.file, files)
        if path is None or frame.line is None:
            return False
        lines = self._sources.lines(release.revision, path)
        shown, there = squeeze(frame.source or ""), lines[frame.line - 1 : frame.line]
        return bool(there) and squeeze(there[0]).startswith(shown[:60])

    def raising(self, error: Raised) -> list[Release]:
        """The releases, newest first, one of whose files by itself can have raised the whole text of an error."""
        words = _words([error.message], MOST_WORDS)
        if not words or not self.all:
            return []
        self._say(f"searching {len(self.all)} releases for the text")
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
        return [release for release in reversed(self.all) if found & self._named(release)]

    def story(self, site: Site, at: Revision, newest: Revision) -> Story:
        """The releases that raise what a site of a revision says, and what became of it since, release by release."""
        run = self._run(site, at)
        span = None
        if run is not None:
            first, last = self.all[run.first].version, self.all[run.last].version
            span = Span(first=first, last=last, ongoing=run.last + 1 == len(self.all))
        changes: list[Change] = []
        here, when = site, at
        while run is not None and run.last + 1 < len(self.all) and len(changes) < MOST_CHANGES:
            final, following = self.all[run.last], self.all[run.last + 1]
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

    def _run(self, site: Site, at: Revision) -> _Run | None:
        """The releases in a row, around a revision, that raise what a site says; None: no release does."""
        words = _words(split(site.message)[0], MOST_WORDS) if site.message is not None else []
        if not words or not self.all:
            return None
        self._say(f"following the text through {len(self.all)} releases")
        held = self._words_held(words)
        has_all = {named for named, found in held.items() if len(found) == len(words)}
        there = [self._named(release) & has_all for release in self.all]
        near = self._nearest(at)
        start = next((n for n in (near, near + 1, near - 1) if 0 <= n < len(there) and there[n]), -1)
        if start < 0:
            return None
        first = last = start
        while first > 0 and there[first - 1]:
            first -= 1
        while last + 1 < len(there) and there[last + 1]:
            last += 1
        # The words alone can be there for other reasons; the statement itself must be.
        if self._raises(there[start], site):
            while first < start and not self._raises(there[first], site):
                first += 1
            while last > start and not self._raises(there[last], site):
                last -= 1
        return _Run(first, last)

    def _raises(self, files: Iterable[Named], site: Site) -> bool:
        wanted = {(_literals(message), leaf(site.exception)) for message in site.messages[:1]}
        return any(wanted & self._said(named) for named in sorted(files))

    def _said(self, named: Named) -> set[tuple[tuple[str, ...], str | None]]:
        if named not in self._texts:
            found = harvest(named[0], self._mirror.content(named[1])).sites
            self._texts[named] = {(_literals(message), leaf(s.exception)) for s in found for message in s.messages}
        return self._texts[named]

    def _nearest(self, at: Revision) -> int:
        """The release that a revision is, or the last one made before it."""
        for n, release in enumerate(self.all):
            if release.revision.commit == at.commit:
                return n
        dates = [release.revision.committed_at for release in self.all]
        return max((n for n, date in enumerate(dates) if date <= at.committed_at), key=lambda n: dates[n], default=0)

    def _named(self, release: Release) -> set[Named]:
        return {(file.path, file.blob) for file in self._sources.files(release.revision)}

    def _words_held(self, words: Sequence[str]) -> Mapping[Named, frozenset[str]]:
        """Each version of each file of all releases, with those of the words that it holds."""
        named = sorted({one for release in self.all for one in self._named(release)}, key=lambda one: (one[1], one[0]))
        wanted = [(word, word.encode()) for word in words]
        held: dict[Named, frozenset[str]] = {}
        for one, (_, raw) in zip(named, self._mirror.read(blob for _, blob in named), strict=True):
            held[one] = frozenset(word for word, raw_word in wanted if raw_word in raw)
        return held


def _words(texts: Iterable[str], most: int) -> list[str]:
    found = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    return sorted(found, key=lambda word: (-len(word), word))[:most]


def _literals(message: str) -> tuple[str, ...]:
    return tuple(map(squeeze, split(message)[0]))


def _version(text: str) -> Version | None:
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    return None if version.is_prerelease else version


def _named(revision: Revision, name: str) -> Revision:
    return Revision(name=name, commit=revision.commit, committed_at=revision.committed_at)
