"""Pages of a folder replaced by new ones, or added to it: all of them, or none.

Every new page is on the disk, beside the old one and under a hidden name, before the first takes its place; each takes
it by one rename, and one that is added never takes the place of another. A failure on the way puts back those that were
replaced. A machine that dies between two renames leaves whole pages, some of them new: as what is done to a page is the
same whatever became of the others, doing it again does the rest, and removes what lies about.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tracker.errors import CatalogueError

_MAKING = ".repin-"
"""How the names of files in the making begin; a catalogue's hidden files are no pages."""


class Replacement(NamedTuple):
    """A page's file, from the catalogue's folder, as it was read and as it should be; without `old` it is a new one."""

    file: str
    old: bytes | None
    new: bytes


def replace_all(folder: Path, pages: Sequence[Replacement]) -> None:
    """Replace the pages. CatalogueError: one is not what was read, or somebody else is at it; OSError: the file system
    refuses. Then none is replaced.
    """
    # What a link points to is replaced, not the link.
    paths = [(folder / page.file).resolve() for page in pages]
    made: list[Path] = []
    replaced: list[tuple[Path, bytes | None]] = []
    with _alone(folder):
        _sweep({path.parent for path in paths})
        try:
            for path, page in zip(paths, pages, strict=True):
                made.append(_written(path, page.new, page.old is None))
            if any(page.old is None for page in pages):
                os.sync()  # once: a thousand new pages, each synced by itself, take half a minute
            for path, page in zip(paths, pages, strict=True):
                if page.old is not None and path.read_bytes() != page.old:
                    raise CatalogueError(f"{page.file} was changed by somebody else meanwhile: run it again")
            for path, page, new in zip(paths, pages, made, strict=True):
                if page.old is None:
                    _added(new, path, page.file)
                else:
                    new.replace(path)
                replaced.append((path, page.old))
            _settle(paths)
        except BaseException:
            for path, old in replaced:
                if old is None:
                    path.unlink()
                else:
                    _written(path, old, False).replace(path)
            raise
        finally:
            for new in made:
                new.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While nobody else writes pages there. The lock goes with the process, however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise CatalogueError(f"another tracker is writing into {folder}: run it again when that is done") from None
    finally:
        os.close(handle)


def _written(path: Path, content: bytes, fresh: bool) -> Path:
    """The content in a new file beside `path`, with its permissions, on the disk; or a fresh one, not there yet."""
    handle, name = tempfile.mkstemp(prefix=_MAKING, dir=path.parent)
    try:
        with open(handle, "wb") as file:
            os.fchmod(handle, _usual() if fresh else path.stat().st_mode & 0o7777)
            file.write(content)
            file.flush()
            if not fresh:
                os.fsync(handle)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _usual() -> int:
    """The permissions of a file that anybody makes here."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _added(new: Path, path: Path, file: str) -> None:
    """A link, unlike a rename, never takes the place of a file."""
    try:
        os.link(new, path)
    except FileExistsError:
        raise CatalogueError(f"{file} was made by somebody else meanwhile: run it again") from None


def _settle(paths: Iterable[Path]) -> None:
    """The renames are on the disk."""
    for folder in sorted({path.parent for path in paths}):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(folders: Iterable[Path]) -> None:
    """Take away what a run that was killed left behind."""
    for folder in folders:
        for left in folder.glob(f"{_MAKING}*"):
            left.unlink(missing_ok=True)
