"""The report for a workflow of GitHub Actions: annotations as workflow commands, and the summary of the step.

Pure: whoever calls it prints the commands, and appends the summary to the file that GitHub names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tracker.harmless import cut_title, printable
from tracker.model import Drift, Report, Severity, Site
from tracker.report import markdown
from tracker.report.facts import kinds, rows, subject, texts
from tracker.report.screen import Screen
from tracker.report.summary import verdict
from tracker.report.words import compared, counted

SHOWN = 10
"""Annotations of each level that GitHub shows of one step (docs.github.com, "Annotations" under usage limits)."""
SUMMARY = 1024 * 1024
"""Bytes that the summary of a step may have; a longer one is not shown at all."""
_TITLE, _TEXT = 200, 4000
"""Characters, so that one long message cannot fill the page."""

_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTICE: "notice",
    Severity.INFO: "notice",
}


def render(report: Report, screen: Screen) -> str:
    """The annotations, the worst first, what GitHub would show none of, and the outcome in a sentence."""
    lines, seen = [], Counter[str]()
    for level, line in _annotations(report):
        seen[level] += 1
        if seen[level] <= SHOWN:
            lines.append(line)
    if more := [counted(number - SHOWN, level) for level, number in seen.items() if number > SHOWN]:
        lines.append(f"and {', '.join(more)} more: GitHub shows {SHOWN} of each, the summary of the step has the rest")
    lines.append(verdict(report))
    return "".join(f"{line}\n" for line in lines)


def summary(report: Report, room: int = SUMMARY) -> str:
    """The report as Markdown in at most `room` bytes: what is too much is cut between two drifts, and said."""
    note = "… and more than a summary can hold: `tracker diff --format markdown` has all of it."
    kept: list[str] = []
    left = room - len(note.encode()) - 3
    for block in markdown.blocks(report):
        left -= len(block.encode()) + 2
        if left < 0:
            kept.append(note)
            break
        kept.append(block)
    return "\n\n".join(kept) + "\n"


def command(level: str, text: str, **properties: str) -> str:
    """A workflow command on one line: `%` and line ends are escaped, in properties also `:` and `,`."""
    named = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{level} {named}::{_escaped(text)}"


def _escaped(text: str, others: str = "") -> str:
    # The percent sign comes first: the escapes have one.
    for char in "%\r\n" + others:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def _annotations(report: Report) -> Iterator[tuple[str, str]]:
    for fault in report.unlocated:
        page = report.pages.get(fault.entry, fault.entry)
        yield "error", command("error", _shown(fault.reason), title=_title(f"{page} could not be checked"))
    for drift in sorted(report.drifts, key=lambda drift: -drift.severity):
        site = drift.after or drift.before
        assert site is not None
        level = _LEVELS[drift.severity]
        place = {"file": printable(site.path), "line": str(site.line), "endLine": str(site.end_line)}
        yield level, command(level, _shown(_text(drift, report)), **place, title=_title(_name(drift, site)))


def _name(drift: Drift, site: Site) -> str:
    return f"{', '.join(kinds(drift))}: {texts(site)}"


def _title(text: str) -> str:
    return cut_title(printable(text), _TITLE)


def _shown(text: str) -> str:
    return cut_title("\n".join(map(printable, text.split("\n"))), _TEXT)


def _text(drift: Drift, report: Report) -> str:
    lines = []
    for row in rows(drift):
        if row.changes:
            lines += [f"{row.label}:", *compared(row.changes)]
    if drift.before is None:
        lines.append(f"raises {drift.after.exception or 'what was caught'}" if drift.after else "")
    elif drift.after is None:
        lines.append(f"no longer raised{'' if drift.certain else ' (not certain)'}")
    else:
        lines.append(f"was at {drift.before.path}:{drift.before.line}")
    if drift.possible is not None:
        lines.append(f"may go on at {drift.possible.path}:{drift.possible.line}: {texts(drift.possible)}")
    if drift.entry is not None:
        lines.append(f"page {report.pages.get(drift.entry, drift.entry)}")
    if drift.cause is not None:
        lines.append(f"since {drift.cause.commit[:10]} of {drift.cause.date[:10]}, {subject(drift.cause)}")
    return "\n".join(lines)
