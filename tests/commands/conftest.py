"""The command line in this process, in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import Workplace
from tracker.cli import main


class Done(NamedTuple):
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


@pytest.fixture
def place(tmp_path: Path, repository) -> Workplace:
    return Workplace(tmp_path / "work", repository.url)


@pytest.fixture
def run(place: Workplace, capsys: pytest.CaptureFixture[str]):
    """run(*arguments) with the workplace's configuration; `config=False` without any."""

    def command(*arguments: str, config: bool = True) -> Done:
        capsys.readouterr()
        code = main([*(("-c", str(place.config)) if config else ()), *arguments])
        return Done(code, *capsys.readouterr())

    return command
