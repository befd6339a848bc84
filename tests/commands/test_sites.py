"""`tracker sites` and `tracker pull`: what they list and say."""

from __future__ import annotations

import json

SOURCE = 'def f(x):\n    if x:\n        raise ValueError("bad x")\n    raise\ndef g(): raise NotImplementedError\n'


def test_sites_as_lines_for_a_person(run, repository):
    repository.commit({"pkg/a.py": SOURCE, "pkg/odd\nname.py": "raise E('odd')\n", "pkg/none.py": "x = 1\n"})
    run("pull")
    done = run("sites")
    assert done.code == 0
    assert done.out.splitlines() == [
        "pkg/a.py:3: ValueError: bad x",
        "pkg/a.py:4: raise: (re-raise)",
        "pkg/a.py:5: NotImplementedError: (no-argument)",
        "'pkg/odd\\nname.py':1: E: odd",
    ]
    assert (
        done.err
        == "3 files read; 4 raise statements in 2 of them, 2 with text, the others: 1 re-raise, 1 no-argument\n"
    )


def test_sites_as_json_lines(run, repository):
    repository.commit({"pkg/a.py": SOURCE})
    run("pull")
    done = run("sites", "main", "--format", "jsonl")
    assert [json.loads(line)["line"] for line in done.out.splitlines()] == [3, 4, 5]


def test_sites_of_some_files(run, repository):
    repository.commit({"pkg/a.py": SOURCE, "pkg/b.py": "raise E('b')\n"})
    run("pull")
    assert run("sites", "--path", "pkg/b.py").out == "pkg/b.py:1: E: b\n"
    assert run("sites", "--path", "nowhere/**").code == 2


def test_a_file_that_was_not_wholly_read_is_named(run, repository):
    repository.commit({"pkg/a.py": SOURCE + "def h(:\n"})
    run("pull")
    assert "pkg/a.py has syntax that is not understood at line 6" in run("sites").err


def test_what_a_pull_says(run, repository):
    first = repository.commit({"pkg/a.py": SOURCE})
    assert run("pull").err.splitlines()[-1] == f"main is at {first[:12]}, 1 commit in all"
    assert run("pull").err.splitlines()[-1] == f"main is at {first[:12]}, as before"
    second = repository.commit({"pkg/a.py": SOURCE + "\n"})
    repository.git("tag", "v1")
    assert run("pull").err.splitlines()[-2:] == [
        f"main went from {first[:12]} to {second[:12]}, 1 new commit",
        "1 new tag, the last v1",
    ]
    repository.git("reset", "--quiet", "--hard", first)
    repository.commit({"pkg/b.py": SOURCE})
    assert "upstream rewrote its history" in run("pull").err


def test_quiet_says_nothing(run, repository):
    repository.commit({"pkg/a.py": SOURCE})
    assert run("-q", "pull").err == ""
    assert run("-q", "sites").err == ""
