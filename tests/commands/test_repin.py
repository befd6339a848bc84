"""`tracker repin` on real git repositories: what it shows, writes and commits, what it leaves, and how it exits."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess

import jsonschema
import pytest

from tests.commands.test_diff import CHANGES, MESSAGE, OLD
from tests.conftest import Repository
from tests.support import page
from tracker.report.json import schema

ID, OTHER = "0123456789abcdef", "f" * 16


@pytest.fixture
def pinned(repository, place) -> str:
    """Upstream with one commit, and two pages of it."""
    commit = repository.commit({"pkg/a.py": OLD})
    place.page("one.txt", page(OLD, 3, message=MESSAGE, pin=commit))
    place.page("two.txt", page(OLD, 7, message="bad y {y}", exception="TypeError", pin=commit, id=OTHER))
    return commit


def bytes_of(place) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(place.pages.iterdir())}


MEANING = {"guard", "reworded", "retyped", "removed"}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_written_by_itself_and_what_waits(run, repository, place, pinned, change):
    source = CHANGES[change][0]
    head = repository.commit({"pkg/a.py": source})
    if change == "excerpt":
        place.pages.joinpath("two.txt").unlink()
    before = bytes_of(place)
    done = run("repin", "--pull", "--write")
    waits = change in MEANING
    assert done.code == (6 if waits else 0)
    after = bytes_of(place)
    assert (after["one.txt"] == before["one.txt"]) == waits
    assert ("--accept 0123456789abcdef" in done.err) == waits
    assert done.out.splitlines() == [name for name in before if name == "two.txt" or not waits]
    if waits:
        assert "1 page waits for a decision" in done.err
        assert run("diff", "main").code == 1
        assert run("repin", "main", "--accept", ID, "--write").out == "one.txt\n"
    assert run("diff", "main").code == 0
    again = run("repin", "main", "--write")
    assert (again.code, again.out) == (0, "")
    assert again.err == f"no page to repin to main ({head[:10]})\n"


def test_a_page_of_the_target_keeps_its_date(run, place, pinned):
    before = bytes_of(place)
    assert run("repin", pinned[:20], "--pull", "--write").code == 0
    assert bytes_of(place) == before


def test_only_the_facts_change_and_the_dry_run_is_a_patch_of_that(run, repository, place, pinned):
    head = repository.commit({"pkg/a.py": "import os\n\n" + OLD.replace("bad y", "wrong y")})
    before = bytes_of(place)
    done = run("repin", "--pull", "--accept", OTHER)
    assert done.code == 0
    assert bytes_of(place) == before
    changed = [line for line in done.out.splitlines() if line.startswith(("+", "-"))]
    assert changed[:2] == ["--- a/one.txt", "+++ b/one.txt"]
    assert [line for line in changed[2:] if line.startswith("+++")] == ["+++ b/two.txt"]
    assert "-Thrown at pkg/a.py:3" in changed
    assert "+Thrown at pkg/a.py:5" in changed
    assert f"+View on GitHub (pinned to {head[:10]})" in changed
    assert "would be repinned to main" in done.err
    applied = subprocess.run(["git", "apply", "-"], input=done.out, cwd=place.pages, text=True, capture_output=True)
    assert applied.returncode == 0, applied.stderr
    patched = bytes_of(place)
    for name, data in before.items():
        place.pages.joinpath(name).write_bytes(data)
    assert run("repin", "main", "--accept", OTHER, "--write").code == 0
    assert bytes_of(place) == patched
    text = patched["two.txt"].decode()
    assert text.splitlines()[2] == "wrong y {y}"
    assert f"AI-assisted analysis of a/b@{head[:10]} (2025-06-15). Data" in text


def test_the_claim_stands_beside_the_new_code(run, repository, pinned):
    repository.commit({"pkg/a.py": OLD.replace("x is None", "x is None and strict")})
    done = run("repin", "--pull")
    assert done.err.splitlines()[1:10] == [
        "one.txt   0123456789abcdef   guard-changed, excerpt-changed",
        "  page     ValueError: x is missing",
        "           Something is wrong.",
        "           Doing it wrong.",
        "  when     - if x is None",
        "           + if x is None{+ and strict+}",
        "  source   pkg/a.py:3",
        "           def check(x, strict):",
        "               if x is None and strict:",
    ]
    assert run("-q", "repin", "main").err == ""


def test_a_removed_error_becomes_a_tombstone_and_comes_back(run, repository, place, pinned):
    repository.git("tag", "demo-v1.0")
    repository.git("tag", "demo-v1.1rc1")
    gone = OLD.replace('raise ValueError("x is missing")', "return")
    commit = repository.commit({"pkg/a.py": gone}, "take it out")
    repository.git("tag", "demo-v1.1")
    repository.commit({"pkg/a.py": "\n" + gone})
    repository.git("tag", "demo-v2.0")
    run("pull")
    done = run("repin", "demo-v2.0", "--accept", ID, "--write")
    assert done.code == 0
    assert f"no longer raises it, since {commit[:10]} 2025-06-15 take it out" in done.err
    page_text = place.pages.joinpath("one.txt").read_text()
    line = f"No longer raised since {commit[:10]} (2025-06-15), demo 1.1; last raised in demo 1.0."
    assert page_text.splitlines()[:7] == ["a/b · error · ValueError", "", MESSAGE, "", line, "", "Error message"]
    assert f"pinned to {pinned[:10]}" in page_text
    report = run("diff", "demo-v2.0")
    assert (report.code, "All 2 pages are right" in report.out) == (0, True)
    # The pages of errors that are raised share a pin: new errors are looked for since then.
    assert "0 new errors" in report.out
    assert run("diff", "demo-v2.0", "--base", "pin").code == 0
    written = bytes_of(place)
    assert run("repin", "demo-v2.0", "--accept", ID, "--write").code == 0
    assert bytes_of(place) == written

    repository.commit({"pkg/a.py": "\n\n" + OLD})
    again = run("diff", "--pull", "--format", "json")
    assert again.code == 1
    report = json.loads(again.out)
    jsonschema.validate(report, schema())
    assert [(one["entry"], one["kinds"]) for one in report["drifts"] if one["before"] is None] == [(ID, ["new"])]
    shown = run("diff").out
    assert "1 of 2 pages differs" in shown
    assert re.search(r"Raised again, though their pages say that they no longer are\n  pkg/a.py:5 +one.txt\n", shown)
    back = run("repin", "main", "--accept", ID, "--write")
    assert back.code == 6
    assert "one.txt is left as it is: its error is raised again at pkg/a.py:5: take line 5 out of the page" in back.err
    place.pages.joinpath("one.txt").write_text(page_text.replace(line + "\n\n", ""))
    assert run("repin", "main", "--write").code == 0
    assert run("diff", "main").code == 0


@pytest.mark.parametrize("known", [True, False])
def test_a_likely_successor_is_named_and_nothing_is_said_that_is_not_known(run, repository, place, known):
    old = OLD.replace(MESSAGE, "x is missing from the given operands")
    pin = repository.commit({"pkg/a.py": old})
    new = (
        "def check(x, strict):\n    pass\n\n\ndef given(x):\n    for y in x:\n        if not x:\n"
        '            raise ValueError("x is absent from the operands")\n'
    )
    head = repository.commit({"pkg/a.py": new})
    run("pull")
    place.page("one.txt", page(old, 3, message="x is missing from the given operands", pin=pin if known else "e" * 40))
    assert run("repin", "main", "--write", "--accept", ID).code == 0
    (line,) = (line for line in place.pages.joinpath("one.txt").read_text().splitlines() if "No longer" in line)
    if known:
        assert line == (
            f"No longer raised since {head[:10]} (2025-06-15). Likely successor: pkg/a.py:8 at {head[:10]}, "
            "ValueError: x is absent from the operands"
        )
    else:
        assert line == f"No longer raised at {head[:10]} (2025-06-15)."
    assert run("diff", "main", "--base", "main").code == 0


def test_what_is_not_verified_is_never_repinned(run, repository, place, pinned):
    place.page("three.txt", page(OLD, 2, message=MESSAGE, pin=pinned, id="a" * 16))
    repository.commit(
        {"pkg/a.py": "def check(x):\n    return x +* 1\n\ndef other(y):\n    raise TypeError(f'bad y {y}')\n"}
    )
    before = bytes_of(place)
    done = run("repin", "--pull", "--write", "--accept", ID, "--accept", "a" * 16)
    assert done.code == 6
    assert "one.txt is left as it is: its error was not found, and pkg/a.py could not be wholly read" in done.err
    assert "three.txt is left as it is: at " in done.err
    assert {name for name, data in bytes_of(place).items() if data != before[name]} == {"two.txt"}


def test_a_page_without_its_pin_is_believed_by_its_excerpt_or_by_a_base(run, repository, place):
    base = repository.commit({"pkg/a.py": OLD})
    repository.commit({"pkg/a.py": "\n" + OLD})
    place.page("one.txt", page(OLD, 3, message=MESSAGE, pin="e" * 40))
    run("pull")
    alone, based = run("repin", "main"), run("repin", "main", "--base", base[:9])
    assert alone.out == based.out
    assert (alone.code, "+Thrown at pkg/a.py:4" in alone.out) == (0, True)


FOOTER = "AI-assisted analysis of a/b@1234567 (2026-01-01). Data as JSON: /api/errors/aaaaaaaaaaaaaaaa."


@pytest.mark.parametrize(
    ("source", "change", "reason"),
    [
        (OLD.replace('("x is missing")', "(x.text())"), None, "no place for what is raised now"),
        (OLD.replace('raise ValueError("x is missing")', "raise"), None, "what is raised now has no name"),
        ("\n" + OLD, ("        raise ValueError", "  some prose about a"), "does not show the raise statement"),
        (OLD.replace("\n\n\n", f"\n'''\n{FOOTER}\n'''\n"), None, "a second footer"),
    ],
    ids=["no text", "no name", "no raise", "two footers"],
)
def test_what_a_page_cannot_say_is_left_to_a_person(run, repository, place, source, change, reason):
    pin = repository.commit({"pkg/a.py": "\n\n\n" + OLD})
    repository.commit({"pkg/a.py": source})
    text = page("\n\n\n" + OLD, 6, message=MESSAGE, pin=pin)
    file = place.page("one.txt", text.replace(*change) if change else text)
    before = file.read_bytes()
    done = run("repin", "--pull", "--write", "--accept", ID)
    assert (done.code, file.read_bytes() == before) == (6, True)
    assert re.search(f"one.txt is left as it is: .*{reason}", done.err), done.err


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ('"a is bad" if x else "b is worse than that"', "b is worse than that"),
        ('"c is bad" if x else "b is bad"', "b is bad"),
        ('"b is bad" if x else "a is bad"', "b is bad"),
        ('"quite another thing" if x else ("a is fine" if y else "b is not so bad")', "b is not so bad"),
        ('"b is bad at least"', "b is bad at least"),
    ],
)
def test_of_several_texts_the_page_keeps_its_own(run, repository, place, texts, said):
    source = 'def f(x, y):\n    if x is y:\n        raise a.b.Bad("a is bad" if x else "b is bad")\n'
    pin = repository.commit({"pkg/a.py": source})
    file = place.page("one.txt", page(source, 3, message="b is bad", exception="own.Bad", pin=pin))
    repository.commit(
        {"pkg/a.py": source.replace('"a is bad" if x else "b is bad"', texts).replace("a.b.B", "a.b.c.B")}
    )
    assert run("repin", "--pull", "--write", "--accept", ID).code == 0
    lines = file.read_text().splitlines()
    assert (lines[0], lines[2], lines[6]) == ("a/b · error · own.Bad", said, said)
    assert run("diff").code == 0


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--accept", "e" * 16), 2, "no page that can be read has the id eeee"),
        (("--write", "--branch", "x"), 2, "--write and --branch exclude each other"),
        (("--base", "nowhere"), 2, "no revision 'nowhere'"),
        (("nowhere",), 2, "no revision 'nowhere'"),
        (("main", "--accept", ID), 0, f"{ID}: there is nothing to accept"),
        (("main", "--branch", "x"), 3, "is in no git repository"),
    ],
)
def test_wrong_usage(run, repository, place, pinned, options, code, said):
    repository.commit({"pkg/a.py": "\n" + OLD})
    run("pull")
    before = bytes_of(place)
    done = run("repin", *options)
    assert (done.code, said in done.err, bytes_of(place) == before) == (code, True, True), done.err


def test_a_page_that_cannot_be_read_is_named_and_the_others_are_done(run, repository, place, pinned):
    repository.commit({"pkg/a.py": "\n" + OLD})
    place.page("bad.txt", "nothing of a page")
    done = run("repin", "--pull", "--write")
    assert (done.code, done.out) == (6, "one.txt\ntwo.txt\n")
    assert "bad.txt:1: " in done.err


def test_permissions_and_links_stay(run, repository, place, pinned, tmp_path):
    repository.commit({"pkg/a.py": "\n" + OLD})
    file, real = place.pages / "one.txt", tmp_path / "real.txt"
    file.rename(real)
    file.symlink_to(real)
    real.chmod(0o640)
    assert run("repin", "--pull", "--write").code == 0
    assert file.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "pkg/a.py:4" in real.read_text()
    assert sorted(os.listdir(place.pages)) == ["one.txt", "two.txt"]


@pytest.fixture
def own(place, pinned) -> Repository:
    """The catalogue's own repository, with something else going on in it."""
    repository = Repository.__new__(Repository)
    repository.path, repository._minutes = place.folder, 0
    repository.git("init", "--quiet", "--initial-branch=trunk", "--template=")
    repository.git("config", "user.name", "Ada")
    repository.git("config", "user.email", "ada@example.org")
    place.folder.joinpath(".gitignore").write_text("/state/\n")
    repository.commit({"notes": "a\n"})
    place.folder.joinpath("notes").write_text("being written\n")
    place.folder.joinpath("draft").write_text("staged\n")
    repository.git("add", "draft")
    return repository


def test_a_branch_beside_the_work_tree(run, repository, place, pinned, own):
    repository.commit({"pkg/a.py": "\n" + OLD.replace("x is None", "not x")})
    run("pull")
    before, status = bytes_of(place), own.git("status", "--porcelain")
    done = run("repin", "main", "--accept", ID, "--branch", "repin/main")
    assert done.code == 0
    assert "branch repin/main has 2 new commits" in done.err
    assert (bytes_of(place), own.git("status", "--porcelain")) == (before, status)
    assert own.git("rev-parse", "repin/main~2") == own.git("rev-parse", "trunk")
    assert own.git("diff", "--name-only", "trunk", "repin/main~1") == "pages/two.txt"
    assert own.git("diff", "--name-only", "repin/main~1", "repin/main") == "pages/one.txt"
    subjects = own.git("log", "--format=%s", "trunk..repin/main").splitlines()
    assert subjects[1].startswith("Repin 1 page to main (")
    assert subjects[0].startswith("Repin 1 accepted page to main (")
    assert "* one.txt: pkg/a.py:3 -> 4 (guard-changed, excerpt-changed, moved)" in own.git("show", "repin/main")

    again = run("repin", "main", "--accept", ID, "--branch", "repin/main")
    assert (again.code, "has these pages already" in again.err) == (0, True)
    other = run("repin", "main", "--branch", "repin/main")
    assert (other.code, "there is another branch repin/main" in other.err) == (3, True)

    own.git("checkout", "--quiet", "--force", "repin/main")
    assert run("diff", "main").code == 0
    assert "'a..b' is no name for a branch" in run("repin", pinned, "--branch", "a..b").err
    nothing = run("repin", "main", "--branch", "more")
    assert (nothing.code, "nothing to commit" in nothing.err) == (0, True)


@pytest.mark.parametrize("change", ["edited", "untracked"])
def test_a_branch_is_not_made_of_pages_that_are_not_committed(run, repository, place, pinned, own, change):
    repository.commit({"pkg/a.py": "\n" + OLD})
    run("pull")
    if change == "edited":
        file = place.pages / "two.txt"
        file.write_text(file.read_text().replace("Doing it wrong", "Doing it badly"))
    else:
        file = place.page("three.txt", (place.pages / "two.txt").read_text().replace(OTHER, "a" * 16))
    done = run("repin", "main", "--branch", "x")
    assert done.code == 3
    assert f"{file} {'has changes that are' if change == 'edited' else 'is'} not committed" in done.err
    assert own.git("branch", "--list", "x") == ""


def test_a_branch_keeps_what_git_makes_of_line_ends(run, repository, place, pinned, own):
    own.commit({".gitattributes": "*.txt text eol=crlf\n"})
    own.git("checkout", "--quiet", "--force", "trunk")
    for file in place.pages.iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    repository.commit({"pkg/a.py": "\n" + OLD})
    run("pull")
    assert run("repin", "main", "--branch", "x").code == 0
    assert "\r" not in own.git("cat-file", "blob", "x:pages/one.txt")
    assert own.git("diff", "--stat", "trunk", "x").endswith("2 files changed, 6 insertions(+), 6 deletions(-)")


def test_a_branch_needs_an_author_and_a_commit(run, repository, place, pinned, own, monkeypatch):
    repository.commit({"pkg/a.py": "\n" + OLD})
    run("pull")
    own.git("config", "user.useConfigOnly", "true")
    own.git("config", "--unset", "user.email")
    monkeypatch.delenv("EMAIL", raising=False)
    done = run("repin", "main", "--branch", "x")
    assert (done.code, "set user.name and user.email" in done.err) == (3, True), done.err
    own.git("update-ref", "-d", "refs/heads/trunk")
    done = run("repin", "main", "--branch", "x")
    assert (done.code, "has no commit yet" in done.err) == (3, True)


def test_what_was_acknowledged_needs_no_accept_as_long_as_it_says_the_same(run, repository, place, pinned):
    run("pull")
    assert run("run").code == 0
    repository.commit({"pkg/a.py": OLD.replace("x is None", "not x")})
    run("run")
    acknowledged = run("ack", ID, "--reason", "the page is right all the same")
    assert acknowledged.code == 0, acknowledged.err
    assert run("repin", "main").code == 0
    repository.commit({"pkg/a.py": OLD.replace("x is None", "x is None or strict")})
    assert run("repin", "--pull", "--write").code == 6
    repository.commit({"pkg/a.py": "\n\n" + OLD.replace("x is None", "not x")})
    done = run("repin", "--pull", "--write")
    assert (done.code, "nothing to accept" in done.err) == (0, False)
    assert "pkg/a.py:5" in (place.pages / "one.txt").read_text()
