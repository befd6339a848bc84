"""`tracker sites`: every raise statement of a revision."""

from __future__ import annotations

import click

from tracker.commands.options import Settings, open_mirror, resolve, workers
from tracker.errors import GitError, RevisionError
from tracker.model import Site, Snapshot


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
    from tracker.repository.revisions import default_target
    from tracker.snapshots import Sources

    config = settings.config()
    try:
        with open_mirror(config) as mirror, workers() as executor:
            found = (
                resolve(settings, config, mirror, revision, [])
                if revision
                else default_target(mirror, config.upstream.branch)
            )
            sources = Sources(mirror, config.upstream.paths, config.upstream.exclude, executor)
            (snapshot,) = sources.snapshots([found])
    except GitError:
        raise
    spec = globs(paths) if paths else None
    sites = [site for site in snapshot.sites if spec is None or spec.match_file(site.path)]
    if not sites:
        raise RevisionError(f"{found.name} has no raise statement in the files asked for")
    show = line if form == "jsonl" else _line
    for site in sites:
        click.echo(show(site))
    for path, why in snapshot.partial.items():
        settings.say(f"{path} {why}: what was found in it is listed, something may be missing")
    settings.say(_coverage(snapshot))
    return 0


def _line(site: Site) -> str:
    text = "" if site.message is None else " ".join(site.message.split())
    return f"{site.path}:{site.line}: {site.exception or 'raise'}: {text}".rstrip(": ")


def _coverage(snapshot: Snapshot) -> str:
    silent: dict[str, int] = {}
    for site in snapshot.sites:
        if site.message is None:
            silent[_WHY[site.form.value]] = silent.get(_WHY[site.form.value], 0) + 1
    without = ", ".join(f"{number} {why}" for why, number in sorted(silent.items(), key=lambda item: -item[1]))
    with_message = sum(site.message is not None for site in snapshot.sites)
    return f"{len(snapshot.files)} files, {len(snapshot.sites)} raise statements, {with_message} with text" + (
        f"; without: {without}" if without else ""
    )


_WHY = {
    "none": "without an argument",
    "reraise": "raise what was caught",
}
