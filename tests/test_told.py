"""What a run says, and what it has said before."""

from __future__ import annotations

import pytest

from tracker.told import alike


@pytest.mark.parametrize(
    ("before", "said", "told"),
    [
        ("cannot fetch: port 443 after 23 ms", "cannot fetch: port 443 after 3 ms", True),
        ("400eaaeff7e2 has no raise statement at all", "795c427a0c94 has no raise statement at all", True),
        ("GitHub wants no request for another 3542 s", "GitHub wants no request for another 2 s", True),
        ("the next try is at 2026-12-01T06:17Z", "the next try is at 2027-01-31T18:03Z", True),
        ("the same", "the same", True),
        (None, "another past", False),
        ("", "another past", False),
        ("upstream has no branch 'main'", "upstream has no branch 'trunk'", False),
        ("cannot fetch from a: no way", "cannot fetch from b: no way", False),
    ],
)
def test_what_differs_only_in_numbers_was_told(before: str | None, said: str, told: bool) -> None:
    assert alike(said, before) is told
