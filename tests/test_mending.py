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
from tracker.repository.mirror import Mirror
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
    shutil.move(station.upstream.path, f"{station.upstream.path}-away")
    code, out, _ = station("run")
    assert code == 3
    assert "filled anew" not in out
    assert (mirror / "HEAD").is_file()
    shutil.move(f"{station.upstream.path}-away", station.upstream.path)
    code, _, err = station("pull")
    assert (code, "filled anew" in err) == (0, True)
    with Mirror.open(mirror) as held:
        assert held.commit("main") == commit


def test_what_only_the_old_one_had_comes_along(station: Station) -> None:
    mirror = station.state / "mirror"
    with Mirror.open(mirror) as held:
        (pin, *_) = held.git("for-each-ref", "--format=%(objectname)", "refs/tracker/pins").out.decode().split()
    station.upstream.git("checkout", "--quiet", "--orphan", "other")
    station.upstream.commit({"pkg/a.py": "raise E('another history')\n"})
    station.upstream.git("branch", "--force", "main", "other")
    _ref(mirror, "no name of a commit\n")
    assert "could not be carried over" not in station("pull")[2]
    with Mirror.open(mirror) as held:
        assert held.commit(f"refs/tracker/pins/{pin}") == pin


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
