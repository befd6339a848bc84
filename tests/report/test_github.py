"""Annotations and the summary of a step, as a workflow of GitHub Actions gets them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.report.hostile import reports
from tracker.model import Kind
from tracker.report import markdown
from tracker.report.github import SHOWN, command, render, summary
from tracker.report.screen import Screen

GOLDEN = Path(__file__).parent.parent / "golden" / "report.github.txt"
COMMAND = re.compile(r"::(error|warning|notice) ([^:\r\n]*)::([^\r\n]*)")


def test_the_whole_report(report):
    text = render(report, Screen())
    if "REWRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("plain", "plain", "::error title=plain::plain"),
        ("100%", "100%", "::error title=100%25::100%25"),
        ("a\nb", "a\nb", "::error title=a%0Ab::a%0Ab"),
        ("a\r\nb", "a\r\nb", "::error title=a%0D%0Ab::a%0D%0Ab"),
        ("a:b", "a:b", "::error title=a%3Ab::a:b"),
        ("a,b", "a,b", "::error title=a%2Cb::a,b"),
        ("%0A", "%3A", "::error title=%253A::%250A"),
        ("::error::x", "::error::x", "::error title=%3A%3Aerror%3A%3Ax::::error::x"),
        ("a;b=c", "a;b=c", "::error title=a;b=c::a;b=c"),
    ],
)
def test_what_is_escaped(text, title, expected):
    assert command("error", text, title=title) == expected


def unescaped(text: str, others: str = "") -> str:
    for char in "\r\n" + others + "%":
        text = text.replace(f"%{ord(char):02X}", char)
    return text


@given(reports())
@settings(max_examples=60, deadline=None)
def test_every_line_is_one_command_of_ours(report):
    *lines, outcome = render(report, Screen()).split("\n")[:-1]
    assert len([line for line in lines if line.startswith("::")]) == len(report.drifts) + len(report.unlocated)
    assert not outcome.startswith("::")
    for line in lines:
        match = COMMAND.fullmatch(line)
        assert match, line
        names = [part.partition("=")[0] for part in match[2].split(",")]
        assert names in (["title"], ["file", "line", "endLine", "title"])
        assert unescaped(match[3]).replace("\n", "").replace("\t", "").isprintable()


def test_the_worst_come_first_and_no_more_than_are_shown(report):
    one = report.drifts[0]
    moved = replace(one, kinds=frozenset({Kind.MOVED}))
    many = replace(report, drifts=(*[moved] * 5, *[one] * (SHOWN + 3)), unlocated=())
    *lines, more, outcome = render(many, Screen()).splitlines()
    assert [line.split()[0] for line in lines] == ["::error"] * SHOWN + ["::notice"] * 5
    assert more == "and 3 errors more: GitHub shows 10 of each, the summary of the step has the rest"
    assert outcome == "5 of 7 pages differ from the source in more than the line."


def test_nothing_drifted(report):
    none = replace(report.summary, checked=3, unchanged=3, differing=0)
    assert render(replace(report, drifts=(), unlocated=(), summary=none), Screen()) == "All 3 pages are right at v2.\n"


def test_the_summary_is_the_changelog(report):
    assert summary(report) == markdown.render(report, Screen())


@pytest.mark.parametrize("room", [500, 1000, 2000, 3000])
def test_a_summary_that_is_too_long_is_cut_between_drifts(report, room):
    text = summary(report, room)
    assert len(text.encode()) <= room
    assert text.endswith("`tracker diff --format markdown` has all of it.\n")
    kept = text.split("\n\n… and")[0]
    blocks = list(markdown.blocks(report))
    assert kept in ["\n\n".join(blocks[:n]) for n in range(len(blocks))]
