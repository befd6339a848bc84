"""`tracker history`: the life of an error, and the changelog of errors between two releases."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from tracker.commands.indexed import opened
from tracker.commands.options import Settings, open_mirror, screen, write
from tracker.errors import CatalogueError, RevisionError, TrackerError
from tracker.report.screen import Screen

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.history.query import Point
    from tracker.model import Entry
    from tracker.repository.mirror import Mirror
    from tracker.store.history import History

FORMATS = {
    "text": "tracker.report.history_text",
    "json": "tracker.report.history_json",
    "markdown": "tracker.report.history_markdown",
}
_PLACE = re.compile(r"(?P<path>[^:]+\.py):(?P<line>\d+)")
_ID = re.compile(r"[0-9a-f]{16}")


@click.command("history")
@click.argument("what", metavar="ID|TEXT|PATH:LINE", required=False)
@click.option(
    "--between", nargs=2, metavar="A B", help="Instead: which errors are new, reworded, retyped, removed from A to B."
)
@click.option("--since", metavar="WHEN", help="Only what happened since a date, a version or a revision.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many errors.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@click.pass_obj
def command(
    settings: Settings, what: str | None, between: tuple[str, str] | None, since: str | None, limit: int, form: str
) -> int:
    """Tell when an error was introduced, reworded, moved and removed, by which commit, and in which release.

    The error is named by the id of its page, by a text that it says or said at any time, or by a line of the newest
    revision. A and B are releases (0.12.0) or revisions.

    The first time, the whole history is read, which for JAX takes a minute; it can be interrupted, and goes on from
    there. After that only what is new is read.

    \b
    Example:
      tracker history "psend is currently only implemented on GPUs"
      tracker history jax/_src/lax/parallel.py:1283 --since 0.10.0
      tracker history --between 0.10.0 0.12.0 --format markdown
    """
    if (what is None) == (between is None):
        raise click.UsageError("name one error (the id of its page, a text, or path:line), or two ends with --between")
    if between is not None and since is not None:
        raise click.UsageError("--since tells where the life of an error begins: --between has a beginning already")
    config = settings.config()
    formats = import_module(FORMATS[form])
    with open_mirror(config) as mirror, opened(settings, config, mirror) as history:

        def point(name: str) -> Point:
            from tracker.history.points import position

            return name, position(history, mirror, config.upstream.branch, name)

        if between is not None:
            from tracker.history.changelog import between as changes

            write(formats.changelog(changes(history, point(between[0]), point(between[1])), _screen(form)))
            return 0
        assert what is not None
        from tracker.history.query import Chronicle

        chronicle = Chronicle(history, mirror, config.upstream.asserts)
        errors, entries = _found(config, history, mirror, what)
        told = chronicle.lives(what, errors, limit, point(since) if since is not None else None, entries)
        write(formats.lives(told, _screen(form)))
    return 0


def _found(config: Config, history: History, mirror: Mirror, what: str) -> tuple[Sequence[int], dict[int, str]]:
    """The errors that are meant, and the pages that are known to speak of them."""
    from tracker.history.query import at, saying

    if _ID.fullmatch(what) and (entry := _entry(config, what)) is not None:
        from tracker.history.points import error_of

        error = error_of(history, mirror, config.upstream.asserts, entry)
        return [error], {error: entry.id}
    if place := _PLACE.fullmatch(what):
        return at(history, mirror, config.upstream, place["path"], int(place["line"])), {}
    if errors := saying(history, what):
        return errors, {}
    if _ID.fullmatch(what):
        raise CatalogueError(f"{config.catalogue.path} has no page with the id {what}, and no error ever said that")
    raise RevisionError(
        f"no error ever said {what!r}: placeholders are written as in the source (`{{axis}}`), "
        "and part of a text will do, too"
    )


def _entry(config: Config, id: str) -> Entry | None:
    from tracker.catalogue.folder import read

    try:
        catalogue = read(config.catalogue.path, config.catalogue.repository)
    except TrackerError as error:
        print(f"tracker: {error}", file=sys.stderr)
        return None
    return next((page.entry for page in catalogue.pages if page.entry.id == id), None)


def _screen(form: str) -> Screen:
    return screen() if form == "text" else Screen()
