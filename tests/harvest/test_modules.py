"""A module read definition by definition says what the whole file says; a version cut again is cut as a new one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracker.harvest import texts
from tracker.harvest.modules import Module, cut, recut, words
from tracker.harvest.reading import Parts
from tracker.harvest.segments import class_of
from tracker.harvest.sites import harvest
from tracker.model import Site

WORDS = words(False)
FILLER = "".join(
    f"    def q{n}(self):\n        return 'so long that it is read method by method {n}'\n" for n in range(40)
)


def in_parts(source: str) -> list[Site] | None:
    """The sites of a source, part by part; None where a part does not stand by itself."""
    module = cut(source.encode(), WORDS)
    parts = Parts()
    if module.in_doubt:
        return None
    found: list[Site] = []
    line = 0
    for one in module.segments:
        if one.raises:
            part = parts.of(module, one)
            if not part.sound:
                return None
            found += [plain(site.shifted(line)) for site in part.sites]
        line += one.lines
    return found


def whole(source: str) -> list[Site]:
    return [plain(site) for site in harvest("", source.encode()).sites]


def plain(site: Site) -> Site:
    """Ordinals are counted over the whole file."""
    return replace(site, ordinal=1)


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    raise ValueError('a text')\n",
        "TEXT = 'a text'\ndef f():\n    raise ValueError(TEXT)\n",
        "def f():\n    raise ValueError(TEXT)\nTEXT = 'a text'\nTEXT += ' and more'\n",
        "A = 'a text'\nB = A + ' and more'\ndef f():\n    raise ValueError(B)\n",
        "try:\n    A = 'a text'\nexcept E:\n    A = 'another'\ndef f():\n    raise ValueError(A)\n",
        "from m import (A,  # why\n  B as C,\n)\ndef f():\n    raise C('a text')\n",
        "import a.b as c\ndef f():\n    raise c('a text')\n",
        "def fail(text):\n    raise E(text)\ndef g():\n    fail('a text')\ndef h(x):\n    fail(x)\n",
        "def fail(text):\n    raise E(text)\ndef more(text):\n    fail('so ' + text)\ndef h():\n    more('a text')\n",
        "def made(x):\n    return E(f'a text {x}')\ndef g():\n    raise made(1)\n",
        "class E(B):\n    def __init__(self, x):\n        super().__init__(f'a text {x}')\nraise E(2)\n",
        "T = {'a': 'a text', 'b': 'another'}\ndef g(k):\n    raise E(T[k])\n",
        "def f(:\n    raise E('a')\n",
        "x = (\ndef f():\n    raise E('a')\n",
        'X = """\nTEXT = 1\n"""\nTEXT = "a text"\ndef f():\n    raise E(TEXT)\n',
        'def a():\n    """Raised.\n\ncore = 1\n"""\ndef f():\n    raise core("a text")\n',
        '@d("""\n  a\n""")\n@e\ndef f():\n    raise E("a text")\n\nX = 1\n\ndef g():\n    raise f\n',
        "class C(\n    Base):\n    def m(self):\n        raise E('a text')\n" + FILLER,
        "class C:\n    text = 'a text'\n    def m(self):\n        raise E(self.text)\n" + FILLER,
        "class C:\n"
        + FILLER
        + "    def m(self):\n        raise E(self.text)\n    def n(self):\n        self.text = 'a text'\n",
        "class B:\n    text = 'a text'\nclass C(B):\n    def m(self):\n        raise E(self.text)\n" + FILLER,
        "class C:\n    if X:\n        def m(self):\n            raise E('a text')\n" + FILLER,
        "class C:\n    raise E('in the body')\n" + FILLER,
        "class C:\n    '''Doc.\n\n    def m(self):\n        raise E('doc')\n    '''\n"
        "    def m(self):\n        raise E('a')\n" + FILLER,
        "class C:\n    def fail(self, text):\n        raise E(text)\n    def m(self):\n        self.fail('a text')\n"
        + FILLER,
        "@d\nclass C:\n    @property\n    def m(self):\n        raise E('a text')\n" + FILLER + "raise E('behind')\n",
        "class C:\n    def m(self):\n        x = '''\nat the edge\n'''\n        raise E(x)\n" + FILLER,
        "ü = 'a text'\ndef f():\n    raise E(ü)\n",
    ],
)
def test_the_parts_say_what_the_file_says(source):
    assert in_parts(source) == whole(source)


@pytest.mark.parametrize(
    "source",
    [
        'X = """\ndef g():\n    raise E("in a string")\n"""\ndef f():\n    raise E("a text")\n',
        'def f():\n    raise E("""\ndef g(): pass\n""")\n',
        'X = """\nA text\ndef g():\n    raise E("in a string")\ndef h(): pass\n"""\n',
    ],
)
def test_what_does_not_stand_by_itself_says_so(source):
    assert in_parts(source) is None


def test_large_classes_are_cut_at_their_methods():
    body = class_of(f"class C:\n    x = 1\n{FILLER}".encode(), WORDS)
    assert body is not None
    assert (len(body.statements), body.names[0], body.lines[:2]) == (41, {b"x"}, [1, 2])


REAL = Path(texts.__file__).read_text(encoding="utf-8").replace("return", "raise E", 9)
EDITS = st.lists(
    st.tuples(
        st.integers(0, len(REAL)),
        st.integers(0, 300),
        st.sampled_from(
            ["", "x", "\n", '"""', "(", "\ndef f():\n    raise E('a')\n", "@d\n", "\nasync def g(): raise\n", "#"]
        ),
    ),
    max_size=6,
)


def edited(edits: list[tuple[int, int, str]]) -> str:
    source = REAL
    for at, gone, come in edits:
        source = source[:at] + come + source[at + gone :]
    return source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): pass\ndef g(): pass\n", "def f(): pass\n  # more\n"),
        ("def f(): pass\ndef g(): pass\n", "def f(): pass\nX = 1\ndef g(): pass\n"),
        ("def f(): pass\ndef g(): pass\n", "def f(): pass\n@d\ndef g(): pass\n"),
        ("def f(): pass\n@d\ndef g(): pass\n", "def f(): pass\ndef g(): pass\n"),
        ("X = 1\ndef g(): pass\n", "@d\ndef g(): pass\n"),
        ("@d\ndef g(): pass\n", "@d\n@e\ndef g(): pass\n"),
        ("def f(): pass\n", ""),
        ("", "def f(): pass\n"),
        ("def f(): pass\n", "def f(): pass\n"),
        ("def f(): pass\ndef g(): pass\n", "def g(): pass\ndef f(): pass\n"),
        ("def f(): pass\ndef f(): pass\nX = 1\n", "def f(): pass\ndef f(): pass\ndef f(): pass\nX = 1\n"),
        ("def f(): pass", "def f(): pass\n"),
        ("def f(): pass\ndef g(): pass\n", "def f(): pass\nasync def g(): pass\n"),
        ("def f(): pass\ndef g(): pass\n", "def f(): pass\ndefg = 1\n"),
        ("def f(): one\ndef f(): two\n", "def f(): two\ndef f(): one\n"),
        ("def f(): one\ndef f(): two\nX = 1\n", "def f(): two\ndef f(): one\nX = 1\n"),
    ],
)
def test_a_changed_file_is_cut_as_a_new_one(before, after):
    same_cut(before, after)


@settings(max_examples=60, deadline=None)
@given(EDITS, EDITS)
def test_cut_again_is_cut(before, after):
    same_cut(edited(before), edited(after))


def same_cut(before: str, after: str) -> None:
    """The next version of a file, cut where it changed, is cut like a file that nobody saw before."""
    old = cut(before.encode(), WORDS)
    new = cut(after.encode(), WORDS)
    change = recut(old, after.encode(), WORDS)
    assert seen(change.module) == seen(new)
    kept = set(old.segments) - set(change.lost)
    assert set(change.module.segments) == kept | set(change.found)
    names = bound_by(old) | bound_by(new)
    assert change.rebound(names) == {name for name in names if bound(old, name) != bound(new, name)}


def seen(module: Module) -> tuple[object, ...]:
    return [one.data for one in module.segments], {name: bound(module, name) for name in bound_by(module)}


def bound_by(module: Module) -> set[bytes]:
    return {name for one in module.segments for name in one.names}


def bound(module: Module, name: bytes) -> list[bytes]:
    return [statement for one in module.binding(name) for _, statement in one.names[name]]


@settings(max_examples=40, deadline=None)
@given(EDITS)
def test_the_parts_of_any_source_say_what_it_says(edits):
    source = edited(edits)
    found = in_parts(source)
    assert found is None or found == whole(source)
