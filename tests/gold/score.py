"""Scores a report against the gold: python -m tests.gold.score REPORT.json

pairs: share of base sites whose outcome (the same position, or removed) is right.
new:   F1 of the set of new target sites.
kinds: share of rightly paired sites whose kinds are those that follow from the gold's texts.
Only gold lines whose files the report has read on both sides count.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

GOLD = Path(__file__).parent / "jax-v0.4.30_jax-v0.6.0.jsonl"

# The gold's texts are what `ast` reads: placeholders of every sort, never nested.
_HOLE = re.compile(r"\{[^{}]*\}|%[-#0 +]*[0-9.*]*[diouxXeEfFgGcrsa]")
_SCORED = {"moved", "relocated", "retyped", "reworded", "placeholder-changed"}

Place = tuple[str, int]


class Score(NamedTuple):
    """The three figures, each from 0 to 1, and the misses as lines for a person."""

    pairs: float
    new: float
    kinds: float
    misses: list[str]

    def __str__(self) -> str:
        return f"pairs {self.pairs:.4f}  new F1 {self.new:.4f}  kinds {self.kinds:.4f}"


def score(report: dict[str, Any], gold: Path = GOLD) -> Score:
    rows = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines()]
    base, target = (set(report["files"][side]) for side in ("base", "target"))
    rows = [
        row
        for row in rows
        if (row["before"] is None or row["before"]["path"] in base)
        and (row["after"] is None or row["after"]["path"] in target)
    ]
    said = {_place(drift["before"]): drift for drift in report["drifts"] if drift["before"]}
    said_new = {_place(drift["after"]) for drift in report["drifts"] if drift["before"] is None}
    misses = []
    right = scored = right_kinds = 0
    gold_new = {_place(row["after"]) for row in rows if row["before"] is None}
    open_to_both: set[Place | None] = set()
    old = [row for row in rows if row["before"] is not None]
    for row in old:
        before, after = _place(row["before"]), _place(row["after"])
        drift = said.get(before)
        found = before if drift is None else _place(drift["after"])
        also = {_place(place) for place in row.get("alt", [])}
        open_to_both |= also | ({after} if row["either"] else set())
        if found == after or found in also or (row["either"] and found is None):
            right += 1
        else:
            misses.append(f"{before}: gold {after}, said {found}: {row['before']['message']!r:.80}")
        if found == after and after is not None:
            scored += 1
            kinds = (set(drift["kinds"]) if drift else set()) & _SCORED
            expected = _kinds(row["before"], row["after"])
            # Another scope in the same file, or another line besides another file, does not show in the gold.
            kinds -= {"moved"} if "relocated" in expected else {"relocated"}
            right_kinds += kinds == expected
            if kinds != expected:
                misses.append(f"{before}: gold {sorted(expected)}, said {sorted(kinds)}")
    said_new -= open_to_both
    gold_new -= open_to_both
    hits = len(said_new & gold_new)
    return Score(right / len(old), 2 * hits / (len(said_new) + len(gold_new)), right_kinds / scored, misses)


def _kinds(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    found = set()
    if before["path"] != after["path"]:
        found.add("relocated")
    elif before["line"] != after["line"]:
        found.add("moved")
    if _leaf(before["exception"]) != _leaf(after["exception"]):
        found.add("retyped")
    if _wording(before["message"]) != _wording(after["message"]):
        found.add("reworded")
    elif before["message"] != after["message"]:
        found.add("placeholder-changed")
    return found


def _wording(message: str | None) -> str | None:
    return None if message is None else " ".join(_HOLE.sub("{}", message).split())


def _leaf(exception: str | None) -> str | None:
    return exception.rpartition(".")[2] if exception else exception


def _place(site: dict[str, Any] | None) -> Place | None:
    return (site["path"], site["line"]) if site else None


if __name__ == "__main__":
    result = score(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    print("\n".join([*result.misses, str(result)]))
