"""A message as text: literal wording with `{placeholder}`s, literal braces doubled, as in an f-string.

Sites and pages both carry this text; here it is taken apart again, without any parser of Python.
"""

from __future__ import annotations

import re
from functools import lru_cache

HOLE = "{}"

# What can stand inside a placeholder and hide a brace: a string, or a nested pair.
_STRING = re.compile(r"""('''|\"""|'|")(?:\\.|(?!\1).)*?\1""", re.DOTALL)
_TOKEN = re.compile(
    r"""('''|\"""|'|")(?P<string>(?:\\.|(?!\1).)*?)\1|\w+|[^\w\s]""", re.DOTALL
)  # a string, a word, or one sign


def escape(literal: str) -> str:
    """Literal text -> the same text as part of a message."""
    return literal.replace("{", "{{").replace("}", "}}")


@lru_cache(maxsize=65536)
def split(message: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A message -> its literal parts (braces undoubled) and its placeholders (without the outer braces).

    There is always one literal part more than there are placeholders. An unclosed placeholder at the end
    (a page cuts messages anywhere) counts as a placeholder.
    """
    literals: list[str] = []
    placeholders: list[str] = []
    text: list[str] = []
    at, end = 0, len(message)
    while at < end:
        brace = message.find("{", at)
        stop = end if brace < 0 else brace
        text.append(message[at:stop].replace("}}", "}"))
        at = stop
        if at == end:
            break
        if message.startswith("{{", at):
            text.append("{")
            at += 2
            continue
        close = _closing(message, at)
        literals.append("".join(text))
        placeholders.append(message[at + 1 : close])
        text = []
        at = close + 1
    literals.append("".join(text))
    return tuple(literals), tuple(placeholders)


def _closing(message: str, at: int) -> int:
    """Index of the brace that closes the one at `at`; the end of the text where none does."""
    depth = 0
    while at < len(message):
        sign = message[at]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if not depth:
                return at
        elif sign in "'\"" and (string := _STRING.match(message, at)):
            at = string.end()
            continue
        at += 1
    return at


@lru_cache(maxsize=65536)
def wording(message: str) -> str:
    """The literal text of a message: each placeholder as `{}`, runs of white space as one blank."""
    return " ".join(HOLE.join(split(message)[0]).split())


@lru_cache(maxsize=65536)
def tokens(code: str) -> tuple[str, ...]:
    """A piece of code as a stream of tokens in which layout does not show.

    White space, the choice of quotes, a trailing comma and brackets around the whole are layout.
    """
    stream = [f"'{match['string']}'" if match["string"] is not None else match[0] for match in _TOKEN.finditer(code)]
    stream = [
        token
        for n, token in enumerate(stream)
        if not (token == "," and "".join(stream[n + 1 : n + 2]) in (")", "]", "}"))
    ]
    return tuple(stream)


@lru_cache(maxsize=65536)
def placeholders(message: str) -> tuple[tuple[str, ...], ...]:
    """The placeholders of a message, each as a stream of tokens."""
    return tuple(tokens(placeholder) for placeholder in split(message)[1])
