"""A module cut into its top-level statements by plain bytes: which of them bind which names. Nothing is parsed.

It may find more names than Python would, never fewer: what is taken along needlessly costs time, what is missing
would change an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

_HEAD = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_TOP = re.compile(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)(?=[ \t]*[(:\[])", re.MULTILINE)
_CLASS = re.compile(rb"(?:@[^\n]*\n)*class\b[^\n]*:[ \t]*(?:#[^\n]*)?\n(?=(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]+))")
_SET = re.compile(rb"\bself\.(\w+)[ \t]*(?::[^=\n]*)?=(?!=)")
_FIRST = rb"(?!else\b|elif\b|except\b|finally\b)[^\s#)\]}]"
"""What a line begins with that is the first of a statement."""
_IMPORT = re.compile(rb"(?:from[ \t]+([.\w]+)[ \t]+)?import\b[ \t]*\(?")
_IMPORTED = re.compile(rb"([.\w]+)(?:[ \t\n\\]+as[ \t\n\\]+(\w+))?")
_COMMENT = re.compile(rb"#[^\n]*")
_WORD = re.compile(rb"[^\W\d\x80-\xff][\w\x80-\xff]*|[\x80-\xff][\w\x80-\xff]*")
_COMPOUND = re.compile(rb"(?:if|try|for|while|with|match)\b")
_CHAINED = re.compile(rb"=(?!=)")

Statement = tuple[int, bytes]
"""Where it begins in its segment, and its source; of an import, as much of it as speaks of one name."""
Names = Mapping[bytes, tuple[Statement, ...]]
"""Name -> the statements that bind it, in order."""


@dataclass(slots=True, eq=False)
class Segment:
    """A top-level definition with what follows up to the next one; or what stands before the first."""

    data: bytes
    lines: int
    raises: bool
    """Whether it can hold a site."""
    quotes: int
    """Bits: whether it opens (or closes) one long string more than it closes, of either kind of quotes."""
    only: str | None
    """The one definition that all of its sites stand in; None where others can be in it."""
    _names: Names | None = field(default=None, repr=False)

    @property
    def names(self) -> Names:
        """What it binds (worked out when first asked for)."""
        if self._names is None:
            self._names = _names(self.data)
        return self._names

    def binds(self, name: bytes) -> bool:
        """Whether one of its statements binds a name; most segments do not even hold it."""
        return name in self.data and name in self.names


def segment(data: bytes, words: tuple[bytes, ...]) -> Segment:
    """A piece of a module, cut at its top-level definitions."""
    quotes = data.count(b'"""') % 2 + data.count(b"'''") % 2 * 2
    raises = any(word in data for word in words)
    return Segment(data, data.count(b"\n"), raises, quotes, _only(data, words) if raises else None)


def _only(data: bytes, words: tuple[bytes, ...]) -> str | None:
    top = _TOP.search(data)
    if top is None:
        return None
    behind = _first_of(b"").search(data, top.end())
    is_alone = behind is None or all(data.find(word, behind.start()) < 0 for word in words)
    return top[1].decode() if is_alone else None


def _names(data: bytes) -> Names:
    found: dict[bytes, tuple[Statement, ...]] = {}
    for start, stop, begins in _statements(data):
        statement = data[start:stop]
        bound = dict(_bound(statement))
        # What looks like statements inside of a string may be some, where a quote in a comment misled.
        bound |= {name: statement for at in begins[1:] for name, _ in _bound(data[at:stop])}
        for name, said in bound.items():
            found[name] = (*found.get(name, ()), (start, said))
    return found


@cache
def _first_of(indent: bytes) -> re.Pattern[bytes]:
    """The first of a statement in a block that is indented like this."""
    return re.compile(b"\n" + indent + _FIRST)


def _begins(data: bytes, start: int, indent: bytes) -> Iterator[tuple[int, bool]]:
    """Where lines begin that look like the first of a statement, and whether they stand inside of a long string."""
    counted = start
    single = double = 0
    if not start and re.match(_FIRST, data):
        yield 0, False
    for match in _first_of(indent).finditer(data, max(0, start - 1)):
        at = match.start() + 1
        single += data.count(b"'''", counted, at)
        double += data.count(b'"""', counted, at)
        counted = at
        yield at, bool(single % 2 or double % 2)


def _statements(data: bytes, start: int = 0, indent: bytes = b"") -> Iterator[tuple[int, int, Sequence[int]]]:
    """Start and end of each statement, and where lines begin in it that look like the first of one."""
    begins: list[int] = []
    decorates = False
    for at, inside in _begins(data, start, indent):
        if not inside:
            if begins and not decorates:
                yield begins[0], at, begins
                begins = []
            decorates = data.startswith(b"@", at + len(indent)) and (decorates or not begins)
        if begins or not inside:
            begins.append(at)
    if begins:
        yield begins[0], len(data), begins


@dataclass(frozen=True, slots=True)
class Class:
    """A segment that is one class, cut at the statements of its body."""

    name: str
    head: bytes
    statements: Sequence[bytes]
    names: Sequence[frozenset[bytes]]
    """What each statement may bind, attributes that a method sets included."""
    lines: Sequence[int]
    """How many lines of the segment stand before each statement."""

    def method(self, n: int) -> str | None:
        """The name of the definition that a statement is; None where it is another statement."""
        statement = self.statements[n].lstrip()
        head = _HEAD.search(statement) if statement.startswith((b"def ", b"@", b"async ", b"class ")) else None
        return f"{self.name}.{head[1].decode()}" if head is not None else None


def class_of(data: bytes, words: tuple[bytes, ...]) -> Class | None:
    """A segment as a class; None where it is none, or where more than its body can hold sites."""
    first = _CLASS.match(data)
    if first is None:
        return None
    end = next((at for at, inside in _begins(data, first.end(), b"") if not inside), len(data))
    body, indent = data[:end], first[1]
    cuts = list(_statements(body, first.end(), indent))
    if not cuts or any(word in data[: cuts[0][0]] or word in data[end:] for word in words):
        return None
    statements = [body[start:stop] for start, stop, _ in cuts]
    lines = [data.count(b"\n", 0, cuts[0][0])]
    for statement in statements[:-1]:
        lines.append(lines[-1] + statement.count(b"\n"))
    names = [
        _members(body[start:stop], tuple(at - start for at in begins), len(indent)) for start, stop, begins in cuts
    ]
    head = data[: cuts[0][0]]
    named = _HEAD.search(head)
    return Class(named[1].decode() if named else "", head, statements, names, lines)


@lru_cache(maxsize=8192)
def _members(statement: bytes, begins: Sequence[int], indent: int) -> frozenset[bytes]:
    """What a statement in the body of a class binds. From version to version, most of them stay."""
    bound = (name for at in begins for name, _ in _bound(statement[at + indent :]))
    return frozenset(bound).union(_SET.findall(statement))


def _bound(statement: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The names that a statement may bind, each with the source that says so."""
    if head := _HEAD.match(statement) or (_HEAD.search(statement) if statement.startswith(b"@") else None):
        yield head[1], statement
        return
    if imports := _IMPORT.match(statement):
        module = imports[1]
        for name, alias in _IMPORTED.findall(_COMMENT.sub(b"", statement[imports.end() :])):
            said = b"import " + name if module is None else b"from " + module + b" import " + name
            # What one import statement says of other names is nothing to this one.
            yield (
                alias or (name.partition(b".")[0] if module is None else name),
                (said + (b" as " + alias if alias else b"") + b"\n"),
            )
        return
    if _COMPOUND.match(statement):
        names = statement
    else:
        line = statement.partition(b"\n")[0]
        assigned = [match.start() for match in _CHAINED.finditer(line)]
        names = line[: assigned[-1]] if assigned else line.partition(b"(")[0]
    for name in set(_WORD.findall(names)):
        yield name, statement
