"""The formats of a report by name. Each is a module with `render(report, screen) -> str`, loaded when asked for."""

from __future__ import annotations

from importlib import import_module

from tracker.model import Report
from tracker.report.screen import Screen

FORMATS = {
    "text": "tracker.report.text",
    "json": "tracker.report.json",
}


def render(name: str, report: Report, screen: Screen) -> str:
    """The report in the format NAME, with its last line end."""
    return str(import_module(FORMATS[name]).render(report, screen))
