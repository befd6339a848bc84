"""`tracker catalogue import`: pages from a file, a folder, an archive or a site into the catalogue."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracker.commands.options import Settings, write
from tracker.errors import CatalogueError

if TYPE_CHECKING:
    from tracker.catalogue.folder import Catalogue
    from tracker.catalogue.incoming import Unsaid
    from tracker.catalogue.merge import Merge
    from tracker.catalogue.remote import Harvest, Note

NEEDS_A_HUMAN = 6


@click.command("import")
@click.argument("source", metavar="PATH-or-URL")
@click.option("--force", is_flag=True, help="Replace pages of the catalogue that say something else.")
@click.pass_obj
def command(settings: Settings, source: str, force: bool) -> int:
    """Take pages into the catalogue: from a file (text, HTML, JSON), a folder, a zip, or a site.

    New pages are written, all of them or none. A page that the catalogue has with other words is left as it is and
    named with what differs, unless --force says otherwise. Of a site, an address can be that of a page, of an entry as
    JSON (/api/errors/ID), or of a list of entries or ids; a second import only asks for what is new.

    Exit code: 0 done, nothing is left; 2 nothing was imported; 5 the site is not to be had for now: what came was
    imported, and the next import goes on; 6 a page differs, or could not be read.

    \b
    Example:
      tracker catalogue import catalogue-2026-12.zip
      tracker catalogue import https://errors.example.org/api/errors
    """
    from tracker.catalogue.incoming import Unsaid, from_path
    from tracker.catalogue.merge import merge

    config = settings.config()
    folder = config.catalogue.path
    catalogue = _catalogue(folder)
    unsaid = Unsaid(repository=config.catalogue.repository, day=datetime.now(UTC).date().isoformat())
    harvest = None
    if re.match(r"[a-zA-Z][\w+.-]+://", source):
        harvest = _from_site(settings, source, unsaid, _notes(config.state.imports), catalogue)
        parcel = harvest.parcel
    else:
        path = Path(source).expanduser()
        if not path.exists():
            raise CatalogueError(f"there is no file or folder {source}, and it is no address that starts with https://")
        parcel = from_path(path, unsaid)
    taken = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    found = merge(catalogue, taken, parcel.pages, config.catalogue.repository)
    faults = [*parcel.faults, *found.faults]
    for fault in faults:
        print(f"tracker: {fault.file}:{fault.line}: {fault.reason}", file=sys.stderr)
    unchanged = len(found.unchanged) + (len(harvest.unchanged) if harvest is not None else 0)
    if not (found.new or found.differing or unchanged):
        if harvest is not None and harvest.ended is not None:
            raise harvest.ended
        why = f"not one of the {len(faults)} pages can be read" if faults else "there is no page in it"
        raise CatalogueError(f"nothing was imported from {source}: {why}")
    _store(folder, found, force)
    if harvest is not None:
        _note(config.state.imports, harvest.notes)
    write(_lines(found, force))
    settings.say(_summary(found, unchanged, len(faults), force))
    if harvest is not None and harvest.ended is not None:
        raise harvest.ended
    return NEEDS_A_HUMAN if faults or (found.differing and not force) else 0


def _catalogue(folder: Path) -> Catalogue | None:
    """The catalogue as it is; None where there is none yet."""
    from tracker.catalogue.folder import read

    try:
        return read(folder)
    except CatalogueError:
        if folder.exists() and (not folder.is_dir() or any(folder.glob("**/*.txt"))):
            raise
        return None


def _from_site(
    settings: Settings, url: str, unsaid: Unsaid, notes: Mapping[str, Note], catalogue: Catalogue | None
) -> Harvest:
    from tracker.catalogue.merge import digest
    from tracker.catalogue.remote import from_site
    from tracker.catalogue.site import Site

    held = {page.entry.id: digest(page) for page in catalogue.pages} if catalogue is not None else {}
    with Site(url, say=settings.say) as site, settings.progress(f"importing from {url}") as progress:
        return from_site(site, url, unsaid, notes, held, progress)


def _store(folder: Path, found: Merge, force: bool) -> None:
    from tracker.catalogue.page import render
    from tracker.catalogue.write import Replacement, replace_all

    pages = [Replacement(page.entry.file, None, render(page)) for page in found.new]
    if force:
        pages += [Replacement(d.ours.entry.file, render(d.ours), render(d.theirs)) for d in found.differing]
    if pages:
        folder.mkdir(parents=True, exist_ok=True)
        replace_all(folder, pages)


def _lines(found: Merge, force: bool) -> str:
    """One line for each page that is new, was replaced, or differs."""
    verb = "replaced" if force else "differs"
    lines = [f"new       {page.entry.file}" for page in found.new]
    lines += [f"{verb:<8}  {one.ours.entry.file}  {one.words}" for one in found.differing]
    return "".join(f"{line}\n" for line in lines)


def _summary(found: Merge, unchanged: int, faults: int, force: bool) -> str:
    parts = [f"{len(found.new)} new", f"{unchanged} unchanged"]
    if found.differing:
        count = len(found.differing)
        parts.append(
            f"{count} replaced" if force else f"{count} differing and left as they are (--force replaces them)"
        )
    if faults:
        parts.append(f"{faults} that could not be used")
    return ", ".join(parts)


def _notes(file: Path) -> dict[str, Note]:
    """What is remembered of sites. Only a help: what cannot be read is forgotten."""
    import msgspec

    from tracker.catalogue.remote import Note

    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Note])
    except (FileNotFoundError, msgspec.MsgspecError):
        return {}


def _note(file: Path, notes: Mapping[str, Note]) -> None:
    """Remember these, beside what is known of other addresses."""
    import msgspec

    if not notes:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    with open(handle, "wb") as made:
        made.write(msgspec.json.encode({**_notes(file), **notes}))
    os.replace(name, file)
