"""The blocks of a module: which statement stands in which scope, under which conditions, after what.

Only the parts of a tree that hold the wanted statements are entered: most of a file holds none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from tracker.harvest.grammar import descendants, text
from tracker.harvest.guards import case, entered, refuted


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
class File:
    """One parsed file, and what was worked out about it so far."""

    path: str
    root: Node
    known: dict[object, Any] = field(default_factory=dict)
    """Results by what was asked: each expression of a file is read once, however many sites lead to it."""
    active: dict[object, None] = field(default_factory=dict)
    """What is being worked out just now, outermost first: names can be defined in circles."""
    asked: set[str] = field(default_factory=set)
    """Names that were looked for among the statements of the module: what is known of the file depends on them."""
    members: set[str] = field(default_factory=set)
    """The same of the statements of a class."""
    called: set[str] = field(default_factory=set)
    """Functions whose calls were looked for in the whole file."""
    _blocks: dict[int, Block] = field(default_factory=dict)

    def block(self, node: Node, owner: Node) -> Block:
        found = self._blocks.get(node.id)
        if found is None:
            found = self._blocks[node.id] = Block(node, owner)
        return found

    def forget(self) -> None:
        """Let go of what was worked out: it refers back to the file, and would wait for the garbage collector."""
        self.known.clear()
        self._blocks.clear()

    @property
    def end(self) -> Frame:
        """The module, seen from its end."""
        block = self.block(self.root, self.root)
        return Frame(block, len(block.statements), None, self)


@dataclass(frozen=True, slots=True)
class Frame:
    """One block on the way down to a statement."""

    block: Block
    index: int
    """Of the statement that the way down goes through."""
    outer: Frame | None
    file: File


@dataclass(frozen=True, slots=True)
class Place:
    """A statement and where it stands."""

    node: Node
    frame: Frame
    scope: tuple[str, ...]
    guard: tuple[str, ...]


DEFINITIONS = ("function_definition", "class_definition")


def find(
    file: File, wanted: Collection[str], words: Iterable[bytes], within: tuple[int, int] | None = None
) -> Iterator[Place]:
    """Every statement of a file whose type is `wanted`, in source order. Each holds one of the `words`.

    `within`: only where the word stands in this range of bytes.
    """
    offsets = _offsets(file.root, words)
    if within is not None:
        offsets = [at for at in offsets if within[0] <= at < within[1]]
    return _Search(wanted, offsets).block(file.end.block, None, (), (), file)


def find_inside(body: Frame, wanted: Collection[str], words: Iterable[bytes], nested: bool = False) -> Iterator[Place]:
    """The same in the body of one function or class; `nested`: also in the definitions nested in it."""
    search = _Search(wanted, _offsets(body.block.owner, words), nested)
    return search.block(body.block, body.outer, (), (), body.file)


_UNDERSCORE = ord("_")


def _offsets(node: Node, words: Iterable[bytes]) -> list[int]:
    source, start = node.text or b"", node.start_byte
    offsets = []
    for word in words:
        at = source.find(word)
        while at >= 0:
            if not at or not (source[at - 1 : at].isalnum() or source[at - 1] == _UNDERSCORE):
                offsets.append(at + start)
            at = source.find(word, at + len(word))
    return sorted(offsets)


DEEPEST = 150
"""Levels of blocks that are kept apart. Python itself allows 100; more are the ruins of a broken file."""


@dataclass(slots=True)
class _Search:
    wanted: Collection[str]
    offsets: list[int]
    nested: bool = True
    depth: int = 0

    def holds(self, node: Node) -> bool:
        first = bisect_left(self.offsets, node.start_byte)
        return first < len(self.offsets) and self.offsets[first] < node.end_byte

    def block(
        self, block: Block, outer: Frame | None, scope: tuple[str, ...], guard: tuple[str, ...], file: File
    ) -> Iterator[Place]:
        for index, statement in enumerate(block.statements if self.offsets else ()):
            if self.holds(statement):
                yield from self.statement(statement, Frame(block, index, outer, file), scope, guard)

    def statement(self, node: Node, frame: Frame, scope: tuple[str, ...], guard: tuple[str, ...]) -> Iterator[Place]:
        kind = node.type
        if kind in self.wanted:
            yield Place(node, frame, scope, guard)
        elif self.depth >= DEEPEST:
            yield from (Place(below, frame, scope, guard) for below in descendants(node) if below.type in self.wanted)
        elif kind in DEFINITIONS:
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if self.nested and body is not None:
                self.depth += 1
                inside = (*scope, text(name) if name else "?")
                yield from self.block(frame.file.block(body, node), frame, inside, (), frame.file)
                self.depth -= 1
        elif kind == "decorated_definition":
            if definition := node.child_by_field_name("definition"):
                yield from self.statement(definition, frame, scope, guard)
        elif kind in _CLAUSES or node.has_error:
            self.depth += 1
            if kind == "case_clause":
                guard = (*guard, *case(node, frame.block.owner))
            for child in node.children:
                if self.holds(child):
                    yield from self.clause(child, node, frame, scope, guard)
            self.depth -= 1

    def clause(
        self, child: Node, parent: Node, frame: Frame, scope: tuple[str, ...], guard: tuple[str, ...]
    ) -> Iterator[Place]:
        if child.type == "block":
            conditions = (*guard, *entered(parent))
            yield from self.block(frame.file.block(child, parent), frame, scope, conditions, frame.file)
        elif child.type in _CLAUSES:
            if child.type == "else_clause":
                guard = (*guard, *refuted(parent))
            for part in child.children:
                if self.holds(part):
                    yield from self.clause(part, child, frame, scope, guard)
        elif child.type in self.wanted or parent.has_error:
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
