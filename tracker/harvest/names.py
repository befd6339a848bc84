"""What a name stands for where it is used: the assignments that reach it, parameters, definitions, imports.

A walk backwards through the blocks around the use. Loops are read once, in source order; that a later
assignment may reach an earlier use in the next turn of a loop is left out on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tree_sitter import Node

from tracker.harvest.binds import (
    binds,
    bodies,
    definition,
    grown,
    header,
    imported_as,
    leaves,
    parameters,
    targets,
    value,
)
from tracker.harvest.blocks import DEFINITIONS, Frame, find_inside
from tracker.harvest.grammar import children, text


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing that a name can stand for."""

    kind: Literal["value", "addition", "growth", "definition", "parameter", "import", "opaque"]
    """An assignment, a `+=`, an `append` or `extend`, a class or function, ..., a binding that says nothing."""
    node: Node
    """The assigned expression, the growing call, the definition, parameter or imported name, or the target."""
    frame: Frame
    """Where `node` stands; of a parameter, the body of its function."""
    rest: str = ""
    """What is asked of an import: `X.y` where `m` is imported and `m.X.y` written."""


def meanings(name: str, frame: Frame) -> list[Meaning]:
    """Everything that `name` can stand for at the statement of `frame`, in source order; empty: not known here."""
    found: list[Meaning] = []
    at: Frame | None = frame
    inside = True
    while at is not None:
        owner = at.block.owner
        if inside or owner.type != "class_definition":
            if owner.type == "module":
                at.file.asked.add(name)
            elif owner.type == "class_definition":
                at.file.members.add(name)
            # Once the walk has left the function that uses the name, later statements count as well.
            whole = not inside and owner.type in (*DEFINITIONS, "module")
            reached, settled = _before(at, len(at.block) if whole else at.index, name)
            found = reached + found
            if settled:
                return found
        if owner.type == "function_definition":
            if (parameter := parameters_of(at).get(name)) is not None:
                return [Meaning("parameter", parameter, at), *found]
            inside = False
        elif owner.type == "class_definition":
            inside = False
        elif (bound := header(owner, name)) is not None:
            assigned = owner.type in ("if_statement", "elif_clause", "while_statement")
            return [Meaning("value" if assigned else "opaque", bound, at), *found]
        at = at.outer
    return found


def parameters_of(body: Frame) -> dict[str, Node]:
    """The parameters of the function whose body this is, stars taken off."""
    key = "parameters", body.block.owner.id
    if key not in body.file.known:
        body.file.known[key] = {label.lstrip("*"): node for label, node, _ in parameters(body.block.owner)}
    found: dict[str, Node] = body.file.known[key]
    return found


def parameter(name: str, frame: Frame) -> Frame | None:
    """The body of the function whose parameter `name` is, untouched, at the statement of `frame`."""
    at: Frame | None = frame
    while at is not None and at.block.owner.type != "class_definition":
        if at.block.owner.type == "function_definition" and name in parameters_of(at):
            inside: Frame | None = frame
            while inside is not None and name not in inside.block.bindings(binds):
                if inside is at:
                    return at
                inside = inside.outer
            return None
        at = at.outer
    return None


def member(name: str, body: Frame) -> list[Meaning]:
    """What NAME is in a class: in its block, as an attribute that its methods set, or in a base of the same file."""
    body.file.members.add(name)
    found = _before(body, len(body.block), name)[0] or _set_by_methods(name, body)
    if not found and (key := ("member", name, body.block.owner.id)) not in body.file.active:
        body.file.active[key] = None
        for base in bases(body):
            for meaning in base:
                inherited = inner(meaning.node, meaning.frame) if meaning.node.type == "class_definition" else None
                found = found or (member(name, inherited) if inherited is not None else [])
        del body.file.active[key]
    return found


def bases(body: Frame) -> list[list[Meaning]]:
    """The bases of the class whose block this is, each as what it can stand for."""
    listed = body.block.owner.child_by_field_name("superclasses")
    around = body.outer
    if listed is None or around is None:
        return []
    return [attribute(node, around) for node in children(listed) if node.type in ("identifier", "attribute")]


def _set_by_methods(name: str, body: Frame) -> list[Meaning]:
    found = []
    for place in find_inside(body, {"expression_statement"}, [f"self.{name}".encode()], nested=True):
        for expression in place.node.named_children:
            left = expression.child_by_field_name("left") if expression.type == "assignment" else None
            if left is not None and text(left) == f"self.{name}" and (assigned := value(expression)) is not None:
                found.append(Meaning("value", assigned, place.frame))
    return found


def attribute(node: Node, frame: Frame) -> list[Meaning]:
    """What `NAME`, `self.NAME`, `cls.NAME`, `Class.NAME` or `module.NAME` stands for, as far as this file says."""
    if node.type == "identifier":
        return meanings(text(node), frame)
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
    if node.type != "attribute" or owner is None or name is None:
        return []
    if text(owner) in ("self", "cls"):
        body = enclosing_class(frame)
        return member(text(name), body) if body is not None else []
    path: list[str] = [text(name)]
    while owner is not None and owner.type == "attribute" and (name := owner.child_by_field_name("attribute")):
        path.insert(0, text(name))
        owner = owner.child_by_field_name("object")
    for meaning in meanings(text(owner), frame) if owner is not None and owner.type == "identifier" else ():
        if meaning.kind == "import":
            return [replace(meaning, rest=".".join(path))]
        if meaning.node.type == "class_definition" and len(path) == 1:
            body = inner(meaning.node, meaning.frame)
            return member(path[0], body) if body is not None else []
    return []


def enclosing_class(frame: Frame) -> Frame | None:
    """The body of the class around `frame`."""
    at: Frame | None = frame
    while at is not None and at.block.owner.type != "class_definition":
        at = at.outer
    return at


def inner(defined: Node, frame: Frame) -> Frame | None:
    """The body of a class or function that stands in `frame`, seen from its end."""
    body = defined.child_by_field_name("body")
    if body is None:
        return None
    block = frame.file.block(body, defined)
    return Frame(block, len(block), frame, frame.file)


def _before(frame: Frame, stop: int, name: str) -> tuple[list[Meaning], bool]:
    """What the first `stop` statements of a block make of a name, and whether nothing before them can matter."""
    found: list[Meaning] = []
    for index in reversed(frame.block.bindings(binds).get(name, ())):
        if index < stop:
            reached, settled = _bound(replace(frame, index=index), name)
            found = reached + found
            if settled:
                return found, True
    return found, False


def _bound(frame: Frame, name: str) -> tuple[list[Meaning], bool]:
    """What one statement makes of a name that it binds, and whether nothing before it can reach past it."""
    statement = definition(frame.block.at(frame.index))
    if statement.type in DEFINITIONS:
        return [Meaning("definition", statement, frame)], True
    if statement.type in ("import_from_statement", "import_statement"):
        imported = next(node for node in statement.children_by_field_name("name") if imported_as(node) == name)
        return [Meaning("import", imported, frame)], True
    if statement.type != "expression_statement":
        return _branches(statement, name, frame)
    for expression in reversed(statement.named_children):
        if expression.type == "augmented_assignment" and name in targets(expression):
            right, operator = expression.child_by_field_name("right"), expression.child_by_field_name("operator")
            adds = right is not None and operator is not None and text(operator) == "+="
            return [Meaning("addition" if adds else "opaque", right or expression, frame)], True
        if name in targets(expression):
            assigned = value(expression)
            plain = assigned is not None and name in targets(expression, plain=True)
            return [Meaning("value" if plain else "opaque", assigned or expression, frame)], True
        if name in grown(expression):
            return [Meaning("growth", expression, frame)], True
    return [], False


def _branches(statement: Node, name: str, frame: Frame) -> tuple[list[Meaning], bool]:
    """What the blocks of a compound statement make of a name; settled when no way leads past all of them."""
    found: list[Meaning] = []
    settled = True
    for body, owner in bodies(statement):
        if not leaves(body):
            block = frame.file.block(body, owner)
            reached, inside = _before(Frame(block, 0, frame, frame.file), len(block), name)
            found += reached
            settled = settled and inside
    complete = statement.type == "with_statement" or (
        statement.type == "if_statement" and any(child.type == "else_clause" for child in statement.children)
    )
    return found, settled and complete and bool(found)
