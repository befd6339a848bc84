"""Text that others wrote, for a place where GitHub would act on it: no mention, no reference, no HTML, no mark of ours.

Pure. Lengths are in characters, as GitHub counts them.
"""

from __future__ import annotations

import re

_JOINER = "\u2060"
"""WORD JOINER: of no width, and not part of a name. A backslash does not keep GitHub from making a mention of `\\@x`,
and a code span would show in titles; after this character `@`, `#` and `GH-` begin nothing. GitHub looks for names in
the text that Markdown leaves, and only right behind the sign (MentionFilter of its html-pipeline); Renovate parts the
two with a ZERO WIDTH SPACE, at which a line may break."""

_CALLS = re.compile(r"(@)(?=[\w-])|(#)(?=\d)|\b(GH-)(?=\d)|(:)(?=[+\w-]+:)", re.IGNORECASE)
_MARKUP = re.compile(r"[\\`*_\[\]|~]")
_URL = re.compile(r"(https?|ftp)(://)|(www)(\.)", re.IGNORECASE)
_COMMIT = re.compile(r"\b([0-9a-f]{7,40})\b")


def fence(text: str, language: str = "") -> str:
    """A code block that nothing in the text can end: its fence is longer than any run of backticks in it."""
    ticks = "`" * _beyond(text, 3)
    return f"{ticks}{language}\n{_lines(text)}\n{ticks}"


def _beyond(text: str, least: int) -> int:
    """How many backticks are more than any run of them in the text."""
    return max(least, *(len(run) + 1 for run in re.findall(r"`+", text)), 0)


def inline(text: str) -> str:
    """One line of running text that only shows."""
    text = plain(text)
    text = _URL.sub(lambda found: "".join(f"{part}{_JOINER}" for part in found.groups() if part), text)
    text = _MARKUP.sub(lambda mark: f"\\{mark[0]}", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """One line of code in running text; nothing in it ends it early, and GitHub reads nothing into it."""
    text = " ".join(printable(text).split())
    ticks = "`" * _beyond(text, 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}" if text else ""


def plain(text: str) -> str:
    """One line for a title, where there is no markup but mentions and references."""
    return _quiet(" ".join(printable(text).split()))


def _quiet(text: str) -> str:
    text = _COMMIT.sub(lambda sha: f"{sha[1][:4]}{_JOINER}{sha[1][4:]}", text)
    return _CALLS.sub(lambda call: f"{call[0][:-1]}{call[0][-1]}{_JOINER}", text)


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def printable(text: str) -> str:
    """Characters that do not show, or turn the direction of writing, as escapes."""
    return "".join(
        char if char.isprintable() or char in "\t\n" else char.encode("unicode_escape").decode("ascii") for char in text
    )


def cut_title(text: str, most: int) -> str:
    """At most so many characters, the last of them an ellipsis where something is missing."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def cut_body(before: str, evidence: str, after: str, most: int) -> str:
    """The three with blank lines between; what is too much is cut from the evidence, never inside a fence.

    ValueError: not even without any evidence is there room.
    """
    whole = _joined(before, evidence, after)
    if len(whole) <= most:
        return whole
    note = "… (cut: there is more than an issue can hold)"
    room = most - len(_joined(before, note, after)) - 2
    if room < 0:
        raise ValueError(f"{len(before) + len(after)} characters around the evidence leave no room in {most}")
    return _joined(before, f"{_whole_blocks(evidence, room)}\n\n{note}".strip(), after)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _whole_blocks(text: str, room: int) -> str:
    """As many lines as fit; a fence that is open at the end is closed."""
    kept: list[str] = []
    used, ticks = 0, ""
    for line in text.split("\n"):
        opening = None if ticks else re.match(r"`{3,}", line)
        reserve = len(ticks) + 1 if ticks else 0
        if used + len(line) + 1 + max(reserve, len(opening[0]) + 1 if opening else 0) > room:
            if ticks:
                left = room - used - reserve - 2
                if left > 0 and line:
                    kept.append(f"{line[:left]}…")
                kept.append(ticks)
            break
        kept.append(line)
        used += len(line) + 1
        if opening:
            ticks = opening[0]
        elif line == ticks:
            ticks = ""
    return "\n".join(kept)
