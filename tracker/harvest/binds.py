"""What one statement binds: the names it assigns, imports or defines, in its scope. Nothing is followed here."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from tracker.harvest.blocks import DEFINITIONS
from tracker.harvest.grammar import descendants, text

GROWS = ("append", "extend")
"""Methods that add to a list, and so to a message that is joined from it."""

_CLAUSES = ("elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause")


_BINDS_NOTHING = ("comment", "return_statement", "raise_statement", "assert_statement", "pass_statement")


def definition(statement: Node) -> Node:
    """The statement itself, decorators taken off."""
    if statement.type == "decorated_definition":
        return statement.child_by_field_name("definition") or statement
    return statement


def binds(statement: Node) -> set[str]:
    """The names that a statement binds in its scope or adds to, its inner blocks included."""
    kind = statement.type
    if kind in _BINDS_NOTHING:
        return set()
    if kind == "decorated_definition":
        statement = definition(statement)
        kind = statement.type
    if kind in DEFINITIONS:
        name = statement.child_by_field_name("name")
        return {text(name)} if name is not None else set()
    if kind in ("import_from_statement", "import_statement"):
        return {imported_as(node) for node in statement.children_by_field_name("name")}
    if kind == "expression_statement":
        return {name for child in statement.named_children for name in (*targets(child), *grown(child))}
    names: set[str] = set()
    for body, _ in bodies(statement):
        for inside in body.children:
            names |= binds(inside)
    return names


def targets(expression: Node, plain: bool = False) -> set[str]:
    """The names that an assignment binds; `plain`: only those that stand for the whole value."""
    names: set[str] = set()
    at: Node | None = expression
    while at is not None and at.type in ("assignment", "augmented_assignment"):
        left = at.child_by_field_name("left")
        if left is not None and (not plain or left.type == "identifier"):
            names |= plain_names(left)
        at = at.child_by_field_name("right")
    return names


def value(expression: Node) -> Node | None:
    """The value of `a = b = value`; None of an annotation without one."""
    at: Node | None = expression
    while at is not None and at.type == "assignment":
        at = at.child_by_field_name("right")
    return at


def grown(expression: Node) -> set[str]:
    """`NAME` of `NAME.append(...)` and its kin."""
    function = expression.child_by_field_name("function") if expression.type == "call" else None
    if function is None or function.type != "attribute":
        return set()
    owner, method = function.child_by_field_name("object"), function.child_by_field_name("attribute")
    if owner is None or owner.type != "identifier" or method is None or text(method) not in GROWS:
        return set()
    return {text(owner)}


def plain_names(target: Node) -> set[str]:
    """The names in the target of an assignment, a loop, a `with` or an `except`."""
    names: set[str] = set()
    waiting = [target]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            names.add(text(node))
        elif node.type not in ("attribute", "subscript"):
            waiting.extend(node.named_children)
    return names


def imported_as(imported: Node) -> str:
    """The name that `import x.y`, `import x as z` or `from m import x as z` binds."""
    alias = imported.child_by_field_name("alias") if imported.type == "aliased_import" else None
    if alias is None and imported.parent is not None and imported.parent.type == "import_statement":
        return text(imported).partition(".")[0]
    return text(alias) if alias is not None else text(imported)


def imported_from(imported: Node, path: str) -> tuple[str, str]:
    """The module that an import in the file at `path` names, and the name in it; empty: the module itself."""
    statement = imported.parent
    name = imported.child_by_field_name("name") if imported.type == "aliased_import" else imported
    written = text(name) if name is not None else ""
    source = statement.child_by_field_name("module_name") if statement is not None else None
    if source is None:
        return (written if imported.type == "aliased_import" else written.partition(".")[0]), ""
    module = text(source)
    if module.startswith("."):
        # `path` is a posix path from the root of the repository: its folders are the packages around it.
        dots = len(module) - len(module.lstrip("."))
        packages = path.split("/")[:-dots]
        module = ".".join([*packages, *filter(None, [module.lstrip(".").strip()])])
    return module, written


def bodies(statement: Node) -> Iterator[tuple[Node, Node]]:
    """The blocks of a compound statement, each with the clause it belongs to."""
    for child in statement.children:
        if child.type == "block" and statement.type == "match_statement":
            for case in child.children:
                yield from bodies(case)
        elif child.type == "block":
            yield child, statement
        elif child.type in _CLAUSES:
            yield from bodies(child)


def leaves(block: Node) -> bool:
    """Whether a block ends in a statement after which nothing of the same function is reached."""
    last = next((child for child in reversed(block.named_children) if child.type != "comment"), None)
    return last is not None and last.type in (
        "raise_statement", "return_statement", "continue_statement", "break_statement",
    )  # fmt: skip


def header(owner: Node, name: str) -> Node | None:
    """What binds `name` in the head of a compound statement: the value of a `:=`, or else the target."""
    if owner.type in ("if_statement", "elif_clause", "while_statement"):
        condition = owner.child_by_field_name("condition")
        if condition is None or b":=" not in (condition.text or b""):
            return None
        for node in (condition, *descendants(condition)):
            bound = node.child_by_field_name("name") if node.type == "named_expression" else None
            if bound is not None and text(bound) == name:
                return node.child_by_field_name("value")
        return None
    if owner.type == "for_statement":
        heads = [owner.child_by_field_name("left")]
    elif owner.type == "case_clause":
        heads = [child for child in owner.children if child.type == "case_pattern"]
    elif owner.type in ("except_clause", "except_group_clause", "with_statement"):
        heads = [
            node
            for child in owner.children
            if child.type in ("with_clause", "as_pattern")
            for node in (child, *descendants(child))
            if node.type == "as_pattern_target"
        ]
    else:
        return None
    return next((head for head in heads if head is not None and name in plain_names(head)), None)


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
