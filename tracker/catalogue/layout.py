"""Where the parts of a page stand: which lines are its head, its excerpt, its sections, its footer.

Says where and never what: the text is neither changed nor understood here.
"""

from __future__ import annotations

import io
import re
from collections.abc import Container
from dataclasses import dataclass
from itertools import accumulate, count
from operator import add

from tracker.errors import CatalogueError
from tracker.model import PageFault

Span = tuple[int, int]
"""A piece of the page's text: start and stop."""

NULL = "null"
"""Stands alone on a line where the page's writer had nothing to say."""

HEAD = "OWNER/NAME · error · EXCEPTION"
THROWN = "Thrown at PATH:LINE"
VIEW = "View on GitHub (pinned to SHA)"
RETIRED = "No longer raised since SHA (YYYY-MM-DD)"
FOOT = "AI-assisted analysis of OWNER/NAME@SHA (YYYY-MM-DD). Data as JSON: /api/errors/ID."

_REPOSITORY = r"([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)"
_HEAD = re.compile(_REPOSITORY + r"[ \t]+·[ \t]+error[ \t]+·[ \t]+([^\s·]+)[ \t]*")
_THROWN = re.compile(r"Thrown at (\S.*):([0-9]+)[ \t]*")
_VIEW = re.compile(r"View on GitHub \(pinned to ([0-9a-f]{7,40})\)[ \t]*")
_FOOT = re.compile(
    r"AI-assisted analysis of " + _REPOSITORY + r"@([^\s@]*) \(([^()\n]*)\)\. "
    r"Data as JSON: /api/errors/([^\s./]*)\.(?:[ \t].*)?"
)
_RETIRED = re.compile(
    r"No longer raised (?:since|at) ([0-9a-f]{7,40}) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)[^\w\s]?(?:[ \t].*)?"
)
_RETIRED_START = "No longer raised"
_THROWN_START, _VIEW_START, _FOOT_START = "Thrown at", "View on GitHub", "AI-assisted analysis of "
_STARTS = (_THROWN_START, _VIEW_START, _FOOT_START, _RETIRED_START)
_ERROR, _MEANS, _SOURCE = "Error message", "What it means", "Source"
_SOLUTIONS, _WHEN, _RELATED = "Solutions", "When it happens", "Related errors"
_LATER = (
    _SOLUTIONS,
    "Example fix",
    "Defensive patterns",
    "Validate before calling",
    "Type guard",
    "Try / catch",
    "Prevention",
    _WHEN,
    _RELATED,
)
"""Headings that follow the excerpt, in the order of the pages."""
HEADINGS = frozenset((_ERROR, _MEANS, _SOURCE, *_LATER))
_OPENINGS = frozenset(name[:4] for name in (*HEADINGS, *_STARTS))


class PageError(CatalogueError):
    """A page that cannot be read; `fault` says where and why."""

    def __init__(self, fault: PageFault) -> None:
        super().__init__(f"{fault.file}:{fault.line}: {fault.reason}")
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Lines:
    """A page's text as lines without their ends (CRLF, LF or CR), where each starts in the text, and which of
    them look like a heading or like the start of a line with facts."""

    file: str
    text: str
    lines: list[str]
    starts: list[int]
    marks: list[tuple[int, str]]

    def error(self, at: int, reason: str) -> PageError:
        """The failure to raise for the line with index `at`."""
        return PageError(PageFault(file=self.file, line=at + 1, reason=reason))

    def marked(self, names: Container[str], start: int, stop: int) -> list[int]:
        """The lines between two others, both excluded, that look like one of these."""
        return [at for at, name in self.marks if start < at < stop and name in names]

    def span(self, part: range) -> Span:
        """The text of some lines, without the end of the last one."""
        return self.starts[part[0]], self.starts[part[-1]] + len(self.lines[part[-1]])


@dataclass(frozen=True, slots=True)
class Stated:
    """A line that states facts: its index, and the groups of its pattern."""

    at: int
    match: re.Match[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The parts of a page. Ranges are indexes of lines, blank ends dropped; empty for an absent part."""

    head: Stated
    """Repository, exception."""
    title: range
    retired: Stated | None
    """The commit since which the error is no longer raised: a line of its own below the title."""
    message: range
    means: range
    thrown: Stated
    """Path, line."""
    excerpt: range
    view: Stated | None
    """Pin. None where the page shows neither an excerpt nor this line."""
    solutions: range
    when: range
    related: range
    foot: Stated
    """Repository, pin, date, id."""


def split(text: str, file: str) -> Lines:
    """Text -> lines. A byte order mark belongs to the text and to no line."""
    # Unlike str.splitlines this keeps a form feed or U+2028 of the source inside its line.
    if "\r" in text:
        ended = list(io.StringIO(text, newline=""))
        starts = [0, *accumulate(map(len, ended))]
        lines = [line.rstrip("\r\n") for line in ended]
    else:
        lines = text.removesuffix("\n").split("\n") if text else []
        starts = list(map(add, accumulate(map(len, lines), initial=0), count()))
        starts[-1] = len(text)
    if text.startswith("\ufeff"):
        lines[0], starts[0] = lines[0][1:], 1
    marks: list[tuple[int, str]] = []
    for at, line in [(at, line) for at, line in enumerate(lines) if line[:4] in _OPENINGS]:
        if (heading := line.rstrip()) in HEADINGS:
            marks.append((at, heading))
        else:
            marks += [(at, start) for start in _STARTS if line.startswith(start)]
    return Lines(file, text, lines, starts, marks)


def is_head(line: str) -> bool:
    """Whether this can be the first line of a page."""
    return _HEAD.fullmatch(line) is not None


def is_foot(line: str) -> bool:
    """Whether this can be the last line of a page."""
    return _FOOT.fullmatch(line) is not None


def shown(text: str) -> str:
    """A piece of a page inside a one-line reason: quoted, unprintable signs escaped, shortened."""
    return repr(text) if len(text) <= 60 else repr(text[:59]) + "…"


def locate(page: Lines) -> Layout:
    """The parts of a page. Raises PageError where the head, `Thrown at`, the pin or the footer is missing.

    The excerpt is source code and may hold any line, also one that looks like a part of the page. So it ends
    at the last line of its section that can end it, and no heading is looked for inside it.
    """
    head, foot = _head(page), _foot(page)
    thrown, source = _thrown(page, head.at, foot.at)
    view = _view(page, thrown.at, foot)
    end = thrown.at if view is None else view.at

    means = next(iter(page.marked((_MEANS,), head.at, source)), source)
    error = next(iter(page.marked((_ERROR,), head.at, means)), means)
    retired = _retired(page, head.at, error)
    title = _trimmed(page, head.at + 1, error if retired is None else retired.at)
    # The lists are at both ends of what follows the excerpt. Between them are examples, which can hold any
    # line as well: so it is the outermost heading of a name that is the real one.
    return Layout(
        head=head,
        title=title[: next((n for n, at in enumerate(title) if not page.lines[at].strip()), len(title))],
        retired=retired,
        message=_trimmed(page, error + 1, means),
        means=_trimmed(page, means + 1, source),
        thrown=thrown,
        excerpt=_trimmed(page, thrown.at + 1, end),
        view=view,
        solutions=_section(page, page.marked((_SOLUTIONS,), end, foot.at)[:1], foot.at),
        when=_section(page, page.marked((_WHEN,), end, foot.at)[-1:], foot.at),
        related=_section(page, page.marked((_RELATED,), end, foot.at)[-1:], foot.at),
        foot=foot,
    )


def _retired(page: Lines, head: int, error: int) -> Stated | None:
    """The line that says since when the error is no longer raised. Only there: a message can hold such words, too."""
    starts = page.marked((_RETIRED_START,), head, error)
    return next((Stated(at, match) for at in starts if (match := _RETIRED.fullmatch(page.lines[at]))), None)


def _head(page: Lines) -> Stated:
    at = next((at for at, line in enumerate(page.lines) if line.strip()), None)
    if at is None:
        raise page.error(0, f"the page is empty: expected `{HEAD}`")
    if match := _HEAD.fullmatch(page.lines[at]):
        return Stated(at, match)
    raise page.error(at, f"expected `{HEAD}` as the first line, found {shown(page.lines[at])}")


def _foot(page: Lines) -> Stated:
    starts = page.marked((_FOOT_START,), -1, len(page.lines))
    found = [Stated(at, match) for at in starts if (match := _FOOT.fullmatch(page.lines[at]))]
    if len(found) > 1:
        first, second = found[0].at, found[1].at
        raise page.error(second, f"a second footer, the first is line {first + 1}: expected one page in a file")
    if found:
        return found[0]
    if starts:
        raise page.error(starts[-1], f"expected the footer `{FOOT}`, found {shown(page.lines[starts[-1]])}")
    last = max(at for at, line in enumerate(page.lines) if line.strip())
    raise page.error(last, f"expected the footer `{FOOT}` as the last line, found {shown(page.lines[last])}")


def _thrown(page: Lines, head: int, foot: int) -> tuple[Stated, int]:
    """The line `Thrown at`, and where the section that holds it begins."""
    starts = page.marked((_THROWN_START,), head, foot)
    sources = page.marked((_SOURCE,), head, foot)
    if not starts:
        at = _after(page, sources[0]) if sources else foot
        raise page.error(at, f"expected `{THROWN}` in the section `Source`, found {shown(page.lines[at])}")
    # A message may hold such a line too; what follows the heading is the page's own.
    follows = {_after(page, source): source for source in sources}
    at = next((at for at in starts if at in follows), starts[0])
    if match := _THROWN.fullmatch(page.lines[at]):
        return Stated(at, match), follows.get(at, at)
    raise page.error(at, f"expected `{THROWN}`, found {shown(page.lines[at])}")


def _view(page: Lines, thrown: int, foot: Stated) -> Stated | None:
    """The line that ends the excerpt; None where there is neither this line nor an excerpt."""
    starts = page.marked((_VIEW_START,), thrown, foot.at)
    views = [Stated(at, match) for at in starts if (match := _VIEW.fullmatch(page.lines[at]))]
    if not views:
        end = next(iter(page.marked(_LATER, thrown, foot.at)), foot.at)
        at = next((at for at in starts if at < end), end)
        if at == end and not _trimmed(page, thrown + 1, end):
            return None
        raise page.error(at, f"expected `{VIEW}`, 7 to 40 hex digits, after the excerpt, found {shown(page.lines[at])}")
    # One that disagrees with the footer is the excerpt's own line, unless there is no other.
    views = [view for view in views if agree(view.match[1], foot.match[2])] or views
    # A heading follows the real one. Of the headings that follow any of them, the first in the pages' order
    # ends this section: the others are inside examples.
    ranks = [_rank(page, _after(page, view.at), foot.at) for view in views]
    if min(ranks) <= len(_LATER):
        return [view for view, rank in zip(views, ranks, strict=True) if rank == min(ranks)][-1]
    end = next(iter(page.marked(_LATER, views[0].at, foot.at)), foot.at)
    return [view for view in views if view.at < end][-1]


def _rank(page: Lines, at: int, foot: int) -> int:
    """The place of a line in the order of the headings; the footer's is after them, any other line's last."""
    heading = page.lines[at].rstrip()
    return _LATER.index(heading) if heading in _LATER else len(_LATER) + (at != foot)


def agree(pin: str, other: str) -> bool:
    """Whether two commits, each perhaps abbreviated, can be the same."""
    return pin.startswith(other) or other.startswith(pin)


def _section(page: Lines, headings: list[int], foot: int) -> range:
    """The body under a heading, if there is one: up to the next heading or the footer."""
    if not headings:
        return range(0)
    return _trimmed(page, headings[0] + 1, next(iter(page.marked(_LATER, headings[0], foot)), foot))


def _after(page: Lines, at: int) -> int:
    """The next line that says something. The footer is never before it, so there always is one."""
    return next(n for n in range(at + 1, len(page.lines)) if page.lines[n].strip() not in ("", NULL))


def _trimmed(page: Lines, start: int, stop: int) -> range:
    """The lines from start to stop without blank ones at both ends; empty where only a lone `null` is left.

    The pages show 18 source lines before the site and 18 after it, blank ones at both ends dropped (measured
    on the samples), so blank ends are never the source's.
    """
    while start < stop and not page.lines[start].strip():
        start += 1
    while start < stop and not page.lines[stop - 1].strip():
        stop -= 1
    if stop - start == 1 and page.lines[start].strip() == NULL:
        return range(0)
    return range(start, max(start, stop))
