"""A mirror that is damaged, filled anew from upstream beside the old one, which is put aside and not thrown away.

What only the old one had (releases, pins, commits that upstream rewrote) comes along where it can still be read.
Whoever calls this holds the run lock: two at once would put each other's mirror aside.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tracker.errors import GitError
from tracker.repository import process
from tracker.repository.fetch import FETCHED, PINS, PullResult, fetch_commit, keep, pull
from tracker.repository.local import folder_of
from tracker.repository.mirror import DOUBT, Mirror, is_ours

OWN_REFS = "refs/tracker/"
"""What no upstream has."""

_SHA = re.compile(r"[0-9a-f]{40}")
_NO_DAMAGE = ("error in ", "warning in ", "notice: ", "broken link ", " ")
"""Beginnings of what `git fsck` says of objects that are whole, only not as git would make them today; and of those
that lead to a missing one, which has a line of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """A mirror that was filled anew."""

    pulled: PullResult
    aside: Path
    """Where the old one is now."""
    lost: tuple[str, ...]
    """Releases, pins and the like that could not be read in the old one."""

    def words(self, why: str) -> str:
        """What happened, and why, on one line."""
        lost = f"; {', '.join(self.lost)} could not be carried over" if self.lost else ""
        again = " (a release is taken from the package index when it is named)" if "releases/" in lost else ""
        return f"the mirror was damaged ({why}) and was filled anew; the old one is {self.aside}{lost}{again}"


def in_doubt(path: Path) -> bool:
    """Whether somebody met an object that cannot be read, since the mirror was last looked through."""
    return (path / DOUBT).exists()


def damage(path: Path, url: str) -> str | None:
    """What is wrong with a mirror, in git's own words; None where nothing is found, or where it is no mirror of ours.

    Every object is read, which for the whole of JAX takes 20 s: for whoever has a reason to doubt. What a local
    upstream (`url`) lacks itself is no damage.
    """
    if not is_ours(path):
        return None
    if process.run(path, "rev-parse", "--is-bare-repository").out.strip() != b"true":
        return "it is no git repository any more"
    checked = process.run(path, "fsck", "--no-dangling", "--no-progress")
    said = f"{checked.out.decode('utf-8', 'replace')}\n{checked.err}".splitlines()
    faults = [line for line in said if line.strip() and not line.startswith(_NO_DAMAGE)] if checked.status else []
    if faults and (folder := folder_of(url)) is not None:
        faults = [line for line in faults if not _lacking_there(line, folder)]
    if faults:
        return process.last_words("\n".join(faults))
    (path / DOUBT).unlink(missing_ok=True)
    return None


def _lacking_there(line: str, folder: Path) -> bool:
    missing = re.fullmatch(r"missing \w+ ([0-9a-f]{40})", line)
    return missing is not None and process.run(folder, "cat-file", "-e", missing[1]).status != 0


def renew(
    path: Path,
    url: str,
    branch: str,
    *,
    timeout_s: float = 3600,
    progress: Callable[[str], None] = lambda line: None,
) -> Renewed:
    """Fill the mirror at `path` anew. GitError: upstream cannot be had; then the old one stays where it is."""
    making, aside = _making(path), path.with_name(f"{path.name}.damaged")
    shutil.rmtree(making, ignore_errors=True)  # of one that was killed
    try:
        with Mirror.open(making) as mirror:
            pulled = pull(mirror, url, branch, timeout_s=timeout_s, progress=progress)
            lost = _carried_over(path, mirror, url)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    shutil.rmtree(aside, ignore_errors=True)
    path.rename(aside)
    making.rename(path)
    return Renewed(pulled=pulled, aside=aside, lost=lost)


def resume(path: Path) -> None:
    """Put the new mirror in place where a renewal was killed between taking the old one away and that."""
    making = _making(path)
    if making.is_dir() and not path.exists():
        making.rename(path)


def _making(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _carried_over(old: Path, mirror: Mirror, url: str) -> tuple[str, ...]:
    """Bring the old mirror's own refs into the new one -> those whose commits cannot be read.

    They are read through a repository of its own that borrows the objects: the old one may be none any more.
    """
    refs, lost = _own_refs(old)
    with (
        tempfile.TemporaryDirectory(prefix=f".{mirror.path.name}-", dir=mirror.path.parent) as scratch,
        Mirror.open(Path(scratch) / "lender") as lender,
    ):
        info = lender.path / "objects" / "info"
        info.mkdir(exist_ok=True)
        (info / "alternates").write_text(f"{(old / 'objects').absolute()}\n", encoding="utf-8")
        named = {name for name, commit in refs.items() if not lender.git("update-ref", name, commit).status}
        lost |= refs.keys() - named
        if named and not _brought(mirror, lender, f"{OWN_REFS}*"):
            lost |= {name for name in named if not _brought(mirror, lender, name)}
    for name in sorted(lost):
        if name.startswith(PINS):
            with suppress(GitError):
                fetch_commit(mirror, url, name.removeprefix(PINS))
                keep(mirror, [name.removeprefix(PINS)])
                lost.remove(name)
    # What was fetched by its name is fetched again when it is named.
    return tuple(sorted(name.removeprefix(OWN_REFS) for name in lost if not name.startswith(FETCHED)))


def _brought(mirror: Mirror, lender: Mirror, name: str) -> bool:
    """Fetch one ref, or all that a pattern names; git checks every object that comes."""
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options")
    return not mirror.git("fetch", *options, lender.path.as_uri(), f"+{name}:{name}").status


def _own_refs(old: Path) -> tuple[dict[str, str], set[str]]:
    """Ref -> commit, read from the files themselves; and the refs whose commit is not known any more."""
    found: dict[str, str] = {}
    with suppress(OSError):
        packed = (old / "packed-refs").read_text(encoding="utf-8", errors="replace")
        found |= {name: sha for sha, name in re.findall(rf"^([0-9a-f]{{40}}) ({OWN_REFS}\S+)$", packed, re.MULTILINE)}
    for file in sorted((old / OWN_REFS).rglob("*")):
        if file.is_file() and file.suffix != ".lock":
            with suppress(OSError):
                found[file.relative_to(old).as_posix()] = file.read_text(encoding="utf-8", errors="replace").strip()
    # The refs of pins and the like are named by their commits.
    named = {name: sha if _SHA.fullmatch(sha) else name.rpartition("/")[2] for name, sha in found.items()}
    refs = {name: sha for name, sha in named.items() if _SHA.fullmatch(sha)}
    return refs, named.keys() - refs.keys()
