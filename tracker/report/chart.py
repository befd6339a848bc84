"""When errors drifted, as numbers and as the geometry of bars: over time, and from release to release.

Pure. Only drifts whose commit is known can be dated; how many are not is said beside the chart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from tracker.model import Drift, Kind, Milestone, Report, Severity

SERIES = ("meaning", "new", "place")
TITLES = {"meaning": "changed in meaning", "new": "new", "place": "elsewhere, or other placeholders"}
_PLACE = {Kind.PLACEHOLDER_CHANGED, Kind.RELOCATED}

WIDTH, HEIGHT = 760, 200
"""Of a chart, in its own units."""
_LEFT, _TOP, _BOTTOM = 36, 26, 22
_LEAST = 2.5
"""Height of a part of a bar: one drift of meaning must be seen beside hundreds of new errors."""
_APART = 72
"""Least distance between two labels."""
_BARS = 60
"""About so many at most: the steps of time become longer before there are more."""
_YEARS = 1970, 2099
"""What a commit's date is believed in; git takes any."""


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
    dated = [(moment, drift) for drift in loud if drift.cause and (moment := _moment(drift.cause.date))]
    found = []
    if dated:
        found.append(_over_time(dated, report))
        if between := _over_releases(dated, report):
            found.append(between)
    return found, len(loud) - len(dated)


def _moment(text: str) -> datetime | None:
    """A date of git; None for one that no clock can have shown."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if _YEARS[0] <= moment.year <= _YEARS[1] else None


def _over_time(dated: Sequence[tuple[datetime, Drift]], report: Report) -> Chart:
    ends = [report.target, *([report.base] if report.base else [])]
    days = [moment.date() for moment, _ in dated]
    days += [moment.date() for one in ends if (moment := _moment(one.committed_at))]
    first, last = min(days), max(days)
    step = next((step for step in _STEPS if (last - first).days <= _BARS * step.days), _STEPS[-1])
    starts = list(_starts(step, first, last))
    index = {day: n for n, day in enumerate(starts)}
    bars = _bars(
        [(f"{day:{step.long}}", f"{day:{step.short}}") for day in starts],
        ((index[step.start(moment.date())], drift) for moment, drift in dated),
    )
    wide = (WIDTH - _LEFT) / len(starts)

    def at(day: date) -> float:
        start = step.start(day)
        return _LEFT + wide * (index[start] + (day - start).days / step.days)

    shown = [
        (at(moment.date()), one.version)
        for moment, one in _releases(report.milestones)
        if first <= moment.date() <= last
    ]
    marks = _apart([Tick(at=round(place, 1), label=version) for place, version in shown])
    return _chart(f"By {step.name}", step.name, bars, marks)


def _over_releases(dated: Sequence[tuple[datetime, Drift]], report: Report) -> Chart | None:
    """Each drift under the first release that has it: the release that is its cause, or the next one after it."""
    known = _releases(report.milestones)
    moments = [moment for moment, _ in known]
    order = {one.version: n for n, (_, one) in enumerate(known)}
    named = {one.commit: order[one.version] for one in report.milestones if one.version in order}
    placed = []
    for moment, drift in dated:
        assert drift.cause is not None
        placed.append((named.get(drift.cause.commit, bisect_left(moments, moment)), drift))
    if not known or not placed:
        return None
    low, high = min(n for n, _ in placed), max(n for n, _ in placed)
    labels = [one.version for _, one in known[low : high + 1]] + (["unreleased"] if high == len(known) else [])
    if len(labels) < 2:
        return None
    return _chart(
        "By release", "release", _bars([(label, label) for label in labels], ((n - low, drift) for n, drift in placed))
    )


def _releases(milestones: Sequence[Milestone]) -> list[tuple[datetime, Milestone]]:
    """Each version once, as it was released first, in the order of time."""
    first: dict[str, tuple[datetime, Milestone]] = {}
    dated = [(moment, one) for one in milestones if (moment := _moment(one.date))]
    for moment, one in sorted(dated, key=lambda found: found[0]):
        first.setdefault(one.version, (moment, one))
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
                height = max(count * per, _LEAST)
                x, y = _LEFT + step * (n + 0.5) - wide / 2, y - height
                rects.append(
                    Rect(series=series, x=round(x, 1), y=round(y, 1), width=round(wide, 1), height=round(height, 1))
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


def _starts(step: _Step, first: date, last: date) -> Iterator[date]:
    """The first days of the steps from one day to another."""
    day = step.start(first)
    while day <= last:
        yield day
        day = step.start(day + timedelta(days=step.days))


class _Step(NamedTuple):
    """A step of time on an axis."""

    name: str
    days: int
    """At most so many; from its first day on, they lead into the next one and never past it."""
    start: Callable[[date], date]
    long: str
    """How its first day is written in a table, and under a bar."""
    short: str


_STEPS = (
    _Step("day", 1, lambda day: day, "%d %B %Y", "%d %b"),
    _Step("week", 7, lambda day: day - timedelta(days=day.weekday()), "%d %B %Y", "%d %b"),
    _Step("month", 31, lambda day: day.replace(day=1), "%B %Y", "%b %Y"),
    _Step("year", 366, lambda day: day.replace(month=1, day=1), "%Y", "%Y"),
)
