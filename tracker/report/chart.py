"""When errors drifted, as numbers and as the geometry of bars: over time, and from release to release.

Pure. Only drifts whose commit is known can be dated; how many are not is said beside the chart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from tracker.model import Drift, Kind, Milestone, Report, Severity

SERIES = ("meaning", "new", "place")
TITLES = {"meaning": "changed in meaning", "new": "new", "place": "elsewhere, or other placeholders"}
_PLACE = {Kind.PLACEHOLDER_CHANGED, Kind.RELOCATED}

WIDTH, HEIGHT = 760, 200
"""Of a chart, in its own units."""
_LEFT, _TOP, _BOTTOM = 36, 26, 22
_APART = 72
"""Least distance between two labels."""
_BARS = 60
"""At most so many; the steps of time become longer before there are more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One step of time, or one release."""

    label: str
    short: str
    """Under the bar."""
    counts: tuple[int, ...]
    """In the order of SERIES."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A part of a bar."""

    series: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A place on an axis, with its text where there is room for one."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A stacked bar chart and the table that says the same."""

    name: str
    title: str
    column: str
    bars: tuple[Bar, ...]
    rects: tuple[Rect, ...]
    axis: tuple[Tick, ...]
    scale: tuple[Tick, ...]
    marks: tuple[Tick, ...] = ()
    """Releases on the axis of time."""


def series_of(drift: Drift) -> str:
    """Which of SERIES a drift counts for."""
    if drift.before is None:
        return "new"
    return "place" if drift.kinds & _PLACE and drift.severity is Severity.NOTICE else "meaning"


def charts(report: Report) -> tuple[list[Chart], int]:
    """The charts that a report has dates for, and how many drifts in more than a line have none."""
    loud = [drift for drift in report.drifts if drift.severity > Severity.INFO]
    dated = [(_moment(drift.cause.date), drift) for drift in loud if drift.cause is not None]
    found = []
    if dated:
        found.append(_over_time(dated, report))
        if between := _over_releases(dated, report):
            found.append(between)
    return found, len(loud) - len(dated)


def _moment(text: str) -> datetime:
    """A date of git, or a day."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _over_time(dated: Sequence[tuple[datetime, Drift]], report: Report) -> Chart:
    days = [moment.date() for moment, _ in dated]
    first, last = min(days), max(days)
    if report.base is not None:
        first = min(first, _moment(report.base.committed_at).date())
    last = max(last, _moment(report.target.committed_at).date())
    few = (step for step in _STEPS if len(list(_starts(step[1], first, last))) <= _BARS)
    title, start, long, short = next(few, _STEPS[-1])
    starts = list(_starts(start, first, last))
    index = {day: n for n, day in enumerate(starts)}
    bars = _bars(
        [(f"{day:{long}}", f"{day:{short}}") for day in starts],
        ((index[start(moment.date())], drift) for moment, drift in dated),
    )
    step = (WIDTH - _LEFT) / len(starts)
    ends = [*starts[1:], start(starts[-1] + timedelta(days=400 if title == "year" else 32))]

    def at(moment: datetime) -> float:
        n = max(0, bisect_left(starts, moment.date() + timedelta(days=1)) - 1)
        share = (moment.date() - starts[n]).days / max(1, (ends[n] - starts[n]).days)
        return _LEFT + step * (n + min(1.0, share))

    shown = [one for one in _releases(report.milestones) if first <= _moment(one.date).date() <= last]
    marks = _apart([Tick(at=round(at(_moment(one.date)), 1), label=one.version) for one in shown])
    return _chart(f"By {title}", title, bars, marks)


def _over_releases(dated: Sequence[tuple[datetime, Drift]], report: Report) -> Chart | None:
    """Each drift under the first release that has it: the release that is its cause, or the next one after it."""
    known = _releases(report.milestones)
    moments = [_moment(one.date) for one in known]
    named = {one.commit: n for n, one in enumerate(known)}
    placed = []
    for moment, drift in dated:
        assert drift.cause is not None
        placed.append((named.get(drift.cause.commit, bisect_left(moments, moment)), drift))
    if not known or not placed:
        return None
    low, high = min(n for n, _ in placed), max(n for n, _ in placed)
    labels = [one.version for one in known[low : high + 1]] + (["unreleased"] if high == len(known) else [])
    if len(labels) < 2:
        return None
    return _chart(
        "By release", "release", _bars([(label, label) for label in labels], ((n - low, drift) for n, drift in placed))
    )


def _releases(milestones: Sequence[Milestone]) -> list[Milestone]:
    """Each version once, as it was released first, in the order of time."""
    first: dict[str, Milestone] = {}
    for one in sorted(milestones, key=lambda one: _moment(one.date)):
        first.setdefault(one.version, one)
    return list(first.values())


def _bars(labels: Sequence[tuple[str, str]], placed: Iterator[tuple[int, Drift]]) -> tuple[Bar, ...]:
    counts = [[0] * len(SERIES) for _ in labels]
    for n, drift in placed:
        counts[n][SERIES.index(series_of(drift))] += 1
    return tuple(
        Bar(label=label, short=short, counts=tuple(found)) for (label, short), found in zip(labels, counts, strict=True)
    )


def _chart(title: str, column: str, bars: tuple[Bar, ...], marks: tuple[Tick, ...] = ()) -> Chart:
    top = _round_up(max(sum(bar.counts) for bar in bars))
    step = (WIDTH - _LEFT) / len(bars)
    per = (HEIGHT - _TOP - _BOTTOM) / top
    wide = min(step * 0.7, 44)
    rects = []
    for n, bar in enumerate(bars):
        y = float(HEIGHT - _BOTTOM)
        for series, count in zip(SERIES, bar.counts, strict=True):
            if count:
                y -= count * per
                x = _LEFT + step * (n + 0.5) - wide / 2
                rects.append(
                    Rect(
                        series=series, x=round(x, 1), y=round(y, 1), width=round(wide, 1), height=round(count * per, 1)
                    )
                )
    axis = _apart([Tick(at=round(_LEFT + step * (n + 0.5), 1), label=bar.short) for n, bar in enumerate(bars)])
    scale = tuple(
        Tick(at=round(HEIGHT - _BOTTOM - value * per, 1), label=f"{value:,}") for value in sorted({0, top // 2, top})
    )
    return Chart(
        name=column, title=title, column=column, bars=bars, rects=tuple(rects), axis=axis, scale=scale, marks=marks
    )


def _round_up(most: int) -> int:
    """The top of the scale: an even number with one or two digits before its zeros."""
    unit = int("1" + "0" * (len(str(most)) - 2)) if most > 99 else 1
    return max(2, -(-most // (2 * unit)) * 2 * unit)


def _apart(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """The ticks with the labels of those that stand too near to the one before left out."""
    shown, last = [], -1000.0
    for tick in ticks:
        room = tick.at - last >= _APART
        shown.append(Tick(at=tick.at, label=tick.label if room else ""))
        last = tick.at if room else last
    return tuple(shown)


def _starts(start: Callable[[date], date], first: date, last: date) -> Iterator[date]:
    """The first days of the steps from one day to another."""
    day = start(first)
    while day <= last:
        yield day
        following = day + timedelta(days=1)
        while start(following) == day:
            following += timedelta(days=1)
        day = following


_STEPS: tuple[tuple[str, Callable[[date], date], str, str], ...] = (
    ("day", lambda day: day, "%d %B %Y", "%d %b"),
    ("week", lambda day: day - timedelta(days=day.weekday()), "%d %B %Y", "%d %b"),
    ("month", lambda day: day.replace(day=1), "%B %Y", "%b %Y"),
    ("year", lambda day: day.replace(month=1, day=1), "%Y", "%Y"),
)
"""What a step is called, the day on which it begins, and how that day is written in a table and under a bar."""
