"""A damaged mirror is filled anew, by hand at once and by runs within reason; what is no damage is left alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.test_run import Station
from tracker.repository.fetch import pull
from tracker.repository.mirror import DOUBT, Mirror
from tracker.repository.renewal import damage


@pytest.fixture
def station(tmp_path: Path, repository: Repository, capsys: pytest.CaptureFixture[str]) -> Station:
    made = Station(tmp_path, repository, capsys)
    assert made("run")[0] == 0
    mirror = made.state / "mirror"
    subprocess.run(["git", "--git-dir", str(mirror), "repack", "-adq"], check=True)
    return made


def _only(folder: Path, pattern: str) -> Path:
    (found,) = folder.rglob(pattern)
    os.chmod(found, 0o644)
    return found


def _flip(file: Path) -> None:
    """One broken byte in the middle of the objects: a pack has a head of 12 bytes and a sum of 20 behind them."""
    content = bytearray(file.read_bytes())
    content[12 + (len(content) - 32) // 2] ^= 0xFF
    file.write_bytes(content)


def _ref(mirror: Path, content: str, name: str = "heads/main") -> None:
    file = mirror / "refs" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")


def _halved(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _emptied(mirror: Path) -> None:
    """What a machine that lost its power leaves of files that were written last."""
    pack = _only(mirror, "*.pack")
    aside = pack.rename(mirror / pack.name)
    _only(mirror, "*.idx").unlink()
    with aside.open("rb") as file:
        subprocess.run(["git", "--git-dir", str(mirror), "unpack-objects", "-q"], stdin=file, check=True)
    aside.unlink()
    for object in (mirror / "objects").glob("??/*"):
        object.chmod(0o644)
        object.write_bytes(b"")


def _borrowing(mirror: Path) -> None:
    """All objects are in another place, and that goes away."""
    pack = mirror / "objects" / "pack"
    (mirror / "objects" / "info").mkdir(exist_ok=True)
    (mirror / "objects" / "info" / "alternates").write_text(f"{mirror}-gone\n", encoding="utf-8")
    shutil.rmtree(pack)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a broken object": lambda mirror: _flip(_only(mirror, "*.pack")),
    "an empty HEAD": lambda mirror: (mirror / "HEAD").write_text(""),
    "no HEAD": lambda mirror: (mirror / "HEAD").unlink(),
    "a broken config": lambda mirror: (mirror / "config").write_text("[core\n x"),
    "no config": lambda mirror: (mirror / "config").unlink(),
    "no objects": lambda mirror: shutil.rmtree(mirror / "objects"),
    "no refs": lambda mirror: shutil.rmtree(mirror / "refs"),
    "a broken branch": lambda mirror: _ref(mirror, "no name of a commit\n"),
    "an empty branch": lambda mirror: _ref(mirror, ""),
    "a branch that leads nowhere": lambda mirror: _ref(mirror, "1" * 40 + "\n"),
    "half a pack": lambda mirror: _halved(_only(mirror, "*.pack")),
    "no pack": lambda mirror: _only(mirror, "*.pack").unlink(),
    "an empty index": lambda mirror: _only(mirror, "*.idx").write_bytes(b""),
    "no index": lambda mirror: _only(mirror, "*.idx").unlink(),
    "empty objects": lambda mirror: _emptied(mirror),
    "a broken tag": lambda mirror: _ref(mirror, "", "tags/v1"),
    "a tag that leads nowhere": lambda mirror: _ref(mirror, "1" * 40 + "\n", "tags/v1"),
    "a place to borrow from that is gone": lambda mirror: _borrowing(mirror),
    "broken packed refs": lambda mirror: (mirror / "packed-refs").write_text("no refs\n"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_run_fills_a_damaged_mirror_anew(station: Station, kind: str) -> None:
    mirror = station.state / "mirror"
    before = station.rows("select count(*) from drifts")
    station.change("must not be", "cannot be")
    DAMAGES[kind](mirror)
    code, out, err = station("run")
    assert (code, err) == (0, "")
    first, *rest = out.splitlines()
    assert first.startswith("the mirror was damaged (")
    assert first.endswith(f") and was filled anew; the old one is {mirror}.damaged")
    assert any("000000000000000a" in line or "a.txt" in line for line in rest), rest
    assert station.rows("select count(*) from drifts") != before
    assert damage(mirror, station.upstream.url) is None
    assert Path(f"{mirror}.damaged").is_dir()
    assert station("run") == (0, "", "")
    assert sorted(file.name for file in station.state.iterdir() if file.name.startswith(".")) == []


@pytest.mark.parametrize("kind", ["a broken object", "no HEAD", "a broken branch"])
def test_a_pull_does_so_at_once_and_says_it(station: Station, kind: str) -> None:
    for _ in range(2):
        if kind == "a broken object":
            subprocess.run(["git", "--git-dir", str(station.state / "mirror"), "repack", "-adq"], check=True)
        station.upstream.commit({"pkg/b.py": f"x = {time.time()}\n"})
        DAMAGES[kind](station.state / "mirror")
        code, _, err = station("pull")
        assert code == 0
        assert "and was filled anew; the old one is " in err
    assert station("run")[0] == 0


def test_one_damage_after_the_other_is_mended_less_and_less_often(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    said = []
    for wait in (0, 3600, 6 * 3600, 6 * 3600, 12 * 3600, 40 * 86_400):
        now += wait
        DAMAGES["an empty HEAD"](station.state / "mirror")
        code, out, _ = station("run")
        said.append((code, "filled anew; the old one" in out, "look at the disk" in out))
    assert said == [
        (0, True, False),
        (3, False, True),
        (0, True, False),  # six hours after the first
        (3, False, True),
        (0, True, False),  # twelve hours after the second
        (0, True, False),
    ]


def test_a_mirror_is_not_left_for_one_that_cannot_be_had(station: Station) -> None:
    mirror = station.state / "mirror"
    with Mirror.open(mirror) as held:
        commit = held.commit("main")
    DAMAGES["a broken branch"](mirror)
    (mirror / DOUBT).touch()
    shutil.move(station.upstream.path, f"{station.upstream.path}-away")
    code, out, _ = station("run")
    assert code == 3
    assert "filled anew" not in out
    assert not Path(f"{mirror}.new").exists()
    assert (mirror / "HEAD").is_file()
    shutil.move(f"{station.upstream.path}-away", station.upstream.path)
    code, out, _ = station("run")
    assert (code, "and was filled anew, or tried to be, at 20" in out) == (3, True)
    assert station("run") == (3, "", "")
    code, _, err = station("pull")
    assert (code, "filled anew" in err) == (0, True)
    with Mirror.open(mirror) as held:
        assert held.commit("main") == commit


def _own(mirror: Path) -> str:
    return _git(mirror, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tracker")


def _git(mirror: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["git", "--git-dir", str(mirror), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
        input=text,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


def _with_a_release(station: Station) -> str:
    """What upstream does not have: a release, and a pin of a history that was rewritten -> the tracker's own refs."""
    mirror = station.state / "mirror"
    blob = _git(mirror, "hash-object", "-w", "--stdin", text="raise E('of the release')\n")
    tree = _git(mirror, "mktree", text=f"100644 blob {blob}\ta.py\n")
    _git(mirror, "update-ref", "refs/tracker/releases/1.0", _git(mirror, "commit-tree", tree, "-m", "demo 1.0"))
    station.upstream.git("checkout", "--quiet", "--orphan", "other")
    station.upstream.commit({"pkg/a.py": "raise E('another history')\n"})
    station.upstream.git("branch", "--force", "main", "other")
    return _own(mirror)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["no HEAD", "a broken config", "a broken branch"])
def test_what_only_the_old_one_had_comes_along(station: Station, kind: str, packed: bool) -> None:
    mirror = station.state / "mirror"
    before = _with_a_release(station)
    if packed:
        _git(mirror, "pack-refs", "--all")
    DAMAGES[kind](mirror)
    code, _, err = station("pull")
    assert (code, "could not be carried over" in err) == (0, False)
    assert _own(mirror) == before
    assert damage(mirror, station.upstream.url) is None


def test_what_cannot_be_carried_over_is_named(station: Station) -> None:
    mirror = station.state / "mirror"
    before = _with_a_release(station)
    pin = before.split()[0]
    station.upstream.git("branch", "kept", pin)
    (mirror / "refs/tracker/releases/2.0").write_text("")
    (mirror / "refs/tracker/fetched").mkdir()
    (mirror / "refs/tracker/fetched" / ("d" * 40)).write_text("d" * 40)
    DAMAGES["half a pack"](mirror)
    for commit in (mirror / "objects").glob("??/*"):  # of the release, which was never packed
        commit.unlink()
    code, _, err = station("pull")
    assert code == 0
    assert (
        "; releases/1.0, releases/2.0 could not be carried over (a release is taken from the package index when it is"
        in err
    )
    # Upstream still has the pin, although no branch that is followed leads there.
    assert f"{pin} refs/tracker/pins/{pin}" in _own(mirror)
    assert "releases" not in _own(mirror)


@pytest.mark.parametrize("step", [1, 2])
def test_a_renewal_that_is_killed_loses_nothing(station: Station, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    mirror = station.state / "mirror"
    before = _with_a_release(station)
    DAMAGES["an empty HEAD"](mirror)
    rename, moved = Path.rename, []

    def killed(self: Path, target: Path) -> Path:
        if self in (mirror, Path(f"{mirror}.new")):
            moved.append(self)
            if len(moved) == step:
                raise SystemExit(9)
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        with pytest.raises(SystemExit):
            station("pull")
    assert len(moved) == step
    assert Path(f"{mirror}.new").is_dir()
    assert station("pull")[0] == 0
    assert _own(mirror) == before
    assert not Path(f"{mirror}.new").exists()


@pytest.mark.parametrize("command", ["run", "pull"])
def test_what_another_command_could_not_read_is_mended(station: Station, command: str) -> None:
    """A pull reads what is new, and a run where nothing changed nothing at all."""
    mirror = station.state / "mirror"
    base = station.upstream.git("rev-parse", "HEAD")
    station.change("must not be", "cannot be")
    assert station("run")[0] == 0
    assert station("run") == (0, "", "")
    (pack,) = {file.stem for file in (mirror / "objects" / "pack").glob("*.pack")}
    DAMAGES["empty objects" if not pack else "a broken object"](mirror)
    assert station(command)[:2] == (0, "")
    assert station("sites", base)[0] == 3
    _, out, err = station(command)
    assert "was filled anew" in out + err
    assert station("sites", base)[0] == 0
    assert station("run") == (0, "", "")


def test_a_doubt_that_was_none_is_forgotten(station: Station) -> None:
    doubt = station.state / "mirror" / DOUBT
    doubt.touch()
    assert station("run") == (0, "", "")
    assert not doubt.exists()
    doubt.touch()
    assert "as before" in station("pull")[2]
    assert not doubt.exists()


def test_what_is_only_odd_or_lacking_upstream_is_no_damage(repository: Repository, tmp_path: Path) -> None:
    base = repository.commit({"pkg/a.py": "raise E('x')\n", "picture.gif": "GIF"})
    odd = repository.git("cat-file", "commit", base).replace("<ada@example.org>", "<>", 1).replace("Ada <>", "Ada")
    commit = repository.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", text=f"{odd}\n")
    repository.git("reset", "--hard", commit)
    mirror = tmp_path / "mirror"
    with Mirror.open(mirror) as held:
        pull(held, repository.url, "main")
    assert subprocess.run(["git", "--git-dir", str(mirror), "fsck"], capture_output=True, check=False).returncode
    assert damage(mirror, repository.url) is None
    picture = repository.git("rev-parse", "main:picture.gif")
    (repository.path / ".git" / "objects" / picture[:2] / picture[2:]).unlink()
    shutil.rmtree(mirror)
    with Mirror.open(mirror) as held:
        assert pull(held, repository.url, "main").lacking
    assert damage(mirror, repository.url) is None
    assert damage(mirror, f"{repository.url}-elsewhere") == f"missing blob {picture}"


def test_what_is_no_damage_is_left_alone(station: Station, tmp_path: Path) -> None:
    mirror = station.state / "mirror"
    assert damage(mirror, station.upstream.url) is None
    shutil.move(station.upstream.path, f"{station.upstream.path}-away")
    code, _, err = station("pull")
    assert (code, "filled anew" in err) == (3, False)
    assert not Path(f"{mirror}.damaged").exists()
    somebody = tmp_path / "somebody"
    somebody.mkdir()
    (somebody / "letter.txt").write_text("dear")
    shutil.rmtree(mirror)
    shutil.move(somebody, mirror)
    for command in ("pull", "run"):
        code, out, err = station(command)
        assert code == 3
        assert "move it away, or set [state] path elsewhere" in out + err
    assert (mirror / "letter.txt").read_text() == "dear"
