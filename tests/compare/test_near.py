"""Messages that are nearly the same: in both directions, the most alike first, and as if every two were compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from tracker.compare.near import NEARLY, near, says_something
from tracker.message import wording

ONE, TWO, THREE = "the value {x} is too large", "the value {y} is too largo", "the value {z} is not too large"


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([ONE, TWO], {wording(ONE): [wording(TWO)], wording(TWO): [wording(ONE)]}),
        ([ONE, "the  value {other} is\ntoo large"], {}),
        ([ONE, "something else altogether"], {}),
        (["{a}{b}: {c}", "{a}{b}; {c}"], {}),
        (["bad x", "bad y"], {}),
        ([], {}),
    ],
)
def test_near(messages, found):
    assert near(messages) == found


def test_the_most_alike_is_first():
    assert near([THREE, ONE, TWO])[wording(ONE)] == [wording(TWO), wording(THREE)]


@given(st.lists(st.text(alphabet="abcdefgh {x}", min_size=8, max_size=30), max_size=12))
def test_as_if_every_two_were_compared(messages):
    texts = {text for message in messages if says_something(text := wording(message))}
    expected = {
        text: {other for other in texts if other != text and fuzz.ratio(text, other) >= NEARLY} for text in texts
    }
    assert {text: set(others) for text, others in near(messages).items()} == {t: o for t, o in expected.items() if o}
