"""`tracker diff`: the report. Reads the mirror and the pages; writes nothing but releases it has to take in."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracker.commands.complete import revisions
from tracker.commands.options import (
    Settings,
    fetch,
    open_mirror,
    screen,
    workers,
    write,
)
from tracker.errors import GitError, TrackerError
from tracker.model import Drift, Kind, Report
from tracker.report.formats import FORMATS, Format, render
from tracker.report.screen import Screen
from tracker.report.summary import summary

if TYPE_CHECKING:
    from tracker.catalogue.folder import Contents
    from tracker.config import Config
    from tracker.recall import Pages
    from tracker.snapshots import Sources
    from tracker.store.cache import Cache

DRIFT, UNVERIFIED = 1, 2
KINDS = click.Choice([kind.value for kind in reversed(Kind)])


@click.command("diff")
@click.argument("target", required=False, shell_complete=revisions)
@click.option(
    "--base",
    metavar="REV",
    shell_complete=revisions,
    help="Compare with this revision; needed for new errors if the pin is missing.",
)
@click.option("--all-sites", is_flag=True, help="Check every site of the base, not only catalogued ones.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the report there.")
@click.option(
    "--fail-on",
    metavar="KIND",
    type=KINDS,
    default=Kind.RELOCATED.value,
    show_default=True,
    help="Exit 1 from the severity of this kind on.",
)
@click.option("--kind", "kinds", metavar="KIND", type=KINDS, multiple=True, help="Report only this kind (repeatable).")
@click.option("--path", "paths", metavar="GLOB", multiple=True, help="Report only sites in these files (repeatable).")
@click.option("--history/--no-history", default=True, help="Follow what drifted step by step, for its cause.")
@click.option("--pull", is_flag=True, help="Fetch upstream first.")
@click.pass_obj
def command(
    settings: Settings,
    target: str | None,
    base: str | None,
    all_sites: bool,
    form: str,
    output: Path | None,
    fail_on: str,
    kinds: tuple[str, ...],
    paths: tuple[str, ...],
    history: bool,
    pull: bool,
) -> int:
    """Say what became of every catalogued error at TARGET.

    TARGET and REV are a sha, a tag, a branch, `release:VERSION`, `release:latest` or `pin`; without TARGET the newest
    revision of the mirror. Exit code: 0 verified, and no drift as severe as --fail-on; 1 drift; 2 the check could not
    be made. A KIND, in rising severity: moved, excerpt-changed; placeholder-changed, relocated; guard-changed, new;
    removed, retyped, reworded.

    \b
    Example:
      tracker diff release:0.12.0.1 --base release:0.11.1
    """
    try:
        from tracker.scope import cache_of

        config = settings.config()
        track_all = all_sites or config.catalogue.track == "all"
        with cache_of(config) as cache, ExitStack() as stack:
            report, faulty = _report(
                settings, config, cache, stack, target, base, track_all, history, pull, FORMATS[form]
            )
    except GitError as error:
        # Of this command, everything that is no verified answer is exit code 2.
        raise TrackerError(str(error)) from error
    shown = _filtered(report, {Kind(kind) for kind in kinds}, paths)
    text = render(form, shown, screen() if output is None else Screen())
    if output is None:
        write(text)
    else:
        _replace(output, text)
    if form == "github":
        _summarise(shown)
    settings.say(summary(shown))
    return _exit_code(report, shown, Kind(fail_on), faulty=faulty)


def _report(
    settings: Settings,
    config: Config,
    cache: Cache,
    stack: ExitStack,
    target: str | None,
    base: str | None,
    track_all: bool,
    history: bool,
    pull: bool,
    wanted: Format,
) -> tuple[Report, bool]:
    """The report, and whether a page could not be read. What is opened for it is put on the stack."""
    from tracker import recall
    from tracker.scope import pins, resolve, sources_of, target_of

    files = _contents(config, optional=track_all)
    mirror = stack.enter_context(open_mirror(config))
    if pull:
        fetch(settings, config, mirror)

    @functools.cache
    def sources() -> Sources:
        return sources_of(config, mirror, stack.enter_context(workers()), cache)

    def begin() -> None:
        """Both ends are harvested while the pages are read, unless they are named by the pages."""
        ends = [target_of(config, mirror, target, (), settings.progress)] if target != "pin" else []
        if base is not None and base != "pin":
            ends.append(resolve(config, mirror, base, (), settings.progress))
        sources().begin(ends)

    given = _pages(config, cache, files, begin, optional=track_all)
    entries = given.entries
    before = resolve(config, mirror, base, entries, settings.progress) if base is not None else None
    after = target_of(config, mirror, target, entries, settings.progress)
    known = {} if track_all else pins(mirror, entries)
    if track_all:
        before = before or resolve(config, mirror, "pin", entries)

    def checked() -> Report:
        from tracker.check import check_all, check_entries

        repository = config.catalogue.repository
        if track_all:
            assert before is not None
            return check_all(sources(), entries, after, before, repository, history)
        return check_entries(sources(), entries, after, before, known, repository, history)

    settled = [config.catalogue.repository, track_all, history]
    report = recall.report(cache, mirror, config.upstream, given, [after, before], known, settled, checked)
    if wanted.links:
        from tracker.repository.revisions import milestones

        report = replace(report, web=config.web, milestones=tuple(milestones(mirror, config.upstream.package)))
    if wanted.excerpts:
        from tracker.excerpts import with_excerpts

        report = with_excerpts(report, sources_of(config, mirror, None, cache), known.values(), entries)
    return report, bool(given.faults)


def _contents(config: Config, optional: bool) -> Contents | None:
    """The files of the catalogue. CatalogueError: there is no folder, and it is not optional."""
    from tracker.catalogue.folder import contents
    from tracker.errors import CatalogueError

    try:
        return contents(config.catalogue.path)
    except CatalogueError:
        if optional:
            return None
        raise


def _pages(
    config: Config, cache: Cache, files: Contents | None, meanwhile: Callable[[], None], optional: bool
) -> Pages:
    """The pages of the catalogue, those that are none named on stderr. CatalogueError: no page at all."""
    from tracker.catalogue.folder import none_usable
    from tracker.errors import CatalogueError
    from tracker.recall import Pages, pages

    nothing = Pages(entries=(), faults=())
    if files is None:
        return nothing
    try:
        found = pages(cache, files, config.catalogue.repository, meanwhile)
    except CatalogueError:
        if optional:
            return nothing
        raise
    for fault in found.faults:
        print(f"tracker: {fault.file}:{fault.line}: {fault.reason}", file=sys.stderr)
    if not found.entries and not optional:
        raise none_usable(files.folder, found.faults)
    return found


def _filtered(report: Report, kinds: set[Kind], paths: Sequence[str]) -> Report:
    """The drifts of these kinds and in these files; without any, all of them."""
    from tracker.repository.globs import globs

    spec = globs(paths) if paths else None

    def wanted(drift: Drift) -> bool:
        sites = [site for site in (drift.before, drift.after) if site is not None]
        return (not kinds or bool(kinds & drift.kinds)) and (
            spec is None or any(spec.match_file(site.path) for site in sites)
        )

    drifts = tuple(drift for drift in report.drifts if wanted(drift))
    hidden = len(report.drifts) - len(drifts)
    notice = f"{hidden} drifts of other kinds or in other files are not shown"
    return replace(report, drifts=drifts, notices=(*report.notices, *([notice] if hidden else [])))


def _summarise(report: Report) -> None:
    """Append the report to the summary of the workflow's step; nothing where no workflow runs this."""
    from tracker.report.github import summary as step_summary

    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(file, "a", encoding="utf-8") as summaries:
            summaries.write(step_summary(report))


def _replace(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", errors="backslashreplace", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as new:
        try:
            new.write(text)
            new.close()
            os.chmod(new.name, _mode(file))
            os.replace(new.name, file)
        except BaseException:
            os.unlink(new.name)
            raise


def _mode(file: Path) -> int:
    """The permissions that a file has, or that any new one gets: temporary files are for their owner alone."""
    try:
        return file.stat().st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _exit_code(report: Report, shown: Report, fail_on: Kind, faulty: bool) -> int:
    """1 for a drift from `fail_on` on; 2 where a page could not be read, or nothing else is known than that all is well
    with what could be checked while something could not.
    """
    if not report.summary.checked:
        print("tracker: nothing could be checked", file=sys.stderr)
    if faulty or not report.summary.checked:
        return UNVERIFIED
    if any(drift.severity >= fail_on.severity for drift in shown.drifts):
        return DRIFT
    return UNVERIFIED if report.unlocated else 0
