"""Dotted names -> whether the source at a revision has them, as far as that can be read off it. Nothing is run.

Only this module knows griffe. A name counts as gone where every way to it can be seen and none leads there: what may be
made while the program runs (`__getattr__`, `setattr`, attributes of values), or by another package, is not judged.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

from griffe import Alias, Class, ExprCall, ExprDict, ExprName, ExprTuple, Function, Module, visit

_DYNAMIC = re.compile(rb"\b(?:globals|vars|setattr|exec|import_module)\s*\(|sys\.modules|__dict__")
_QUOTED = re.compile(r"""^[rRuU]?(['"])(.*)\1$""", re.DOTALL)
_FURTHEST = 40
"""Aliases that are followed one after the other; more are a circle."""


class State(Enum):
    """What can be said of a name."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was found of a name, and why nothing was."""

    state: State
    reason: str = ""


_THERE = Verdict(state=State.THERE)


def _unknown(reason: str) -> Verdict:
    return Verdict(state=State.UNKNOWN, reason=reason)


class Api:
    """The packages of one revision; their modules are read when they are asked for."""

    def __init__(self, files: Iterable[str], read: Callable[[str], bytes], scope: Iterable[str]) -> None:
        """`files` are all Python files of the revision; its packages are those that hold a file of `scope`."""
        self._files = frozenset(files)
        self._read = read
        self._folders = {parent.as_posix() for file in self._files for parent in Path(file).parents}
        self._roots = self._found(scope)
        self._trees: dict[str, Module | None] = {}

    @property
    def roots(self) -> frozenset[str]:
        """The names of the packages."""
        return frozenset(self._roots)

    def look_up(self, name: str) -> Verdict:
        """What can be said of a dotted name that begins with one of the packages."""
        root, *rest = name.split(".")
        if root not in self._roots:
            return _unknown("of another package")
        return self._of_module(root, tuple(rest), 0)

    def _found(self, scope: Iterable[str]) -> Mapping[str, str]:
        """Package -> the folder that it is in, with a slash where there is one."""
        roots = {}
        for file in scope:
            folder = Path(file).parent
            package = None
            while f"{folder.as_posix()}/__init__.py" in self._files:
                package, folder = folder, folder.parent
            if package is not None:
                roots[package.name] = f"{folder.as_posix()}/" if folder.name else ""
        return roots

    def _of_module(self, module: str, names: tuple[str, ...], depth: int) -> Verdict:
        """What a module has under `names`, one inside the other."""
        if not names:
            return _THERE
        if depth > _FURTHEST:
            return _unknown("imports in a circle")
        name, *more = names
        rest = tuple(more)
        file = self._file(module)
        tree = self._tree(module, file) if file is not None else None
        member = tree.members.get(name) if tree is not None else None
        if member is not None and member.runtime:
            if not rest:
                return _THERE
            if isinstance(member, Alias):
                return self._of_alias(member.target_path, rest, depth)
            if isinstance(member, Class):
                return _THERE if len(rest) == 1 and rest[0] in member.members else _unknown("of a class")
            return _unknown("of a function" if isinstance(member, Function) else "of a value")
        inner = f"{module}.{name}"
        if self._file(inner) is not None or self._path(inner) in self._folders:
            return self._of_module(inner, rest, depth + 1)
        if f"{self._path(inner)}.pyi" in self._files:
            return _unknown("of a compiled module") if rest else _THERE
        if name.startswith("__") and name.endswith("__"):
            return _THERE
        if file is None or tree is None:
            return _unknown("its module cannot be read")
        return self._beyond(tree, file, module, names, depth)

    def _beyond(self, tree: Module, file: str, module: str, names: tuple[str, ...], depth: int) -> Verdict:
        """A name that a module does not simply define: star imports, deprecation tables, what is made at run time."""
        name = names[0]
        for alias in (member for member in tree.members.values() if isinstance(member, Alias) and member.wildcard):
            found = self._of_alias(alias.target_path, names, depth)
            if found.state is not State.GONE:
                return found
        if "__getattr__" in tree.members:
            table = _table(tree)
            if table is None:
                return _unknown("its module answers for names by itself")
            if name in table:
                gone = table[name]
                return _THERE if gone is None else Verdict(state=State.GONE, reason=gone or f"{module} took {name} out")
        source = self._read(file)
        if _DYNAMIC.search(source):
            return _unknown("its module makes names while it runs")
        if name in _words(source):
            return _unknown("its module has the word for something")
        return Verdict(state=State.GONE, reason=f"{module} has no {name}")

    def _of_alias(self, target: str, names: tuple[str, ...], depth: int) -> Verdict:
        """What stands under `names` in that which an import names."""
        root, *path = target.split(".")
        if root not in self._roots:
            return _unknown("of another package")
        if self._of_module(root, tuple(path), depth + 1).state is not State.THERE:
            return _unknown("of an import that leads elsewhere")
        return self._of_module(root, (*path, *names), depth + 1)

    def _path(self, module: str) -> str:
        root = module.partition(".")[0]
        return self._roots[root] + module.replace(".", "/")

    def _file(self, module: str) -> str | None:
        path = self._path(module)
        return next((file for file in (f"{path}/__init__.py", f"{path}.py") if file in self._files), None)

    def _tree(self, module: str, file: str) -> Module | None:
        """The module's names; None where this Python does not understand its source."""
        if module not in self._trees:
            try:
                code = self._read(file).decode("utf-8-sig")
                *parents, name = module.split(".")
                self._trees[module] = visit(name, Path(file), code, parent=self._parent(parents))
            except (SyntaxError, ValueError, RecursionError):
                self._trees[module] = None
        return self._trees[module]

    def _parent(self, names: Sequence[str]) -> Module | None:
        """The packages around a module, without their names: relative imports are read from there."""
        parent = None
        for n, name in enumerate(names, 1):
            path = Path(self._path(".".join(names[:n]))) / "__init__.py"
            parent = Module(name, filepath=path, parent=parent)
        return parent


@lru_cache(maxsize=256)
def _words(source: bytes) -> frozenset[str]:
    """Every name in a module's code, and every string that could be one: in which ways a name is bound is no matter."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        for _, value in ast.iter_fields(node):
            for word in value if isinstance(value, list) else [value]:
                if isinstance(word, str) and word.isidentifier():
                    found.add(word)
    return frozenset(found)


def _table(tree: Module) -> dict[str, str | None] | None:
    """The deprecation table that makes a module's `__getattr__`: name -> None, or what is said now that it is gone.

    `__getattr__ = f(__name__, TABLE)`, where TABLE is `{"name": ("what to say", value or None)}`. None: something else.
    """
    hook = tree.members["__getattr__"]
    value = getattr(hook, "value", None) if not isinstance(hook, Alias) else None
    if not isinstance(value, ExprCall) or len(value.arguments) != 2:
        return None
    named, given = value.arguments
    if not isinstance(named, ExprName) or named.name != "__name__" or not isinstance(given, ExprName):
        return None
    table = getattr(tree.members.get(given.name), "value", None)
    if not isinstance(table, ExprDict):
        return None
    found: dict[str, str | None] = {}
    for key, entry in zip(table.keys, table.values, strict=True):
        quoted = _QUOTED.match(str(key))
        if quoted is None or not isinstance(entry, ExprTuple) or len(entry.elements) != 2:
            return None
        said, instead = map(str, entry.elements)
        found[quoted[2]] = (words[2] if (words := _QUOTED.match(said)) else "") if instead == "None" else None
    return found
