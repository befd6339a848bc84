"""Where an excerpt begins: by hand in a table, and on every raise of a real release."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tracker.catalogue.excerpt import BEFORE, first_line, first_line_in, window
from tracker.catalogue.page import parse

PAGES = sorted((Path(__file__).parent / "pages").iterdir())


@pytest.mark.parametrize(
    ("excerpt", "exception", "message", "index"),
    [
        # the only raise, whatever it says
        ("x = 1\nraise ValueError('a b')", "KeyError", "other words", 1),
        ("x = 1\n\traise\ny = 2", "KeyError", "other words", 1),
        ("if x: raise ValueError('a b')", "ValueError", "a b", 0),
        ("  elif x[1:2]:  raise V", "V", "", 0),
        ("def __getitem__(self, i): raise IndexError(i)", "IndexError", "", 0),
        # no raise
        ("", "V", "a", None),
        ("x = 1", "V", "a", None),
        ("# raise V('a')\nraised = 1\nraiser()\nx = 'if so: raise V'", "V", "a", None),
        # the message decides
        ("raise V('one two')\nraise V('one three')", "V", "one three", 1),
        ("raise V('one two')\nraise V('one three')", "V", "one two", 0),
        ("raise V(\n  'one'\n  ' two'\n)\nraise V(\n  'one'\n  ' three'\n)", "V", "one three", 4),
        ("raise V((\n  'one'\n) + ' two')\nraise V('one')", "V", "one two", 0),
        ("raise V(f'a {x} b')\nraise V(f'c {x} d')", "V", "c {} d", 1),
        ("raise V(f'a {c} d')\nraise V(f'c {a} d')", "V", "c {xb.canonical", 1),
        ("raise W('one three')\nraise V('one two')", "V", "one three", 0),
        ("x\n" * 18 + "raise V('one two')\nraise V('one three')", "V", "one three", 19),
        # then the name of the exception
        ("raise V('one')\nraise W('one')", "W", "one", 1),
        ("raise V(msg)\nraise ns.W(msg)\nraise V(msg)", "other.W", "one two", 1),
        ("raise V('is not a kind of thing')\nraise W(msg)", "W", "it is not known what that was", 1),
        # then the place in the window
        ("raise V('one')\n" * 30, "V", "one", 18),
        ("x\n" * 17 + "raise V('one')\nx\nraise V('one')", "V", "one", 17),
        ("raise V('one')\n" * 10, "V", "one", 9),
    ],
)
def test_the_raise_that_a_page_is_about(excerpt: str, exception: str, message: str, index: int | None) -> None:
    found = first_line(excerpt.split("\n"), line=100, exception=exception, message=message)
    assert found == (None if index is None else 100 - index)


def test_near_the_start_of_the_file_the_window_is_shorter() -> None:
    lines = ["raise V('one')"] * 30
    assert first_line(lines, line=5, exception="V", message="one") == 1


def test_no_excerpt_begins_before_its_file() -> None:
    lines = ["raise V('one')", "x", "raise V('two')"]
    assert first_line(lines, line=2, exception="V", message="two") == 2
    assert first_line(lines[1:], line=1, exception="V", message="two") is None


FILE = ["1", "", "3", "4", "5", "", "", "8", "9", "", "11", "12", "", ""]


@pytest.mark.parametrize(
    ("line", "before", "after", "shown"),
    [
        (5, 1, 0, (4, 5)),
        (5, 2, 3, (3, 8)),
        # a blank end: on to the next line that says something, as far as pages go
        (5, 3, 0, (1, 5)),
        (5, 0, 1, (5, 8)),
        (9, 2, 1, (5, 11)),
        # the file has no more, or nothing but blank lines
        (5, 9, 20, (1, 12)),
        (12, 0, 1, (12, 12)),
        (1, 3, 0, (1, 1)),
    ],
)
def test_windows(line: int, before: int, after: int, shown: tuple[int, int]) -> None:
    assert window(FILE, line, before, after) == shown


def test_a_window_goes_no_further_than_those_of_pages_do() -> None:
    blank = ["x", *[""] * 20, "raise", *[""] * 20, "y"]
    assert window(blank, 22, 5, 5) == (22, 22)
    assert window(blank, 22, 21, 21) == (1, 43)
    assert window(blank, 22, 20, 20) == (22, 22)


@pytest.mark.parametrize(
    ("excerpt", "line", "guess", "first"),
    [
        ("4\n5", 5, 4, 4),
        ("4\n5", 5, None, 4),
        ("4\n5", 4, 3, 4),
        ("4\n5", 5, 1, 4),
        ("\n", 6, 2, 6),  # the guess is not what the file has, and the first that is will do
        ("4\n5", 3, 2, 2),  # the file has it, but not around the line
        ("4\n6", 5, 2, 2),
        ("4\n6", 5, None, None),
    ],
)
def test_the_source_tells_where_an_excerpt_was_taken_from(
    excerpt: str, line: int, guess: int | None, first: int | None
) -> None:
    assert first_line_in(FILE, excerpt, line=line, guess=guess) == first
    assert first_line_in([], excerpt, line=line, guess=guess) == guess


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Path -> text of the sources of jax 0.11.1, which the sample pages were written against."""
    folder = tmp_path_factory.mktemp("release")
    download = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps")
    wheel = ("--only-binary=:all:", "--python-version", "3.14", "--dest", str(folder), "jax==0.11.1")
    subprocess.run((*download, *wheel), check=True)
    with zipfile.ZipFile(next(folder.glob("jax-*.whl"))) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
        return {name: archive.read(name).decode() for name in names}


@pytest.mark.index
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name[:3])
def test_sample_excerpts_are_the_source_line_by_line(page: Path, release: dict[str, str]) -> None:
    entry = parse(page.read_bytes(), page.name).entry
    source, shown = release[entry.path].split("\n"), entry.excerpt.split("\n")
    assert entry.excerpt_line is not None
    start = entry.excerpt_line - 1
    assert source[start : start + len(shown)] == shown
    assert source[entry.line - 1].lstrip().startswith(f"raise {entry.exception}(")
    # The window that BEFORE speaks of: 18 lines on both sides, blank ends dropped.
    window = source[max(0, entry.line - 1 - BEFORE) : entry.line + BEFORE]
    assert "\n".join(window).strip("\n") == entry.excerpt


@pytest.mark.index
def test_excerpts_of_every_raise_of_a_release_are_placed(release: dict[str, str]) -> None:
    total, wrong = 0, []
    for path, text in release.items():
        if "jax/_src/" not in path or (tree := _tree(text)) is None:
            continue
        lines = text.split("\n")
        for node in ast.walk(tree):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call) or not node.exc.args:
                continue
            begin = max(0, node.lineno - 1 - BEFORE)
            stop = node.lineno + BEFORE
            while not lines[begin].strip():
                begin += 1
            exception, message = ast.unparse(node.exc.func), _message(node.exc.args[0])
            found = first_line(lines[begin:stop], line=node.lineno, exception=exception, message=message)
            total += 1
            if found != begin + 1:
                wrong.append((path, node.lineno, found))
    # What is left: twins of one message within three lines, where blank lines in front hide which of them it is.
    assert total > 2500
    assert len(wrong) <= total // 500, wrong


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:  # newer than the Python that runs the tests
        return None


def _message(node: ast.expr) -> str:
    """The text of a plain string or an f-string as a page shows it, cut; nothing for any other expression."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [
        str(part.value) if isinstance(part, ast.Constant) else "{" + ast.unparse(part)[:40] + "}" for part in parts
    ]
    return "".join(texts)[:60] if isinstance(node, ast.JoinedStr | ast.Constant) else ""
