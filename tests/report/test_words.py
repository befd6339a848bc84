from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tracker.report.words import Run, marked

texts = st.text(alphabet="ab .,{}", max_size=40)


@given(texts, texts)
def test_the_runs_are_the_texts(before, after):
    for text, runs in zip((before, after), marked(before, after), strict=True):
        assert "".join(run.text for run in runs) == text


@given(texts)
def test_equal_texts_have_no_mark(text):
    assert not any(run.differs for side in marked(text, text) for run in side)


@given(texts, texts)
def test_marks_are_as_few_as_can_be(before, after):
    for runs in marked(before, after):
        assert all(a.differs != b.differs for a, b in pairwise(runs))


def test_a_changed_phrase_is_one_mark():
    assert marked("a b c d", "a x y d") == (
        [Run("a ", False), Run("b c", True), Run(" d", False)],
        [Run("a ", False), Run("x y", True), Run(" d", False)],
    )
