"""Messages of the source in the words of a page: every habit of a page is kept, and a page's own text is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.catalogue.restate import CUT, as_title, restated

LONG = "Scanned function carry input and carry output must have equal types, got {a} and {b}"
LATER = "Scanned function carry input and carry output must have {how} equal types"


@pytest.mark.parametrize(
    ("stated", "old", "new", "expected"),
    [
        ("bad x", "bad x", "bad x", "bad x"),
        ("bad x", "bad x", "wrong x", "wrong x"),
        ("bad {x}", "bad {x}", "bad {x.y}", "bad {x.y}"),
        ("bad {}", "bad {x}", "bad {x.y}", "bad {}"),
        ("bad {} {}", "bad {x!r} {y:3}", "wrong {x!r}", "wrong {}"),
        ("{} of {n}", "{m} of {n}", "{k} of {l}", "{} of {l}"),
        ("{} of {n}", "{m} of {n}", "{k} of {l} in {o}", "{} of {l} in {}"),
        ("bad {z}", "bad {x}", "bad {x.y}", "bad {x.y}"),
        ("bad {x", "bad {x}", "bad {x.y}", "bad {x.y}"),
        ("a {'k'} b", "a {{'k'}} b", "a {{'k'}} c", "a {'k'} c"),
        ("a {{'k'}} {}", "a {{'k'}} {x}", "a {{'l'}} {x}", "a {{'l'}} {}"),
        ("two lines {}", "two\n  lines {x}", "three\n  lines {y}", "three lines {}"),
        ("two lines", "two\n  lines", "three\n  lines", "three lines"),
        ("two\n  lines", "two\n  lines", "three\n  lines", "three\n  lines"),
        ("a\n\n b", "\n \na\n\n b\n\n", "\n a\n\n c\n", " a\n\n c"),
        (LONG, LONG, LATER, LATER),
        (LONG[:CUT], LONG, LATER, LATER[:CUT]),
        (LONG[:CUT], LONG, "short {a}", "short {a}"),
        (LONG[:CUT], LONG[:CUT], LATER, LATER),
        ("Send and receive", "bad x", "wrong x", None),
        ("bad", "bad x", "wrong x", None),
        ("", "", "x", "x"),
        ("", "bad x", "wrong x", None),
    ],
)
def test_what_a_page_states_of_the_next_message(stated, old, new, expected):
    assert restated(stated, old, new) == expected


@pytest.mark.parametrize(
    ("stated", "old", "new", "expected"),
    [
        (LONG[:CUT], LONG, LATER, LATER[:CUT]),
        ("short", "short", LATER, LATER[:CUT]),
        (LONG, LONG, LATER, LATER),
        ("The carry of a scan", LONG, LATER, None),
    ],
)
def test_titles_are_cut_unless_the_page_shows_that_it_does_not(stated, old, new, expected):
    assert as_title(stated, old, new) == expected


TEXTS = st.text("ab {}\n", max_size=90).filter(lambda text: text == text.strip())


@given(TEXTS, TEXTS)
def test_as_written_any_message_is_restated_as_written(old, new):
    assert restated(old, old, new) == new
    assert restated(old, old, old) == old
