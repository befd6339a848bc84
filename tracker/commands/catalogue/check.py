"""`tracker catalogue check`: what is wrong with the pages themselves. Writes nothing but releases it has to take in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tracker.commands.complete import revisions
from tracker.commands.options import Settings, open_mirror, workers, write

if TYPE_CHECKING:
    from tracker.api import Api
    from tracker.model import Revision
    from tracker.repository.mirror import Mirror
    from tracker.snapshots import Sources

FAULTY, UNVERIFIED = 1, 2


@click.command("check")
@click.option("--at", metavar="REV", shell_complete=revisions, help="Where related errors and names are looked for.")
@click.option(
    "--base", metavar="REV", shell_complete=revisions, help="Stands in for the pins that the mirror does not have."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(settings: Settings, at: str | None, base: str | None, form: str) -> int:
    """Say what is wrong with the pages themselves, whatever became of their errors.

    Each page is compared with its own pin: error, line, exception, excerpt; one whose pin the mirror lacks is right
    where it agrees with --base. Related errors and names of the library (`jax.lax.psend`) are looked for at --at, by
    default the newest revision of the mirror; they are read off the source, nothing is imported. What cannot be judged
    for sure is counted and never called a fault. Exit code: 0 all is well; 1 a page has a fault; 2 something could not
    be checked.

    \b
    Example:
      tracker catalogue check --at release:0.12.0.1 --base release:0.11.1
    """
    from tracker.audit.auditor import audit
    from tracker.audit.words import as_json, as_text, summary
    from tracker.catalogue.folder import read
    from tracker.scope import cache_of, pins, resolve, sources_of, target_of

    config = settings.config()
    catalogue = read(config.catalogue.path, config.catalogue.repository)
    entries = [page.entry for page in catalogue.pages]
    with open_mirror(config) as mirror, workers() as executor, cache_of(config) as cache:
        target = target_of(config, mirror, at, entries, settings.progress)
        believed = resolve(config, mirror, base, entries, settings.progress) if base is not None else None
        sources = sources_of(config, mirror, executor, cache)
        known = pins(mirror, entries)
        found = audit(catalogue, sources, target, known, lambda one: _api(mirror, sources, one), believed)
    write(as_text(found) if form == "text" else as_json(found))
    settings.say(summary(found))
    return FAULTY if found.findings else UNVERIFIED if found.unverified else 0


def _api(mirror: Mirror, sources: Sources, revision: Revision) -> Api:
    """The packages of a revision that hold the sources in scope."""
    from tracker.api import Api

    blobs = {file.path: file.blob for file in mirror.files(revision.commit, ["**/*.py", "**/*.pyi"])}
    scope = [file.path for file in sources.files(revision)]
    return Api(blobs, lambda path: mirror.content(blobs[path]), scope)
