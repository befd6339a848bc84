"""An error that can say several things: what became of each is told text by text, in every format."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.conftest import drift, site
from tracker.events import Event, Life, Told
from tracker.filing.words import _differences
from tracker.model import Cause, Kind
from tracker.report import formats, history_text, repin
from tracker.report.facts import text_changes
from tracker.report.screen import Screen
from tracker.report.words import compared, paired

KEPT = "the size of x is not known"


def saying(*messages):
    return site(message=messages[0] if messages else None, alternatives=messages[1:])


@pytest.mark.parametrize(
    ("before", "after", "changes", "rest"),
    [
        # Nothing became of them.
        ([], [], [], ""),
        ([KEPT], [KEPT], [], "1 other text, as before"),
        (["a b", "c d"], ["c d", "a\n  b"], [], "2 other texts, as before"),
        # One text for one text, however unlike.
        (["a b c"], ["a b x"], [("a b c", "a b x")], ""),
        (["a b c"], ["quite another"], [("a b c", "quite another")], ""),
        ([KEPT, "a b c"], ["nothing like", KEPT], [("a b c", "nothing like")], "1 other text, as before"),
        # Of several, those that are alike.
        (["a b c", "d e f"], ["d e x", "a b y"], [("a b c", "a b y"), ("d e f", "d e x")], ""),
        (["a b c", "k l m"], ["a b x", "p q r"], [("a b c", "a b x"), ("k l m", ""), ("", "p q r")], ""),
        # Some came, some went.
        ([KEPT], [KEPT, "a b c"], [("", "a b c")], "1 other text, as before"),
        ([KEPT, "a b c"], [KEPT], [("a b c", "")], "1 other text, as before"),
        ([], ["a b c"], [("(no text)", "a b c")], ""),
        (["a b c"], [], [("a b c", "(no text)")], ""),
    ],
)
def test_each_text_is_held_against_its_own(before, after, changes, rest):
    assert text_changes(saying(*before), saying(*after)) == (changes, rest)


SOME = st.lists(st.text("ab cd", min_size=1, max_size=9), max_size=5, unique=True)


@given(SOME, SOME)
def test_no_text_is_lost_and_none_is_told_twice(before, after):
    pairs = paired(before, after)
    assert [ours for ours, _ in pairs if ours] == before
    assert sorted(theirs for _, theirs in pairs if theirs) == sorted(after)


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ([], []),
        ([("a b", "a b")], ["- a b", "+ a b"]),
        ([("a b", "a c")], ["- a [-b-]", "+ a {+c+}"]),
        ([("a b", ""), ("", "a c")], ["- a b", "+ a c"]),
        ([("if a\nif b", "if a")], ["- if a[-", "- if b-]", "+ if a"]),
    ],
)
def test_a_side_without_a_text_has_no_line_and_no_marks(changes, lines):
    assert compared(changes) == lines


BEFORE = saying(KEPT, "x must be a tuple, got {x}", "y is gone")
AFTER = replace(saying("x must be a list, got {x}", KEPT, "and z is new to us all"), line=12)
SIGNS = [
    "- x must be a [-tuple-], got {x}",
    "+ x must be a {+list+}, got {x}",
    "- y is gone",
    "+ and z is new to us all",
]
REST = "1 other text, as before"


@pytest.fixture
def changed(report):
    return replace(report, drifts=(drift(Kind.REWORDED, before=BEFORE, after=AFTER),), unlocated=())


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_in_a_report(changed, form):
    told = formats.render(form, changed, Screen()).replace("%0A", "\n")
    at = [told.index(sign) for sign in SIGNS]
    assert at == sorted(at)
    assert (REST in told) is (form != "github")
    assert told.lower().count("message") == 1


def test_in_a_html_report(changed):
    told = formats.render("html", changed, Screen())
    assert told.count('aria-label="before:"') == told.count('aria-label="after:"') == 2
    assert REST in told
    assert "y is gone" in told.partition('class="line minus"')[2]


def test_in_sarif(changed):
    told = formats.render("sarif", changed, Screen())
    assert "- y is gone\\n" in told
    assert "+ \\n" not in told
    assert "- \\n" not in told


def test_on_an_issue():
    (body,) = _differences(BEFORE, AFTER)
    assert "\n".join([*SIGNS, f"  {REST}"]) in body


def test_before_a_page_is_changed():
    told = list(repin._differences(drift(Kind.REWORDED, before=BEFORE, after=AFTER)))
    assert [text for _, text in told] == [*SIGNS, REST, "pkg/a.py:12"]


def test_in_a_life():
    cause = Cause(commit="c" * 40, author="Ada", date="2026-09-03", subject="Say list", pull_request=None)
    event = Event(cause=cause, release="1.0", kinds=(Kind.REWORDED,), site=AFTER, before=BEFORE)
    life = Life(entry=None, site=AFTER, alive=True, first="0.9", last=None, events=(event,))
    told = history_text.lives(Told(query="x", lives=(life,)), Screen())
    assert [line.strip().removeprefix("says").strip() for line in told.split("\n")][4:9] == [*SIGNS, REST]
