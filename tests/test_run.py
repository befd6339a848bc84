"""`run`, `status`, `file` and `ack` on real repositories: what they record and say, and when they say nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.filing.desk import REPO
from tests.github.fake import TOKEN, FakeGitHub
from tests.support import Workplace, page
from tracker.cli import main
from tracker.errors import GitError

SOURCE = """
def f(x):
    if x < 0:
        raise ValueError("x must not be negative")
    raise TypeError("not this one")
"""


class Station:
    """An upstream, a catalogue of two pages about it, and the commands that watch over them."""

    def __init__(self, folder: Path, upstream: Repository, capsys: pytest.CaptureFixture[str]) -> None:
        self.upstream, self.capsys = upstream, capsys
        pin = upstream.commit({"pkg/a.py": SOURCE})
        self.workplace = Workplace(folder / "place", upstream.url)
        for line, message, exception, identity in (
            (4, "x must not be negative", "ValueError", "000000000000000a"),
            (5, "not this one", "TypeError", "000000000000000b"),
        ):
            text = page(SOURCE, line, message=message, pin=pin, id=identity, exception=exception)
            self.workplace.page(f"{identity[-1]}.txt", text)
        self.state = self.workplace.folder / "state"

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """A command -> its exit code, stdout and stderr."""
        code = main(["-c", str(self.workplace.config), *arguments])
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self.state / "tracker.sqlite3")
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def dump(self) -> list[str]:
        """Every row of every table but that of the runs themselves."""
        connection = sqlite3.connect(self.state / "tracker.sqlite3")
        try:
            return [line for line in connection.iterdump() if 'INTO "runs"' not in line]
        finally:
            connection.close()

    def change(self, old: str, new: str, subject: str = "change (#12)") -> str:
        source = (self.upstream.path / "pkg/a.py").read_text(encoding="utf-8")
        assert old in source
        return self.upstream.commit({"pkg/a.py": source.replace(old, new)}, subject)


@pytest.fixture
def station(tmp_path: Path, repository: Repository, capsys: pytest.CaptureFixture[str]) -> Station:
    return Station(tmp_path, repository, capsys)


@pytest.fixture
def github(station: Station, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    """The station files on a fake, without pauses."""
    with FakeGitHub(now=time.time()) as fake:
        fake.repository(REPO)
        for key, value in {"repository": REPO, "apply": "true", "api": fake.url, "spacing": "0"}.items():
            monkeypatch.setenv(f"TRACKER_FILING_{key.upper()}", value)
        monkeypatch.setenv("TRACKER_GITHUB_TOKEN", TOKEN)
        yield fake


def test_the_first_run_is_the_baseline(station: Station) -> None:
    station.change("must not be negative", "must be positive")
    code, out, err = station("run")
    assert code == 0
    assert "first run" in out
    assert "reworded: x must not be negative  [a.txt]" in out
    assert "tracker file" in out
    assert err == ""


def test_nothing_changed_is_nothing_said_and_nothing_written(station: Station) -> None:
    station("run")
    before = station.dump()
    for _ in range(3):
        assert station("run") == (0, "", "")
    assert station.dump() == before
    assert station.rows("select outcome from runs") == [("ok",), *[("unchanged",)] * 3]


def test_a_moved_line_is_nothing_to_tell(station: Station) -> None:
    station("run")
    station.change("def f", "# one more line\ndef f")
    assert station("run") == (0, "", "")
    assert station.rows("select distinct family from drifts") == [("lines",)]


def test_a_drift_is_told_when_it_comes_and_when_it_goes(station: Station) -> None:
    station("run")
    commit = station.change("must not be negative", "must be positive")
    code, out, err = station("run")
    assert (code, err) == (0, "")
    assert out.splitlines()[1] == f"reworded: x must not be negative  [a.txt], by {commit[:10]} (#12)"
    assert station("run") == (0, "", "")
    station.change("must be positive", "must not be negative")
    code, out, _ = station("run")
    assert out.splitlines()[1].startswith("settled: x must not be negative")


def test_a_new_error_is_told(station: Station) -> None:
    station("run")
    station.change("    raise TypeError", '    if x > 9:\n        raise KeyError("too much")\n    raise TypeError')
    _code, out, _ = station("run")
    assert "new: too much  [pkg/a.py:6]" in out


@pytest.mark.parametrize("files", [{"pkg/a.py": None}, {"pkg/a.py": "x = 1\n"}])
def test_a_check_that_finds_nothing_is_not_believed(station: Station, files: dict[str, str | None]) -> None:
    """Fault 24."""
    station("run")
    station.upstream.commit({"other.py": "", **files})
    code, out, _ = station("run")
    assert code == 2
    assert len(out.splitlines()) == 1
    assert station.rows("select count(*) from drifts where family = 'meaning'") == [(0,)]
    assert station("run") == (2, "", "")  # told once
    station.upstream.git("revert", "--no-edit", "HEAD")
    code, out, _ = station("run")
    assert code == 0
    assert "it works again, after 2 failed runs" in out


def test_half_of_the_sites_gone_at_once_is_not_believed(station: Station) -> None:
    """R60."""
    many = "".join(f'def f{n}():\n    raise ValueError("error {n}")\n' for n in range(10))
    station.upstream.commit({"pkg/b.py": many})
    station("run")
    station.upstream.commit({"pkg/b.py": None})
    code, out, _ = station("run")
    assert code == 2
    assert "2 raise statements, and 12 were there" in out


def test_an_upstream_that_is_away_is_told_once(station: Station) -> None:
    station("run")
    away = station.upstream.path.rename(station.upstream.path.with_name("away"))
    code, out, _err = station("run")
    assert code == 3
    assert out.startswith("tracker: cannot fetch from")
    assert len(out.splitlines()) == 1
    assert station("run")[:2] == (3, "")
    away.rename(station.upstream.path)
    code, out, _ = station("run")
    assert (code, "it works again, after 2 failed runs" in out) == (0, True)
    assert station("run") == (0, "", "")


def test_a_branch_that_was_renamed_is_told_with_what_there_is(station: Station) -> None:
    """Fault 40, R57."""
    station("run")
    station.upstream.git("branch", "--move", "main", "trunk")
    code, out, _ = station("run")
    assert code == 3
    assert "has no branch 'main'; it has trunk" in out
    assert station.rows("select count(*) from drifts") == [(0,)]


def test_a_rewritten_history_is_an_event(station: Station) -> None:
    """Fault 40."""
    station("run")
    station.upstream.git("commit", "--amend", "--quiet", "--message", "another past")
    code, out, _ = station("run")
    assert code == 0
    assert "upstream rewrote main" in out
    assert station("run") == (0, "", "")


def test_what_happened_in_a_run_that_failed_is_told_by_the_next_that_did_not(station: Station) -> None:
    station("run")
    text = (station.upstream.path / "pkg/a.py").read_text(encoding="utf-8")
    station.upstream.commit({"pkg/a.py": "x = 1\n"})
    station.upstream.git("commit", "--amend", "--quiet", "--message", "another past")
    station("pull")
    station.upstream.git("commit", "--amend", "--quiet", "--message", "yet another past")
    file = station.workplace.pages / "b.txt"
    file.write_text("no page at all", encoding="utf-8")
    code, out, _ = station("run")
    assert (code, "rewrote" in out, "b.txt" in out) == (2, False, False)
    station.upstream.commit({"pkg/a.py": text})
    code, out, _ = station("run")
    assert (code, "upstream rewrote main" in out, "b.txt" in out) == (0, True, True)
    assert station("run") == (0, "", "")


def test_a_pin_outlives_the_history_it_was_part_of(station: Station) -> None:
    """R56: kept by a ref of its own, so that neither a force-push nor a clean-up takes it away."""
    station("run")
    station.upstream.git("commit", "--amend", "--quiet", "--message", "another past")
    station("run")
    mirror = station.state / "mirror"
    subprocess.run(["git", "-C", mirror, "gc", "--quiet", "--prune=now"], check=True)
    station.change("must not be negative", "must be positive")
    _, out, _ = station("run")
    assert "reworded: x must not be negative" in out


def test_a_pin_that_is_not_there_is_told_once(station: Station) -> None:
    """Fault 41."""
    file = station.workplace.pages / "a.txt"
    text = file.read_text(encoding="utf-8")
    pin = text.split("pinned to ")[1][:10]
    file.write_text(text.replace(pin, "deadbeef00"), encoding="utf-8")
    _, out, _ = station("run")
    assert "does not have the pin deadbeef00" in out
    station.change("def f", "# a line\ndef f")
    assert station("run") == (0, "", "")


def test_a_page_that_cannot_be_read_is_told_and_closes_nothing(station: Station, github: FakeGitHub) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    station("run")
    (issue,) = github.open(REPO)
    file = station.workplace.pages / "a.txt"
    text = file.read_text(encoding="utf-8")
    file.write_text("no page at all", encoding="utf-8")
    _code, out, _ = station("run")
    assert "a.txt" in out
    assert issue.state == "open"
    file.write_text(text, encoding="utf-8")
    station("run")
    assert issue.state == "open"


def test_a_page_that_was_taken_away_closes_its_issue(station: Station, github: FakeGitHub) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    station("run")
    (station.workplace.pages / "a.txt").unlink()
    _, out, _ = station("run")
    assert "closed https://github.com/docs/errors/issues/1" in out
    assert not github.open(REPO)


def test_what_is_due_is_filed_once_with_its_cause(station: Station, github: FakeGitHub) -> None:
    station("run")
    assert not github.requests
    commit = station.change("must not be negative", "must be positive")
    code, out, _ = station("run")
    assert code == 0
    assert "filed https://github.com/docs/errors/issues/1: Reworded: x must not be negative" in out
    (issue,) = github.open(REPO)
    assert commit in (issue.body or "")
    asked = len(github.requests)
    assert station("run") == (0, "", "")
    assert len(github.requests) == asked
    station.change("must be positive", "must not be negative")
    _, out, _ = station("run")
    assert "closed https://github.com/docs/errors/issues/1" in out


def test_without_apply_nothing_is_sent_and_file_shows_it(
    station: Station, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKER_FILING_APPLY", "false")
    station("run")
    station.change("must not be negative", "must be positive")
    station("run")
    code, out, _ = station("file")
    assert code == 0
    assert "create  Reworded: x must not be negative" in out
    code, out, _ = station("file", "--bodies")
    assert "+ x must {+be positive+}" in out or "{+positive+}" in out
    assert not github.requests
    code, out, err = station("file", "--apply")
    assert code == 0
    assert "1 write to docs/errors" in err
    assert len(github.open(REPO)) == 1
    assert station("file", "--apply")[1] == ""
    assert "open" in station("file")[1]


def test_links_lead_to_the_line_at_their_commit_wherever_it_went(station: Station) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    station("run")
    for _ in range(2):
        station.change("def f", "# one more line\ndef f")
        assert station("run") == (0, "", "")
    links = re.findall(r"/blob/([0-9a-f]{40})/pkg/a.py#L(\d+)", station("file", "--bodies")[1])
    assert len(links) == 2
    for commit, line in links:
        source = station.upstream.git("show", f"{commit}:pkg/a.py").splitlines()
        # `git show` was stripped of the empty first line.
        assert "raise ValueError" in source[int(line) - 2], (commit, line)


def test_the_baseline_is_filed_when_a_person_says_so(station: Station, github: FakeGitHub) -> None:
    station.change("must not be negative", "must be positive")
    station("run")
    assert "with `tracker file --apply`:\n  create  Reworded: x must not be negative" in station("file")[1]
    assert not github.requests
    station("file", "--apply")
    assert len(github.open(REPO)) == 1


def test_what_is_accepted_is_closed(station: Station, github: FakeGitHub) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    station("run")
    code, _, err = station("ack", "000000000000000a", "--reason", "it still fits", "--by", "Ada")
    assert (code, err) == (0, "accepted: reworded of a.txt\n")
    assert "Ada: it still fits" in station("ack", "--list")[1]
    station("run")
    (issue,) = github.ours(REPO)
    assert issue.state == "closed"
    assert "it still fits" in issue.comments[-1][2]
    station("ack", "000000000000000a", "--undo")
    station("run")
    assert issue.state == "open"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("ack",), 2, "name an ID"),
        (("ack", "x"), 2, "say why"),
        (("ack", "x", "--reason", "y"), 2, "no drift is open of x"),
        (("ack", "x", "--undo"), 2, "nothing is accepted of x"),
        (("file",), 2, "there is no run yet"),
        (("file", "--apply"), 2, "there is no run yet"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    station: Station, arguments: tuple[str, ...], code: int, said: str
) -> None:
    found, _, err = station(*arguments)
    assert found == code
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ({"TRACKER_FILING_REPOSITORY": "a/b"}, 2, "is the upstream project a/b itself"),
        ({"TRACKER_GITHUB_TOKEN": ""}, 2, "there is no token"),
        ({"TRACKER_GITHUB_TOKEN": "wrong"}, 4, "does not accept the token"),
        ({"TRACKER_FILING_REPOSITORY": "docs/none"}, 4, "docs/none is missing on GitHub"),
        ({"TRACKER_FILING_TOKEN_FILE": "/nowhere/token"}, 2, "cannot be read"),
    ],
)
def test_a_delivery_that_cannot_be_made_is_told_once_and_made_later(
    station: Station,
    github: FakeGitHub,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    code: int,
    said: str,
) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    with monkeypatch.context() as patched:
        for name, value in settings.items():
            patched.setenv(name, value)
        found, out, _ = station("run")
        assert (found, said in out) == (code, True)
        assert station("run")[:2] == (code, "")
    code, out, _ = station("run")
    assert code == 0
    assert "filing works again" in out
    assert len(github.open(REPO)) == 1


def test_what_needs_a_person_is_told_once(station: Station, github: FakeGitHub) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    github.fail("POST", "", "status", code=422, message="Validation Failed")
    code, out, _ = station("run")
    assert (code, "needs a person" in out) == (6, True)
    station.change("not this one", "nor that one")
    code, out, _ = station("run")
    assert (code, "needs a person" in out) == (6, False)
    assert len(github.open(REPO)) == 1


def test_status_is_for_people_and_monitors(station: Station) -> None:
    code, out, _ = station("status")
    assert code == 1
    assert "last success  never" in out
    station("run")
    code, out, _ = station("status")
    assert code == 0
    assert "last success" in out
    station.upstream.path.rename(station.upstream.path.with_name("away"))
    station("run")
    code, out, _ = station("status", "--format", "json")
    assert code == 0
    facts = json.loads(out)
    assert facts["schema"] == "tracker.status/1"
    assert facts["last_run"]["outcome"] == "failed"
    assert facts["last_run"]["exit_code"] == 3
    assert "cannot fetch" in station("status")[1]


def test_overdue_is_after_two_intervals(station: Station) -> None:
    station("run")
    connection = sqlite3.connect(station.state / "tracker.sqlite3")
    connection.execute("update runs set started_at = '2020-01-01T00:00:00.000+00:00'")
    connection.commit()
    connection.close()
    code, out, _ = station("status")
    assert code == 1
    assert "OVERDUE" in out


def test_every_site_can_be_the_catalogue(station: Station, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    base = station.upstream.git("rev-parse", "HEAD")
    monkeypatch.setenv("TRACKER_CATALOGUE_TRACK", "all")
    monkeypatch.setenv("TRACKER_CATALOGUE_BASE", base)
    for file in station.workplace.pages.iterdir():
        file.unlink()
    station("run")
    station.change("not this one", "nor that")
    station("run")
    (issue,) = github.open(REPO)
    assert issue.title == "Reworded: not this one"


# The process as cron, a timer and a person in a hurry see it

ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C"}


def _process(station: Station, *arguments: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tracker", "-c", str(station.workplace.config), *arguments],
        env=ENVIRONMENT | {name: value for name, value in os.environ.items() if name.startswith("COV")} | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )


def test_cron_has_neither_a_home_nor_a_terminal(station: Station) -> None:
    """Fault 47."""
    first = _process(station, "run")
    out, err = first.communicate(timeout=60)
    assert (first.returncode, err) == (0, "")
    assert "first run" in out
    second = _process(station, "run")
    assert second.communicate(timeout=60) == ("", "")
    assert second.returncode == 0


def test_the_log_is_for_machines_where_it_is_asked_for(station: Station) -> None:
    run = _process(station, "--log-format", "json", "run")
    _, err = run.communicate(timeout=60)
    lines = [json.loads(line) for line in err.splitlines()]
    assert any(line["message"].startswith("checked ") and line["run"] == 1 for line in lines)


def _gone(process: int) -> None:
    """It has ended, or does so now: whoever inherits it may take a moment to notice."""
    deadline = time.monotonic() + 30
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_stop_marks_itself(station: Station, number: signal.Signals) -> None:
    """Faults 31 and 37: git that hangs is ended with it, and nothing is left."""
    script = station.workplace.folder / "slow-git"
    script.mkdir()
    marker = script / "started"
    wrapper = script / "git"
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    wrapper.write_text(
        f'#!/bin/sh\nfor word in "$@"; do if [ "$word" = fetch ]; then echo $$ > {marker}; exec sleep 60; fi; done\n'
        f'exec {real} "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o755)
    run = _process(station, "run", PATH=f"{script}:{os.environ['PATH']}")
    deadline = time.monotonic() + 30
    while not marker.exists() or not marker.read_text(encoding="utf-8").strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(number)
    run.communicate(timeout=30)
    assert run.returncode == 128 + number
    _gone(int(marker.read_text(encoding="utf-8")))
    assert station.rows("select outcome, code from runs") == [("stopped", 143)]
    assert station("run")[0] == 0


@pytest.mark.parametrize("signals", [1, 2])
def test_a_run_that_is_told_to_stop_while_it_files_files_once(
    station: Station, github: FakeGitHub, signals: int
) -> None:
    """Fault 31: the first signal waits for the answer; the second does not, and the next runs find out."""
    station("run")
    station.change("must not be negative", "must be positive")
    github.fail("POST", "issues$", "slow", seconds=3.0)
    told = {name: value for name, value in os.environ.items() if name.startswith(("TRACKER_FILING_", "TRACKER_GITHUB"))}
    run = _process(station, "run", **told)
    deadline = time.monotonic() + 60
    while not any(seen.method == "POST" for seen in github.requests):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for _ in range(signals):
        run.send_signal(signal.SIGTERM)
        time.sleep(0.3)
    run.communicate(timeout=30)
    assert run.returncode == 143
    states = {1: ("open",), 2: ("posting",)}
    assert station.rows("select state from issues where family = 'meaning'") == [states[signals]]
    assert len(github.ours(REPO)) == 1
    github.now = time.time() + 3600  # GitHub's lists are never that late
    assert [station("run")[0] for _ in range(3)] == [0, 0, 0]
    assert station.rows("select state from issues where family = 'meaning'") == [("open",)]
    assert len(github.ours(REPO)) == 1


def _raising(error: BaseException) -> Callable[..., None]:
    def broken(*arguments: object, **more: object) -> None:
        raise error

    return broken


@pytest.mark.parametrize(
    ("error", "code", "outcome", "said"),
    [
        (ValueError("odd\n  thing"), 2, "failed", "a fault of the program (ValueError: odd thing at test_run.py:"),
        (MemoryError(), 2, "failed", "a fault of the program (MemoryError at test_run.py:"),
        (PermissionError(13, "Permission denied", "/srv/x"), 2, "failed", "Permission denied: /srv/x"),
        (SystemExit(3), 3, "stopped", "it was asked to stop"),
        (KeyboardInterrupt(), 130, "stopped", "it was asked to stop"),
    ],
)
def test_an_error_of_the_program_is_a_failed_run_and_the_next_one_is_made(
    station: Station, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, outcome: str, said: str
) -> None:
    """Fault 33: recorded, told once, without a traceback."""
    station("run")
    before = station.rows("select * from drifts")
    station.change("must not be negative", "must be positive")
    with monkeypatch.context() as patched:
        patched.setattr("tracker.recording.verify", _raising(error))
        if isinstance(error, SystemExit):
            with pytest.raises(SystemExit):
                station("run")
        else:
            found, out, err = station("run")
            assert found == code
            assert "Traceback" not in err
            if outcome == "failed":
                assert out.startswith(f"tracker: {said}")
                assert len(out.splitlines()) == 1
                assert station("run") == (2, "", "")
    ((named, recorded),) = station.rows("select outcome, said from runs order by id desc limit 1")
    assert named == outcome
    assert str(recorded).startswith(said)
    assert station.rows("select * from drifts") == before
    code, out, _ = station("run")
    assert code == 0
    assert "reworded: x must not be negative  [a.txt]" in out
    assert ("it works again, after 2 failed runs" in out) is (outcome == "failed")


def test_the_whole_of_a_fault_is_for_whoever_asks(station: Station) -> None:
    script = (
        "import sys\nfrom tracker import recording, cli\n"
        "def broken(*given):\n    raise ValueError('odd')\n"
        "recording.verify = broken\nsys.exit(cli.main(sys.argv[1:]))"
    )
    for option, shown in (("-q", False), ("-v", True)):
        shutil.rmtree(station.state, ignore_errors=True)
        command = [sys.executable, "-c", script, "-c", str(station.workplace.config), option, "run"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (2, shown)


@pytest.mark.parametrize("error", [ValueError("odd"), ConnectionError("gone")])
def test_an_error_while_filing_is_told_once_and_what_is_due_is_filed_later(
    station: Station, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    with monkeypatch.context() as patched:
        patched.setattr("tracker.filing.words.body", _raising(error))
        code, out, err = station("run")
        assert code == 2
        assert "reworded: x must not be negative" in out
        assert str(error) in out.splitlines()[-1]
        assert "Traceback" not in err
        assert station("run") == (2, "", "")
    assert not github.writes
    code, out, _ = station("run")
    assert (code, "filing works again" in out) == (0, True)
    assert len(github.open(REPO)) == 1


def test_a_reader_that_goes_away_keeps_nothing_from_being_filed(station: Station, github: FakeGitHub) -> None:
    station("run")
    station.change("must not be negative", "must be positive")
    told = {name: value for name, value in os.environ.items() if name.startswith(("TRACKER_FILING_", "TRACKER_GITHUB"))}
    run = _process(station, "run", **told)
    assert run.stdout is not None
    run.stdout.close()
    assert run.wait(60) == 141
    assert run.stderr is not None
    assert run.stderr.read() == ""
    run.stderr.close()
    assert len(github.open(REPO)) == 1


def test_a_run_that_was_killed_is_marked_by_the_next(station: Station) -> None:
    station("run")
    connection = sqlite3.connect(station.state / "tracker.sqlite3")
    connection.execute("update runs set outcome = 'running', finished_at = null")
    connection.commit()
    connection.close()
    assert station("run")[0] == 0
    assert next(row[0] for row in station.rows("select outcome from runs")) == "crashed"


def test_a_second_run_does_nothing(station: Station) -> None:
    from tracker.store.lock import run_lock

    station("run")
    before = station.dump()
    with run_lock(station.state):
        run = _process(station, "run")
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (75, "")
    assert "another run is under way" in err
    assert station.dump() == before


def test_a_mirror_in_pieces_is_packed_once_a_day_and_that_fails_no_run(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R55."""
    packs = station.state / "mirror" / "objects" / "pack"
    monkeypatch.setattr("tracker.repository.upkeep.LOOSE", 0)
    assert station("run")[0] == 0
    assert len(list(packs.glob("*.pack"))) == 1
    ((first,),) = station.rows("select value from facts where name = 'packed'")
    for count in (2, 3):
        station.upstream.commit({f"pkg/{count}.py": "x = 1\n"})
        assert station("run") == (0, "", "")
        assert station.rows("select value from facts where name = 'packed'") == [(first,)]
    later = time.time() + 90_000
    monkeypatch.setattr(time, "time", lambda: later)
    monkeypatch.setattr("tracker.repository.upkeep.pack", _raising(GitError("the disk is full")))
    assert station("run") == (0, "", "")
    assert station.rows("select value from facts where name = 'packed'") != [(first,)]


def test_an_index_of_the_history_is_kept_up_to_date(station: Station) -> None:
    station("run")
    assert not (station.state / "history.sqlite3").exists()
    assert station("history", "not this one")[0] == 0
    station.change("not this one", "nor that one")
    assert station("run")[0] == 0
    connection = sqlite3.connect(station.state / "history.sqlite3")
    tip = station.upstream.git("rev-parse", "HEAD")
    dumped = "\n".join(connection.iterdump())
    connection.close()
    assert tip in dumped or tip.upper() in dumped
    code, out, _ = station("history", "nor that one")
    assert code == 0
    assert "reworded" in out
