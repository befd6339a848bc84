"""A page of the catalogue: bytes -> the entry and the places of its facts, and back, byte for byte.

Reads no file, and knows nothing of the source but the excerpt that the page shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, TypedDict, Unpack

from tracker.catalogue.excerpt import first_line
from tracker.catalogue.layout import NULL, Lines, PageError, Span, Stated, agree, locate, shown, split
from tracker.catalogue.restate import CUT
from tracker.model import Entry, PageFault

__all__ = ["CUT", "Fact", "Facts", "Page", "PageError", "parse", "render", "retire", "with_facts"]

Fact = Literal["exception", "title", "message", "path", "line", "excerpt", "pin", "date", "id", "retired"]

_ID = re.compile(r"[0-9a-f]{16}")
_PIN = re.compile(r"[0-9a-f]{7,40}")
_LINE = re.compile(r"[1-9][0-9]{0,6}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_END = re.compile(r"\r\n|\r|\n")
_MARK = re.compile(r"\s*(?:[0-9]{1,3}[.)]|[-*•])\s+")


class Facts(TypedDict, total=False):
    """The facts that `with_facts` replaces."""

    exception: str
    title: str
    message: str
    path: str
    line: int
    excerpt: str
    pin: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page as it was read: everything it holds, what it claims, and where each claim stands."""

    entry: Entry
    text: str
    """The whole page, with its line ends and its byte order mark."""
    spans: Mapping[Fact, tuple[Span, ...]]
    """Fact -> the pieces of `text` that state it; a fact the page does not state is absent."""

    def line_of(self, fact: Fact) -> int:
        """The line where a fact first stands; 1 where the page does not state it."""
        before = self.text[: self.spans[fact][0][0]] if fact in self.spans else ""
        return _END.sub("\n", before).count("\n") + 1

    def said(self, fact: Fact) -> str:
        """The words in which the page first states a fact, lines joined by newlines; empty where it does not."""
        start, stop = self.spans[fact][0] if fact in self.spans else (0, 0)
        return _END.sub("\n", self.text[start:stop])

    def fault(self, fact: Fact, reason: str) -> PageError:
        """The failure to raise for what a fact of the page does not allow."""
        return PageError(PageFault(file=self.entry.file, line=self.line_of(fact), reason=reason))


def parse(data: bytes, file: str) -> Page:
    """The bytes of a page -> the page; `file` is its name for the entry and for messages.

    Raises PageError with the line and the reason where a fact that the tracker needs is missing or wrong: the
    first line, `Thrown at`, the pin, the id. Anything else may be missing, and is empty then.
    """
    lines = split(_decoded(data, file), file)
    parts = locate(lines)
    repository, exception = parts.head.match.groups()
    path, line = _place(lines, parts.thrown)
    pin, day, identity = _origin(lines, parts.foot, repository)
    pins = [_span(lines, parts.foot, 2)]
    if parts.view is not None:
        pins.insert(0, _span(lines, parts.view, 1))
        if not agree(parts.view.match[1], pin):
            reason = f"pinned to {parts.view.match[1]} here and to {pin} in line {parts.foot.at + 1}"
            raise lines.error(parts.view.at, f"{reason}: expected one commit")
        pin = max(parts.view.match[1], pin, key=len)

    title, message, excerpt, meaning = (
        "\n".join(lines.lines[part.start : part.stop])
        for part in (parts.title, parts.message, parts.excerpt, parts.means)
    )
    if not message or (len(title) > len(message) == CUT and title.startswith(message)):
        message = title
    spans: dict[Fact, tuple[Span, ...]] = {
        "exception": (_span(lines, parts.head, 2),),
        "path": (_span(lines, parts.thrown, 1),),
        "line": (_span(lines, parts.thrown, 2),),
        "pin": tuple(pins),
        "date": (_span(lines, parts.foot, 3),),
        "id": (_span(lines, parts.foot, 4),),
    }
    parted: tuple[tuple[Fact, range], ...] = (
        ("title", parts.title),
        ("message", parts.message),
        ("excerpt", parts.excerpt),
    )
    spans |= {fact: (lines.span(part),) for fact, part in parted if part}
    if parts.retired is not None:
        spans["retired"] = (_span(lines, parts.retired, 1),)
    entry = Entry(
        id=identity,
        file=file,
        repository=repository,
        exception=exception,
        title=title,
        message=message,
        message_cut=len(message) == CUT,
        path=path,
        line=line,
        excerpt=excerpt,
        excerpt_line=first_line(excerpt.split("\n"), line=line, exception=exception, message=message),
        pin=pin,
        date=day,
        solutions=_items(lines.lines[at] for at in parts.solutions),
        trigger=_trigger(lines.lines[at] for at in parts.when),
        related=_items(lines.lines[at] for at in parts.related),
        meaning=meaning,
        retired=parts.retired.match[1] if parts.retired is not None else "",
    )
    return Page(entry=entry, text=lines.text, spans=spans)


def render(page: Page) -> bytes:
    """The bytes the page was read from: `render(parse(data, file)) == data`, whatever the page holds."""
    return page.text.encode("utf-8")


def with_facts(page: Page, **facts: Unpack[Facts]) -> Page:
    """The page with exactly these facts replaced, wherever it states them, and not a byte more.

    A fact that stays keeps its bytes, and new lines take the page's own line end. Raises PageError where the page
    does not state the fact, or would not be read back with it.
    """
    wanted = {fact: value for fact, value in facts.items() if value != getattr(page.entry, fact)}
    end = _line_end(page)
    pieces = [(span, str(wanted[fact])) for fact in page.spans if fact in wanted for span in page.spans[fact]]
    text = page.text
    for (start, stop), value in sorted(pieces, reverse=True):
        text = text[:start] + value.replace("\n", end) + text[stop:]
    changed = parse(text.encode("utf-8", "surrogatepass"), page.entry.file)
    for name, claim in wanted.items():
        # Where a message is cut and its title is not, the entry has the title for its message.
        as_stated = changed.said("message") if name == "message" and claim else None
        if claim not in (getattr(changed.entry, name), as_stated):
            reason = f"the page cannot state the {name} {shown(str(claim))}: it would be read as something else"
            raise PageError(PageFault(file=page.entry.file, line=1, reason=reason))
    return changed


def retire(page: Page, line: str) -> Page:
    """The page with this line below its title, which says since which commit the error is no longer raised.

    Raises PageError where the line would not be read back so, or the page has one already.
    """
    end = _line_end(page)
    above = page.spans["title" if "title" in page.spans else "exception"][0][1]
    at = next(_END.finditer(page.text, above)).start()
    text = page.text[:at] + end + end + line + page.text[at:]
    changed = parse(text.encode("utf-8", "surrogatepass"), page.entry.file)
    if not changed.entry.retired or replace(changed.entry, retired="") != page.entry:
        reason = f"the page cannot say {shown(line)} below its title: it would be read as something else"
        raise page.fault("title", reason)
    return changed


def _line_end(page: Page) -> str:
    return str(_END.findall(page.text, page.spans["line"][0][1])[0])


def _decoded(data: bytes, file: str) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at, reason = error.start, "not UTF-8"
    else:
        if (at := data.find(b"\0")) < 0:
            return text
        reason = "not text"
    line = max(1, len(data[: at + 1].splitlines()))
    reason = f"{reason}: byte 0x{data[at]:02x} at offset {at}; expected a page as UTF-8 text"
    raise PageError(PageFault(file=file, line=line, reason=reason))


def _place(lines: Lines, thrown: Stated) -> tuple[str, int]:
    path, number = thrown.match.groups()
    if path.startswith("/") or ".." in path.split("/"):
        raise lines.error(thrown.at, f"expected a path from the repository's root, found {shown(path)}")
    if not _LINE.fullmatch(number):
        raise lines.error(thrown.at, f"expected a line number from 1 to 9999999, found {shown(number)}")
    return path, int(number)


def _origin(lines: Lines, foot: Stated, repository: str) -> tuple[str, str, str]:
    """Pin, date and id of the footer."""
    named, pin, day, identity = foot.match.groups()
    if named != repository:
        raise lines.error(foot.at, f"the page is about {repository} and its footer about {named}: expected one")
    if not _PIN.fullmatch(pin):
        raise lines.error(foot.at, f"expected a commit of 7 to 40 hex digits (0-9, a-f), found {shown(pin)}")
    if not _ID.fullmatch(identity):
        raise lines.error(foot.at, f"expected an id of 16 hex digits (0-9, a-f), found {shown(identity)}")
    try:
        if _DATE.fullmatch(day):
            return pin, date.fromisoformat(day).isoformat(), identity
    except ValueError:
        pass
    raise lines.error(foot.at, f"expected a date YYYY-MM-DD, found {shown(day)}")


def _span(lines: Lines, stated: Stated, group: int) -> Span:
    start, stop = stated.match.span(group)
    return lines.starts[stated.at] + start, lines.starts[stated.at] + stop


def _items(lines: Iterable[str]) -> tuple[str, ...]:
    """The items of a list, without numbers and bullets.

    A line that carries on a marked item stays with it. A blank line ends the list unless a marked item
    follows: behind it stands a section that the tracker does not know.
    """
    items: list[str] = []
    marked = gap = False
    for line in lines:
        text = line.strip()
        if text in ("", NULL):
            gap = gap or not text
            continue
        mark = _MARK.match(line)
        if items and gap and not mark:
            break
        gap = False
        if mark or not marked:
            items.append(line[mark.end() :].strip() if mark else text)
            marked = mark is not None
        else:
            items[-1] += "\n" + text
    return tuple(items)


def _trigger(lines: Iterable[str]) -> str:
    """The paragraph after `Trigger:`; the section's first paragraph where it has no such label."""
    text = list(lines)
    start = next((n for n, line in enumerate(text) if line.startswith("Trigger:")), None)
    if start is not None:
        text = [text[start].removeprefix("Trigger:"), *text[start + 1 :]]
    paragraph: list[str] = []
    for line in text:
        if line.startswith("Common situations:") or (paragraph and not line.strip()):
            break
        if line.strip() not in ("", NULL):
            paragraph.append(line.strip())
    return "\n".join(paragraph)
