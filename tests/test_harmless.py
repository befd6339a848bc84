"""What others wrote shows as they wrote it, and does nothing: rendered by a real Markdown renderer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.harmless import cut_body, cut_title, fence, inline, plain

TEXTS = st.text(alphabet=st.sampled_from(list("ab \n`~@#1-<>&*_[]()|\\\u202e\x00é😀")), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("jax/_src/core.py", "jax/\\_src/core.py"),
        ("a b", "a b"),
        ("see #12", "see #\u206012"),
        ("@team", "@\u2060team"),
        ("GH-1", "GH-\u20601"),
        ("owner/repo#3", "owner/repo#\u20603"),
        ("<!-- x -->", "&lt;!-- x --&gt;"),
        ("a & b", "a &amp; b"),
        ("https://x.org", "https\u2060://\u2060x.org"),
        ("1 @ 2", "1 @ 2"),
        ("#hash", "#hash"),
        ("a\nb\u202e", "a b\\\\u202e"),
    ],
)
def test_running_text_only_shows(text: str, shown: str) -> None:
    assert inline(text) == shown


@given(TEXTS)
def test_no_fence_can_be_ended_from_inside(text: str) -> None:
    first, *lines, last = fence(text, "diff").split("\n")
    assert first == f"{last}diff"
    assert not any(re.match(rf" {{0,3}}{last}`*\s*$", line) for line in lines)


@given(TEXTS)
def test_nobody_is_called(text: str) -> None:
    for shown in (inline(text), plain(text)):
        assert "\n" not in shown
        assert not re.search(r"@[\w-]|#\d", shown)


@given(TEXTS, st.integers(min_value=120, max_value=400))
def test_a_body_is_cut_in_its_evidence_alone(text: str, most: int) -> None:
    evidence = "\n\n".join([fence(text * 5), "more", fence(text * 9)])
    body = cut_body("before", evidence, "tracker-key: v1-0", most)
    assert len(body) <= most
    assert body.startswith("before")
    assert body.endswith("tracker-key: v1-0")
    ticks = ""
    for line in body.split("\n"):
        opening = re.match(r"`{3,}", line)
        if opening and not ticks:
            ticks = opening[0]
        elif ticks and line.strip() == ticks:
            ticks = ""
    assert not ticks, "a fence is open at the end"


@given(st.text(max_size=400), st.integers(min_value=5, max_value=250))
def test_a_title_is_never_too_long(text: str, most: int) -> None:
    assert len(cut_title(text, most)) <= most
