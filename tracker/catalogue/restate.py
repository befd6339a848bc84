"""A message of the source in the words of a page: cut as the page cuts, its placeholders as the page shows them.

Text in, text out: it knows neither pages nor sites.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tracker.message import escape, split, wording

CUT = 60
"""Characters after which titles and messages are cut, measured on the samples."""

_BLANK_ENDS = re.compile(r"\A(?:[^\S\n]*\n)+|(?:\n[^\S\n]*)+\Z")


def as_title(stated: str, old: str, new: str) -> str | None:
    """A title that states the message `old` -> the title that states `new`; None where it never stated the message.

    Titles are cut, unless the page shows that it does not.
    """
    found = restated(stated, old, new)
    return found if found is None or len(stated) > CUT else _trimmed(found[:CUT])


def restated(stated: str, old: str, new: str) -> str | None:
    """What a page states of the message `old` -> what it states of `new`, in the same way.

    None where it does not state `old`: the text is the page's own.
    """
    for show in _WAYS:
        shown = _trimmed(show(old))
        if shown == stated:
            return _trimmed(show(new))
        if len(stated) == CUT and shown.startswith(stated):
            return _trimmed(_trimmed(show(new))[:CUT])
    # Some placeholders are anonymous and some are not, or they are not those of the source.
    cut = len(stated) == CUT and wording(stated) != wording(old)
    if not (wording(old).startswith(wording(stated)) if cut else wording(old) == wording(stated)):
        return None
    literals, holes = split(new)
    theirs = [hole != "" for hole in split(stated)[1]]
    named = [theirs[n] if n < len(theirs) else all(theirs) for n in range(len(holes))]
    shown = _joined(map(escape, literals), [hole if name else "" for hole, name in zip(holes, named, strict=True)])
    return _trimmed(shown[:CUT] if cut else shown)


def _trimmed(text: str) -> str:
    """Without the blank lines at both ends, which a page does not show."""
    return _BLANK_ENDS.sub("", text)


def _as_written(message: str) -> str:
    return message


def _anonymous(message: str) -> str:
    literals, holes = split(message)
    return _joined(map(escape, literals), [""] * len(holes))


def _as_raised(message: str) -> str:
    """The braces of the literal text single, as in the text that is raised."""
    return _joined(*split(message))


def _folded(show: Callable[[str], str]) -> Callable[[str], str]:
    return lambda message: " ".join(show(message).split())


_PLAIN = (_as_written, _anonymous, _as_raised)
_WAYS: tuple[Callable[[str], str], ...] = (*_PLAIN, *map(_folded, _PLAIN))
"""How a page can show a message; the first that gives what a page states is its way."""


def _joined(literals: Iterable[str], holes: Iterable[str]) -> str:
    first, *rest = literals
    return first + "".join(f"{{{hole}}}{literal}" for hole, literal in zip(holes, rest, strict=True))
