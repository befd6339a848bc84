"""A local upstream that lacks some of its own files, and that git will therefore not serve: taken over as it is.

Copies of public repositories are handed around without their largest files. All that is asked of them here is
commits, trees, and the sources in scope; a source that is missing is an error when it is read, never a removal.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tracker.errors import GitError
from tracker.repository import process
from tracker.repository.mirror import Mirror


def folder_of(url: str) -> Path | None:
    """The git directory that a `file://` url or a path names; None where it is no local repository."""
    parts = urlsplit(url)
    path = Path(unquote(parts.path)) if parts.scheme == "file" else Path(url)
    for folder in (path, path / ".git"):
        if (folder / "objects").is_dir() and (folder / "HEAD").is_file():
            return folder
    return None


def take_over(mirror: Mirror, folder: Path, branch: str) -> None:
    """Bring all objects of a local repository into the mirror, then its branch and its tags.

    GitError: it has no such branch, or lacks commits or folders of its history; the mirror has no new ref then.
    """
    _objects(folder / "objects", mirror.path / "objects")
    head = f"refs/heads/{branch}"
    listed = process.run(folder, "for-each-ref", "--format=%(objectname) %(refname)", head, "refs/tags")
    refs = [line.split(" ", 1) for line in listed.out.decode("utf-8", "surrogateescape").splitlines()]
    if head not in [name for _, name in refs]:
        raise GitError(f"{folder} has no branch {branch!r}: set [upstream] branch")
    commit = next(sha for sha, name in refs if name == head)
    whole = mirror.git("rev-list", "--objects", "--filter=blob:none", "--missing=print", "--quiet", commit)
    if whole.status or b"?" in whole.out:
        raise GitError(f"{folder} lacks parts of its history, not only files: take another [upstream] url")
    for sha, name in refs:
        if mirror.git("update-ref", name, sha).status:
            raise GitError(f"{name} of {folder} cannot be brought into {mirror.path}")


def _objects(source: Path, target: Path) -> None:
    """Link or copy what is not there yet; the index of a pack after the pack, so that git never sees half of one."""
    files = [file for file in source.rglob("*") if file.is_file() and file.parent.name != "info"]
    for file in sorted(files, key=lambda file: (file.suffix == ".idx", file)):
        there = target / file.relative_to(source)
        if there.exists():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        making = there.with_name(f"tmp_{there.name}")
        try:
            os.link(file, making)
        except OSError:
            shutil.copyfile(file, making)
        making.replace(there)
