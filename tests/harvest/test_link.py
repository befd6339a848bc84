"""Texts that stand in another file of the repository: at which site they end up, and what becomes of the rest."""

from __future__ import annotations

import pickle
import textwrap

import pytest

from tracker.harvest.link import handed_in, link
from tracker.harvest.makers import calls_a_maker, made, makers
from tracker.harvest.sites import Harvest, Reason, harvest


def linked(files: dict[str, str]) -> dict[str, Harvest]:
    raw = {path: text.encode() for path, text in files.items()}
    found = {path: pickle.loads(pickle.dumps(harvest(path, text))) for path, text in raw.items()}
    return link(found, raw.get)


ERRORS = """
class Framed(Exception):
  def __init__(self, message):
    super().__init__(f"{message}\\nSee the page.")
class Unknown(Framed):
  def __init__(self, name, hint=""):
    super().__init__(f"unknown thing: {name}{hint}")
class Plain(Exception): pass
LIMIT = "the limit is reached"
TABLE = {"a": "text of a", "b": ("text of b", 1)}
def make(x, kind="thing"):
  return Plain(f"bad {kind}: {x}")
def words(x):
  return f"words for {x}"
def fail(text):
  raise Plain(text)
def on(scope, text):
  raise Unknown(text)
class Box:
  HINT = "a hint of the box"
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from pkg.errors import LIMIT\nraise E(LIMIT)", ("E", ["the limit is reached"])),
        ("from pkg.errors import LIMIT as L\nraise E(L + f' by {x}')", ("E", ["the limit is reached by {x}"])),
        ("from pkg import errors\nraise E(errors.LIMIT)", ("E", ["the limit is reached"])),
        ("from . import errors\nraise E(errors.LIMIT)", ("E", ["the limit is reached"])),
        ("from .errors import LIMIT\nraise E(LIMIT)", ("E", ["the limit is reached"])),
        ("import pkg.errors\nraise E(pkg.errors.LIMIT)", ("E", ["the limit is reached"])),
        ("import pkg.errors as er\nraise E(er.LIMIT)", ("E", ["the limit is reached"])),
        ("def f():\n  from pkg.errors import LIMIT\n  raise E(LIMIT)", ("E", ["the limit is reached"])),
        ("from pkg.errors import Box\nraise E(Box.HINT)", ("E", ["a hint of the box"])),
        ("from pkg.errors import TABLE\nraise E(TABLE[k])", ("E", ["text of a", "text of b"])),
        ("from pkg.errors import words\nraise E(words(v))", ("E", ["words for {v}"])),
        # exception classes
        ("from pkg.errors import Unknown\nraise Unknown(v)", ("Unknown", ["unknown thing: {v}"])),
        ("from pkg.errors import Unknown as U\nraise U('q', hint='!')", ("Unknown", ["unknown thing: q!"])),
        ("from pkg import errors\nraise errors.Unknown(v)", ("errors.Unknown", ["unknown thing: {v}"])),
        ("from pkg.errors import Framed\nraise Framed('one two three')", ("Framed", ["one two three"])),
        ("from pkg.errors import Plain\nraise Plain('t')", ("Plain", ["t"])),
        ("from pkg.errors import Unknown\nclass Mine(Unknown): pass\nraise Mine(v)", ("Mine", ["unknown thing: {v}"])),
        (
            "from pkg.errors import Unknown\nclass M(Unknown):\n  def __init__(self, a):\n    super().__init__(a)\n"
            "raise M('z')",
            ("M", ["unknown thing: z"]),
        ),
        # factories, re-exports
        ("from pkg.errors import make\nraise make(v, kind='one')", ("Plain", ["bad one: {v}"])),
        ("from pkg.api import make\nraise make(v)", ("Plain", ["bad thing: {v}"])),
        ("from pkg import LIMIT\nraise E(LIMIT)", ("E", ["the limit is reached"])),
    ],
)
def test_texts_of_other_files(source: str, expected: tuple[str, list[str]]) -> None:
    files = {
        "pkg/errors.py": ERRORS,
        "pkg/api.py": "from pkg.errors import make as make\n",
        "pkg/__init__.py": "from pkg.errors import LIMIT\n",
        "pkg/mod.py": source,
    }
    (site,) = linked(files)["pkg/mod.py"].sites
    assert (site.exception, [text for text in (site.message, *site.alternatives) if text]) == expected


def test_what_callers_in_other_files_hand_to_a_helper() -> None:
    files = {
        "pkg/errors.py": ERRORS,
        "pkg/a.py": "from pkg import errors\ndef f(x):\n  errors.fail(f'a says {x}')\n  errors.fail(x)\n",
        "pkg/b.py": "from pkg.errors import fail, on\nfail('b says no')\non(1, 'b too')\n",
        "pkg/c.py": "def fail(x): pass\nfail('not this one')\n",
        "pkg/d.py": "from other import fail\nfail('nor this one')\n",
    }
    by_scope = {site.scope: site for site in linked(files)["pkg/errors.py"].sites}
    assert [by_scope["fail"].message, *by_scope["fail"].alternatives] == ["a says {x}", "b says no"]
    # What has words of its own is no helper: what is handed in is a placeholder there.
    assert [by_scope["on"].message, *by_scope["on"].alternatives] == ["unknown thing: {text}"]


def test_a_helper_that_raises_a_class_of_another_file_is_none() -> None:
    files = {
        "pkg/errors.py": ERRORS,
        "pkg/a.py": "from pkg.errors import Unknown\ndef ask(x):\n  raise Unknown(x)\nask('here')\n",
        "pkg/b.py": "from pkg.a import ask\nask('there')\n",
    }
    (site,) = linked(files)["pkg/a.py"].sites
    assert [site.message, *site.alternatives] == ["unknown thing: {x}"]


def test_packages_may_lie_under_a_folder() -> None:
    files = {"src/pkg/errors.py": ERRORS, "src/pkg/mod.py": "from pkg.errors import LIMIT\nraise E(LIMIT)\n"}
    assert linked(files)["src/pkg/mod.py"].sites[0].message == "the limit is reached"


@pytest.mark.parametrize(
    "source",
    [
        "from elsewhere import X\nraise X(y)",
        "from pkg.circle import A\nraise E(A)",
        "from pkg.circle import C\nraise C(y)",
        "from pkg.errors import missing\nraise E(missing)",
        "from ....too.far import X\nraise E(X)",
        "from pkg.broken import X\nraise E(X)",
        "from x import *\nraise E(LIMIT2(y))",
    ],
)
def test_what_cannot_be_followed_stays_as_it_is(source: str) -> None:
    files = {
        "pkg/errors.py": ERRORS,
        "pkg/circle.py": "from pkg.circle import A\nfrom pkg.circle import B as A\nclass C(C): pass\n",
        "pkg/broken.py": "X = (\n",
        "pkg/mod.py": source,
    }
    found = linked(files)["pkg/mod.py"]
    assert found.sites == harvest("pkg/mod.py", source.encode()).sites
    assert found.reasons[0] in (Reason.FOREIGN, Reason.COMPUTED)


def test_ordinals_are_counted_again() -> None:
    source = "from pkg.errors import LIMIT, words\ndef f():\n  raise E(LIMIT)\n  raise E('the limit is reached')\n"
    found = linked({"pkg/errors.py": ERRORS, "pkg/mod.py": source})["pkg/mod.py"].sites
    assert [site.ordinal for site in found] == [1, 2]


def test_only_what_is_referred_to_is_read() -> None:
    asked = []
    raw = {"pkg/a.py": b"raise E('a')\n", "pkg/b.py": b"from pkg.c import M\nraise E(M)\n", "pkg/c.py": b"M = 'text'\n"}

    def read(path: str) -> bytes | None:
        asked.append(path)
        return raw.get(path)

    found = link({path: harvest(path, text) for path, text in raw.items()}, read)
    assert found["pkg/b.py"].sites[0].message == "text"
    assert "pkg/c.py" in asked
    assert "pkg/a.py" not in asked


def handed(files: dict[str, str]) -> dict[tuple[str, int], tuple[str, ...]]:
    raw = {path: textwrap.dedent(text).encode() for path, text in files.items()}
    return handed_in({path: harvest(path, text) for path, text in raw.items()}, raw.get)


def test_what_callers_hand_in_besides_the_words_of_the_class():
    core = """
        from pkg.errors import Concrete
        def demand(value, context=""):
          raise Concrete(value, context)
        def demand_size(value, context):
          return demand(value, context=context)
        def silent(value):
          raise ValueError
    """
    errors = """
        class Concrete(TypeError):
          def __init__(self, value, context):
            super().__init__(f"a concrete value is expected: {value}. {context}")
    """
    use = """
        from pkg import core
        def f(size):
          core.demand(size, "The size of f must be known")
          core.demand_size(size, "The size of g must be known")
    """
    found = handed({"pkg/core.py": core, "pkg/errors.py": errors, "pkg/use.py": use})
    words = "a concrete value is expected: {size}. The size of"
    assert found == {("pkg/core.py", 0): (f"{words} f must be known", f"{words} g must be known")}
    assert handed({"pkg/core.py": core, "pkg/errors.py": errors}) == {}


def test_exceptions_made_where_they_are_yielded():
    source = b"""
def mismatches(tree):
  yield lambda name: ValueError(f"{name} differs in {tree}" " at the root")
  yield lambda: 3
def check(tree):
  error = next(mismatches(tree), None)
  raise error("in_axes")
def other(tree):
  raise Error("in_axes")
def third(tree):
  raise unimplemented("in_axes")
"""
    (maker,) = makers("pkg/tree.py", source)
    assert maker == ("name", "{name} differs in {tree} at the root")
    first, *others = harvest("pkg/tree.py", source).sites
    assert [calls_a_maker(site) for site in (first, *others)] == [True, False, False]
    assert made(first, maker) == "in_axes differs in {tree} at the root"
