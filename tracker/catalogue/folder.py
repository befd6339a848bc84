"""The catalogue as a folder of pages: reads them all, and names each page that cannot be used.

Writes nothing, and never chooses between two pages that claim to be the same entry.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracker.catalogue.page import Fact, Page, PageError, parse
from tracker.collector import no_collector
from tracker.errors import CatalogueError
from tracker.model import PageFault

LARGEST = 1 << 20
"""Bytes of the largest file taken for a page; a page has a few thousand."""

_REMEDY = "set `[catalogue] path` in config.toml to a folder of pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The pages of a folder that can be used, and what is wrong with the others; ordered by file name."""

    folder: Path
    pages: tuple[Page, ...]
    faults: tuple[PageFault, ...]
    twins: frozenset[str] = frozenset()
    """Files that are among the faults because another page has their id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The files of a catalogue as they are, ordered by name."""

    folder: Path
    files: tuple[tuple[str, bytes], ...]
    faults: tuple[PageFault, ...]
    """Those that cannot be read."""


def read(folder: Path, repository: str | None = None) -> Catalogue:
    """Every `*.txt` below the folder -> pages and faults, files named relative to the folder.

    Hidden files and folders are left out, links to folders are not followed. A page about another repository
    than the given one is a fault. So is every page whose id another page has too: which of them is right is
    unknown, and to check any would be a guess. Raises CatalogueError where there is no folder, or no page.
    """
    return understood(contents(folder), repository)


def contents(folder: Path) -> Contents:
    """The files that `read` takes for pages. CatalogueError: there is no folder."""
    try:
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            raise NotADirectoryError
    except (OSError, ValueError) as error:
        raise CatalogueError(f"the catalogue {folder} {_unusable(error)}: {_REMEDY}") from error
    found: list[tuple[str, bytes]] = []
    faults: list[PageFault] = []
    try:
        for path, file in files(folder, (".txt",), faults):
            try:
                found.append((file, bytes_of(path)))
            except OSError as error:
                faults.append(PageFault(file=file, line=1, reason=f"cannot be read: {error.strerror or error}"))
    except OSError as error:
        raise CatalogueError(f"the catalogue {folder} {_unusable(error)}: {_REMEDY}") from error
    return Contents(folder=folder, files=tuple(sorted(found)), faults=tuple(faults))


@no_collector()
def understood(given: Contents, repository: str | None = None) -> Catalogue:
    """The second half of `read`."""
    pages: list[Page] = []
    faults = list(given.faults)
    for file, raw in given.files:
        try:
            pages.append(parse(raw, file))
        except PageError as error:
            faults.append(error.fault)
    if not pages and not faults:
        raise CatalogueError(f"the catalogue {given.folder} holds no page (*.txt): {_REMEDY}")
    own = [page for page in pages if repository in (None, page.entry.repository)]
    for page in (page for page in pages if repository not in (None, page.entry.repository)):
        reason = f"the page is about {page.entry.repository}, the catalogue about {repository}"
        faults.append(_fault(page, "exception", reason))
    twins = _twins(own)
    return Catalogue(
        folder=given.folder,
        pages=tuple(page for page in own if page.entry.file not in twins),
        faults=tuple(sorted((*faults, *twins.values()), key=lambda fault: fault.file)),
        twins=frozenset(twins),
    )


def none_usable(folder: Path, faults: Sequence[PageFault]) -> CatalogueError:
    """The failure to raise where no page of a folder can be used; what is wrong with each has been said."""
    return CatalogueError(f"not one of the {len(faults)} pages in {folder} can be read")


def _unusable(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "does not exist"
        case NotADirectoryError():
            return "is not a folder"
        case OSError():
            return f"cannot be read: {error.strerror}"
    return f"cannot be read: {error}"  # a name that no file can have


def files(folder: Path, suffixes: tuple[str, ...], faults: list[PageFault]) -> Iterator[tuple[str, str]]:
    """Path and name of each file below a folder that ends so, hidden ones and links to folders left out.

    A folder below that cannot be listed is added to the faults. OSError: the folder itself cannot.
    """
    top = os.fspath(folder)

    def unlisted(error: OSError) -> None:
        if error.filename == top:
            raise error
        faults.append(PageFault(file=name(error.filename), line=1, reason=f"cannot be listed: {error.strerror}"))

    def name(path: str) -> str:
        # Bytes that are no UTF-8 are legal in a name and cannot be printed or put into JSON.
        return os.fsencode(path[len(top) :].lstrip(os.sep)).decode("utf-8", "backslashreplace")

    for parent, folders, files in os.walk(top, onerror=unlisted):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        for file in files:
            if file.endswith(suffixes) and not file.startswith("."):
                path = os.path.join(parent, file)
                yield path, name(path)


def bytes_of(path: str | Path, largest: int = LARGEST) -> bytes:
    """The bytes of a page file. OSError: too many, or no file: a pipe or a device is never opened, it may not end."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    if status.st_size > largest:
        raise OSError(errno.EFBIG, f"{status.st_size} bytes are too many for a page")
    # A catalogue has thousands of pages, and Python's own files take three times as long to open.
    file = os.open(path, os.O_RDONLY)
    try:
        read = os.read(file, LARGEST + 1)
        while more := os.read(file, LARGEST + 1):
            read += more
        return read
    finally:
        os.close(file)


def _twins(pages: list[Page]) -> dict[str, PageFault]:
    """File -> its fault, for each of the pages that share their id with another one."""
    same: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        same[page.entry.id].append(page)
    faults: dict[str, PageFault] = {}
    for identity, group in same.items():
        for page in group if len(group) > 1 else ():
            other = (group[1] if page is group[0] else group[0]).entry.file
            named = other if len(group) == 2 else f"{other} and {len(group) - 2} more"
            reason = f"the id {identity} is also that of {named}: expected one page for an id, none of them is used"
            faults[page.entry.file] = _fault(page, "id", reason)
    return faults


def _fault(page: Page, fact: Fact, reason: str) -> PageFault:
    return PageFault(file=page.entry.file, line=page.line_of(fact), reason=reason)
