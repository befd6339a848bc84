"""The page as text: word for word on one report, and harmless on any."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given, settings

from tests.conftest import ROOT
from tests.report.hostile import TEXTS, reports
from tracker.model import Kind
from tracker.report.html import OPEN, render
from tracker.report.screen import Screen

GOLDEN = Path(__file__).parent.parent / "golden" / "report.html"
VOID = {"meta", "input", "rect", "line", "br"}
LOADING = {"src", "srcset", "action", "formaction", "poster", "data", "background", "ping"}


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.code: dict[str, str] = {"style": "", "script": ""}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.code:
            self.code[self.open[-1]] += data
        else:
            self.text += data


def test_the_whole_report(report):
    text = render(report, Screen())
    text = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", text, flags=re.DOTALL)
    text = re.sub(r"sha256-[\w+/=]+", "sha256-", text)
    if "REWRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_only_our_own_script_and_style_may_run_and_nothing_may_be_loaded(report):
    page = Page(render(report, Screen()))
    policy = next(value for name, value in page.attributes if name == "content" and "default-src" in (value or ""))
    hashes = {
        name: base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for name, code in page.code.items()
    }
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes['style']}'; script-src 'sha256-{hashes['script']}'; "
        "base-uri 'none'; form-action 'none'"
    )


@given(reports())
@settings(max_examples=60, deadline=None)
def test_nothing_upstream_wrote_is_markup(report):
    text = render(report, Screen())
    text.encode()
    page = Page(text)
    assert page.open == []
    assert (page.tags.count("script"), page.tags.count("style")) == (1, 1)
    assert not {"img", "iframe", "object", "embed", "link", "base", "b-"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on") or name in LOADING or name == "style"}
    addresses = [value or "" for name, value in page.attributes if name == "href"]
    assert all(address.startswith("https://github.com/a/b/") or address == "#errors" for address in addresses)
    shown = page.text + "".join(value or "" for _, value in page.attributes)
    assert all(char.isprintable() or char in "\t\n" for char in shown)


@pytest.mark.parametrize("text", [text for text in TEXTS if text.strip() and text.isprintable()])
def test_a_hostile_message_is_shown_as_it_is(report, text):
    before = replace(report.drifts[0].before, message=text)
    after = replace(report.drifts[0].after, message=text + " indeed")
    page = Page(render(replace(report, drifts=(replace(report.drifts[0], before=before, after=after),)), Screen()))
    assert " ".join(text.split()) in page.text


def test_what_does_not_show_is_shown(report):
    before = replace(report.drifts[0].before, message="a\u202eb\x00c\ud83d", guard=())
    after = replace(report.drifts[0].after, message="d")
    text = render(replace(report, drifts=(replace(report.drifts[0], before=before, after=after),)), Screen())
    assert r"a\u202eb\x00c\ud83d" in Page(text).text


def test_many_that_only_moved_are_folded_away(report):
    moved = replace(report.drifts[0], kinds=frozenset({Kind.MOVED}))
    few, many = (render(replace(report, drifts=(moved,) * n), Screen()) for n in (OPEN, OPEN + 1))
    assert "List them" not in few
    assert many.count("List them") == 1
    assert many.count("data-item") - 1 == few.count("data-item")


def test_nothing_drifted(report):
    text = render(replace(report, drifts=()), Screen())
    assert "Nothing differs." in text
    assert "<svg" not in text


@pytest.mark.index
def test_the_wheel_carries_what_the_page_is_made_of(tmp_path):
    import subprocess
    import sys

    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as names:
        carried = set(names.namelist())
    assert {f"tracker/report/templates/{name}" for name in ("report.html.jinja", "report.css", "report.js")} <= carried
    assert not [name for name in carried if name.startswith("tests")]
