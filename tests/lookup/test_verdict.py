"""A paste against a library: which raise, how sure, and what is none of its errors. One row for each trap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lookup.conftest import LIBRARY, ranker
from tracker.lookup.paste import read
from tracker.lookup.verdict import judge


def scopes(judged) -> list[str]:
    return [match.site.scope for match in judged.matches]


@pytest.mark.parametrize(
    ("paste", "scope"),
    [
        # values of any kind: brackets, quotes, braces, addresses, newlines
        ("ValueError: axis 4 does not exist in an array of shape (2, {'a': [1]})", "Shape.check"),
        ("ValueError: axis <object at 0x7f> does not exist in an array of shape\n[[1 2]\n [3 4]]", "Shape.check"),
        # wraps, also inside a word
        ("ValueError: axis 4 does not exi\nst in an array of sh\nape (2,)", "Shape.check"),
        (
            "ValueError: the layout of the output is not known before\ncompilation: got; pass ou\nt_layout=... instead",
            "wrapped",
        ),
        # no exception's name, or one that only the source knows
        ("axis 4 does not exist in an array of shape (2,)", "Shape.check"),
        ("I get this: axis 4 does not exist in an array of shape (2,)", "Shape.check"),
        ("KeyReuse: rule\n----------------------\nis broken by split", "rule"),
        # cut, visibly or not
        ("ValueError: axis 4 does not exist in an arr...", "Shape.check"),
        ("ValueError: the layout of the output is not known before compil", "wrapped"),
        ("FAILED t.py::test_x - ValueError: the layout of the output is n...", "wrapped"),
        ("ValueError: the layout of the output is not known before compilation: [...] instead", "wrapped"),
        # a text that begins with a placeholder
        ("ValueError: scan carry must have identical types, got\nState(a=1).", "inner"),
        # words of the user behind it
        ("TypeError: shapes must be tuples of integers. Does anyone know why?", "Shape.check"),
        ("ValueError: axis 4 does not exist in an array of shape (2,), while moving to keys", "Shape.check"),
        # one wording is nearly another: quotes around a value, one that goes on
        ("TypeError: Argument 'x' of type <class 'str'> cannot be traced", "quoted"),
        ("TypeError: Argument x of type <class 'str'> cannot be traced by anyone", "unquoted"),
        ("FloatingPointError: invalid value (nan) met in jit(f). The function was compiled without checks", "longer"),
        # what marks a cut elsewhere is the text itself here
        ("ValueError: use x.at[...].set(y) and not x[0]", "brackets"),
    ],
)
def test_one_raise(ask, paste, scope):
    (judged,) = ask(paste)
    assert (judged.verdict.value, scopes(judged)) == ("match", [scope])


def test_a_part_of_a_text_is_called_so(ask):
    (judged,) = ask("ValueError: axis 4 does not exist in an arr...")
    assert judged.matches[0].partial
    assert "a part of its text" in judged.matches[0].why
    (whole,) = ask("ValueError: axis 4 does not exist in an array of shape (2,)")
    assert not whole.matches[0].partial
    assert whole.matches[0].score > judged.matches[0].score


def frame(line: int, function: str, source: str = "raise TypeError(m)", path: str = "pkg/_src/core.py") -> str:
    return f'Traceback (most recent call last):\n  File "/v/{path}", line {line}, in {function}\n    {source}\n'


def test_equal_texts_are_told_apart_by_the_frame_only(ask, line):
    text = "TypeError: jit needs one array at least, got 3"
    (judged,) = ask(text)
    assert (judged.verdict.value, scopes(judged)) == ("ambiguous", ["first", "second"])
    assert "frame" in judged.reason
    (judged,) = ask(frame(15, "second") + text)
    assert (judged.verdict.value, scopes(judged)) == ("match", ["second"])
    (judged,) = ask(frame(999, "second") + text)  # another version: the function still tells
    assert (judged.verdict.value, scopes(judged)) == ("match", ["second"])


def test_one_text_that_begins_like_another(ask):
    text = "FloatingPointError: invalid value (nan) met in jit(f)"
    (judged,) = ask(text)  # a title: the rest may have been left out
    assert (judged.verdict.value, scopes(judged)) == ("ambiguous", ["prefix", "longer"])
    (judged,) = ask(frame(3, "user", path="user.py", source="f(x)") + text)  # the end of a traceback is the end
    assert (judged.verdict.value, scopes(judged)) == ("match", ["prefix"])


def test_a_raise_without_text_is_known_by_its_frame(ask, line):
    at = line("raise NotImplementedError")
    (judged,) = ask(frame(at, "silent", "raise NotImplementedError") + "NotImplementedError")
    assert (judged.verdict.value, scopes(judged)) == ("match", ["silent"])
    at = line("raise make_error(x)")
    (judged,) = ask(frame(at, "silent", "raise make_error(x)") + "ValueError: whatever a helper says")
    assert (judged.verdict.value, scopes(judged)) == ("match", ["silent"])
    assert "text not resolved" in judged.matches[0].why


def test_a_link_to_any_line_of_the_statement(ask, line):
    at = line('f"compilation: got')
    (judged,) = ask(f"not known here\nhttps://github.com/a/pkg/blob/main/pkg/_src/core.py#L{at}")
    assert judged.verdict.value == "none"  # a line of a raise, but not its text
    (judged,) = ask(f"NotImplementedError\nhttps://github.com/a/b/blob/main/pkg/_src/core.py#L{line('raise NotImpl')}")
    assert scopes(judged) == ["silent"]


@pytest.mark.parametrize(
    ("paste", "reason"),
    [
        ("jaxlib.xla_extension.XlaRuntimeError: INTERNAL: axis 4 does not exist", "XLA"),
        ("ValueError: RESOURCE_EXHAUSTED: Out of memory", "status code"),
        ("ValueError: std::bad_cast", "compiled code"),
        ("RuntimeError: Check failed: a == b (2 vs. 3) in pjrt.cc:12", "compiled code"),
        ("numpy.exceptions.AxisError: axis 4 does not exist in an array of shape (2,)", "numpy"),
        ("AttributeError: module 'os' has no attribute 'x'", "interpreter"),
        ("TypeError: f() missing 1 required positional argument: 'x'", "interpreter"),
        ("TypeError: unhashable type: 'list'", "interpreter"),
        ("KeyError: 3", None),
        ("AssertionError: length mismatch: [3, 1]", "assert"),
        (
            frame(3, "leaves", "return [flatten_up_to(t) for t in tree]", "pkg/_src/tree.py")
            + "ValueError: Expected list, got (1,).",
            "calls into compiled code",
        ),
        (
            frame(3, "g", "raise TypeError(m)", "site-packages/other/a.py")
            + "TypeError: jit needs one array at least, got 3",
            "other",
        ),
    ],
)
def test_what_others_raise_is_no_match(ask, paste, reason):
    (judged,) = ask(paste)
    assert judged.matches == ()
    assert judged.verdict.value == ("foreign" if reason else "none")
    assert (reason or "") in judged.reason


def test_the_interpreters_words_in_an_error_of_the_package(ask, line):
    text = "AttributeError: module 'pkg.core' has no attribute 'f'"
    (judged,) = ask(text)
    assert (judged.verdict.value, scopes(judged)) == ("ambiguous", ["attribute"])
    (judged,) = ask(frame(line("has no attribute"), "attribute", "raise AttributeError(m)") + text)
    assert judged.verdict.value == "match"


@pytest.mark.parametrize(
    "paste",
    [
        "ValueError: bad rank: 3",  # so little that anyone can say it
        "IndexError: axis 4 does not exist in an array of shape (2,)",  # another exception
    ],
)
def test_what_is_not_sure_is_never_called_a_match(ask, paste):
    (judged,) = ask(paste)
    assert judged.verdict.value == "ambiguous"
    assert judged.matches[0].score < 0.5


@pytest.mark.parametrize(
    "paste",
    [
        "ValueError: the table needs one array at least",
        "TypeError: shapes of integers must be tuples",
        "ValueError: row axis 4 does not exist",
        "error: something went wrong",
        "hello",
    ],
)
def test_what_is_only_like_a_text_is_nothing(ask, paste):
    (judged,) = ask(paste)
    assert (judged.verdict.value, judged.matches) == ("none", ())


def test_several_errors_each_with_its_own_verdict(ask):
    first, second = ask(
        "KeyError: 3\n\nDuring handling of the above exception, another exception occurred:\n\n"
        "ValueError: axis 4 does not exist in an array of shape (2,)"
    )
    assert (first.verdict.value, second.verdict.value) == ("none", "match")


VALUES = st.sampled_from(["3", "(2, 3)", "f32[4]", "<class 'int'>", "{'a': [1]}", "", "None", "a b\nc"])


@given(x=VALUES, y=VALUES, cuts=st.lists(st.integers(1, 60), max_size=3))
def test_wherever_a_text_is_wrapped(x, y, cuts):
    text = f"axis {x} does not exist in an array of shape {y}"
    for cut in cuts:
        text = text[:cut] + "\n" + text[cut:]
    (judged,) = [judge(error, ranker(LIBRARY)) for error in read(f"ValueError: {text}").errors]
    assert scopes(judged) == ["Shape.check"]
