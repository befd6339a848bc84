"""`tracker history`: what it prints, in each format, and what it says when it cannot."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.support import page
from tracker.report.history_json import schemas
from tracker.store.lock import history_lock

BAD = 'def f(x):\n    if x:\n        raise ValueError("the value x is bad")\n'
WORSE = BAD.replace("bad", "worse").replace("if x", "if not x")
GONE = 'def g(y):\n    raise TypeError("no y was given at all")\n'


@pytest.fixture
def pulled(run, repository):
    """Four commits and two releases, in the mirror -> the commits."""
    commits = [
        repository.commit({"pkg/a.py": BAD + GONE}, "Start"),
        repository.commit({"pkg/a.py": WORSE + GONE}, "Say worse (#12)"),
        repository.commit({"pkg/a.py": WORSE}, "Merge pull request #34 from x/y"),
        repository.commit({"pkg/a.py": None, "pkg/b.py": "\n" + WORSE.replace("ValueError", "E")}, "Move"),
    ]
    repository.git("tag", "demo-v1.0", commits[0])
    repository.git("tag", "demo-v1.1", commits[2])
    run("pull")
    return commits


def test_a_life_as_a_table(run, pulled):
    done = run("history", "the value x is bad")
    assert done.code == 0
    assert done.out.splitlines() == [
        "pkg/b.py:4  in f",
        "  E: the value x is worse",
        "  since 1.0",
        f"  1.0         2025-06-15  introduced               {pulled[0][:10]} Start",
        "                          says    the value x is bad",
        f"  1.1         2025-06-15  reworded, guard-changed  {pulled[1][:10]} Say worse (#12)",
        "                          says    - the value x is [-bad-]",
        "                                  + the value x is {+worse+}",
        "                          when    - if x",
        "                                  + if {+not +}x",
        f"  unreleased  2025-06-15  retyped, relocated       {pulled[3][:10]} Move",
        "                          raises  ValueError -> E",
        "                          to      pkg/b.py:4 in f",
    ]
    assert "reading the history, once" in done.err
    assert "4 commits read" in done.err
    assert run("history", "the value x is bad").err == ""


def test_a_removed_error(run, pulled):
    assert run("history", "no y was given").out.splitlines() == [
        "pkg/a.py:5  in g  (removed)",
        "  TypeError: no y was given at all",
        "  in 1.0 only",
        f"  1.0  2025-06-15  introduced  {pulled[0][:10]} Start",
        "                   says    no y was given at all",
        f"  1.1  2025-06-15  removed     {pulled[2][:10]} Merge pull request #34 from x/y",
    ]


def test_a_life_as_json(run, pulled):
    told = json.loads(run("history", "the value x is worse", "--format", "json").out)
    jsonschema.validate(told, schemas()["history"])
    (error,) = told["errors"]
    assert (told["schema"], told["query"], told["more"]) == ("tracker.history/1", "the value x is worse", 0)
    assert (error["entry"], error["alive"], error["first_release"], error["last_release"]) == (None, True, "1.0", "1.1")
    assert [(event["kind"], event["commit"], event["release"], event["pull_request"]) for event in error["events"]] == [
        ("introduced", pulled[0], "1.0", None),
        ("reworded", pulled[1], "1.1", 12),
        ("retyped", pulled[3], None, None),
    ]
    assert [event["site"]["message"] for event in error["events"]] == ["the value x is bad"] + [
        "the value x is worse"
    ] * 2
    assert error["site"] == {**error["events"][-1]["site"], "line": 4, "end_line": 4}


def test_a_life_as_markdown(run, pulled):
    assert run("history", "no y", "--format", "markdown").out.splitlines() == [
        "### `TypeError: no y was given at all`",
        "",
        "`pkg/a.py:5` in `g`; in 1.0 only (removed)",
        "",
        "| release | date | what | commit | then |",
        "|---|---|---|---|---|",
        f"| 1.0 | 2025-06-15 | introduced | {pulled[0][:10]} | `no y was given at all` |",
        f"| 1.1 | 2025-06-15 | removed | {pulled[2][:10]} #34 |  |",
    ]


def test_a_life_by_its_page_and_by_its_line(run, place, pulled):
    place.page("a.txt", page(BAD + GONE, 3, message="the value x is bad", pin=pulled[0]))
    by_id = json.loads(run("history", "0123456789abcdef", "--format", "json").out)["errors"]
    assert by_id[0].pop("entry") == "0123456789abcdef"
    by_line = json.loads(run("history", "pkg/b.py:4", "--format", "json").out)["errors"]
    assert by_line[0].pop("entry") is None
    assert by_id == by_line


def test_only_what_happened_since(run, pulled):
    out = run("history", "the value x is bad", "--since", "1.0").out
    assert "introduced" not in out
    assert "[-bad-]" in out
    assert run("history", "no y", "--since", "1.1").out == "Nothing happened to it since 1.1.\n"


def test_many_errors_are_counted(run, pulled):
    out = run("history", "a", "--limit", "1").out
    assert out.endswith("\n1 more error said this, too: --limit shows more, a longer text fewer.\n")


def test_the_changelog_between_two_releases(run, pulled):
    assert run("history", "--between", "1.0", "main").out.splitlines() == [
        "Errors from 1.0 to main: 2 before, 1 after",
        "",
        "Reworded (1)",
        "  pkg/b.py",
        "    - the value x is [-bad-]",
        "    + the value x is {+worse+}",
        f"      {pulled[3][:10]} Move",
        "",
        "Other exception (1)",
        "  pkg/b.py",
        "    ValueError -> E: the value x is worse",
        f"      {pulled[3][:10]} Move",
        "",
        "Removed (1)",
        "  pkg/a.py",
        "    TypeError: no y was given at all",
        f"      {pulled[2][:10]} Merge pull request #34 from x/y",
    ]


def test_what_a_changelog_does_not_list_is_counted(run, repository):
    repository.commit({"pkg/a.py": "def f(x):\n    raise E('a text')\n"})
    repository.commit({"pkg/a.py": "def f(x):\n    if x:\n        raise E('a text')\n    raise F\n"})
    run("pull")
    assert run("history", "--between", "main~1", "main").out.splitlines() == [
        "Errors from main~1 to main: 1 before, 2 after",
        "",
        "Besides, what they say unchanged: 1 guard-changed.",
        "",
        "Without a text, and not listed: 1 new.",
    ]


def test_the_changelog_as_json_and_markdown(run, pulled):
    told = json.loads(run("history", "--between", "1.0", "1.1", "--format", "json").out)
    jsonschema.validate(told, schemas()["changelog"])
    assert [(one["kinds"], one["pull_request"]) for one in told["changes"]] == [
        (["reworded", "guard-changed"], 12),
        (["removed"], 34),
    ]
    markdown = run("history", "--between", "1.0", "1.1", "--format", "markdown").out
    assert (
        "## Reworded (1)\n\n### `pkg/a.py`\n\n* `ValueError`: `the value x is worse`, was `the value x is bad`"
        in markdown
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name one error"),
        (["a", "--between", "1.0", "1.1"], "name one error"),
        (["--between", "1.0", "1.1", "--since", "1.0"], "has a beginning already"),
        (["--between", "1.1", "1.0"], "name the older one first"),
        (["--between", "1.0", "7.7"], "the history has no release '7.7': the newest are 1.0, 1.1"),
        (["never said"], "no error ever said 'never said'"),
        (["pkg/b.py:1"], "nearest to it they are at 4"),
        (["pkg/z.py:1"], "no file pkg/z.py"),
        (["fedcba9876543210"], "no page with the id"),
        (["the value", "--since", "nowhere"], "no revision 'nowhere'"),
        (["the value", "--limit", "0"], "0 is not in the range"),
    ],
)
def test_what_cannot_be_answered(run, pulled, arguments, said):
    done = run("history", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_without_a_mirror(run):
    done = run("history", "x")
    assert done.code == 2
    assert "the mirror is empty: run `tracker pull`" in done.err


def test_one_writer_at_a_time(run, place, pulled):
    with history_lock(place.folder / "state"):
        done = run("history", "the value x is bad")
    assert done.code == 75
    assert "another tracker is reading the history (process " in done.err
    assert run("history", "the value x is bad").code == 0


def test_schemas(run):
    for name in ("history", "changelog"):
        assert json.loads(run("schema", name, config=False).out) == schemas()[name]
