"""Answers that were given before, out of the cache: the entries of a catalogue, and whole reports.

A report is a function of two commits, the entries, a few settings and this program. Whoever asks the same again gets
the same, word for word, without any source being read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from tracker.catalogue.folder import Contents, understood
from tracker.model import Entry, PageFault, Report, Revision
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import releases
from tracker.sections import Upstream
from tracker.store.cache import Cache

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """What the pages of a catalogue claim, and which of them cannot be used."""

    entries: tuple[Entry, ...]
    faults: tuple[PageFault, ...]
    key: bytes = b""
    """Of the files that all of it was read from."""


def pages(cache: Cache, files: Contents, repository: str, meanwhile: Callable[[], None] = lambda: None) -> Pages:
    """The pages of a catalogue, understood where they were not yet; `meanwhile` is called before that takes its time.

    CatalogueError: no page at all.
    """

    def made() -> Pages:
        meanwhile()
        catalogue = understood(files, repository)
        return Pages(entries=tuple(page.entry for page in catalogue.pages), faults=catalogue.faults, key=key)

    read = [part for file, content in files.files for part in (file, content)]
    faults = [part for fault in files.faults for part in (fault.file, fault.reason)]
    key = cache.name("pages", str(files.folder), repository, str(len(faults)), *faults, *read)
    return _recalled(cache, key, Pages, made)


def report(
    cache: Cache,
    mirror: Mirror,
    upstream: Upstream,
    given: Pages,
    revisions: Sequence[Revision | None],
    pins: Mapping[str, Revision],
    settings: Sequence[object],
    make: Callable[[], Report],
) -> Report:
    """What `make` gives for these revisions, pins and pages; `settings` is all else that it depends on."""
    depends = [
        [upstream.paths, upstream.exclude, upstream.asserts],
        given.key,
        revisions,
        pins,
        # Between two releases the way leads over all those that the mirror has.
        [release.commit for release in releases(mirror)],
        settings,
    ]
    try:
        key = cache.name("report", msgspec.msgpack.encode(depends))
    except UnicodeEncodeError:  # an odd name, of which no bytes can be made
        return make()
    return _recalled(cache, key, Report, make)


def _recalled(cache: Cache, key: bytes, kind: type[Made], make: Callable[[], Made]) -> Made:
    kept = cache.get([key]).get(key)
    if kept is not None:
        with suppress(msgspec.MsgspecError):
            return msgspec.msgpack.decode(kept, type=kind)
    made = make()
    with suppress(UnicodeEncodeError):  # odd file names, odd escapes in messages
        cache.put({key: msgspec.msgpack.encode(made)})
    return made
