"""The operand of a `raise` -> which exception it is, with which texts, written in which form."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tree_sitter import Node

from tracker.harvest.blocks import Frame
from tracker.harvest.grammar import code, text, unwrap
from tracker.harvest.literals import Parts, has_text
from tracker.harvest.messages import DEEPEST, arguments_of, callee, followed, returns, texts
from tracker.harvest.names import Meaning, inner, member
from tracker.model import Form


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception that a `raise` can throw."""

    exception: str
    messages: tuple[Parts, ...]
    """Only those with literal text."""
    form: Form


_BUILT_ON = ("with_traceback", "add_note")
_MESSAGE_KEYWORDS = ("message", "msg")


def raised(node: Node, frame: Frame, depth: int = 0) -> list[Raised]:
    """What a raised expression can be, in source order; never empty."""
    node = unwrap(node)
    if node.type == "conditional_expression":
        branches = [child for child in node.named_children if child.type != "comment"]
        return [*raised(branches[0], frame, depth), *raised(branches[-1], frame, depth)]
    if node.type == "expression_list":
        return raised(node.named_children[0], frame, depth)
    if node.type == "call":
        return _call(node, frame, depth)
    found: list[Raised] = []
    if depth < DEEPEST:
        for meaning in callee(node, frame):
            if meaning.kind == "value":
                found += [replace(one, form=Form.VARIABLE) for one in raised(meaning.node, meaning.frame, depth + 1)]
            elif meaning.kind == "opaque":
                found.append(Raised(code(node), (), Form.RERAISE))
            elif meaning.kind == "definition" and meaning.node.type == "class_definition":
                found.append(Raised(code(node), _class_texts(meaning, None, frame, depth), Form.NONE))
    return found or [Raised(resolved(node, frame), (), Form.NONE)]


def _call(call: Node, frame: Frame, depth: int) -> list[Raised]:
    function = call.child_by_field_name("function")
    if function is None:
        return [Raised(code(call), (), Form.NONE)]
    if function.type == "attribute":
        owner, name = function.child_by_field_name("object"), function.child_by_field_name("attribute")
        if owner is not None and name is not None and text(name) in _BUILT_ON:
            return raised(owner, frame, depth)
    for meaning in callee(function, frame) if depth < DEEPEST else ():
        if meaning.kind == "definition" and meaning.node.type == "function_definition":
            made = [one for value, where in returns(meaning, call, frame) for one in raised(value, where, depth + 1)]
            if made:
                return [replace(one, form=Form.CALL) for one in made]
        is_class = meaning.kind == "definition" and meaning.node.type == "class_definition"
        if is_class and (supplied := _class_texts(meaning, call, frame, depth)):
            return [Raised(code(function), supplied, Form.CALL)]
    argument, messages = _message(call, frame)
    return [Raised(resolved(function, frame), messages, _form(argument) if argument is not None else Form.NONE)]


def resolved(function: Node, frame: Frame) -> str:
    """The exception as written, an import alias taken back."""
    if function.type == "identifier":
        for meaning in callee(function, frame):
            if meaning.kind == "import" and (name := meaning.node.child_by_field_name("name")) is not None:
                return text(name)
    return code(function)


def _message(call: Node, frame: Frame) -> tuple[Node | None, tuple[Parts, ...]]:
    """The first argument that carries text, and its texts; without any, the first argument."""
    arguments = arguments_of(call)
    keywords = {
        text(name): value
        for node in arguments
        if node.type == "keyword_argument"
        and (name := node.child_by_field_name("name")) is not None
        and (value := node.child_by_field_name("value")) is not None
    }
    positional = [node for node in arguments if node.type not in ("keyword_argument", "dictionary_splat")]
    ordered = positional + [keywords[name] for name in _MESSAGE_KEYWORDS if name in keywords]
    ordered += [value for name, value in keywords.items() if name not in _MESSAGE_KEYWORDS]
    for node in ordered:
        found = tuple(parts for parts in texts(node, frame) if has_text(parts))
        if found:
            return node, found
    return (ordered[0] if ordered else None), ()


def _class_texts(definition: Meaning, call: Node | None, frame: Frame, depth: int) -> tuple[Parts, ...]:
    """The texts that an exception class gives itself: what its `__init__` hands to `super().__init__`."""
    body = inner(definition.node, definition.frame)
    if body is None or depth >= DEEPEST:
        return ()
    for method in member("__init__", body):
        if method.kind != "definition":
            continue
        inside = followed(method, call, frame) if call is not None else inner(method.node, method.frame)
        if inside is None:
            return ()
        for index, statement in enumerate(inside.block.statements):
            for expression in statement.named_children if statement.type == "expression_statement" else ():
                if _is_super_init(expression):
                    _, found = _message(expression, replace(inside, index=index))
                    return found
    return ()


def _is_super_init(node: Node) -> bool:
    function = node.child_by_field_name("function") if node.type == "call" else None
    return function is not None and text(function).startswith("super(") and text(function).endswith(".__init__")


def _form(node: Node) -> Form:
    """How a message is written, by the outermost thing that makes it."""
    node = unwrap(node)
    if node.type == "string":
        return Form.FSTRING if any(child.type == "interpolation" for child in node.children) else Form.LITERAL
    if node.type == "concatenated_string":
        return Form.FSTRING if any(_form(child) is Form.FSTRING for child in node.named_children) else Form.LITERAL
    if node.type == "binary_operator":
        operator = node.child_by_field_name("operator")
        return Form.PERCENT if operator is not None and operator.type == "%" else Form.CONCAT
    if node.type == "conditional_expression":
        return _form(node.named_children[0])
    if node.type == "call":
        function = node.child_by_field_name("function")
        name = function.child_by_field_name("attribute") if function is not None else None
        return Form.FORMAT if name is not None and text(name) == "format" else Form.CALL
    return Form.VARIABLE
