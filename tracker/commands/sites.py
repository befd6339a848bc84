"""`tracker sites`: every raise statement of a revision."""

from __future__ import annotations

from collections import Counter

import click

from tracker.commands.options import Settings, open_mirror, target_of, workers, write
from tracker.errors import RevisionError
from tracker.model import Form, Site, Snapshot


@click.command("sites", short_help="Every raise statement of a revision.")
@click.argument("revision", metavar="[REV]", required=False)
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
    from tracker.repository.mirror import globs
    from tracker.snapshots import Sources

    config = settings.config()
    with open_mirror(config) as mirror, workers() as executor:
        found = target_of(settings, config, mirror, revision, [])
        sources = Sources(mirror, config.upstream.paths, config.upstream.exclude, executor)
        (snapshot,) = sources.snapshots([found])
    spec = globs(paths) if paths else None
    sites = [site for site in snapshot.sites if spec is None or spec.match_file(site.path)]
    if not sites:
        raise RevisionError(f"{found.name} has no raise statement in the files asked for")
    show = line if form == "jsonl" else _line
    write("".join(f"{show(site)}\n" for site in sites))
    for path, why in snapshot.partial.items():
        settings.say(f"{path} {why}: what was found in it is listed, something may be missing")
    settings.say(_coverage(snapshot))
    return 0


def _line(site: Site) -> str:
    text = "" if site.message is None else " ".join(site.message.split())
    return f"{site.path}:{site.line}: {site.exception or 'raise'}: {text}".rstrip(": ")


def _coverage(snapshot: Snapshot) -> str:
    """How much was read, and what is behind the statements without text."""
    silent = Counter(_WITHOUT.get(site.form, "computed") for site in snapshot.sites if site.message is None)
    listed = ", ".join(f"{number} {why}" for why, number in silent.most_common())
    return (
        f"{len(snapshot.files)} files, {len(snapshot.sites)} raise statements, "
        f"{len(snapshot.sites) - silent.total()} with text" + (f"; without: {listed}" if listed else "")
    )


_WITHOUT = {Form.NONE: "without a message", Form.RERAISE: "raised again"}
