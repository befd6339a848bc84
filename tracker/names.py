"""Whether a dotted name exists in the source of a revision, told without running any of it.

griffe reads the modules; what it cannot follow is unknown, never missing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tracker.model import Revision
from tracker.snapshots import Sources

if TYPE_CHECKING:
    from griffe import Alias, Module, Object


class Names:
    """The public names of a package at one revision; its modules are read when first asked for."""

    def __init__(self, sources: Sources, revision: Revision, package: str) -> None:
        self._sources, self._revision, self._package = sources, revision, package

    def has(self, name: str) -> bool | None:
        """Whether the name is there; None where the source alone does not tell."""
        root = self._root
        if root is None:
            return None
        return _has(root, name.split(".")[1:])

    @cached_property
    def _root(self) -> Module | None:
        """The package as griffe sees it; None where it cannot be read."""
        import griffe

        with tempfile.TemporaryDirectory() as folder:
            for file in self._sources.files(self._revision):
                place = Path(folder, file.path)
                if not place.resolve().is_relative_to(Path(folder).resolve()):
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                lines = self._sources.lines(self._revision, file.path)
                place.write_text("\n".join(lines), encoding="utf-8", errors="replace")
            with suppress(griffe.GriffeError, ImportError, OSError, SyntaxError):
                loader = griffe.GriffeLoader(search_paths=[folder], allow_inspection=False)
                loaded = loader.load(self._package)
                loader.resolve_aliases(implicit=False, external=False)
                return loaded if isinstance(loaded, griffe.Module) else None
        return None


def _has(found: Object | Alias, rest: Sequence[str]) -> bool | None:
    from griffe import Alias, AliasResolutionError, CyclicAliasError

    for name in rest:
        holder = found
        while isinstance(holder, Alias):
            try:
                holder = holder.final_target
            except (AliasResolutionError, CyclicAliasError):
                return None
        if not (holder.is_module or holder.is_class):
            return None
        member = holder.members.get(name)
        if member is None:
            # Names can come from `__getattr__`, from a star, from a base class or from a decorator.
            loose = "__getattr__" in holder.members or any("*" in one for one in holder.members)
            return False if holder.is_module and not loose else None
        found = member
    return True
