"""A sign of life after a run: an address is asked, for a service that notices when it is not. It never fails a run."""

from __future__ import annotations

import logging
from http.client import HTTPException
from urllib.request import Request, urlopen

TIMEOUT_S = 10.0

log = logging.getLogger(__name__)


def beat(url: str) -> None:
    """Ask for the address once. What goes wrong is logged: the service itself notices that nothing came."""
    try:
        with urlopen(Request(url, headers={"User-Agent": "tracker"}), timeout=TIMEOUT_S) as answer:
            log.debug("heartbeat: %d", answer.status)
    except (OSError, HTTPException, ValueError) as error:
        log.warning("the heartbeat did not arrive: %s", error)
