"""What a report is shown on."""

from __future__ import annotations

from typing import NamedTuple


class Screen(NamedTuple):
    """Width in columns, and whether colours can be shown."""

    width: int = 100
    colour: bool = False
