"""`tracker catalogue init`: a draft page for each error that has none. It never touches a page that is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracker.commands.complete import revisions
from tracker.commands.options import Settings, open_mirror, workers, write
from tracker.errors import CatalogueError, RevisionError

if TYPE_CHECKING:
    from tracker.drafting import Draft, Undrafted
    from tracker.model import Entry


@click.command("init")
@click.option(
    "--at",
    metavar="REV",
    shell_complete=revisions,
    help="The revision that pages are of.  [default: the newest of the mirror]",
)
@click.option("--path", "paths", metavar="GLOB", multiple=True, help="Only errors in these files (repeatable).")
@click.option("--new-since", metavar="REV", shell_complete=revisions, help="Only errors that are new since this one.")
@click.option(
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the pages there.  [default: the catalogue]",
)
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="No more than so many pages.")
@click.pass_obj
def command(
    settings: Settings,
    at: str | None,
    paths: tuple[str, ...],
    new_since: str | None,
    output: Path | None,
    limit: int | None,
) -> int:
    """Write a draft page for each error that has no page yet.

    Message, place, excerpt, pin and the condition are filled in, what only a person can say is marked `Draft`. The id
    of a page follows from its error and is the same whenever it is drafted. Messages that are raised elsewhere, too, or
    nearly so, are named on the page and in the list. Errors without a text in the source get no page.

    \b
    Example:
      tracker catalogue init --at release:0.12.0.1 --new-since release:0.11.1 --output drafts
    """
    from tracker.catalogue.page import render
    from tracker.catalogue.write import Replacement, replace_all
    from tracker.drafting import Origin, draft, without_page
    from tracker.pairing import pair_up
    from tracker.repository.globs import globs
    from tracker.repository.revisions import upstream_commit
    from tracker.scope import cache_of, pins, resolve, sources_of, target_of

    config = settings.config()
    folder = output if output is not None else config.catalogue.path
    entries = {entry.id: entry for place in (config.catalogue.path, folder) for entry in _entries(place)}
    with open_mirror(config) as mirror, workers() as executor, cache_of(config) as cache:
        target = target_of(config, mirror, at, [], settings.progress)
        base = resolve(config, mirror, new_since, [], settings.progress) if new_since is not None else None
        sources = sources_of(config, mirror, executor, cache)
        known = list(entries.values())
        (snapshot,) = sources.snapshots([target])
        sites = without_page(sources, target, known, pins(mirror, known))
        having = len(snapshot.sites) - len(sites)
        if base is not None:
            (before,) = sources.snapshots([base])
            new = set(pair_up(sources, before, snapshot, history=True).new)
            sites = [site for site in sites if site in new]
        if paths:
            spec = globs(paths)
            sites = [site for site in sites if spec.match_file(site.path)]
            if not any(spec.match_file(file) for file in snapshot.files):
                raise RevisionError(f"{target.name} has no file in scope that --path matches ({', '.join(paths)})")
        origin = Origin(
            repository=config.catalogue.repository,
            commit=upstream_commit(mirror, target),
            date=target.committed_at[:10],
            lines=lambda path: sources.lines(target, path),
        )
        made, left = draft(snapshot, sites, origin)
    there = [one for one in made if one.page.entry.id in entries or (folder / one.page.entry.file).exists()]
    made = [one for one in made if one not in there]
    more = len(made) - limit if limit is not None else 0
    made = made[:limit]
    folder.mkdir(parents=True, exist_ok=True)
    replace_all(folder, [Replacement(one.page.entry.file, None, render(one.page)) for one in made])
    write("".join(f"{_line(one)}\n" for one in made))
    for line in _outcome(folder, made, left, having + len(there), more):
        settings.say(line)
    return 0


def _entries(folder: Path) -> list[Entry]:
    """The entries of a folder of pages; none where there is no page yet."""
    from tracker.catalogue.folder import read

    try:
        return [page.entry for page in read(folder).pages]
    except CatalogueError:
        if folder.exists() and not folder.is_dir():
            raise
        return []


def _line(one: Draft) -> str:
    """File, place, message, and where else nearly the same is said."""
    site = one.site
    words = [one.page.entry.file, f"{site.path}:{site.line}", one.page.entry.title]
    if one.same:
        words.append(f"[same: {_places([f'{s.path}:{s.line}' for s in one.same])}]")
    if one.near:
        words.append(f"[nearly: {_places([f'{s.path}:{s.line}' for s in one.near])}]")
    return "  ".join(" ".join(word.split()) for word in words)


def _places(places: Sequence[str]) -> str:
    return places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more"


def _outcome(folder: Path, made: Sequence[Draft], left: Sequence[Undrafted], having: int, more: int) -> list[str]:
    from tracker.report.words import counted

    lines = []
    if left:
        tally = Counter(one.reason for one in left)
        reasons = ", ".join(f"{number} {reason}" for reason, number in tally.most_common())
        lines.append(f"{counted(len(left), 'error')} without a page that can be drafted: {reasons}")
    if having:
        verb = "has" if having == 1 else "have"
        lines.append(f"{counted(having, 'error')} of the revision {verb} a page already")
    twins = sum(bool(one.same) for one in made)
    alike = sum(bool(one.near) for one in made)
    if twins or alike:
        lines.append(f"{twins} drafts have a message that is raised elsewhere, too, {alike} one that is nearly so")
    lines.append(f"{counted(len(made), 'draft')} written to {folder}" + (f", {more} more to come" if more > 0 else ""))
    return lines
