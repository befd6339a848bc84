"""Changed files as commits on a new branch of the repository that holds them, beside whatever the user is doing there.

Neither the work tree nor the index is touched, no hook runs, nothing is pushed. It knows files, not what they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracker.errors import GitError
from tracker.repository import process


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A commit to be made: its message, and files with their new bytes."""

    message: str
    files: Mapping[Path, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """What became of a branch."""

    base: str
    """The commit it starts from."""
    commits: Sequence[str]
    """Those that were made, oldest first; none where the branch was there already, with the same files."""
    work_tree: Path


def commit_on_branch(folder: Path, name: str, drafts: Sequence[Draft]) -> Branch:
    """A new branch `name` from HEAD with one commit for each draft, in the repository that `folder` is in.

    GitError: no repository, no commit, no name for a branch, a file that is not as HEAD has it, another branch of
    this name, or nobody to be the author.
    """
    found = process.find(folder)
    if isinstance(found, str):
        why = "" if found.startswith("not a git repository") else f" that can be read ({found})"
        raise GitError(f"{folder} is in no git repository{why}: a branch needs one; --write does not")
    with tempfile.TemporaryDirectory(prefix="tracker-") as scratch:
        return _Repository(*found, Path(scratch)).branch(name, drafts)


class _Repository:
    def __init__(self, directory: Path, work_tree: Path, scratch: Path) -> None:
        self._directory, self._work_tree, self._scratch = directory, work_tree, scratch

    def branch(self, name: str, drafts: Sequence[Draft]) -> Branch:
        if name.startswith("-") or self._tried("check-ref-format", f"refs/heads/{name}") is None:
            raise GitError(f"{name!r} is no name for a branch")
        base = self._tried("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if base is None:
            raise GitError(f"{self._work_tree} has no commit yet: commit the pages, then run it again")
        modes = self._unchanged(base, sorted({file for draft in drafts for file in draft.files}))
        self._git("read-tree", base)
        head, commits = base, []
        for draft in drafts:
            for file, content in draft.files.items():
                self._git(
                    "update-index", "--cacheinfo", f"{modes[file]},{self._blob(file, content)},{self._path(file)}"
                )
            message = self._file(draft.message.encode())
            tree = self._git("write-tree")
            head = self._git("commit-tree", tree, "-p", head, "-F", message)
            commits.append(head)
        there = self._tried("rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}")
        if there is None:
            self._git("update-ref", "-m", "tracker repin", f"refs/heads/{name}", head, "")
        elif self._git("rev-parse", f"{there}^{{tree}}", f"{head}^{{tree}}").split()[0] == tree:
            commits = []
        else:
            raise GitError(f"there is another branch {name} in {self._work_tree}: name a new one with --branch")
        return Branch(base=base, commits=commits, work_tree=self._work_tree)

    def _unchanged(self, base: str, files: Sequence[Path]) -> dict[Path, str]:
        """The modes of files. GitError: one is not in the commit, or not as it is there."""
        modes = {}
        for file in files:
            listed = self._git("ls-tree", "-z", base, "--", f":(top,literal){self._path(file)}")
            mode, _, blob = listed.partition("\t")[0].split(" ") if listed else ("", "", "")
            if not listed or self._git("hash-object", f"--path={self._path(file)}", str(file)) != blob:
                what = "has changes that are not committed" if listed else "is not committed"
                raise GitError(f"{file} {what}: commit it, or take the changes back, then run it again")
            modes[file] = mode
        return modes

    def _blob(self, file: Path, content: bytes) -> str:
        # By its path, git makes of the bytes what it would make of them at `git add`.
        return self._git("hash-object", "-w", f"--path={self._path(file)}", self._file(content))

    def _path(self, file: Path) -> str:
        if not file.is_relative_to(self._work_tree):
            raise GitError(f"{file} is outside of {self._work_tree}: a branch cannot hold it")
        return file.relative_to(self._work_tree).as_posix()

    def _file(self, content: bytes) -> str:
        file = self._scratch / "content"
        file.write_bytes(content)
        return str(file)

    def _tried(self, *arguments: str) -> str | None:
        result = self._run(*arguments)
        return None if result.status else _text(result)

    def _git(self, *arguments: str) -> str:
        result = self._run(*arguments)
        if result.status:
            said = process.last_words(result.err)
            if "empty ident" in result.err or "tell me who you are" in result.err:
                said = "it does not know who commits: set user.name and user.email with `git config`"
            raise GitError(f"git could not make the branch in {self._work_tree}: {said}")
        return _text(result)

    def _run(self, *arguments: str) -> process.Result:
        return process.run(self._directory, *arguments, work_tree=self._work_tree, index=self._scratch / "index")


def _text(result: process.Result) -> str:
    return result.out.decode("utf-8", "surrogateescape").strip()
