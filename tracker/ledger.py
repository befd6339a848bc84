"""The words of filing as frozen values: what there is to say, and what was said of it. No input, no output.

The states and the moves between them are those of `filing/states.py`; here they only have names.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from tracker.model import Drift, Kind, leaf

DAY_S = 86_400.0
KEY_VERSION = "v1"
"""Part of every key. Another way of making keys needs another version, and open issues their keys rewritten."""


class Family(StrEnum):
    """What is filed together: kinds of drift that one issue speaks of."""

    MEANING = "meaning"
    """The page says something that is no longer so: one issue per entry."""
    MASS = "mass"
    """Many such entries at once: one issue for all of them."""
    NEW = "new"
    """Errors without a page: one issue for all of them."""
    LINES = "lines"
    """Pages that are right but stand on another line: one issue for all of them, or none."""


_MEANING = {Kind.REMOVED, Kind.REWORDED, Kind.RETYPED, Kind.GUARD_CHANGED}


def family(drift: Drift) -> Family:
    """What a drift is filed as."""
    if drift.kinds & _MEANING:
        return Family.MEANING
    return Family.NEW if Kind.NEW in drift.kinds else Family.LINES


def key(repository: str, entry: str, family: Family) -> str:
    """The identity of a finding, the same for ever: no line, no commit and no wording is part of it."""
    parts = (KEY_VERSION, repository.lower(), entry, family.value)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"{KEY_VERSION}-{digest[:16]}"


def content(drift: Drift) -> str:
    """A hash of what a drift says, without lines and commits: as long as it is equal there is nothing new to tell."""
    parts = sorted(kind.value for kind in drift.kinds if kind not in (Kind.MOVED, Kind.EXCERPT_CHANGED))
    for site in (drift.before, drift.after):
        if site is None:
            parts.append("-")
        else:
            parts += [site.path, site.scope, leaf(site.exception) or "", *site.messages, *site.guard]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class State(StrEnum):
    """Where an issue stands, as far as the tracker knows."""

    QUEUED = "queued"
    """To be filed as soon as the limits allow."""
    POSTING = "posting"
    """Sent, or about to be: whether it exists is not known."""
    OPEN = "open"
    CLOSING = "closing"
    """About to be closed by the tracker."""
    RESOLVED = "resolved"
    """Closed, and nothing to say any more."""
    REOPENING = "reopening"
    HELD = "held"
    """A person reopened what the tracker had closed: it is theirs now, and never closed again."""
    SUPPRESSED = "suppressed"
    """A person does not want this; only another drift of the same entry may speak again."""
    SNOOZED = "snoozed"
    """A person closed it as completed, and the drift is still there."""
    MUTED = "muted"
    """Locked: nothing is written to it."""
    BLOCKED = "blocked"
    """GitHub refuses what the tracker sends."""
    NEEDS_HUMAN = "needs-human"
    """Three creations went out and none was ever seen."""
    GROUPED = "grouped"
    """Told in an issue that speaks of many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of the outbox: a key, and the issue that carries it. Times are seconds since 1970, UTC."""

    key: str
    family: Family
    entry: str
    """The id of an entry, or what else a finding is about; empty for the digests."""
    state: State
    fingerprint: str = ""
    """The content that was last sent."""
    title: str = ""
    """As the tracker last set it; a title that differs is a person's and stays."""
    repository: str = ""
    repository_id: int | None = None
    number: int | None = None
    issue_id: int | None = None
    node_id: str = ""
    url: str = ""
    episode: int = 1
    """How often the drift came back, and once."""
    attempts: int = 0
    posted_at: float | None = None
    lists_without: int = 0
    """Complete lists since then in which the key was not."""
    until: float | None = None
    """When a person is reminded; None where that was done."""
    closed_at: float | None = None
    previous: int | None = None
    """The number of an older issue of the same key."""
    group: str = ""
    """The key of the issue that speaks for this one, too."""
    note: str = ""
    """For people: why it stands where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An open drift as the runs recorded it."""

    id: int
    entry: str
    """The entry's id; the fingerprint of a site that has no entry."""
    page: str
    """File name of the page; empty for a site without one."""
    family: Family
    fingerprint: str
    drift: Drift
    base_commit: str
    """The commit that `before` is of, as far as upstream has it."""
    target_commit: str
    """The commit that `after` is of: the last at which it was seen."""
    pin: str
    """Of the page, when it was last seen; empty for a site without one."""
    first_seen: float
    last_seen: float
    confirmed: bool
    """False for a removal that was seen only once, and for what is not certain."""
    baseline: bool
    """It was there before the tracker's first run, and waits until a person says `file --apply`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to tell: one drift of meaning, or many of a kind."""

    key: str
    family: Family
    entry: str
    fingerprint: str
    drifts: tuple[Found, ...]
    ready: bool = True
    """False while it is not to be told: not confirmed, not certain, or there before the first run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """Why an entry has no open drift any more."""

    reason: str
    by_hand: bool
    """A person did it, by repinning, accepting or taking the page away; else upstream is as it was."""


def passed(since: float, now: float, span: float) -> bool:
    """Whether `span` seconds have passed since a time that was written down.

    One that lies more than a day ahead was written by a clock that was wrong: to wait for it could take years.
    """
    return now - since >= span or since - now > DAY_S
