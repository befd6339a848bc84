"""Addresses of upstream's sources, commits and pull requests, as a report can vouch for them.

Pure; it never looks whether an address exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote

from tracker.model import Report, Site

_GITHUB, _UNANNOUNCED = "https://github.com/", "https://redirect.github.com/"


def blob(web: str, commit: str, site: Site) -> str:
    """The permalink of a site's lines; never one to a branch, whose lines move."""
    lines = f"#L{site.line}" + (f"-L{site.end_line}" if site.end_line > site.line else "")
    return f"{web}/blob/{commit}/{quoted(site.path)}{lines}"


def quoted(path: str) -> str:
    """A path as part of an address; what is no UTF-8 in it cannot be addressed and becomes a question mark."""
    return quote(path.encode("utf-8", "replace"), safe="/~")


def unannounced(web: str) -> str:
    """The address under which GitHub shows the same page and makes no reference of a link to it, so that upstream is
    not told of each mention (dependabot and renovate link like this).
    """
    return web.replace(_GITHUB, _UNANNOUNCED, 1) if web.startswith(_GITHUB) else web


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The addresses of one report; an empty text where there is none."""

    web: str
    told: str
    """Where commits and pull requests are linked."""
    upstream: Mapping[str, str | None]
    """Of commits that are not upstream's own (releases), the one they were made from."""

    @classmethod
    def of(cls, report: Report, announced: bool = True) -> Self:
        """With `announced=False`, commits and pull requests are linked so that upstream is not told of it."""
        told = report.web if announced else unannounced(report.web)
        return cls(web=report.web, told=told, upstream={one.commit: one.upstream for one in report.milestones})

    def known(self, commit: str) -> str:
        """The commit as upstream knows it; empty where it does not."""
        return self.upstream.get(commit, commit) or ""

    def short(self, commit: str) -> str:
        """How a commit is shown."""
        return (self.known(commit) or commit)[:10]

    def site(self, site: Site, commit: str) -> str:
        known = self.known(commit)
        return blob(self.web, known, site) if self.web and known else ""

    def commit(self, commit: str) -> str:
        known = self.known(commit)
        return f"{self.told}/commit/{known}" if self.web and known else ""

    def pull(self, number: int | None) -> str:
        return f"{self.told}/pull/{number}" if self.web and number else ""
