"""The blocks of a module: which statement stands in which scope, under which conditions, after what.

Only the parts of a tree that hold the wanted statements are entered: most of a file holds none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from tracker.harvest.grammar import descendants, parse, text
from tracker.harvest.guards import case, entered, refuted
from tracker.harvest.outline import divide

DEFINITIONS = ("function_definition", "class_definition")
_WITH_DECORATED = (*DEFINITIONS, "decorated_definition")


class Misread(Exception):
    """A file cannot be taken apart by its lines: it has to be parsed as a whole."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A definition of a module that is parsed only if somebody asks for it."""

    name: str
    start_byte: int
    end_byte: int

    def read(self, source: bytes) -> Node:
        """The definition. Misread: it is not the one that its lines promised."""
        root = parse(source, [(self.start_byte, self.end_byte)])
        found = [child for child in root.children if child.type in _WITH_DECORATED]
        rest = {child.type for child in root.children} - {*_WITH_DECORATED, "comment", "expression_statement"}
        if root.has_error or len(found) != 1 or rest:
            raise Misread
        return found[0]


class Block:
    """The statements of one block, and which of them bind which name (worked out when first asked for)."""

    __slots__ = ("_bindings", "_source", "_statements", "owner")

    def __init__(self, statements: Sequence[Node | Unread], owner: Node, source: bytes = b"") -> None:
        self._statements = list(statements)
        self._source = source
        self.owner = owner
        """The module, class, function or clause whose block this is."""
        self._bindings: dict[str, list[int]] | None = None

    def __len__(self) -> int:
        return len(self._statements)

    def at(self, index: int) -> Node:
        """The statement with this index. Misread: as of `Unread`."""
        statement = self._statements[index]
        if isinstance(statement, Unread):
            statement = self._statements[index] = statement.read(self._source)
        return statement

    def holding(self, offsets: Sequence[int]) -> Iterator[tuple[int, Node]]:
        """The statements within which one of the offsets lies, with their indexes."""
        for index, statement in enumerate(self._statements if offsets else ()):
            if _holds(statement, offsets):
                yield index, self.at(index)

    def bindings(self, binds: Callable[[Node], set[str]]) -> Mapping[str, Sequence[int]]:
        """Name -> indexes of the statements that bind it, as `binds` tells."""
        if self._bindings is None:
            self._bindings = {}
            for index, statement in enumerate(self._statements):
                for name in (statement.name,) if isinstance(statement, Unread) else binds(statement):
                    self._bindings.setdefault(name, []).append(index)
        return self._bindings


@dataclass(frozen=True, slots=True)
class File:
    """One parsed file, and what was worked out about it so far."""

    path: str
    source: bytes
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

    @classmethod
    def whole(cls, path: str, source: bytes) -> File:
        return cls(path, source, parse(source))

    @classmethod
    def sparse(cls, path: str, source: bytes, words: Sequence[bytes] = ()) -> File:
        """The same, definitions that hold none of the words left unread until they are asked for: most of a file.

        Misread: parts of it are not what their lines promise.
        """
        divided = divide(source, words)
        if divided is None:
            raise Misread
        read, left = divided
        file = cls(path, source, parse(source, read))
        if file.root.has_error:
            raise Misread
        statements: list[Node | Unread] = [*file.root.children, *(Unread(*one) for one in left)]
        statements.sort(key=lambda statement: statement.start_byte)
        file._blocks[file.root.id] = Block(statements, file.root, source)
        return file

    def block(self, node: Node, owner: Node) -> Block:
        found = self._blocks.get(node.id)
        if found is None:
            found = self._blocks[node.id] = Block(node.children, owner)
        return found

    def forget(self) -> None:
        """Let go of what was worked out: it refers back to the file, and would wait for the garbage collector."""
        self.known.clear()
        self._blocks.clear()

    @property
    def end(self) -> Frame:
        """The module, seen from its end."""
        block = self.block(self.root, self.root)
        return Frame(block, len(block), None, self)


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


def find(
    file: File, wanted: Collection[str], words: Iterable[bytes], within: tuple[int, int] | None = None
) -> Iterator[Place]:
    """Every statement of a file whose type is `wanted`, in source order. Each holds one of the `words`.

    `within`: only where the word stands in this range of bytes.
    """
    offsets = _offsets(file.source, 0, words)
    if within is not None:
        offsets = [at for at in offsets if within[0] <= at < within[1]]
    return _Search(wanted, offsets).block(file.end.block, None, (), (), file)


def find_inside(body: Frame, wanted: Collection[str], words: Iterable[bytes], nested: bool = False) -> Iterator[Place]:
    """The same in the body of one function or class; `nested`: also in the definitions nested in it."""
    owner = body.block.owner
    search = _Search(wanted, _offsets(owner.text or b"", owner.start_byte, words), nested)
    return search.block(body.block, body.outer, (), (), body.file)


_UNDERSCORE = ord("_")


def _offsets(source: bytes, start: int, words: Iterable[bytes]) -> list[int]:
    """Where a word stands in a piece of source, counted from `start`."""
    offsets = []
    for word in words:
        at = source.find(word)
        while at >= 0:
            if not at or not (source[at - 1 : at].isalnum() or source[at - 1] == _UNDERSCORE):
                offsets.append(at + start)
            at = source.find(word, at + len(word))
    return sorted(offsets)


def _holds(node: Node | Unread, offsets: Sequence[int]) -> bool:
    first = bisect_left(offsets, node.start_byte)
    return first < len(offsets) and offsets[first] < node.end_byte


DEEPEST = 150
"""Levels of blocks that are kept apart. Python itself allows 100; more are the ruins of a broken file."""


@dataclass(slots=True)
class _Search:
    wanted: Collection[str]
    offsets: list[int]
    nested: bool = True
    depth: int = 0

    def block(
        self, block: Block, outer: Frame | None, scope: tuple[str, ...], guard: tuple[str, ...], file: File
    ) -> Iterator[Place]:
        for index, statement in block.holding(self.offsets):
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
                if _holds(child, self.offsets):
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
                if _holds(part, self.offsets):
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
