"""What a person reads, word for word."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tracker.model import Kind, Summary
from tracker.report.screen import Screen
from tracker.report.summary import summary, verdict
from tracker.report.text import render

GOLDEN = Path(__file__).parent.parent / "golden" / "report.txt"


def test_the_whole_report(report):
    text = render(report, Screen(width=100))
    if "REWRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_colours_mark_what_signs_mark_without(report):
    text = render(report, Screen(width=100, colour=True))
    assert "\x1b[" in text
    assert "[-" not in re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert re.search(r"\x1b\[[0-9;]*4[0-9;]*mtuple", text)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_the_screen(report, width):
    assert max(map(len, render(report, Screen(width=width)).split("\n"))) <= width


@pytest.mark.parametrize(
    ("checked", "unchanged", "differing", "said"),
    [
        (4, 4, 0, "All 4 pages are right at v2."),
        (1, 1, 0, "The one page is right at v2."),
        (4, 2, 0, "All 4 pages still say what the source says; 2 moved."),
        (4, 2, 1, "1 of 4 pages differs from the source in more than the line."),
        (4, 2, 2, "2 of 4 pages differ from the source in more than the line."),
        (0, 0, 0, "No page could be checked."),
    ],
)
def test_the_verdict(report, checked, unchanged, differing, said):
    counts = Summary(checked=checked, unchanged=unchanged, differing=differing, kinds={})
    assert verdict(replace(report, summary=counts)) == said


def test_many_quiet_drifts_are_a_count_unless_nothing_else_is_there(report):
    moved = replace(report.drifts[0], kinds=frozenset({Kind.MOVED}))
    many = replace(report, drifts=(report.drifts[0], *[moved] * 30))
    assert "Moved, and nothing else: 30 (list them with --kind moved)" in render(many, Screen())
    assert render(replace(many, drifts=many.drifts[1:]), Screen()).count("pkg/a.py:10 -> 12") == 30


def test_the_summary_counts_every_kind(report):
    assert summary(report) == (
        "7 checked, 1 unchanged, 2 moved, 1 excerpt-changed, 1 relocated, 1 placeholder-changed, 1 new, "
        "1 guard-changed, 1 retyped, 1 reworded, 1 removed, 1 unlocated"
    )
