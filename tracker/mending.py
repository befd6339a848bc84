"""When a run may fill a damaged mirror anew: once, and then ever less often, for the disk itself may be the reason."""

from __future__ import annotations

import logging

from tracker.config import Config
from tracker.errors import MirrorInDoubt
from tracker.ledger import passed
from tracker.repository import renewal
from tracker.store.database import Database, instant, stamp
from tracker.store.facts import fact, remember

log = logging.getLogger(__name__)

RENEW_S = 6 * 3600.0
"""How long after a mirror was filled anew it is left alone; each time in a row twice as long."""
FORGET_S = 30 * 86_400.0
"""After so long without damage, the next one is the first."""


def renewed(config: Config, database: Database, error: MirrorInDoubt, now: float, timeout_s: float) -> str:
    """Fill a damaged mirror anew -> what to say of it. The error itself: it is not damaged, or it was too lately."""
    found = renewal.damage(config.state.mirror)
    if found is None:
        raise error
    last = instant(said) if (said := fact(database, "mirror_renewed")) else None
    known = last is not None and not passed(last, now, FORGET_S)
    times = int(fact(database, "mirror_renewals") or 0) if known else 0
    wait = min(RENEW_S * 2 ** (times - 1), FORGET_S) if times else 0.0
    if last is not None and not passed(last, now, wait):
        raise MirrorInDoubt(
            f"the mirror is damaged ({found}), as it was at {said}, when it was filled anew: look at the disk; "
            f"it is tried again at {stamp(last + wait)}, or by `tracker pull`"
        )
    remember(database, mirror_renewed=stamp(now), mirror_renewals=str(times + 1))
    log.warning("the mirror is damaged (%s), and is filled anew", found)
    upstream = config.upstream
    made = renewal.renew(config.state.mirror, upstream.url, upstream.branch, timeout_s=timeout_s)
    return made.words(found)
