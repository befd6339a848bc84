"""A fake GitHub, and a desk that files there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.filing.desk import REPO, Desk
from tests.github.fake import FakeGitHub


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    """GitHub with the catalogue's repository; leaving it raises what did not fit its description."""
    with FakeGitHub() as github:
        github.repository(REPO)
        yield github


@pytest.fixture
def desk(tmp_path: Path, fake: FakeGitHub) -> Iterator[Desk]:
    """After a first run without a drift."""
    made = Desk(tmp_path, fake)
    made.start()
    yield made
    made.database.close()
