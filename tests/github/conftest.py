from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.github.fake import FakeGitHub
from tests.github.world import REPO, World


@pytest.fixture
def world() -> Iterator[World]:
    with FakeGitHub() as fake:
        fake.repository(REPO)
        yield World(fake)
