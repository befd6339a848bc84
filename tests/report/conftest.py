"""One report that shows everything a report can hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracker.model import (
    Cause,
    Coverage,
    Drift,
    Excerpt,
    Form,
    Kind,
    Milestone,
    Report,
    Revision,
    Site,
    Summary,
    Unlocated,
)


def site(line: int = 10, **changes: object) -> Site:
    facts = {
        "path": "pkg/a.py",
        "line": line,
        "end_line": line,
        "scope": "f",
        "exception": "ValueError",
        "message": "x must be a tuple, got {x}",
        "form": Form.FSTRING,
        "guard": ("if not x",),
    }
    return Site(**{**facts, **changes})  # type: ignore[arg-type]


def drift(*kinds: Kind, entry: str | None = "0123456789abcdef", **changes: object) -> Drift:
    facts = {"before": site(), "after": site(12), "origin": "1" * 40}
    return Drift(entry=entry, kinds=frozenset(kinds), **{**facts, **changes})  # type: ignore[arg-type]


@pytest.fixture
def report() -> Report:
    cause = Cause(commit="c" * 40, author="Ada", date="2026-09-03", subject="Say list", pull_request=123)
    return Report(
        repository="a/b",
        base=Revision(name="v1", commit="1" * 40, committed_at="2026-08-17T10:00:00+00:00"),
        target=Revision(name="v2", commit="2" * 40, committed_at="2026-10-20T10:00:00+00:00"),
        files=(("pkg/a.py", "pkg/b.py"), ("pkg/a.py", "pkg/c.py")),
        coverage=(Coverage(files=2, sites=7, with_message=6), Coverage(files=2, sites=8, with_message=8)),
        partial={"pkg/c.py": "has syntax that is not understood at line 3"},
        tracked="pages",
        summary=Summary(checked=7, unchanged=1, differing=5, kinds=dict.fromkeys(Kind, 1) | {Kind.MOVED: 2}),
        drifts=(
            drift(
                Kind.REWORDED,
                Kind.MOVED,
                after=site(12, message="x must be a list, got {x}"),
                score=0.8,
                runner_up=0.5,
                cause=cause,
                excerpts=(
                    Excerpt(
                        line=9,
                        lines=("  if not x:", '    raise ValueError(f"x must be a tuple, got {x}")', "  return x"),
                    ),
                    Excerpt(line=11, lines=("  if not x:", '    raise ValueError(f"x must be a list, {x}")')),
                ),
            ),
            drift(Kind.REMOVED, after=None, certain=False, possible=site(33, message="x is no tuple"), runner_up=0.5),
            drift(Kind.RETYPED, Kind.RELOCATED, after=site(3, path="pkg/c.py", exception="TypeError")),
            drift(Kind.GUARD_CHANGED, after=site(guard=("if not x and y",))),
            drift(Kind.PLACEHOLDER_CHANGED, after=site(message="x must be a tuple, got {x!r}"), entry="f" * 16),
            drift(Kind.MOVED, Kind.EXCERPT_CHANGED),
            drift(
                Kind.NEW,
                entry=None,
                before=None,
                origin="",
                after=site(40, message=None, exception=None),
                cause=replace(cause, commit="3" * 40, date="2026-10-02", pull_request=None),
            ),
        ),
        unlocated=(Unlocated(entry="e" * 16, reason="pkg/a.py raises no KeyError with this message at v1"),),
        pages={"0123456789abcdef": "one.txt", "f" * 16: "two.txt", "e" * 16: "three.txt"},
        notices=("between v1 and v2: 1 new error",),
        web="https://github.com/a/b",
        milestones=(
            Milestone(version="0.9", date="2026-08-17", commit="1" * 40, upstream="9" * 40),
            Milestone(version="1.0", date="2026-09-20", commit="4" * 40, upstream="4" * 40),
        ),
    )
