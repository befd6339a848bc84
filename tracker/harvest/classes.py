"""Exception classes that supply their own text: what `__init__` hands to its base, or what `__str__` returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace
from tree_sitter import Node

from tracker.harvest.blocks import Frame, find_inside
from tracker.harvest.calls import arguments_of, keyword, method_of, returned
from tracker.harvest.grammar import code, text
from tracker.harvest.names import Meaning, attribute, bases, inner, member
from tracker.harvest.parts import Arguments, Expected, Foreign, Texts, bind, distinct, has_text, is_open, matched
from tracker.harvest.texts import arguments, foreign, signature, texts

_MESSAGE_KEYWORDS = ("message", "msg")


class Supply(NamedTuple):
    """The texts of a class as a template over the parameters of its `__init__`."""

    function: int
    """Where that `__init__` begins in its file."""
    signature: tuple[Expected, ...]
    texts: Texts


def filled(template: Supply | Foreign, given: Arguments) -> Texts:
    """The texts of one call of a class; of a class in another file, what that file has to say."""
    if isinstance(template, Foreign):
        return ((replace(template, use="call", arguments=given),),)
    return bind(template.texts, template.function, matched(template.signature, given))


def supply(definition: Meaning) -> Supply | Foreign | None:
    """What a class makes of its arguments; the imported class that has its say; None where all are silent."""
    file = definition.frame.file
    key = "supply", definition.node.id
    if key not in file.known:
        if key in file.active:
            return None
        file.active[key] = None
        body = inner(definition.node, definition.frame)
        file.known[key] = _supply(body) if body is not None else None
        del file.active[key]
    found: Supply | Foreign | None = file.known[key]
    return found


def _supply(body: Frame) -> Supply | Foreign | None:
    own = None
    for method in member("__init__", body):
        inside = inner(method.node, method.frame) if method.node.type == "function_definition" else None
        if inside is not None:
            found = distinct(parts for call, at in _base_calls(inside) for parts in _handed_over(call, at, body))
            own = Supply(method.node.start_byte, signature(method), found)
            if any(map(has_text, found)):
                return own
    shown = [method for method in member("__str__", body) if method.node.type == "function_definition"]
    found = distinct(parts for method in shown for value, at in returned(method) for parts in texts(value, at))
    if any(map(has_text, found)):
        return Supply(-1, (), tuple(filter(has_text, found)))
    if own is not None and any(map(is_open, own.texts)):
        return own
    imported = [meaning for base in bases(body) for meaning in base if meaning.kind == "import"]
    return foreign(imported[0], "") if imported and own is None else None


def _base_calls(inside: Frame) -> Iterator[tuple[Node, Frame]]:
    """The calls of a base's `__init__` in the body of an `__init__`."""
    for place in find_inside(inside, {"expression_statement"}, [b"__init__"]):
        for node in place.node.named_children:
            method = method_of(node) if node.type == "call" else None
            if method is not None and method[1] == "__init__":
                yield node, place.frame


def _handed_over(call: Node, frame: Frame, body: Frame) -> Texts:
    """What a call of a base's `__init__` makes the text: its own literal text, or what the base makes of it."""
    owner = method_of(call)
    if owner is None:
        return ()
    by_super = text(owner[0]).startswith("super(")
    _, found = message(call, frame, skip=0 if by_super else 1)
    if any(map(has_text, found)):
        return found
    given = arguments(call, frame)
    if not by_super:
        given = given._replace(positional=given.positional[1:])
    for base in bases(body) if by_super else [attribute(owner[0], frame)]:
        for meaning in base:
            if meaning.kind == "import":
                return ((foreign(meaning, code(call), given),),)
            template = supply(meaning) if meaning.node.type == "class_definition" else None
            if template is not None:
                return filled(template, given)
    return found


def message(call: Node, frame: Frame, skip: int = 0) -> tuple[Node | None, Texts]:
    """The first argument that carries text, and its texts; without any, all that a caller or file can still fill."""
    listed = arguments_of(call)[skip:]
    keywords = dict(filter(None, map(keyword, listed)))
    ordered = [node for node in listed if node.type not in ("keyword_argument", "dictionary_splat")]
    ordered += [keywords[name] for name in _MESSAGE_KEYWORDS if name in keywords]
    ordered += [value for name, value in keywords.items() if name not in _MESSAGE_KEYWORDS]
    left: list[tuple[Node, Texts]] = []
    for node in ordered:
        found = tuple(parts for parts in texts(node, frame) if has_text(parts) or is_open(parts))
        if any(map(has_text, found)):
            return node, found
        if found:
            left.append((node, found))
    if left:
        return left[0][0], distinct(parts for _, found in left for parts in found)
    return (ordered[0] if ordered else None), ()
