"""What became of errors over time as Markdown: for a page, an issue, or release notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from tracker.events import Changed, Changelog, Event, Life, Told
from tracker.model import Cause, Kind
from tracker.report.facts import condition, texts
from tracker.report.history_text import (
    SECTIONS,
    heading,
    kinds_of,
    left_out,
    listed,
    path_of,
    span,
)
from tracker.report.screen import Screen
from tracker.report.words import counted


def lives(told: Told, screen: Screen) -> str:
    """Each error as a heading and a table of its events."""
    blocks = ["\n".join(_life(life)) for life in told.lives]
    if not blocks:
        blocks = [f"Nothing happened to it since {told.since}."]
    elif told.more:
        blocks.append(f"{counted(told.more, 'more error')} said this, too.")
    return "\n\n".join(blocks) + "\n"


def changelog(log: Changelog, screen: Screen) -> str:
    """A section for each kind, a heading for each file."""
    lines = [f"# {heading(log)}"]
    for kind, title in SECTIONS:
        of_kind = listed(log, kind)
        if of_kind:
            lines += ["", f"## {title} ({len(of_kind)})"]
        for path, changes in groupby(of_kind, key=path_of):
            lines += ["", f"### {_code(path)}", ""]
            lines += [f"* {_changed(one, kind)}" for one in changes]
    lines += [line for rest in left_out(log) for line in ("", rest)]
    return "\n".join(lines) + "\n"


def _life(life: Life) -> Iterator[str]:
    site = life.site
    told = f"{site.exception or 'raise'}: {texts(site)}"
    yield f"### {_code(told)}"
    yield ""
    where = _code(f"{site.path}:{site.line}") + (f" in {_code(site.scope)}" if site.scope else "")
    page = f"; page {life.entry}" if life.entry else ""
    yield f"{where}; {span(life)}{'' if life.alive else ' (removed)'}{page}"
    yield ""
    yield "| release | date | what | commit | then |"
    yield "|---|---|---|---|---|"
    for event in life.events:
        cells = [event.release or "unreleased", event.cause.date[:10], kinds_of(event), _cause(event.cause)]
        yield "| " + " | ".join(_cell(cell) for cell in (*cells, _details(event))) + " |"


def _details(event: Event) -> str:
    site = event.site
    if event.before is None:
        return _code(texts(site))
    told = []
    if Kind.REWORDED in event.kinds or Kind.PLACEHOLDER_CHANGED in event.kinds:
        told.append(_code(texts(site)))
    if Kind.RETYPED in event.kinds:
        told.append(f"raises {_code(site.exception or 'raise')}")
    if Kind.RELOCATED in event.kinds:
        told.append(_code(f"{site.path}:{site.line}") + (f" in {_code(site.scope)}" if site.scope else ""))
    if Kind.GUARD_CHANGED in event.kinds:
        told.append(f"when {_code(condition(site))}")
    return "<br>".join(told)


def _changed(one: Changed, kind: Kind) -> str:
    site = one.after or one.before
    assert site is not None
    told = f"{_code(site.exception or 'raise')}: {_code(texts(site))}"
    if one.before is not None and kind is Kind.REWORDED:
        told += f", was {_code(texts(one.before))}"
    elif one.before is not None and kind is Kind.RETYPED:
        told += f", was {_code(one.before.exception or 'raise')}"
    return f"{told} ({_cause(one.cause)})" if one.cause is not None else told


def _cause(cause: Cause) -> str:
    request = f" #{cause.pull_request}" if cause.pull_request else ""
    return f"{cause.commit[:10]}{request}"


def _code(text: str) -> str:
    """A text as code, whatever backquotes are in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    mark = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{mark}{pad}{text}{pad}{mark}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
