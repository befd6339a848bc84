"""What the configuration means in a mirror: the files in scope, the pins of the pages, the revisions people name.

The one thing it may write is a release that the mirror lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tracker.config import Config
from tracker.errors import RevisionError
from tracker.model import Entry, Revision
from tracker.repository import revisions
from tracker.repository.mirror import Mirror

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tracker.snapshots import Sources
    from tracker.store.cache import Cache

Said = Callable[[str], None]
Progress = Callable[[str], AbstractContextManager[Said]]
"""Opens a long step by its title, and takes its last words."""


@contextmanager
def quietly(title: str) -> Iterator[Said]:
    """A long step that nobody watches."""
    yield lambda words: None


def resolve(
    config: Config, mirror: Mirror, name: str, entries: Sequence[Entry], progress: Progress = quietly
) -> Revision:
    """A name as the user wrote it -> the commit. A release that the mirror lacks is taken from the package index;
    `pin` is the commit that the pages share. RevisionError, ReleaseError: it is not to be had.
    """
    if name == "pin":
        return _pin(config, mirror, entries)
    if name.startswith(revisions.RELEASE):
        version = name.removeprefix(revisions.RELEASE)
        known = revisions.release_in(mirror, version) if version != revisions.LATEST else None
        if known is None:
            from tracker.repository.releases import import_release

            with progress(f"taking {config.upstream.package} {version} from the package index") as said:
                known = import_release(mirror, config.upstream.package, version, progress=said)
        return known.revision
    return revisions.resolve(mirror, name, url=config.upstream.url, branch=config.upstream.branch)


def _pin(config: Config, mirror: Mirror, entries: Sequence[Entry]) -> Revision:
    # A page whose error is no longer raised keeps the pin at which it was.
    pins = sorted({entry.pin for entry in entries if not entry.retired})
    if len(pins) != 1:
        listed = f"{len(pins)} pins: {', '.join(pins[:5])}" if pins else "no pin at all"
        raise RevisionError(f"`pin` needs one commit that all pages share, and the catalogue has {listed}")
    try:
        found = revisions.resolve(mirror, pins[0], url=config.upstream.url, branch=config.upstream.branch)
        return replace(found, name="pin")
    except RevisionError:
        raise RevisionError(
            f"the mirror does not have the pages' pin {pins[0]}: fetch it with `tracker pull`, "
            "or name a base that it has, such as --base release:VERSION"
        ) from None


def target_of(
    config: Config, mirror: Mirror, name: str | None, entries: Sequence[Entry], progress: Progress = quietly
) -> Revision:
    """The revision named, or the newest of the mirror."""
    if name is None:
        return revisions.default_target(mirror, config.upstream.branch)
    return resolve(config, mirror, name, entries, progress)


def cache_of(config: Config) -> Cache:
    """What was kept of earlier results. To be closed."""
    from tracker.program import identity
    from tracker.store.cache import Cache

    return Cache(config.state.cache, identity())


def sources_of(config: Config, mirror: Mirror, executor: Executor | None, cache: Cache) -> Sources:
    """The files that the configuration has in scope."""
    from tracker.snapshots import Sources

    upstream = config.upstream
    return Sources(mirror, upstream.paths, upstream.exclude, executor, upstream.asserts, cache)


def pins(mirror: Mirror, entries: Sequence[Entry]) -> dict[str, Revision]:
    """The pins of the pages that the mirror has."""
    return revisions.pinned(mirror, sorted({entry.pin for entry in entries}))
