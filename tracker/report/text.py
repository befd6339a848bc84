"""The report for a person at a terminal: first what changed in meaning, moved lines last and quiet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracker.model import Drift, Kind, Report, Severity, Site
from tracker.report.facts import base, condition, doubt, exception, folded, revision, text_changes, texts
from tracker.report.screen import Screen
from tracker.report.summary import verdict
from tracker.report.words import Run, marked

FEW = 20
"""Quiet drifts that are listed one by one; more are a count, unless nothing else is to be shown."""

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTICE: "bold cyan"}
_GONE, _COME = "bold red", "bold green"
_LABELS = {
    Kind.REMOVED: "REMOVED",
    Kind.REWORDED: "REWORDED",
    Kind.RETYPED: "OTHER EXCEPTION",
    Kind.GUARD_CHANGED: "GUARD CHANGED",
    Kind.PLACEHOLDER_CHANGED: "PLACEHOLDER CHANGED",
    Kind.RELOCATED: "RELOCATED",
}


def render(report: Report, screen: Screen) -> str:
    """The report as lines of at most `screen.width` columns."""
    out = StringIO()
    console = Console(
        file=out,
        width=screen.width,
        force_terminal=screen.colour,
        color_system="standard" if screen.colour else None,
        highlight=False,
        emoji=False,
        markup=False,
    )
    for n, part in enumerate(_parts(report, console)):
        if n:
            out.write("\n")
        if isinstance(part, _Card):
            _print(part, screen.width, console, out)
        else:
            console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


class _Card(NamedTuple):
    """A drift that a person reads: its head, and rows of a label and a text.

    There can be hundreds. rich's tables measure and pad each cell many times over, so these two columns are laid out
    here; the wrapping stays rich's own.
    """

    head: Text
    rows: list[tuple[str, Text]]


_INDENT, _LABEL = 2, 9
"""Columns before a card's labels, and those of the longest label with the gap behind it."""


def _print(card: _Card, width: int, console: Console, out: StringIO) -> None:
    lines = _wrapped(card.head, width, console)
    for label, text in card.rows:
        for n, line in enumerate(_wrapped(text, width - _INDENT - _LABEL, console)):
            first = Text(" " * _INDENT).append(label.ljust(_LABEL) if not n else " " * _LABEL, style="dim")
            lines.append(first.append_text(line))
    if console.is_terminal:
        console.print(Text("\n").join(lines), soft_wrap=True)
    else:
        out.write("".join(f"{line.plain}\n" for line in lines))


def _wrapped(text: Text, width: int, console: Console) -> list[Text]:
    if text.plain.isascii() and text.plain.isprintable() and len(text) <= width:
        return [text]
    return list(text.wrap(console, width, overflow="fold"))


def _parts(report: Report, console: Console) -> Iterator[RenderableType | _Card]:
    colour = console.is_terminal
    yield _title(report)
    yield Text(verdict(report), style="bold")
    loud = [drift for drift in report.drifts if drift.before is not None and drift.severity > Severity.INFO]
    for drift in sorted(loud, key=lambda drift: -drift.severity):
        yield _card(drift, report, colour)
    quiet = [drift for drift in report.drifts if drift.before is not None and drift.severity is Severity.INFO]
    again = [drift for drift in report.drifts if drift.before is None and drift.entry is not None]
    new = [drift for drift in report.drifts if drift.before is None and drift.entry is None]
    if again:
        yield _rows(
            "Raised again, though their pages say that they no longer are",
            ((_row(drift)[0], Text(report.pages.get(drift.entry or "", "?"))) for drift in again),
        )
    if quiet:
        yield _listed("Moved, and nothing else", quiet, alone=not loud and not new)
    if new:
        yield _listed("New errors", new, alone=not loud and not quiet)
    if report.unlocated:
        yield _rows(
            "Pages that could not be checked, because their own facts cannot be found",
            ((report.pages.get(one.entry, one.entry), Text(one.reason)) for one in report.unlocated),
        )
    if report.partial:
        yield _rows(
            "Files that were not wholly read; nothing in them is surely removed",
            ((path, Text(why)) for path, why in sorted(report.partial.items())),
        )
    for notice in report.notices:
        yield Text(notice[:1].upper() + notice[1:] + ".", style="dim")


def _title(report: Report) -> Text:
    return Text(f"{report.repository}   {base(report)} -> {revision(report.target)}", style="dim")


def _card(drift: Drift, report: Report, colour: bool) -> _Card:
    before, after = drift.before, drift.after
    assert before is not None
    now = after or before
    kinds = [kind for kind in Kind if kind in drift.kinds and kind in _LABELS]
    head = Text(", ".join(_LABELS[kind] for kind in kinds), style=_STYLE[drift.severity])
    if not drift.certain:
        head.append("  (not certain)", style="dim")
    rows: list[tuple[str, Text]] = []
    if Kind.REWORDED in kinds or Kind.PLACEHOLDER_CHANGED in kinds:
        changes, rest = text_changes(before, now)
        for n, (ours, theirs) in enumerate(changes):
            rows += _compared("message" if not n else "", folded(ours), folded(theirs), colour)
        rows += [("besides", Text(rest))] if rest else []
    else:
        rows.append(("message", Text(texts(before))))
    if Kind.RETYPED in kinds:
        rows += _compared("raises", exception(before), exception(now), colour)
    else:
        rows.append(("raises", Text(exception(before))))
    rows.append(("where", Text(_where(before, after))))
    if Kind.GUARD_CHANGED in kinds:
        rows += _compared("when", condition(before), condition(now), colour)
    if drift.entry is not None:
        rows.append(("page", Text(f"{report.pages.get(drift.entry, '?')}   {drift.entry}")))
    if remark := doubt(drift):
        rows.append(("match", Text(remark)))
    if drift.possible is not None:
        rows.append(("perhaps", Text(f"{drift.possible.path}:{drift.possible.line}  {texts(drift.possible)}")))
    if drift.cause is not None:
        said = drift.cause.subject
        if (number := drift.cause.pull_request) and f"#{number}" not in said:
            said += f" (#{number})"
        rows.append(("cause", Text(f"{drift.cause.commit[:10]} {drift.cause.date[:10]} {said}")))
    return _Card(head, rows)


def _compared(label: str, before: str, after: str, colour: bool) -> list[tuple[str, Text]]:
    ours, theirs = marked(before, after)
    gone, come = ("[-{}-]", "{{+{}+}}") if before and after else ("{}", "{}")
    sides = [
        _runs(sign, runs, style, plain, colour)
        for sign, runs, style, plain in (("- ", ours, _GONE, gone), ("+ ", theirs, _COME, come))
        if runs
    ]
    return list(zip((label, ""), sides, strict=False))


def _runs(sign: str, runs: Iterable[Run], style: str, plain: str, colour: bool) -> Text:
    """A text with its differing words marked: by colour, or by signs where there is none."""
    if not colour:
        return Text(sign + "".join(plain.format(run.text) if run.differs else run.text for run in runs))
    text = Text().append(sign, style="dim")
    for run in runs:
        text.append(run.text, style=f"{style} underline" if run.differs else None)
    return text


def _message(site: Site) -> Text:
    return Text(texts(site), style="default")


def _where(before: Site, after: Site | None) -> str:
    scope = f"  in {before.scope}" if before.scope else ""
    if after is None:
        return f"{before.path}:{before.line}{scope}"
    if before.path != after.path:
        return f"{before.path}:{before.line}{scope} -> {after.path}:{after.line}  in {after.scope or 'the module'}"
    if before.scope != after.scope:
        return f"{before.path}:{before.line}{scope} -> {after.line}  in {after.scope or 'the module'}"
    return f"{_line(before, after)}{scope}"


def _line(before: Site, after: Site) -> str:
    return f"{before.path}:{before.line}" + (f" -> {after.line}" if before.line != after.line else "")


def _listed(title: str, drifts: Sequence[Drift], alone: bool) -> RenderableType:
    if len(drifts) > FEW and not alone:
        kind = "new" if drifts[0].before is None else "moved"
        return Text(f"{title}: {len(drifts)} (list them with --kind {kind})")
    return _rows(f"{title} ({len(drifts)})", map(_row, drifts))


def _row(drift: Drift) -> tuple[str, Text]:
    before, after = drift.before, drift.after
    assert after is not None
    where = f"{after.path}:{after.line}" if before is None else _line(before, after)
    note = "  (excerpt differs)" if Kind.EXCERPT_CHANGED in drift.kinds else ""
    text = _message(after)
    text.append(note, style="dim")
    return where, text


def _rows(title: str, rows: Iterable[tuple[str, Text]]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", style="dim")
    for where, what in rows:
        table.add_row(where, what)
    shown = Table.grid()
    shown.add_row(Text(title))
    shown.add_row(Padding(table, (0, 0, 0, 2)))
    return shown
