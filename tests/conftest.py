"""What many tests need: real git repositories with fixed names and dates, and guards around the whole run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _nothing_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's git configuration nor TRACKER_ variables reach a test."""
    for name in [name for name in os.environ if name.startswith(("TRACKER_", "GIT_DIR", "GIT_WORK", "GIT_INDEX"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture(autouse=True)
def _not_the_real_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that opens the project's own mirror is a mistake: it would depend on what was pulled there."""
    from tracker.repository.mirror import Mirror

    real = Mirror.open

    def guarded(path: Path, create: bool = True) -> Mirror:
        assert not Path(path).absolute().is_relative_to(ROOT / "state"), f"a test uses the real state: {path}"
        return real(path, create)

    monkeypatch.setattr(Mirror, "open", guarded)


class Repository:
    """A git repository with a work tree; each commit is a fixed minute later than the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._minutes = 0
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main", "--template=")

    @property
    def url(self) -> str:
        return self.path.as_uri()

    def git(self, *arguments: str, text: str | None = None) -> str:
        at = f"{1_750_000_000 + 60 * self._minutes} +0200"
        who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_AUTHOR_DATE": at}
        who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            env=os.environ | who,
            input=text,
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str | bytes | None], message: str = "change") -> str:
        """Write the files (None removes one) and commit them -> the commit."""
        for name, content in files.items():
            file = self.path / name
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        self._minutes += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A real, empty git repository on the branch `main`."""
    return Repository(tmp_path / "upstream")
