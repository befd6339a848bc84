"""The changelog word for word, and that nothing upstream wrote becomes markup, a mention or a reference."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pytest
from hypothesis import given, settings

from tests.report.hostile import TEXTS, reports
from tracker.harmless import code, fence, inline
from tracker.model import Kind
from tracker.report.markdown import render
from tracker.report.screen import Screen

GOLDEN = Path(__file__).parent.parent / "golden" / "report.md"
OURS = {
    "h1",
    "h2",
    "h3",
    "p",
    "em",
    "strong",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "li",
    "a",
    "pre",
    "code",
}
# What GitHub makes links of in running text, as its documentation of autolinked references and mentions lists them.
LIVE = re.compile(r"(?<![\w])@[\w-]|#\d|\bGH-\d|(?<![\w\u2060])[0-9a-f]{7,40}\b|https?://|\bwww\.")


class Seen(HTMLParser):
    """The tags of a rendered text, and what of it is running text."""

    def __init__(self, rendered: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.running: list[str] = []
        self._inside: list[str] = []
        self.feed(rendered)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._inside.append(tag)
        self.addresses += [value or "" for name, value in attributes if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"code", "pre", "a"} & set(self._inside):
            self.running.append(data)


def rendered(text: str) -> Seen:
    """As GitHub renders it: raw HTML is let through, so that any would be seen."""
    options = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
    return Seen(cmarkgfm.github_flavored_markdown_to_html(text, options))


def test_the_whole_report(report):
    text = render(report, Screen())
    if "REWRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_what_is_not_made_harmless_is_seen():
    seen = rendered("\n\n".join(TEXTS[:-2]).encode("utf-8", "replace").decode())
    assert {"img", "b"} <= seen.tags
    assert LIVE.search("".join(seen.running))


@given(reports())
@settings(max_examples=60, deadline=None)
def test_nothing_upstream_wrote_is_live(report):
    seen = rendered(render(report, Screen()))
    assert seen.tags <= OURS
    assert all(
        address.startswith(("https://github.com/a/b/", "https://redirect.github.com/a/b/"))
        for address in seen.addresses
    )
    running = "".join(seen.running)
    for revision in (report.base, report.target):
        running = running.replace(revision.commit[:10], "") if revision else running
    assert not LIVE.search(running)


@pytest.mark.parametrize("text", [text for text in TEXTS if text.strip() and "\n" not in text])
def test_code_shows_the_text_and_nothing_else(text):
    class Text(HTMLParser):
        found = ""

        def handle_data(self, data: str) -> None:
            self.found += data

    for markdown in (code(text), fence(text), inline(text)):
        parser = Text()
        parser.feed(cmarkgfm.github_flavored_markdown_to_html(markdown))
        shown = parser.found.strip().replace("\u2060", "")
        assert (
            shown
            == "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text).strip()
        )


def test_many_that_only_moved_are_a_count_unless_nothing_else_is_there(report):
    moved = replace(report.drifts[0], kinds=frozenset({Kind.MOVED}), cause=None)
    many = replace(report, drifts=(report.drifts[0], *[moved] * 30))
    assert "Moved, and nothing else (30)\n\nThey are right but for the line" in render(many, Screen())
    assert render(replace(many, drifts=many.drifts[1:]), Screen()).count("* [line 10]") == 30


def test_a_release_is_linked_at_the_commit_it_was_made_from(report):
    text = render(report, Screen())
    assert f"/blob/{'9' * 40}/pkg/a.py#L10" in text
    assert "1" * 40 not in text
    unknown = [replace(report.milestones[0], upstream=None)]
    assert "`v1` (`1111111111`, 2026-08-17)" in render(replace(report, milestones=tuple(unknown)), Screen())


def test_without_an_address_nothing_is_linked(report):
    assert not rendered(render(replace(report, web=""), Screen())).addresses
