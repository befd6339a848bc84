"""A site -> the draft of its page: the facts as the tracker reads them again, the rest to be written by a person.

A draft is only made where it reads back as what it was made from; a text that would not is a reason, not a page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tracker.catalogue.excerpt import AFTER, BEFORE, window
from tracker.catalogue.page import CUT, Page, PageError, parse
from tracker.model import Site, leaf

TO_WRITE = "(draft: to be written)"


def identity(repository: str, site: Site) -> str:
    """The id of the page of a site: 16 hex digits, the same however often and wherever it is drafted."""
    said = f"draft:1\0{repository.lower()}\0{site.fingerprint}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def file_name(site: Site) -> str:
    """Where a draft goes: by its place, so that the pages of a file stand together."""
    words = "".join(char if char.isalnum() and char.isascii() else "-" for char in (site.message or "").lower())
    short = "-".join(word for word in words.split("-") if word)[:40].strip("-")
    place = site.path.removesuffix(".py").replace("/", ".")
    return f"{place}.{short or 'error'}.{site.fingerprint[2:8]}.txt"


def draft(site: Site, source: Sequence[str], repository: str, pin: str, day: str, like: Sequence[str]) -> Page | str:
    """The page of a site, or why there is none. `source` holds the lines of its file, `day` is that of the pin (ISO
    8601), `like` names errors that say nearly the same.
    """
    if site.message is None:
        return "no text"
    message = " ".join(site.message.split())
    start, stop = window(source, site.line, BEFORE, AFTER)
    title = message[:CUT].strip()
    text = "\n".join(
        [
            f"{repository} · error · {leaf(site.exception)}",
            "",
            title,
            "",
            "Error message",
            "",
            message,
            "",
            "What it means",
            "",
            TO_WRITE,
            "",
            "Source",
            "",
            f"Thrown at {site.path}:{site.line}",
            "",
            *source[start - 1 : stop],
            "",
            f"View on GitHub (pinned to {pin[:10]})",
            "",
            "Solutions",
            "",
            f"1. {TO_WRITE}",
            "",
            "When it happens",
            "",
            f"Trigger: {TO_WRITE}",
            "",
            "Related errors",
            "",
            *(f"• {' '.join(other.split())[:CUT].strip()}" for other in like),
            "",
            f"AI-assisted analysis of {repository}@{pin[:10]} ({day[:10]}). Data as JSON: "
            f"/api/errors/{identity(repository, site)}. Report an issue: GitHub.",
            "",
        ]
    )
    try:
        page = parse(text.encode("utf-8"), file_name(site))
    except (PageError, UnicodeEncodeError):
        return "a text that cannot stand in a page"
    entry = page.entry
    if (entry.path, entry.line, entry.excerpt) != (site.path, site.line, "\n".join(source[start - 1 : stop])):
        return "source that cannot stand in a page"
    return page
