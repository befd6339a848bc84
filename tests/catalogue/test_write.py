"""Pages written all or not at all, on real files; what cannot happen by itself is done to the file system."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tracker.catalogue.write import Replacement, replace_all
from tracker.errors import CatalogueError

NAMES = ("a.txt", "sub/b.txt", "sub/c.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"old " + name.encode())
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
    }


OLD = {name: b"old " + name.encode() for name in NAMES}
NEW = {name: b"new " + name.encode() for name in NAMES}
PAGES = [Replacement(name, OLD[name], NEW[name]) for name in NAMES]


def test_all_pages_are_replaced_and_nothing_else_lies_there(folder):
    replace_all(folder, PAGES)
    assert content(folder) == NEW
    replace_all(folder, [])
    assert content(folder) == NEW


@pytest.mark.parametrize("name", NAMES)
def test_a_page_that_somebody_changed_meanwhile_stops_all(folder, name):
    (folder / name).write_bytes(b"mine")
    with pytest.raises(CatalogueError, match=f"{name} was changed by somebody else"):
        replace_all(folder, PAGES)
    assert content(folder) == OLD | {name: b"mine"}


@pytest.mark.parametrize("at", range(3))
def test_a_failure_half_way_puts_back_what_was_replaced(folder, monkeypatch, at):
    """The file system fails at one of the renames, and works again after that."""
    real, done = Path.replace, []

    def failing(self: Path, target: Path) -> Path:
        done.append(target)
        if len(done) == at + 1:
            raise OSError(5, "Input/output error", str(target))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="Input/output"):
        replace_all(folder, PAGES)
    assert len(done) == 2 * at + 1
    assert content(folder) == OLD


def test_a_page_that_is_gone_stops_all(folder):
    (folder / "sub/c.txt").unlink()
    with pytest.raises(FileNotFoundError):
        replace_all(folder, PAGES)
    assert content(folder) == {name: OLD[name] for name in NAMES[:2]}


def in_another_process(program: str) -> subprocess.CompletedProcess[str]:
    head = "from pathlib import Path; from tracker.catalogue.write import *\n"
    root = Path(__file__).parent.parent.parent
    return subprocess.run([sys.executable, "-c", head + program], cwd=root, capture_output=True, text=True)


def call(folder: Path) -> str:
    return f"replace_all(Path({str(folder)!r}), [Replacement(*page) for page in {[tuple(page) for page in PAGES]!r}])\n"


def test_no_room_for_the_new_pages(folder):
    """The system refuses files of more than four bytes; they are as long as the old ones, which are there already."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))\n"
    done = in_another_process(limit + call(folder))
    assert "File too large" in done.stderr
    assert content(folder) == OLD


def test_two_at_once_are_one_after_the_other(folder):
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(CatalogueError, match="another tracker is writing"):
        replace_all(folder, PAGES)
    assert content(folder) == OLD
    os.close(handle)
    replace_all(folder, PAGES)
    assert content(folder) == NEW


def test_a_killed_run_is_healed_by_the_next(folder):
    """Killed between two renames: every page is whole, and doing it again does the rest."""
    kill = (
        "import os, signal\n"
        "real = Path.replace\n"
        "def replace(self, target):\n"
        "    real(self, target)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "Path.replace = replace\n"
    )
    assert in_another_process(kill + call(folder)).returncode == -signal.SIGKILL
    left = content(folder)
    assert {name: left[name] for name in NAMES} == OLD | {"a.txt": NEW["a.txt"]}
    assert len(left) == 5
    replace_all(folder, [page for page in PAGES if left[page.file] == page.old])
    assert content(folder) == NEW


ADDED = [Replacement("d.txt", None, b"new d"), *PAGES, Replacement("sub/e.txt", None, b"new e")]


def test_pages_are_added_beside_those_that_are_replaced(folder):
    replace_all(folder, ADDED)
    assert content(folder) == NEW | {"d.txt": b"new d", "sub/e.txt": b"new e"}
    mask = os.umask(0)
    os.umask(mask)
    assert (folder / "d.txt").stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize("name", ["d.txt", "sub/e.txt"])
def test_a_page_that_is_added_never_takes_the_place_of_a_file(folder, name):
    (folder / name).write_bytes(b"mine")
    with pytest.raises(CatalogueError, match=f"{name} was made by somebody else meanwhile"):
        replace_all(folder, ADDED)
    assert content(folder) == OLD | {name: b"mine"}


def test_a_failure_takes_back_what_was_added(folder):
    """A page that cannot be written, in the middle of others that are new."""
    (folder / "sub/c.txt").write_bytes(b"mine")
    with pytest.raises(CatalogueError, match="changed by somebody else"):
        replace_all(folder, ADDED)
    assert content(folder) == OLD | {"sub/c.txt": b"mine"}
