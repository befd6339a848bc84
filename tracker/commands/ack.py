"""`tracker ack`: a person accepts a drift; it is not told again until it says something else."""

from __future__ import annotations

import getpass
import time

import click

from tracker.commands.complete import ids
from tracker.commands.options import Settings, write
from tracker.errors import TrackerError
from tracker.model import Kind, Severity
from tracker.report.words import counted


@click.command("ack")
@click.argument("entry", metavar="[ID]", required=False, shell_complete=ids)
@click.option("--reason", help="Why it is accepted, for whoever looks later.")
@click.option("--by", help="Who accepts it.  [default: your login]")
@click.option("--undo", is_flag=True, help="Take the acceptance of ID back.")
@click.option("--list", "listed", is_flag=True, help="What is accepted.")
@click.pass_obj
def command(settings: Settings, entry: str | None, reason: str | None, by: str | None, undo: bool, listed: bool) -> int:
    """Accept what has become of the error ID: its issue is closed with the reason, and it is told again only when it
    says something else than now.

    ID is the id of a page, or its beginning; `tracker file` and the issue itself name it.

    \b
    Example:
      tracker ack 60961ca5063d1383 --reason "the page is right for every platform"
    """
    from tracker.store import acknowledgements
    from tracker.store.database import Database
    from tracker.store.lock import run_lock

    if listed == bool(entry):
        raise click.UsageError("name an ID and a --reason, or ask for --list")
    config = settings.config()
    if listed:
        found = Database.read(config.state.database)
        if found is None:
            return 0
        with found as database:
            for one in acknowledgements.acknowledgements(database):
                write(f"{one.entry}  {one.at[:10]}  {one.by}: {one.reason}\n")
        return 0
    assert entry is not None
    if not undo and not (reason and reason.strip()):
        raise click.UsageError(f'say why: tracker ack {entry} --reason "…"')
    with run_lock(config.state.path), Database.open(config.state.database) as database:
        if undo:
            known = sorted({one.entry for one in acknowledgements.acknowledgements(database)})
            entry = _one(entry, known, "nothing is accepted of")
            count = acknowledgements.undo(database, entry, time.time())
            settings.say(f"{counted(count, 'acceptance')} of {entry} taken back")
            return 0
        from tracker.store.drifts import open_drifts

        drifts = [one for one in open_drifts(database) if one.family.value != "lines"]
        entry = _one(entry, sorted({one.entry for one in drifts}), "no drift is open of")
        assert reason is not None
        for drift in (drift for drift in drifts if drift.entry == entry):
            who = by or _login()
            acknowledgements.acknowledge(database, entry, drift.fingerprint, reason.strip(), who, time.time())
            kinds = [kind for kind in Kind if kind in drift.drift.kinds and kind.severity > Severity.NOTICE]
            settings.say(f"accepted: {', '.join(kinds)} of {drift.page or entry}")
    return 0


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a service may have neither a name nor a home
        return "somebody"


def _one(beginning: str, known: list[str], none: str) -> str:
    """The one id that begins so. TrackerError: none or several."""
    found = [one for one in known if one == beginning] or [one for one in known if one.startswith(beginning)]
    if not found:
        raise TrackerError(f"{none} {beginning}: `tracker file` and `tracker ack --list` name what there is")
    if len(found) > 1:
        raise TrackerError(f"{beginning} is the beginning of {len(found)} ids: write more of it")
    return found[0]
