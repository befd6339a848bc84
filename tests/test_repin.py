"""Pages repinned to any later source: then nothing drifts, nothing more changes, and no other byte was touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.conftest import Repository
from tests.support import page as written
from tracker.catalogue.page import Page, parse, render
from tracker.check import check_entries
from tracker.message import split
from tracker.model import Drift, Entry, Kind, Report
from tracker.repin import MECHANICAL, Ending, Plan, Target, plan
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import resolve
from tracker.snapshots import Sources

WORDS = ("axis", "shape", "dtype", "device", "operand", "index", "mesh", "tracer", "layout", "buffer")


@dataclass(frozen=True)
class Raised:
    """One function of the source with one raise statement; what hypothesis makes up, and then changes."""

    name: str
    guard: str
    exception: str
    message: str
    padding: int = 0
    gone: bool = False

    @property
    def source(self) -> str:
        lines = [f"def {self.name}(x, y):"]
        lines += ["", *(f"    step_{n} = {n}" for n in range(self.padding))]
        if self.gone:
            return "\n".join([*lines, "    return x", "", ""])
        quoted = "f" + repr(self.message) if "{" in self.message else repr(self.message)
        raised = f"raise {self.exception}({quoted})"
        if len(self.message) > 40:
            raised = f"raise {self.exception}(\n            {quoted}\n        )"
        return "\n".join([*lines, f"    if {self.guard}:", f"        {raised}", "    return y", "", ""])


def module(head: int, functions: list[Raised]) -> str:
    return "import os\n" + "\n" * head + "\n".join(function.source for function in functions) + STABLE


STABLE = "\n\ndef stable(x):\n    raise LookupError('nothing of the kind is here')\n"


@st.composite
def sources(draw: st.DrawFn) -> tuple[list[Raised], list[Raised], int, int, bool]:
    """A module, the same later, blank lines at the top of each, and whether the file has moved."""
    before, after = [], []
    for n in range(draw(st.integers(1, 4))):
        words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=12))
        holes = draw(st.sampled_from(["", " {x}", " {x!r} and {y}", " {{x}} of {y.shape}"]))
        text = f"{WORDS[n]} {' '.join(words)} is wrong{holes}"
        one = Raised(f"check_{n}", "x is None", "ValueError", text, draw(st.integers(0, 25)))
        before.append(one)
        change = draw(st.sampled_from(["none", "none", "pad", "rename", "hole", "guard", "reword", "retype", "gone"]))
        padding = draw(st.integers(0, 25)) if change == "pad" else one.padding
        after.append(
            Raised(
                name=one.name + "_now" if change == "rename" else one.name,
                guard="x is None and y" if change == "guard" else one.guard,
                exception="TypeError" if change == "retype" else one.exception,
                message={
                    "hole": text.replace("{x}", "{x.name}").replace("{y}", "{(y, 1)}"),
                    "reword": text.replace("is wrong", "cannot be right"),
                }.get(change, text),
                padding=padding,
                gone=change == "gone",
            )
        )
    return before, after, draw(st.integers(0, 3)), draw(st.integers(0, 3)), draw(st.booleans())


@st.composite
def habits(draw: st.DrawFn) -> dict[str, object]:
    """How the pages are written."""
    return {
        "cut": draw(st.booleans()),
        "anonymous": draw(st.booleans()),
        "end": draw(st.sampled_from(["\n", "\r\n"])),
        "final": draw(st.sampled_from(["", "\n", "\n\n"])),
        "mark": draw(st.sampled_from(["", "\ufeff"])),
        "odd": draw(st.sampled_from(["", "Prevention\n\nnull\n\n", "Example fix\n\nThrown at a.py:1\n\nSource\n\n"])),
        "short": draw(st.booleans()),
    }


class World:
    """A repository that grows, and what a catalogue of it becomes."""

    def __init__(self, folder: Path) -> None:
        self.upstream = Repository(folder / "upstream")
        self.mirror = Mirror(folder / "upstream" / ".git")

    def commit(self, path: str, source: str) -> str:
        files: dict[str, str | bytes | None] = {
            file.relative_to(self.upstream.path).as_posix(): None for file in self.upstream.path.glob("pkg/*.py")
        }
        return self.upstream.commit({**files, path: source})

    def report(self, pages: list[Page], commit: str) -> Report:
        revision = resolve(self.mirror, commit)
        entries = [page.entry for page in pages]
        known = {entry.pin: resolve(self.mirror, entry.pin) for entry in entries}
        return check_entries(Sources(self.mirror, ["pkg/*.py"]), entries, revision, None, known, "a/b")

    def plan(self, pages: list[Page], commit: str, accepted: set[str]) -> Plan:
        sources = Sources(self.mirror, ["pkg/*.py"])
        revision = resolve(self.mirror, commit)

        def origin(entry: Entry) -> list[str]:
            return sources.lines(resolve(self.mirror, entry.pin), entry.path)

        def ending(page: Page, drift: Drift) -> Ending:
            return Ending(commit=commit, date="2026-01-02", known=True, last="demo 1", first="demo 2")

        target = Target(commit=commit, date="2026-01-02", lines=lambda path: sources.lines(revision, path))
        return plan(pages, self.report(pages, commit), target, origin, accepted, ending)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("world"))
    yield made
    made.mirror.close()


def pages_of(source: str, commit: str, functions: list[Raised], habits: dict[str, object]) -> list[Page]:
    pages = []
    for n, one in enumerate(functions):
        line = next(
            number
            for number, text in enumerate(source.split("\n"), 1)
            if "raise " in text and source.split("\n")[number - 2] == f"    if {one.guard}:"
            and source[: source.index(f"def {one.name}(")].count("\n") < number
        )  # fmt: skip
        message = one.message
        if habits["anonymous"]:
            literals, _ = split(message)
            message = "{}".join(text.replace("{", "{{").replace("}", "}}") for text in literals)
        text = written(source, line, message=message, pin=commit, id=f"{n:016x}", cut=bool(habits["cut"]))
        if habits["short"]:
            lines = text.split("\n")
            view = next(i for i, line in enumerate(lines) if line.startswith("View on"))
            del lines[view - 2 : view - 1]
            text = "\n".join(lines)
        text = text.replace("When it happens", f"{habits['odd']}When it happens") + str(habits["final"])
        data = (str(habits["mark"]) + text.replace("\n", str(habits["end"]))).encode()
        pages.append(parse(data, f"{n}.txt"))
    return pages


def frame(page: Page) -> str:
    """The page without the facts that are the tracker's."""
    spans = sorted(span for fact, found in page.spans.items() if fact not in ("id", "retired") for span in found)
    text, at = "", 0
    for start, stop in spans:
        text, at = text + page.text[at:start] + "\0", stop
    return re.sub(r"(\r?\n){2}No longer raised [^\r\n]*", "", text + page.text[at:])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=sources(), habits=habits())
@example(
    source=(
        [Raised("a", "x is None", "ValueError", "axis {x} is wrong")],
        [Raised("a", "x is None", "ValueError", "axis {x.n} is wrong")], 0, 1, True,
    ),
    habits={"cut": True, "anonymous": False, "end": "\r\n", "final": "\n", "mark": "", "odd": "", "short": True},
)  # fmt: skip
def test_repinned_pages(world: World, source, habits):
    functions, later, head, head_later, elsewhere = source
    text = module(head, functions)
    base = world.commit("pkg/a.py", text)
    pages = pages_of(text, base, functions, habits)
    target = world.commit("pkg/b.py" if elsewhere else "pkg/a.py", module(head_later, later))

    report = world.report(pages, target)
    assert not report.unlocated
    drifts = {drift.entry: drift for drift in report.drifts if drift.entry}
    careful = world.plan(pages, target, set())
    meant = {entry for entry, drift in drifts.items() if drift.kinds - MECHANICAL}
    assert {one.page.entry.id for one in careful.waiting} == meant
    assert not careful.left
    assert {change.before.entry.id for change in careful.changes} == {page.entry.id for page in pages} - meant

    done = world.plan(pages, target, meant)
    assert not done.waiting
    assert not done.left
    assert {change.before.entry.id for change in done.changes if change.accepted} == meant
    after = [change.after for change in done.changes]
    assert [page.entry.id for page in after] == [page.entry.id for page in pages]
    again = world.report(after, target)
    assert [drift for drift in again.drifts if drift.entry] == []
    assert again.unlocated == ()
    assert again.summary.checked == len(pages)
    assert world.plan(after, target, meant).changes == []
    for change in done.changes:
        assert frame(change.before) == frame(change.after)
        removed = Kind.REMOVED in drifts[change.before.entry.id].kinds if change.before.entry.id in drifts else False
        assert bool(change.after.entry.retired) == removed
        assert render(parse(render(change.after), "x.txt")) == render(change.after)
        if not removed:
            assert (target.startswith(change.after.entry.pin), len(change.after.entry.pin)) == (True, 10)
