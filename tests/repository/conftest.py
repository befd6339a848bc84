"""Mirrors that are closed again, and handmade wheels that pip takes from a folder."""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracker.repository.mirror import Mirror


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Mirror]:
    with Mirror.open(tmp_path / "state" / "mirror") as opened:
        yield opened


def recorded(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


class Index:
    """A folder of wheels, as an index of packages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()

    def add(
        self,
        version: str,
        sources: dict[str, bytes] | None = None,
        *,
        package: str = "demo",
        date: tuple[int, int, int, int, int, int] = (2026, 1, 2, 3, 4, 6),
        record: dict[str, str | None] | None = None,
    ) -> Path:
        """Write a wheel. `record` replaces lines of RECORD; None leaves one out."""
        info = f"{package}-{version}.dist-info"
        members = dict(sources if sources is not None else {f"{package}/__init__.py": b"VERSION = 1\n"})
        members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n".encode()
        members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        hashes: dict[str, str | None] = {name: recorded(content) for name, content in members.items()}
        hashes |= record or {}
        lines = [f"{name},{digest},1" for name, digest in hashes.items() if digest is not None]
        members[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"]).encode()
        file = self.path / f"{package}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name, date), content)
        return file


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """pip takes packages from a folder of the test, and from nowhere else."""
    wheels = Index(tmp_path / "index")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels.path))
    return wheels
