"""`tracker sites`: every raise statement of a revision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from tracker.commands.complete import revisions
from tracker.commands.options import Settings, open_mirror, workers, write
from tracker.errors import RevisionError
from tracker.model import Site, Snapshot


@click.command("sites")
@click.argument("revision", metavar="[REV]", required=False, shell_complete=revisions)
@click.option("--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True)
@click.option("--path", "paths", metavar="GLOB", multiple=True, help="Only these files (repeatable).")
@click.pass_obj
def command(settings: Settings, revision: str | None, form: str, paths: tuple[str, ...]) -> int:
    """List every raise statement of REV: where it is, what it raises and says.

    Without REV the newest revision of the mirror. The last line, on stderr, says how much was read.

    \b
    Example:
      tracker sites release:0.12.0.1 --format jsonl
    """
    from tracker.report.json import line
    from tracker.repository.globs import globs
    from tracker.scope import cache_of, sources_of, target_of

    config = settings.config()
    with open_mirror(config) as mirror, workers() as executor, cache_of(config) as cache:
        found = target_of(config, mirror, revision, [], settings.progress)
        sources = sources_of(config, mirror, executor, cache)
        (snapshot,) = sources.snapshots([found])
        snapshot = sources.verified(snapshot, snapshot.files)
    spec = globs(paths) if paths else None
    sites = [site for site in snapshot.sites if spec is None or spec.match_file(site.path)]
    if not sites:
        raise RevisionError(f"{found.name} has no raise statement in the files asked for")
    if form == "jsonl":
        write("".join(f"{line(site)}\n" for site in sites))
    else:
        write("".join(f"{_line(site, snapshot.reasons.get(site))}\n" for site in sites))
    for path, why in snapshot.partial.items():
        settings.say(f"{path} {why}: what was found in it is listed, something may be missing")
    settings.say(_coverage(snapshot, sites))
    return 0


def _line(site: Site, reason: str | None) -> str:
    text = " ".join(site.message.split()) if site.message is not None else f"({reason})"
    path = site.path if site.path.isprintable() else repr(site.path)
    return f"{path}:{site.line}: {site.exception or 'raise'}: {text}"


def _coverage(snapshot: Snapshot, sites: Sequence[Site]) -> str:
    """How much was read, and why some statements have no text."""
    silent = Counter(snapshot.reasons[site] for site in sites if site in snapshot.reasons)
    listed = ", ".join(f"{number} {reason}" for reason, number in silent.most_common())
    files = len({site.path for site in sites})
    return (
        f"{len(snapshot.files)} files read; {len(sites)} raise statements in {files} of them, "
        f"{len(sites) - silent.total()} with text" + (f", the others: {listed}" if listed else "")
    )
