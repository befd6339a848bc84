"""A new page in the format of the catalogue, from what it is to say. Pure, and it knows no other page.

What it composes is read again by `page.parse` before it is believed: a message or an excerpt can hold any line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tracker.catalogue.page import Page, PageError, parse
from tracker.catalogue.restate import CUT
from tracker.model import PageFault

PIN = 10
"""Digits of a commit that pages show, measured on the samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a page says. Lists are without numbers and bullets; empty is what is not known."""

    id: str
    repository: str
    exception: str
    message: str
    path: str
    line: int
    pin: str
    date: str
    title: str = ""
    """Without one, it is the message."""
    excerpt: str = ""
    meaning: str = ""
    solutions: Sequence[str] = ()
    example: str = ""
    patterns: Sequence[tuple[str, str]] = ()
    """Heading and text of the sections below `Defensive patterns`; the first may have no heading."""
    trigger: str = ""
    situations: str = ""
    related: Sequence[str] = ()


def compose(content: Content, file: str) -> Page:
    """The page that says this, `file` being its name. PageError: no page can say it and be read back so."""
    pin = content.pin[:PIN]
    title = _line(content.title or content.message)[:CUT].rstrip()
    when = [
        f"{label}: {text}"
        for label, text in (("Trigger", content.trigger), ("Common situations", content.situations))
        if text
    ]
    patterns = [part for heading, text in content.patterns for part in (heading, text) if part]
    parts = [
        f"{content.repository} · error · {content.exception}",
        title,
        "Error message",
        content.message.strip("\n"),
        "What it means",
        content.meaning,
        "Source",
        f"Thrown at {content.path}:{content.line}",
        *([content.excerpt, f"View on GitHub (pinned to {pin})"] if content.excerpt else []),
        "Solutions",
        "\n".join(f"{n}. {_line(text)}" for n, text in enumerate(content.solutions, 1)),
        "Example fix",
        content.example,
        *(["Defensive patterns", *patterns] if patterns else []),
        "When it happens",
        *when,
        "Related errors",
        "\n".join(f"• {_line(text)}" for text in content.related),
        f"AI-assisted analysis of {content.repository}@{pin} ({content.date}). "
        f"Data as JSON: /api/errors/{content.id}. Report an issue: GitHub.",
    ]
    text = "\n\n".join(part for part in parts if part)
    try:
        page = parse(text.encode("utf-8"), file)
    except UnicodeEncodeError as error:
        raise _unsaid(file, f"a character that UTF-8 does not have ({error.object[error.start]!r})") from None
    entry = page.entry
    if (entry.id, entry.exception, entry.path, entry.line) != (
        content.id,
        content.exception,
        content.path,
        content.line,
    ) or not content.pin.startswith(entry.pin):
        raise _unsaid(file, "its place, its exception or its pin")
    if entry.retired:
        raise _unsaid(file, "its title: it would be read as the line of an error that is no longer raised")
    if entry.excerpt != content.excerpt:
        raise _unsaid(file, "its excerpt: a line of it would be read as a part of the page")
    if _line(page.said("message")) != _line(content.message):
        raise _unsaid(file, "its message: a line of it would be read as a part of the page")
    return page


def titles(texts: Iterable[str]) -> list[str]:
    """Messages as the titles that other pages name them by: on one line, cut, each once."""
    return list(dict.fromkeys(_line(text)[:CUT].rstrip() for text in texts))


def _line(text: str) -> str:
    return " ".join(text.split())


def _unsaid(file: str, what: str) -> PageError:
    return PageError(PageFault(file=file, line=1, reason=f"no page can state {what}"))
