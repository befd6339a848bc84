"""`tracker diff` on real git repositories: what it says, and how it exits."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from tests.support import page
from tracker.report.json import schema

OLD = """\
def check(x, strict):
    if x is None:
        raise ValueError("x is missing")


def other(y):
    raise TypeError(f"bad y {y}")
"""
MESSAGE = "x is missing"

# What upstream does to the file -> (the kinds of the entry's drift, exit code).
CHANGES = {
    "nothing": (OLD, None, 0),
    "moved": ("\n" + OLD, {"moved"}, 0),
    "excerpt": (OLD.replace("bad y", "wrong y"), {"excerpt-changed"}, 0),
    "relocated": (OLD.replace("check(", "verify("), {"relocated", "excerpt-changed"}, 1),
    "guard": (OLD.replace("x is None", "x is None and strict"), {"guard-changed", "excerpt-changed"}, 1),
    "reworded": (OLD.replace("x is missing", "x is not given"), {"reworded", "excerpt-changed"}, 1),
    "retyped": (OLD.replace("ValueError", "KeyError"), {"retyped", "excerpt-changed"}, 1),
    "removed": (OLD.replace('raise ValueError("x is missing")', "return"), {"removed"}, 1),
}


@pytest.fixture
def pinned(repository, place) -> str:
    """Upstream with one commit, and a page of it; the mirror is filled by `diff --pull`."""
    commit = repository.commit({"pkg/a.py": OLD, "README": "no source"})
    place.page("one.txt", page(OLD, 3, message=MESSAGE, pin=commit))
    return commit


@pytest.mark.parametrize("change", CHANGES)
def test_what_became_of_the_entry(run, repository, pinned, change):
    source, kinds, code = CHANGES[change]
    repository.commit({"pkg/a.py": source})
    done = run("diff", "--pull", "--format", "json")
    report = json.loads(done.out)
    assert [set(drift["kinds"]) for drift in report["drifts"]] == ([kinds] if kinds else [])
    assert done.code == code
    assert report["summary"]["checked"] == 1
    assert report["summary"]["unchanged"] == (kinds is None)
    jsonschema.validate(report, schema())


def test_the_json_contract(run, repository, pinned):
    head = repository.commit({"pkg/a.py": "\n" + OLD.replace("x is None", "not x")})
    report = json.loads(run("diff", "--pull", "--format", "json").out)
    assert report["schema"] == "tracker.diff/1"
    assert report["repository"] == "a/b"
    assert report["base"]["commit"] == pinned
    assert report["target"] == {"revision": "main", "commit": head, "committed_at": "2025-06-15T17:08:40+02:00"}
    assert report["files"] == {"base": ["pkg/a.py"], "target": ["pkg/a.py"]}
    assert report["coverage"] == {
        "base": {"files": 1, "sites": 2, "with_message": 2},
        "target": {"files": 1, "sites": 2, "with_message": 2},
        "partial_files": [],
    }
    (drift,) = report["drifts"]
    assert drift["entry"] == "0123456789abcdef"
    assert (drift["severity"], drift["certain"]) == ("warning", True)
    assert drift["before"] == {
        "path": "pkg/a.py", "line": 3, "end_line": 3, "scope": "check", "exception": "ValueError",
        "message": "x is missing", "alternatives": [], "form": "literal", "guard": ["if x is None"], "ordinal": 1,
    }  # fmt: skip
    assert (drift["after"]["line"], drift["after"]["guard"]) == (4, ["if not x"])


def test_new_errors_since_the_pin(run, repository, pinned):
    repository.commit({"pkg/b.py": "def g():\n    raise KeyError('no key')\n"})
    done = run("diff", "--pull", "--format", "json")
    (drift,) = json.loads(done.out)["drifts"]
    assert (drift["entry"], drift["kinds"], drift["before"]) == (None, ["new"], None)
    assert drift["after"]["path"] == "pkg/b.py"
    assert done.code == 1


def test_without_the_pin_the_excerpt_speaks_and_new_errors_are_not_looked_for(run, repository, place):
    commit = repository.commit({"pkg/a.py": OLD.replace("x is None", "not x"), "pkg/b.py": "raise E('new one')\n"})
    place.page("one.txt", page(OLD, 3, message=MESSAGE, pin="f" * 40))
    run("pull")
    done = run("diff", commit, "--format", "json")
    report = json.loads(done.out)
    (drift,) = report["drifts"]
    assert set(drift["kinds"]) == {"guard-changed", "excerpt-changed"}
    assert drift["before"]["scope"] == "check"
    assert report["base"] is None
    assert "--base" in report["notices"][0]


def test_without_the_pin_a_base_that_agrees_will_do(run, repository, place):
    base = repository.commit({"pkg/a.py": OLD})
    repository.commit({"pkg/a.py": OLD.replace("x is None", "not x"), "pkg/b.py": "raise E('new one')\n"})
    place.page("one.txt", page(OLD, 3, message=MESSAGE, pin="f" * 40))
    run("pull")
    done = run("diff", "main", "--base", base[:12], "--format", "json")
    kinds = [set(drift["kinds"]) for drift in json.loads(done.out)["drifts"]]
    assert kinds == [{"guard-changed", "excerpt-changed"}, {"new"}]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"line": 2, "message": MESSAGE}, "raised at pkg/a.py:3, not at line 2"),
        ({"line": 3, "message": "y is missing"}, "raises no ValueError with this message"),
        ({"line": 3, "message": MESSAGE, "exception": "KeyError"}, "raises no KeyError with this message"),
        ({"line": 3, "message": MESSAGE, "path": "pkg/z.py"}, "has no file pkg/z.py in scope"),
        ({"line": 3, "message": MESSAGE, "path": "README"}, "has no file README in scope"),
    ],
)
def test_a_page_that_is_wrong_at_its_own_pin_is_never_fine(run, repository, place, fault, reason):
    commit = repository.commit({"pkg/a.py": OLD, "README": "no source"})
    place.page("one.txt", page(OLD, pin=commit, **fault))
    place.page("two.txt", page(OLD, 7, message="bad y {y}", exception="TypeError", pin=commit, id="f" * 16))
    done = run("diff", "--pull", "--format", "json")
    report = json.loads(done.out)
    assert report["drifts"] == []
    assert report["summary"]["checked"] == 1
    assert reason in report["unlocated"][0]["reason"]
    assert done.code == 2


def test_a_removal_in_a_file_that_was_not_wholly_read_is_not_certain(run, repository, pinned):
    repository.commit(
        {"pkg/a.py": "def check(x):\n    return x +* 1\n\ndef other(y):\n    raise TypeError(f'bad y {y}')\n"}
    )
    report = json.loads(run("diff", "--pull", "--format", "json").out)
    (drift,) = report["drifts"]
    assert (drift["kinds"], drift["certain"]) == (["removed"], False)
    assert report["coverage"]["partial_files"] == ["pkg/a.py"]


def test_all_sites_names_the_catalogued_ones(run, repository, pinned):
    repository.commit({"pkg/a.py": OLD.replace("missing", "absent").replace("bad y", "wrong y")})
    run("pull")
    report = json.loads(run("diff", "main", "--base", pinned, "--all-sites", "--format", "json").out)
    assert [(drift["entry"], drift["kinds"]) for drift in report["drifts"]] == [
        ("0123456789abcdef", ["reworded"]),
        (None, ["reworded"]),
    ]


def test_track_all_needs_no_page(run, repository, place):
    base = repository.commit({"pkg/a.py": OLD})
    repository.commit({"pkg/a.py": OLD.replace("missing", "absent")})
    run("pull")
    done = run("--set", "catalogue.track=all", "diff", "main", "--base", base, "--format", "json")
    assert json.loads(done.out)["summary"]["reworded"] == 1


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        ((), 1, 2),
        (("--fail-on", "retyped"), 0, 2),
        (("--fail-on", "excerpt-changed"), 1, 2),
        (("--kind", "new"), 1, 1),
        (("--kind", "moved"), 0, 0),
        (("--path", "pkg/b.py"), 1, 1),
        (("--path", "other/**"), 0, 0),
        (("--kind", "guard-changed", "--fail-on", "reworded"), 0, 1),
    ],
)
def test_what_is_shown_and_what_fails(run, repository, pinned, options, code, shown):
    repository.commit({"pkg/a.py": OLD.replace("x is None", "not x"), "pkg/b.py": "raise E('new one')\n"})
    done = run("diff", "--pull", "--format", "json", *options)
    report = json.loads(done.out)
    assert (done.code, len(report["drifts"])) == (code, shown)
    assert (report["summary"]["unchanged"], report["summary"]["new"]) == (0, 1)
    assert ("not shown" in report["notices"][-1]) == (shown < 2)


def test_the_text_for_a_person(run, repository, pinned):
    repository.commit({"pkg/a.py": "\n" + OLD.replace("x is None", "x is None and strict")})
    done = run("diff", "--pull")
    assert "1 of 1 page differs from the source in more than the line." in done.out
    assert "GUARD CHANGED" in done.out
    assert re.search(r"when +- if x is None\n +\+ if x is None{\+ and strict\+}\n", done.out)
    assert re.search(r"where +pkg/a.py:3 -> 4  in check\n +when", done.out)
    assert "one.txt   0123456789abcdef" in done.out
    assert done.err.endswith("1 checked, 0 unchanged, 1 moved, 1 excerpt-changed, 1 guard-changed\n")


def test_output_goes_to_a_file_whole(run, repository, pinned, place):
    file = place.folder / "report.json"
    done = run("diff", "--pull", "--format", "json", "--output", str(file))
    assert done.out == ""
    assert json.loads(file.read_text())["summary"]["unchanged"] == 1
    assert [path.name for path in place.folder.iterdir() if path.name.startswith(".report")] == []


@pytest.mark.parametrize("name", ["pin", "tag", "branch", "short", "suffix"])
def test_names_of_revisions(run, repository, pinned, name):
    repository.git("tag", "v1")
    repository.commit({"pkg/a.py": "\n" + OLD})
    run("pull")
    written = {"pin": "pin", "tag": "v1", "branch": "main", "short": pinned[:9], "suffix": "main~1"}[name]
    report = json.loads(run("diff", written, "--format", "json").out)
    assert report["target"]["revision"] == written
    assert (report["target"]["commit"] == pinned) == (name != "branch")


def test_the_report_is_the_same_twice(run, repository, pinned):
    repository.commit({"pkg/a.py": "\n" + OLD.replace("missing", "absent"), "pkg/b.py": "raise E('new one')\n"})
    first = run("diff", "--pull", "--format", "json")
    assert run("diff", "main", "--format", "json").out == first.out


def test_asserts_count_where_the_configuration_says_so(run, repository, place):
    source = 'def f(n):\n    assert n > 0, "n must be positive"\n    raise ValueError("bad n")\n'
    base = repository.commit({"pkg/a.py": source})
    middle = source.replace("n > 0", "n > 1")
    repository.commit({"pkg/a.py": middle}, "guard")
    repository.commit({"pkg/a.py": middle.replace("positive", "at least two")}, "reword")
    run("pull")
    options = ("diff", "main", "--base", base, "--all-sites", "--format", "json")
    assert json.loads(run(*options).out)["drifts"] == []
    (drift,) = json.loads(run("--set", "upstream.asserts=true", *options).out)["drifts"]
    assert drift["kinds"] == ["reworded", "guard-changed"]
    assert (drift["after"]["form"], drift["after"]["exception"]) == ("assert", "AssertionError")
    assert drift["cause"]["subject"] == "reword"
