"""A word to systemd, where it listens: sd_notify(3) is one datagram to the socket that NOTIFY_SOCKET names."""

from __future__ import annotations

import logging
import os
import socket

log = logging.getLogger(__name__)


def notify(*words: str) -> None:
    """Send words such as `READY=1`. Nothing happens where nobody listens."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # the abstract namespace of Linux
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.sendto("\n".join(words).encode(), address)
    except OSError as error:
        log.warning("systemd could not be told: %s", error)


def watchdog_s() -> float | None:
    """How often systemd wants a sign of life, in seconds; None: not at all, or not from this process."""
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1e6 if microseconds.isdigit() and int(microseconds) else None
