"""A text while it is put together: literal pieces, holes, and what another function or file still has to say.

Plain picklable values and pure functions on them; nothing here knows a syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from tracker.message import escape

MOST = 64
"""Alternatives of one message that are kept; more are a table of the whole program, not a message."""
LONGEST = 20_000
"""Pieces of one text; a text that doubles at each step is no message."""


class Parameter(NamedTuple):
    """A parameter of a function of the same file: its value stands at the calls."""

    function: int
    """Where the function begins in its file."""
    name: str


class Hole(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """An interpolated expression."""

    code: str
    """Empty where the source does not say what stands there."""
    suffix: str = ""
    """Conversion and format: `!r:>10`."""
    parameter: Parameter | None = None


class Foreign(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """What only another file can say; as long as it has not, it is a hole."""

    module: str
    """Dotted, as seen from the root of the repository."""
    name: str
    """Dotted below the module; empty: the module itself."""
    use: Literal["value", "item", "call"]
    code: str
    arguments: Arguments | None = None
    suffix: str = ""

    @property
    def is_constant(self) -> bool:
        """Whether it is named as constants are: in capitals."""
        return self.use != "call" and self.name.rpartition(".")[2].isupper()


class Arguments(NamedTuple):
    """What a call hands over; each argument as the texts that it can be."""

    positional: tuple[Texts, ...]
    keywords: tuple[tuple[str, Texts], ...]


class Expected(NamedTuple):
    """One parameter of a signature, with its default."""

    name: str
    default: Texts | None


Parts = tuple[str | Hole | Foreign, ...]
Texts = tuple[Parts, ...]
"""The alternatives of one message, in source order."""


def render(parts: Parts) -> str:
    """Parts -> message."""
    return "".join(escape(part) if isinstance(part, str) else _braced(part) for part in parts)


def _braced(hole: Hole | Foreign) -> str:
    # As in an f-string, a blank keeps the brace of a set or a dict from being read as a doubled one.
    return "{" + (" " if hole.code.startswith("{") else "") + hole.code + hole.suffix + "}"


def has_text(parts: Parts) -> bool:
    # Asked ten times for each site; a loop is twice as fast as `any`.
    for part in parts:  # noqa: SIM110
        if isinstance(part, str) and part and not part.isspace():
            return True
    return False


def is_sentence(parts: Parts) -> bool:
    """Whether a text stands for itself: three words at least. Less is the name of a thing, or a key."""
    return sum(len(part.split()) for part in parts if isinstance(part, str)) >= 3


def is_open(parts: Parts) -> bool:
    """Whether a caller or another file can still fill a part."""
    return any(isinstance(part, Foreign) or (isinstance(part, Hole) and part.parameter is not None) for part in parts)


def suffixed(parts: Parts, suffix: str) -> Parts:
    """The parts that an expression gives, under a conversion and format; `!s` is what happens anyway."""
    suffix = suffix.removeprefix("!s")
    if not suffix:
        return parts
    if len(parts) == 1 and not isinstance(parts[0], str) and not parts[0].suffix:
        return (replace(parts[0], suffix=suffix),)
    return (Hole(render(parts), suffix),)


def distinct(texts: Iterable[Parts]) -> Texts:
    """The first alternatives, in order, without doubles."""
    found: dict[Parts, None] = {}
    for parts in texts:
        found[parts] = None
        if len(found) == MOST:
            break
    return tuple(found)


def joined(texts: Sequence[Sequence[Parts]]) -> Texts:
    """Every combination of the alternatives of texts that stand one after the other."""
    sums: Texts = ((),)
    for alternatives in texts:
        sums = distinct(a + b for a in sums for b in alternatives)
        if len(sums[0]) > LONGEST:
            return ((Hole("..."),),)
    return sums


def matched(signature: Sequence[Expected], arguments: Arguments) -> dict[str, Texts]:
    """Parameter -> what a call hands over for it, or its default."""
    values = {name: default for name, default in signature if default is not None}
    names = [name for name, _ in signature]
    for name, texts in zip(names, arguments.positional, strict=False):
        if name.startswith("*"):
            break
        values[name] = texts
    return values | dict(arguments.keywords)


def bind(texts: Iterable[Parts], function: int, values: Mapping[str, Texts]) -> Texts:
    """Texts of a function -> the same with its parameters filled; what the call does not say becomes a plain hole."""
    return distinct(bound for parts in texts for bound in joined([_bound(part, function, values) for part in parts]))


def _bound(part: str | Hole | Foreign, function: int, values: Mapping[str, Texts]) -> Texts:
    if isinstance(part, Foreign) and part.arguments is not None:
        positional = tuple(bind(texts, function, values) for texts in part.arguments.positional)
        keywords = tuple((name, bind(texts, function, values)) for name, texts in part.arguments.keywords)
        return ((replace(part, arguments=Arguments(positional, keywords)),),)
    if isinstance(part, Hole) and part.parameter is not None and part.parameter.function == function:
        if part.parameter.name in values:
            return tuple(suffixed(parts, part.suffix) for parts in values[part.parameter.name])
        return ((replace(part, parameter=None),),)
    return ((part,),)


def foreign(texts: Iterable[Parts]) -> Iterator[Foreign]:
    """Everything in the texts that another file has to say, arguments included."""
    for parts in texts:
        for part in parts:
            if isinstance(part, Foreign):
                yield part
                if part.arguments is not None:
                    yield from foreign(text for value in part.arguments.positional for text in value)
                    yield from foreign(text for _, value in part.arguments.keywords for text in value)
