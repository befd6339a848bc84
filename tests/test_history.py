"""Along the commits between two revisions: the right partner, and the commit that made the difference."""

from __future__ import annotations

import pytest

from tracker.check import check_all
from tracker.model import Kind, Report
from tracker.repository.fetch import pull
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import resolve
from tracker.repository.steps import steps
from tracker.snapshots import Sources

PATHS = ["pkg/**/*.py"]
ONE = 'def f(x):\n    if x:\n        raise ValueError("the value x is bad")\n'
TWO = 'def g(y):\n    raise TypeError("no y was given at all")\n'
FILL = "".join(f"def h{n}():\n    return {n}\n\n" for n in range(20))


@pytest.fixture
def mirror(tmp_path):
    with Mirror.open(tmp_path / "mirror") as opened:
        yield opened


@pytest.fixture
def compare(mirror, repository):
    def run(base: str, target: str = "main", history: bool = True) -> Report:
        pull(mirror, repository.url, "main")
        sources = Sources(mirror, PATHS)
        return check_all(sources, [], resolve(mirror, target), resolve(mirror, base), "a/b", history)

    return run


def caused(report: Report) -> dict[str, tuple[set[str], str]]:
    """message before (or after, of a new one) -> kinds beyond moved, the subject of the cause."""
    found = {}
    for drift in report.drifts:
        site = drift.before or drift.after
        subject = drift.cause.subject if drift.cause else ""
        found[site.message] = ({str(kind) for kind in drift.kinds} - {"moved"}, subject)
    return found


def test_each_kind_has_its_commit(compare, repository):
    base = repository.commit({"pkg/a.py": ONE + TWO + 'def k(): raise E("an old error")\n'}, "start")
    repository.commit(
        {"pkg/a.py": ONE.replace("if x", "if not x") + TWO + 'def k(): raise E("an old error")\n'}, "guard (#7)"
    )
    repository.commit({"pkg/a.py": ONE.replace("if x", "if not x").replace("bad", "wrong") + TWO}, "reword")
    repository.commit({"pkg/b.py": 'def n(): raise E("a new error")\n'}, "add")
    repository.commit({"pkg/a.py": "\n" + ONE.replace("if x", "if not x").replace("bad", "wrong") + TWO}, "move")
    report = compare(base)
    assert caused(report) == {
        "the value x is bad": ({"reworded", "guard-changed"}, "reword"),
        "an old error": ({"removed"}, "reword"),
        "a new error": ({"new"}, "add"),
        "no y was given at all": (set(), ""),
    }


def test_a_cause_tells_commit_author_date_and_request(compare, repository):
    base = repository.commit({"pkg/a.py": ONE})
    commit = repository.commit({"pkg/a.py": ONE.replace("bad", "wrong")}, "Say wrong (#1234)")
    (drift,) = compare(base).drifts
    assert drift.cause is not None
    assert (drift.cause.commit, drift.cause.author, drift.cause.pull_request) == (commit, "Ada", 1234)
    assert drift.cause.date == "2025-06-15T17:08:40+02:00"


@pytest.mark.parametrize(
    ("subject", "number"),
    [
        ("Merge pull request #12 from x/y", 12),
        ("Fix (#34)", 34),
        ("Fix #34", None),
        ("Revert (#34) again", None),
        ("PiperOrigin-RevId: 12345", None),
    ],
)
def test_pull_requests_in_subjects(mirror, repository, subject, number):
    base = repository.commit({"pkg/a.py": ONE})
    target = repository.commit({"pkg/a.py": TWO}, subject)
    pull(mirror, repository.url, "main")
    (step,) = steps(mirror, resolve(mirror, base), resolve(mirror, target), PATHS, [])
    assert step.cause.pull_request == number


def test_what_comes_by_a_merge_is_caused_by_the_merge(compare, repository):
    base = repository.commit({"pkg/a.py": ONE})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"pkg/a.py": ONE.replace("bad", "wrong")}, "in the topic")
    repository.git("checkout", "--quiet", "main")
    repository.commit({"README": "else"})
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge pull request #5 from topic", "topic")
    (drift,) = compare(base).drifts
    assert drift.cause is not None
    assert (drift.cause.pull_request, drift.kinds) == (5, {Kind.REWORDED})


def test_a_file_moved_and_edited_in_one_commit(compare, repository):
    base = repository.commit({"pkg/a.py": FILL + ONE})
    repository.commit({"pkg/a.py": None, "pkg/b.py": FILL + ONE.replace("bad", "wrong")}, "move and edit")
    (drift,) = compare(base).drifts
    assert drift.kinds == {Kind.RELOCATED, Kind.REWORDED}
    assert drift.cause is not None
    assert drift.cause.subject == "move and edit"


def test_a_function_carried_to_another_file_and_edited_later(compare, repository):
    base = repository.commit({"pkg/a.py": ONE + TWO, "pkg/b.py": FILL})
    repository.commit({"pkg/a.py": TWO, "pkg/b.py": FILL + ONE}, "carry")
    repository.commit({"pkg/b.py": FILL + ONE.replace("the value x is bad", "never give a thing like this")}, "edit")
    assert caused(compare(base)) == {
        "the value x is bad": ({"relocated", "reworded"}, "edit"),
        "no y was given at all": (set(), ""),
    }


def test_small_steps_find_what_the_two_ends_cannot(compare, repository):
    texts = [
        "axis {x} is out of bounds",
        "axis {x} must be in range",
        "dimension {x} must be in range of y",
        "no such dimension",
    ]
    source = 'def f(x):\n    if {}:\n        raise ValueError(f"{}")\n'
    guards = ["x > 1", "x > 1 or x < 0", "not ok(x)", "not ok(y)"]
    commits = [repository.commit({"pkg/a.py": source.format(g, t)}, t) for g, t in zip(guards, texts, strict=True)]
    (drift,) = compare(commits[0]).drifts
    assert drift.after is not None
    assert drift.after.message == texts[-1]


def test_reverted_and_landed_again_is_no_drift(compare, repository):
    base = repository.commit({"pkg/a.py": ONE + TWO})
    repository.commit({"pkg/a.py": TWO}, "take out")
    repository.commit({"pkg/a.py": ONE + TWO}, "put back")
    assert compare(base).drifts == ()


def test_reverted_and_landed_again_reworded_is_one_drift(compare, repository):
    base = repository.commit({"pkg/a.py": ONE + TWO})
    repository.commit({"pkg/a.py": TWO}, "take out")
    repository.commit({"pkg/a.py": ONE.replace("bad", "wrong") + TWO}, "put back otherwise")
    assert [drift.kinds for drift in compare(base).drifts] == [{Kind.REWORDED}]


def test_a_base_beside_the_line_of_first_parents(compare, repository):
    repository.commit({"pkg/a.py": ONE})
    repository.git("checkout", "--quiet", "-b", "topic")
    base = repository.commit({"pkg/a.py": ONE + TWO}, "topic")
    repository.git("checkout", "--quiet", "main")
    repository.commit({"README": "else"})
    repository.git("merge", "--quiet", "--no-ff", "--message", "merge", "topic")
    repository.commit({"pkg/a.py": ONE + TWO.replace("no y", "nothing")}, "reword")
    (drift,) = compare(base).drifts
    assert drift.kinds == {Kind.REWORDED}
    assert drift.cause is not None
    assert drift.cause.subject == "reword"


def test_backwards_there_is_no_way_and_no_cause(compare, repository):
    old = repository.commit({"pkg/a.py": ONE})
    new = repository.commit({"pkg/a.py": ONE.replace("bad", "wrong")})
    (drift,) = compare(new, old).drifts
    assert (drift.kinds, drift.cause) == ({Kind.REWORDED}, None)


def test_a_merged_twin_keeps_its_own_life(compare, repository):
    """Two equal raises of one function, one of which goes: the other is not its partner."""
    source = 'def f(a, b):\n    if a:\n        raise E("missing")\n    if b:\n        raise E("missing")\n'
    base = repository.commit({"pkg/a.py": source})
    repository.commit({"pkg/a.py": 'def f(a, b):\n    if b:\n        raise E("missing")\n'}, "drop a")
    report = compare(base)
    (removed,) = (drift for drift in report.drifts if Kind.REMOVED in drift.kinds)
    assert removed.before is not None
    assert removed.before.guard == ("if a",)
    assert removed.cause is not None
    assert removed.cause.subject == "drop a"


def test_cut_in_a_string_is_read_whole(compare, repository):
    tricky = 'TEXT = """\ndef not_a_function():\n    raise KeyError("in a string")\n"""\n' + ONE
    base = repository.commit({"pkg/a.py": tricky})
    repository.commit({"pkg/a.py": tricky.replace("is bad", "is wrong")}, "reword")
    (drift,) = compare(base).drifts
    assert drift.cause is not None
    assert drift.cause.subject == "reword"


def test_below_the_threshold_it_is_removed_and_new_with_a_hint(compare, repository):
    source = 'def f(p):\n    if not p:\n        raise ValueError("path must not be empty")\ndef g(h): pass\n'
    base = repository.commit({"pkg/a.py": source})
    after = 'def f(p): pass\ndef g(h):\n    if h.name == "":\n        raise ValueError("name must not be empty")\n'
    repository.commit({"pkg/a.py": after})
    removed, new = compare(base).drifts
    assert (removed.kinds, new.kinds) == ({Kind.REMOVED}, {Kind.NEW})
    assert removed.possible == new.after
    assert removed.score is None
    assert 0.4 < (removed.runner_up or 0) < 1


def test_two_sites_on_one_line_do_not_share_a_life(compare, repository):
    source = 'def f(a, b):\n    if a: raise E("the first text"); raise E("the second text")\n'
    base = repository.commit({"pkg/a.py": source})
    repository.commit({"pkg/a.py": source.replace("first", "other")}, "reword one")
    repository.commit({"pkg/a.py": "\n" + source.replace("first", "other")}, "move")
    drifts = compare(base).drifts
    assert sorted(sorted(drift.kinds) for drift in drifts) == [["moved"], ["moved", "reworded"]]
    assert len({drift.after for drift in drifts}) == 2


def test_a_file_that_only_moved_tells_who_moved_it(compare, repository):
    base = repository.commit({"pkg/a.py": FILL + ONE})
    repository.commit({"pkg/a.py": None, "pkg/b.py": FILL + ONE}, "move the file")
    repository.commit({"pkg/b.py": FILL + FILL.replace("h", "k") + ONE}, "add to it")
    assert caused(compare(base)) == {"the value x is bad": ({"relocated"}, "move the file")}


CONSTANT = 'TEXT = "the value x is bad"\n\n'
SAID = "def f(x):\n    if x:\n        raise ValueError(TEXT)\n"
BESIDE = 'raise ValueError("the value x is bad")\n'
METHOD = "    def m(self):\n        "


@pytest.mark.parametrize(
    "source",
    [
        f"def f(x):\n    {BESIDE}    NEXT\n",
        f"def f(x):\n    {BESIDE}if FLAG:\n    NEXT\n",
        f"if FLAG:\n    {BESIDE}def f(x):\n    {BESIDE}else_ = 1\nNEXT\n",
        f"class C:\n{METHOD}{BESIDE}{METHOD}NEXT\n",
        f"class C:\n{METHOD}{BESIDE}{METHOD.replace('m', 'n')}NEXT\n",
        f"def f(x):\n    {BESIDE}def g(x):\n    NEXT\n",
    ],
)
def test_beside_an_error_that_nothing_became_of(compare, repository, source):
    texts = ["pass", "raise E('some text')", "# Why.\n\n    raise E('some text')", "raise E('some other text')"]
    indent = source.partition("NEXT")[0].rpartition("\n")[2]
    versions = [source.replace("NEXT", text.replace("    raise", f"{indent}raise")) for text in texts]
    commits = [repository.commit({"pkg/a.py": FILL + version}, str(n)) for n, version in enumerate(versions)]
    assert caused(compare(commits[0])) == {"some other text": ({"new"}, "1")}
    assert caused(compare(commits[1])) == {"some text": ({"reworded"}, "3")}


def test_a_copy_of_a_file_has_a_life_of_its_own(compare, repository):
    base = repository.commit({"pkg/a.py": ONE + TWO}, "start")
    reworded = ONE + TWO.replace("no y", "no z")
    repository.commit({"pkg/a.py": reworded}, "reword")
    repository.commit({"pkg/b.py": reworded}, "copy")
    repository.commit({"pkg/b.py": reworded + "# More.\n"}, "go on")
    repository.commit({"pkg/a.py": reworded + "# Here.\n", "pkg/b.py": reworded + "# There.\n"}, "tell apart")
    found = [(drift.before is None, (drift.after.path, drift.cause.subject)) for drift in compare(base).drifts]
    assert sorted(found) == [
        (False, ("pkg/a.py", "reword")),
        (True, ("pkg/b.py", "copy")),
        (True, ("pkg/b.py", "copy")),
    ]


HELPER = "def fail(text):\n    raise ValueError(text)\n"
CALLER = 'def f(x):\n    return x or fail("the value x is bad")\n'


@pytest.mark.parametrize(
    ("versions", "kinds", "cause"),
    [
        # The text stands outside of the function that raises it, which is not touched.
        ([CONSTANT + SAID, CONSTANT.replace("bad", "wrong") + SAID], {"reworded"}, "1"),
        ([HELPER + CALLER, HELPER + CALLER.replace("bad", "wrong")], {"reworded"}, "1"),
        # Before or after, the function changes in a way that no page tells of: it is not to blame.
        (
            [
                CONSTANT + SAID,
                CONSTANT.replace("bad", "wrong") + SAID,
                CONSTANT.replace("bad", "wrong") + SAID.replace("raise", "# Why.\n        raise"),
            ],
            {"reworded"},
            "1",
        ),
        (
            [
                CONSTANT + SAID,
                CONSTANT + SAID.replace("raise", "# Why.\n        raise"),
                CONSTANT.replace("bad", "wrong") + SAID.replace("raise", "# Why.\n        raise"),
            ],
            {"reworded"},
            "2",
        ),
        # Nothing of it has to do with the error.
        ([CONSTANT + SAID, CONSTANT + 'OTHER = "wrong"\n' + SAID], set(), ""),
        ([CONSTANT + SAID, "# Why.\n" + CONSTANT + SAID], set(), ""),
        ([CONSTANT + SAID, CONSTANT.replace("TEXT", "NAME") + SAID.replace("TEXT", "NAME")], set(), ""),
        ([CONSTANT + SAID, CONSTANT.replace("bad", "wrong") + SAID, CONSTANT + SAID], set(), ""),
        ([HELPER + CALLER, HELPER + CALLER + 'def k(): print("wrong")\n'], set(), ""),
        ([HELPER + CALLER, HELPER + CALLER.replace("x or", "not x or")], set(), ""),
    ],
)
def test_a_text_that_stands_elsewhere_in_the_file(compare, repository, versions, kinds, cause):
    base, *_ = [repository.commit({"pkg/a.py": "\n" * n + FILL + source}, str(n)) for n, source in enumerate(versions)]
    assert caused(compare(base)) == {"the value x is bad": (kinds, cause)}
