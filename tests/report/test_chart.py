"""When errors drifted: which bar each falls into, and that no two labels stand in each other's way."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings

from tests.report.conftest import drift, site
from tests.report.hostile import reports
from tracker.model import Cause, Kind, Milestone
from tracker.report.chart import HEIGHT, SERIES, WIDTH, charts, series_of


def dated(day: str, kind: Kind = Kind.REWORDED, commit: str = "c" * 40):
    changes = {"before": None} if kind is Kind.NEW else {}
    return drift(kind, cause=Cause(commit=commit, author="Ada", date=day, subject="x", pull_request=None), **changes)


def between(report, base: str, target: str, *drifts, milestones=()):
    return replace(
        report,
        base=replace(report.base, committed_at=f"{base}T00:00:00+00:00"),
        target=replace(report.target, committed_at=f"{target}T00:00:00+00:00"),
        drifts=drifts,
        milestones=milestones,
    )


def release(version: str, day: str, commit: str = "a" * 40) -> Milestone:
    return Milestone(version=version, date=day, commit=commit, upstream=commit)


@pytest.mark.parametrize(
    ("kinds", "series"),
    [
        ({Kind.REWORDED}, "meaning"),
        ({Kind.REMOVED}, "meaning"),
        ({Kind.GUARD_CHANGED, Kind.RELOCATED}, "meaning"),
        ({Kind.RELOCATED, Kind.MOVED}, "place"),
        ({Kind.PLACEHOLDER_CHANGED}, "place"),
    ],
)
def test_what_a_drift_counts_for(kinds, series):
    assert series_of(drift(*kinds)) == series


def test_a_new_error_counts_as_new():
    assert series_of(drift(Kind.NEW, before=None, after=site())) == "new"


@pytest.mark.parametrize(
    ("base", "target", "step", "first"),
    [
        ("2026-08-03", "2026-08-20", "day", "03 August 2026"),
        ("2026-08-05", "2026-12-24", "week", "03 August 2026"),
        ("2024-08-05", "2026-08-24", "month", "August 2024"),
        ("2016-08-05", "2026-08-24", "year", "2016"),
        ("1970-01-01", "2026-08-24", "year", "1970"),
        ("2026-08-05", "9999-12-31", "day", "05 August 2026"),
    ],
)
def test_the_step_fits_the_span(report, base, target, step, first):
    (chart,), _ = charts(between(report, base, target, dated("2026-08-10")))
    assert (chart.column, chart.bars[0].label) == (step, first)
    assert sum(map(sum, (bar.counts for bar in chart.bars))) == 1


def test_each_drift_is_in_the_bar_of_its_day(report):
    drifts = [dated("2026-08-03"), dated("2026-08-04T23:30:00-07:00"), dated("2026-08-05", Kind.NEW)]
    (chart,), undated = charts(between(report, "2026-08-02", "2026-08-06", *drifts, drift(Kind.REMOVED, after=None)))
    assert [bar.counts for bar in chart.bars] == [(0, 0, 0), (1, 0, 0), (0, 0, 0), (1, 1, 0), (0, 0, 0)]
    assert undated == 1


def test_each_drift_is_under_the_first_release_that_has_it(report):
    known = (release("1.0", "2026-08-01"), release("1.1", "2026-09-01", "b" * 40), release("1.2", "2026-10-01"))
    drifts = [
        dated("2026-08-15"),
        dated("2026-09-01", commit="b" * 40),
        dated("2026-09-02", Kind.NEW),
        dated("2026-11-01"),
    ]
    (_, chart), _ = charts(between(report, "2026-08-01", "2026-11-02", *drifts, milestones=known))
    assert [(bar.label, bar.counts) for bar in chart.bars] == [
        ("1.1", (2, 0, 0)),
        ("1.2", (0, 1, 0)),
        ("unreleased", (1, 0, 0)),
    ]


def test_a_release_that_is_a_cause_is_known_by_its_commit(report):
    # The tag is some hours older than the wheel, which is what drifts are followed along without upstream's history.
    known = (
        release("1.0", "2026-08-01"),
        release("1.1", "2026-09-01T10:00:00+00:00", "b" * 40),
        release("1.1", "2026-09-01T18:00:00+00:00", "d" * 40),
        release("1.2", "2026-10-01"),
    )
    drifts = [dated("2026-09-01T18:00:00+00:00", commit="d" * 40), dated("2026-09-20")]
    (_, chart), _ = charts(between(report, "2026-08-01", "2026-10-02", *drifts, milestones=known))
    assert [(bar.label, bar.counts) for bar in chart.bars] == [("1.1", (1, 0, 0)), ("1.2", (1, 0, 0))]


def test_without_releases_there_is_time_alone(report):
    found, _ = charts(between(report, "2026-08-01", "2026-11-02", dated("2026-08-15")))
    assert [chart.column for chart in found] == ["week"]


def test_without_a_dated_drift_there_is_none(report):
    assert charts(replace(report, drifts=())) == ([], 0)


@given(reports())
@settings(max_examples=60, deadline=None)
def test_a_chart_stays_inside_and_readable(report):
    for chart in charts(report)[0]:
        for rect in chart.rects:
            assert 0 <= rect.x <= rect.x + rect.width <= WIDTH + 0.1
            assert 0 < rect.y <= rect.y + rect.height <= HEIGHT
        assert len(chart.rects) == sum(bool(count) for bar in chart.bars for count in bar.counts)
        assert all(len(bar.counts) == len(SERIES) for bar in chart.bars)
        for ticks in (chart.axis, chart.marks):
            shown = [tick.at for tick in ticks if tick.label]
            assert all(b - a >= 70 for a, b in pairwise(shown))
