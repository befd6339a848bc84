"""Pages from outside, as text, HTML or JSON, alone, in a folder or in a zip -> pages of the catalogue's own form.

Nothing is written and nothing fetched. An archive is never unpacked onto the disk: its names are only names.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path, PurePosixPath

from tracker.catalogue.compose import compose
from tracker.catalogue.fields import content, listing
from tracker.catalogue.folder import LARGEST, bytes_of, files
from tracker.catalogue.html import text_of
from tracker.catalogue.page import Page, PageError, parse
from tracker.errors import CatalogueError
from tracker.model import PageFault

MEMBERS = 20_000
"""Files of the largest archive that is read."""
UNPACKED = 256 << 20
"""Bytes of all pages of an archive, and of the largest file that holds several entries."""
SUFFIXES = (".txt", ".html", ".htm", ".json")
"""What is read of a folder or an archive."""

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-zA-Z]")
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")


@dataclass(frozen=True, slots=True)
class Parcel:
    """What came in; filled as it comes."""

    pages: list[Page] = field(default_factory=list)
    """Named after their files, or after their ids."""
    faults: list[PageFault] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    """Addresses of entries that a list only names."""
    following: list[str] = field(default_factory=list)
    """Where such a list goes on."""

    def refuse(self, file: str, reason: str) -> None:
        self.faults.append(PageFault(file=file, line=1, reason=reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsaid:
    """What holds where an entry as JSON does not say it."""

    repository: str
    day: str
    """ISO date."""


def from_path(path: Path, unsaid: Unsaid) -> Parcel:
    """The pages of a file or a folder, and what in them is none. CatalogueError: the whole cannot be read."""
    parcel = Parcel()
    try:
        if path.is_dir():
            for file, name in sorted(files(path, SUFFIXES, parcel.faults)):
                try:
                    data = bytes_of(file)
                except OSError as error:
                    parcel.refuse(name, f"cannot be read: {error.strerror or error}")
                else:
                    take(parcel, data, name, unsaid)
        else:
            take(parcel, bytes_of(path, UNPACKED), path.name, unsaid)
    except OSError as error:
        raise CatalogueError(f"{path} cannot be read: {error.strerror or error}") from error
    if parcel.links:
        parcel.refuse(path.name, "it only names entries: import it by its address, so that they can be fetched")
    return parcel


def is_zip(data: bytes) -> bool:
    """Whether these are the bytes of an archive."""
    return data.startswith(_ZIP)


def take(parcel: Parcel, data: bytes, name: str, unsaid: Unsaid) -> None:
    """Put what a file or an answer holds into the parcel; what it is, its first bytes say. `name` names it."""
    if is_zip(data):
        _unpack(parcel, data, name, unsaid)
    elif _JSON.match(data):
        _take_json(parcel, data, name, unsaid)
    else:
        try:
            parcel.pages.append(_page(data, name))
        except PageError as error:
            parcel.faults.append(error.fault)


def _page(data: bytes, name: str) -> Page:
    page = parse(text_of(data.decode("utf-8-sig", "replace")).encode() if _MARKUP.match(data) else data, name)
    return replace(page, entry=replace(page.entry, file=f"{PurePosixPath(name).stem}.txt"))


def _take_json(parcel: Parcel, data: bytes, name: str, unsaid: Unsaid) -> None:
    try:
        found = listing(data)
    except CatalogueError as error:
        parcel.refuse(name, str(error))
        return
    except RecursionError:
        parcel.refuse(name, "it is nested too deeply")
        return
    parcel.links.extend(found.links)
    parcel.following.extend([found.following] if found.following else [])
    only = name if len(found.entries) == 1 else ""
    for number, fields in enumerate(found.entries, 1):
        where = name if only else f"{name}, entry {number}"
        try:
            says = content(fields, named=only, repository=unsaid.repository, day=unsaid.day)
            parcel.pages.append(compose(says, f"{says.id}.txt"))
        except PageError as error:
            parcel.refuse(where, error.fault.reason)
        except CatalogueError as error:
            parcel.refuse(where, str(error))
        except RecursionError:
            parcel.refuse(where, "it is nested too deeply")


def _unpack(parcel: Parcel, data: bytes, name: str, unsaid: Unsaid) -> None:
    """The pages of an archive. The sizes that it states are not believed: what is read is counted."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise CatalogueError(f"{name} is a broken archive: {error}") from None
    with archive:
        members = archive.infolist()
        if len(members) > MEMBERS:
            raise CatalogueError(f"{name} holds {len(members)} files: more than {MEMBERS} are no catalogue")
        left = UNPACKED
        for member in members:
            path = PurePosixPath(member.filename.replace("\\", "/"))
            hidden = any(part.startswith(".") and part != ".." for part in path.parts)
            if member.is_dir() or hidden or not path.name.endswith(SUFFIXES) or path.parts[0] == "__MACOSX":
                continue
            file = "/".join(path.parts)
            if path.is_absolute() or ".." in path.parts or re.match("[A-Za-z]:", file):
                parcel.refuse(file, f"its name leads out of {name}")
                continue
            try:
                with archive.open(member) as opened:
                    page = opened.read(LARGEST + 1)
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
                parcel.refuse(file, f"cannot be unpacked: {error}")
                continue
            left -= len(page)
            if left < 0:
                raise CatalogueError(f"{name} unpacks to more than {UNPACKED >> 20} MB: it is no catalogue")
            if len(page) > LARGEST:
                parcel.refuse(file, f"more than {LARGEST} bytes are too many for a page")
            elif is_zip(page):
                parcel.refuse(file, "an archive inside an archive")
            else:
                take(parcel, page, file, unsaid)
