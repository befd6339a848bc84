"""Sources of a small library, as one revision that errors are looked up in."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping

import pytest

from tracker.harvest.sites import harvest
from tracker.lookup.paste import read
from tracker.lookup.rank import Ranker
from tracker.lookup.verdict import Judged, judge
from tracker.model import Revision, Snapshot

LIBRARY = {
    "pkg/_src/core.py": """
        class Shape:
            def check(self, x, axis):
                if axis > 3:
                    raise ValueError(f"axis {axis} does not exist in an array of shape {x.shape}")
                raise TypeError("shapes must be tuples of integers.")

        def first(x, name):
            raise TypeError(f"{name} needs one array at least, got {x}")

        def second(x, name):
            raise TypeError(f"{name} needs one array at least, got {x}")

        def quoted(x):
            raise TypeError(f"Argument '{x}' of type {type(x)} cannot be traced")

        def unquoted(x):
            raise TypeError(f"Argument {x} of type {type(x)} cannot be traced by anyone")

        def prefix(x):
            raise FloatingPointError(f"invalid value (nan) met in {x}")

        def longer(x):
            raise FloatingPointError(f"invalid value (nan) met in {x}. The function was compiled without checks")

        def silent(x):
            if x:
                raise NotImplementedError
            raise make_error(x)

        def wrapped(spec):
            raise ValueError(
                "the layout of the output is not known before "
                f"compilation: got {spec}; pass out_layout=... instead"
            )

        def inner(tree):
            raise ValueError(f"{tree} must have identical types, got\\n{tree}.")

        def rule(x):
            raise KeyReuse(f"rule\\n----------------------\\nis broken by {x}")

        def attribute(module, name):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")

        def faint(x):
            raise ValueError(f"bad rank: {x}")

        def brackets(x):
            raise ValueError(f"use x.at[...].set(y) and not {x}")
    """,
    "pkg/_src/tree.py": """
        def leaves(tree):
            return [flatten_up_to(t) for t in tree]
    """,
}


def ranker(library: Mapping[str, str] = LIBRARY) -> Ranker:
    sites = []
    for path, source in library.items():
        found = harvest(path, textwrap.dedent(source).encode())
        assert found.problem is None
        sites += found.sites
    revision = Revision(name="v1", commit="0" * 40, committed_at="2026-01-01T00:00:00+00:00")
    return Ranker(Snapshot(revision=revision, sites=tuple(sites), files=tuple(library)), {})


@pytest.fixture(scope="session")
def ask() -> Callable[[str], list[Judged]]:
    """A paste -> the verdicts on its errors in the library."""
    library = ranker()
    return lambda text: [judge(error, library) for error in read(text).errors]


@pytest.fixture(scope="session")
def line() -> Callable[[str], int]:
    """The line of the library's core on which a text stands."""
    lines = textwrap.dedent(LIBRARY["pkg/_src/core.py"]).split("\n")

    def of(text: str) -> int:
        (found,) = [n for n, there in enumerate(lines, 1) if text in there]
        return found

    return of
