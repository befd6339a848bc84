"""Source -> where the sites are: line, scope, guard, ordinal; and what is no site."""

from __future__ import annotations

import textwrap

import pytest

from tracker.harvest.sites import harvest
from tracker.message import tokens
from tracker.model import Site


def sites(source: str) -> tuple[Site, ...]:
    found = harvest("pkg/mod.py", textwrap.dedent(source).encode())
    assert found.problem is None
    return found.sites


@pytest.mark.parametrize(
    ("source", "guard"),
    [
        ("raise E", ()),
        ("if a: raise E", ("if a",)),
        ("if (a and\n    b):\n  raise E", ("if a and b",)),
        ("if a:\n  pass\nelif b:\n  raise E", ("if b",)),
        ("if a:\n  pass\nelse:\n  raise E", ("if not a",)),
        ("if not a:\n  pass\nelse:\n  raise E", ("if a",)),
        ("if a is None:\n  pass\nelse:\n  raise E", ("if a is not None",)),
        ("if a in b:\n  pass\nelif c != d:\n  pass\nelse:\n  raise E", ("if a not in b", "if c == d")),
        ("if a < b:\n  pass\nelse:\n  raise E", ("if not a < b",)),
        ("if a == b == c:\n  pass\nelse:\n  raise E", ("if not a == b == c",)),
        ("if a or b:\n  pass\nelse:\n  raise E", ("if not (a or b)",)),
        ("while a:\n  raise E", ("while a",)),
        ("while a:\n  pass\nelse:\n  raise E", ()),
        ("for a in b:\n  if c:\n    raise E", ("if c",)),
        ("with a as b:\n  raise E", ()),
        ("try:\n  raise E\nfinally:\n  pass", ()),
        ("try:\n  pass\nexcept (A, B) as e:\n  raise E", ("except (A, B)",)),
        ("try:\n  pass\nexcept:\n  raise E", ("except",)),
        ("try:\n  pass\nexcept* A:\n  raise E", ("except* A",)),
        ("try:\n  pass\nexcept A:\n  pass\nelse:\n  raise E", ()),
        ("match a:\n  case 1:\n    raise E", ("match a: case 1",)),
        ("match a, b:\n  case [x, y] if x:\n    raise E", ("match a, b: case [x, y] if x",)),
        ("match a:\n  case 1:\n    pass\n  case _:\n    raise E", ("match a: case _, not 1",)),
        ("match a:\n  case 1 if b:\n    pass\n  case _:\n    raise E", ("match a: case _, not 1 if b",)),
        ("if a:\n  def f():\n    if b:\n      raise E", ("if b",)),
        ("if a:  # why\n  raise E", ("if a",)),
        ("if f(  # why\n    a,\n):\n  raise E", ("if f(a)",)),
    ],
)
def test_guards(source: str, guard: tuple[str, ...]) -> None:
    (site,) = sites(source)
    assert site.guard == guard


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if a == 'x' and b:\n  raise E", 'if (a == "x"\n    and b):\n  raise E'),
        ("if f(a, b):\n  raise E", "if f(\n    a,\n    b,\n):\n  raise E"),
        ("if a[1:2]:\n  raise E", "if a[ 1 : 2 ]:\n  raise E"),
    ],
)
def test_layout_and_quotes_do_not_show_in_a_guard(one: str, other: str) -> None:
    assert [tokens(g) for g in sites(one)[0].guard] == [tokens(g) for g in sites(other)[0].guard]


@pytest.mark.parametrize(
    ("source", "scope", "line"),
    [
        ("raise E", "", 1),
        ("class A:\n  def f(self):\n    raise E", "A.f", 3),
        ("def f():\n  def g():\n    class B:\n      raise E", "f.g.B", 4),
        ("@d\n@e(1)\nasync def f():\n  async with x:\n    raise E", "f", 5),
        ("class A[T]:\n  def f[U: int](self): raise E", "A.f", 2),
        ("class A:\n  @property\n  def f(self) -> int:\n    raise E", "A.f", 4),
        ("if x:\n  class A:\n    def f(self):\n      try:\n        raise E\n      finally:\n        pass", "A.f", 5),
        ("x = 1; raise E", "", 1),
        ("\f\nraise E", "", 2),
        ("'''a\nb'''\n\n\nraise E", "", 5),
    ],
)
def test_scope_and_line(source: str, scope: str, line: int) -> None:
    (site,) = sites(source)
    assert (site.scope, site.line) == (scope, line)


@pytest.mark.parametrize(
    "source",
    [
        "# raise E('a')",
        "x = 'raise E'",
        "'''\nraise E\n'''",
        "raised = praise = raise_error()",
        "f.raise_(E)\nraise_for_status()",
        "x = f'raise {y}'",
        "",
    ],
)
def test_what_is_no_site(source: str) -> None:
    assert sites(source) == ()


def test_statements_of_several_lines_and_several_on_a_line() -> None:
    found = sites("raise E(\n  'a'\n)\nif x: raise F; raise G('b')\n")
    assert [(site.line, site.end_line, site.exception) for site in found] == [(1, 3, "E"), (4, 4, "F"), (4, 4, "G")]


def test_ordinals_count_equal_sites_of_a_scope() -> None:
    found = sites(
        "def f():\n  raise m.E('a')\n  raise E('a')\n  raise E('b')\n  raise F('a')\ndef g():\n  raise E('a')\n"
    )
    assert [site.ordinal for site in found] == [1, 2, 1, 1, 1]
    assert len({site.fingerprint for site in found}) == 5
