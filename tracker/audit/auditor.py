"""What is wrong with pages themselves: at their own pins, among each other, in what they refer to. Writes nothing.

What became of their errors since is not asked here: that is `tracker.check`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache

from tracker.api import Api, State
from tracker.audit.findings import Audit, Fault, Finding
from tracker.audit.texts import Texts
from tracker.catalogue.excerpt import first_line_in
from tracker.catalogue.folder import Catalogue
from tracker.catalogue.page import Page
from tracker.catalogue.references import Reference, references
from tracker.locate import agrees, in_snapshot
from tracker.model import Revision, Site, Snapshot
from tracker.pairing import pair_up
from tracker.snapshots import Sources


def audit(
    catalogue: Catalogue,
    sources: Sources,
    at: Revision,
    pinned: Mapping[str, Revision],
    opened: Callable[[Revision], Api],
    base: Revision | None = None,
) -> Audit:
    """Look at every page. `pinned` are the pins that the mirror has, `opened` opens the packages of a revision.

    `base` stands in for the pins that it lacks: what agrees with it is right, what does not is not known to be wrong.
    """
    lent = {page.entry.pin: base for page in catalogue.pages if page.entry.pin not in pinned and base is not None}
    return _Auditor(catalogue, sources, at, {**pinned, **lent}, frozenset(lent), opened).audit()


class _Auditor:
    def __init__(
        self,
        catalogue: Catalogue,
        sources: Sources,
        at: Revision,
        pinned: Mapping[str, Revision],
        lent: Collection[str],
        opened: Callable[[Revision], Api],
    ) -> None:
        self._catalogue, self._sources, self._at, self._lent = catalogue, sources, at, lent
        pins = sorted({page.entry.pin for page in catalogue.pages if page.entry.pin in pinned})
        self._target, *snapshots = sources.snapshots([at, *(pinned[pin] for pin in pins)])
        self._pinned = dict(zip(pins, snapshots, strict=True))
        commits = {one.revision.commit: one for one in snapshots}
        pairs = {commit: pair_up(sources, one, self._target, history=False).pairs for commit, one in commits.items()}
        self._pairs = {pin: pairs[one.revision.commit] for pin, one in self._pinned.items()}
        self._api = cache(opened)
        self._texts = Texts(self._target.sites)
        past = {commit: Texts(one.sites) for commit, one in commits.items()}
        self._past = {pin: past[one.revision.commit] for pin, one in self._pinned.items()}
        self._unverified: Counter[str] = Counter()
        self._findings: list[Finding] = []
        self._unjudged: Counter[str] = Counter()
        self._seen = Counter[str]()
        self._titles = {_one_line(page.entry.title) for page in catalogue.pages}

    def audit(self) -> Audit:
        catalogue = self._catalogue
        for fault in catalogue.faults:
            kind = Fault.DUPLICATE_ID if fault.file in catalogue.twins else Fault.UNREADABLE
            self._findings.append(
                Finding(fault=kind, entry=None, file=fault.file, line=fault.line, name="", words=fault.reason)
            )
        self._twins([(page, site) for page in catalogue.pages if (site := self._at_pin(page)) is not None])
        for page in catalogue.pages:
            self._related(page)
            self._references(page)
        order = list(Fault)
        return Audit(
            at=self._at,
            pages=len(catalogue.pages),
            pinned=self._seen["pinned"],
            related=self._seen["related"],
            names=self._seen["names"],
            findings=tuple(
                sorted(self._findings, key=lambda one: (one.file, one.line, order.index(one.fault), one.name))
            ),
            unjudged=dict(self._unjudged.most_common()),
            unverified=tuple(f"{why}: {number} of the pages" for why, number in self._unverified.most_common()),
        )

    def _found(self, fault: Fault, page: Page, line: int, words: str, name: str = "") -> None:
        entry = page.entry
        self._findings.append(Finding(fault=fault, entry=entry.id, file=entry.file, line=line, name=name, words=words))

    def _at_pin(self, page: Page) -> Site | None:
        """The site that a page speaks of where it was written; what is wrong there is noted."""
        entry = page.entry
        snapshot = self._pinned.get(entry.pin)
        if snapshot is None:
            self._unverified[f"pinned to {entry.pin}, which the mirror does not have"] += 1
            return None
        found = in_snapshot(entry, snapshot)
        if entry.pin in self._lent and (isinstance(found, str) or self._wrong_from(page, snapshot) is not None):
            name = snapshot.revision.name
            self._unverified[f"pinned to {entry.pin}, which the mirror does not have, and not as {name} shows it"] += 1
            return found if isinstance(found, Site) else None
        here = [site for site in snapshot.sites if site.path == entry.path]
        if isinstance(found, Site):
            self._seen["pinned"] += 1
            self._excerpt(page, snapshot)
            return found
        other = [s for s in here if s.line == entry.line and agrees(replace(entry, exception=s.exception or ""), s)]
        if other:
            words = f"at its pin {entry.path}:{entry.line} raises {other[0].exception}, not {entry.exception}"
            self._found(Fault.EXCEPTION_DIFFERS, page, page.line_of("exception"), words)
        elif any(agrees(entry, site) for site in here):
            self._found(Fault.LINE_DIFFERS, page, page.line_of("line"), found)
        elif entry.path in snapshot.partial:
            self._unverified["their file cannot be wholly read at their pin"] += 1
            return None
        else:
            self._found(Fault.UNLOCATED, page, page.line_of("path"), found)
        self._seen["pinned"] += 1
        return None

    def _excerpt(self, page: Page, snapshot: Snapshot) -> None:
        at = self._wrong_from(page, snapshot)
        if at is None:
            return
        words = "its excerpt does not show the raise statement"
        if at >= 0:
            words = f"its excerpt is not the source of {page.entry.path} at its pin, from this line on"
        self._found(Fault.EXCERPT_DIFFERS, page, page.line_of("excerpt") + max(0, at), words)

    def _wrong_from(self, page: Page, snapshot: Snapshot) -> int | None:
        """The first line of a page's excerpt, from 0, that is not the source's; -1 where it does not show the site."""
        entry = page.entry
        source, shown = self._sources.lines(snapshot.revision, entry.path), entry.excerpt.split("\n")
        if not entry.excerpt:
            return None
        first = first_line_in(source, entry.excerpt, line=entry.line, guess=entry.excerpt_line)
        if first is None:
            return -1
        there = [source[n - 1] if 1 <= n <= len(source) else None for n in range(first, first + len(shown))]
        return next((n for n, line in enumerate(shown) if line != there[n]), None)

    def _twins(self, located: Sequence[tuple[Page, Site]]) -> None:
        """Pages of one site: at the target where it is still raised, else at their pins."""
        same: dict[tuple[str, Site], list[Page]] = defaultdict(list)
        for page, site in located:
            after = self._pairs[page.entry.pin][site].after
            same[("", after) if after is not None else (page.entry.pin, site)].append(page)
        for (_, site), pages in same.items():
            for page in pages if len(pages) > 1 else ():
                others = ", ".join(other.entry.file for other in pages if other is not page)
                words = f"{site.path}:{site.line} is also the error of {others}: one page for one error is enough"
                self._found(Fault.DUPLICATE_SITE, page, page.line_of("path"), words)

    def _related(self, page: Page) -> None:
        """Whether the errors that a page relates to are still raised in these words."""
        for title in page.entry.related:
            if self._texts.of(title):
                self._seen["related"] += 1
                continue
            if page.entry.pin not in self._past:
                self._unjudged[f"related errors that {self._at.name} does not raise, of pages without their pin"] += 1
                continue
            pairs, old = self._pairs[page.entry.pin], self._past[page.entry.pin].of(title)
            if not old and _one_line(title) in self._titles:
                self._unjudged["related errors that only other pages know"] += 1
                continue
            after = next((new for site in old if (new := pairs[site].after) is not None), None)
            if old and after is None and any(site.path in self._target.partial for site in old):
                self._unjudged["related errors of files that cannot be wholly read"] += 1
                continue
            self._seen["related"] += 1
            words = f"{_one_line(title)}: is no longer raised at {self._at.name}"
            if not old:
                words = f"{_one_line(title)}: is not raised at {self._at.name}, nor at {self._origin(page)}"
            elif after is not None:
                now = _one_line(after.message or "nothing that can be read")
                words += f" in these words; {after.path}:{after.line} says: {now}"
            kind = Fault.RELATED_GONE if after is None else Fault.RELATED_REWORDED
            self._found(kind, page, _line_of(page, title), words, title)

    def _origin(self, page: Page) -> str:
        pin = page.entry.pin
        return self._pinned[pin].revision.name if pin in self._lent else "the page's pin"

    def _references(self, page: Page) -> None:
        """Whether the target has the names that the page's writer uses."""
        api = self._api(self._at)
        found = references(page, api.roots)
        if found.others:
            self._unjudged["names that begin with something else than the package"] += found.others
        if found.aside:
            self._unjudged["names that a page advises against, or whose end it is about"] += len(found.aside)
        for reference in found.named:
            state, reason = self._judged(api, reference)
            if state is State.UNKNOWN:
                self._unjudged[f"names {reason}"] += 1
                continue
            self._seen["names"] += 1
            if state is State.GONE:
                before = self._pinned.get(page.entry.pin)
                never = before is not None and (self._api(before.revision).look_up(reference.name).state is State.GONE)
                words = f"{reference.name}: {reason} at {self._at.name}" + (
                    f", nor at {self._origin(page)}" if never else ""
                )
                self._found(Fault.REFERENCE_GONE, page, reference.line, words, reference.name)

    def _judged(self, api: Api, reference: Reference) -> tuple[State, str]:
        verdict = api.look_up(reference.name)
        name = reference.name
        if verdict.state is State.GONE and name.endswith("s") and api.look_up(name[:-1]).state is State.THERE:
            return State.UNKNOWN, "that can be a plural"
        return verdict.state, verdict.reason


def _line_of(page: Page, title: str) -> int:
    """The last line of a page that holds the first line of a title: lists of related errors are at the end."""
    first = title.split("\n")[0]
    lines = page.text.splitlines()
    return max((n for n, line in enumerate(lines, 1) if first in line), default=1)


def _one_line(text: str) -> str:
    return " ".join(text.split())
