"""Which files of a repository are in scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tracker.errors import ConfigError

if TYPE_CHECKING:
    import pathspec


def scope(paths: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Whether `paths` match a path and `exclude` does not. ConfigError: a glob that is none."""
    wanted, unwanted = globs(paths), globs(exclude)

    @cache
    def in_scope(path: str) -> bool:
        return wanted.match_file(path) and not unwanted.match_file(path)

    return in_scope


def globs(patterns: Sequence[str]) -> pathspec.GitIgnoreSpec:
    """Globs from the root of the repository -> what matches one of them. ConfigError: one is no glob."""
    import pathspec  # a run that finds nothing new does without

    try:
        return pathspec.GitIgnoreSpec.from_lines("/" + pattern.removeprefix("./").lstrip("/") for pattern in patterns)
    except ValueError as error:
        raise ConfigError(f"[upstream] paths and exclude: not a glob: {error}") from error
