"""A catalogue as a site has it: which addresses to ask for, and what need not be asked twice. Writes nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import msgspec

from tracker.catalogue.incoming import MEMBERS, Parcel, Unsaid, is_zip, take
from tracker.catalogue.merge import digest
from tracker.catalogue.site import Site, joined
from tracker.errors import SiteDeferred, SiteError


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of an answer."""

    etag: str = ""
    modified: str = ""
    pages: dict[str, str] = {}
    """Id -> digest of each page that it held."""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """What came from a site."""

    parcel: Parcel
    unchanged: frozenset[str]
    """Ids of pages that the site says are as they were, and that the catalogue has as they were."""
    notes: Mapping[str, Note]
    """Of the addresses that gave a new answer."""
    ended: SiteDeferred | None
    """Why not everything was asked for."""


def from_site(
    site: Site,
    url: str,
    unsaid: Unsaid,
    notes: Mapping[str, Note],
    held: Mapping[str, str],
    progress: Callable[[str], None],
) -> Harvest:
    """The pages at an address of the site: one, several, or those that a list names.

    `notes` are those of last time, `held` the digests of the catalogue's pages by id. SiteError: the address gives
    nothing. An entry of a list that cannot be had is a fault; when the site wants to be left alone, the rest is left.
    """
    parcel, fresh = Parcel(), dict[str, Note]()
    unchanged: set[str] = set()
    queue, seen = deque([url]), {url}
    while queue:
        address = queue.popleft()
        progress(f"{len(seen) - len(queue)} of {len(seen)}, {address}")
        note = notes.get(address)
        if note is not None and any(held.get(id) != known for id, known in note.pages.items()):
            note = None  # what it gave is not there any more, or not as it was
        try:
            answer = site.get(address, {"etag": note.etag, "modified": note.modified} if note is not None else None)
        except SiteDeferred as error:
            if address == url:
                raise
            return Harvest(parcel=parcel, unchanged=frozenset(unchanged), notes=fresh, ended=error)
        except SiteError as error:
            if address == url:
                raise
            parcel.refuse(_name(address), str(error))
            continue
        if answer.content is None and note is not None:
            unchanged |= set(note.pages)
            links = note.links
        else:
            links = _taken(parcel, answer.content or b"", address, unsaid, fresh, (answer.etag, answer.modified))
        for link in links:
            try:
                full = joined(answer.url, link)
            except SiteError as error:
                parcel.refuse(_name(address), str(error))
                continue
            if full not in seen and len(seen) <= MEMBERS:
                seen.add(full)
                queue.append(full)
    return Harvest(parcel=parcel, unchanged=frozenset(unchanged), notes=fresh, ended=None)


def _taken(
    parcel: Parcel, data: bytes, address: str, unsaid: Unsaid, fresh: dict[str, Note], validators: tuple[str, str]
) -> tuple[str, ...]:
    """Put an answer into the parcel and note it -> the addresses that it names. CatalogueError: a broken archive."""
    found = Parcel()
    take(found, data, _name(address), unsaid)
    pages = found.pages
    if not is_zip(data):
        pages = [replace(page, entry=replace(page.entry, file=f"{page.entry.id}.txt")) for page in pages]
    parcel.pages.extend(pages)
    parcel.faults.extend(found.faults)
    links = (*found.links, *found.following)
    etag, modified = validators
    if (etag or modified) and not found.faults:
        digests = {page.entry.id: digest(page) for page in pages}
        fresh[address] = Note(etag=etag, modified=modified, pages=digests, links=links)
    return links


def _name(address: str) -> str:
    """What stands for an address in front of a fault, and an id may stand in."""
    parts = urlsplit(address)
    return PurePosixPath(parts.path).name or parts.netloc
