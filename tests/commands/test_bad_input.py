"""Bad input gets one clear line that says what is wrong and what to do next, the exit code of the contract, no more."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import page

SOURCE = 'def check(x):\n    if not x:\n        raise ValueError("x is missing")\n'


@pytest.fixture
def pinned(repository, place) -> str:
    commit = repository.commit({"pkg/a.py": SOURCE})
    repository.git("tag", "v1.0")
    place.page("one.txt", page(SOURCE, 3, message="x is missing", pin=commit))
    return commit


def one_line(err: str) -> str:
    """The only line of a failure; progress of the steps before it aside."""
    lines = [line for line in err.splitlines() if line.startswith("tracker: ")]
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return lines[0]


def test_no_config(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("diff", config=False)
    assert done.code == 2
    assert re.search(r"config\.toml.*-c", one_line(done.err))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[upstream]\nurl = "x\n', r"config\.toml:2:\d+: "),
        ("[upstream]\nurll = 'x'\n", r"urll.*url"),
        ("[upstraem]\n", r"upstraem.*upstream"),
        ("[upstream]\npaths = 3\n", r"upstream\.paths"),
        ("[catalogue]\ntrack = 'some'\n", r"catalogue\.track.*pages"),
    ],
)
def test_a_broken_config(run, place, text, said):
    place.config.write_text(text)
    done = run("diff")
    assert done.code == 2
    assert re.search(said, one_line(done.err))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("v1.1", r"v1\.1.*v1\.0"),
        ("mian", r"mian.*main"),
        ("abcdef1", r"abcdef1.*tracker pull"),
        ("f" * 40, r"ffff.*(not|upstream)"),
        ("--upload-pack=x", r"upload-pack|No such option"),
        ("release:x y", r"x y"),
        ("", r"''|revision"),
    ],
)
def test_an_unknown_revision(run, pinned, name, said):
    run("pull")
    done = run("diff", "--", name)
    assert done.code == 2
    assert done.out == ""
    assert re.search(said, one_line(done.err))


def test_a_pin_that_the_mirror_does_not_have(run, repository, place):
    repository.commit({"pkg/a.py": SOURCE})
    place.page("one.txt", page(SOURCE, 3, message="x is missing", pin="e" * 40))
    run("pull")
    done = run("diff", "main", "--base", "pin")
    assert done.code == 2
    assert re.search(r"pin eeee.*tracker pull.*--base", one_line(done.err))


def test_several_pins_are_no_pin(run, repository, place, pinned):
    other = repository.commit({"pkg/a.py": SOURCE + "\n"})
    place.page("two.txt", page(SOURCE, 3, message="x is missing", pin=other, id="f" * 16))
    run("pull")
    done = run("diff", "main", "--base", "pin")
    assert done.code == 2
    assert "2 pins" in one_line(done.err)


def test_an_upstream_that_is_not_there(run, place):
    place.configure((place.folder / "nowhere").as_uri())
    assert (done := run("pull")).code == 3
    assert "nowhere" in one_line(done.err)
    place.page("one.txt", page(SOURCE, 3, message="x is missing", pin="e" * 40))
    assert run("diff", "--pull").code == 2


def test_an_empty_mirror(run, place):
    place.page("one.txt", page(SOURCE, 3, message="x is missing", pin="e" * 40))
    done = run("diff")
    assert done.code == 2
    assert re.search(r"tracker pull.*release:latest", one_line(done.err))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad.txt", lambda good: good.replace("/api/errors/", "/api/"), r"bad\.txt:\d+: .*/api/errors/"),
        ("bad.txt", lambda good: "", r"bad\.txt:1: "),
        ("bad.txt", lambda good: good, r"one\.txt"),
    ],
    ids=["no id", "empty", "an id twice"],
)
def test_a_page_that_cannot_be_read_leaves_the_others_checked(run, repository, place, pinned, name, text, said):
    good = place.pages.joinpath("one.txt").read_text(encoding="utf-8")
    place.page("other.txt", good.replace("0123456789abcdef", "f" * 16))
    place.page(name, text(good))
    done = run("diff", "--pull")
    assert done.code == 2
    assert re.search(said, done.err)
    assert "right at main" in done.out


def test_no_page_at_all(run, place, pinned):
    place.pages.joinpath("one.txt").unlink()
    done = run("diff", "--pull")
    assert done.code == 2
    assert str(place.pages) in one_line(done.err)


def test_only_unreadable_pages(run, place, pinned):
    place.page("one.txt", "nothing of a page")
    done = run("diff", "--pull")
    assert (done.code, done.out) == (2, "")
    assert "can be read" in done.err


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"README": "text"}, r"no file that \[upstream\] paths matches"),
        ({"pkg/b.py": "x = 1\n"}, r"not one raise statement"),
        ({"pkg/a.txt": SOURCE}, r"no file that"),
    ],
    ids=["no source", "no site", "no Python"],
)
def test_another_repository_is_not_all_removed(run, repository, pinned, files, said):
    repository.commit({"pkg/a.py": None, **files})
    done = run("diff", "--pull")
    assert (done.code, done.out) == (2, "")
    assert re.search(said, one_line(done.err))


def test_a_mirror_that_is_something_else(run, place, pinned):
    mirror = place.folder / "state" / "mirror"
    mirror.mkdir(parents=True)
    mirror.joinpath("letter.txt").write_text("dear all")
    done = run("diff")
    assert done.code == 2
    assert str(mirror) in one_line(done.err)


def test_a_broken_mirror_is_never_a_removal(run, place, pinned, repository):
    run("pull")
    blob = repository.git("rev-parse", "HEAD:pkg/a.py")
    mirror = place.folder / "state" / "mirror"
    for pack in mirror.glob("objects/pack/*"):
        pack.chmod(0o644)
        pack.unlink()
    loose = mirror / "objects" / blob[:2] / blob[2:]
    if loose.exists():
        loose.chmod(0o644)
        loose.write_bytes(b"")
    done = run("diff", "main")
    assert (done.code, done.out) == (2, "")
    one_line(done.err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(run, pinned, place):
    run("pull")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tracker", "-c", str(place.config), "diff", "main"],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert "No space left on device" in one_line(done.stderr)


def test_a_reader_that_goes_away_is_no_failure(run, pinned, place):
    run("pull")
    command = (
        f"{sys.executable} -m tracker -c {place.config} -q sites main --format jsonl | true; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_interrupted_in_the_middle_of_a_pull(run, pinned, place, repository):
    """Ctrl-C while upstream does not answer: one line, 130, and the next pull simply works."""
    slow = place.folder / "slow"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    env = os.environ | {"GIT_SSH_COMMAND": str(slow)}
    place.configure("ssh://host.invalid/repository")
    with subprocess.Popen(
        [sys.executable, "-m", "tracker", "-c", str(place.config), "pull"],
        env=env, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as pull:  # fmt: skip
        time.sleep(2)
        assert pull.poll() is None
        os.killpg(pull.pid, signal.SIGINT)
        _, err = pull.communicate(timeout=20)
    assert pull.returncode == 130
    assert "interrupted" in one_line(err)
    place.configure(repository.url)
    assert run("pull").code == 0
    assert run("diff").code == 0


def test_an_output_that_cannot_be_written(run, pinned, place):
    run("pull")
    done = run("diff", "main", "--output", str(place.folder / "nowhere" / "report.txt"))
    assert (done.code, done.out) == (2, "")
    assert "nowhere" in one_line(done.err)


def test_interrupted_twice_while_workers_are_busy(run, place, repository):
    """Ctrl-C, and again because nothing seems to happen: one line, 130, and no process is left."""
    source = "".join(
        f'def f{n}(x):\n    if x:\n        raise ValueError(f"bad {{x}} in {n}")\n\n' for n in range(40_000)
    )
    base = repository.commit({f"pkg/m{n}.py": source.replace("bad", f"bad {n}") for n in range(4)})
    run("pull")
    command = [sys.executable, "-m", "tracker", "-c", str(place.config), "diff", "main", "--base", base, "--all-sites"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as diff:
        time.sleep(1.5)
        assert diff.poll() is None
        os.killpg(diff.pid, signal.SIGINT)
        os.killpg(diff.pid, signal.SIGINT)
        _, err = diff.communicate(timeout=30)
    assert diff.returncode == 130
    assert "interrupted" in one_line(err)
    with pytest.raises(ProcessLookupError):
        os.killpg(diff.pid, 0)
