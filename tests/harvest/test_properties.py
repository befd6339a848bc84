"""What must hold for any source: no edit breaks the harvest, and CPython's own parser sees the same."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracker.harvest import texts
from tracker.harvest.sites import harvest

REAL = Path(texts.__file__).read_text(encoding="utf-8")
PIECES = [
    "raise",
    "(",
    ")",
    "'",
    '"""',
    "f'{",
    "}",
    "\n",
    "\n    ",
    ":",
    "\\",
    "\t",
    "\0",
    "é",
    "#",
    ",",
    "if ",
    "%",
    "{{",
    ";",
]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, len(REAL) - 1500),
    st.lists(st.tuples(st.integers(0, 1500), st.integers(0, 40), st.sampled_from(PIECES)), max_size=8),
)
def test_no_edit_breaks_the_harvest(start: int, edits: list[tuple[int, int, str]]) -> None:
    source = REAL[start : start + 1500] + "\nraise E(f'{x} ' + y)\n"
    for at, gone, piece in edits:
        source = source[:at] + piece + source[at + gone :]
    found = harvest("a.py", source.encode())
    assert all(0 < site.line <= site.end_line <= source.count("\n") + 2 for site in found.sites)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_break_the_harvest(raw: bytes) -> None:
    harvest("a.py", b"raise " + raw)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0", exclude_categories=("Cs",)), max_size=12)
CONSTANTS = WORDS.map(ast.Constant)
NAMES = st.sampled_from("abc").map(lambda name: ast.Name(name, ast.Load()))
CALLS = st.builds(lambda text: ast.Call(ast.Name("E", ast.Load()), [text], []), CONSTANTS)
RAISES = st.builds(lambda exc: ast.Raise(exc, None), st.one_of(CALLS, NAMES, st.none()))


def _compound(body: st.SearchStrategy[ast.stmt]) -> st.SearchStrategy[ast.stmt]:
    block = st.lists(body, min_size=1, max_size=3)
    arguments = ast.arguments([], [], None, [], [], None, [])
    handler = st.builds(lambda b: ast.ExceptHandler(ast.Name("E", ast.Load()), None, b), block)
    return st.one_of(
        st.builds(lambda b: ast.FunctionDef("f", arguments, b, [], type_params=[]), block),
        st.builds(lambda b: ast.AsyncFunctionDef("g", arguments, b, [], type_params=[]), block),
        st.builds(lambda b: ast.ClassDef("C", [], [], b, [], type_params=[]), block),
        st.builds(ast.If, NAMES, block, st.one_of(st.just([]), block)),
        st.builds(ast.While, NAMES, block, st.one_of(st.just([]), block)),
        st.builds(lambda b, h, o: ast.Try(b, [h], o, []), block, handler, st.one_of(st.just([]), block)),
        st.builds(lambda b: ast.With([ast.withitem(ast.Name("a", ast.Load()))], b), block),
        st.builds(lambda n, b: ast.Match(n, [ast.match_case(ast.MatchAs(), None, b)]), NAMES, block),
    )


MODULES = st.lists(st.recursive(RAISES, _compound, max_leaves=12), min_size=1, max_size=5).map(
    lambda body: ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
)


@settings(max_examples=120, deadline=None)
@given(MODULES)
def test_the_same_raises_as_the_parser_of_python(source: str) -> None:
    found = harvest("a.py", source.encode())
    raises = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)]
    assert found.problem is None
    assert {(site.line, site.end_line) for site in found.sites} == {(n.lineno, n.end_lineno) for n in raises}
    texts_of = {n.lineno: n.exc.args[0].value for n in raises if isinstance(n.exc, ast.Call)}  # type: ignore[attr-defined]
    for site in found.sites:
        text = texts_of.get(site.line, "")
        shown = text.replace("{", "{{").replace("}", "}}") if text.strip() else None
        assert site.message == shown


LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::8]


@pytest.mark.parametrize("file", LIBRARY, ids=lambda file: file.name)
def test_the_same_raises_in_the_standard_library(file: Path) -> None:
    raw = file.read_bytes()
    raises = [node for node in ast.walk(ast.parse(raw)) if isinstance(node, ast.Raise)]
    found = harvest(file.name, raw)
    assert sorted((s.line, s.end_line) for s in found.sites) == sorted((n.lineno, n.end_lineno) for n in raises)
    literal = {
        (n.lineno, n.end_lineno)
        for n in raises
        if isinstance(n.exc, ast.Call) and n.exc.args and _is_text(n.exc.args[0])
    }
    assert literal <= {(s.line, s.end_line) for s in found.sites if s.message is not None}


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.Constant) and str(part.value).strip() for part in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value.strip())
