"""What a person reads before a page is changed: its claim beside the source, and the change itself as a patch."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from difflib import unified_diff

from tracker.model import Drift, Entry, Kind
from tracker.report.facts import folded, rows, texts
from tracker.report.screen import Screen
from tracker.report.words import compared

CODE = 6
"""Lines of source that are shown before a statement."""

_LABEL = 11
"""Columns in which the labels stand."""
# The first that fits, with the colours of git: bold, cyan, red, green.
_COLOURS = {"---": "1", "+++": "1", "@@": "36", "-": "31", "+": "32"}


def patch(file: str, before: str, after: str, screen: Screen) -> str:
    """The change of a page as a unified diff, as `git apply` takes it in the folder of the catalogue."""
    diff = unified_diff(_lines(before), _lines(after), f"a/{file}", f"b/{file}")
    lines = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff]
    return "".join(map(_coloured, lines) if screen.colour else lines)


def _lines(text: str) -> list[str]:
    """Lines with their ends; a line feed ends one and nothing else does, as for git."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _coloured(line: str) -> str:
    colour = next((colour for start, colour in _COLOURS.items() if line.startswith(start)), None)
    return line if colour is None else f"\x1b[{colour}m{line[:-1]}\x1b[m\n"


def claim(entry: Entry, drift: Drift, source: Sequence[str], screen: Screen) -> str:
    """What a page says beside what the source says now. `source` has the lines of the file it is raised in, if any."""
    head = f"{entry.file}   {entry.id}   {', '.join(kind for kind in Kind if kind in drift.kinds)}"
    rows = [("page", f"{entry.exception}: {folded(entry.message)}")]
    rows += [("", folded(text)) for text in (entry.meaning, entry.trigger) if text]
    rows += _differences(drift)
    lines = [head]
    for label, text in rows:
        wrapped = textwrap.wrap(text, max(40, screen.width - _LABEL), break_on_hyphens=False) or [""]
        lines += [f"  {label if not n else '':{_LABEL - 2}}{line}" for n, line in enumerate(wrapped)]
    if drift.after is not None:
        code = source[max(0, drift.after.line - 1 - CODE) : drift.after.end_line]
        lines += [f"{'':{_LABEL}}{line}" for line in textwrap.dedent("\n".join(code)).split("\n")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _differences(drift: Drift) -> Iterator[tuple[str, str]]:
    before, after = drift.before, drift.after
    if before is None or after is None:
        cause = drift.cause
        since = f", since {cause.commit[:10]} {cause.date[:10]} {cause.subject}" if cause is not None else ""
        yield "source", f"no longer raises it{since}"
        if drift.possible is not None:
            heir = drift.possible
            yield "perhaps", f"{heir.path}:{heir.line}   {heir.exception}: {texts(heir)}"
        return
    for row in rows(drift):
        if row.changes:
            lines = compared(row.changes) + ([row.text] if row.text else [])
            yield from ((row.label if not n else "", line) for n, line in enumerate(lines))
    yield "source", f"{after.path}:{after.line}"
