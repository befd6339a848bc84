"""A wheel as a checked set of sources: each `.py` member is what the wheel's RECORD says, or none is taken.

It reads zip files and knows neither git nor the package index.
"""

from __future__ import annotations

import base64
import calendar
import csv
import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tracker.errors import ReleaseError

MAX_BYTES = 512 * 1024 * 1024
"""All `.py` members together; jax has 13 MB."""

_GIT_HASH = re.compile(r"""^_git_hash\b[^=\n]*=\s*['"]([0-9a-f]{40})['"]""", re.MULTILINE)
_EPOCH = 315532800  # 1980-01-01, the oldest time a zip can hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """What was found in a checked wheel."""

    file: Path
    sha256: str
    sources: tuple[str, ...]
    """The `.py` members, ordered."""
    newest: int
    """Time of the newest member, as seconds of UTC: zip times have no zone, so they are taken as UTC."""
    upstream_commit: str | None
    """`_git_hash` of the package's version.py."""

    def read(self) -> Iterator[tuple[str, bytes]]:
        """(path, content) of each source in turn."""
        with _opened(self.file) as archive:
            for path in self.sources:
                yield path, archive.read(path)


def check(file: Path, package: str) -> Wheel:
    """Read all sources of a wheel once. ReleaseError: broken, not as recorded, a bad path, no sources."""
    with _opened(file) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        for name in names:
            _check_path(file, name)
        if len(set(names)) < len(names):
            raise ReleaseError(f"{file.name}: a member is there twice: the wheel cannot be trusted")
        sources = [member for member in members if member.filename.endswith(".py")]
        if not sources:
            raise ReleaseError(f"{file.name}: the wheel has no .py file: there is nothing to check in this release")
        if sum(member.file_size for member in sources) > MAX_BYTES:
            raise ReleaseError(f"{file.name}: more than {MAX_BYTES >> 20} MB of .py files: not a wheel to trust")
        recorded = _record(file, archive, names)
        if gone := sorted(path for path in recorded if path.endswith(".py") and path not in set(names)):
            raise ReleaseError(f"{file.name}: {gone[0]} is in RECORD but not in the wheel: download it again")
        for member in sources:
            _check_member(file, archive, member.filename, recorded.get(member.filename))
        version_file = f"{package.replace('-', '_')}/version.py"
        version_text = archive.read(version_file).decode("utf-8", "replace") if version_file in names else ""
    git_hash = _GIT_HASH.search(version_text)
    return Wheel(
        file=file,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        sources=tuple(sorted(member.filename for member in sources)),
        newest=max(_seconds(member.date_time) for member in members),
        upstream_commit=git_hash[1] if git_hash else None,
    )


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ReleaseError(f"{file.name}: the wheel is broken ({error}): download it again") from error


def _check_path(file: Path, name: str) -> None:
    parts = name.removesuffix("/").split("/")
    odd = any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
    if odd or "\\" in name or ":" in parts[0] or not name.isprintable() or name.startswith('"'):
        raise ReleaseError(
            f"{file.name}: the path {name!r} leaves the wheel or is no path: the wheel cannot be trusted"
        )


def _record(file: Path, archive: zipfile.ZipFile, names: list[str]) -> dict[str, str]:
    """RECORD -> path: `sha256=…` (https://packaging.python.org/specifications/recording-installed-packages)."""
    found = [name for name in names if re.fullmatch(r"[^/]+\.dist-info/RECORD", name)]
    if len(found) != 1:
        raise ReleaseError(f"{file.name}: no RECORD: this is not a wheel")
    rows = csv.reader(archive.read(found[0]).decode("utf-8", "replace").splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 3}


def _check_member(file: Path, archive: zipfile.ZipFile, path: str, recorded: str | None) -> None:
    if recorded is None:
        raise ReleaseError(f"{file.name}: {path} is not in RECORD: the wheel cannot be trusted")
    algorithm, _, expected = recorded.partition("=")
    if algorithm not in ("sha256", "sha384", "sha512"):
        raise ReleaseError(f"{file.name}: {path} has no sha256 in RECORD: the wheel cannot be trusted")
    digest = hashlib.new(algorithm, archive.read(path)).digest()
    if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != expected.rstrip("="):
        raise ReleaseError(
            f"{file.name}: {path} is not what RECORD says: the wheel cannot be trusted, download it again"
        )


def _seconds(date_time: tuple[int, int, int, int, int, int]) -> int:
    try:
        return calendar.timegm((*date_time, 0, 0, 0))
    except ValueError:  # month 0 and the like, from tools that write no times
        return _EPOCH
