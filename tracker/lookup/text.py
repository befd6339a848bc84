"""The answer for a person with an error on the screen: where it comes from, how sure that is, what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracker.lookup.ask import Answer
from tracker.lookup.past import Story
from tracker.lookup.verdict import Judged, Match, Verdict
from tracker.model import Kind, Site
from tracker.report.screen import Screen
from tracker.report.words import counted

LONGEST = 600
"""Characters of a message that are shown."""
FEW = 8
"""Sites that are shown one by one where the paste does not tell them apart."""

_STYLE = {Verdict.MATCH: "bold green", Verdict.AMBIGUOUS: "bold yellow", Verdict.FOREIGN: "bold", Verdict.NONE: "bold"}


def render(answer: Answer, screen: Screen) -> str:
    """The answer as lines of at most `screen.width` columns."""
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
    for n, part in enumerate(_parts(answer)):
        if n:
            console.print()
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def _parts(answer: Answer) -> Iterator[RenderableType]:
    at = answer.at
    yield Text(f"at {at.name} ({at.commit[:10]}, {at.committed_at[:10]}): {answer.because}", style="dim")
    if not answer.judged:
        yield Text("There is no error in what was given: no name of an exception, and no text.", style="bold")
    for one in answer.judged:
        yield _head(one)
        yield Padding(Text(_verdict(one, answer), style=_STYLE[one.verdict]), (0, 0, 0, 2))
        for match in one.matches[:FEW]:
            yield Padding(_card(match, answer), (0, 0, 0, 2))
        if (more := len(one.matches) - FEW) > 0:
            yield Padding(Text(f"and {counted(more, 'more site')}", style="dim"), (0, 0, 0, 2))
    for notice in answer.notices:
        yield Text(notice[:1].upper() + notice[1:] + ".", style="dim")


def _head(one: Judged) -> Text:
    text = " ".join(one.error.message.split())
    shown = Text(one.error.exception or "an error without a name", style="bold")
    shown.append(f": {_cut(text, 200)}" if text else "", style="not bold")
    return shown


def _verdict(one: Judged, answer: Answer) -> str:
    if one.verdict is Verdict.MATCH:
        return "Raised here, as far as its text shows:" if one.matches[0].partial else "Raised here:"
    if one.verdict is Verdict.AMBIGUOUS:
        return f"Raised by one of {len(one.matches)}: {one.reason}"
    if one.verdict is Verdict.FOREIGN:
        return f"Not one of the errors that the Python source raises: {one.reason}."
    return f"Not found at {answer.at.name}: {one.reason}."


def _card(match: Match, answer: Answer) -> RenderableType:
    site = match.site
    card = Table.grid(padding=(0, 2))
    card.add_column(no_wrap=True, style="dim")
    card.add_column(overflow="fold")
    card.add_row("where", Text(_where(site), style="bold"))
    card.add_row("raises", Text(site.exception or "what was caught"))
    card.add_row("text", Text(_message(site)))
    if site.guard:
        card.add_row("when", Text(", ".join(site.guard)))
    if (entry := answer.entries.get(site)) is not None:
        card.add_row("page", Text(f"{entry.file}   {entry.id}   {entry.title}"))
    card.add_row("why", Text(f"{match.why}  ({match.score:.2f})"))
    if (story := answer.stories.get(site)) is not None:
        for label, text in _story(story, site, answer):
            card.add_row(label, Text(text))
    return card


def _story(story: Story, site: Site, answer: Answer) -> Iterator[tuple[str, str]]:
    if (span := story.span) is not None:
        if span.ongoing:
            yield "releases", f"{span.first} and later"
        else:
            yield "releases", span.first if span.first == span.last else f"{span.first} to {span.last}"
    for change in story.changes:
        kinds = ", ".join(_WORDS.get(kind, kind.value) for kind in Kind if kind in change.kinds) or "elsewhere"
        yield (
            f"in {change.release}",
            f"{kinds}" + (f": {change.site.exception}: {_message(change.site)}" if change.site else ""),
        )
    if answer.newest.commit == answer.at.commit:
        return
    if story.now is not None:
        yield "now", f"{_where(story.now)} at {answer.newest.name}"
    elif not story.changes:
        yield "now", f"nothing at {answer.newest.name} surely continues this statement"


_WORDS = {
    Kind.RETYPED: "other exception",
    Kind.GUARD_CHANGED: "other conditions",
    Kind.RELOCATED: "elsewhere in the source",
}


def _where(site: Site) -> str:
    return f"{site.path}:{site.line}" + (f"  in {site.scope}" if site.scope else "")


def _message(site: Site) -> str:
    return _cut(" ".join(site.message.split()), LONGEST) if site.message is not None else "(text not resolved)"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 2].rstrip() + " …"
