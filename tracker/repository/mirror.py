"""The bare repository under the state directory: opening it, and reading its objects as values.

Nothing here talks to upstream, and nothing here decides which revision is meant.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from tracker.errors import GitError, MirrorInDoubt
from tracker.repository import process
from tracker.repository.globs import scope

_AHEAD = 256
"""Objects asked for before the first is read: 256 names are 10 kB and always fit into the pipe (64 kB)."""
LONGEST = 180
"""Bytes of a path that a commit can be asked for: with the commit before it, 256 of them fit, too."""
_WRITERS = "tracker-writers"
"""The file that writers lock; no other repository has it."""
DOUBT = "tracker-doubt"
"""The file that says that an object could not be read: whoever next fills the mirror looks through all of it."""
_NOTHING = "0" * 40
"""The name of no object."""

_FILE = re.compile(rb"100(?:644|755) blob ([0-9a-f]{40}) +(\d+|BAD)\t(.+)", re.DOTALL)

# What a killed git leaves behind: temporary objects and packs, locks, marks of packs in the making.
_STALE = (
    "*.lock",
    "gc.pid",
    "packed-refs.new",
    "fast_import_crash_*",
    "refs/**/*.lock",
    "objects/??/tmp_obj_*",
    "objects/pack/tmp_*",
    "objects/pack/.tmp-*",
    "objects/pack/*.lock",
    "objects/pack/*.keep",
    "objects/info/*.lock",
    "objects/info/commit-graphs/*.lock",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One regular file of a commit."""

    path: str
    """From the repository's root; bytes that are no UTF-8 are kept as surrogates."""
    blob: str
    """40 hex digits."""
    size: int


class Mirror:
    """A bare git repository that only the tracker writes to. Not for use by two threads at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader: process.Running | None = None

    @classmethod
    def open(cls, path: Path, create: bool = True) -> Self:
        """The mirror at `path`, made if there is none and `create`. GitError: none, or something else."""
        path = path.absolute()
        if not _anything_at(path):
            if not create:
                raise GitError(f"there is no mirror at {path} yet: run `tracker pull`, or name `release:latest`")
            _create(path)
        found = process.run(path, "rev-parse", "--is-bare-repository", "--show-object-format")
        right = not found.status and found.out.split() == [b"true", b"sha1"]
        if not right and is_ours(path):
            why = process.last_words(found.err) if found.status else "its configuration is not what it was made with"
            raise MirrorInDoubt(f"the mirror at {path} is damaged ({why}): `tracker pull` fills it anew")
        if found.status:
            raise GitError(
                f"{path} is not a mirror ({process.last_words(found.err)}): move it away, or set [state] path elsewhere"
            )
        if not right:
            raise GitError(f"{path} is a git repository but not a bare one with sha1 names: set [state] path elsewhere")
        return cls(path)

    def close(self) -> None:
        """End the reading process; the mirror can still be used afterwards."""
        reader, self._reader = self._reader, None
        if reader is not None:
            process.end(reader)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def git(self, *arguments: str) -> process.Result:
        """A short git command on this mirror, whatever its status."""
        return process.run(self.path, *arguments)

    def commit(self, ref: str) -> str | None:
        """The commit that a ref, a tag or any name git understands stands for; None where there is none."""
        found = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return None if found.status else found.out.decode().strip()

    def files(self, commit: str, paths: Sequence[str], exclude: Sequence[str] = ()) -> list[SourceFile]:
        """The regular files of a commit that `paths` match and `exclude` do not, ordered by path.

        Globs are those of .gitignore, from the repository's root; a folder stands for all below it.
        ConfigError: a glob that is none. GitError: the tree cannot be read.
        """
        in_scope = scope(paths, exclude)
        listing = self.git("ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", commit)
        if listing.status:
            raise self._broken(f"the tree of {commit[:12]} cannot be read", listing.err)
        found = []
        for line in listing.out.split(b"\0"):
            if match := _FILE.fullmatch(line):
                path = os.fsdecode(match[3])
                if in_scope(path):
                    if match[2] == b"BAD":  # left out, its sites would count as removed
                        raise self._broken(f"{path} of {commit[:12]} cannot be read", "its object is missing")
                    found.append(SourceFile(path=path, blob=match[1].decode(), size=int(match[2])))
        return sorted(found, key=lambda file: file.path)

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(name, content) for each blob in turn, through one process, one content in memory at a time.

        GitError: an object is missing or broken; its name is in the message.
        """
        for name, kind, content in self.objects(blobs):
            if kind != "blob":
                raise GitError(f"object {name} in {self.path} is a {kind} where a file was expected")
            yield name, content

    def content(self, blob: str) -> bytes:
        """The content of one file. GitError as of `read`."""
        ((_, content),) = self.read([blob])
        return content

    def objects(self, names: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
        """(name, type, content) for each object; `read` is this for files."""
        for name, found in self._asked(names):
            if found is None:
                raise self._broken(f"object {name} cannot be read", "it is missing")
            yield name, *found[1:]

    def commits(self, names: Iterable[str]) -> Iterator[tuple[str, str | None, bytes]]:
        """(name, commit, content) for each name as git understands it; None where it stands for no commit, or several.

        GitError: an object is broken.
        """
        asked = list(names)
        for name, (_, found) in zip(asked, self._asked(f"{name}^{{commit}}" for name in asked), strict=True):
            yield (name, found[0], found[2]) if found is not None else (name, None, b"")

    def versions(self, places: Iterable[tuple[str, str]]) -> Iterator[bytes | None]:
        """The content of the file at each (commit, path) in turn, None where the commit has no such file.

        A path that is longer than `LONGEST`, cannot be printed, or leads upwards counts as that of no file. GitError:
        an object is broken.
        """
        names = (f"{commit}:{path}" if _is_plain(path) else _NOTHING for commit, path in places)
        for _, found in self._asked(names):
            yield found[2] if found is not None and found[1] == "blob" else None

    def _asked(self, names: Iterable[str]) -> Iterator[tuple[str, tuple[str, str, bytes] | None]]:
        """Each name with the object that it stands for: its own name, type and content; None for nothing."""
        reader, self._reader = self._reader, None
        if reader is None:
            reader = process.start(self.path, "cat-file", "--batch")
        rest = iter(names)
        asked: deque[str] = deque()
        done = False
        try:
            while True:
                if len(asked) <= _AHEAD // 2 and (more := list(islice(rest, _AHEAD - len(asked)))):
                    reader.stdin.write("".join(f"{name}\n" for name in more).encode())
                    reader.stdin.flush()
                    asked.extend(more)
                if not asked:
                    done = True
                    break
                name = asked.popleft()
                yield name, self._answer(reader, name)
        except BrokenPipeError:
            raise self._broken("the objects cannot be read", _last_words(reader)) from None
        finally:
            # A reader with open questions would answer them to the next one who asks.
            if done and self._reader is None:
                self._reader = reader
            else:
                process.end(reader)

    def _answer(self, reader: process.Running, name: str) -> tuple[str, str, bytes] | None:
        header = reader.stdout.readline().decode("utf-8", "replace").split()
        if header[-1:] in (["missing"], ["ambiguous"]):
            return None
        if len(header) == 3 and header[2].isdigit():
            size = int(header[2])
            content = reader.stdout.read(size + 1)
            if len(content) == size + 1:
                return header[0], header[1], content[:-1]
        raise self._broken(f"object {name} cannot be read", _last_words(reader))

    def _broken(self, what: str, why: str) -> MirrorInDoubt:
        with suppress(OSError):
            (self.path / DOUBT).touch()
        return MirrorInDoubt(
            f"{what} in {self.path} ({process.last_words(why)}): run `tracker pull`, which fills a damaged mirror anew"
        )

    @contextmanager
    def writing(self) -> Iterator[int]:
        """Held by whoever writes; yields a file descriptor that the writing git must inherit.

        The lock is shared, so that an import does not wait for a pull. Who starts or fails while no other writer
        is alive removes what killed ones left behind: the lock lives as long as any process that inherited it.
        """
        lock = os.open(self.path / _WRITERS, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._sweep(lock)
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield lock
        except BaseException:
            self._sweep(lock)
            raise
        finally:
            os.close(lock)

    def _sweep(self, lock: int) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for pattern in _STALE:
            for stale in self.path.glob(pattern):
                with suppress(FileNotFoundError):
                    stale.unlink()


def _last_words(reader: process.Running) -> str:
    # Only a reader without pipes is sure to end, and its stderr with it.
    for stream in (reader.stdin, reader.stdout):
        with suppress(BrokenPipeError):
            stream.close()
    return reader.stderr.read().decode("utf-8", "replace")


def is_ours(path: Path) -> bool:
    """Whether what is at `path` is, or was, a mirror that the tracker wrote to."""
    return (path / _WRITERS).is_file()


def _anything_at(path: Path) -> bool:
    try:
        return any(path.iterdir())
    except FileNotFoundError:
        return path.is_symlink()
    except NotADirectoryError:
        raise GitError(f"{path} is not a mirror but a file: move it away, or set [state] path elsewhere") from None


def _create(path: Path) -> None:
    """A new bare repository, in place by one rename: it is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    made_at = making / path.name
    try:
        made = process.run(made_at, "init", "--quiet", "--bare", "--template=", "--object-format=sha1")
        if made.status:
            raise GitError(f"no mirror can be made at {path}: {process.last_words(made.err)}")
        try:
            made_at.rename(path)
        except OSError:
            if not _anything_at(path):  # else another tracker was faster
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _is_plain(path: str) -> bool:
    """Whether git takes a path for nothing but a path."""
    return path.isprintable() and len(path.encode()) <= LONGEST and not {".", ".."} & set(path.split("/"))
