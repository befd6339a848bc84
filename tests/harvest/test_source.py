"""Bytes of any kind: read, or named as a problem; never an exception, and no other site lost."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

import tracker.harvest.texts
from tracker.harvest.grammar import MANY, descendants, parse
from tracker.harvest.sites import harvest

TAIL = "\ndef last():\n    raise KeyError('the tail')\n"


@pytest.mark.parametrize(
    ("raw", "problem", "found"),
    [
        (b"x = 1\r\nraise E('a')\r\n", None, [(2, "a")]),
        (b"x = 1\rraise E('a')\r", None, [(2, "a")]),
        (b"raise E('''a\r\nb''')\r\n", None, [(1, "a\nb")]),
        (codecs.BOM_UTF8 + b"raise E('\xc3\xa9')", None, [(1, "\xe9")]),
        (b"# -*- coding: latin-1 -*-\nraise E('\xe9')", None, [(2, "\xe9")]),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nraise E('\x80')", None, [(3, "\u20ac")]),
        (b"# coding: no-such-codec\nraise E('a')", None, [(2, "a")]),
        (codecs.BOM_UTF8 + b"# coding: latin-1\nraise E('a')", None, [(2, "a")]),
        (b"x = 1\nraise E('\xff')", "is not valid UTF-8 at line 2", [(2, "\xff")]),
        (b"# coding: ascii\nraise E('\xe9')", "cannot be decoded as ascii, the encoding it names", [(2, "\xe9")]),
        (b"raise E('a')\n\0\nraise F('b')\n", "holds a null byte", [(1, "a"), (3, "b")]),
        (b"\f\nif x:\n\traise E('a')\n\f\nraise F('b')", None, [(3, "a"), (5, "b")]),
        (b"raise E('a')", None, [(1, "a")]),
        (b"raise E('\xf0\x9f\x92\xa5 {x}')", None, [(1, "\U0001f4a5 {{x}}")]),
        (b"", None, []),
    ],
)  # fmt: skip
def test_encodings_and_line_ends(raw: bytes, problem: str | None, found: list[tuple[int, str]]) -> None:
    harvested = harvest("a.py", raw)
    assert harvested.problem == problem
    assert [(site.line, site.message) for site in harvested.sites] == found


def test_utf_16_is_named() -> None:
    assert harvest("a.py", "raise E('a')\n".encode("utf-16")).problem == "is not valid UTF-8 at line 1"


@pytest.mark.parametrize(
    "source",
    [
        "<<<<<<< HEAD\nraise E('a')\n=======\nraise F('b')\n>>>>>>> other\n",
        "raise E('a'\n",
        "def f(:\n  raise E('a')\n",
        "raise E('a'))\n",
        "x = = 1\n",
    ],
)
def test_broken_syntax_is_named_and_the_rest_is_kept(source: str) -> None:
    found = harvest("a.py", (source + TAIL).encode())
    assert found.problem is not None
    assert "syntax that is not understood" in found.problem
    assert ("last", "the tail") in [(site.scope, site.message) for site in found.sites]


@pytest.mark.parametrize(
    "source",
    [
        "raise E(" + "+".join(f"'a{n}'" for n in range(5000)) + ")",
        "raise E(" + "(" * 5000 + "'a'" + ")" * 5000 + ")",
        "raise E(" + "[" * 5000 + "'a'" + "]" * 5000 + ")",
        "raise E(" + "f(" * 5000 + "'a'" + ")" * 5000 + ")",
        "raise E(" + "'a' if x else " * 3000 + "'b')",
        "raise " + "E('a') if x else " * 3000 + "F('b')",
        "raise E('a')" + ".with_traceback()" * 5000,
        "raise E('a'" + ".strip()" * 5000 + ")",
        "raise E('a'" + " % 1" * 5000 + ")",
        "raise E(" + "'a' or " * 5000 + "'b')",
        "raise a" + ".b()" * 5000,
        "if " + "not " * 5000 + "x:\n  raise E('a')",
        "def f():\n  m = 'x'\n" + "  m += 'y'\n" * 3000 + "  raise E(m)",
        "def f():\n  m0 = 'x'\n" + "".join(f"  m{n + 1} = m{n} + m{n}\n" for n in range(60)) + "  raise E(m60)",
        "".join(f"def f{n}(): return f{n + 1}() if x else f{n + 1}()\n" for n in range(60)) + "raise E(f0())",
        "def f(): return g()\ndef g(): return f()\nraise f()\nraise E(f())",
        "class A(B): pass\nclass B(A): pass\nraise A('x')",
        "if a:\n  raise E('a')\n" + "elif b:\n  raise E('b')\n" * 3000 + "else:\n  raise E('c')\n",
        "match x:\n" + "".join(f"  case {n}:\n    raise E('x')\n" for n in range(2000)) + "  case _:\n    raise E('y')",
        "raise E('" + "{}" * 3000 + "'.format(" + "*a," * 3000 + "))",
        "a=" * 5000 + "'x'\nraise E(a)",
        "(" * 3000 + "a" + ",)" * 3000 + " = x\nraise E(a)",
        "x = 1\n" * 170_000,
    ],
    ids=lambda source: source[:24],
)
def test_large_and_deep_files(source: str) -> None:
    found = harvest("a.py", (source + "\n" + TAIL).encode())
    assert found.problem is None
    assert found.sites[-1].message == "the tail"


@pytest.mark.parametrize("head", ["if a:", "def f():", "class A:", "with a:"])
def test_more_levels_than_python_allows(head: str) -> None:
    source = "".join(" " * n + head + "\n" for n in range(1000)) + " " * 1000 + "raise E('deep')\n"
    found = harvest("a.py", (source + TAIL).encode())
    assert found.problem == "has too many levels of indentation at line 101"
    assert [site.message for site in found.sites] == ["deep", "the tail"]


def test_the_levels_that_python_allows_are_told_apart() -> None:
    source = "".join(" " * n + f"if a{n}:\n" for n in range(99)) + " " * 99 + "raise E('deep')\n"
    found = harvest("a.py", source.encode())
    assert found.problem is None
    assert found.sites[0].guard == tuple(f"if a{n}" for n in range(99))


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        ("    # raise E('b')\n" * MANY, False),
        ("# a\n\n \t# b\n" * MANY, False),
        ("    # a\n" * (MANY - 1), True),
        ("    x = 1  # a\n" * MANY, True),
    ],
)
def test_a_long_run_of_comments_is_not_shown_to_the_grammar(run: str, shown: bool) -> None:
    source = "def f():\n" + run + "    raise E('a')  # raise\n" + TAIL
    nodes = [node for node in descendants(parse(source.encode())) if node.type == "comment"]
    assert (len(nodes) > 1) is shown
    lines = source.split("\n")
    found = harvest("a.py", source.encode())
    assert found.problem is None
    assert [lines[site.line - 1].split("#")[0].strip() for site in found.sites] == [
        "raise E('a')",
        "raise KeyError('the tail')",
    ]


def test_every_prefix_of_a_file() -> None:
    raw = Path(tracker.harvest.texts.__file__).read_bytes()[-4000:]
    raw += b"\nraise E(f'''a {x!r:>{w}} {{b}}''' \"c\" % {'d': e}) from (yield)\n"
    for end in range(0, len(raw), 3):
        harvest("a.py", raw[:end])
