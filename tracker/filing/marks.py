"""What an issue says of itself to the tracker: its key, its mark, the events of its comments. Pure.

The key stands on a line of its own that people see: marks that do not show are stripped by sanitizers, and then
everything is filed again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tracker.ledger import Family, Finding, Item

BEGIN, END = "<!-- tracker:begin -->", "<!-- tracker:end -->"
"""Between the two the tracker writes; what people write outside of them is kept."""
KEY, EVENT = "tracker-key: ", "tracker-event: "

_DATA = re.compile(r"^<!-- tracker-data: (\{.*\}) -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What an issue says of itself to the tracker."""

    key: str
    family: Family
    entry: str
    fingerprint: str
    episode: int


def key_of(body: str) -> str | None:
    """The key that a body carries as a whole line of its own; None where it carries none, or several."""
    keys = {line.removeprefix(KEY).strip() for line in _lines(body) if line.startswith(KEY)}
    return keys.pop() if len(keys) == 1 else None


def mark_of(body: str) -> Mark | None:
    """The key and what stands with it; None where either is missing or they do not fit."""
    name = key_of(body)
    found = _DATA.findall(body)
    if name is None or not found:
        return None
    try:
        data = json.loads(found[-1])
        mark = Mark(
            key=data["key"],
            family=Family(data["family"]),
            entry=data["entry"],
            fingerprint=data["fingerprint"],
            episode=int(data["episode"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
    return mark if mark.key == name else None


def events_of(body: str) -> list[str]:
    """The events that a comment tells of."""
    return [line.removeprefix(EVENT).strip() for line in _lines(body) if line.startswith(EVENT)]


def _lines(body: str) -> list[str]:
    """Lines outside of fences: what is quoted does not speak for the tracker."""
    found, fenced = [], ""
    for line in body.replace("\r\n", "\n").split("\n"):
        opening = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fenced:
            if opening and opening[1].startswith(fenced) and not line.strip().strip(fenced[0]):
                fenced = ""
        elif opening:
            fenced = opening[1]
        else:
            found.append(line)
    return found


def foot(finding: Finding, item: Item) -> str:
    """The end of the tracker's own part, and the mark below it."""
    data = {
        "key": finding.key,
        "family": finding.family.value,
        "entry": finding.entry,
        "fingerprint": finding.fingerprint,
        "episode": item.episode,
    }
    # Two hyphens in a row might end an HTML comment.
    shown = json.dumps(data).replace("--", "-\\u002d")
    return f"{KEY}{finding.key}\n{END}\n\n<!-- tracker-data: {shown} -->"


def event(name: str, fingerprint: str, what: str) -> str:
    """The line by which a comment is known."""
    return f"{EVENT}{name}/{fingerprint}/{what}"


def owned(old: str) -> bool:
    """Whether the tracker still finds its own part in a body."""
    return _part(old) is not None


def _part(old: str) -> tuple[int, int] | None:
    start, end = old.find(BEGIN), old.find(END)
    return (start, end + len(END)) if 0 <= start < end else None


def around(old: str) -> tuple[str, str]:
    part = _part(old)
    if part is None:
        return "", ""
    after = _DATA.sub("", old[part[1] :]).strip()
    before = old[: part[0]].rstrip()
    return f"{before}\n\n" if before else "", f"\n\n{after}" if after else ""
