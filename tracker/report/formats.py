"""The formats of a report by name. Each is a module with `render(report, screen) -> str`, loaded when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from tracker.model import Report
from tracker.report.screen import Screen


class Format(NamedTuple):
    """Where a format is written, and what it wants of a report beyond its facts."""

    module: str
    links: bool = False
    """Whether it links to upstream's commits."""
    excerpts: bool = False
    """Whether it shows the source around a site."""


FORMATS = {
    "text": Format("tracker.report.text"),
    "json": Format("tracker.report.json"),
    "markdown": Format("tracker.report.markdown", links=True),
    "github": Format("tracker.report.github", links=True),
    "sarif": Format("tracker.report.sarif", links=True),
    "html": Format("tracker.report.html", links=True, excerpts=True),
}


def render(name: str, report: Report, screen: Screen) -> str:
    """The report in the format NAME, with its last line end."""
    return str(import_module(FORMATS[name].module).render(report, screen))
