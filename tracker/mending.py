"""What keeps the state of many years in order: a damaged mirror filled anew, one in pieces packed, the database copied.

None of it at every run, for the disk itself may be the reason.
"""

from __future__ import annotations

import logging

from tracker.config import Config
from tracker.errors import MirrorInDoubt, TrackerError
from tracker.ledger import DAY_S, passed
from tracker.repository import renewal, upkeep
from tracker.repository.mirror import Mirror
from tracker.sections import seconds
from tracker.store.database import Database, instant, stamp
from tracker.store.facts import fact, remember

log = logging.getLogger(__name__)

RENEW_S = 6 * 3600.0
"""How long after a mirror was filled anew, or tried to be, it is left alone; each time in a row twice as long."""
FORGET_S = 30 * 86_400.0
"""After so long without damage, the next one is the first."""
UPKEEP_SHARE = 0.1
"""Of the time for one run, so much may go into packing the mirror."""


def mended(config: Config, database: Database, now: float, timeout_s: float) -> str | None:
    """Fill a damaged mirror anew -> what to say of it; None where it is not damaged.

    MirrorInDoubt: it was tried too lately. GitError: upstream cannot be had.
    """
    upstream = config.upstream
    found = renewal.damage(config.state.mirror, upstream.url)
    if found is None:
        return None
    last = instant(said) if (said := fact(database, "mirror_renewed")) else None
    known = last is not None and not passed(last, now, FORGET_S)
    times = int(fact(database, "mirror_renewals") or 0) if known else 0
    wait = min(RENEW_S * 2 ** (times - 1), FORGET_S) if times else 0.0
    if last is not None and not passed(last, now, wait):
        raise MirrorInDoubt(
            f"the mirror is damaged ({found}), and was filled anew, or tried to be, at {stamp(last)[:16]}Z: look at "
            f"the disk; the next try is at {stamp(last + wait)[:16]}Z, and `tracker pull` tries at once"
        )
    remember(database, mirror_renewed=stamp(now), mirror_renewals=str(times + 1))
    log.warning("the mirror is damaged (%s), and is filled anew", found)
    made = renewal.renew(config.state.mirror, upstream.url, upstream.branch, timeout_s=timeout_s)
    return made.words(found)


def keep_up(config: Config, database: Database, now: float) -> None:
    """What a state of many years needs, once a day at most: a mirror in few pieces, and a copy of the database."""
    tried = fact(database, "packed")
    if upkeep.in_pieces(config.state.mirror) and (tried is None or passed(instant(tried), now, DAY_S)):
        remember(database, packed=stamp(now))
        try:
            with Mirror.open(config.state.mirror) as mirror:
                upkeep.pack(mirror, timeout_s=seconds(config.schedule.deadline) * UPKEEP_SHARE)
        except TrackerError as error:  # it is no part of the check
            log.warning("%s", error)
    to = database.path.with_suffix(".backup.sqlite3")
    if not to.exists() or passed(to.stat().st_mtime, now, DAY_S):
        database.backup(to)
