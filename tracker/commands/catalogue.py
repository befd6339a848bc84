"""`tracker catalogue`: the pages themselves. Lists, shows, drafts and checks them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracker.commands.options import Settings, open_mirror, workers, write
from tracker.errors import CatalogueError, RevisionError
from tracker.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracker.catalogue.folder import Catalogue
    from tracker.config import Config
    from tracker.model import Entry, Site

FAULTY = 1
FORMATS = click.Choice(["text", "json"])


@click.group("catalogue")
def command() -> None:
    """The pages of the catalogue: a folder of text files, [catalogue] path in config.toml.

    \b
    Example:
      tracker catalogue check --at release:0.12.0.1
    """


@command.command("list")
@click.option("--format", "form", type=FORMATS, default="text", show_default=True)
@click.pass_obj
def list_pages(settings: Settings, form: str) -> int:
    """One line for each page: id, place, exception, message.

    \b
    Example:
      tracker catalogue list
    """
    catalogue = _read(settings.config())
    entries = [page.entry for page in catalogue.pages]
    if form == "json":
        write(_json([_facts(entry) for entry in entries]))
    else:
        write("".join(f"{_line(entry)}\n" for entry in entries))
    for fault in catalogue.faults:
        settings.say(f"{fault.file}:{fault.line}: {fault.reason}")
    unread = f", {len(catalogue.faults)} not readable" if catalogue.faults else ""
    settings.say(f"{counted(len(entries), 'page')}{unread}")
    return 0


@command.command("show")
@click.argument("entry", metavar="ID")
@click.option("--format", "form", type=FORMATS, default="text", show_default=True)
@click.pass_obj
def show(settings: Settings, entry: str, form: str) -> int:
    """The page of an id, or of its beginning.

    \b
    Example:
      tracker catalogue show 60961ca5
    """
    pages = _read(settings.config()).pages
    found = [page for page in pages if page.entry.id.startswith(entry.lower())]
    if not found:
        raise CatalogueError(f"no page has an id that begins with {entry}: `tracker catalogue list` names them")
    if len(found) > 1:
        raise CatalogueError(f"{entry} is the beginning of {len(found)} ids: write more of it")
    write(_json(_facts(found[0].entry)) if form == "json" else found[0].text.removeprefix("\ufeff").rstrip("\n") + "\n")
    return 0


@command.command("init")
@click.option("--at", metavar="REV", help="The revision that the pages are pinned to.  [default: the newest]")
@click.option("--path", "paths", metavar="GLOB", multiple=True, help="Only sites in these files (repeatable).")
@click.option("--new-since", "since", metavar="REV", help="Only errors that this revision did not have.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Where to.  [default: the catalogue]")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many pages.")
@click.pass_obj
def init(
    settings: Settings,
    at: str | None,
    paths: tuple[str, ...],
    since: str | None,
    output: Path | None,
    limit: int | None,
) -> int:
    """Write a draft page for every error that has none yet: its facts, and what is to be written by a person.

    No page is ever overwritten. Errors that say nearly the same are named in the draft, under related errors.

    \b
    Example:
      tracker catalogue init --at release:0.12.0.1 --new-since release:0.11.1 --output drafts
    """
    from tracker.catalogue.draft import draft
    from tracker.catalogue.likeness import alike
    from tracker.locate import finder
    from tracker.pairing import pair_up
    from tracker.repository.mirror import globs
    from tracker.repository.revisions import releases
    from tracker.scope import cache_of, sources_of, target_of

    config = settings.config()
    entries = _entries(config)
    folder = output or config.catalogue.path
    skipped: Counter[str] = Counter()
    with open_mirror(config) as mirror, workers() as executor, cache_of(config) as cache:
        target = target_of(config, mirror, at, entries, settings.progress)
        sources = sources_of(config, mirror, executor, cache)
        (snapshot,) = sources.snapshots([target])
        sites: Sequence[Site] = snapshot.sites
        if since is not None:
            base = target_of(config, mirror, since, entries, settings.progress)
            (before,) = sources.snapshots([base])
            sites = pair_up(sources, before, snapshot, history=False).new
        spec = globs(paths) if paths else None
        wanted = [site for site in sites if spec is None or spec.match_file(site.path)]
        if not wanted:
            raise RevisionError(f"{target.name} raises nothing of what was asked for")
        paged = {found for found in map(finder(snapshot), entries) if not isinstance(found, str)}
        near = alike(snapshot.sites)
        built = {release.commit: release.upstream_commit for release in releases(mirror)}
        pin = built.get(target.commit) or target.commit
        made = []
        for site in wanted:
            if site in paged:
                skipped["a page already"] += 1
                continue
            lines = sources.lines(target, site.path)
            page = draft(site, lines, config.catalogue.repository, pin, target.committed_at, near.get(site, ()))
            if isinstance(page, str):
                skipped[page] += 1
            elif (folder / page.entry.file).exists():
                skipped["a draft already"] += 1
            else:
                made.append(page)
            if len(made) == limit:
                break
    _write_new(folder, [(page.entry.file, page.text.encode("utf-8")) for page in made])
    write("".join(f"{page.entry.file}\n" for page in made))
    likes = sum(bool(page.entry.related) for page in made)
    reasons = "".join(f"; {number} with {reason}" for reason, number in skipped.most_common())
    settings.say(f"{counted(len(made), 'draft')} in {folder}, {likes} of them with near-duplicates{reasons}")
    return 0


@command.command("check")
@click.option("--at", metavar="REV", help="Hold related errors and names against this revision.  [default: the newest]")
@click.option("--format", "form", type=FORMATS, default="text", show_default=True)
@click.pass_obj
def check(settings: Settings, at: str | None, form: str) -> int:
    """Find pages that are wrong by themselves: at their own pin, twice, or naming what there no longer is.

    Exit code: 0 fine; 1 faults were found; 2 a page could not be read, or nothing could be checked.

    \b
    Example:
      tracker catalogue check --at release:0.12.0.1
    """
    from tracker.faults import faults_of
    from tracker.scope import cache_of, pins, sources_of, target_of

    config = settings.config()
    catalogue = _read(config)
    entries = [page.entry for page in catalogue.pages]
    with open_mirror(config) as mirror, workers() as executor, cache_of(config) as cache:
        target = target_of(config, mirror, at, entries, settings.progress)
        sources = sources_of(config, mirror, executor, cache)
        found, unchecked = faults_of(sources, entries, target, pins(mirror, entries), config.upstream.package)
    faults = [(fault.file, f"{fault.file}:{fault.line}: {fault.reason}") for fault in catalogue.faults]
    if form == "json":
        shown = [{"page": one.page, "entry": one.entry, "kind": one.kind, "said": one.said} for one in found]
        unread = [{"page": file, "entry": None, "kind": "unreadable", "said": line} for file, line in faults]
        write(_json({"at": target.name, "faults": [*unread, *shown], "unchecked": dict(unchecked)}))
    else:
        write("".join(f"{line}\n" for _, line in faults))
        write("".join(f"{one.page}: {one.kind}: {one.said}\n" for one in found))
    rest = "".join(f"; {number} {reason}" for reason, number in unchecked.items())
    settings.say(f"{counted(len(entries), 'page')} checked, {counted(len(found) + len(faults), 'fault')}{rest}")
    if faults or not entries:
        return 2
    return FAULTY if found else 0


def _read(config: Config) -> Catalogue:
    from tracker.catalogue.folder import read

    return read(config.catalogue.path, config.catalogue.repository)


def _entries(config: Config) -> list[Entry]:
    """The entries there are; none where there is no catalogue yet, which is then made."""
    try:
        return [page.entry for page in _read(config).pages]
    except CatalogueError:
        return []


def _write_new(folder: Path, pages: Sequence[tuple[str, bytes]]) -> None:
    """New files, each whole or not at all, and none over another."""
    import os
    import tempfile

    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pages:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".draft-", delete=False) as file:
            file.write(content)
        try:
            os.chmod(file.name, 0o644)
            os.link(file.name, folder / name)
        finally:
            os.unlink(file.name)


def _line(entry: Entry) -> str:
    return f"{entry.id}  {entry.path}:{entry.line}  {entry.exception}: {entry.title}  [{entry.file}]"


def _facts(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "file": entry.file,
        "repository": entry.repository,
        "exception": entry.exception,
        "title": entry.title,
        "message": entry.message,
        "message_cut": entry.message_cut,
        "path": entry.path,
        "line": entry.line,
        "pin": entry.pin,
        "date": entry.date,
        "solutions": list(entry.solutions),
        "trigger": entry.trigger,
        "related": list(entry.related),
    }


def _json(value: Any) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
