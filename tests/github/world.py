"""A fake GitHub, a client of it, and what passes between them."""

from __future__ import annotations

from typing import Any

from tests.github.fake import TOKEN, FakeGitHub
from tracker.github.client import GitHub

REPO = "docs/errors"


class Gate:
    """A gate in memory."""

    def __init__(self) -> None:
        self.closed: float | None = None

    def until(self) -> float | None:
        return self.closed

    def close(self, until: float, reason: str) -> None:
        self.closed = until


class World:
    """A fake, a client and what passes between them."""

    def __init__(self, fake: FakeGitHub) -> None:
        self.fake, self.gate, self.slept = fake, Gate(), 0.0
        self.lines: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.fake.now += seconds

    def client(self, token: str = TOKEN, url: str | None = None, **more: Any) -> GitHub:
        return GitHub(
            url or self.fake.url,
            token,
            gate=self.gate,
            clock=lambda: self.fake.now,
            sleep=self.sleep,
            log=lambda line, facts: self.lines.append(f"{line} {facts}"),
            **more,
        )
