"""`tracker catalogue init`: every draft is found at its own pin and shows no drift; what is there is not touched."""

from __future__ import annotations

import io
import json
import re
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.conftest import Repository
from tests.support import Workplace, page
from tracker.catalogue.folder import read
from tracker.cli import main

SOURCE = """\
import os


def check(x, y):
    if x is None:
        raise ValueError("the thing x is missing")
    if y > 3:
        raise TypeError(f"the value {y} of y is too large")
    for z in x:
        raise errors.ShapeError("the thing z is missing")
    raise NotImplementedError


class A:
    def f(self):
        try:
            return self.g()
        except KeyError:
            raise

    def h(self, y):
        raise TypeError(f"the value {y!r} of y is too large")


raise RuntimeError(
    "this module is not to be read at all, for it never was meant to be, and "
    "its text is long"
)
"""


@pytest.fixture
def upstream(repository, run) -> str:
    commit = repository.commit({"pkg/a.py": SOURCE, "pkg/b.py": 'raise ValueError("only here, and nowhere else")\n'})
    run("pull")
    return commit


def held(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_a_draft_of_each_error_that_has_a_text(run, place, upstream):
    newest = run("catalogue", "init", "--output", str(place.folder / "elsewhere"))
    done = run("catalogue", "init", "--at", "main")
    assert done.code == 0
    names = [line.split()[0] for line in done.out.splitlines()]
    assert sorted(names) == list(held(place.pages))
    assert newest.out == done.out
    assert [line.split()[1] for line in done.out.splitlines()] == [
        "pkg/a.py:6", "pkg/a.py:8", "pkg/a.py:10", "pkg/a.py:22", "pkg/a.py:25", "pkg/b.py:1",
    ]  # fmt: skip
    assert done.err.splitlines() == [
        "2 errors without a page that can be drafted: 1 no-argument, 1 re-raise",
        "2 drafts have a message that is raised elsewhere, too, 2 one that is nearly so",
        f"6 drafts written to {place.pages}",
    ]
    assert run("diff", "main").code == 0
    check = run("catalogue", "check")
    assert (check.code, check.out) == (0, "Nothing is wrong with 6 pages.\n")


def test_what_a_draft_says(run, place, upstream):
    done = run("catalogue", "init", "--at", "main", "--limit", "2")
    assert done.err.endswith(f"2 drafts written to {place.pages}, 4 more to come\n")
    first, second = (place.pages / line.split()[0] for line in done.out.splitlines())
    identity = second.stem
    assert re.fullmatch("[0-9a-f]{16}", identity)
    head, excerpt, tail = re.split(r"(?<=pkg/a\.py:8\n\n)|(?=\n\nView on)", second.read_text())
    assert excerpt == "\n".join(SOURCE.split("\n")[:26])
    assert head == (
        "a/b · error · TypeError\n\nthe value {y} of y is too large\n\n"
        "Error message\n\nthe value {y} of y is too large\n\n"
        "What it means\n\nDraft: not written yet. The same message is raised at pkg/a.py:22.\n\n"
        "Source\n\nThrown at pkg/a.py:8\n\n"
    )
    assert tail == (
        f"\n\nView on GitHub (pinned to {upstream[:10]})\n\nSolutions\n\n1. Draft: not written yet.\n\n"
        "Example fix\n\nDraft: not written yet.\n\nWhen it happens\n\n"
        "Trigger: Draft, from the source: in check: if y > 3.\n\n"
        "Common situations: Draft: not written yet.\n\nRelated errors\n\n"
        f"AI-assisted analysis of a/b@{upstream[:10]} (2025-06-15). "
        f"Data as JSON: /api/errors/{identity}. Report an issue: GitHub."
    )
    assert "Related errors\n\n• the thing z is missing\n\n" in first.read_text()
    assert "[nearly: pkg/a.py:10]" in done.out
    assert "[same: pkg/a.py:22]" in done.out


def test_an_id_stays_wherever_the_line_goes(run, repository, place, upstream):
    first = run("catalogue", "init", "--at", "main", "--output", str(place.folder / "one"))
    repository.commit({"pkg/a.py": "# more\n\n" + SOURCE})
    run("pull")
    second = run("catalogue", "init", "--at", "main", "--output", str(place.folder / "two"))
    assert [line.split()[0] for line in first.out.splitlines()] == [line.split()[0] for line in second.out.splitlines()]


def test_nothing_that_is_there_is_touched_and_nothing_is_drafted_twice(run, place, upstream):
    text = page(SOURCE, 6, message="the thing x is missing", pin=upstream)
    place.page("mine.txt", text)
    done = run("catalogue", "init", "--at", "main")
    assert len(done.out.splitlines()) == 5
    assert "1 error of the revision has a page already" in done.err
    before = held(place.pages)
    again = run("catalogue", "init", "--at", "main")
    assert (again.code, again.out) == (0, "")
    assert "6 errors of the revision have a page already" in again.err
    assert held(place.pages) == before
    assert before["mine.txt"].decode() == text


def test_a_file_of_that_name_is_left_alone(run, place, upstream):
    name = run("catalogue", "init", "--at", "main", "--path", "pkg/b.py").out.split()[0]
    (place.pages / name).write_text("my notes")
    done = run("catalogue", "init", "--at", "main", "--path", "pkg/b.py")
    assert (done.code, done.out) == (0, "")
    assert (place.pages / name).read_text() == "my notes"


def test_an_error_that_drifted_keeps_its_page(run, repository, place, upstream):
    """A page of another pin speaks of the reworded site: it gets no second page."""
    run("catalogue", "init", "--at", "main")
    repository.commit({"pkg/a.py": "\n\n" + SOURCE.replace("the thing x is missing", "the thing x is absent")})
    run("pull")
    assert run("catalogue", "init", "--at", "main").out == ""


def test_only_some_files_and_only_what_is_new(run, repository, place, upstream):
    out = place.folder / "drafts"
    done = run("catalogue", "init", "--at", "main", "--path", "pkg/b*", "--output", str(out))
    assert [line.split()[1] for line in done.out.splitlines()] == ["pkg/b.py:1"]
    repository.commit({"pkg/c.py": 'raise ValueError("this one is new")\n', "pkg/a.py": SOURCE + "\n"})
    run("pull")
    done = run("catalogue", "init", "--at", "main", "--new-since", upstream, "--output", str(out))
    assert [line.split()[1] for line in done.out.splitlines()] == ["pkg/c.py:1"]
    assert held(place.pages) == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--at", "v9"], "no revision 'v9'"),
        (["--at", "main", "--new-since", "v9"], "no revision 'v9'"),
        (["--at", "main", "--path", "other/*"], "no file in scope that --path matches"),
        (["--at", "main", "--limit", "0"], "limit"),
        (["--at", "main", "--output", "config.toml"], "is a file"),
    ],
)
def test_bad_input(run, place, upstream, monkeypatch, arguments, said):
    monkeypatch.chdir(place.folder)
    done = run("catalogue", "init", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


LINES = st.sampled_from(
    [
        "", "  ", "\t", "x = 1", "# Source", "Source = 1", "null", "# null", "'''", "Solutions", "Related errors",
        "# View on GitHub (pinned to 1e1c6a8fc0)", "View on GitHub (pinned to 1e1c6a8fc0)", "Thrown at pkg/a.py:1",
        "AI-assisted analysis of a/b@1e1c6a8fc0 (2026-08-27). Data as JSON: /api/errors/519f29f51aca4e7b.",
        "What it means", "def f(x):", "  if x:", "    pass", "é = '\u2028'", "\x0c", "a\rb = 1", "class B: pass",
    ]
)  # fmt: skip
MESSAGES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        ["Source", "null", "Error message", "a\nSource\nb", "\n\n x", "{", "{{x}}", "a" * 60, "b" * 59 + " c",
         "No longer raised since 1e1c6a8fc0 (2026-01-01)", "Thrown at a.py:1", "a/b · error · E", "\0", "\ud800",
         " ", "•"]
    ),
)  # fmt: skip
RAISES = st.builds(
    lambda name, text, form: {
        "plain": f"raise {name}({text!r})",
        "hole": f"raise {name}(f'{{x}}' + {text!r} + str(x))",
        "wide": f"raise {name}(\n    {text!r}\n    'and more'\n)",
        "format": f"raise {name}({text!r}.format(x))",
        "clause": f"if x: raise {name}({text!r})",
    }[form],
    st.sampled_from(["ValueError", "a.b.TypeError", "E"]),
    MESSAGES,
    st.sampled_from(["plain", "hole", "wide", "format", "clause"]),
)
FILES = st.lists(st.one_of(LINES, RAISES), max_size=30).map(
    lambda lines: "\n".join(lines).encode("utf-8", "replace")
) | st.lists(RAISES, min_size=1, max_size=8).map(lambda lines: "\r\n".join(lines).encode("utf-8", "replace"))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(FILES, min_size=1, max_size=6))
@example([b"raise ValueError('Source')\nraise ValueError('Source')\n" * 30])
@example([b"\n" * 40 + b"raise E('a')" + b"\n" * 40, b"raise E('a')", b"raise E('a')\n"])
@example([b"\nraise ValueError('0')\nclass B: pass\n'''"])
@example([b"raise ValueError('No longer raised since 1e1c6a8fc0 (2026-01-01)')"])
def test_every_draft_is_found_and_shows_no_drift(files):
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder) / "upstream")
        # One error that surely gets a page, for there is nothing to check without any.
        last = {"pkg/z.py": "raise E('a text')\n"}
        repository.commit({f"pkg/f{n}.py": data for n, data in enumerate(files)} | last)
        place = Workplace(Path(folder) / "work", repository.url)

        def tracker(*arguments: str) -> tuple[int, str]:
            said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
            with redirect_stdout(said), redirect_stderr(io.TextIOWrapper(io.BytesIO())):
                code = main(["-c", str(place.config), *arguments])
            said.seek(0)
            return code, said.read()

        assert tracker("pull")[0] == 0
        code, said = tracker("catalogue", "init", "--at", "main")
        assert code == 0
        number = len(list(place.pages.iterdir()))
        assert number == said.count("\n")
        drafted = read(place.pages, "a/b")
        assert (len(drafted.pages), drafted.faults) == (number, ())
        code, said = tracker("diff", "main", "--fail-on", "moved", "--format", "json")
        report = json.loads(said)
        assert (code, report["drifts"], report["unlocated"], report["summary"]["checked"]) == (0, [], [], number)


@pytest.mark.index
def test_every_error_of_a_real_release_shows_no_drift(run, place):
    """All of jax 0.4.30: 2,600 drafts, not one of which differs from the release in anything."""
    text = place.config.read_text().replace('package = "demo"', 'package = "jax"').replace("pkg/", "jax/")
    place.config.write_text(text)
    at = "release:0.4.30"
    done = run("catalogue", "init", "--at", at)
    assert done.code == 0
    assert len(done.out.splitlines()) > 2500
    assert "no page can" not in done.err
    sites = run("sites", at).err.splitlines()[-1]
    assert int(re.search(r"(\d+) with text", sites)[1]) == len(done.out.splitlines())
    diff = run("diff", at, "--fail-on", "moved")
    assert diff.code == 0
    assert f"All {len(done.out.splitlines())} pages are right at {at}." in diff.out
