"""The blocks of a module: which statement stands in which scope, under which conditions, after what.

Only the parts of a tree that hold the wanted statements are entered: most of a file holds none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from tracker.harvest.grammar import code, text, unwrap


class Block:
    """The statements of one block, and which of them bind which name (worked out when first asked for)."""

    __slots__ = ("_bindings", "owner", "statements")

    def __init__(self, node: Node, owner: Node) -> None:
        self.statements = node.children
        self.owner = owner
        """The module, class, function or clause whose block this is."""
        self._bindings: dict[str, list[int]] | None = None

    def bindings(self, binds: Callable[[Node], set[str]]) -> Mapping[str, Sequence[int]]:
        """Name -> indexes of the statements that bind it, as `binds` tells."""
        if self._bindings is None:
            self._bindings = {}
            for index, statement in enumerate(self.statements):
                for name in binds(statement):
                    self._bindings.setdefault(name, []).append(index)
        return self._bindings


@dataclass(frozen=True, slots=True)
class Frame:
    """One block on the way down to a statement."""

    block: Block
    index: int
    """Of the statement that the way down goes through."""
    outer: Frame | None
    bound: Mapping[str, tuple[Node, Frame]] | None = None
    """Where a call is followed into this function: the argument of each parameter, and where it stands."""


@dataclass(frozen=True, slots=True)
class Place:
    """A statement and where it stands."""

    node: Node
    frame: Frame
    scope: tuple[str, ...]
    guard: tuple[str, ...]


DEFINITIONS = ("function_definition", "class_definition")


def find(root: Node, wanted: str, keyword: bytes, frame: Frame | None = None) -> Iterator[Place]:
    """Every statement of the type `wanted` below `root`, in source order.

    `keyword` is the word each of them holds. With `frame`, the body of the function `root`, only that body is
    searched, not the definitions nested in it.
    """
    source = root.text or b""
    offsets = []
    at = source.find(keyword)
    while at >= 0:
        offsets.append(at + root.start_byte)
        at = source.find(keyword, at + len(keyword))
    if not offsets:
        return
    if frame is None:
        yield from _Search(wanted, offsets, nested=True).block(Block(root, root), None, (), ())
    else:
        yield from _Search(wanted, offsets, nested=False).block(frame.block, frame.outer, (), (), frame.bound)


@dataclass(frozen=True, slots=True)
class _Search:
    wanted: str
    offsets: list[int]
    nested: bool

    def holds(self, node: Node) -> bool:
        first = bisect_left(self.offsets, node.start_byte)
        return first < len(self.offsets) and self.offsets[first] < node.end_byte

    def block(
        self,
        block: Block,
        outer: Frame | None,
        scope: tuple[str, ...],
        guard: tuple[str, ...],
        bound: Mapping[str, tuple[Node, Frame]] | None = None,
    ) -> Iterator[Place]:
        for index, statement in enumerate(block.statements):
            if self.holds(statement):
                yield from self.statement(statement, Frame(block, index, outer, bound), scope, guard)

    def statement(self, node: Node, frame: Frame, scope: tuple[str, ...], guard: tuple[str, ...]) -> Iterator[Place]:
        kind = node.type
        if kind == self.wanted:
            yield Place(node, frame, scope, guard)
        elif kind in DEFINITIONS:
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if self.nested and body is not None:
                yield from self.block(Block(body, node), frame, (*scope, text(name) if name else "?"), ())
        elif kind == "decorated_definition":
            if definition := node.child_by_field_name("definition"):
                yield from self.statement(definition, frame, scope, guard)
        elif kind in _CLAUSES or node.has_error:
            if kind == "case_clause":
                guard = (*guard, *_case(node, frame.block.owner))
            for child in node.children:
                if self.holds(child):
                    yield from self.clause(child, node, frame, scope, guard)

    def clause(
        self, child: Node, parent: Node, frame: Frame, scope: tuple[str, ...], guard: tuple[str, ...]
    ) -> Iterator[Place]:
        if child.type == "block":
            conditions = (*guard, *_conditions(parent))
            yield from self.block(Block(child, parent), frame, scope, conditions)
        elif child.type in _CLAUSES:
            if child.type == "else_clause":
                guard = (*guard, *_refuted(parent))
            for part in child.children:
                if self.holds(part):
                    yield from self.clause(part, child, frame, scope, guard)
        elif child.type == self.wanted or parent.has_error:
            yield from self.statement(child, frame, scope, guard)


_CLAUSES = {
    "if_statement",
    "elif_clause",
    "else_clause",
    "while_statement",
    "for_statement",
    "with_statement",
    "try_statement",
    "except_clause",
    "except_group_clause",
    "finally_clause",
    "match_statement",
    "case_clause",
}


def _conditions(parent: Node) -> tuple[str, ...]:
    """What must hold for the block of `parent` to be entered."""
    condition = parent.child_by_field_name("condition")
    if parent.type in ("if_statement", "elif_clause") and condition is not None:
        return (f"if {code(unwrap(condition))}",)
    if parent.type == "while_statement" and condition is not None:
        return (f"while {code(unwrap(condition))}",)
    if parent.type in ("except_clause", "except_group_clause"):
        star = "*" if any(child.type == "*" for child in parent.children) else ""
        caught = parent.child_by_field_name("value")
        if caught is not None and caught.type == "as_pattern":
            caught = caught.named_children[0]
        return (f"except{star} {code(unwrap(caught))}" if caught is not None else "except",)
    return ()


def _refuted(parent: Node) -> tuple[str, ...]:
    """What must have failed for the `else` of `parent` to be entered; nothing for a loop or a `try`."""
    if parent.type != "if_statement":
        return ()
    clauses = [parent, *(child for child in parent.children if child.type == "elif_clause")]
    conditions = [clause.child_by_field_name("condition") for clause in clauses]
    return tuple(f"if {negation(condition)}" for condition in conditions if condition is not None)


_OPPOSITE = {"is": "is not", "==": "!=", "in": "not in"}
_OPPOSITE |= {opposite: operator for operator, opposite in _OPPOSITE.items()}
_LOOSE = {"boolean_operator", "conditional_expression", "named_expression", "lambda"}


def negation(condition: Node) -> str:
    """The opposite of a condition, written as a person would: `not x`, `x is not None`."""
    condition = unwrap(condition)
    if condition.type == "not_operator" and (argument := condition.child_by_field_name("argument")):
        return code(unwrap(argument))
    if condition.type == "comparison_operator":
        operators = condition.children_by_field_name("operators")
        # A chain (`a < b < c`) has no opposite of its own, and neither has an order: NaN is not less either.
        if len(operators) == 1 and (opposite := _OPPOSITE.get(code(operators[0]))):
            left, right = condition.children[0], condition.children[-1]
            return f"{code(left)} {opposite} {code(right)}"
    return f"not ({code(condition)})" if condition.type in _LOOSE else f"not {code(condition)}"


def _case(clause: Node, match: Node) -> tuple[str, ...]:
    """The pattern of a `case`; where it takes everything, the patterns that failed before it."""
    subject = ", ".join(code(node) for node in match.children_by_field_name("subject"))
    condition = clause.child_by_field_name("guard")
    pattern = _pattern(clause)
    if condition is not None:
        return (f"match {subject}: case {pattern} {code(condition)}",)
    if pattern != "_":
        return (f"match {subject}: case {pattern}",)
    body = match.child_by_field_name("body")
    earlier = [child for child in body.children if child.type == "case_clause"] if body else []
    failed = [_pattern(child) for child in earlier if child.start_byte < clause.start_byte]
    return (f"match {subject}: case _" + "".join(f", not {pattern}" for pattern in failed),)


def _pattern(clause: Node) -> str:
    return ", ".join(code(child) for child in clause.named_children if child.type == "case_pattern")
