"""The pipeline of a lookup: a paste -> a revision, a verdict on each error, and the story of what was found.

Where the version is not told, everything the paste shows is evidence, and nothing of it proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tracker.compare.match import match
from tracker.locate import agrees, finder, in_excerpt
from tracker.lookup.past import Past, Release, Story
from tracker.lookup.paste import Paste
from tracker.lookup.rank import Ranker
from tracker.lookup.releases import Releases
from tracker.lookup.verdict import Judged, Verdict, judge
from tracker.lookup.versions import stated
from tracker.model import Entry, Revision, Site, Snapshot
from tracker.snapshots import Sources

MOST_STORIES = 3
"""Sites whose past and future are told; more are too many to read."""
FEW = 4
"""Releases that are named one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a lookup found."""

    at: Revision
    because: str
    """How the revision was chosen."""
    newest: Revision
    judged: tuple[Judged, ...]
    """One for each error, in the order of the paste."""
    entries: Mapping[Site, Entry]
    """The pages of matched sites."""
    stories: Mapping[Site, Story] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Of the most telling error."""
        return min((one.verdict for one in self.judged), key=list(Verdict).index, default=Verdict.NONE)

    @property
    def first(self) -> Judged | None:
        """The first error with that verdict."""
        return next((one for one in self.judged if one.verdict is self.verdict), None)


class Asked:
    """A mirror, ready to be asked about pastes."""

    def __init__(
        self,
        sources: Sources,
        releases: Releases,
        past: Past,
        newest: Revision,
        entries: Sequence[Entry],
        package: str,
    ) -> None:
        self._sources, self._releases, self._past, self._newest = sources, releases, past, newest
        self._entries, self._package = entries, package
        self._rankers: dict[str, Ranker] = {}

    def answer(self, paste: Paste, at: Revision | None, history: bool = True) -> Answer:
        """The answer at a revision, or at the one that the paste itself speaks for. GitError: unreadable."""
        notices: list[str] = []
        if at is not None:
            because = "as asked for"
            judged = self._judged(paste, at)
        else:
            at, because = self._evidence(paste, notices)
            judged = self._judged(paste, at)
            if not any(one.settled for one in judged):
                better = self._elsewhere(judged)
                if better is None:
                    if any(one.verdict is Verdict.NONE for one in judged):
                        notices.append("none of the releases that the mirror knows raises such a text, either")
                else:
                    there = self._judged(paste, better.revision)
                    if any(one.settled for one in there):
                        because = f"the newest release that raises this text; {at.name} does not"
                        at, judged = better.revision, there
        found = [match.site for one in judged for match in one.matches]
        stories = {}
        if history:
            for site in found[:MOST_STORIES]:
                stories[site] = self._past.story(site, at, self._newest)
        return Answer(
            at=at,
            because=because,
            newest=self._newest,
            judged=tuple(judged),
            entries=self._pages(found, at),
            stories=stories,
            notices=tuple(notices),
        )

    def _judged(self, paste: Paste, at: Revision) -> list[Judged]:
        if at.commit not in self._rankers:
            self._rankers[at.commit] = Ranker(self._snapshot(at), self._sources.handed_in(at))
        return [judge(error, self._rankers[at.commit]) for error in paste.errors]

    def _snapshot(self, at: Revision) -> Snapshot:
        (snapshot,) = self._sources.snapshots([at])
        return snapshot

    def _evidence(self, paste: Paste, notices: list[str]) -> tuple[Revision, str]:
        """The revision that a paste speaks for: its version, checked against the lines that its traceback shows."""
        versions = stated(paste.text, self._package)
        said = [(version, release) for version in versions if (release := self._releases.of(version))]
        fitting = self._releases.by_frames([frame for error in paste.errors for frame in error.frames])
        fits = {release.version for release in fitting}
        for version, release in said:
            if not fits or release.version in fits:
                return release.revision, f"the paste says {self._package} {version}"
        if fitting:
            last = fitting[-1]
            listed = ", ".join(release.version for release in fitting)
            if len(fitting) > FEW:
                listed = f"{len(fitting)} releases from {fitting[0].version} to {last.version}"
            if said:
                notices.append(
                    f"the paste says {self._package} {said[0][0]}, but its traceback shows lines of {listed}; "
                    "a development build calls itself by the next release"
                )
            return last.revision, f"the lines of the traceback are those of {listed}"
        return self._newest, "the newest revision; the paste does not tell its version"

    def _elsewhere(self, judged: Sequence[Judged]) -> Release | None:
        """The newest release that can have raised one of the errors."""
        for one in judged:
            if one.verdict is not Verdict.FOREIGN and (found := self._past.raising(one.error)):
                return found[0]
        return None

    def _pages(self, sites: Sequence[Site], at: Revision) -> dict[Site, Entry]:
        """The pages that speak of the sites: by place where the page is pinned here, else by what its excerpt shows."""
        found: dict[Site, Entry] = {}
        wanted = set(sites)
        find = None
        for entry in self._entries:
            if not any(agrees(entry, site) for site in wanted):
                continue
            snapshot = self._snapshot(at)
            find = find or finder(snapshot)
            site = find(entry)
            if isinstance(site, str) and isinstance(shown := in_excerpt(entry), Site):
                (pair,) = match([shown], snapshot.sites)
                site = pair.after or site
            if isinstance(site, Site) and site in wanted:
                found.setdefault(site, entry)
        return found
