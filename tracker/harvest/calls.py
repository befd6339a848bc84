"""Calls: what is called, with which arguments, and what a function of this file returns."""

from __future__ import annotations

import builtins

from tree_sitter import Node

from tracker.harvest.blocks import File, Frame, find, find_inside
from tracker.harvest.grammar import children, code, descendants, text
from tracker.harvest.names import Meaning, attribute, inner

_BUILTIN = {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}
_STATEMENTS = ("expression_statement", "return_statement", "raise_statement", "assert_statement")


def arguments_of(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    return children(listed) if listed is not None else []


def keyword(argument: Node) -> tuple[str, Node] | None:
    """Name and value of a keyword argument."""
    name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
    if argument.type != "keyword_argument" or name is None or value is None:
        return None
    return text(name), value


def method_of(call: Node) -> tuple[Node, str] | None:
    """The object and the name of a method call."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "attribute":
        return None
    owner, name = function.child_by_field_name("object"), function.child_by_field_name("attribute")
    return (owner, text(name)) if owner is not None and name is not None else None


def callee(function: Node, frame: Frame) -> list[Meaning]:
    """What is called, as far as this file says; of a built-in exception, nothing."""
    if function.type == "identifier" and text(function) in _BUILTIN:
        return []
    return attribute(function, frame)


def returned(function: Meaning) -> list[tuple[Node, Frame]]:
    """The expressions that a function returns, each with where it stands."""
    known = function.frame.file.known
    key = "returned", function.node.id
    if key not in known:
        body = inner(function.node, function.frame)
        places = find_inside(body, {"return_statement"}, [b"return"]) if body is not None else ()
        known[key] = [(value, place.frame) for place in places for value in children(place.node)[:1]]
    found: list[tuple[Node, Frame]] = known[key]
    return found


def calls_of(name: str, file: File) -> list[tuple[Node, Frame]]:
    """The calls of anything whose last dotted part is `name`, each with where it stands, in source order."""
    key = "calls", name
    file.called.add(name)
    if key not in file.known:
        file.known[key] = [
            (node, place.frame)
            for place in find(file, _STATEMENTS, [f"{name}(".encode()])
            for node in descendants(place.node)
            if node.type == "call" and (function := node.child_by_field_name("function")) is not None
            if (function.text or b"").endswith(name.encode()) and code(function).rpartition(".")[2] == name
        ]
    found: list[tuple[Node, Frame]] = file.known[key]
    return found
