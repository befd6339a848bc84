"""What a file has to say to the files that import it: texts, exception classes, factories, tables, re-exports.

Pure and picklable, like a harvest: bytes in, values out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from tracker.harvest.binds import imported_from
from tracker.harvest.blocks import File, Frame, Misread
from tracker.harvest.calls import callee, calls_of, returned
from tracker.harvest.classes import Supply, supply
from tracker.harvest.grammar import children
from tracker.harvest.helpers import Helper, helper
from tracker.harvest.names import Meaning, inner, meanings, member
from tracker.harvest.parts import Arguments, Expected, Foreign, Texts, distinct, has_text, matched
from tracker.harvest.raised import Raised, raised
from tracker.harvest.source import normalize
from tracker.harvest.texts import arguments, foreign, signature, texts, texts_of_entry

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What one name of a module gives to those who use it, as a template over its parameters."""

    texts: Texts = ()
    """A constant; what a class makes its message; what a function returns."""
    items: Texts = ()
    """The texts in a table."""
    raised: tuple[Raised, ...] = ()
    """The exceptions that a function returns."""
    function: int = -1
    """Where the function with the parameters begins in the file."""
    signature: tuple[Expected, ...] = ()
    elsewhere: Foreign | None = None
    """Where the name comes from, if the module has it from another one."""


@lru_cache(maxsize=8)
def _file(path: str, raw: bytes) -> File:
    return File.sparse(path, normalize(raw).data)


@lru_cache(maxsize=8)
def _whole(path: str, raw: bytes) -> File:
    return File.whole(path, normalize(raw).data)


def _asked(path: str, raw: bytes, question: Callable[[File], Answer]) -> Answer:
    """What a file answers, read as far as the question goes; read as a whole where that is not to be had."""
    try:
        return question(_file(path, raw))
    except Misread:
        return question(_whole(path, raw))


@lru_cache(maxsize=4096)
def export(path: str, raw: bytes, name: str) -> Export | None:
    """What a dotted name of the file at `path` gives; None where the file does not know it."""
    return _asked(path, raw, lambda file: _export(file, name))


def _export(file: File, name: str) -> Export | None:
    head, _, rest = name.partition(".")
    found = meanings(head, file.end)
    for meaning in found:
        if meaning.kind == "import":
            module, imported = imported_from(meaning.node, file.path)
            full = ".".join(filter(None, [imported, rest]))
            return Export(elsewhere=Foreign(module, full, "value", name))
    if rest:
        body = _class_body(found)
        found = member(rest, body) if body is not None else []
    for meaning in found:
        if meaning.node.type == "class_definition":
            return _class(meaning)
        if meaning.node.type == "function_definition":
            return _function(meaning)
    values = [meaning for meaning in found if meaning.kind == "value"]
    tables = [meaning for meaning in values if meaning.node.type == "dictionary"]
    pairs = [(pair.child_by_field_name("value"), table.frame) for table in tables for pair in children(table.node)]
    return Export(
        texts=distinct(parts for meaning in values for parts in texts(meaning.node, meaning.frame)),
        items=distinct(parts for value, at in pairs if value is not None for parts in texts_of_entry(value, at)),
        raised=tuple(one for meaning in values for one in raised(meaning.node, meaning.frame) if one.texts),
    ) if values else None  # fmt: skip


def _class_body(found: Iterable[Meaning]) -> Frame | None:
    return next((inner(m.node, m.frame) for m in found if m.node.type == "class_definition"), None)


def _class(meaning: Meaning) -> Export | None:
    template = supply(meaning)
    if isinstance(template, Supply):
        return Export(texts=template.texts, function=template.function, signature=template.signature)
    return Export(elsewhere=template) if template is not None else None


def _function(meaning: Meaning) -> Export:
    values = returned(meaning)
    given = (parts for value, at in values for parts in texts(value, at))
    return Export(
        texts=distinct(parts for parts in given if has_text(parts)),
        raised=tuple(one for value, at in values for one in raised(value, at) if one.own or one.supplied),
        function=meaning.node.start_byte,
        signature=signature(meaning),
    )


@lru_cache(maxsize=1024)
def calls(path: str, raw: bytes, names: frozenset[str]) -> tuple[tuple[Foreign, Arguments], ...]:
    """The calls of imports whose last dotted part is one of the names, with what they hand over."""
    # A call is nearly always written without a blank.
    names = frozenset(name for name in names if f"{name}(".encode() in raw)
    if not names:
        return ()
    return _asked(path, raw, lambda file: _calls(file, names))


def _calls(file: File, names: frozenset[str]) -> tuple[tuple[Foreign, Arguments], ...]:
    found = []
    for name in sorted(names):
        for call, at in calls_of(name, file):
            function = call.child_by_field_name("function")
            for meaning in callee(function, at) if function is not None else ():
                if meaning.kind == "import":
                    found.append((foreign(meaning, name), arguments(call, at)))
    return tuple(found)


def passed_on(path: str, raw: bytes, found: Helper) -> tuple[Helper, ...]:
    """The functions of the same file that hand what they are handed on to a helper: their callers fill it, too."""
    return _asked(path, raw, lambda file: _passed_on(file, found))


def _passed_on(file: File, found: Helper) -> tuple[Helper, ...]:
    made = []
    for call, at in calls_of(found.name, file):
        values = matched(found.signature, arguments(call, at))
        thrown = tuple(one.filled(found.function, values) for one in found.thrown)
        if (one := helper(found.site, thrown, at)) is not None:
            made.append(one)
    return tuple(made)
