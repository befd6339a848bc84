"""The report as one HTML file that needs nothing else: no network, no other file, no server.

Pure, but for reading its own template. All that upstream wrote is escaped by the template engine, and what does not
show in it is shown; its scripts and styles are named by their hashes, so that no other can run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tracker.harmless import cut_title, printable
from tracker.model import Drift, Excerpt, Kind, Report, Severity, Site
from tracker.report import chart
from tracker.report.facts import TITLES, doubt, exception, kinds, rows, subject, texts
from tracker.report.links import Links
from tracker.report.screen import Screen
from tracker.report.summary import verdict
from tracker.report.words import Run, marked

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = 110
"""Characters of a message that fit into a heading."""
OPEN = 25
"""Rows that only moved which are shown at once; more are folded away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a site stands, with its address."""

    text: str
    address: str


class Comparison(NamedTuple):
    """A fact on both sides: what changed, in runs, and what both have."""

    label: str
    changes: Sequence[tuple[Sequence[Run], Sequence[Run]]]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Source around a statement, cut where the statement begins and ends."""

    side: str
    place: Place
    numbers: str
    above: str
    raised: str
    below: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A drift as it is shown."""

    drift: Drift
    kinds: Sequence[str]
    name: str
    exception: str
    scope: str
    page: str
    places: Sequence[Place]
    comparisons: Sequence[Comparison]
    code: Sequence[Code]
    possible: Place | None
    commit: Place | None
    pull: Place | None
    author: str
    subject: str
    doubt: str
    sought: str
    """What the filter by text looks into, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All drifts that are told under one kind."""

    kind: str
    title: str
    cards: Sequence[Card]
    quiet: bool
    folded: bool


def render(report: Report, screen: Screen) -> str:
    """The report as HTML; how wide or colourful the screen is does not matter."""
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    found, undated = chart.charts(report)
    links = Links.of(report)
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            report=report,
            links=links,
            verdict=verdict(report),
            noun="page" if report.tracked == "pages" else "error",
            sections=list(_sections(report, links)),
            shown=[(kind.value, number) for kind in Kind if (number := _number(report, kind))],
            severities=[severity.name.lower() for severity in reversed(Severity)],
            charts=found,
            undated=undated,
            series=[(name, chart.TITLES[name]) for name in chart.SERIES],
            size=(chart.WIDTH, chart.HEIGHT),
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; "
            "form-action 'none'",
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """What does not show in a text, or would turn its direction, as escapes."""
    return printable(value) if type(value) is str else value


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _number(report: Report, kind: Kind) -> int:
    return sum(kind in drift.kinds for drift in report.drifts)


def _sections(report: Report, links: Links) -> Iterator[Section]:
    for kind in Kind:
        cards = [_card(drift, report, links) for drift in report.drifts if drift.leading is kind]
        if cards:
            quiet = kind.severity is Severity.INFO
            yield Section(
                kind=kind.value, title=TITLES[kind], cards=cards, quiet=quiet, folded=quiet and len(cards) > OPEN
            )


def _card(drift: Drift, report: Report, links: Links) -> Card:
    before, after = drift.before, drift.after
    site = after or before
    assert site is not None
    name = texts(site)
    page = report.pages.get(drift.entry, drift.entry) if drift.entry is not None else ""
    commits = (drift.origin, report.target.commit)
    places = [_place(one, links.site(one, at)) for one, at in zip((before, after), commits, strict=True) if one]
    if before and after and before.path == after.path:
        places[1] = Place(text=str(after.line), address=places[1].address)
    cause = drift.cause
    return Card(
        drift=drift,
        kinds=[kind.value for kind in kinds(drift)],
        name=cut_title(name, _NAME),
        exception=exception(site),
        scope=" → ".join(dict.fromkeys(one.scope or "the module" for one in (before, after) if one)),
        page=page,
        places=places,
        comparisons=list(_comparisons(drift, long=len(name) > _NAME)),
        code=[
            _code(side, one, excerpt, commit, links)
            for side, one, excerpt, commit in zip(
                ("Before", "After"), (before, after), drift.excerpts, commits, strict=True
            )
            if one is not None and excerpt is not None
        ],
        possible=_place(drift.possible, links.site(drift.possible, report.target.commit)) if drift.possible else None,
        commit=Place(text=links.short(cause.commit), address=links.commit(cause.commit)) if cause else None,
        pull=Place(text=f"#{cause.pull_request}", address=links.pull(cause.pull_request))
        if cause and cause.pull_request
        else None,
        author=cause.author if cause and links.known(cause.commit) == cause.commit else "",
        subject=subject(cause) if cause else "",
        doubt=doubt(drift),
        sought=" ".join(dict.fromkeys(part.lower() for one in (before, after) if one for part in (one.path, one.scope)))
        + f" {page.lower()} {drift.entry or ''}",
    )


def _place(site: Site, address: str) -> Place:
    return Place(text=f"{site.path}:{site.line}", address=address)


def _comparisons(drift: Drift, long: bool) -> Iterator[Comparison]:
    for row in rows(drift):
        if row.changes or row.label == "when" or (row.label == "message" and long):
            yield Comparison(row.label, [marked(*change) for change in row.changes], row.text)


def _code(side: str, site: Site, excerpt: Excerpt, commit: str, links: Links) -> Code:
    first, last = site.line - excerpt.line, site.end_line - excerpt.line + 1
    lines = excerpt.lines
    return Code(
        side=side,
        place=Place(text=f"{site.path} at {links.short(commit)}", address=links.site(site, commit)),
        numbers="\n".join(str(excerpt.line + n) for n in range(len(lines))),
        above="\n".join(lines[:first]),
        raised="\n".join(lines[first:last]),
        below="\n".join(lines[last:]),
    )
