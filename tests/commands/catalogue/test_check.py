"""`tracker catalogue check` on real git repositories: every fault of a page, and what is none."""

from __future__ import annotations

import json

import pytest

from tests.support import page

SOURCE = """\
from pkg.api import helper


def check(x):
    if x is None:
        raise ValueError("the thing x is missing")
    if x > 3:
        raise TypeError(f"the thing {x} is too large for anybody who reads this, or anything else")


def other(y):
    raise KeyError("no such thing")
"""
API = "def helper(): pass\ndef gone(): pass\n"
ID, OTHER = "0123456789abcdef", "f" * 16


@pytest.fixture
def pinned(repository, place, run) -> str:
    commit = repository.commit({"pkg/__init__.py": "", "pkg/a.py": SOURCE, "pkg/api.py": API})
    place.page("one.txt", page(SOURCE, 6, message="the thing x is missing", pin=commit))
    text = page(SOURCE, 12, message="no such thing", exception="KeyError", pin=commit, id=OTHER)
    place.page("two.txt", text.replace("• another one", "• the thing x is missing"))
    edit(place, "one.txt", "• another one", "• no such thing")
    run("pull")
    return commit


def edit(place, name: str, old: str, new: str) -> None:
    file = place.pages / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def line_of(place, name: str, words: str) -> int:
    lines = (place.pages / name).read_text(encoding="utf-8").split("\n")
    return next(n for n, line in enumerate(lines, 1) if words in line)


def test_nothing_is_wrong(run, pinned):
    done = run("catalogue", "check")
    assert (done.code, done.out) == (0, "Nothing is wrong with 2 pages.\n")
    assert (
        done.err
        == "2 pages read, 2 compared with their pins; 2 related errors and 0 names looked for at main; 0 faults\n"
    )


def test_what_drifted_since_is_no_fault_of_a_page(run, repository, pinned):
    """Moved, reworded, guarded otherwise: the page is right at its pin, which is all that is asked."""
    repository.commit({"pkg/a.py": "# more\n\n" + SOURCE.replace("x is None", "not x")})
    run("pull")
    assert run("catalogue", "check").code == 0


FAULTS = {
    "line": ("pkg/a.py:6", "pkg/a.py:7", "line-differs", "pkg/a.py:7", "raised at pkg/a.py:6, not at line 7"),
    "exception": ("error · ValueError", "error · TypeError", "exception-differs", "error · TypeError",
                  "pkg/a.py:6 raises ValueError, not TypeError"),
    "file": ("pkg/a.py:6", "pkg/b.py:6", "unlocated", "pkg/b.py:6", "no file pkg/b.py"),
    "excerpt": ("    if x > 3:", "    if x > 4:", "excerpt-differs", "    if x > 4:", "not the source of pkg/a.py"),
    "blanks": ("    if x > 3:", "     if x > 3:", "excerpt-differs", "     if x > 3:", "not the source of pkg/a.py"),
    "reference": ("Do it right", "Call pkg.api.helper or pkg.api.none", "reference-gone", "pkg.api.none",
                  "pkg.api has no none at main, nor at the page's pin"),
    "import": ("Do it right", "from pkg.api import helper, none", "reference-gone", "import helper, none",
               "pkg.api has no none at main, nor at the page's pin"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_page(run, place, pinned, fault):
    old, new, kind, at, words = FAULTS[fault]
    edit(place, "one.txt", old, new)
    done = run("catalogue", "check")
    assert done.code == 1
    (line,) = done.out.splitlines()
    assert line.startswith(f"one.txt:{line_of(place, 'one.txt', at)}: {kind}: ")
    assert words in line


def test_a_message_that_is_not_there(run, place, pinned):
    edit(place, "one.txt", "the thing x is missing", "the thing x is lost")
    (line,) = run("catalogue", "check").out.splitlines()
    assert line.startswith("one.txt:")
    assert ": unlocated: pkg/a.py raises no ValueError with this message" in line


@pytest.mark.parametrize(
    "solution",
    [
        "Call pkg.api.helper", "Call helper", "See https://pkg.readthedocs.io/pkg.api.none", "Look at pkg/api.none",
        "Call torch.none and np.none", "Set x.none", "Call pkg.a.helper", "Call pkg.api.helper.none",
        "from torch import none", "Edit pkg.api.py", "pkg.api.helpers are many",
    ],
)  # fmt: skip
def test_what_is_no_fault_of_a_page(run, place, pinned, solution):
    edit(place, "one.txt", "Do it right", solution)
    done = run("catalogue", "check")
    assert (done.code, done.out) == (0, "Nothing is wrong with 2 pages.\n")


def test_a_name_that_the_target_no_longer_has(run, repository, place, pinned):
    edit(place, "one.txt", "Do it right", "Call pkg.api.gone")
    assert run("catalogue", "check").code == 0
    repository.commit({"pkg/api.py": "def helper(): pass\n"})
    run("pull")
    done = run("catalogue", "check")
    line = line_of(place, "one.txt", "pkg.api.gone")
    assert done.code == 1
    assert done.out == f"one.txt:{line}: reference-gone: pkg.api.gone: pkg.api has no gone at main\n"
    assert run("catalogue", "check", "--at", pinned).code == 0


def test_a_deprecation_table(run, repository, place, pinned):
    edit(place, "one.txt", "Do it right", "Call pkg.api.gone, pkg.api.later or pkg.api.never")
    table = "_d = {'gone': ('pkg.api.gone went in 2.0: use helper.', None), 'later': ('soon', helper)}\n"
    hook = "from pkg.depr import f as _f\n__getattr__ = _f(__name__, _d)\n"
    repository.commit({"pkg/api.py": "def helper(): pass\n" + table + hook, "pkg/depr.py": "def f(*_): ...\n"})
    run("pull")
    lines = run("catalogue", "check").out.splitlines()
    assert [line.split("reference-gone: ")[1] for line in lines] == [
        "pkg.api.gone: pkg.api.gone went in 2.0: use helper. at main",
        "pkg.api.never: pkg.api has no never at main, nor at the page's pin",
    ]


def test_related_errors_that_are_gone_or_reworded(run, repository, place, pinned):
    cut = "the thing {x} is too large for anybody who reads this, or an"
    assert len(cut) == 60
    edit(place, "two.txt", "• the thing x is missing", f"• the thing x is missing\n• {cut}")
    assert run("catalogue", "check").code == 0
    source = SOURCE.replace("the thing x is missing", "the thing x is not given")
    source = source.replace('raise TypeError(f"the thing {x} is too large', 'return (f"{x} is now all right')
    repository.commit({"pkg/a.py": source})
    run("pull")
    done = run("catalogue", "check")
    assert done.code == 1
    at = line_of(place, "two.txt", "• the thing x")
    assert done.out.splitlines() == [
        f"two.txt:{at}: related-reworded: the thing x is missing: is no longer raised at main in these words; "
        "pkg/a.py:6 says: the thing x is not given",
        f"two.txt:{at + 1}: related-gone: {cut}: is no longer raised at main",
    ]


def test_a_related_error_of_a_file_that_cannot_be_wholly_read_is_not_gone(run, repository, pinned):
    repository.commit({"pkg/a.py": SOURCE.replace('raise ValueError("the thing x is missing")', "raise (((")})
    run("pull")
    done = run("catalogue", "check")
    assert (done.code, done.out) == (0, "Nothing is wrong with 2 pages.\n")
    assert "related errors of files that cannot be wholly read: " in done.err


def test_a_related_error_that_never_was(run, place, pinned):
    edit(place, "two.txt", "• the thing x is missing", "• what nobody ever raised")
    (line,) = run("catalogue", "check").out.splitlines()
    assert line.endswith(": related-gone: what nobody ever raised: is not raised at main, nor at the page's pin")
    # A page may be about an error whose text the source does not show.
    edit(place, "two.txt", "no such thing", "what nobody ever raised")
    assert "related-gone" not in run("catalogue", "check").out


def test_pages_of_one_error_and_pages_of_one_id(run, place, pinned):
    text = (place.pages / "one.txt").read_text(encoding="utf-8")
    place.page("twin.txt", text.replace(ID, "1" * 16))
    place.page("same.txt", (place.pages / "two.txt").read_text(encoding="utf-8"))
    done = run("catalogue", "check")
    assert done.code == 1
    assert [line.split(": ")[1] for line in done.out.splitlines()] == [
        "duplicate-site", "duplicate-id", "duplicate-site", "duplicate-id",
    ]  # fmt: skip
    assert "pkg/a.py:6 is also the error of twin.txt" in done.out


def test_a_page_that_cannot_be_read(run, place, pinned):
    place.page("bad.txt", "nothing of a page")
    done = run("catalogue", "check")
    assert (done.code, done.out.split(": ")[:2]) == (1, ["bad.txt:1", "unreadable"])


def test_what_cannot_be_checked_is_never_called_right(run, place, pinned):
    edit(place, "one.txt", pinned[:10], "e" * 10)
    done = run("catalogue", "check")
    assert done.code == 2
    assert done.out == "not checked: pinned to eeeeeeeeee, which the mirror does not have: 1 of the pages\n"
    assert "2 pages read, 1 compared with their pins" in done.err
    based = run("catalogue", "check", "--base", "main")
    assert (based.code, based.out) == (0, "Nothing is wrong with 2 pages.\n")
    edit(place, "one.txt", "if x > 3", "if x > 4")
    based = run("catalogue", "check", "--base", "main")
    assert based.code == 2
    assert "and not as main shows it: 1 of the pages" in based.out


def test_a_file_that_cannot_be_wholly_read_at_the_pin(run, repository, place):
    source = "def f(:\n  raise (((\n"
    commit = repository.commit({"pkg/a.py": source, "pkg/b.py": "raise ValueError('fine so far')\n"})
    place.page("one.txt", page(source, 2, message="the thing x", pin=commit).replace("• another one", ""))
    run("pull")
    done = run("catalogue", "check")
    assert done.code == 2
    assert done.out == "not checked: their file cannot be wholly read at their pin: 1 of the pages\n"


def test_json(run, place, pinned):
    edit(place, "one.txt", "Do it right", "Call pkg.api.none")
    done = run("catalogue", "check", "--format", "json")
    found = json.loads(done.out)
    assert (done.code, found["schema"]) == (1, "tracker.catalogue-check/1")
    assert found["at"]["commit"] == pinned
    assert found["checked"] == {"pages": 2, "pinned": 2, "related": 2, "names": 1}
    assert found["faults"] == [
        {
            "kind": "reference-gone",
            "entry": ID,
            "page": "one.txt",
            "line": line_of(place, "one.txt", "pkg.api.none"),
            "name": "pkg.api.none",
            "said": "pkg.api.none: pkg.api has no none at main, nor at the page's pin",
        }
    ]
    assert (found["unjudged"], found["unchecked"]) == ({}, [])


@pytest.mark.parametrize(("arguments", "said"), [(["--at", "v9"], "no revision"), (["--base", "v9"], "no revision")])
def test_bad_input(run, pinned, arguments, said):
    done = run("catalogue", "check", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
