"""A folder of pages on a real disk: what is read, what is named as a fault, and what is no catalogue at all."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracker.catalogue.folder import LARGEST, read
from tracker.errors import CatalogueError

PAGES = Path(__file__).parent / "pages"
SAMPLE = (PAGES / "000_4fe9a1b22a778e94.txt").read_text(encoding="utf-8")
ID = "519f29f51aca4e7b"


def write(path: Path, identity: str, text: str = SAMPLE) -> Path:
    """A page like the sample, with another id."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace(ID, identity), encoding="utf-8", newline="")
    return path


def faults(folder: Path, repository: str | None = "jax-ml/jax") -> list[tuple[str, int, str]]:
    return [(fault.file, fault.line, fault.reason) for fault in read(folder, repository).faults]


def files(folder: Path) -> list[str]:
    return [page.entry.file for page in read(folder).pages]


def test_the_samples() -> None:
    catalogue = read(PAGES, "jax-ml/jax")
    assert catalogue.folder == PAGES
    assert catalogue.faults == ()
    assert [(page.entry.file[:3], page.entry.line) for page in catalogue.pages] == [
        ("000", 1283),
        ("002", 1269),
        ("003", 1343),
        ("004", 163),
    ]


def test_the_project_s_own_catalogue() -> None:
    catalogue = read(Path(__file__).parents[2] / "state" / "catalogue", "jax-ml/jax")
    assert catalogue.faults == ()
    assert len(catalogue.pages) == 4


def test_what_is_a_page(tmp_path: Path) -> None:
    write(tmp_path / "b.txt", "b" * 16)
    write(tmp_path / "below" / "deep" / "a page é.txt", "a" * 16)
    write(tmp_path / "a.txt", "c" * 16)
    write(tmp_path / ".hidden.txt", "d" * 16)
    write(tmp_path / ".git" / "page.txt", "e" * 16)
    write(tmp_path / "page.md", "f" * 16)
    write(tmp_path / "folder.txt" / "inside.txt", "0" * 16)
    (tmp_path / "below" / "loop").symlink_to(tmp_path)
    (tmp_path / "link.txt").symlink_to(write(tmp_path / "elsewhere.page", "1" * 16))
    assert files(tmp_path) == ["a.txt", "b.txt", "below/deep/a page é.txt", "folder.txt/inside.txt", "link.txt"]
    assert faults(tmp_path) == []


def test_a_trailing_slash_and_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "pages" / "a.txt", "a" * 16)
    monkeypatch.chdir(tmp_path)
    assert files(Path("pages/")) == files(Path("./pages/../pages")) == ["a.txt"]
    monkeypatch.chdir(tmp_path / "pages")
    assert files(Path(".")) == ["a.txt"]


def test_one_bad_page_hides_no_other(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "a" * 16)
    write(tmp_path / "b.txt", "b" * 15)
    (tmp_path / "c.txt").write_bytes(b"")
    write(tmp_path / "d.txt", "d" * 16)
    assert files(tmp_path) == ["a.txt", "d.txt"]
    assert faults(tmp_path) == [
        ("b.txt", 87, "expected an id of 16 hex digits (0-9, a-f), found 'bbbbbbbbbbbbbbb'"),
        ("c.txt", 1, "the page is empty: expected `OWNER/NAME · error · EXCEPTION`"),
    ]


def test_only_bad_pages_are_faults_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(b"")
    catalogue = read(tmp_path)
    assert (catalogue.pages, len(catalogue.faults)) == ((), 1)


def test_pages_with_one_id_are_none_of_them_used(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "a" * 16)
    write(tmp_path / "b.txt", "b" * 16)
    write(tmp_path / "below" / "c.txt", "a" * 16, SAMPLE.replace("\n", "\r\n"))
    reason = f"the id {'a' * 16} is also that of %s: expected one page for an id, none of them is used"
    assert faults(tmp_path) == [("a.txt", 87, reason % "below/c.txt"), ("below/c.txt", 87, reason % "a.txt")]
    assert files(tmp_path) == ["b.txt"]


def test_many_pages_with_one_id_name_one_and_a_number(tmp_path: Path) -> None:
    for name in "abcd":
        write(tmp_path / f"{name}.txt", "a" * 16)
    assert [reason.split(":")[0].split("that of ")[1] for _, _, reason in faults(tmp_path)] == [
        "b.txt and 2 more",
        "a.txt and 2 more",
        "a.txt and 2 more",
        "a.txt and 2 more",
    ]
    assert files(tmp_path) == []


def test_a_page_of_another_repository_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "a" * 16)
    write(tmp_path / "b.txt", "a" * 16, SAMPLE.replace("jax-ml/jax", "else/where"))
    assert faults(tmp_path) == [("b.txt", 1, "the page is about else/where, the catalogue about jax-ml/jax")]
    assert [page.entry.file for page in read(tmp_path, "jax-ml/jax").pages] == ["a.txt"]
    assert [page.entry.file for page in read(tmp_path, "else/where").pages] == ["b.txt"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "a" * 16)
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    (tmp_path / "nowhere.txt").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "big.txt").write_bytes(b" " * (LARGEST + 1))
    assert files(tmp_path) == ["a.txt"]
    assert faults(tmp_path) == [
        ("big.txt", 1, "cannot be read: 1048577 bytes are too many for a page"),
        ("loop.txt", 1, "cannot be read: Too many levels of symbolic links"),
        ("nowhere.txt", 1, "cannot be read: No such file or directory"),
        ("pipe.txt", 1, "cannot be read: not a regular file"),
    ]


def test_a_name_that_is_no_text_can_be_printed(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.txt", "wb"):
        pass
    assert [fault.file for fault in read(tmp_path).faults] == ["\\xff.txt"]


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder outside the user's own ones, and a process that the modes of files stop, as they stop no superuser."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        if os.geteuid() != os.getuid():
            os.seteuid(os.getuid())
        for parent, _, _ in os.walk(folder):
            Path(parent).chmod(0o755)


def give_up_rights() -> None:
    if os.geteuid() == 0:
        os.seteuid(65534)


def test_what_may_not_be_read_is_a_fault(unprivileged: Path) -> None:
    write(unprivileged / "a.txt", "a" * 16)
    write(unprivileged / "b.txt", "b" * 16).chmod(0)
    write(unprivileged / "below" / "c.txt", "c" * 16)
    (unprivileged / "below").chmod(0)
    give_up_rights()
    assert files(unprivileged) == ["a.txt"]
    assert faults(unprivileged) == [
        ("b.txt", 1, "cannot be read: Permission denied"),
        ("below", 1, "cannot be listed: Permission denied"),
    ]


def test_a_catalogue_that_may_not_be_read(unprivileged: Path) -> None:
    write(unprivileged / "below" / "pages" / "c.txt", "c" * 16)
    (unprivileged / "below" / "pages").chmod(0)
    write(unprivileged / "closed" / "pages" / "c.txt", "c" * 16)
    (unprivileged / "closed").chmod(0)
    give_up_rights()
    for folder in (unprivileged / "below" / "pages", unprivileged / "closed" / "pages"):
        with pytest.raises(
            CatalogueError, match=re.escape(f"the catalogue {folder} cannot be read: Permission denied")
        ):
            read(folder)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere", "does not exist"),
        ("a.txt", "is not a folder"),
        ("a.txt/below", "is not a folder"),
        ("loop", "cannot be read: Too many levels of symbolic links"),
        ("empty", "holds no page (*.txt)"),
        ("other", "holds no page (*.txt)"),
        ("x" * 300, "cannot be read: File name too long"),
        ("nul\0", "cannot be read: embedded null byte"),
    ],
)
def test_what_is_no_catalogue(tmp_path: Path, name: str, reason: str) -> None:
    write(tmp_path / "a.txt", "a" * 16)
    write(tmp_path / "other" / "page.md", "a" * 16)
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(CatalogueError) as caught:
        read(tmp_path / name)
    remedy = "set `[catalogue] path` in config.toml to a folder of pages"
    assert str(caught.value) == f"the catalogue {tmp_path / name} {reason}: {remedy}"


def test_thousands_of_pages_are_read_in_seconds(tmp_path: Path) -> None:
    """Generous, for slow machines: what must not come is a time that grows with the square of the pages."""
    samples = [path.read_text(encoding="utf-8") for path in sorted(PAGES.iterdir())]
    ids = [page.entry.id for page in read(PAGES).pages]
    for number in range(2000):
        identity = f"{number:016x}"
        text = samples[number % 4].replace(ids[number % 4], identity)
        (tmp_path / f"{identity}.txt").write_text(text, encoding="utf-8", newline="")
    start = time.perf_counter()
    catalogue = read(tmp_path, "jax-ml/jax")
    assert time.perf_counter() - start < 4
    assert (len(catalogue.pages), catalogue.faults) == (2000, ())
