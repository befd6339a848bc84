"""What is wrapped around pasted text: colours, quotes, boxes, fences, JSON, comments. Takes it off, reads nothing."""

from __future__ import annotations

import html
import re

_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\^\[|␛)\[[0-9;?]*[ -/]*[@-~]")
_LINK_ESCAPE = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_LOST_COLOUR = re.compile(r"\[\d{1,3}(?:;\d{1,3})*m")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]+)\]\([^()\s]*\)")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d+|#x[0-9a-fA-F]+);")
_JSON_STRING = r'"\s*:\s*"((?:[^"\\]|\\.)*)'
_JSON_NAME = re.compile(r'"(?:name|ename)' + _JSON_STRING)
_JSON_MESSAGE = re.compile(r'"(?:message|evalue)' + _JSON_STRING, re.DOTALL)
_JSON_STACK = re.compile(r'"(?:stack|traceback)' + _JSON_STRING, re.DOTALL)
_JSON_ESCAPE = re.compile(r'\\(["\\/nrt])')
_BROKEN_PATH = re.compile(r'(File "[A-Za-z]:[^"\n]*)\n([^"\n]*", line \d)')
_BEFORE = re.compile(r"(?:E {2,}|E\t|[│┃║|>❱]\s?|#+ |\[rank\d+\]: ?|\([\w.]+ pid=\d+[^()]*\) ?)+")
_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w+-]*$")

# JAX's notes on its tracebacks, glued to messages; the beginnings tell them, however they are wrapped.
_NOTES = re.compile(
    "|".join(
        r"\s+".join(map(re.escape, note.split()))
        for note in (
            "The stack trace below excludes JAX-internal frames.",
            "The stack trace above excludes JAX-internal frames.",
            "The preceding is the original exception that occurred, unmodified.",
            "For simplicity, JAX has removed its internal frames from the traceback of the following exception.",
            "Set JAX_TRACEBACK_FILTERING=off to include these.",
            "The preceding stack trace is the source of the JAX operation that, once transformed by JAX",
        )
    )
)


def unwrapped(text: str) -> str:
    """The text without colours and entities, line ends as newlines; an error reported as JSON is written out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _LINK_ESCAPE.sub("", _COLOUR.sub("", text))
    if len(_LOST_COLOUR.findall(text)) > 1:
        text = _LOST_COLOUR.sub("", text)
    if _ENTITY.search(text):
        text = html.unescape(text)
    text = _json(text)
    # A Windows path with a folder like \numpy, where something took `\n` for a line end.
    text = _BROKEN_PATH.sub(r"\1\\n\2", text)
    return _MARKDOWN_LINK.sub(r"\1", text)


def _json(text: str) -> str:
    """An error as editors report it, `{"name": …, "message": …, "stack": …}`, as a traceback prints it."""
    name, message = _JSON_NAME.search(text), _JSON_MESSAGE.search(text)
    if name is None or message is None or not text.lstrip().startswith(("{", "[")):
        return text
    parts = [f"{name[1]}: {_unescaped(message[1])}"]
    if stack := _JSON_STACK.search(text):
        parts.insert(0, _unescaped(stack[1]) + "\n")
    return "\n".join(parts)


def _unescaped(text: str) -> str:
    signs = {"n": "\n", "r": "\n", "t": "\t"}
    return _JSON_ESCAPE.sub(lambda found: signs.get(found[1], found[1]), text)


def bare_line(line: str) -> str:
    """A line without what a quote, a box, pytest, a comment or a fence puts around it."""
    bare = line.strip()
    if before := _BEFORE.match(bare):
        bare = bare[before.end() :].strip()
        if bare.endswith(("│", "┃", "║", "|")):
            bare = bare[:-1].rstrip()
    return bare


def is_fence(line: str) -> bool:
    """Whether a line begins or ends a block of code."""
    return _FENCE.match(line) is not None


def without_notes(message: str) -> str:
    """A message without what JAX says about its tracebacks; it ends where that begins."""
    start = len(message) - len(message.lstrip())
    while (note := _NOTES.match(message, start)) is not None:
        start = note.end()
        start += len(message[start : start + 1000]) - len(message[start : start + 1000].lstrip())
    note = _NOTES.search(message, start)
    return message[start : note.start() if note else None].strip()
