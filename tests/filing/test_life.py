"""The life of an issue: what is filed, kept right and closed, and that a person always has the last word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.filing.desk import DAY, HOUR, MINUTE, POLICY, REPO, UPSTREAM, Desk, new, removed, reworded, site
from tests.github.fake import FakeGitHub, Issue
from tracker.errors import NeedsHumanError
from tracker.filing.marks import key_of, mark_of
from tracker.ledger import Family, State, key
from tracker.model import Drift, Kind
from tracker.store.acknowledgements import acknowledge
from tracker.store.drifts import open_drifts, release_baseline
from tracker.store.issues import save


def _filed(desk: Desk, *drifts: Drift) -> list[Issue]:
    desk.see(*drifts)
    desk.deliver()
    return desk.fake.ours(REPO)


def _again(desk: Desk) -> int:
    """A delivery -> how much it wrote."""
    before = len(desk.fake.writes)
    desk.deliver()
    return len(desk.fake.writes) - before


def test_the_key_is_what_it_always_was() -> None:
    """R3: another key for the same finding would file everything again."""
    assert key("jax-ml/jax", "60961ca5063d1383", Family.MEANING) == "v1-106b5d6ec7ace767"
    assert key("JAX-ML/jax", "60961ca5063d1383", Family.MEANING) == key(
        "jax-ml/jax", "60961ca5063d1383", Family.MEANING
    )
    assert key("jax-ml/jax", "60961ca5063d1383", Family.MEANING) != key("jax-ml/jax", "60961ca5063d1383", Family.NEW)


def test_a_drift_of_meaning_is_one_issue_that_says_all(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    body = issue.body or ""
    assert issue.title == "Reworded: e1 a"
    for said in (
        "e1.txt",
        "- e1 [-a-]",
        "+ e1 {+b+}",
        "`tracker ack e1",
        "`tracker repin --accept e1 --write`",
        "pull/7",
    ):
        assert said in body, said
    assert f"https://github.com/{UPSTREAM}/blob/{'b' * 40}/pkg/a.py#L10" in body
    assert key_of(body) == key(UPSTREAM, "e1", Family.MEANING)
    assert _again(desk) == 0


@pytest.mark.parametrize("then", [reworded("e1"), reworded("e1", "c"), None], ids=["the same", "changed", "gone"])
def test_an_issue_that_github_does_not_know_yet_is_not_deleted(desk: Desk, then: Drift | None) -> None:
    """Fault 6, where a copy of GitHub lags behind for a question by number too."""
    (issue,) = _filed(desk, reworded("e1"))
    desk.fake.stale = 10 * MINUTE
    for _ in range(2):
        desk.later(MINUTE)
        desk.see(*[then] if then else [], entries={"e1"})
        desk.deliver()
        assert desk.fake.ours(REPO) == [issue]
    desk.fake.stale = 0
    desk.later(10 * MINUTE)
    desk.deliver()
    assert desk.fake.ours(REPO) == [issue]
    assert issue.state == ("open" if then else "closed")
    assert ("+ e1 {+c+}" in (issue.body or "")) == (then == reworded("e1", "c"))


def test_an_issue_that_is_deleted_at_once_is_believed_after_a_while(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    issue.deleted = True
    for wait, state in ((MINUTE, State.OPEN), (HOUR, State.SUPPRESSED)):
        desk.later(wait)
        assert _again(desk) == 0
        assert [item.state for item in desk.items().values()] == [state]


def test_what_the_first_run_found_waits_for_a_person(
    tmp_path_factory: pytest.TempPathFactory, fake: FakeGitHub
) -> None:
    """R21."""
    desk = Desk(tmp_path_factory.mktemp("desk"), fake)
    desk.see(reworded("e1"), new("n"))
    desk.deliver()
    assert not fake.ours(REPO)
    desk.see(reworded("e1"), reworded("e2"), new("n"))
    desk.deliver()
    assert [issue.title for issue in fake.ours(REPO)] == ["Reworded: e2 a"]
    release_baseline(desk.database)
    desk.deliver()
    assert sorted(issue.title for issue in fake.ours(REPO)) == [
        "1 error without a page",
        "Reworded: e1 a",
        "Reworded: e2 a",
    ]
    desk.database.close()


@pytest.mark.parametrize(
    ("second", "filed"),
    [
        pytest.param(lambda desk: desk.see(removed("e1")), 1, id="seen at a second commit"),
        pytest.param(lambda desk: desk.later(MINUTE) or desk.see(removed("e1"), commit=False), 0, id="a minute later"),
        pytest.param(lambda desk: desk.later(2 * HOUR) or desk.see(removed("e1"), commit=False), 1, id="hours later"),
        pytest.param(lambda desk: desk.see(removed("e1", certain=False)), 0, id="in a file not wholly read"),
        pytest.param(lambda desk: desk.see(uncovered={"e1"}), 0, id="not looked at again"),
        pytest.param(lambda desk: desk.see(), 0, id="back again"),
    ],
)
def test_a_removal_is_believed_when_it_is_seen_twice(desk: Desk, second: Callable[[Desk], None], filed: int) -> None:
    """R13, and fault 24's smaller sisters."""
    assert not _filed(desk, removed("e1"))
    second(desk)
    desk.deliver()
    assert len(desk.fake.ours(REPO)) == filed


def test_new_details_are_edited_in_and_told_once(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    issue.body = "A person's words above.\r\n\r\n" + (issue.body or "").replace("\n", "\r\n") + "\r\n\r\nAnd below."
    desk.see(reworded("e1", "c"))
    desk.deliver()
    body = issue.body or ""
    assert "+ e1 {+c+}" in body
    assert "{+b+}" not in body
    assert body.startswith("A person's words above.")
    assert "And below." in body
    assert len(issue.comments) == 1
    mark = mark_of(body)
    assert mark is not None
    assert mark.entry == "e1"
    assert _again(desk) == 0


def test_a_title_that_a_person_wrote_stays(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    issue.title = "Our page on e1 is wrong"
    desk.see(replace(reworded("e1", "c"), kinds=frozenset({Kind.REWORDED, Kind.RETYPED})))
    desk.deliver()
    assert issue.title == "Our page on e1 is wrong"
    assert len(issue.comments) == 1


def test_a_body_without_our_marks_is_not_touched(desk: Desk) -> None:
    """Fault 18: the key line is gone, the ledger's number still holds, and nothing is filed twice."""
    (issue,) = _filed(desk, reworded("e1"))
    issue.body = "I rewrote this."
    assert _again(desk) == 0
    desk.see(reworded("e1", "c"))
    desk.deliver()
    assert issue.body == "I rewrote this."
    assert len(issue.comments) == 1
    assert len(desk.fake.ours(REPO)) == 1


def test_a_body_that_a_person_filled_keeps_nothing_else_from_being_told(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    issue.body = f"{issue.body}\n\n{'x' * 60_000}"
    desk.see(reworded("e1", "c"), reworded("e2"))
    desk.deliver()
    assert issue.body.endswith("x" * 60_000)
    assert len(issue.comments) == 1
    assert len(desk.fake.ours(REPO)) == 2
    assert _again(desk) == 0


@pytest.mark.parametrize("by_hand", [True, False])
def test_what_is_settled_is_closed_with_the_reason(desk: Desk, by_hand: bool) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    desk.see(by_hand=by_hand)
    desk.deliver()
    assert (issue.state, issue.state_reason) == ("closed", "completed")
    said = "the page was brought up to date" if by_hand else "the source says again what the page says"
    assert said in issue.comments[0][2]
    assert _again(desk) == 0


def test_what_is_accepted_is_closed_and_speaks_again_only_of_something_else(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    (found,) = open_drifts(desk.database)
    acknowledge(desk.database, "e1", found.fingerprint, "the page still fits", "Ada", desk.clock())
    desk.deliver()
    assert issue.state == "closed"
    assert "the page still fits" in issue.comments[0][2]
    desk.see(reworded("e1"))
    assert _again(desk) == 0
    desk.see(reworded("e1", "c"))
    desk.deliver()
    assert issue.state == "open"
    assert len(desk.fake.ours(REPO)) == 1


@pytest.mark.parametrize(("days", "reopened"), [(29, True), (31, False)])
def test_what_comes_back_is_reopened_within_a_month_else_filed_anew(desk: Desk, days: int, reopened: bool) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    desk.see()
    desk.deliver()
    desk.later(days * DAY)
    issues = _filed(desk, reworded("e1"))
    assert (issue.state == "open") is reopened
    assert len(issues) == (1 if reopened else 2)
    if not reopened:
        assert "Told before in #1." in (issues[1].body or "")
    assert _again(desk) == 0


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_declined_is_declined_until_it_says_something_else(desk: Desk, reason: str) -> None:
    """R14."""
    (issue,) = _filed(desk, reworded("e1"))
    desk.fake.close(issue, reason)
    for _ in range(3):
        desk.later(10 * DAY)
        desk.see(reworded("e1"))
        assert _again(desk) == 0
    assert len(_filed(desk, reworded("e1", "c"))) == 2
    assert issue.state == "closed"
    assert _again(desk) == 0


def test_the_label_silences(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    issue.labels.append("tracker:ignore")
    desk.see()
    assert _again(desk) == 0
    assert issue.state == "open"
    issue.labels.clear()
    desk.deliver()
    assert issue.state == "closed"


def test_closed_as_completed_while_the_drift_is_there_is_said_once_after_a_week(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    desk.fake.close(issue)
    desk.later(6 * DAY)
    assert _again(desk) == 0
    desk.later(8 * DAY)
    desk.deliver()
    assert issue.state == "closed"
    assert len(issue.comments) == 1
    for _ in range(3):
        desk.later(10 * DAY)
        assert _again(desk) == 0
    assert len(desk.fake.ours(REPO)) == 1


@pytest.mark.parametrize("ahead", [HOUR, 3650 * DAY])
@pytest.mark.parametrize("fault", ["processed-reset", "reset", "none"])
def test_a_clock_that_is_set_loses_nothing_and_doubles_nothing(desk: Desk, ahead: float, fault: str) -> None:
    """Fault 35: what was written down by a clock that was wrong is not waited for until its time comes."""
    desk.later(ahead)
    desk.see(reworded("e1"))
    if fault != "none":
        desk.fake.fail("POST", "issues$", fault)
    desk.deliver()
    desk.later(-ahead)
    for issue in desk.fake.ours(REPO):
        issue.created_at -= ahead  # GitHub's own clock was right
    desk.fake.stale = 600
    for _ in range(4):
        desk.later(2 * MINUTE)
        desk.deliver()
        assert len(desk.fake.ours(REPO)) <= 1
    desk.fake.stale = 0
    for _ in range(3):
        desk.later(HOUR)
        desk.deliver()
    (issue,) = desk.fake.ours(REPO)
    desk.see()
    desk.deliver()
    assert issue.state == "closed"
    assert _again(desk) == 0


def test_a_limit_of_a_day_is_not_used_up_by_a_day_to_come(desk: Desk) -> None:
    desk.later(3650 * DAY)
    desk.see(*(reworded(f"e{number}", path=f"pkg/{number}.py") for number in range(4)))
    desk.deliver()
    desk.later(-3650 * DAY)
    desk.policy = replace(POLICY, per_day=4)
    desk.see(*(reworded(f"e{number}", path=f"pkg/{number}.py") for number in range(6)))
    desk.deliver()
    assert len(desk.fake.open(REPO)) == 6


def test_a_reminder_that_a_wrong_clock_put_off_comes(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    desk.fake.close(issue)
    desk.later(3650 * DAY)
    desk.deliver()
    desk.later(-3650 * DAY)
    desk.later(8 * DAY)
    desk.deliver()
    assert len(issue.comments) == 1


def test_what_a_person_reopens_is_theirs(desk: Desk) -> None:
    """R16: closed by the tracker once, never again."""
    (issue,) = _filed(desk, reworded("e1"))
    desk.see()
    desk.deliver()
    desk.fake.reopen(issue)
    assert _again(desk) == 0
    desk.see(reworded("e1", "c"))
    desk.deliver()
    desk.see()
    desk.deliver()
    assert issue.state == "open"
    assert len(desk.fake.ours(REPO)) == 1


def test_locked_is_left_alone(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    issue.locked = True
    desk.see(reworded("e1", "c"))
    assert _again(desk) == 0
    desk.see()
    assert _again(desk) == 0
    issue.locked = False
    desk.deliver()
    assert issue.state == "closed"


@pytest.mark.parametrize(
    ("state", "closed", "after"),
    [
        (State.CLOSING, False, State.MUTED),
        (State.REOPENING, True, State.RESOLVED),
        (State.CLOSING, True, State.RESOLVED),
    ],
)
def test_locked_in_the_middle_of_a_write_is_no_reason_to_try_for_ever(
    desk: Desk, state: State, closed: bool, after: State
) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    (item,) = desk.items().values()
    save(desk.database, [replace(item, state=state)])
    issue.locked = True
    if closed:
        desk.fake.close(issue)
    desk.see()
    assert _again(desk) == 0
    assert [item.state for item in desk.items().values()] == [after]
    rows = desk.database.rows("select * from writes")
    assert _again(desk) == 0
    assert desk.database.rows("select * from writes") == rows


def test_every_write_keeps_the_name_that_github_gave_it(desk: Desk) -> None:
    """R28."""
    _filed(desk, reworded("e1"))
    desk.see(reworded("e1", "c"))
    desk.deliver()
    desk.see()
    desk.deliver()
    written = [tuple(row.values()) for row in desk.database.rows("select action, outcome, request_id from writes")]
    assert [action for action, _, _ in written] == ["create", "comment", "update", "comment", "close"]
    assert all(outcome == "done" and request for _, outcome, request in written)
    assert len({request for _, _, request in written}) == 5


def test_deleted_is_not_filed_again(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    issue.deleted = True
    desk.later(HOUR)
    assert _again(desk) == 0
    assert not desk.fake.ours(REPO)
    assert len(_filed(desk, reworded("e1", "c"))) == 1


def test_transferred_is_followed(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    there = desk.fake.transfer(REPO, issue.number, "docs/elsewhere")
    assert _again(desk) == 0
    (item,) = desk.items().values()
    assert (item.repository, item.number) == ("docs/elsewhere", there.number)
    desk.see()
    desk.deliver()
    assert there.state == "closed"
    assert not desk.fake.open(REPO)


def test_a_renamed_repository_is_followed_and_said(desk: Desk) -> None:
    """Fault 15."""
    _filed(desk, reworded("e1"))
    desk.fake.rename(REPO, "docs/renamed")
    desk.see(reworded("e1", "c"), reworded("e2"))
    delivery = desk.deliver()
    assert len(desk.fake.ours("docs/renamed")) == 2
    assert any("docs/renamed" in warning for warning in delivery.warnings)


def test_of_two_issues_with_one_key_the_first_stays(desk: Desk) -> None:
    """Fault 19."""
    (issue,) = _filed(desk, reworded("e1"))
    double = desk.fake.file(REPO, issue.title, issue.body, author="tracker-bot")
    desk.deliver()
    assert (issue.state, double.state, double.state_reason) == ("open", "closed", "duplicate")
    assert "The same as #1." in double.comments[0][2]
    assert _again(desk) == 0


def test_a_double_in_which_people_talk_stays_open(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    double = desk.fake.file(REPO, issue.title, issue.body, author="tracker-bot")
    desk.fake.say(double, "let us talk here")
    delivery = desk.deliver()
    assert double.state == "open"
    assert delivery.warnings


def test_a_key_that_begins_like_another_is_another(desk: Desk) -> None:
    (issue,) = _filed(desk, reworded("e1"))
    longer = (issue.body or "").replace(str(key_of(issue.body or "")), f"{key_of(issue.body or '')}0")
    other = desk.fake.file(REPO, "x", longer, author="tracker-bot")
    assert _again(desk) == 0
    assert other.state == "open"


def test_another_account_is_an_error_and_no_flood(desk: Desk) -> None:
    """Fault 20."""
    _filed(desk, reworded("e1"))
    desk.fake.login = "renamed-bot"
    desk.see(reworded("e1"), reworded("e2"))
    with pytest.raises(NeedsHumanError, match=r'authors = \["tracker-bot", "renamed-bot"\]'):
        desk.deliver()
    desk.lose_database()
    desk.see(reworded("e1"), reworded("e2"))
    with pytest.raises(NeedsHumanError, match="issue #1 carries a key"):
        desk.deliver()
    assert len(desk.fake.ours(REPO)) == 1
    desk.authors = ("tracker-bot", "renamed-bot")
    desk.see(reworded("e1"), reworded("e2"))
    desk.deliver()
    assert len(desk.fake.repository(REPO).issues) == 1  # e2 is the baseline of the new database


def test_a_token_without_a_name_needs_one(desk: Desk) -> None:
    desk.fake.login = None
    desk.see(reworded("e1"))
    with pytest.raises(NeedsHumanError, match="authors = "):
        desk.deliver()
    desk.authors = ("tracker-bot",)
    desk.deliver()
    assert len(desk.fake.ours(REPO)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "```\ntracker-key: {key}\n```",
        "tracker-key: {key}",
        "@team look at #1 and GH-2, owner/repo#3 <!-- x --> <img src=x onerror=alert(1)>",
        "````\n~~~\n",
        "--> <!-- tracker:end -->\n<!-- tracker-data: {{}} -->",
        "\u202eabc\u2028def\x00\x1b[31m",
        "😀" * 3000,
        "x" * 5000,
        "a\n" * 5000,
    ],
)
def test_what_upstream_writes_is_inert(desk: Desk, text: str) -> None:
    """Faults 14 and 21."""
    other = key(UPSTREAM, "other", Family.MEANING)
    text = text.format(key=other) if "{key}" in text else text
    drift = replace(reworded("e1"), before=site(text), after=site(f"{text} changed"))
    (issue,) = _filed(desk, drift)
    body = issue.body or ""
    assert key_of(body) == key(UPSTREAM, "e1", Family.MEANING)
    assert mark_of(body) is not None
    assert len(issue.title) <= 250
    assert "@team" not in issue.title
    assert _again(desk) == 0
    # A stranger's issue with our key is not ours.
    desk.fake.file(REPO, "spoof", body.replace(str(key_of(body)), other), author="mallory")
    assert len(_filed(desk, drift, reworded("other"))) == 2


def test_two_hundred_new_errors_are_one_issue(desk: Desk) -> None:
    """Fault 23."""
    (issue,) = _filed(desk, *(new(f"new {number}") for number in range(200)))
    assert issue.title == "200 errors without a page"
    assert all(f"new {number}" in (issue.body or "") for number in (0, 99, 199))
    desk.see(*(new(f"new {number}") for number in range(201)))
    desk.deliver()
    assert issue.title == "201 errors without a page"
    assert not issue.comments


def test_more_than_an_issue_can_hold_is_cut_between_the_marks(desk: Desk) -> None:
    (issue,) = _filed(desk, *(new(f"new {number} " + "x" * 200) for number in range(400)))
    assert len(issue.body or "") <= 60_000
    assert key_of(issue.body or "") == key(UPSTREAM, "", Family.NEW)


def test_a_whole_catalogue_on_other_lines_files_nothing(desk: Desk) -> None:
    """Fault 22."""
    moved = [replace(reworded(f"e{n}"), kinds=frozenset({Kind.MOVED, Kind.EXCERPT_CHANGED})) for n in range(50)]
    assert not _filed(desk, *moved)
    desk.families = [Family.NEW, Family.LINES]
    (issue,) = _filed(desk, *moved)
    assert issue.title == "50 pages to repin: right, but on other lines"
    again = [replace(drift, after=replace(drift.after, line=99)) for drift in moved if drift.after is not None]
    desk.see(*again)
    assert _again(desk) == 0


def test_the_limits_hold_across_runs_and_processes(desk: Desk) -> None:
    """R18: five in a run, twenty in a day, counted from the ledger; what waits comes later, each once."""
    files = [reworded(f"e{number}", path=f"pkg/{number}.py") for number in range(9)]
    desk.entries = {f"x{number}" for number in range(200)}
    assert len(_filed(desk, *files)) == 5
    desk.reopen_database()
    assert len(_filed(desk, *files)) == 9
    more = [*files, *(reworded(f"f{number}", path=f"pkg/f{number}.py") for number in range(18))]
    for expected in (14, 19, 20, 20):
        assert len(_filed(desk, *more)) == expected
    desk.later(DAY + HOUR)
    assert len(_filed(desk, *more)) == 25
    assert len(_filed(desk, *more)) == 27
    assert _again(desk) == 0


def test_many_in_one_file_are_told_together(desk: Desk) -> None:
    """R19."""
    desk.entries = {f"x{number}" for number in range(500)}
    many = [reworded(f"e{number}") for number in range(12)]
    (issue,) = _filed(desk, *many)
    assert issue.title == "12 pages say what is no longer so in pkg/a.py"
    assert all(f"e{number} " in (issue.body or "") for number in range(12))
    assert _again(desk) == 0
    desk.see(*many[:3])
    desk.deliver()
    assert issue.state == "open"
    assert issue.title == "3 pages say what is no longer so in pkg/a.py"
    issues = _filed(desk, *many[:3], reworded("late"))
    assert len(issues) == 2
    desk.see()
    desk.deliver()
    assert not desk.fake.open(REPO)


def test_too_many_closings_wait_for_a_person(desk: Desk) -> None:
    """R20: not where a person repinned, only where the source is said to be as before."""
    desk.entries = {f"x{number}" for number in range(500)}
    desk.policy = replace(desk.policy, per_run=50, per_day=50)
    files = [reworded(f"e{number}", path=f"pkg/{number}.py") for number in range(10)]
    _filed(desk, *files)
    desk.see()
    delivery = desk.deliver()
    assert delivery.held == 10
    assert len(desk.fake.open(REPO)) == 10
    desk.deliver(all_closes=True)
    assert not desk.fake.open(REPO)


def test_a_repinned_catalogue_closes_all_it_must(desk: Desk) -> None:
    desk.entries = {f"x{number}" for number in range(500)}
    desk.policy = replace(desk.policy, per_run=50, per_day=50)
    _filed(desk, *(reworded(f"e{number}", path=f"pkg/{number}.py") for number in range(10)))
    desk.see(by_hand=True)
    desk.deliver()
    assert not desk.fake.open(REPO)


@pytest.mark.parametrize("whole", [True, False])
def test_nothing_is_closed_that_was_not_looked_at(desk: Desk, whole: bool) -> None:
    """R12, and HSSM's closed issue."""
    (issue,) = _filed(desk, reworded("e1"))
    desk.see(uncovered={"e1"}, whole=whole)
    assert _again(desk) == 0
    assert issue.state == "open"


def test_without_its_database_the_ledger_is_read_back(desk: Desk) -> None:
    """Fault 25, and R49."""
    drifts = [reworded("e1"), reworded("e2"), new("n")]
    _filed(desk, *drifts)
    desk.fake.close(desk.fake.open(REPO)[1], "not_planned")
    desk.lose_database()
    desk.see(*drifts)
    desk.see(*drifts)
    desk.see(*drifts, commit=False)
    before = len(desk.fake.writes)
    desk.deliver()
    posts = [seen for seen in desk.fake.writes[before:] if seen.method == "POST"]
    assert not posts
    states = sorted(item.state for item in desk.items().values())
    assert states == [State.OPEN, State.OPEN, State.SUPPRESSED]
    desk.see()
    desk.deliver()
    assert not desk.fake.open(REPO)
