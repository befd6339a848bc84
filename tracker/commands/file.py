"""`tracker file`: the outbox. Shows what would be filed; `--apply` files it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tracker.commands.filing import attention, code, deliver, done, policy
from tracker.commands.options import Settings, write
from tracker.errors import StoreError
from tracker.report.words import counted

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.filing.outlook import Outlook
    from tracker.filing.states import Chosen, Step
    from tracker.ledger import Item
    from tracker.store.database import Database


@click.command("file")
@click.option("--apply", is_flag=True, help="File it, also what the first run found.")
@click.option("--bodies", is_flag=True, help="Show the whole text of each issue.")
@click.option("--close-all", is_flag=True, help="Also close what are too many to be believed at once.")
@click.pass_obj
def command(settings: Settings, apply: bool, bodies: bool, close_all: bool) -> int:
    """Show the outbox as the last run left it: issues to be filed, updated and closed, and where each one stands.

    Nothing is sent without --apply. What the first run found (the baseline) is filed by --apply only.

    \b
    Example:
      tracker file --bodies
    """
    from tracker.store.database import Database
    from tracker.store.drifts import release_baseline
    from tracker.store.lock import run_lock

    config = settings.config()
    repository = config.catalogue.repository
    if apply:
        with run_lock(config.state.path), Database.open(config.state.database) as database:
            _outlook(database, repository, config)
            release_baseline(database)
            outlook = _outlook(database, repository, config)
            delivery = deliver(config, database, None, outlook, all_closes=close_all)
        write("".join(f"{line}\n" for line in [*done(delivery), *attention(delivery)]))
        settings.say(f"{counted(len(delivery.done), 'write')} to {config.filing.repository}")
        return code(delivery)
    found = Database.read(config.state.database)
    if found is None:
        raise StoreError("there is no run yet: `tracker run` makes the first one")
    with found as database:
        outlook = _outlook(database, repository, config)
        write(_shown(config, database, outlook, bodies, close_all))
    return 0


def _outlook(database: Database, repository: str, config: Config) -> Outlook:
    from tracker.filing.outlook import Outlook
    from tracker.run import families

    outlook = Outlook.of(database, repository, families(config))
    if outlook.coverage is None:
        raise StoreError("there is no run yet that could be verified: `tracker run` makes one")
    return outlook


def _shown(config: Config, database: Database, outlook: Outlook, bodies: bool, close_all: bool) -> str:
    """What the next run files, what --apply files besides, and where the issues of before stand."""
    from tracker.store.issues import items

    known = items(database)
    whole = replace(outlook, drifts=tuple(replace(one, baseline=False) for one in outlook.drifts))
    soon = _planned(config, database, outlook, known, close_all)
    asked = _planned(config, database, whole, known, close_all)
    automatic = bool(config.filing.repository) and config.filing.apply
    where = config.filing.repository or "(no repository is set in [filing])"
    parts = []
    if automatic and soon.now:
        parts.append("\n".join([f"To {where}, at the next run:", *_steps(config, soon, bodies)]))
    if (not automatic and asked.now) or len(asked.now) > len(soon.now):
        title = f"To {where}, with `tracker file --apply`:"
        parts.append("\n".join([title, *_steps(config, asked, bodies)]))
    parts.append(_standing(known))
    return "\n\n".join([part for part in parts if part] or ["Nothing is to be filed."]) + "\n"


def _planned(config: Config, database: Database, outlook: Outlook, known: dict[str, Item], close_all: bool) -> Chosen:
    from tracker.filing.outlook import limited

    now, limits = time.time(), policy(config)
    current, steps = outlook.plan(known, {}, now, limits)
    return limited(database, steps, current, now, limits, close_all)


def _steps(config: Config, chosen: Chosen, bodies: bool) -> list[str]:
    lines = [line for step in chosen.now for line in _step(config, step, bodies)]
    waiting = "a later run, by the limits of [filing]"
    for later, why in ((chosen.later, waiting), (chosen.held, "held: too many to be closed at once")):
        lines += [f"  {why}: {_title(step)}" for step in later]
    return lines


def _step(config: Config, step: Step, bodies: bool) -> list[str]:
    from tracker.commands.filing import names
    from tracker.filing.words import body

    number = f"#{step.item.number} " if step.item.number is not None else ""
    why = f" ({step.gone.reason})" if step.gone is not None else ""
    lines = [f"  {step.do.value:7} {number}{_title(step)}{why}"]
    if bodies and step.finding is not None:
        text = body(step.finding, step.item, names(config))
        lines += ["", *(f"    {line}".rstrip() for line in text.split("\n")), ""]
    return lines


def _title(step: Step) -> str:
    from tracker.filing.words import title

    return title(step.finding) if step.finding is not None else step.item.title


def _standing(items: dict[str, Item]) -> str:
    lines = [
        f"  {item.state.value:12} {f'#{item.number}' if item.number is not None else '':6} {item.title or item.entry}"
        + (f"  ({item.note})" if item.note else "")
        for item in items.values()
        if item.number is not None or item.state.value in ("posting", "blocked", "needs-human", "grouped")
    ]
    return "\n".join(["Filed so far:", *lines]) if lines else ""
