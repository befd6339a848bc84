"""Source -> messages: each way to write a text, alone in a table."""

from __future__ import annotations

import textwrap

import pytest

from tracker.harvest.sites import Reason, harvest
from tracker.model import Form, Site


def sites(source: str, path: str = "pkg/mod.py") -> tuple[Site, ...]:
    found = harvest(path, textwrap.dedent(source).encode())
    assert found.problem is None
    return found.sites


def only(source: str) -> Site:
    (site,) = sites(source)
    return site


@pytest.mark.parametrize(
    ("operand", "message", "form"),
    [
        # string literals
        ("E('a b')", "a b", "literal"),
        ('E("it\'s")', "it's", "literal"),
        ('E("""a\n  b""")', "a\n  b", "literal"),
        ("E('a' \"b\"\n  'c')", "abc", "literal"),
        ("E('a {x} b')", "a {{x}} b", "literal"),
        (r"E('a\tb\x41\u00e9\101\N{BULLET}\q')", "a\tbA\xe9A\u2022\\q", "literal"),
        (r"E(r'a\n{x}')", "a\\n{{x}}", "literal"),
        (r"E(b'bytes \x41')", "bytes A", "literal"),
        ("E('a\\\n b')", "a b", "literal"),
        # f-strings
        ("E(f'a {x} b')", "a {x} b", "fstring"),
        ("E(f'a {x!r} {y:>10} {z!s} {w!r:^{n}}')", "a {x!r} {y:>10} {z} {w!r:^{n}}", "fstring"),
        ("E(f'a {x=} b')", "a x={x!r} b", "fstring"),
        ("E(f'a {x = :.2f}')", "a x = {x:.2f}", "fstring"),
        ("E(f'{{literal}} {x}')", "{{literal}} {x}", "fstring"),
        ('E(f\'{"in" + x} b {d["k"]}\')', '{"in" + x} b {d["k"]}', "fstring"),
        ("E(f'{d['k']} b')", "{d['k']} b", "fstring"),
        ("E(f'a {f'b {x}'} c')", "a b {x} c", "fstring"),
        ("E(f'a {'lit'} c')", "a lit c", "fstring"),
        ("E(f'''a {\n  x\n} b''')", "a {x} b", "fstring"),
        ("E(f'set { {1, 2} } x')", "set { {1, 2}} x", "fstring"),
        ("E(rf'\\d {x}')", "\\d {x}", "fstring"),
        ("E('a ' f'{x}' ' {b}')", "a {x} {{b}}", "fstring"),
        (r"E(f'\N{BULLET} {x}')", "\u2022 {x}", "fstring"),
        ("E(t'a {x} b')", "Template(a {x} b)", "fstring"),
        ("E(f'{x}')", None, "fstring"),
        # sums and products
        ("E('a ' + x + ' b')", "a {x} b", "concat"),
        ("E('a ' + str(x))", "a {x}", "concat"),
        ("E('a' + ('b' + 'c'))", "abc", "concat"),
        # slices: what is cut off is not there, and the rest is
        ("E('a b, '[:-2])", "a b", "variable"),
        ("E(', '.join(['a b', 'c'])[2:])", "b, c", "variable"),
        ("E(f'a {x}'[: -3])", "a {x}", "variable"),
        ("E(f'a {x} b'[:200])", "a {x} b", "variable"),
        ("E(TABLE[1:])", None, "variable"),
        # format
        ("E('a {} {}'.format(x, y.z))", "a {x} {y.z}", "format"),
        ("E('a {1} {0!r:>4}'.format(x, y))", "a {y} {x!r:>4}", "format"),
        ("E('a {n} {n.m[0]}'.format(n=v))", "a {v} {v.m[0]}", "format"),
        ("E('a {{x}} {}'.format(x))", "a {{x}} {x}", "format"),
        ("E('a {} {}'.format(*xs))", "a {} {}", "format"),
        ("E('a {} {k}'.format(x, **kw))", "a {x} {k}", "format"),
        ("E('a {} {}'.format(x))", "a {x} {}", "format"),
        ("E('a {'.format(x))", "a {{", "format"),
        # percent
        ("E('a %s b' % x)", "a {x} b", "percent"),
        ("E('a %s %d %r' % (x, y, z))", "a {x} {y} {z!r}", "percent"),
        ("E('a %(k)s %(m)5.2f' % {'k': x, 'm': y})", "a {x} {y:5.2f}", "percent"),
        ("E('100%% of %s' % x)", "100% of {x}", "percent"),
        ("E('a %*d' % (w, x))", "a {x:*d}", "percent"),
        ("E('a %(k)s' % d)", "a {d['k']}", "percent"),
        # calls that keep the text
        ("E(' a b '.strip())", "a b", "call"),
        ("E(textwrap.dedent('''\n  a\n    b\n'''))", "\na\n  b\n", "call"),
        ("E(textwrap.fill('a b', 70))", "a b", "call"),
        ("E(textwrap.indent('a b', ' '))", "a b", "call"),
        ("E(', '.join(['a b', x]))", "a b, {x}", "call"),
        ("E('a b'.upper())", "a b", "call"),
        # choices
        ("E('a b' if c else f'c {x}')", "a b|c {x}", "literal"),
        ("E(x or 'fallback text')", "fallback text", "variable"),
        ("E(('a' if c else 'b') + ' tail')", "a tail|b tail", "concat"),
        # which argument
        ("E(x, 'second')", "second", "literal"),
        ("E(code, message='kw text')", "kw text", "literal"),
        ("E(other='o', msg='the message')", "the message", "literal"),
        # nothing to read
        ("E", None, "none"),
        ("E()", None, "none"),
        ("E(x)", None, "variable"),
        ("E('')", None, "literal"),
        ("E(f(x))", None, "call"),
        # dressed up
        ("E('a b').with_traceback(tb)", "a b", "literal"),
        ("E('a b') from e", "a b", "literal"),
        ("(E('a b'))", "a b", "literal"),
        ("E('a') if c else F('b')", "a|b", "literal"),
    ],
)
def test_a_text_in_the_raise(operand: str, message: str | None, form: str) -> None:
    site = only(f"raise {operand}")
    expected = tuple(message.split("|")) if message is not None else ()
    assert (tuple(filter(None, (site.message, *site.alternatives))), site.form) == (expected, form)
    assert site.exception == "E"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("m = 'a b'\nraise E(m)", ["a b"]),
        ("m: str = 'a b'\nraise E(m)", ["a b"]),
        ("m = f'a {x}'\nm += ' more'\nraise E(m)", ["a {x} more"]),
        ("m = 'a'\nif c:\n  m += ' b'\nraise E(m)", ["a", "a b"]),
        ("if c:\n  m = 'a'\nelse:\n  m = 'b'\nraise E(m)", ["a", "b"]),
        ("m = 'old'\nif c:\n  m = 'a'\nelse:\n  m = 'b'\nraise E(m)", ["a", "b"]),
        ("if c:\n  m = 'gone'\n  return\nm = 'a'\nraise E(m)", ["a"]),
        ("m = 'a'\nraise E(m)\nm = 'later'", ["a"]),
        ("m = 'a'\nif c:\n  m = 'b'\n  return\nraise E(m)", ["a"]),
        ("try:\n  m = 'a'\nexcept X:\n  m = 'b'\nraise E(m)", ["a", "b"]),
        ("for m in ms:\n  raise E(m)", []),
        ("with open(f) as m:\n  raise E(m)", []),
        ("m = 'outer'\ndef g(m):\n  raise E(m)", []),
        ("m = 'a %s'\nraise E(m % x)", ["a {x}"]),
        ("m = 'a {}'\nraise E(m.format(x))", ["a {x}"]),
        ("err = 'a {}'.format\nraise E(err(x))", ["a {x}"]),
        ("if (m := 'a b'):\n  raise E(m)", ["a b"]),
        ("e = E('a b')\nraise e", ["a b"]),
        ("e = E('a b') if c else F('c')\nraise e", ["a b", "c"]),
        ("m = n\nn = m\nraise E(m)", []),
        # lists of lines
        ("m = ['a', f'b {x}']\nraise E('; '.join(m))", ["a; b {x}"]),
        ("m = ['a']\nm.append('b')\nraise E('; '.join(m))", ["a; b"]),
        ("m = []\nfor x in xs:\n  m.append(f'b {x}')\nraise E('; '.join(m))", ["b {x}"]),
        ("m = ['a']\nif c:\n  m.append('b')\nraise E('; '.join(m))", ["a", "a; b"]),
        ("m = ['a']\nm += ['b', 'c']\nraise E('; '.join(m))", ["a; b; c"]),
        ("m = ['a']\nm.extend(['b'])\nraise E('; '.join(m + ['z']))", ["a; b; z"]),
        ("raise E('; '.join(x for x in xs))", []),
        # tables
        ("d = {'k': 'a b', 'l': f'c {x}'}\nraise E(d[k])", ["a b", "c {x}"]),
        ("d = {'k': 'a b', 'l': 'c'}\nraise E(d['l'])", ["c"]),
        ("d = {'k': ('a b', f)}\nraise E(d.get(k, 'else'))", ["a b", "else"]),
    ],
)
def test_a_text_in_a_variable(body: str, expected: list[str]) -> None:
    site = only("def f(x, c):\n" + textwrap.indent(body, "  "))
    assert [text for text in (site.message, *site.alternatives) if text is not None] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("M = 'a b'\ndef f():\n  raise E(M)", ("E", ["a b"], "variable")),
        ("def f():\n  raise E(M)\nM = 'a b'", ("E", ["a b"], "variable")),
        ("class C:\n  M = 'a b'\n  def f(self):\n    raise E(self.M)", ("E", ["a b"], "variable")),
        ("class C:\n  M = 'a b'\n  def f(self):\n    raise E(C.M + M)", ("E", ["a b{M}"], "concat")),
        ("class B:\n  M = 'a b'\nclass C(B):\n  def f(self):\n    raise E(self.M)", ("E", ["a b"], "variable")),
        (
            "class C:\n  def __init__(self):\n    self.m = 'a b'\n  def f(self):\n    raise E(self.m)",
            ("E", ["a b"], "variable"),
        ),
        # functions
        ("def t(x):\n  return f'bad {x}'\ndef f(y):\n  raise E(t(y))", ("E", ["bad {y}"], "call")),
        ("def t(x, n='it'):\n  return f'bad {x} {n}'\ndef f():\n  raise E(t('q'))", ("E", ["bad q it"], "call")),
        ("def mk(x):\n  return E(f'bad {x}')\ndef f(y):\n  raise mk(y.z)", ("E", ["bad {y.z}"], "call")),
        ("def mk(x):\n  if x: return E('a')\n  return F('b')\ndef f():\n  raise mk(1)", ("E", ["a", "b"], "call")),
        (
            "class C:\n  def mk(self, x):\n    return E(f'b {x}')\n  def f(self):\n    raise self.mk(1)",
            ("E", ["b {1}"], "call"),
        ),
        (
            "class C(E):\n  @classmethod\n  def mk(cls, x):\n    return cls(f'b {x}')\nraise C.mk(1)",
            ("cls", ["b {1}"], "call"),
        ),
        # exception classes
        (
            "class X(E):\n  def __init__(self, n):\n    super().__init__(f'no {n}')\nraise X('q')",
            ("X", ["no q"], "call"),
        ),
        (
            "class X(E):\n  def __init__(self, n):\n    super(X, self).__init__(f'no {n}')\nraise X(q)",
            ("X", ["no {q}"], "call"),
        ),
        (
            "class X(E):\n  def __init__(self, n):\n    E.__init__(self, f'no {n}')\nraise X(n=q)",
            ("X", ["no {q}"], "call"),
        ),
        ("class X(E):\n  def __init__(self):\n    super().__init__('a b')\nraise X", ("X", ["a b"], "call")),
        (
            "class X(E):\n  def __init__(self):\n    super().__init__('a b')\nclass Y(X): pass\nraise Y()",
            ("Y", ["a b"], "call"),
        ),
        ("class X(E):\n  def __str__(self):\n    return f'a {self.n}'\nraise X(1)", ("X", ["a {self.n}"], "call")),
        (
            "class X(E):\n  def __init__(self, m):\n    super().__init__(f'{m} See there.')\nraise X('one two three')",
            ("X", ["one two three"], "literal"),
        ),
        (
            "class X(E):\n  def __init__(self, m):\n    super().__init__(f'failed: {m}')\nraise X('one two three')",
            ("X", ["failed: one two three"], "call"),
        ),
        # helpers that raise what they are handed
        ("def fail(m):\n  raise E(m)\ndef f():\n  fail('a b')\n  fail(f'c {x}')", ("E", ["a b", "c {x}"], "variable")),
        ("def fail(m, *, why='w'):\n  raise E(f'{m}{why}')\ndef f():\n  fail('a b ')", ("E", ["a b w"], "fstring")),
        ("def fail(m):\n  raise E(m)\ndef two(m):\n  fail(m)\ntwo('a b')", ("E", ["a b"], "variable")),
        (
            "class C:\n  def fail(self, m):\n    raise E(m)\n  def f(self):\n    self.fail('a b')",
            ("E", ["a b"], "variable"),
        ),
        ("def fail(m):\n  raise E(f'own {m}')\nfail('a b')", ("E", ["own {m}"], "fstring")),
        ("def fail(m):\n  raise E(m)\ndef f():\n  return fail('a b')", ("E", ["a b"], "variable")),
        # names
        ("from x import A as B\nraise B('t')", ("A", ["t"], "literal")),
        ("import x.y as z\nraise z.A('t')", ("z.A", ["t"], "literal")),
        ("try:\n  pass\nexcept E as e:\n  raise e", ("e", [], "reraise")),
        ("try:\n  pass\nexcept E:\n  raise", (None, [], "reraise")),
        ("def f(e):\n  raise e", ("e", [], "reraise")),
    ],
)
def test_a_text_elsewhere_in_the_file(source: str, expected: tuple[str | None, list[str], str]) -> None:
    site = next(site for site in sites(source))
    texts = [text for text in (site.message, *site.alternatives) if text is not None]
    assert (site.exception, texts, site.form) == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise E('a')", None),
        ("raise", Reason.RERAISE),
        ("try:\n  pass\nexcept E as e:\n  raise e", Reason.RERAISE),
        ("raise E", Reason.NO_ARGUMENT),
        ("raise E()", Reason.NO_ARGUMENT),
        ("raise E(g())", Reason.COMPUTED),
        ("raise E('')", Reason.COMPUTED),
        ("def f(m):\n  raise E(m)", Reason.PARAMETER),
        ("from other import M\nraise E(M)", Reason.FOREIGN),
        ("from other import make\nraise make()", Reason.FOREIGN),
    ],
)
def test_why_there_is_no_text(source: str, reason: Reason | None) -> None:
    assert harvest("pkg/mod.py", source.encode()).reasons == (reason,)


def test_asserts_are_sites_when_asked_for() -> None:
    source = b"def f(x):\n  assert x is None, f'got {x}'\n  assert x\n  raise E('a')\n"
    assert len(harvest("m.py", source).sites) == 1
    site, other = harvest("m.py", source, asserts=True).sites
    assert (site.line, site.exception, site.message, site.guard) == (
        2,
        "AssertionError",
        "got {x}",
        ("if x is not None",),
    )
    assert (other.line, other.form) == (4, Form.LITERAL)
