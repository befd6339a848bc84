"""The second answer to a question is the first, to the letter, and made of what was kept; whatever matters to an answer
makes another question of it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support import page
from tracker import check, recall

SOURCE = (
    'def f(x):\n    if x < 0:\n        raise ValueError("x must not be negative")\n    raise TypeError("never this")\n'
)
FORMATS = ("text", "json", "markdown", "sarif", "html", "github")


@pytest.fixture
def asked(run, place, repository, monkeypatch: pytest.MonkeyPatch):
    """asked(*arguments) -> exit code and report, and whether a check was made for it."""
    pin = repository.commit({"pkg/a.py": SOURCE, "pkg/b.py": "A = 'a text'\n"})
    place.page("one.txt", page(SOURCE, 3, message="x must not be negative", pin=pin))
    repository.commit(
        {"pkg/a.py": "\n" + SOURCE.replace("must not be", "is"), "pkg/c.py": "def g():\n    raise E('new')\n"}
    )
    assert run("pull").code == 0
    made: list[str] = []
    for name in ("check_entries", "check_all"):
        real = getattr(check, name)
        monkeypatch.setattr(check, name, lambda *given, real=real: (made.append("check"), real(*given))[1])

    def ask(*arguments: str) -> tuple[int, str, bool]:
        made.clear()
        done = run("-q", "diff", *arguments)
        return done.code, done.out, bool(made)

    return ask


def cold(place, ask, *arguments: str) -> tuple[int, str]:
    """The answer where nothing was kept."""
    for file in (place.folder / "state").glob("cache.sqlite3*"):
        file.unlink()
    code, out, made = ask(*arguments)
    assert made
    return code, out


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("options", [(), ("--all-sites",), ("--no-history",)])
def test_the_second_answer_is_the_first(asked, place, form, options):
    options = (*options, "--format", form, *(("--base", "main~1") if "--all-sites" in options else ()))
    code, out = cold(place, asked, *options)
    assert (code, bool(out)) == (1, True)
    assert asked(*options) == (1, out, False)


def _page(place, repository) -> None:
    file = place.pages / "one.txt"
    file.write_text(file.read_text().replace("x must not be negative", "x is negative"))


def _another_page(place, repository) -> None:
    text = (place.pages / "one.txt").read_text().replace("0123456789abcdef", "f" * 16)
    place.page("two.txt", text)


def _no_page(place, repository) -> None:
    place.page("broken.txt", "nothing that is a page")


def _paths(place, repository) -> None:
    place.configure(repository.url, paths='["pkg/a.py"]')


def _exclude(place, repository) -> None:
    place.configure(repository.url, exclude='["pkg/c.py"]')


def _asserts(place, repository) -> None:
    place.configure(repository.url, asserts="true")


CHANGES = [_page, _another_page, _no_page, _paths, _exclude, _asserts]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_matters_makes_another_question(asked, place, repository, change):
    asked("--format", "json")
    assert not asked("--format", "json")[2]
    change(place, repository)
    code, out, made = asked("--format", "json")
    assert made
    assert (code, out) == cold(place, asked, "--format", "json")


def test_what_upstream_does_makes_another_question(asked, run, place, repository):
    first = asked("--format", "json")
    repository.commit({"pkg/c.py": "def g():\n    raise E('newer')\n"})
    run("pull")
    code, out, made = asked("--format", "json")
    assert made
    assert out != first[1]
    assert (code, out) == cold(place, asked, "--format", "json")


@pytest.mark.parametrize("program", [b"another", b""])
def test_another_program_asks_anew(asked, monkeypatch: pytest.MonkeyPatch, program):
    first = asked()
    monkeypatch.setattr("tracker.program.identity", lambda: program)
    assert asked() == (first[0], first[1], True)


def test_what_does_not_matter_is_not_asked_for(asked, place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code, out, _ = asked("--format", "json")
    (place.pages / ".hidden.txt").write_text("no page")
    (place.pages / "notes.md").write_text("no page")
    assert asked("--format", "json") == (code, out, False)
    moved = tmp_path / "elsewhere"
    monkeypatch.chdir(tmp_path)
    moved.mkdir()
    assert asked("--format", "json") == (code, out, False)


def test_a_spoilt_cache_costs_time_alone(asked, place):
    code, out, _ = asked()
    cache = place.folder / "state" / "cache.sqlite3"
    for file in (place.folder / "state").glob("cache.sqlite3*"):
        file.unlink()
    cache.write_bytes(b"spoilt" * 1000)
    assert asked() == (code, out, True)
    assert cache.read_bytes() == b"spoilt" * 1000
    cache.unlink()
    cache.mkdir()
    assert asked() == (code, out, True)
    shutil.rmtree(cache)


def test_a_kept_answer_that_cannot_be_read_is_made_anew(asked, place, monkeypatch: pytest.MonkeyPatch):
    code, out, _ = asked()
    real = recall.Cache.get
    monkeypatch.setattr(recall.Cache, "get", lambda self, keys: dict.fromkeys(real(self, keys), b"\xc1 no message"))
    assert asked() == (code, out, True)
