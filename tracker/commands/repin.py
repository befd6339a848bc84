"""`tracker repin`: pages brought up to a target. Shows what it would do; writes where it is told to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import click

from tracker.commands.complete import ids, revisions
from tracker.commands.options import Settings, fetch, open_mirror, screen, workers, write
from tracker.errors import CatalogueError
from tracker.model import Kind

if TYPE_CHECKING:
    from tracker.catalogue.folder import Catalogue
    from tracker.catalogue.page import Page
    from tracker.catalogue.write import Replacement
    from tracker.config import Config
    from tracker.model import Drift, Entry, Report, Revision
    from tracker.repin import Change, Ending, Plan, Target
    from tracker.repository.mirror import Mirror
    from tracker.snapshots import Sources

NEEDS_A_HUMAN = 6
FEW = 5
"""Ids that are written out at the end, ready to be copied; each stands above its page's claim, too."""


@click.command("repin")
@click.argument("target", required=False, shell_complete=revisions)
@click.option(
    "--base",
    metavar="REV",
    shell_complete=revisions,
    help="Where pages are believed whose pin the mirror does not have.",
)
@click.option(
    "--accept",
    "accepted",
    metavar="ID",
    multiple=True,
    shell_complete=ids,
    help="Accept what this page's error became.",
)
@click.option("--write", "into_files", is_flag=True, help="Write the pages: all of them, or none.")
@click.option("--branch", metavar="NAME", help="Commit to a new branch instead, beside the work tree.")
@click.option("--pull", is_flag=True, help="Fetch upstream first.")
@click.pass_obj
def command(
    settings: Settings,
    target: str | None,
    base: str | None,
    accepted: tuple[str, ...],
    into_files: bool,
    branch: str | None,
    pull: bool,
) -> int:
    """Bring pages up to TARGET: line, path, excerpt, placeholders, pin and date.

    Without --write or --branch the change is only shown, as a patch. A page whose error differs in meaning (guard,
    wording, type, or no longer raised) stays as it is until its id is given with --accept; what it says is shown
    beside the source first. A page whose error is gone is kept, with a line that says since when. Exit code: 0 done,
    nothing is left; 6 a page waits for a decision, or could not be verified.

    \b
    Example:
      tracker repin release:0.12.0.1 --accept 60961ca5063d1383 --write
    """
    from tracker.catalogue.folder import none_usable, read
    from tracker.catalogue.write import replace_all
    from tracker.check import check_entries
    from tracker.repin import plan
    from tracker.report.repin import claim, patch
    from tracker.report.screen import Screen
    from tracker.scope import cache_of, pins, resolve, sources_of, target_of

    if into_files and branch is not None:
        raise click.UsageError("--write and --branch exclude each other: pages are written, or committed beside them")
    config = settings.config()
    catalogue = read(config.catalogue.path, config.catalogue.repository)
    for fault in catalogue.faults:
        print(f"tracker: {fault.file}:{fault.line}: {fault.reason}", file=sys.stderr)
    if not catalogue.pages:
        raise none_usable(catalogue.folder, catalogue.faults)
    known = {page.entry.id for page in catalogue.pages}
    if unknown := sorted(set(accepted) - known):
        raise CatalogueError(f"no page that can be read has the id {', '.join(unknown)}: ids stand in the last line")
    with open_mirror(config) as mirror, workers() as executor, cache_of(config) as cache:
        if pull:
            fetch(settings, config, mirror)
        entries = [page.entry for page in catalogue.pages]
        believed = resolve(config, mirror, base, entries, settings.progress) if base is not None else None
        at = target_of(config, mirror, target, entries, settings.progress)
        sources = sources_of(config, mirror, executor, cache)
        pinned = pins(mirror, entries)
        report = check_entries(sources, entries, at, believed, pinned, config.catalogue.repository)
        goal = _goal(mirror, at, sources)

        def origin(entry: Entry) -> Revision | None:
            return pinned.get(entry.pin, believed)

        def source(entry: Entry) -> Sequence[str]:
            revision = origin(entry)
            return sources.lines(revision, entry.path) if revision is not None else []

        ending = _endings(mirror, config.upstream.package, at, origin)
        decided = {*accepted, *_acknowledged(config, report)}
        found = plan(catalogue.pages, report, goal, source, decided, ending)
        for page, drift in _decisions(found):
            now = sources.lines(at, drift.after.path) if drift.after is not None else []
            settings.say(claim(page.entry, drift, now, Screen()))
    if into_files:
        replace_all(catalogue.folder, [_replacement(change) for change in found.changes])
        write("".join(f"{change.before.entry.file}\n" for change in found.changes))
    elif branch is None:
        shown = screen()
        write("".join(patch(c.before.entry.file, c.before.text, c.after.text, shown) for c in found.changes))
    else:
        _commit(settings, catalogue, branch, found, f"{at.name} ({goal.commit[:10]})")
    for line in _outcome(found, set(accepted), at.name, goal, done=into_files or branch is not None):
        settings.say(line)
    return NEEDS_A_HUMAN if found.waiting or found.left or catalogue.faults else 0


def _goal(mirror: Mirror, at: Revision, sources: Sources) -> Target:
    """What pages are pinned to: of a release, the upstream commit that it was built from, where it says so."""
    from tracker.repin import Target
    from tracker.repository.revisions import upstream_commit

    commit = upstream_commit(mirror, at)
    return Target(commit=commit, date=at.committed_at[:10], lines=lambda path: sources.lines(at, path))


def _acknowledged(config: Config, report: Report) -> set[str]:
    """The entries whose drift, as it is now, was accepted by `tracker ack`."""
    from tracker.ledger import content
    from tracker.store.acknowledgements import acknowledgements
    from tracker.store.database import Database

    store = Database.read(config.state.database)
    if store is None:
        return set()
    with store as database:
        held = {(one.entry, one.fingerprint) for one in acknowledgements(database)}
    return {drift.entry for drift in report.drifts if drift.entry and (drift.entry, content(drift)) in held}


def _endings(
    mirror: Mirror, package: str, at: Revision, origin: Callable[[Entry], Revision | None]
) -> Callable[[Page, Drift], Ending]:
    """What tells since when a removed error is gone; without a cause, only that the target does not raise it."""
    from tracker.repin import Ending
    from tracker.repository.revisions import releases, releases_with

    holding = cache(partial(releases_with, mirror, package))
    known = {release.commit: release for release in releases(mirror)}

    def ending(page: Page, drift: Drift) -> Ending:
        cause, base = drift.cause, origin(page.entry)
        commit, date = (cause.commit, cause.date) if cause is not None else (at.commit, at.committed_at)
        without = holding(commit)
        first = min(without, default=None)
        # What has the page's pin and not what took the error out has the error; without a cause nothing is known.
        had = holding(base.commit) - without if cause is not None and base is not None else set()
        last = max((version for version in had if first is None or version < first), default=None)
        return Ending(
            commit=(known[commit].upstream_commit if commit in known else None) or commit,
            date=date[:10],
            known=cause is not None,
            last=f"{package} {last}" if last else None,
            first=f"{package} {first}" if first else None,
        )

    return ending


def _decisions(found: Plan) -> list[tuple[Page, Drift]]:
    """The pages whose errors differ in meaning, accepted or not, by file."""
    accepted = [(change.before, change.drift) for change in found.changes if change.accepted and change.drift]
    waiting = [(one.page, one.drift) for one in found.waiting]
    return sorted([*accepted, *waiting], key=lambda one: one[0].entry.file)


def _replacement(change: Change) -> Replacement:
    from tracker.catalogue.page import render
    from tracker.catalogue.write import Replacement

    return Replacement(change.before.entry.file, render(change.before), render(change.after))


def _commit(settings: Settings, catalogue: Catalogue, name: str, found: Plan, to: str) -> None:
    """What is mechanical and what was accepted, as two commits."""
    from tracker.catalogue.page import render
    from tracker.report.words import counted
    from tracker.repository.branch import Draft, commit_on_branch

    drafts = []
    for accepted, noun in ((False, "page"), (True, "accepted page")):
        changes = [change for change in found.changes if change.accepted is accepted]
        if changes:
            subject = f"Repin {counted(len(changes), noun)} to {to}"
            body = "\n".join(map(_line, changes))
            files = {(catalogue.folder / c.before.entry.file).resolve(): render(c.after) for c in changes}
            drafts.append(Draft(message=f"{subject}\n\n{body}\n", files=files))
    if not drafts:
        settings.say(f"nothing to commit: branch {name} was not made")
        return
    made = commit_on_branch(catalogue.folder.resolve(), name, drafts)
    if made.commits:
        settings.say(f"branch {name} has {counted(len(made.commits), 'new commit')} from {made.base[:12]} on")
    else:
        settings.say(f"branch {name} has these pages already")


def _line(change: Change) -> str:
    before, after, drift = change.before.entry, change.after.entry, change.drift
    line = f"* {before.file}: {before.path}:{before.line}"
    if after.retired:
        return f"{line} is no longer raised"
    if before.path != after.path:
        line += f" -> {after.path}:{after.line}"
    elif before.line != after.line:
        line += f" -> {after.line}"
    return f"{line} ({', '.join(kind for kind in Kind if kind in drift.kinds)})" if drift is not None else line


def _outcome(found: Plan, accepted: set[str], name: str, goal: Target, done: bool) -> list[str]:
    """The last lines: what was done, what was left and why, what to do next."""
    from tracker.report.words import counted

    lines = [f"{one.page.entry.file} is left as it is: {one.reason}" for one in found.left]
    settled = {change.before.entry.id for change in found.changes if change.accepted}
    stuck = {one.page.entry.id for one in found.left}
    lines += [f"{id}: there is nothing to accept" for id in sorted(accepted - settled - stuck)]
    if found.waiting:
        ids = [one.page.entry.id for one in found.waiting]
        verb = "waits" if len(ids) == 1 else "wait"
        how = " ".join(f"--accept {id}" for id in (ids if len(ids) <= FEW else ["ID"]))
        lines.append(
            f"{counted(len(ids), 'page')} {verb} for a decision. Where a page is right all the same, or was put right "
            f"by hand: {how}"
        )
    number = len(found.changes)
    if not number:
        lines.append(f"no page to repin to {name} ({goal.commit[:10]})")
    elif done:
        lines.append(f"{counted(number, 'page')} repinned to {name} ({goal.commit[:10]})")
    else:
        lines.append(
            f"{counted(number, 'page')} would be repinned to {name} ({goal.commit[:10]}): do it with --write, or "
            "--branch NAME"
        )
    return lines
