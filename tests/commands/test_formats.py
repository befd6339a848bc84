"""Every format through the command line, on a real git repository: what no report by itself holds."""

from __future__ import annotations

import json
import os
import re

import pytest

from tests.support import page
from tracker.report.formats import FORMATS

OLD = """\
def check(x):
    if x is None:
        raise ValueError("x is missing")


def other(y):
    raise TypeError(f"bad y {y}")
"""
NEW = "# a line\n" + OLD.replace("x is missing", "x is not given").replace(
    "    raise TypeError", "    return TypeError"
)


@pytest.fixture
def drifted(repository, place) -> list[str]:
    """Two commits, each a release; one page of the first."""
    first = repository.commit({"pkg/a.py": OLD})
    repository.git("tag", "demo-v1.0")
    second = repository.commit({"pkg/a.py": NEW}, "Say what is so (#12)")
    repository.git("tag", "demo-v1.1")
    place.page("one.txt", page(OLD, 3, message="x is missing", pin=first))
    return [first, second]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("options", [(), ("--all-sites", "--base", "demo-v1.0")])
def test_every_format_is_written(run, drifted, form, options):
    done = run("diff", "--pull", *options, "--format", form)
    assert done.code == 1
    assert "x is not given" in re.sub(r"\[-|-\]|\{\+|\+\}|</?ins>|</?del>", "", done.out)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_permalinks_go_to_both_commits_and_to_the_pull_request(run, drifted, form):
    first, second = drifted
    out = run("diff", "--pull", "--format", form).out
    assert f"https://github.com/a/b/blob/{first}/pkg/a.py#L3" in out
    assert f"https://github.com/a/b/blob/{second}/pkg/a.py#L4" in out
    assert "github.com/a/b/pull/12" in out


def test_the_page_shows_the_source_before_and_after(run, drifted):
    out = run("diff", "--pull", "--format", "html").out
    before = "<mark>        raise ValueError(&#34;x is missing&#34;)</mark>"
    after = "<mark>        raise ValueError(&#34;x is not given&#34;)</mark>"
    assert before in out
    assert after in out
    assert "1\n2\n3\n4\n5\n6\n7</pre>" in out


def test_without_the_pin_the_page_shows_its_own_excerpt(run, repository, drifted, place):
    place.page("one.txt", page(OLD, 3, message="x is missing", pin="f" * 40))
    out = run("diff", "--pull", "--format", "html").out
    assert "<mark>        raise ValueError(&#34;x is missing&#34;)</mark>" in out
    assert f"/blob/{'f' * 10}/pkg/a.py#L3" in out


ABOVE, BELOW = "".join(f"# above {n}\n" for n in range(1, 21)), "".join(f"# below {n}\n" for n in range(1, 21))
LONG = ABOVE + 'raise ValueError(\n    "x is missing"\n)\n' + BELOW


@pytest.mark.parametrize("known", [True, False])
def test_as_many_lines_are_shown_around_the_statement(run, repository, place, known):
    pin = repository.commit({"pkg/a.py": LONG})
    place.page("one.txt", page(LONG, 21, message="x is missing", pin=pin if known else "f" * 40))
    repository.commit({"pkg/a.py": "# one\n" + LONG.replace("is missing", "is not given")})
    out = run("diff", "--pull", "--format", "html").out
    before, after = re.findall(r'class="numbers"[^>]*>(.*?)</pre>', out, re.DOTALL)
    assert re.findall(r"<code>(.*)\n", out) == ["# above 13", "# above 13"]
    assert out.count("<mark>raise ValueError(\n") == 2
    assert before.split("\n") == [str(n) for n in range(13, 28)]
    assert after.split("\n") == [str(n) for n in range(14, 29)]


def test_of_what_only_moved_no_source_is_shown(run, repository, place):
    pin = repository.commit({"pkg/a.py": OLD})
    place.page("one.txt", page(OLD, 3, message="x is missing", pin=pin))
    repository.commit({"pkg/a.py": "\n" + OLD})
    out = run("diff", "--pull", "--format", "html").out
    assert "a.py:3" in out
    assert "<mark>" not in out


def test_the_releases_are_on_the_chart(run, drifted):
    out = run("diff", "--pull", "--format", "html", "--all-sites", "--base", "demo-v1.0").out
    assert '<text class="release"' in out
    assert ">1.0</text>" in out


def test_the_summary_is_appended_to_the_file_that_github_names(run, drifted, tmp_path, monkeypatch):
    file = tmp_path / "summary.md"
    file.write_text("# Before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    done = run("diff", "--pull", "--format", "github")
    assert done.out.startswith("::error file=pkg/a.py,line=4,endLine=4,title=reworded")
    assert file.read_text(encoding="utf-8").startswith("# Before\n# Errors of a/b\n")
    before = file.read_bytes()
    assert run("diff", "--format", "text").code == 1
    assert file.read_bytes() == before


def test_the_annotations_alone_outside_of_a_workflow(run, drifted, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert run("diff", "--pull", "--format", "github").out.startswith("::error")


def test_a_summary_that_cannot_be_written_is_said_in_one_line(run, drifted, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "summary.md"))
    done = run("diff", "--pull", "--format", "github")
    assert done.code == 2
    assert "No such file" in done.err
    assert "Traceback" not in done.err


def test_a_filtered_report_holds_what_is_left(run, drifted):
    log = json.loads(run("diff", "--pull", "--format", "sarif", "--kind", "removed").out)
    assert log["runs"][0]["results"] == []
    notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [note["message"]["text"] for note in notes][-1].startswith("1 drifts of other kinds")


def test_a_report_is_as_readable_as_any_new_file(run, drifted, tmp_path):
    new, old = tmp_path / "new.html", tmp_path / "old.html"
    old.touch(0o640)
    old.chmod(0o640)
    for file in (new, old):
        run("diff", "--pull", "--format", "html", "--output", str(file))
    mask = os.umask(0)
    os.umask(mask)
    assert new.stat().st_mode & 0o777 == 0o666 & ~mask
    assert old.stat().st_mode & 0o777 == 0o640
