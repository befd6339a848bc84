"""What `run` and `file` share: the way from the configuration to a delivery, and its words."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tracker.errors import ConfigError, NeedsHumanError, StoreError, TrackerError
from tracker.run import Outcome

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.filing.deliver import Delivery
    from tracker.filing.outlook import Outlook
    from tracker.filing.states import Policy
    from tracker.filing.words import Names
    from tracker.store.database import Database

log = logging.getLogger(__name__)

TOKENS = ("TRACKER_GITHUB_TOKEN", "GITHUB_TOKEN")
LOOK_AGAIN_S = 86_400.0
"""How often issues are looked at where nothing is to be written: a person may have closed one."""


def policy(config: Config) -> Policy:
    """The limits of [filing]."""
    from tracker.filing.states import Policy
    from tracker.sections import seconds

    filing = config.filing
    return Policy(
        per_run=filing.per_run,
        per_day=filing.per_day,
        quarantine=seconds(filing.quarantine),
        reopen=seconds(filing.reopen),
        patience=seconds(filing.patience),
    )


def names(config: Config) -> Names:
    """What issues call the upstream project."""
    from tracker.filing.words import Names

    return Names(repository=config.catalogue.repository, web=config.web)


def target(config: Config) -> str:
    """The repository that issues go to. ConfigError: none, or the upstream project without saying so."""
    filing = config.filing
    if not filing.repository:
        raise ConfigError('nothing is filed without a repository: set repository = "owner/name" in [filing]')
    upstream = names(config).web.removeprefix("https://github.com/").lower()
    if not filing.upstream and filing.repository.lower() in (upstream, config.catalogue.repository.lower()):
        raise ConfigError(
            f"[filing] repository is the upstream project {filing.repository} itself: "
            "set upstream = true there if its people really want these issues"
        )
    return filing.repository


def token(config: Config) -> str:
    """From [filing] token_file, else from the environment; never from an argument. ConfigError: there is none."""
    file = config.filing.token_file
    if file is not None:
        try:
            found = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"[filing] token_file {file} cannot be read: {error}") from None
        if not found or "\n" in found:
            raise ConfigError(f"[filing] token_file {file} must hold one line, the token")
        return found
    for name in TOKENS:
        if found := os.environ.get(name, "").strip():
            return found
    raise ConfigError(f"there is no token for GitHub: put it into {TOKENS[0]}, or name its file in [filing] token_file")


def deliver(
    config: Config,
    database: Database,
    run: int | None,
    outlook: Outlook,
    *,
    stopped: Callable[[], bool] = lambda: False,
    all_closes: bool = False,
) -> Delivery:
    """Carry out the outbox. Children of TrackerError: no token, no permission, a rate limit, a person is needed."""
    from tracker.filing.deliver import Outbox
    from tracker.github.client import GitHub
    from tracker.store.facts import Gate

    repository, secret = target(config), token(config)
    with GitHub(
        config.filing.api,
        secret,
        gate=Gate(database),
        clock=time.time,
        sleep=time.sleep,
        log=lambda event, facts: log.info("%s", event, extra=facts),
        spacing=config.filing.spacing,
    ) as github:
        outbox = Outbox(
            database,
            github,
            outlook,
            names(config),
            policy(config),
            repository=repository,
            authors=config.filing.authors,
            labels=config.filing.labels,
            run=run,
            clock=time.time,
            stopped=stopped,
            all_closes=all_closes,
        )
        return outbox.deliver()


def deliver_due(
    config: Config, database: Database, run: int, outlook: Outlook, *, stopped: Callable[[], bool]
) -> Outcome:
    """The filing part of a run: nothing without a repository and `apply`, and no request where nothing is due."""
    from tracker.store.facts import fact, remember
    from tracker.told import alike, failure

    if not config.filing.repository or not config.filing.apply:
        return Outcome()
    before = fact(database, "delivery-failure")
    if before is None and not due(config, database, outlook):
        return Outcome()
    try:
        delivery = deliver(config, database, run, outlook, stopped=stopped)
    except StoreError:
        raise
    except Exception as error:
        code_of, said = failure(error)
        log.error("%s", said, extra={"run": run}, exc_info=not isinstance(error, TrackerError))
        remember(database, **{"delivery-failure": said})
        return Outcome(code=code_of, lines=() if alike(said, before) else (f"tracker: {said}",))
    known = (fact(database, "delivery-remarks") or "").split("\n")
    remarks = attention(delivery)
    remember(database, **{"delivery-failure": None, "delivery-remarks": "\n".join(remarks) or None})
    again = ["filing works again"] if before is not None else []
    fresh = [line for line in remarks if line not in known]
    return Outcome(code=code(delivery), lines=(*again, *done(delivery), *fresh))


def due(config: Config, database: Database, outlook: Outlook) -> bool:
    """Whether GitHub has to be asked at all."""
    from tracker.ledger import State, passed
    from tracker.store.facts import fact
    from tracker.store.issues import items

    known = items(database)
    _, steps = outlook.plan(known, {}, time.time(), policy(config))
    if steps or any(item.state in (State.POSTING, State.CLOSING, State.REOPENING) for item in known.values()):
        return True
    last = fact(database, "delivered")
    alive = any(item.number is not None and item.state is not State.RESOLVED for item in known.values())
    return alive and (last is None or passed(float(last), time.time(), LOOK_AGAIN_S))


def done(delivery: Delivery) -> list[str]:
    """What was written, in lines."""
    verbs = {"create": "filed", "update": "updated", "close": "closed", "reopen": "reopened", "remind": "reminded of"}
    return [f"{verbs[do.value]} {item.url or item.key}: {item.title}" for do, item in delivery.done]


def attention(delivery: Delivery) -> list[str]:
    """What waits, and what needs a person; a run says each of it once."""
    from tracker.report.words import counted

    lines = []
    if delivery.waiting:
        lines.append(f"{counted(delivery.waiting, 'issue')} wait for the next run: the limits of [filing] are reached")
    if delivery.held:
        lines.append(
            f"{delivery.held} issues would be closed at once, which is not believed: if it is right, "
            "`tracker file --apply --close-all` does it"
        )
    lines += [f"needs a person: {item.url or item.key}: {item.note}" for item in delivery.stuck]
    lines += delivery.warnings
    if delivery.broken:
        lines.append(f"not all was written: {delivery.broken}; the next run goes on")
    return lines


def code(delivery: Delivery) -> int:
    """6 where a person is needed, 5 where the next run has to go on."""
    if delivery.held or delivery.stuck:
        return NeedsHumanError.exit_code
    return 5 if delivery.broken else 0
