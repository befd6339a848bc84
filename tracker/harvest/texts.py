"""An expression -> the texts it can be, each as parts: what a person would read once it is raised.

Names are followed to the assignments that reach them, calls into functions and classes of the same file; what is
imported stays a `Foreign` part. Every branch of a condition is an alternative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from msgspec.structs import replace
from tree_sitter import Node

from tracker.harvest.binds import imported_from, parameters
from tracker.harvest.blocks import Frame
from tracker.harvest.calls import arguments_of, callee, keyword, method_of, returned
from tracker.harvest.grammar import children, code, text, unwrap
from tracker.harvest.layout import cut, dedent, stripped
from tracker.harvest.literals import format_call, literal_keys, percent, string
from tracker.harvest.names import Meaning, attribute, parameter
from tracker.harvest.parts import (
    Arguments,
    Expected,
    Foreign,
    Hole,
    Parameter,
    Parts,
    Texts,
    bind,
    distinct,
    has_text,
    is_open,
    joined,
    matched,
)

Items = list[Sequence[Parts] | None]
"""The sequences that a list can be; None: one that is not written down."""

DEEPEST = 40
"""Expressions inside expressions, names followed included, that are told apart; deeper ones are holes."""

_STRINGS = ("string", "concatenated_string")


def texts(node: Node, frame: Frame) -> Texts:
    """What an expression can be, in source order, without doubles; never empty: what is unknown is a hole."""
    node, file = unwrap(node), frame.file
    key = node.id, frame.block.owner.id, frame.index
    if key not in file.known:
        if key in file.active or len(file.active) >= DEEPEST:
            return ((Hole(code(node)),),)
        file.active[key] = None
        file.known[key] = distinct(_texts(node, frame)) or ((Hole(code(node)),),)
        del file.active[key]
    found: Texts = file.known[key]
    return found


def splice(node: Node, frame: Frame) -> Parts:
    """What stands in a message for an interpolated expression: a hole, as written, or literal text written there."""
    node = unwrap(node)
    if node.type in _STRINGS:
        return texts(node, frame)[0]
    if node.type == "identifier" and (body := parameter(text(node), frame)) is not None:
        return (_parameter(text(node), body),)
    return (Hole(code(node)),)


def _parameter(name: str, body: Frame) -> Hole:
    return Hole(name, parameter=Parameter(body.block.owner.start_byte, name))


def _texts(node: Node, frame: Frame) -> Iterable[Parts]:
    kind = node.type
    if kind in _STRINGS:
        return [string(node, lambda inside: splice(inside, frame))]
    if kind == "binary_operator":
        return _operation(node, frame)
    if kind == "conditional_expression":
        branches = children(node)
        return (parts for branch in (branches[0], branches[-1]) for parts in texts(branch, frame))
    if kind == "boolean_operator":
        sides = [child for field in ("left", "right") if (child := node.child_by_field_name(field)) is not None]
        return (parts for side in sides for parts in texts(side, frame) if has_text(parts) or is_open(parts))
    if kind == "named_expression" and (value := node.child_by_field_name("value")) is not None:
        return texts(value, frame)
    if kind in ("identifier", "attribute"):
        return _named(attribute(node, frame), node)
    if kind == "subscript":
        return _item(node, frame)
    return _call(node, frame) if kind == "call" else ()


def _named(found: list[Meaning], node: Node) -> Iterator[Parts]:
    """The texts behind what a name stands for; the name itself as a hole where one of them is not known."""
    for meaning in found:
        if meaning.kind == "value":
            # What a method put into an attribute is told only where it is text.
            kept = texts(meaning.node, meaning.frame)
            yield from kept if node.type == "identifier" else filter(has_text, kept)
        elif meaning.kind == "addition":
            yield from joined([texts(node, meaning.frame), texts(meaning.node, meaning.frame)])
        elif meaning.kind == "parameter":
            yield (_parameter(text(node), meaning.frame),)
        elif meaning.kind == "import":
            yield (foreign(meaning, code(node)),)
        else:
            yield (Hole(code(node)),)


def foreign(imported: Meaning, written: str, arguments: Arguments | None = None) -> Foreign:
    """What an import stands for; with `arguments`, what a call of it gives."""
    module, name = imported_from(imported.node, imported.frame.file.path)
    full = ".".join(filter(None, [name, imported.rest]))
    return Foreign(module, full, "value" if arguments is None else "call", written, arguments)


def _item(node: Node, frame: Frame) -> Iterator[Parts]:
    """`TABLE[key]`: every value of the table, or the one whose key is written there."""
    table, index = node.child_by_field_name("value"), node.child_by_field_name("subscript")
    if table is not None and index is not None and index.type == "slice":
        yield from (cut(parts, code(index)) for parts in texts(table, frame) if has_text(parts))
    elif table is not None and index is not None:
        yield from look_up(table, index, frame, code(node))


def look_up(table: Node, index: Node | None, frame: Frame, written: str) -> Iterator[Parts]:
    """The texts in a table of this file, or the import it is; `index` None: all of them."""
    wanted = texts(index, frame)[0] if index is not None and index.type in _STRINGS else None
    for meaning in attribute(table, frame):
        if meaning.kind == "import":
            yield (replace(foreign(meaning, written), use="item"),)
        elif meaning.kind == "value" and meaning.node.type == "dictionary":
            keys = dict(literal_keys(meaning.node))
            chosen = keys.get("".join(map(str, wanted))) if wanted is not None else None
            values = [pair.child_by_field_name("value") for pair in children(meaning.node)]
            for value in [chosen] if chosen is not None else values:
                if value is not None:
                    yield from texts_of_entry(value, meaning.frame)


def texts_of_entry(value: Node, frame: Frame) -> Iterator[Parts]:
    """An entry of a table may be a tuple of which one member is the text."""
    members = children(value) if value.type == "tuple" else [value]
    yield from (parts for member in members for parts in texts(member, frame) if has_text(parts) or is_open(parts))


def _operation(node: Node, frame: Frame) -> Iterable[Parts]:
    # Long sums are nested to the left: taken apart in a loop, not by recursion.
    operands: list[Node] = []
    while (
        node.type == "binary_operator"
        and (operator := node.child_by_field_name("operator")) is not None
        and operator.type == "+"
        and (left := node.child_by_field_name("left")) is not None
        and (right := node.child_by_field_name("right")) is not None
    ):
        operands.append(right)
        node = unwrap(left)
    if operands:
        return joined([texts(operand, frame) for operand in (node, *reversed(operands))])
    left, operator, right = (node.child_by_field_name(field) for field in ("left", "operator", "right"))
    if left is None or right is None or operator is None or operator.type != "%":
        return ()
    values = unwrap(right)
    return (
        percent(template, values, lambda inside: splice(inside, frame)) if has_text(template) else (Hole(code(node)),)
        for template in texts(left, frame)
    )


_KEEPS_TEXT = {
    "strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "title", "replace", "encode", "expandtabs",
    "removeprefix", "removesuffix",
}  # fmt: skip
_LAYS_OUT = {"dedent", "cleandoc", "fill", "indent", "shorten"}


def _call(node: Node, frame: Frame) -> Iterable[Parts]:
    """`T.format(...)`, `sep.join([...])`, `dedent(T)`, `T.strip()`, `str(T)`, and functions of this file."""
    function, arguments = node.child_by_field_name("function"), arguments_of(node)
    if function is None:
        return ()
    called = code(function).rpartition(".")[2]
    if called in _LAYS_OUT and arguments:
        return (dedent(p) if called in ("dedent", "cleandoc") else p for p in texts(arguments[0], frame))
    if (method := method_of(node)) is not None:
        owner, name = method
        if name == "format":
            return _formatted(owner, arguments, frame, frame)
        if name == "join" and len(arguments) == 1:
            return _join(owner, arguments[0], frame)
        if name in _KEEPS_TEXT:
            kept = (stripped(parts, name) if has_text(parts) else parts for parts in texts(owner, frame))
            return (parts if has_text(parts) or is_open(parts) else (Hole(code(node)),) for parts in kept)
        if name in ("get", "pop") and arguments:
            default = texts(arguments[1], frame) if len(arguments) > 1 else ()
            return (*look_up(owner, arguments[0], frame, code(node)), *filter(has_text, default))
    if called == "str" and len(arguments) == 1:
        return texts(arguments[0], frame)
    return _followed(node, function, frame)


def _formatted(template: Node, arguments: list[Node], at: Frame, frame: Frame) -> Iterator[Parts]:
    """A template that stands at one place, filled at another."""
    for parts in filter(has_text, texts(template, at)):
        yield format_call(parts, arguments, lambda inside: splice(inside, frame))


def _followed(call: Node, function: Node, frame: Frame) -> Iterator[Parts]:
    """What a function of this file returns for this call; of `f = T.format`, the formatted text."""
    for meaning in callee(function, frame):
        if meaning.kind == "import":
            yield (foreign(meaning, code(call), arguments(call, frame)),)
        elif meaning.kind == "value" and meaning.node.type == "attribute":
            owner, name = (meaning.node.child_by_field_name(field) for field in ("object", "attribute"))
            if owner is not None and name is not None and text(name) == "format":
                yield from _formatted(owner, arguments_of(call), meaning.frame, frame)
        elif meaning.node.type == "function_definition":
            told = [parts for value, where in returned(meaning) for parts in texts(value, where)]
            # What an import gives is still to be seen; until then the call stands as written.
            told = [(replace(parts[0], code=code(call)),) if is_foreign(parts) else parts for parts in told]
            if told := [parts for parts in told if has_text(parts) or is_foreign(parts)]:
                yield from bind(told, meaning.node.start_byte, matched(signature(meaning), arguments(call, frame)))


def is_foreign(parts: Parts) -> TypeGuard[tuple[Foreign]]:
    return len(parts) == 1 and isinstance(parts[0], Foreign)


def arguments(call: Node, frame: Frame) -> Arguments:
    """What a call hands over, up to the first `*splat`."""
    positional: list[Texts] = []
    keywords: list[tuple[str, Texts]] = []
    splat = False
    for node in arguments_of(call):
        splat = splat or node.type in ("list_splat", "dictionary_splat")
        if (named := keyword(node)) is not None:
            keywords.append((named[0], _handed(named[1], frame)))
        elif not splat:
            positional.append(_handed(node, frame))
    return Arguments(tuple(positional), tuple(keywords))


def _handed(node: Node, frame: Frame) -> Texts:
    """An argument as the callee sees it: of what is imported, only constants can be text."""
    return distinct(
        (Hole(code(node)),) if any(isinstance(part, Foreign) and not part.is_constant for part in parts) else parts
        for parts in texts(node, frame)
    )


def signature(function: Meaning) -> tuple[Expected, ...]:
    """The parameters of a function as its caller sees them."""
    listed = parameters(function.node)
    if listed and listed[0][0] in ("self", "cls"):
        listed = listed[1:]
    return tuple(
        Expected(name, texts(default, function.frame) if default is not None else None) for name, _, default in listed
    )


def _join(separator: Node, sequence: Node, frame: Frame) -> Iterator[Parts]:
    sequence = unwrap(sequence)
    glue = texts(separator, frame)[0]
    # A list that begins empty is filled before it is joined.
    for items in [items for items in sequences(sequence, frame) if items is None or items] or [None]:
        if items is not None and any(map(has_text, items)):
            yield tuple([part for item in items for part in (*glue, *item)][len(glue) :])
        elif has_text(glue) and any(sign.isalpha() for part in glue for sign in str(part)):
            # A separator of words is read wherever there are two items.
            yield (Hole(code(sequence)), *glue, Hole(""))
        else:
            yield (Hole(f"{code(separator)}.join({code(sequence)})"),)


def sequences(node: Node, frame: Frame) -> Items:
    """The items that a list can hold, each with its first text; None: a list that is not written down."""
    node, file = unwrap(node), frame.file
    if node.type in ("list", "tuple"):
        return [[texts(child, frame)[0] for child in children(node)]]
    key = "sequence", node.id, frame.block.owner.id, frame.index
    if key in file.active or len(file.active) >= DEEPEST:
        return [None]
    file.active[key] = None
    found: Items = []
    if node.type == "binary_operator":
        sides = [child for field in ("left", "right") if (child := node.child_by_field_name(field)) is not None]
        found = _sums([sequences(side, frame) for side in sides])
    elif node.type == "identifier":
        for meaning in attribute(node, frame):
            if meaning.kind == "value":
                found += sequences(meaning.node, meaning.frame)
            elif meaning.kind == "addition":
                found += _sums([sequences(node, meaning.frame), sequences(meaning.node, meaning.frame)])
            elif meaning.kind == "growth" and (grown := arguments_of(meaning.node)):
                method = method_of(meaning.node)
                extends = method is not None and method[1] == "extend"
                more: Items = [[texts(grown[0], meaning.frame)[0]]]
                more = sequences(grown[0], meaning.frame) if extends else more
                found += _sums([sequences(node, meaning.frame), more])
    del file.active[key]
    return found[:8] or [None]


def _sums(sides: list[Items]) -> Items:
    sums: list[tuple[Parts, ...]] = [()]
    for side in sides:
        # What is not written down stands as one unnamed item.
        sums = [(*a, *(b if b is not None else [(Hole("..."),)])) for a in sums for b in side][:8]
    return [*sums]
