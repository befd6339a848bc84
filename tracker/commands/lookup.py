"""`tracker lookup`: an error on the screen -> the page that explains it and the statement that raised it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracker.commands.complete import revisions
from tracker.commands.indexed import opened_if_quick
from tracker.commands.options import Settings, open_mirror, screen, workers, write
from tracker.errors import TrackerError

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.lookup.past import Past
    from tracker.model import Entry

FORMATS = {"text": "tracker.lookup.text", "json": "tracker.lookup.json"}

LARGEST = 4_000_000
"""Bytes of a paste that are read: of a longer log, the end."""


class NothingToLookUp(TrackerError):
    """There is nothing to look up."""


@click.command("lookup")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--text", metavar="TEXT", help="The error itself, instead of a file.")
@click.option(
    "--at",
    metavar="REV",
    shell_complete=revisions,
    help="The revision that raised it, such as jax-v0.4.30 or release:0.4.30.",
)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@click.option("--history/--no-history", default=True, help="Say in which releases it exists and what became of it.")
@click.pass_obj
def command(settings: Settings, file: Path | None, text: str | None, at: str | None, form: str, history: bool) -> int:
    """Say which raise statement an error comes from, and which page explains it.

    The error is in FILE, in --text, or comes from stdin: a message, a traceback, a whole log, a notebook's output, with
    whatever is wrapped around it. Without --at, the version is read from it; where it does not tell, the answer is
    that of the newest revision, or of the newest release that raises such a text.

    \b
    Example:
      python train.py 2>&1 | tracker lookup
      tracker lookup --at release:0.4.30 --text "ValueError: psum requires ..."
    """
    pasted = _pasted(file, text)
    config = settings.config()

    from tracker.lookup.ask import Asked
    from tracker.lookup.indexed import Indexed
    from tracker.lookup.paste import read
    from tracker.lookup.releases import Releases
    from tracker.lookup.sieve import Sieve
    from tracker.scope import cache_of, sources_of, target_of

    paste = read(pasted)
    entries = _entries(config)
    package = config.upstream.package
    with (
        open_mirror(config) as mirror,
        workers() as executor,
        cache_of(config) as cache,
        opened_if_quick(settings, config, mirror) as index,
    ):
        revision = target_of(config, mirror, at, entries, settings.progress) if at is not None else None
        newest = target_of(config, mirror, None, entries)
        sources = sources_of(config, mirror, executor, cache)
        releases = Releases(mirror, sources, package, settings.say)
        past: Past = Sieve(mirror, sources, releases, settings.say)
        if index is not None:
            past = Indexed(index, mirror, releases, otherwise=past)
        answer = Asked(sources, releases, past, newest, entries, package).answer(paste, revision, history)
    write(import_module(FORMATS[form]).render(answer, screen()))
    return 0


def _pasted(file: Path | None, text: str | None) -> str:
    """What is to be looked up. NothingToLookUp: nothing."""
    if file is not None and text is not None:
        raise NothingToLookUp("an error is looked up from a file or from --text, not from both")
    if text is None:
        if (file is None or str(file) == "-") and sys.stdin.isatty():
            print("tracker: paste the error, then end it with Ctrl-D", file=sys.stderr)
        raw = sys.stdin.buffer.read() if file is None or str(file) == "-" else file.read_bytes()
        text = _decoded(raw[-LARGEST:])
    if not text.strip():
        raise NothingToLookUp("there is nothing to look up: give an error as a file, with --text, or on stdin")
    return text


def _decoded(raw: bytes) -> str:
    """PowerShell redirects in UTF-16."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8-sig", "replace")


def _entries(config: Config) -> list[Entry]:
    """The pages of the catalogue; without any, errors are found all the same."""
    from tracker.catalogue.folder import read
    from tracker.errors import CatalogueError

    try:
        return [page.entry for page in read(config.catalogue.path, config.catalogue.repository).pages]
    except CatalogueError:
        return []
