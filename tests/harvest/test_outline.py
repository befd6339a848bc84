"""A file of which only some definitions are parsed says what the whole file says."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracker.harvest import sites
from tracker.harvest.blocks import File, Misread
from tracker.harvest.outline import divide
from tracker.harvest.sites import harvest, problem_of
from tracker.harvest.source import normalize

FRAGMENTS = (
    "import os\n",
    "from m import TEXT as T, Other\n",
    "A = 'a text of %s'\n",
    "A += ' and more'\n",
    "if A:\n  B = 'b'\nelse:\n  B = 'c'\n",
    "TABLE = {\n'x': 'one text',\n'y': 'another'\n}\n",
    "# a comment\n",
    "\n\n",
    "def helper(text, n=1):\n  return text + ' in a helper'\n",
    "def helper(text, n=1):\n  return 'another one ' + text\n",
    "def fails(text):\n  raise ValueError(text)\n",
    "def silent():\n  fails('handed in by a silent one')\n",
    "def silent(x):\n  '''Text.\n\nat column zero: raise\n  '''\n  return x\n",
    'def quoted():\n  """Text\n"""\n  return 1\n',
    'def shown():\n  """As\n\ndef inside():\n  pass\n\ndef other():\n  raise ValueError("none")\n  """\n  return A\n',
    "class Base(Exception):\n  def __init__(self, x):\n    super().__init__(f'base says {x}')\n",
    "class Error(Base):\n  pass\n",
    "class Holder:\n  TEXT = 'held'\n  def m(self):\n    raise Error(self.TEXT)\n",
    "@decorated(\n1,\n)\n@twice\ndef of(x):\n  raise ValueError(A % x)\n",
    "@decorated\nclass Marked:\n  y = 'z'\n",
    "async def later():\n  raise Error(helper('given'))\n",
    "def uses(x):\n  if x:\n    raise ValueError(TABLE[x])\n  raise TypeError(Holder.TEXT + B)\n",
    "raise RuntimeError(helper('at the top'))\n",
    "def torn(:\n  pass\n",
    "def open_(x=(\n  1, 2):\n",
    "x = (1 +\n2)\ny = [\na, b,\n]\n",
    "value = 1 + \\\n  2\n",
    "value = a \\\n@ b\n",
    "\f\ndef after_a_page():\n  raise ValueError('new page')\n",
    "'''a string\ndef not_one(): raise X\n'''\n",
    "def odd():  # ''' in a comment\n  return 1\n",
    "def stars(x):\n  return x[*(1 for y in x)]\n",
    "class Held:\n  x = 1\n\\\n  def m(self):\n    raise ValueError('behind a backslash')\n",
    "\\\nclass Behind:\n  def m(self):\n    raise ValueError('as well')\n",
    "def naïve():\n  raise ValueError('naïve')\n",
    "print(helper)\n",
)


def both(source: bytes) -> tuple[sites.Harvest, sites.Harvest]:
    """The harvest as it is made, and the one of the wholly parsed file."""
    words = {"raise_statement": b"raise"}
    file = File.whole("pkg/a.py", source)
    found = harvest("pkg/a.py", source)
    return found, sites.read_sites(file, None, words, sites.imports(source)) if b"raise" in source else found


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_a_file_read_in_parts_says_what_the_whole_says(source):
    found, whole = both(source.encode())
    told = found.problem or problem_of(source.encode())
    assert told == (whole.problem or problem_of(source.encode()))
    if found.problem or not whole.problem:
        assert found == whole
    else:
        # What is broken holds no raise: whatever the broken whole shows is seen, and what it swallowed as well.
        assert {site.line for site in found.sites} >= {site.line for site in whole.sites}


def test_most_of_a_file_is_left_unread():
    source = "".join(f"def f{n}():\n  return {n}\n" for n in range(9)) + "def g():\n  raise E(f3())\n"
    file = File.sparse("a.py", source.encode(), [b"raise"])
    assert [child.type for child in file.root.children] == ["function_definition"]
    assert len(file.end.block) == 10


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("", []),
        ("x = 1\n", []),
        ("x = 1\ny = 2\ndef f(): pass\n", ["f"]),
        ("def f():\n  pass\n\n# about x\nx = 1\n", ["f"]),
        ("@a(\n  b\n)\n@c\nclass D:\n  pass\n", ["D"]),
        ("@a\nx\ndef f(): pass\n", []),
        ("@a\n", []),
        ("def f():\n  '''a\n", []),
        ("def f():\n  x[*(a)]\n", []),
        ("def f():\n  raise E\ndef g(): pass\n", ["g"]),
        ("async def f(): pass\nclass C[T]: pass\n", ["f", "C"]),
        ("defer()\nclassify = 1\n", []),
    ],
)
def test_what_can_wait(source, left):
    raw = source.encode()
    divided = divide(raw, [b"raise"])
    assert divided is not None
    read, found = divided
    assert [one.name for one in found] == left
    spans = sorted([*read, *((one.start, one.stop) for one in found)])
    assert b"".join(raw[start:stop] for start, stop in spans) == raw


@pytest.mark.parametrize("source", ["\fx = 1\n", "x = a \\\n@ b\n", "\\\nclass A: pass\n", "x = a + \\\ndef_\n"])
def test_lines_that_tell_nothing(source):
    assert divide(source.encode(), [b"raise"]) is None


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def f(): pass\ndef g():\n  raise E\n", None),
        ("def f(:\n  pass\n\ndef g():\n  raise E\n", "has syntax that is not understood at line 1"),
        ("def f(:\n  pass\n", "has syntax that is not understood at line 1"),
        ("def f(): pass\ndef g(:\n  raise E\n", "has syntax that is not understood at line 2"),
        ("def f():\n  pass\n)\ndef g():\n  raise E\n", "has syntax that is not understood at line 3"),
        ("def f(): pass\n", None),
    ],
)
def test_what_is_wrong_with_a_file_is_seen_in_the_whole(source, problem):
    """Each part by itself can be well where the whole is not."""
    assert problem_of(source.encode()) == problem


def test_a_broken_promise_is_told():
    file = File.sparse("a.py", b"def f():\n  return (\n\ndef g():\n  raise E\n", [b"raise"])
    with pytest.raises(Misread):
        file.end.block.at(0)


LIBRARY = sorted(file for file in Path(sysconfig.get_path("stdlib")).rglob("*.py") if file.stat().st_size < 40_000)
TROUBLE = (b'"""', b"'''", b"(", b"[", b'"', b"\\", b")", b"@d", b"    raise E", b"\f", b"def f(", b"class A:", b"")


@pytest.mark.parametrize("seed", range(8))
def test_real_files_and_what_breaks_them(seed):
    """Where nothing is broken both say the same; where something is, both say so."""
    chance = random.Random(seed)
    for file in chance.sample(LIBRARY, 25):
        raw = file.read_bytes()
        lines = raw.split(b"\n")
        for _ in range(2):
            at = chance.randrange(len(lines))
            broken = b"\n".join([*lines[:at], chance.choice(TROUBLE), *lines[at + chance.randrange(2) :]])
            for source in (raw, broken):
                normal = normalize(source).data
                found, whole = both(normal)
                problem = found.problem or problem_of(normal)
                assert (problem is None) == ((whole.problem or problem_of(normal)) is None)
                assert found == whole or problem, file
