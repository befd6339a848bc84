"""An expression -> the texts it can be, each as parts: what a person would read once it is raised.

Names are followed to the assignments that reach them, calls into functions and classes of the same module.
Every branch of a condition is an alternative.
"""

from __future__ import annotations

import builtins
import textwrap
from collections.abc import Iterator

from tree_sitter import Node

from tracker.harvest.blocks import Frame, find
from tracker.harvest.grammar import code, text, unwrap
from tracker.harvest.literals import Hole, Parts, format_call, has_text, percent, string
from tracker.harvest.names import Meaning, enclosing_class, inner, meanings, member, parameters

MOST = 16
"""Alternatives of one message that are kept; more are a table, not a message."""
DEEPEST = 12
"""Names and calls followed in a row; a chain that long is a loop."""


def texts(node: Node, frame: Frame, depth: int = 0) -> list[Parts]:
    """What an expression can be, in source order, without doubles; never empty: what is unknown is a hole."""
    found = list(dict.fromkeys(_texts(unwrap(node), frame, depth))) if depth < DEEPEST else []
    return found[:MOST] or [(Hole(code(node)),)]


def splice(node: Node, frame: Frame, depth: int = 0) -> Parts:
    """What stands in a message for an interpolated expression: a hole, as written.

    Literal text written right there, and the text that a followed call hands over, are part of the message.
    """
    node = unwrap(node)
    if node.type in ("string", "concatenated_string"):
        return string(node, lambda inside: splice(inside, frame, depth))
    if node.type == "identifier" and depth < DEEPEST:
        for meaning in meanings(text(node), frame) if _is_followed(frame) else ():
            if meaning.kind == "parameter":
                if (argument := _argument(meaning)) is None:
                    break
                where = argument[1]
                return texts(argument[0], where, depth + 1)[0] if where is not frame else (Hole(code(argument[0])),)
    return (Hole(code(node)),)


def _is_followed(frame: Frame) -> bool:
    at: Frame | None = frame
    while at is not None:
        if at.bound is not None:
            return True
        at = at.outer
    return False


def _argument(parameter: Meaning) -> tuple[Node, Frame] | None:
    """What the followed call gives for a parameter; None where no call is followed."""
    bound = parameter.frame.bound
    if bound is None:
        return None
    for name, node, _ in parameters(parameter.frame.block.owner):
        if node == parameter.node:
            return bound.get(name)
    return None


def _texts(node: Node, frame: Frame, depth: int) -> Iterator[Parts]:
    kind = node.type
    if kind in ("string", "concatenated_string"):
        yield string(node, lambda inside: splice(inside, frame, depth))
    elif kind == "binary_operator":
        yield from _operation(node, frame, depth)
    elif kind == "conditional_expression":
        branches = [child for child in node.named_children if child.type != "comment"]
        yield from texts(branches[0], frame, depth)
        yield from texts(branches[-1], frame, depth)
    elif kind == "boolean_operator":
        for side in ("left", "right"):
            if (child := node.child_by_field_name(side)) is not None:
                yield from (parts for parts in texts(child, frame, depth) if has_text(parts))
    elif kind == "named_expression" and (value := node.child_by_field_name("value")) is not None:
        yield from texts(value, frame, depth)
    elif kind == "identifier":
        yield from named(meanings(text(node), frame), node, depth)
    elif kind == "attribute":
        yield from named(attribute(node, frame), node, depth)
    elif kind == "call":
        yield from _call(node, frame, depth)
    else:
        yield (Hole(code(node)),)


def named(found: list[Meaning], node: Node, depth: int) -> Iterator[Parts]:
    """The texts behind what a name stands for; the name itself as a hole where one of them is not known."""
    for meaning in found:
        if meaning.kind == "value":
            yield from texts(meaning.node, meaning.frame, depth + 1)
        elif meaning.kind == "addition":
            earlier = texts(node, meaning.frame, depth + 1)
            yield from (a + b for a in earlier for b in texts(meaning.node, meaning.frame, depth + 1))
        elif meaning.kind == "parameter" and (argument := _argument(meaning)) is not None:
            yield from texts(*argument, depth + 1)
        else:
            yield (Hole(code(node)),)


def attribute(node: Node, frame: Frame) -> list[Meaning]:
    """What `self.NAME`, `cls.NAME` or `Class.NAME` stands for, as far as this module says."""
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
    if owner is None or name is None:
        return []
    if text(owner) in ("self", "cls"):
        body = enclosing_class(frame)
        return member(text(name), body) if body is not None else []
    if owner.type == "identifier":
        for meaning in meanings(text(owner), frame):
            if meaning.kind == "definition" and meaning.node.type == "class_definition":
                body = inner(meaning.node, meaning.frame)
                return member(text(name), body) if body is not None else []
    return []


def _operation(node: Node, frame: Frame, depth: int) -> Iterator[Parts]:
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
        sums: list[Parts] = texts(node, frame, depth)
        for operand in reversed(operands):
            sums = [a + b for a in sums for b in texts(operand, frame, depth)][:MOST]
        yield from sums
        return
    left, operator, right = (node.child_by_field_name(field) for field in ("left", "operator", "right"))
    if left is not None and right is not None and operator is not None and operator.type == "%":
        for template in texts(left, frame, depth):
            if has_text(template):
                yield percent(template, unwrap(right), lambda inside: splice(inside, frame, depth))
                continue
            yield (Hole(code(node)),)
        return
    yield (Hole(code(node)),)


_KEEPS_TEXT = {
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "capitalize",
    "title",
    "replace",
    "encode",
    "expandtabs",
}


def _call(node: Node, frame: Frame, depth: int) -> Iterator[Parts]:
    """`T.format(...)`, `sep.join([...])`, `dedent(T)`, `T.strip()`, `str(T)`, and functions of this module."""
    function, arguments = node.child_by_field_name("function"), arguments_of(node)
    if function is None:
        return
    if function.type == "attribute":
        owner, name = function.child_by_field_name("object"), function.child_by_field_name("attribute")
        if owner is None or name is None:
            return
        method = text(name)
        if method == "format":
            yield from _formatted(owner, arguments, frame, depth)
            return
        if method == "join" and len(arguments) == 1:
            yield from _joined(owner, arguments[0], frame, depth)
            return
        if method == "dedent" and arguments:
            yield from (dedent(parts) for parts in texts(arguments[0], frame, depth))
            return
        if method in _KEEPS_TEXT:
            for parts in texts(owner, frame, depth):
                yield _stripped(parts, method) if has_text(parts) else (Hole(code(node)),)
            return
    called = code(function)
    if called == "str" and len(arguments) == 1:
        yield from texts(arguments[0], frame, depth)
    elif called == "dedent" and arguments:
        yield from (dedent(parts) for parts in texts(arguments[0], frame, depth))
    else:
        yield from _followed(node, function, frame, depth)


def _formatted(template: Node, arguments: list[Node], frame: Frame, depth: int) -> Iterator[Parts]:
    for parts in texts(template, frame, depth):
        yield format_call(parts, arguments, lambda inside: splice(inside, frame, depth))


def _joined(separator: Node, sequence: Node, frame: Frame, depth: int) -> Iterator[Parts]:
    sequence = unwrap(sequence)
    glue = texts(separator, frame, depth)[0]
    if sequence.type not in ("list", "tuple"):
        yield (Hole(f"{code(separator)}.join({code(sequence)})"),)
        return
    joined: Parts = ()
    for n, item in enumerate(child for child in sequence.named_children if child.type != "comment"):
        joined += (glue if n else ()) + texts(item, frame, depth)[0]
    yield joined


def _followed(call: Node, function: Node, frame: Frame, depth: int) -> Iterator[Parts]:
    """What a function of this module returns for this call; of `f = T.format`, the formatted text."""
    for meaning in callee(function, frame):
        if meaning.kind == "value" and meaning.node.type == "attribute":
            owner, name = (
                meaning.node.child_by_field_name("object"),
                meaning.node.child_by_field_name("attribute"),
            )
            if owner is not None and name is not None and text(name) == "format":
                for parts in texts(owner, meaning.frame, depth + 1):
                    yield format_call(parts, arguments_of(call), lambda inside: splice(inside, frame, depth))
                return
        if meaning.kind == "definition" and meaning.node.type == "function_definition":
            for value, where in returns(meaning, call, frame):
                yield from (parts for parts in texts(value, where, depth + 1) if has_text(parts))


_BUILTIN = {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}


def callee(function: Node, frame: Frame) -> list[Meaning]:
    """What is called, as far as this module says; of a built-in exception, nothing."""
    if function.type == "identifier":
        return meanings(name, frame) if (name := text(function)) not in _BUILTIN else []
    return attribute(function, frame) if function.type == "attribute" else []


def returns(function: Meaning, call: Node, frame: Frame) -> Iterator[tuple[Node, Frame]]:
    """The expressions that a function returns when called like this, each with where it stands."""
    body = followed(function, call, frame)
    if body is not None:
        for place in find(function.node, "return_statement", b"return", body):
            for value in place.node.named_children[:1]:
                yield value, place.frame


def followed(function: Meaning, call: Node, frame: Frame) -> Frame | None:
    """The body of a function with its parameters bound to the arguments of a call."""
    body = inner(function.node, function.frame)
    if body is None:
        return None
    bound: dict[str, tuple[Node, Frame]] = {}
    listed = parameters(function.node)
    for name, _, default in listed:
        if default is not None:
            bound[name] = default, function.frame
    if listed and listed[0][0] in ("self", "cls"):
        listed = listed[1:]
    positional = [name for name, _, _ in listed]
    for node in arguments_of(call):
        if node.type == "keyword_argument":
            keyword, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if keyword is not None and value is not None:
                bound[text(keyword)] = value, frame
        elif node.type in ("list_splat", "dictionary_splat") or not positional or positional[0].startswith("*"):
            break
        else:
            bound[positional.pop(0)] = node, frame
    return Frame(body.block, body.index, body.outer, bound)


def arguments_of(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    return [child for child in listed.named_children if child.type != "comment"] if listed is not None else []


def dedent(parts: Parts) -> Parts:
    """`textwrap.dedent` of a text with holes."""
    marks = {f"\ue000{n}\ue001": part for n, part in enumerate(parts) if isinstance(part, Hole)}
    keys = iter(marks)
    flat = textwrap.dedent("".join(part if isinstance(part, str) else next(keys) for part in parts))
    found: list[str | Hole] = []
    for mark, hole in marks.items():
        before, _, flat = flat.partition(mark)
        found += [before, hole] if before else [hole]
    return (*found, flat) if flat else tuple(found)


def _stripped(parts: Parts, method: str) -> Parts:
    """Case changes and replacements are left as written: who reads the page reads the source's words."""
    ends = list(parts)
    if method in ("strip", "lstrip") and isinstance(ends[0], str):
        ends[0] = ends[0].lstrip()
    if method in ("strip", "rstrip") and isinstance(ends[-1], str):
        ends[-1] = ends[-1].rstrip()
    return tuple(part for part in ends if part != "")
