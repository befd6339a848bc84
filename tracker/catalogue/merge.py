"""Pages from outside beside those of the catalogue: which are new, which are the same, which say something else.

Nothing is written, and which of two pages is right is not decided here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from tracker.catalogue.folder import Catalogue
from tracker.catalogue.page import Page
from tracker.model import PageFault

_SHORT = ("exception", "path", "line", "pin", "date", "retired")
_LONG = ("title", "message", "excerpt", "meaning", "solutions", "trigger", "related")
"""Facts whose values are too long to be put side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """A page of the catalogue, and one with its id that says something else."""

    ours: Page
    theirs: Page

    @property
    def words(self) -> str:
        """What differs, on one line."""
        ours, theirs = self.ours.entry, self.theirs.entry
        short = [
            f"{name} ({getattr(ours, name) or 'none'} here, {getattr(theirs, name) or 'none'} there)"
            for name in _SHORT
            if getattr(ours, name) != getattr(theirs, name)
        ]
        long = [name for name in _LONG if getattr(ours, name) != getattr(theirs, name)]
        return ", ".join([*short, *long]) or "text that is no fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Every page that came in, once; each in the order in which they came."""

    new: Sequence[Page]
    """Under the names they are to have."""
    unchanged: Sequence[Page]
    """As the catalogue has them."""
    differing: Sequence[Differing]
    faults: Sequence[PageFault]


def merge(catalogue: Catalogue | None, taken: Collection[str], incoming: Iterable[Page], repository: str) -> Merge:
    """Put each page that came in where it belongs. `taken` are the names of all files of the catalogue's folder.

    A page of another repository, or one of two that came in with one id and different words, is a fault.
    """
    ours = {page.entry.id: page for page in catalogue.pages} if catalogue is not None else {}
    names = {name.lower() for name in taken}
    came: dict[str, Page] = {}
    new: list[Page] = []
    unchanged: list[Page] = []
    differing: list[Differing] = []
    faults: list[PageFault] = []
    for page in incoming:
        entry = page.entry
        if entry.repository != repository:
            reason = f"the page is about {entry.repository}, the catalogue about {repository}"
            faults.append(page.fault("exception", reason).fault)
        elif (first := came.get(entry.id)) is not None:
            if digest(first) != digest(page):
                reason = f"the id {entry.id} is also that of {first.entry.file}, which says something else"
                faults.append(page.fault("id", reason).fault)
        elif (own := ours.get(entry.id)) is not None:
            if digest(own) == digest(page):
                unchanged.append(own)
            else:
                differing.append(Differing(ours=own, theirs=page))
        elif (name := _free(entry.file, entry.id, names)) is None:
            faults.append(page.fault("id", f"{entry.id}.txt is there already and is no page that can be used").fault)
        else:
            names.add(name.lower())
            new.append(replace(page, entry=replace(entry, file=name)))
        came.setdefault(entry.id, page)
    return Merge(new=new, unchanged=unchanged, differing=differing, faults=faults)


def digest(page: Page) -> str:
    """What a page says, as a short name that two pages share where they say the same."""
    return hashlib.sha256("\n".join(_words(page)).encode()).hexdigest()[:16]


def _free(file: str, id: str, names: Collection[str]) -> str | None:
    """The page's own name where it is fit for a file of the catalogue and nobody has it, else its id."""
    fit = file.isprintable() and not file.startswith(".") and not set('/\\:*?"<>|') & set(file) and len(file) <= 100
    return next((name for name in ([file] if fit else []) + [f"{id}.txt"] if name.lower() not in names), None)


def _words(page: Page) -> list[str]:
    """What a page says, line by line: outside of the excerpt, blanks at the ends and blank lines are layout."""
    lines = [line.strip() for line in page.text.removeprefix("\ufeff").splitlines() if line.strip()]
    return [*lines, page.entry.excerpt]
