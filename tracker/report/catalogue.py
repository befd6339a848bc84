"""Pages as lines for a person, and as JSON for a program."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tracker.model import Entry, PageFault

WIDTH = 60
"""Characters of a message in a list: as many as the pages' own titles have."""

_ENCODER = msgspec.json.Encoder()


def listed(entries: Sequence[Entry]) -> str:
    """One line for each entry, in columns."""
    rows = [(e.id, e.exception, _cut(e.title or e.message), f"{e.path}:{e.line}", e.pin, e.file) for e in entries]
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    return "".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) + "\n"
        for row in rows
    )


def listed_json(entries: Sequence[Entry], faults: Sequence[PageFault]) -> str:
    """The entries, and the pages that are none."""
    return _text({"schema": "tracker.catalogue/1", "pages": entries, "faults": faults})


def shown_json(entry: Entry) -> str:
    """One entry."""
    return _text(entry)


def _text(value: object) -> str:
    return msgspec.json.format(_ENCODER.encode(value), indent=2).decode() + "\n"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."
