"""Guards: under which condition the block of a clause is entered, as a person would write it on one line."""

from __future__ import annotations

from tree_sitter import Node

from tracker.harvest.grammar import code, unwrap


def entered(parent: Node) -> tuple[str, ...]:
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


def refuted(parent: Node) -> tuple[str, ...]:
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


def case(clause: Node, match: Node) -> tuple[str, ...]:
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
    failed = [_pattern(child, guarded=True) for child in earlier if child.start_byte < clause.start_byte]
    return (f"match {subject}: case _" + "".join(f", not {pattern}" for pattern in failed),)


def _pattern(clause: Node, guarded: bool = False) -> str:
    pattern = ", ".join(code(child) for child in clause.named_children if child.type == "case_pattern")
    condition = clause.child_by_field_name("guard") if guarded else None
    return f"{pattern} {code(condition)}" if condition is not None else pattern
