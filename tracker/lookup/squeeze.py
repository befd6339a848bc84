"""A text without all that pasting changes: white space, wraps, escapes, back-quotes, rules. For comparing only."""

from __future__ import annotations

import re

from tracker.message import split

ELISION = "\x00"
"""Stands where a person cut something out."""

_DROPPED = dict.fromkeys(map(ord, "\\`\u200b\u200c\u200d\ufeff\u00ad│┃║"), None)
_SAME = {ord("\u2018"): "'", ord("\u2019"): "'", ord("\u201c"): '"', ord("\u201d"): '"'}
_TABLE = {**_DROPPED, **_SAME}
_RULE = re.compile(r"[-=_─━]{10,}")


def squeeze(text: str) -> str:
    """The text without white space, escapes, back-quotes and rules; typographic quotes are straight ones.

    A line break can fall into any word (terminals and rich wrap where they like), so no white space counts.
    """
    if "\\" in text:
        text = text.replace("\\n", " ").replace("\\t", " ")
    return _RULE.sub("", "".join(text.translate(_TABLE).split()))


def squeeze_paste(text: str) -> str:
    """The same of pasted text, where `…` and `[...]` mark what was cut out."""
    return squeeze(text.replace("[...]", ELISION).replace("[…]", ELISION).replace("…", ELISION))


def literals(message: str) -> tuple[str, ...]:
    """The literal parts of a message, to be looked for in a paste: between each two of them stands a placeholder."""
    return tuple(map(squeeze_paste, split(message)[0]))
