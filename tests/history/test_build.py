"""The tables are the same however they came to be: in one go, killed and resumed, bit by bit, in two processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.history.line import UPSTREAM, commit_all, index, rows, told
from tracker.errors import RevisionError
from tracker.harvest.sites import harvest
from tracker.history import batches, build
from tracker.history.follow import Follower
from tracker.repository.mirror import Mirror
from tracker.store.history import History
from tracker.store.recall import sites_at

BLOCKS = [
    'def f(x):\n    if x:\n        raise ValueError("the value x is bad")\n',
    'def f(x):\n    if not x:\n        raise ValueError("the value x is wrong")\n',
    'def g(y):\n    raise TypeError("no y was given at all")\n',
    "def g(y):\n" + '    if y:\n        raise TypeError("no y was given at all")\n' * 2,
    'TEXT = "a text of the module"\n',
    'TEXT = "another text of the module"\n',
    "def h():\n    raise ValueError(TEXT)\n",
    "def fail(text):\n    raise RuntimeError(text)\n",
    'def k():\n    fail("what the caller hands in")\n',
    'def l():\n    fail("what another one hands in")\n',
    "from m import A as B\n",
    "import n as B, o\n",
    "@B\ndef p():\n    raise B('what is wrong here')\n",
    "class C:\n    text = 'of the class'\n    def m(self):\n        raise E(self.text)\n"
    + "".join(
        f"    def q{n}(self):\n        return 'so long that it is read method by method {n}'\n" for n in range(30)
    ),
    "class C:\n    def m(self):\n        raise E(self.text)\n"
    "    def __init__(self):\n        self.text = 'set by a method'\n"
    + "".join(
        f"    def q{n}(self):\n        return 'so long that it is read method by method {n}'\n" for n in range(30)
    ),
    'X = """\ndef in_a_string():\n    raise KeyError("in a string")\n"""\n',
    'X = """\nA text\ndef in_a_string():\n    raise KeyError("in a string")\n\ndef more(): pass\n"""\n',
    "def r(:\n    raise KeyError('in a function that is not understood')\n",
    "if o:\n    raise OSError('at the level of the module')\n",
]
SOURCES = st.lists(st.sampled_from(BLOCKS), max_size=6).map("\n".join)
TREES = st.lists(
    st.dictionaries(st.sampled_from(["pkg/a.py", "pkg/b.py", "pkg/c/d.py"]), SOURCES, max_size=3),
    min_size=1,
    max_size=9,
)
LOOSE = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fresh(folder: Path) -> Path:
    """A folder for one example."""
    fresh.number += 1  # type: ignore[attr-defined]
    made = folder / str(fresh.number)  # type: ignore[attr-defined]
    made.mkdir()
    return made


fresh.number = 0  # type: ignore[attr-defined]


@LOOSE
@given(TREES)
def test_at_every_commit_the_index_says_what_the_files_say(tmp_path, trees):
    folder = fresh(tmp_path)
    commit_all(folder / "mirror", trees)
    index(folder / "mirror", folder / "history")
    with History.read(folder / "history") as history:
        for position, tree in enumerate(trees, 1):
            ours = sorted(said(site) for _, site in sites_at(history, position))
            theirs = [said(site) for path, text in tree.items() for site in harvest(path, text.encode()).sites]
            assert ours == sorted(theirs)


def said(site) -> tuple[str, ...]:
    return (site.path, site.scope, str(site.exception), *site.messages, *site.guard)


@LOOSE
@given(TREES, st.data())
def test_extended_bit_by_bit_is_in_one_go(tmp_path, trees, data):
    folder = fresh(tmp_path)
    commits = commit_all(folder / "mirror", trees)
    index(folder / "mirror", folder / "at once")
    for commit in commits:
        if commit == commits[-1] or data.draw(st.booleans()):
            point(folder / "mirror", commit)
            index(folder / "mirror", folder / "bit by bit")
    assert rows(folder / "bit by bit") == rows(folder / "at once")


@LOOSE
@given(TREES, TREES, st.data())
def test_after_a_rewritten_branch_nothing_of_the_old_one_is_left(tmp_path, trees, others, data):
    folder = fresh(tmp_path)
    commits = commit_all(folder / "mirror", trees)
    index(folder / "mirror", folder / "history")
    fork = data.draw(st.sampled_from([None, *commits]))
    commit_all(folder / "mirror", others, base=fork)
    index(folder / "mirror", folder / "history")
    index(folder / "mirror", folder / "fresh")
    assert told(folder / "history") == told(folder / "fresh")
    for table in ("commits", "errors", "releases"):
        assert rows(folder / "history").get(table) == rows(folder / "fresh").get(table)
    # And it goes on as well from there.
    more = [{**others[-1], "pkg/e.py": BLOCKS[0]}]
    commit_all(folder / "mirror", more, base=head(folder / "mirror"))
    index(folder / "mirror", folder / "history")
    index(folder / "mirror", folder / "fresh")
    assert told(folder / "history") == told(folder / "fresh")


def point(mirror: Path, commit: str) -> None:
    (mirror / "refs/heads/main").write_text(commit + "\n")


def head(mirror: Path) -> str:
    with Mirror.open(mirror) as opened:
        return str(opened.commit("refs/heads/main"))


STORY = [
    {"pkg/a.py": "\n".join([*(BLOCKS[n] for n in chosen), f"Y = {number}\n"])}
    for number, chosen in enumerate(
        [(0,), (0, 2), (1, 2), (1, 3, 6), (4, 1, 3, 6), (5, 6, 7, 8), (7, 9, 13), (14, 0), (12, 10)] * 3
    )
]


@pytest.fixture
def story(tmp_path, monkeypatch):
    """A history of 27 commits, indexed three commits at a time."""
    monkeypatch.setattr(batches, "BATCH", 3)
    commit_all(tmp_path / "mirror", STORY)
    index(tmp_path / "mirror", tmp_path / "at once")
    return tmp_path


KILLS = [
    (owner, name, after)
    for owner, name, many in (
        (Follower, "_take", 27),
        (History, "add", 9),
        (History, "set_releases", 1),
        (History, "make", 1),
    )
    for after in range(0, many, 3)
]


@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
def test_killed_and_resumed_is_in_one_go(story, behind):
    """A process that is killed in the middle of any step, of any transaction: what it did is there, or not."""
    wanted = rows(story / "at once", numbers=True)
    for owner, name, after in KILLS:
        to = story / f"{name} {after}"
        child = multiprocessing.get_context("fork").Process(
            target=_killed, args=(story / "mirror", to, owner, name, after, behind)
        )
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        index(story / "mirror", to)
        assert rows(to, numbers=True) == wanted, (name, after)


def _killed(mirror: Path, to: Path, owner: type, name: str, after: int, behind: bool) -> None:
    real = getattr(owner, name)
    calls = 0

    def mortal(*arguments, **named):
        nonlocal calls
        calls += 1
        if calls > after and not behind:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **named)
        if calls > after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, mortal)
    index(mirror, to)


def test_killed_again_and_again(story):
    to = story / "again"
    for after in range(1, 6):
        child = multiprocessing.get_context("fork").Process(
            target=_killed, args=(story / "mirror", to, Follower, "_take", after, True)
        )
        child.start()
        child.join()
    index(story / "mirror", to)
    assert rows(to) == rows(story / "at once")


def test_two_processes_make_the_same_tables(story, monkeypatch):
    monkeypatch.setattr(batches, "PARALLEL_FROM", 1)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as executor:
        index(story / "mirror", story / "two", executor=executor)
    assert rows(story / "two", numbers=True) == rows(story / "at once", numbers=True)


def test_nothing_new_writes_nothing(story):
    before = rows(story / "at once")
    assert index(story / "mirror", story / "at once").commits == 0
    assert rows(story / "at once") == before


def test_a_rewrite_behind_what_is_remembered_builds_anew(story, monkeypatch):
    monkeypatch.setattr(build, "UNDO", 5)
    index(story / "mirror", story / "history")
    commit_all(story / "mirror", STORY[:3])
    outcome = index(story / "mirror", story / "history")
    assert outcome.because == "upstream rewrote more than 5 commits"
    index(story / "mirror", story / "fresh")
    assert rows(story / "history") == rows(story / "fresh")


def test_another_scope_builds_anew(story, monkeypatch):
    import msgspec

    monkeypatch.setattr("tests.history.line.UPSTREAM", msgspec.structs.replace(UPSTREAM, asserts=True))
    assert index(story / "mirror", story / "at once").because == "[upstream] says otherwise than before"
    assert index(story / "mirror", story / "at once").because is None


def test_another_harvester_builds_anew(story):
    with History.open(story / "at once") as history, history.writing():
        history.remember({"harvester": "old"})
    assert index(story / "mirror", story / "at once").because == "the tracker reads sources otherwise than before"


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be taken for one" * 50])
def test_what_is_no_index_is_made_one(story, content):
    (story / "broken").write_bytes(content)
    index(story / "mirror", story / "broken")
    assert rows(story / "broken") == rows(story / "at once")


def releases(mirror: Path, versions: dict[str, str]) -> None:
    """Releases instead of a branch."""
    for version, commit in versions.items():
        ref = mirror / "refs/tracker/releases" / version
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(commit + "\n")
    (mirror / "refs/heads/main").unlink(missing_ok=True)


def test_without_a_branch_the_line_is_that_of_the_releases(tmp_path):
    mirror, to = tmp_path / "mirror", tmp_path / "history"
    commits = commit_all(mirror, [{"pkg/a.py": BLOCKS[n]} for n in (0, 1, 2)])
    releases(mirror, {"0.10": commits[1], "0.9": commits[0]})
    assert index(mirror, to).commits == 2
    assert told(to) == [(1, "new", "the value x is bad"), (2, "guard-changed reworded", "the value x is wrong")]
    with History.read(to) as history:
        assert [(one.version, one.position) for one in history.releases()] == [("0.9", 1), ("0.10", 2)]
    releases(mirror, {"0.11": commits[2]})
    assert index(mirror, to).commits == 1
    # One that comes in between is between them, too.
    releases(mirror, {"0.9.1": commits[2]})
    index(mirror, to)
    index(mirror, tmp_path / "fresh")
    assert rows(to) == rows(tmp_path / "fresh")
    point(mirror, commits[2])
    assert index(mirror, to).because == "upstream was pulled"


def test_an_empty_mirror_has_no_history(tmp_path):
    commit_all(tmp_path / "mirror", [{}], branch="other")
    with pytest.raises(RevisionError, match="the mirror is empty"):
        index(tmp_path / "mirror", tmp_path / "history")


def test_progress_tells_how_much_is_done_and_left(story, monkeypatch):
    said: list[str] = []
    times = iter(range(1000))
    monkeypatch.setattr(batches.time, "monotonic", lambda: next(times))
    index(story / "mirror", story / "told", progress=said.append)
    assert said[0] == "4%, 26 s left"
    assert said[-1] == "100%, 0 s left"
