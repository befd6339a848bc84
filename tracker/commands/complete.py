"""What a shell offers for the values of arguments: ids of pages, names of revisions.

A completion never fails and never says anything: where nothing can be read, nothing is offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from tracker.commands.options import Settings
from tracker.errors import TrackerError

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.repository.mirror import Mirror


def ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids of the pages, each with its title."""
    from tracker.catalogue.folder import read

    with suppress(TrackerError, OSError):
        config = _config(ctx)
        pages = read(config.catalogue.path, config.catalogue.repository).pages
        found = [(page.entry.id, " ".join(page.entry.title.split())) for page in pages]
        return [CompletionItem(id, help=title) for id, title in found if id.startswith(incomplete)]
    return []


def revisions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The branches, tags and releases of the mirror, newest first."""
    with suppress(TrackerError, OSError), _mirror(_config(ctx)) as mirror:
        from tracker.repository.revisions import RELEASE, RELEASE_REFS

        listing = mirror.git(
            "for-each-ref", "--sort=-creatordate", "--format=%(refname)", "refs/heads", "refs/tags", RELEASE_REFS
        )
        refs = listing.out.decode("utf-8", "replace").split()
        names = [
            RELEASE + ref.removeprefix(RELEASE_REFS) if ref.startswith(RELEASE_REFS) else ref.split("/", 2)[2]
            for ref in refs
        ]
        return [CompletionItem(name) for name in (*names, f"{RELEASE}latest") if name.startswith(incomplete)]
    return []


def _config(ctx: click.Context) -> Config:
    options = ctx.find_root().params
    return Settings(file=options.get("file"), overrides=options.get("overrides") or (), quiet=True).config()


@contextmanager
def _mirror(config: Config) -> Iterator[Mirror]:
    from tracker.repository.mirror import Mirror

    with Mirror.open(config.state.mirror, create=False) as mirror:
        yield mirror
