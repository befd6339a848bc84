"""Years of fetches leave a mirror in pieces: it is packed when it should be, and loses nothing by that."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import Repository
from tracker.errors import GitError
from tracker.repository import process
from tracker.repository.fetch import keep, pull
from tracker.repository.mirror import DOUBT, Mirror
from tracker.repository.upkeep import LOOSE, PACKS, in_pieces, pack


def _packs(path: Path) -> int:
    return len(list((path / "objects" / "pack").glob("*.pack")))


@pytest.mark.parametrize(
    ("packs", "loose", "due"), [(0, 0, False), (PACKS, LOOSE - 1, False), (51, 0, True), (0, 27, True)]
)
def test_when_a_mirror_is_in_pieces(tmp_path: Path, packs: int, loose: int, due: bool) -> None:
    for folder, end, count in (("pack", ".pack", packs), ("pack", ".idx", 99), ("17", "", loose), ("18", "", 99)):
        (tmp_path / "objects" / folder).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (tmp_path / "objects" / folder / f"{number:038x}{end}").touch()
    assert in_pieces(tmp_path) is due


def test_a_mirror_without_objects_is_not_in_pieces(tmp_path: Path) -> None:
    assert not in_pieces(tmp_path)


@pytest.fixture
def pieces(tmp_path: Path, repository: Repository) -> Mirror:
    """Eight pulls, each a pack of its own, and a pin of a past that upstream rewrote."""
    mirror = Mirror.open(tmp_path / "mirror")
    for key, value in (("fetch.unpackLimit", "1"), ("gc.autoPackLimit", "3")):
        subprocess.run(["git", "--git-dir", mirror.path, "config", key, value], check=True)
    for number in range(8):
        repository.commit({"a.py": f"x = {number}\n"})
        pull(mirror, repository.url, "main")
        if not number:
            keep(mirror, [str(mirror.commit("main"))])
            repository.git("commit", "--amend", "--quiet", "--message", "another past")
    return mirror


def test_git_does_not_pack_by_itself(pieces: Mirror) -> None:
    assert _packs(pieces.path) == 8


def test_what_is_packed_is_all_there(pieces: Mirror) -> None:
    before = pieces.git("for-each-ref").out
    with pieces:
        blobs = [file.blob for file in pieces.files("main", ["*.py"])]
        reading = pieces.read(blobs)
        pack(pieces, 60)
        assert dict(reading) == {blobs[0]: b"x = 7\n"}
    assert _packs(pieces.path) == 1
    assert not in_pieces(pieces.path)
    assert pieces.git("for-each-ref").out == before
    assert not pieces.git("fsck", "--strict").status
    assert not (pieces.path / DOUBT).exists()


def test_what_cannot_be_packed_is_in_doubt(pieces: Mirror) -> None:
    broken = max((pieces.path / "objects" / "pack").glob("*.pack"), key=lambda file: file.stat().st_mtime_ns)
    broken.chmod(0o644)
    content = bytearray(broken.read_bytes())
    content[len(content) // 2] ^= 0xFF
    broken.write_bytes(content)
    with pytest.raises(GitError, match="the mirror could not be packed: "):
        pack(pieces, 60)
    assert (pieces.path / DOUBT).exists()


def test_packing_ends_in_time_and_leaves_nothing(pieces: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_S", 1.0)
    with pytest.raises(GitError, match="not ready within"):
        pack(pieces, 0.0)
    assert not list(pieces.path.glob("gc.pid*"))
    pack(pieces, 60)
    assert _packs(pieces.path) == 1
