"""The sections of config.toml as frozen values, and the form of each key. Reads nothing, checks nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec


class Upstream(msgspec.Struct, frozen=True, kw_only=True):
    """Where the sources come from, and which of them count."""

    url: str = "https://github.com/jax-ml/jax.git"
    branch: str = "main"
    package: str = "jax"
    paths: tuple[str, ...] = ("jax/**/*.py",)
    exclude: tuple[str, ...] = ()
    asserts: bool = False
    """Whether `assert condition, "text"` counts as a site, too."""


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """The pages."""

    repository: str = "jax-ml/jax"
    path: Path = Path("state/catalogue")
    track: Literal["pages", "all"] = "pages"
    base: str = ""
    """What `run` compares with where the pages' common pin is not meant or not there."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of mirror and database."""

    path: Path = Path("state")

    @property
    def mirror(self) -> Path:
        return self.path / "mirror"

    @property
    def database(self) -> Path:
        return self.path / "tracker.sqlite3"

    @property
    def cache(self) -> Path:
        return self.path / "cache.sqlite3"

    @property
    def imports(self) -> Path:
        """What `catalogue import` remembers of the sites it asked."""
        return self.path / "imports.json"


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """When the daemon checks: `every` where it is set, else `cron`."""

    cron: str = "17 */6 * * *"
    every: str = ""
    timezone: str = "UTC"
    deadline: str = "1h"
    """After this the daemon ends a run from outside."""
    grace: str = ""
    """How late a run may start, after a suspended machine woke up, say; without it, one is made however late."""
    heartbeat: str = ""
    """An address that is asked after each run that succeeded, for a service that notices when none comes."""


class Filing(msgspec.Struct, frozen=True, kw_only=True):
    """Where issues go, and how many; nowhere by default."""

    repository: str = ""
    apply: bool = False
    upstream: bool = False
    """Whether `repository` may be the upstream project itself."""
    api: str = "https://api.github.com"
    token_file: Path | None = None
    authors: tuple[str, ...] = ()
    """Accounts whose issues are the tracker's own; without any, the account of the token."""
    labels: tuple[str, ...] = ()
    new: Literal["digest", "none"] = "digest"
    moved: Literal["none", "digest"] = "none"
    per_run: int = 5
    per_day: int = 20
    spacing: int = 3
    """Seconds between two writes. 3 is what GitHub's own client keeps between writes that notify people."""
    quarantine: str = "30m"
    """How long a creation with unknown outcome is looked for before it is tried again."""
    reopen: str = "30d"
    """How long after its closing an issue is reopened, rather than a new one filed."""
    patience: str = "7d"
    """How long after a person closed an issue as completed the tracker says that the drift is still there."""


Section = Upstream | Catalogue | State | Schedule | Filing
SECTIONS: dict[str, type[Section]] = {
    "upstream": Upstream,
    "catalogue": Catalogue,
    "state": State,
    "schedule": Schedule,
    "filing": Filing,
}

_NAME = r"[\w.-]+/[\w.-]+"
_TIME = r"[1-9]\d*[smhd]"
_A_TIME = 'a number and s, m, h or d, such as "6h"'
# section.key -> (what the whole text must match, how a person writes it)
FORMS = {
    "upstream.url": (r"[^\s-]\S*( \S+)*", "a url or a path"),
    "upstream.branch": (r"[^\s-]\S*", "the name of a branch"),
    "upstream.package": (r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", "the name of a package"),
    "catalogue.repository": (_NAME, "owner/name"),
    "filing.repository": (rf"({_NAME})?", "owner/name, or nothing"),
    "schedule.cron": (r"[\w*/,?#-]+( +[\w*/,?#-]+){4}", 'five fields, such as "17 */6 * * *"'),
    "schedule.every": (rf"({_TIME})?", _A_TIME),
    "schedule.deadline": (_TIME, _A_TIME),
    "schedule.grace": (rf"({_TIME})?", _A_TIME),
    "schedule.heartbeat": (r"(https?://[^\s/?#@]+[^\s#]*)?", "an http or https url, or nothing"),
    "filing.api": (
        r"https://[^\s/?#@]+(/[^\s?#]*)?|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s?#]*)?",
        "an https url",
    ),
    "filing.quarantine": (_TIME, _A_TIME),
    "filing.reopen": (_TIME, _A_TIME),
    "filing.patience": (_TIME, _A_TIME),
}
LEAST = {"filing.per_run": 1, "filing.per_day": 1, "filing.spacing": 0}
"""section.key -> the smallest number that makes sense."""


def seconds(time: str) -> int:
    """`90s`, `30m`, `6h` or `7d`, as the forms above have it, in seconds."""
    return int(time[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[time[-1]]
