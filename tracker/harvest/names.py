"""What a name stands for where it is used: the assignments that reach it, parameters, definitions, imports.

A walk backwards through the blocks around the use. Loops are read once, in source order; that a later
assignment may reach an earlier use in the next turn of a loop is left out on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from tracker.harvest.blocks import DEFINITIONS, Block, Frame
from tracker.harvest.grammar import descendants, text


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing that a name can stand for."""

    kind: str
    """`value` (an assignment), `addition` (`+=`), `definition`, `parameter`, `import` or `opaque`."""
    node: Node
    """The assigned expression, the definition, the parameter, the imported name, or the binding statement."""
    frame: Frame
    """Where `node` stands; of a parameter, the body of its function."""


def meanings(name: str, frame: Frame) -> list[Meaning]:
    """Everything that `name` can stand for at the statement of `frame`, in source order; empty: not known here."""
    found: list[Meaning] = []
    at: Frame | None = frame
    inside = True
    while at is not None:
        owner = at.block.owner
        if inside or owner.type != "class_definition":
            # Once the walk has left the function that uses the name, later statements count as well.
            whole = not inside and owner.type in (*DEFINITIONS, "module")
            reached, settled = _before(at, len(at.block.statements) if whole else at.index, name)
            found = reached + found
            if settled:
                return found
        if owner.type == "function_definition":
            if (parameter := _parameter(owner, name)) is not None:
                return [Meaning("parameter", parameter, at), *found]
            inside = False
        elif owner.type == "class_definition":
            inside = False
        elif name in _header_names(owner):
            return [Meaning("opaque", owner, at), *found]
        at = at.outer
    return found


def enclosing_class(frame: Frame) -> Frame | None:
    """The body of the class around `frame`."""
    at: Frame | None = frame
    while at is not None and at.block.owner.type != "class_definition":
        at = at.outer
    return at


def member(name: str, body: Frame) -> list[Meaning]:
    """What NAME is in the class or module whose block `body` is."""
    return _before(body, len(body.block.statements), name)[0]


def inner(definition: Node, frame: Frame) -> Frame | None:
    """The body of a class or function that stands in `frame`, seen from its end."""
    body = definition.child_by_field_name("body")
    if body is None:
        return None
    block = Block(body, definition)
    return Frame(block, len(block.statements), frame)


def parameters(function: Node) -> list[tuple[str, Node, Node | None]]:
    """The parameters of a function in order: name (with its stars), node, default."""
    listed = function.child_by_field_name("parameters")
    found: list[tuple[str, Node, Node | None]] = []
    for node in listed.named_children if listed is not None else ():
        if node.type in ("identifier", "list_splat_pattern", "dictionary_splat_pattern"):
            found.append((text(node), node, None))
        elif node.type == "typed_parameter":
            found.append((text(node.children[0]), node, None))
        elif name := node.child_by_field_name("name"):
            found.append((text(name), node, node.child_by_field_name("value")))
    return found


def imported_as(imported: Node) -> str:
    """The name that `import x.y`, `import x as z` or `from m import x as z` binds."""
    alias = imported.child_by_field_name("alias") if imported.type == "aliased_import" else None
    return text(alias) if alias is not None else text(imported)


def _before(frame: Frame, stop: int, name: str) -> tuple[list[Meaning], bool]:
    """What the first `stop` statements of a block make of a name, and whether nothing before them can matter."""
    found: list[Meaning] = []
    for index in reversed(frame.block.bindings(_binds).get(name, ())):
        if index < stop:
            reached, settled = _bound(replace(frame, index=index), name)
            found = reached + found
            if settled:
                return found, True
    return found, False


def _bound(frame: Frame, name: str) -> tuple[list[Meaning], bool]:
    """What one statement makes of a name that it binds, and whether nothing before it can reach past it."""
    statement = frame.block.statements[frame.index]
    if statement.type == "decorated_definition":
        statement = statement.child_by_field_name("definition") or statement
    if statement.type in DEFINITIONS:
        return [Meaning("definition", statement, frame)], True
    if statement.type == "import_from_statement":
        imported = next(node for node in statement.children_by_field_name("name") if imported_as(node) == name)
        return [Meaning("import", imported, frame)], True
    if statement.type != "expression_statement":
        return _branches(statement, name, frame)
    for expression in reversed(statement.named_children):
        if expression.type == "augmented_assignment" and name in _targets(expression):
            right, operator = (
                expression.child_by_field_name("right"),
                expression.child_by_field_name("operator"),
            )
            adds = right is not None and operator is not None and text(operator) == "+="
            return [Meaning("addition" if adds else "opaque", right or expression, frame)], True
        if name in _targets(expression):
            value = _value(expression)
            plain = value is not None and name in _targets(expression, plain=True)
            return [Meaning("value" if plain else "opaque", value or expression, frame)], True
    return [], False


def _branches(statement: Node, name: str, frame: Frame) -> tuple[list[Meaning], bool]:
    """What the blocks of a compound statement make of a name; settled when no way leads past all of them."""
    found: list[Meaning] = []
    settled = True
    for body, owner in _bodies(statement):
        if not _leaves(body):
            block = Block(body, owner)
            reached, inside = _before(Frame(block, 0, frame), len(block.statements), name)
            found += reached
            settled = settled and inside
    complete = statement.type == "with_statement" or (
        statement.type == "if_statement" and any(child.type == "else_clause" for child in statement.children)
    )
    return found, settled and complete and bool(found)


def _bodies(statement: Node) -> Iterator[tuple[Node, Node]]:
    """The blocks of a compound statement, each with the clause it belongs to."""
    for child in statement.children:
        if child.type == "block" and statement.type == "match_statement":
            for case in child.children:
                yield from _bodies(case)
        elif child.type == "block":
            yield child, statement
        elif child.type in (
            "elif_clause",
            "else_clause",
            "except_clause",
            "except_group_clause",
            "finally_clause",
        ):
            yield from _bodies(child)


def _leaves(block: Node) -> bool:
    """Whether a block ends in a statement after which nothing of the same function is reached."""
    last = next((child for child in reversed(block.named_children) if child.type != "comment"), None)
    return last is not None and last.type in (
        "raise_statement", "return_statement", "continue_statement", "break_statement",
    )  # fmt: skip


def _binds(statement: Node) -> set[str]:
    """The names that a statement binds in its scope, its inner blocks included."""
    kind = statement.type
    if kind == "decorated_definition":
        statement = statement.child_by_field_name("definition") or statement
        kind = statement.type
    if kind in DEFINITIONS:
        name = statement.child_by_field_name("name")
        return {text(name)} if name is not None else set()
    if kind == "import_from_statement":
        return {imported_as(node) for node in statement.children_by_field_name("name")}
    if kind == "expression_statement":
        return {name for child in statement.named_children for name in _targets(child)}
    names: set[str] = set()
    for body, _ in _bodies(statement):
        for inside in body.children:
            names |= _binds(inside)
    return names


def _targets(expression: Node, plain: bool = False) -> set[str]:
    """The names that an assignment binds; `plain`: only those that stand for the whole value."""
    names: set[str] = set()
    at: Node | None = expression
    while at is not None and at.type in ("assignment", "augmented_assignment"):
        left = at.child_by_field_name("left")
        if left is not None and (not plain or left.type == "identifier"):
            names |= _names(left)
        at = at.child_by_field_name("right")
    return names


def _value(expression: Node) -> Node | None:
    """The value of `a = b = value`; None of an annotation without one."""
    at: Node | None = expression
    while at is not None and at.type == "assignment":
        at = at.child_by_field_name("right")
    return at


def _names(target: Node) -> set[str]:
    """The plain names in the target of an assignment, a loop, a `with` or an `except`."""
    if target.type == "identifier":
        return {text(target)}
    if target.type in ("attribute", "subscript"):
        return set()
    return {name for child in target.named_children for name in _names(child)}


def _parameter(function: Node, name: str) -> Node | None:
    return next((node for label, node, _ in parameters(function) if label.lstrip("*") == name), None)


def _header_names(owner: Node) -> set[str]:
    """The names that the head of a compound statement binds for its block."""
    if owner.type == "for_statement":
        left = owner.child_by_field_name("left")
        return _names(left) if left is not None else set()
    if owner.type in ("except_clause", "except_group_clause", "with_statement"):
        aliases = [
            node
            for child in owner.children
            if child.type in ("with_clause", "as_pattern")
            for node in (child, *descendants(child))
            if node.type == "as_pattern_target"
        ]
        return {name for alias in aliases for name in _names(alias)}
    return set()
