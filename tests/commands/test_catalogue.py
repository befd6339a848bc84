"""The pages themselves: listed, shown, drafted, and checked against their own pins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import page
from tracker.catalogue.draft import draft, identity
from tracker.catalogue.likeness import alike
from tracker.catalogue.page import Page
from tracker.cli import COMMANDS, main
from tracker.harvest.sites import harvest
from tracker.locate import agrees

SOURCE = """
def check(x):
    if x is None:
        raise ValueError("x is missing")
    raise TypeError(f"bad x {x}")


def other(y):
    raise KeyError("y is missing and cannot be guessed")


def third(y):
    raise KeyError("y is missing and cannot be guesses")
"""
NAMES = {
    "pkg/__init__.py": "from pkg.api import shown as shown\nfrom pkg import a, lazy\n",
    "pkg/api.py": "def shown():\n    pass\n",
    "pkg/lazy.py": "def __getattr__(name):\n    raise AttributeError(name)\n",
}


@pytest.fixture
def pin(run, repository, place) -> str:
    commit = repository.commit({"pkg/a.py": SOURCE, **NAMES})
    assert run("pull").code == 0
    return commit


def _page(pin: str, line: int = 4, message: str = "x is missing", **more: str) -> str:
    more.setdefault("exception", "ValueError")
    return page(SOURCE, line, message=message, pin=pin, **more).replace("• another one", "• bad x {x}")


def test_list_and_show(run, place, pin):
    place.page("a.txt", _page(pin))
    place.page("b.txt", _page(pin, 5, "bad x {x}", exception="TypeError", id="abcdefabcdefabcd"))
    place.page("c.txt", "no page")
    done = run("catalogue", "list")
    assert done.out.splitlines()[0] == "0123456789abcdef  pkg/a.py:4  ValueError: x is missing  [a.txt]"
    assert "2 pages, 1 not readable" in done.err
    listed = json.loads(run("catalogue", "list", "--format", "json").out)
    assert [one["id"] for one in listed] == ["0123456789abcdef", "abcdefabcdefabcd"]
    assert run("catalogue", "show", "abc").out.strip() == (place.pages / "b.txt").read_text(encoding="utf-8").strip()
    assert json.loads(run("catalogue", "show", "0123", "--format", "json").out)["line"] == 4


@pytest.mark.parametrize(("entry", "said"), [("fff", "no page has an id"), ("a", "beginning of 2 ids")])
def test_an_id_that_is_none(run, place, pin, entry, said):
    place.page("a.txt", _page(pin, id="a" * 16))
    place.page("b.txt", _page(pin, 5, "bad x {x}", exception="TypeError", id="ab" * 8))
    done = run("catalogue", "show", entry)
    assert done.code == 2
    assert said in done.err


def test_every_site_gets_a_page_that_is_right(run, place, pin):
    done = run("catalogue", "init")
    assert done.code == 0
    assert len(done.out.splitlines()) == 4
    assert "4 drafts" in done.err
    assert "1 with no text" in done.err
    diff = json.loads(run("diff", "--format", "json").out)
    assert diff["summary"]["checked"] == 4
    assert diff["summary"]["unchanged"] == 4
    drafts = {file.name: file.read_text(encoding="utf-8") for file in place.pages.iterdir()}
    (guess,) = [text for text in drafts.values() if "be guesses\n\nError message" in text]
    assert "• y is missing and cannot be guessed" in guess
    again = run("catalogue", "init")
    assert again.out == ""
    assert "4 with a page already" in again.err
    assert drafts == {file.name: file.read_text(encoding="utf-8") for file in place.pages.iterdir()}


def test_only_what_is_asked_for_is_drafted(run, repository, place, pin, tmp_path):
    base = repository.git("rev-parse", "HEAD")
    repository.commit({"pkg/b.py": 'def late():\n    raise OSError("too late")\n'})
    run("pull")
    output = str(tmp_path / "drafts")
    assert len(run("catalogue", "init", "--new-since", base, "--output", output).out.splitlines()) == 1
    assert len(run("catalogue", "init", "--path", "pkg/a.py", "--limit", "2", "--output", output).out.splitlines()) == 2
    assert run("catalogue", "init", "--path", "nowhere/*", "--output", output).code == 2
    assert len(list(Path(output).iterdir())) == 3


@pytest.mark.index
def test_drafts_of_a_real_release_are_right(run, place, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACKER_UPSTREAM_PACKAGE", "jax")
    monkeypatch.setenv("TRACKER_UPSTREAM_PATHS", "jax/_src/lax/*.py")
    done = run("catalogue", "init", "--at", "release:0.12.0.1")
    assert done.code == 0
    count = len(done.out.splitlines())
    assert count > 500
    diff = json.loads(run("diff", "release:0.12.0.1", "--format", "json").out)
    assert (diff["summary"]["checked"], diff["summary"]["unchanged"]) == (count, count)


MESSAGES = st.text(alphabet=st.sampled_from(list("ab cé'{}%\\n.:•-1")), min_size=1, max_size=130)


@given(messages=st.lists(MESSAGES, min_size=1, max_size=4), before=st.integers(0, 30))
def test_a_draft_reads_back_or_is_none(messages: list[str], before: int) -> None:
    source = "\n" * before + "".join(
        f"def f{n}():\n    raise ValueError({text!r})\n" for n, text in enumerate(messages)
    )
    sites = harvest("pkg/a.py", source.encode()).sites
    for site in sites:
        made = draft(site, source.split("\n"), "a/b", "c" * 40, "2026-01-01", ())
        if isinstance(made, Page):
            assert agrees(made.entry, site)
            assert made.entry.line == site.line
            assert made.entry.id == identity("a/b", site)
        else:
            assert made


def test_what_is_nearly_the_same_is_named():
    sites = harvest("pkg/a.py", SOURCE.encode()).sites
    near = {site.line: like for site, like in alike(sites).items()}
    assert near == {9: ("y is missing and cannot be guesses",), 13: ("y is missing and cannot be guessed",)}


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda text: text, []),
        (lambda text: text.replace("pkg/a.py:4", "pkg/a.py:5"), ["unlocated"]),
        (lambda text: text.replace("    if x is None:", "    if x is nothing:"), ["excerpt"]),
        (lambda text: text.replace("• bad x {x}", "• an error that never was"), ["related-gone"]),
        (lambda text: text.replace("Do it right", "call pkg.shown and pkg.api.shown"), []),
        (lambda text: text.replace("Do it right", "call pkg.hidden first"), ["reference-gone"]),
        (lambda text: text.replace("Do it right", "call pkg.lazy.anything, pkg.a.check.x or pkg/a.py"), []),
        (lambda text: text.replace("Do it right", "see pkg.a.missing.x"), ["reference-gone"]),
    ],
)
def test_what_is_wrong_with_a_page(run, place, pin, monkeypatch, change, kinds):
    monkeypatch.setenv("TRACKER_UPSTREAM_PACKAGE", "pkg")
    place.page("a.txt", change(_page(pin)))
    done = run("catalogue", "check", "--format", "json")
    assert [fault["kind"] for fault in json.loads(done.out)["faults"]] == kinds
    assert done.code == (1 if kinds else 0)


def test_two_pages_of_one_error_and_pages_that_cannot_be_read(run, place, pin):
    place.page("a.txt", _page(pin))
    place.page("b.txt", _page(pin, id="b" * 16))
    done = run("catalogue", "check")
    assert done.code == 1
    assert "b.txt: twice: a.txt is about the same raise statement" in done.out
    place.page("c.txt", "no page")
    assert run("catalogue", "check").code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_learns_the_commands(run, shell):
    done = run("completion", shell, config=False)
    assert done.code == 0
    assert "_TRACKER_COMPLETE" in done.out


def test_bash_completes(tmp_path):
    script = tmp_path / "completion"
    made = [sys.executable, "-m", "tracker", "completion", "bash"]
    script.write_bytes(subprocess.run(made, capture_output=True, check=True).stdout)
    tracker = tmp_path / "tracker"
    tracker.write_text(f'#!/bin/sh\nexec {sys.executable} -m tracker "$@"\n', encoding="utf-8")
    tracker.chmod(0o755)
    asked = (
        f"source {script}; COMP_WORDS=(tracker re); COMP_CWORD=1; _tracker_completion tracker re tracker; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.stdout.split() == ["repin"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example(name, capsys):
    main([name, "--help"])
    said = capsys.readouterr().out
    assert "Example:" in said
    assert f"tracker {name}" in said or f"{name} " in said
