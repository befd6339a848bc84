"""A message taken apart: examples, and the laws that hold for all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.message import HOLE, escape, placeholders, split, tokens, wording


@pytest.mark.parametrize(
    ("message", "literals", "holes"),
    [
        ("", ("",), ()),
        ("a b", ("a b",), ()),
        ("a {x} b", ("a ", " b"), ("x",)),
        ("{x}{y}", ("", "", ""), ("x", "y")),
        ("a {{x}} b", ("a {x} b",), ()),
        ("a {{{x}}} b", ("a {", "} b"), ("x",)),
        ("a {d['}']} b", ("a ", " b"), ("d['}']",)),
        ('a {d["{"]!r:>{w}} b', ("a ", " b"), ('d["{"]!r:>{w}',)),
        ("a { {1: 2}} b", ("a ", " b"), (" {1: 2}",)),
        ("a {x.y(", ("a ", ""), ("x.y(",)),
        ("a {", ("a ", ""), ("",)),
    ],
)
def test_split(message: str, literals: tuple[str, ...], holes: tuple[str, ...]) -> None:
    assert split(message) == (literals, holes)


def test_wording_has_neither_names_nor_layout() -> None:
    assert wording("a  {x}\n b {y!r}") == "a {} b {}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a, b)", "f(a,b,)"),
        ("a['k']", 'a["k"]'),
        ("a  and\n b", "a and b"),
        ("[a,]", "[ a ]"),
    ],
)
def test_layout_does_not_show_in_tokens(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("'a b'", "'ab'"), ("a-b", "a+b"), ("a", "'a'")])
def test_what_differs_differs_in_tokens(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


def test_placeholders_are_tokens() -> None:
    assert placeholders("a {f(x, y)} b {d['k']}") == (tokens("f(x,y)"), tokens('d["k"]'))


@given(st.text())
def test_an_escaped_text_is_one_literal(text: str) -> None:
    assert split(escape(text)) == ((text,), ())


NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,5}(\.[a-z]+)?(!r)?", fullmatch=True)


@given(st.lists(st.tuples(st.text(), NAMES), max_size=5), st.text())
def test_what_is_put_together_comes_apart(pieces: list[tuple[str, str]], end: str) -> None:
    message = "".join(escape(text) + "{" + name + "}" for text, name in pieces) + escape(end)
    literals, holes = split(message)
    assert literals == (*(text for text, _ in pieces), end)
    assert holes == tuple(name for _, name in pieces)
    assert wording(message) == " ".join(HOLE.join(literals).split())


@given(st.text())
def test_any_text_can_be_taken_apart(text: str) -> None:
    literals, holes = split(text)
    assert len(literals) == len(holes) + 1
    assert wording(wording(text)) is not None
    assert all(token for token in tokens(text))


@given(st.text(alphabet=st.sampled_from("ab({[]})' \",.+")))
def test_tokens_of_tokens_are_the_same(code: str) -> None:
    assert tokens(" ".join(tokens(code))) == tokens(" ".join(tokens(" ".join(tokens(code)))))
