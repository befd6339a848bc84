"""tree-sitter and its Python grammar, and the few things every reader of the tree asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Range

_PARSER = Parser(Language(tree_sitter_python.language()))
MANY = 500
"""Lines of nothing but comments, one after the other, from which they are not shown to the grammar: its scanner looks
through all that follow for each of them, which takes 0.1 s for so many and 5 s for 4,000."""
_COMMENTS = re.compile(rb"^(?:[ \t]*(?:#[^\n]*)?\n){%d,}+" % MANY, re.MULTILINE)
_SEEN = re.compile(rb"[^\n]")
_BREAK = re.compile(r"\s*\n\s*")


def parse(source: bytes, parts: Sequence[tuple[int, int]] | None = None) -> Node:
    """UTF-8 source -> the root of its tree. The tree may hold ERROR nodes; it is never missing.

    `parts`: only these are parsed, as if nothing stood between them; each begins in column 0. Bytes, lines and columns
    count in the whole source all the same.
    """
    if source.count(b"#") >= MANY:
        source = _COMMENTS.sub(lambda run: _SEEN.sub(b" ", run[0]), source)
    if parts is None:
        return _PARSER.parse(source).root_node
    if not parts:
        return _PARSER.parse(b"").root_node
    ranges = []
    row = last = 0
    for start, stop in parts:
        row += source.count(b"\n", last, start)
        end = row + source.count(b"\n", start, stop)
        ranges.append(Range((row, 0), (end, stop - 1 - source.rfind(b"\n", 0, stop)), start, stop))
        row, last = end, stop
    _PARSER.included_ranges = ranges
    try:
        return _PARSER.parse(source).root_node
    finally:
        _PARSER.included_ranges = []


def text(node: Node) -> str:
    return str(node.text or b"", "utf-8", "surrogatepass")


def code(node: Node) -> str:
    """The source of an expression on one line: comments dropped, line breaks folded, otherwise as written."""
    raw = text(node)
    if "\n" not in raw:
        return raw.strip()
    if "#" in raw:
        start = node.start_byte
        data = bytearray(node.text or b"")
        for comment in reversed([n for n in descendants(node) if n.type == "comment"]):
            del data[comment.start_byte - start : comment.end_byte - start]
        raw = data.decode("utf-8", "surrogatepass")
    folded = _BREAK.sub(" ", raw.strip())
    return re.sub(r"([(\[{]) | (?=[)\]}])", r"\1", folded).replace(",)", ")")


def descendants(node: Node) -> Iterator[Node]:
    """Every node below, in source order."""
    waiting = list(reversed(node.children))
    while waiting:
        child = waiting.pop()
        yield child
        waiting.extend(reversed(child.children))


def children(node: Node) -> list[Node]:
    """The named children, comments left out."""
    return [child for child in node.named_children if child.type != "comment"]


def unwrap(node: Node) -> Node:
    """The expression inside any number of brackets."""
    while node.type == "parenthesized_expression":
        inner = children(node)
        if len(inner) != 1:
            break
        node = inner[0]
    return node
