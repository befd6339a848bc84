"""One unattended check: pull, verify, check, record, file. Cron, the daemon and a person all start this one.

It says only what is new: a failure once when it begins and once when it is over, a drift when it appears and when it
ends. What could not be verified is recorded as a failed run, which files nothing and closes nothing.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracker import recording, told
from tracker.catalogue.folder import Catalogue, none_usable, read
from tracker.config import Config
from tracker.errors import CatalogueError, MirrorInDoubt, RunError, StoreError, TrackerError
from tracker.filing.outlook import Outlook
from tracker.ledger import Family, passed
from tracker.mending import keep_up, mended
from tracker.model import Entry, Report, Revision
from tracker.program import identity
from tracker.repository import fetch, renewal, revisions
from tracker.repository.mirror import Mirror
from tracker.scope import cache_of, pins, resolve, sources_of
from tracker.sections import seconds
from tracker.store import runs
from tracker.store.database import Database
from tracker.store.drifts import CONFIRM_S, Checked, open_drifts, record
from tracker.store.facts import fact, remember

if TYPE_CHECKING:
    from concurrent.futures import Executor

log = logging.getLogger(__name__)

GIT_SHARE = 0.8
"""Of the time for one run, so much may go into fetching."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run has to say, and its exit code."""

    code: int = 0
    lines: tuple[str, ...] = ()
    """For stdout, which cron sends by mail: empty where nothing changed."""
    succeeded: bool = True
    """Whether the check was made and recorded, whatever became of the filing."""


Deliver = Callable[[Database, int, Outlook], Outcome]
"""Files what is due; the check's own part does not know how."""


def once(
    config: Config,
    database: Database,
    executor: Callable[[], AbstractContextManager[Executor | None]],
    deliver: Deliver,
    tell: Callable[[Sequence[str]], None],
    clock: Callable[[], float],
) -> Outcome:
    """One run, under the run lock. Every failure is recorded and told; only being stopped is raised again.

    `tell` takes what there is to say as soon as it is recorded: it is not said again should the filing be killed.
    """
    number, crashed = runs.begin(database, clock())
    for left in crashed:
        log.warning("run %d ended without a word, and was marked so", left)
    before = runs.failures(database)
    try:
        outcome = _checked(config, database, number, executor, clock)
    except (KeyboardInterrupt, SystemExit):
        runs.end(database, number, clock(), runs.STOPPED, code=143, said="it was asked to stop")
        raise
    except Exception as error:
        code, said = told.failure(error)
        log.error("%s", said, extra={"run": number}, exc_info=not isinstance(error, TrackerError))
        runs.end(database, number, clock(), runs.FAILED, code=code, said=said)
        if not any(told.alike(said, failed.said) for failed in before):
            tell([f"tracker: {said}"])
        return Outcome(code=code, succeeded=False)
    tell([*told.recovered(before), *outcome.lines])
    try:
        filed = deliver(database, number, Outlook.of(database, config.catalogue.repository, families(config)))
        tell(filed.lines)
        keep_up(config, database, clock())
    except StoreError as error:
        tell([f"tracker: {error}"])  # whether it was told before cannot be kept either
        return Outcome(code=error.exit_code)
    return Outcome(code=filed.code)


def families(config: Config) -> list[Family]:
    """What is filed besides single findings."""
    chosen = [Family.NEW] if config.filing.new == "digest" else []
    return [*chosen, *([Family.LINES] if config.filing.moved == "digest" else [])]


def _checked(
    config: Config,
    database: Database,
    number: int,
    executor: Callable[[], AbstractContextManager[Executor | None]],
    clock: Callable[[], float],
) -> Outcome:
    """The check; where the mirror turns out to be damaged, once more with a new one."""
    until = time.monotonic() + seconds(config.schedule.deadline) * GIT_SHARE

    def left() -> float:
        return max(1.0, until - time.monotonic())

    mirror = config.state.mirror
    renewal.resume(mirror)
    line = mended(config, database, clock(), left()) if renewal.in_doubt(mirror) else None
    try:
        outcome = _once_checked(config, database, number, executor, clock, left())
    except MirrorInDoubt:
        if line is not None:
            raise
        line = mended(config, database, clock(), left())
        if line is None:
            raise
        outcome = _once_checked(config, database, number, executor, clock, left())
    if line is None:
        return outcome
    runs.note(database, number, line)
    return replace(outcome, lines=(line, *outcome.lines))


def _once_checked(
    config: Config,
    database: Database,
    number: int,
    executor: Callable[[], AbstractContextManager[Executor | None]],
    clock: Callable[[], float],
    timeout_s: float,
) -> Outcome:
    with Mirror.open(config.state.mirror) as mirror:
        pulled = fetch.pull(mirror, config.upstream.url, config.upstream.branch, timeout_s=timeout_s)
        target = revisions.default_target(mirror, config.upstream.branch)
        if target.commit != pulled.after:
            raise RunError(f"{config.upstream.branch} is at {target.commit[:12]}, not at {pulled.after[:12]} as pulled")
        catalogue = _catalogue(config)
        entries = [page.entry for page in catalogue.pages] if catalogue is not None else []
        faults = [f"{fault.file}:{fault.line}: {fault.reason}" for fault in catalogue.faults] if catalogue else []
        known = pins(mirror, entries)
        fetch.keep(mirror, {pin.commit for pin in known.values()})
        base = resolve(config, mirror, config.catalogue.base, entries) if config.catalogue.base else None
        given = _input(config, target, base, entries, faults, known)
        last = runs.last(database, runs.OK, runs.UNCHANGED)
        lines, events = _events(database, pulled, faults, entries, known)
        if last is not None and last.input == given and not _to_confirm(database, clock()):
            runs.unchanged(database, number, clock(), target.commit, last)
            remember(database, **events)
            log.info("nothing changed at %s", target.commit[:12], extra={"run": number})
            return Outcome(lines=tuple(lines))
        with executor() as workers:
            report = _report(config, mirror, workers, entries, target, base, known)
            recording.verify(report, last)
            checked = Checked(
                target=target.commit,
                previous=pulled.before,
                forced=pulled.forced,
                base=report.base.commit if report.base is not None else None,
                input=given,
                files=report.coverage[1].files,
                sites=report.coverage[1].sites,
                checked=report.summary.checked,
                baseline=runs.last(database, runs.OK) is None,
            )
        covered = recording.coverage(report, entries, faulty=bool(faults))
        ends = recording.Ends(tracked=report.tracked, covered=covered, pins={entry.id: entry.pin for entry in entries})
        built = {one.commit: one.upstream_commit for one in revisions.releases(mirror) if one.upstream_commit}
        seen = recording.seen(report, entries, built)
        changes = record(database, number, checked, seen, ends, clock(), coverage=covered.text())
        remember(database, **events)
        _extend_history(config, mirror)
    log.info(
        "checked %s: %d appeared, %d ended",
        target.commit[:12],
        len(changes.appeared),
        len(changes.closed),
        extra={"run": number, "target": target.commit},
    )
    said = told.baseline(report, changes.appeared) if checked.baseline else told.changed(report, changes)
    return Outcome(lines=(*lines, *said))


def _extend_history(config: Config, mirror: Mirror) -> None:
    """Take the new commits into the index of the history, where somebody has asked for one. It is no part of the check:
    what goes wrong there is for whoever asks it next.
    """
    from tracker.history.build import refresh
    from tracker.store.history import FILE

    if not (config.state.path / FILE).exists():
        return
    try:
        refresh(mirror, config.state.path, config.upstream)
    except TrackerError as error:
        log.warning("the history was not extended: %s", error)


def _catalogue(config: Config) -> Catalogue | None:
    """The pages; None where there are none and every site of the base is tracked. CatalogueError: none to track."""
    try:
        found = read(config.catalogue.path, config.catalogue.repository)
    except CatalogueError:
        if config.catalogue.track == "all":
            return None
        raise
    if not found.pages and config.catalogue.track == "pages":
        raise none_usable(found.folder, found.faults)
    return found


def _input(
    config: Config,
    target: Revision,
    base: Revision | None,
    entries: Sequence[Entry],
    faults: Sequence[str],
    known: dict[str, Revision],
) -> str:
    """A hash of all that the outcome of the check depends on, the program and its libraries among it."""
    said = [target.commit, base.commit if base else "", config.catalogue.track, repr(config.upstream), *faults]
    said += [repr(entry) for entry in entries] + [f"{pin} {found.commit}" for pin, found in known.items()]
    return hashlib.sha256(identity() + "\0".join(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _events(
    database: Database,
    pulled: fetch.PullResult,
    faults: Sequence[str],
    entries: Sequence[Entry],
    known: dict[str, Revision],
) -> tuple[list[str], dict[str, str | None]]:
    """What a person should know besides the drifts, each of it when it begins and not again at every run; and the
    facts to be remembered once the run has succeeded, for one that fails says nothing but why.
    """
    if pulled.forced:
        assert pulled.before is not None
        event = (
            f"upstream rewrote {pulled.branch}: {pulled.before[:12]} is no ancestor of {pulled.after[:12]}; "
            "the trees are compared as ever"
        )
        remember(database, rewritten=event)  # the next pull no longer sees it
    lines = [rewritten] if (rewritten := fact(database, "rewritten")) else []
    changed: dict[str, str | None] = {"rewritten": None} if lines else {}
    missing = sorted({entry.pin for entry in entries} - known.keys())
    now = {
        "page-faults": "\n".join(faults),
        "missing-pins": "\n".join(
            f"the mirror does not have the pin {pin}: its pages are compared by their own excerpts" for pin in missing
        ),
    }
    for name, text in now.items():
        before = fact(database, name) or ""
        if text != before:
            lines += [line for line in text.split("\n") if line and line not in before.split("\n")]
            changed[name] = text or None
    return lines, changed


def _to_confirm(database: Database, now: float) -> bool:
    """A removal seen once is looked at again after a while, even where nothing changed."""
    return any(
        not one.confirmed and one.drift.certain and passed(one.first_seen, now, CONFIRM_S)
        for one in open_drifts(database)
    )


def _report(
    config: Config,
    mirror: Mirror,
    executor: Executor | None,
    entries: Sequence[Entry],
    target: Revision,
    base: Revision | None,
    known: dict[str, Revision],
) -> Report:
    from tracker.check import check_all, check_entries  # a run that finds nothing new does without

    with cache_of(config) as cache:
        sources = sources_of(config, mirror, executor, cache)
        if config.catalogue.track == "all":
            base = base or resolve(config, mirror, "pin", entries)
            return check_all(sources, entries, target, base, config.catalogue.repository)
        return check_entries(sources, entries, target, base, known, config.catalogue.repository)
