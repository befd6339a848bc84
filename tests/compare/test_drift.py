"""Old source, new source -> what is said of it. As many rows say nothing as say something."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tracker.compare.classify import kinds
from tracker.compare.match import match
from tracker.harvest.sites import harvest

QUIET = {"moved"}
PAIRS = Path(__file__).parent.parent / "gold" / "pairs.jsonl"

Said = dict[tuple[tuple[str, int] | None, tuple[str, int] | None], set[str]]


def said(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Said:
    """(position before, position after) -> kinds, for every site of either side."""
    ours = [site for path, raw in before.items() for site in harvest(path, raw).sites]
    theirs = [site for path, raw in after.items() for site in harvest(path, raw).sites]
    found: Said = {}
    for pair in match(ours, theirs):
        b, a = pair.before, pair.after
        place = (b.path, b.line), (a.path, a.line) if a else None
        found.setdefault(place, set()).update(kinds(b, a) if a else {"removed"})
    continued = {after for _, after in found}
    found |= {(None, (s.path, s.line)): {"new"} for s in theirs if (s.path, s.line) not in continued}
    return found


def loud(old: str, new: str) -> list[list[str]]:
    """The kinds that are more than a moved line, each pair's sorted, in the order of the sites."""
    found = said({"m.py": old.encode()}, {"m.py": new.encode()})
    return [sorted(kinds - QUIET) for _, kinds in sorted(found.items(), key=repr) if kinds - QUIET]


GUARDED = 'def f(x):\n    if {}:\n        raise ValueError("bad x")\n'
SAID = "def f(x):\n    raise ValueError({})\n"

NOTHING = {
    "equal": (SAID.format('"bad"'), SAID.format('"bad"')),
    "a line above": (SAID.format('"bad"'), "\n" + SAID.format('"bad"')),
    "other quotes": (SAID.format('"it is"'), SAID.format("'it is'")),
    "wrapped by a formatter": (SAID.format('"one two"'), SAID.format('\n        "one "\n        "two"\n    ')),
    "other white space": (SAID.format('"one  two"'), SAID.format('"one two"')),
    "percent to f-string": (SAID.format('"got %s" % x'), SAID.format('f"got {x}"')),
    "percent r": (SAID.format('"got %r" % (x,)'), SAID.format('f"got {x!r}"')),
    "percent d": (SAID.format('"got %d" % x'), SAID.format('f"got {x}"')),
    "format to f-string": (SAID.format('"got {}".format(x)'), SAID.format('f"got {x}"')),
    "sum to f-string": (SAID.format('"got " + x'), SAID.format('f"got {x}"')),
    "str in a sum": (SAID.format('"got " + str(x)'), SAID.format('f"got {x}"')),
    "into a local variable": (SAID.format('"bad"'), 'def f(x):\n    m = "bad"\n    raise ValueError(m)\n'),
    "debug specifier": (SAID.format('f"{x=}"'), SAID.format('f"x={x!r}"')),
    "quotes in a placeholder": (SAID.format("f\"got {x['a']}\""), SAID.format("f'got {x[\"a\"]}'")),
    "brackets around the condition": (GUARDED.format("x and y"), GUARDED.format("(x and\n        y)")),
    "quotes in the condition": (GUARDED.format('"a" in x'), GUARDED.format("'a' in x")),
    "a trailing comma in the condition": (GUARDED.format("x in (1, 2)"), GUARDED.format("x in (1, 2,)")),
    "a comment in the condition": (GUARDED.format("x and y"), GUARDED.format("(x  # why\n        and y)")),
    "if not, and else": (
        GUARDED.format("not x"),
        'def f(x):\n    if x:\n        return 1\n    else:\n        raise ValueError("bad x")\n',
    ),
    "a qualified exception": ("def f():\n    raise core.E('a')\n", "def f():\n    raise E('a')\n"),
    "a decorator": (SAID.format('"bad"'), "@wraps(g)\n" + SAID.format('"bad"')),
    "type parameters": (SAID.format('"bad"'), SAID.format('"bad"').replace("f(x)", "f[T](x: T)")),
    "caught by another name": (
        "def f():\n    try: g()\n    except E as e:\n        raise e\n",
        "def f():\n    try: g()\n    except E as err:\n        raise err\n",
    ),
    "another exception of the same text": (
        'def f():\n    raise A("x y")\ndef g():\n    raise B("x y")\n',
        'def g():\n    raise B("x y")\ndef f():\n    raise A("x y")\n',
    ),
}

SOMETHING = {
    "reworded": (SAID.format('"is supported"'), SAID.format('"is not supported"'), [["reworded"]]),
    "retyped": (SAID.format('"bad"'), SAID.format('"bad"').replace("Value", "Type"), [["retyped"]]),
    "text for a bare class": ("def f():\n    raise E\n", 'def f():\n    raise E("bad")\n', [["reworded"]]),
    "placeholder": (SAID.format('f"got {x}"'), SAID.format('f"got {x.y}"'), [["placeholder-changed"]]),
    "conversion": (SAID.format('f"got {x}"'), SAID.format('f"got {x!r}"'), [["placeholder-changed"]]),
    "guard": (GUARDED.format("x > 1"), GUARDED.format("x > 2"), [["guard-changed"]]),
    "a condition more": (
        'def f(p):\n  if ("cuda" not in p and\n      "rocm" not in p):\n    raise E("no GPU")\n',
        'def f(p):\n  if ("cuda" not in p and "rocm" not in p\n      and "xpu" not in p):\n    raise E("no GPU")\n',
        [["guard-changed"]],
    ),
    "caught otherwise": (
        'def f():\n    try: g()\n    except A:\n        raise E("no g")\n',
        'def f():\n    try: g()\n    except (A, B):\n        raise E("no g")\n',
        [["guard-changed"]],
    ),
    "another case before the last": (
        'def f(x):\n  match x:\n    case 1: return\n    case _: raise E("no x")\n',
        'def f(x):\n  match x:\n    case 1 | 2: return\n    case _: raise E("no x")\n',
        [["guard-changed"]],
    ),
    "another branch before the else": (
        'def f(x):\n  if x == 1: return\n  else: raise E("no x")\n',
        'def f(x):\n  if x == 1: return\n  elif x == 2: return\n  else: raise E("no x")\n',
        [["guard-changed"]],
    ),
    "function renamed": (SAID.format('"bad x"'), SAID.format('"bad x"').replace("f(", "g("), [["relocated"]]),
    "removed": (SAID.format('"bad"'), "def f(x):\n    return x\n", [["removed"]]),
    "new": ("def f(x):\n    return x\n", SAID.format('"bad"'), [["new"]]),
    "one of two equal ones removed": (
        'def f(a, b):\n  if a: raise E("missing")\n  if b: raise E("missing")\n',
        'def f(a, b):\n  if b: raise E("missing")\n',
        [["removed"]],
    ),
    "another function's check that reads alike": (
        'def f(p):\n    if not p:\n        raise ValueError("path must not be empty")\ndef g(h): pass\n',
        'def f(p): pass\ndef g(h):\n    if h.name == "":\n        raise ValueError("name must not be empty")\n',
        [["removed"], ["new"]],
    ),
    "the same text in another function": (
        'def f(p):\n    raise ValueError("never empty")\ndef g(h): pass\n',
        'def f(p):\n    raise ValueError("never empty")\ndef g(h):\n    raise ValueError("never empty")\n',
        [["new"]],
    ),
}


@pytest.mark.parametrize("row", NOTHING.values(), ids=NOTHING)
def test_nothing_is_said(row):
    assert loud(*row) == []


@pytest.mark.parametrize("row", SOMETHING.values(), ids=SOMETHING)
def test_something_is_said(row):
    *sources, expected = row
    assert sorted(loud(*sources)) == sorted(expected)


def _pairs():
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 50
    return [pytest.param(row, id=f"{row['id']}-{row['name']}") for row in rows]


@pytest.mark.parametrize("row", _pairs())
def test_hand_made_pairs(row):
    encoding = row.get("encoding") or "utf-8"
    encodings = encoding if isinstance(encoding, dict) else {"before": encoding, "after": encoding}
    sides = []
    for side in ("before", "after"):
        files = row.get(f"{side}_files") or {"mod.py": row[side]}
        sides.append({path: source.encode(encodings[side]) for path, source in files.items()})
    found = said(*sides)
    quiet = {"moved", "unchanged", "excerpt-changed"}
    for want in row["expected"]:
        place = tuple(
            None if want.get(f"{side}_line") is None else (want.get(f"{side}_path", "mod.py"), want[f"{side}_line"])
            for side in ("before", "after")
        )
        accepted = [set(some) - quiet for some in (want["kinds"], *want.get("also_accept", []))]
        union = set().union(
            *(
                set(other["kinds"])
                for other in row["expected"]
                if (other.get("before_line"), other.get("after_line"))
                == (want.get("before_line"), want.get("after_line"))
            )
        )
        assert place in found, f"{row['why']}: {found}"
        assert {str(kind) for kind in found[place]} - quiet in [*accepted, union - quiet], row["why"]
