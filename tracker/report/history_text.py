"""What became of errors over time, for a person: the life of an error as a table, a changelog file by file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from tracker.events import Changed, Changelog, Event, Life, Told
from tracker.model import Cause, Kind, Site
from tracker.report.facts import condition, folded, text_changes, texts
from tracker.report.screen import Screen
from tracker.report.words import compared, counted

SECTIONS = (
    (Kind.NEW, "New"),
    (Kind.REWORDED, "Reworded"),
    (Kind.RETYPED, "Other exception"),
    (Kind.REMOVED, "Removed"),
)
"""What a changelog tells one by one; other changes do not meet the eye of who sees the error."""
_KINDS = 34
"""Columns of the names of kinds; longer lists of them push the rest aside."""


def lives(told: Told, screen: Screen) -> str:
    """Each error with its events, oldest first, one line each and the texts below."""
    blocks = ["\n".join(_life(life, screen)) for life in told.lives]
    if not blocks:
        blocks = [f"Nothing happened to it since {told.since}."]
    elif told.more:
        blocks.append(f"{counted(told.more, 'more error')} said this, too: --limit shows more, a longer text fewer.")
    return "\n\n".join(blocks) + "\n"


def changelog(log: Changelog, screen: Screen) -> str:
    """What is new, reworded, retyped and removed, file by file."""
    lines = [_bold(heading(log), screen)]
    for kind, title in SECTIONS:
        of_kind = listed(log, kind)
        if of_kind:
            lines += ["", _bold(f"{title} ({len(of_kind)})", screen)]
        for path, changes in groupby(of_kind, key=path_of):
            lines.append(f"  {path}")
            for one in changes:
                lines += [f"    {line}" for line in _changed(one, kind, screen.width - 4)]
    lines += [line for rest in left_out(log) for line in ("", *_wrapped(rest, screen.width, ""))]
    return "\n".join(lines) + "\n"


def heading(log: Changelog) -> str:
    """A changelog's first line."""
    before, after = log.errors
    return f"Errors from {log.base} to {log.target}: {before} before, {after} after"


def listed(log: Changelog, kind: Kind) -> list[Changed]:
    """The changes of a kind that are told one by one: those of errors with a text."""
    return [one for one in log.changes if kind in one.kinds and _texts(one)]


def left_out(log: Changelog) -> Iterator[str]:
    """What is not told one by one, in counts; JSON has all of it."""
    told = {kind for kind, _ in SECTIONS}
    same = [one for one in log.changes if told.isdisjoint(one.kinds)]
    if counts := _counts(same):
        yield f"Besides, what they say unchanged: {counts}."
    silent = [one for one in log.changes if not told.isdisjoint(one.kinds) and not _texts(one)]
    if counts := _counts(silent):
        yield f"Without a text, and not listed: {counts}."


def _texts(change: Changed) -> bool:
    return any(site is not None and site.messages for site in (change.before, change.after))


def _counts(changes: Sequence[Changed]) -> str:
    numbers = ((sum(kind in one.kinds for one in changes), kind) for kind in reversed(Kind))
    return ", ".join(f"{number} {kind}" for number, kind in numbers if number)


def path_of(change: Changed) -> str:
    """The file that a line of a changelog stands under."""
    site = change.after or change.before
    assert site is not None
    return site.path


def span(life: Life) -> str:
    """From which release to which an error could be met."""
    if life.first is None:
        return "not in any release yet" if life.alive else "never in a release"
    if life.alive:
        return f"since {life.first}"
    return f"in {life.first} only" if life.first == life.last else f"from {life.first} to {life.last}"


def kinds_of(event: Event) -> str:
    """What happened, in words."""
    return ", ".join("introduced" if kind is Kind.NEW else kind for kind in event.kinds)


def cause_of(cause: Cause) -> str:
    """A commit in a few words."""
    request = (
        f" (#{cause.pull_request})" if cause.pull_request and f"#{cause.pull_request}" not in cause.subject else ""
    )
    return f"{cause.commit[:10]} {cause.subject}{request}"


def _life(life: Life, screen: Screen) -> Iterator[str]:
    site = life.site
    scope = f"  in {site.scope}" if site.scope else ""
    gone = "" if life.alive else "  (removed)"
    yield _bold(f"{site.path}:{site.line}{scope}{gone}", screen)
    yield from _wrapped(f"{site.exception or 'raise'}: {texts(site)}", screen.width - 2, "  ")
    page = f"; page {life.entry}" if life.entry else ""
    yield f"  {span(life)}{page}"
    widths = max((len(event.release or "unreleased") for event in life.events), default=0)
    for event in life.events:
        head = f"  {event.release or 'unreleased':{widths}}  {event.cause.date[:10]}  "
        what = f"{kinds_of(event):{min(_KINDS, max(len(kinds_of(one)) for one in life.events))}}"
        room = max(20, screen.width - len(head) - len(what) - 2)
        yield f"{head}{what}  {textwrap.shorten(cause_of(event.cause), room, placeholder=' …')}"
        for label, line in _details(event):
            yield from _wrapped(
                line, screen.width - len(head) - 8, " " * len(head) + f"{label:8}", " " * (len(head) + 8)
            )


def _details(event: Event) -> Iterator[tuple[str, str]]:
    """Label and text of what a reader wants to see of an event."""
    before, site = event.before, event.site
    if before is None:
        yield "says", texts(site)
        return
    if Kind.REWORDED in event.kinds or Kind.PLACEHOLDER_CHANGED in event.kinds:
        yield from _labelled("says", _texts_compared(before, site))
    if Kind.RETYPED in event.kinds:
        yield "raises", f"{before.exception} -> {site.exception}"
    if Kind.RELOCATED in event.kinds:
        yield "to", f"{site.path}:{site.line}" + (f" in {site.scope}" if site.scope else "")
    if Kind.GUARD_CHANGED in event.kinds:
        yield from _labelled("when", compared([(condition(before), condition(site))]))


def _texts_compared(before: Site, after: Site) -> list[str]:
    changes, rest = text_changes(before, after)
    lines = compared((folded(ours), folded(theirs)) for ours, theirs in changes)
    return [*lines, rest] if rest else lines


def _labelled(label: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((label if not n else "", line) for n, line in enumerate(lines))


def _changed(one: Changed, kind: Kind, width: int) -> Iterator[str]:
    site = one.after or one.before
    assert site is not None
    told = f"{site.exception or 'raise'}: {texts(site)}"
    if kind is Kind.REWORDED and one.before is not None:
        for line in _texts_compared(one.before, site):
            yield from _wrapped(line, width, "", "  ")
    elif kind is Kind.RETYPED and one.before is not None:
        yield from _wrapped(f"{one.before.exception} -> {told}", width, "", "  ")
    else:
        yield from _wrapped(told, width, "", "  ")
    if one.cause is not None:
        yield f"  {textwrap.shorten(cause_of(one.cause), max(20, width - 2), placeholder=' …')}"


def _wrapped(text: str, width: int, indent: str, further: str | None = None) -> Sequence[str]:
    return textwrap.wrap(
        text,
        width=max(40, width) + len(indent),
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [indent.rstrip()]


def _bold(text: str, screen: Screen) -> str:
    return f"\x1b[1m{text}\x1b[0m" if screen.colour else text
