"""What one commit does to an error, by real repositories: every kind of event, and as many commits that do nothing."""

from __future__ import annotations

import pytest

from tests.history.line import commit_all, index, told

ONE = 'def f(x):\n    if x:\n        raise ValueError("the value x is bad")\n'
TWO = 'def g(y):\n    raise TypeError("no y was given at all")\n'
KLASS = (
    "class C(Base):\n"
    '    """Text."""\n'
    '    text = "a text of the class"\n'
    "    def m(self):\n        raise ValueError(self.text)\n"
    "    def n(self):\n        if self.a:\n            raise KeyError(f'no {self.a} in it')\n"
) + "".join(
    f"    def other{n}(self):\n        return {n} * 'filler so that it is read method by method'\n" for n in range(40)
)
CONSTANT = 'TEXT = "a text of the module"\n\n'
SAYS = "def h():\n    raise ValueError(TEXT)\n"
HELPER = "def fail(text):\n    raise RuntimeError(text)\n\n"
CALLER = 'def k():\n    fail("what the caller hands in")\n'
STRING = 'TEXT = """\ndef not_a_function():\n    raise KeyError("in a string")\n"""\n'


@pytest.fixture
def happened(tmp_path):
    """The events of the second of two commits."""

    def run(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str | None]]:
        commit_all(tmp_path / "mirror", [before, after])
        index(tmp_path / "mirror", tmp_path / "history")
        return [(kinds, message) for position, kinds, message in told(tmp_path / "history") if position == 2 and kinds]

    return run


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE + TWO}, [("new", "no y was given at all")]),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE, "pkg/b.py": TWO}, [("new", "no y was given at all")]),
        ({"pkg/a.py": ONE + TWO}, {"pkg/a.py": ONE}, [("removed", "no y was given at all")]),
        ({"pkg/a.py": ONE, "pkg/b.py": TWO}, {"pkg/a.py": ONE}, [("removed", "no y was given at all")]),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ""}, [("removed", "the value x is bad")]),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("bad", "wrong")}, [("reworded", "the value x is wrong")]),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("Value", "Type")}, [("retyped", "the value x is bad")]),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("if x", "if not x")}, [("guard-changed", "the value x is bad")]),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("f(x)", "ff(x)")}, [("relocated", "the value x is bad")]),
        ({"pkg/a.py": ONE}, {"pkg/b.py": ONE}, [("relocated", "the value x is bad")]),
        (
            {"pkg/a.py": ONE + TWO, "pkg/b.py": ""},
            {"pkg/a.py": TWO, "pkg/b.py": ONE},
            [("relocated", "the value x is bad")],
        ),
        (
            {"pkg/a.py": 'def f(x):\n    raise E(f"odd {x} is here")\n'},
            {"pkg/a.py": 'def f(x):\n    raise E(f"odd {x.y} is here")\n'},
            [("placeholder-changed", "odd {x.y} is here")],
        ),
        (
            {"pkg/a.py": ONE},
            {"pkg/b.py": ONE.replace("bad", "wrong").replace("if x", "if not x")},
            [("guard-changed relocated reworded", "the value x is wrong")],
        ),
        ({"pkg/a.py": KLASS}, {"pkg/a.py": KLASS.replace("no {", "never {")}, [("reworded", "never {self.a} in it")]),
        (
            {"pkg/a.py": KLASS},
            {"pkg/a.py": KLASS.replace("a text of", "the text of")},
            [("reworded", "the text of the class")],
        ),
        (
            {"pkg/a.py": CONSTANT + SAYS},
            {"pkg/a.py": CONSTANT.replace("a text", "the text") + SAYS},
            [("reworded", "the text of the module")],
        ),
        (
            {"pkg/a.py": HELPER + CALLER},
            {"pkg/a.py": HELPER + CALLER.replace("hands", "gives")},
            [("reworded", "what the caller gives in")],
        ),
        (
            {"pkg/a.py": "from m import A as B\n\ndef f():\n    raise B('what is wrong here')\n"},
            {"pkg/a.py": "from m import C as B\n\ndef f():\n    raise B('what is wrong here')\n"},
            [("retyped", "what is wrong here")],
        ),
        (
            {"pkg/a.py": STRING + ONE},
            {"pkg/a.py": STRING + ONE.replace("bad", "off")},
            [("reworded", "the value x is off")],
        ),
        ({"pkg/a.py": "def f(:\n" + ONE}, {"pkg/a.py": "def f(:\n" + ONE + TWO}, [("new", "no y was given at all")]),
    ],
)
def test_events(happened, before, after, events):
    assert happened(before, after) == sorted(events)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"pkg/a.py": ONE}, {"pkg/a.py": "\n\n# a remark\n" + ONE}),
        ({"pkg/a.py": ONE + TWO}, {"pkg/a.py": TWO + ONE}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE, "other/b.py": TWO}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE, "pkg/b.txt": TWO}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE, "pkg/b.py": "def g(): pass\n"}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace('"the value x is bad"', "'the value x'  ' is bad'")}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("if x:", "if (x):")}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("    if", "    y = 1\n    if")}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("ValueError", "core.ValueError")}),
        ({"pkg/a.py": KLASS}, {"pkg/a.py": KLASS.replace("return 7", "return 8")}),
        ({"pkg/a.py": KLASS}, {"pkg/a.py": KLASS.replace("Text.", "Other text.")}),
        ({"pkg/a.py": CONSTANT + SAYS}, {"pkg/a.py": "OTHER = 1\n" + CONSTANT + SAYS}),
        ({"pkg/a.py": CONSTANT + SAYS}, {"pkg/a.py": SAYS + CONSTANT}),
        ({"pkg/a.py": HELPER + CALLER}, {"pkg/a.py": HELPER + "\n\nX = 1\n" + CALLER}),
        (
            {"pkg/a.py": "from m import A as B\n\ndef f():\n    raise B('what is wrong here')\n"},
            {"pkg/a.py": "from m import A as B, D\nimport os\n\ndef f():\n    raise B('what is wrong here')\n"},
        ),
        ({"pkg/a.py": STRING + ONE}, {"pkg/a.py": STRING + "\n" + ONE}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": "\ufeff" + ONE}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE.replace("\n", "\r\n")}),
        ({"pkg/a.py": ONE + TWO}, {"pkg/a.py": ONE + TWO}),
        ({"pkg/a.py": ONE}, {"pkg/a.py": ONE + "def f(:\n"}),
    ],
)
def test_nothing_happened(happened, before, after):
    assert happened(before, after) == []


def test_what_nobody_is_told_is_kept_all_the_same(tmp_path):
    """The state at any commit is what the source said there, in every letter."""
    other = ONE.replace("ValueError", "core.ValueError").replace("value x is", "value  x is")
    commit_all(tmp_path / "mirror", [{"pkg/a.py": ONE}, {"pkg/a.py": other}])
    index(tmp_path / "mirror", tmp_path / "history")
    assert told(tmp_path / "history") == [(1, "new", "the value x is bad"), (2, "", "the value  x is bad")]


def test_taken_out_and_put_back_are_two_lives(tmp_path):
    commit_all(tmp_path / "mirror", [{"pkg/a.py": ONE + TWO}, {"pkg/a.py": TWO}, {"pkg/a.py": ONE + TWO}])
    index(tmp_path / "mirror", tmp_path / "history")
    mine = [event for event in told(tmp_path / "history") if event[2] == "the value x is bad"]
    assert mine == [(1, "new", mine[0][2]), (2, "removed", mine[0][2]), (3, "new", mine[0][2])]
