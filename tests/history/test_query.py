"""Questions to an index of a real repository: lives, releases, lines, pages, changelogs."""

from __future__ import annotations

import subprocess

import pytest

from tests.history.line import UPSTREAM, commit_all, index
from tests.support import page
from tracker.catalogue.page import parse
from tracker.errors import RevisionError
from tracker.history.changelog import between
from tracker.history.points import error_of, position
from tracker.history.query import Chronicle, at, saying
from tracker.model import Kind
from tracker.repository.mirror import Mirror
from tracker.store.history import History
from tracker.store.recall import life, messages

BAD = 'def f(x):\n    if x:\n        raise ValueError("the value x is bad")\n'
WORSE = BAD.replace("bad", "worse").replace("if x", "if not x")
GONE = 'def g(y):\n    raise TypeError("no y was given at all")\n'
TREES = [
    {"pkg/a.py": BAD},
    {"pkg/a.py": BAD + GONE},
    {"pkg/a.py": WORSE + GONE},
    {"pkg/a.py": "\n" * 7 + WORSE},
    {"pkg/a.py": "\n" * 7 + WORSE, "pkg/b.py": GONE.replace("TypeError", "KeyError")},
    {"pkg/a.py": "\n" * 9 + WORSE.replace("ValueError", "E"), "pkg/b.py": GONE.replace("TypeError", "KeyError")},
]
TAGS = {"demo-v0.9": 1, "demo-v0.10": 3, "demo-v0.10.1": 4, "demo-v0.11": 5, "demo-v0.12rc1": 6, "other-v9": 6}


class Opened:
    """An index with its mirror."""

    def __init__(self, mirror: Mirror, history: History, commits: list[str]) -> None:
        self.mirror, self.history, self.commits = mirror, history, commits
        self.chronicle = Chronicle(history, mirror, False)

    def events(self, text: str, since: str | None = None) -> list[list[tuple[str, str | None, str]]]:
        point = (since, position(self.history, self.mirror, "main", since)) if since else None
        told = self.chronicle.lives(text, saying(self.history, text), 10, point, {})
        return [
            [(" ".join(event.kinds), event.release, event.cause.subject) for event in life.events]
            for life in told.lives
        ]


@pytest.fixture
def opened(tmp_path):
    commits = commit_all(tmp_path / "mirror", TREES)
    for tag, number in TAGS.items():
        subprocess.run(["git", "-C", tmp_path / "mirror", "tag", tag, commits[number - 1]], check=True)
    index(tmp_path / "mirror", tmp_path / "history")
    with Mirror.open(tmp_path / "mirror") as mirror, History.read(tmp_path / "history") as history:
        yield Opened(mirror, history, commits)


def test_a_life_is_told_from_any_of_its_texts(opened):
    life = [("new", "0.9", "commit 1"), ("reworded guard-changed", "0.10", "commit 3"), ("retyped", None, "commit 6")]
    assert opened.events("the value x is bad") == [life]
    assert opened.events("the value x is worse") == [life]
    assert opened.events("VALUE X") == [life]
    assert opened.events("value_x") == []


def test_what_went_tells_its_last_release(opened):
    (first, second) = opened.chronicle.lives("", saying(opened.history, "no y"), 10, None, {}).lives
    assert (first.alive, first.first, first.last) == (True, "0.11", "0.11")
    assert (second.alive, second.first, second.last) == (False, "0.10", "0.10")
    assert [(event.kinds, event.release) for event in second.events] == [
        ((Kind.NEW,), "0.10"),
        ((Kind.REMOVED,), "0.10.1"),
    ]


def test_the_newest_site_stands_where_it_is_now(opened):
    (life,) = opened.chronicle.lives("", saying(opened.history, "the value x is bad"), 10, None, {}).lives
    assert (life.site.line, life.site.exception) == (12, "E")
    assert [event.site.line for event in life.events] == [3, 3, 12]


@pytest.mark.parametrize(
    ("since", "left"),
    [("0.9", 2), ("0.10", 1), ("release:0.11", 1), ("demo-v0.11", 1), ("2025-01-01", 3), ("2025-06", 3), ("main", 0)],
)
def test_since(opened, since, left):
    assert sum(map(len, opened.events("the value x is bad", since))) == left


def test_since_a_moment_between_two_commits(opened):
    assert [event[2] for event in opened.events("the value x is bad", "2025-06-15T15:08:30Z")[0]] == [
        "commit 3",
        "commit 6",
    ]


@pytest.mark.parametrize("name", ["0.13", "release:7", "nowhere", "--help"])
def test_a_point_that_is_none(opened, name):
    with pytest.raises(RevisionError, match=r"history has no release|no revision|not the name"):
        position(opened.history, opened.mirror, "main", name)


def test_a_line_of_the_newest_revision(opened):
    (error,) = at(opened.history, opened.mirror, UPSTREAM, "pkg/a.py", 12)
    assert life(opened.history, error)[-1].site.message == "the value x is worse"
    with pytest.raises(RevisionError, match=r"raises no error at main: nearest to it they are at 12"):
        at(opened.history, opened.mirror, UPSTREAM, "pkg/a.py", 1)
    with pytest.raises(RevisionError, match=r"no file pkg/z\.py"):
        at(opened.history, opened.mirror, UPSTREAM, "pkg/z.py", 1)


@pytest.mark.parametrize("pin", [1, 2, None])
def test_a_page_is_found_at_its_pin_or_by_what_it_says(opened, pin):
    commit = opened.commits[pin - 1] if pin else "f" * 40
    entry = parse(page(BAD, 3, message="the value x is bad", pin=commit).encode(), "a.txt").entry
    (error,) = saying(opened.history, "the value x is bad")
    assert error_of(opened.history, opened.mirror, False, entry) == error


def test_a_page_of_an_error_that_never_was(opened):
    entry = parse(page(BAD, 3, message="never said", pin=opened.commits[0]).encode(), "a.txt").entry
    with pytest.raises(RevisionError, match="ever said what this page says"):
        error_of(opened.history, opened.mirror, False, entry)


def test_the_changelog_between_two_releases(opened):
    log = between(opened.history, ("0.9", 1), ("0.11", 5))
    assert log.errors == (1, 2)
    assert [(one.kinds, one.cause.subject if one.cause else None) for one in log.changes] == [
        ((Kind.REWORDED, Kind.GUARD_CHANGED), "commit 3"),
        ((Kind.NEW,), "commit 5"),
    ]
    with pytest.raises(RevisionError, match="name the older one first"):
        between(opened.history, ("0.11", 5), ("0.9", 1))
    assert between(opened.history, ("0.9", 1), ("0.9", 1)).changes == ()


def test_what_was_taken_out_and_put_back_is_no_change(tmp_path):
    commit_all(tmp_path / "mirror", [{"pkg/a.py": BAD + GONE}, {"pkg/a.py": BAD}, {"pkg/a.py": BAD + GONE}])
    index(tmp_path / "mirror", tmp_path / "history")
    with History.read(tmp_path / "history") as history:
        assert between(history, ("a", 1), ("b", 3)).changes == ()
        assert [one.kinds for one in between(history, ("a", 1), ("b", 2)).changes] == [(Kind.REMOVED,)]


def test_a_release_on_a_branch_holds_what_its_branch_began_with(tmp_path):
    """And a lower version can be tagged after a higher one."""
    mirror = tmp_path / "mirror"
    commits = commit_all(mirror, TREES)
    (patch,) = commit_all(mirror, [{"pkg/a.py": BAD + "X = 1\n"}], branch="r0.9", base=commits[0])
    for tag, commit in (("demo-v0.10", commits[4]), ("demo-v0.9.1", patch)):
        subprocess.run(["git", "-C", mirror, "tag", tag, commit], check=True)
    index(mirror, tmp_path / "history")
    with History.read(tmp_path / "history") as history:
        assert [(one.version, one.position) for one in history.releases()] == [("0.9.1", 1), ("0.10", 5)]


def test_a_new_tag_is_taken_in_without_a_new_commit(opened, tmp_path):
    subprocess.run(["git", "-C", tmp_path / "mirror", "tag", "demo-v0.12", opened.commits[5]], check=True)
    assert index(tmp_path / "mirror", tmp_path / "history").commits == 0
    assert [one.version for one in opened.history.releases()][-1] == "0.12"


def test_messages_with_the_releases_that_said_so(opened):
    assert [(one.error, one.text, one.first, one.last, one.alive) for one in messages(opened.history)] == [
        (1, "the value x is bad", "0.9", "0.9", False),
        (1, "the value x is worse", "0.10", "0.11", True),
        (2, "no y was given at all", "0.10", "0.10", False),
        (3, "no y was given at all", "0.11", "0.11", True),
    ]
