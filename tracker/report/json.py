"""The report as JSON, schema `tracker.diff/1`: a contract that other programs are written against.

The structures below are that contract and nothing else; `schema()` describes them.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from tracker import model
from tracker.model import Kind, Report
from tracker.report.screen import Screen

SCHEMA = "tracker.diff/1"

Line = Annotated[int, msgspec.Meta(ge=1, description="1-based")]


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One raise statement at one revision."""

    path: str
    line: Line
    end_line: Line
    scope: str
    exception: str | None
    message: str | None
    alternatives: list[str]
    form: model.Form
    guard: list[str]
    ordinal: Line


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """A named commit."""

    revision: str
    commit: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40}$")]
    committed_at: str


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """The paths that were read."""

    base: list[str]
    target: list[str]


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a revision was read."""

    files: int
    sites: int
    with_message: int


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How much was read; what is missing in a partial file is never surely removed."""

    base: Covered | None
    target: Covered
    partial_files: list[str]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that made a drift."""

    commit: str
    author: str
    date: str
    subject: str
    pull_request: int | None


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between a site and the one that continues it, or a site without a partner."""

    entry: str | None
    kinds: list[Kind]
    severity: str
    certain: bool
    score: float | None
    runner_up: float | None
    before: Site | None
    after: Site | None
    cause: Cause | None
    possibly_continued_by: Site | None


class Unlocated(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of a page: its own facts cannot be found."""

    entry: str
    reason: str


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report."""

    schema: str
    repository: str
    base: Revision | None
    target: Revision
    files: Files
    coverage: Coverage
    summary: dict[str, int]
    drifts: list[Drift]
    unlocated: list[Unlocated]
    notices: list[str]


def render(report: Report, screen: Screen) -> str:
    """The report as indented JSON; how wide or colourful the screen is does not matter."""
    return msgspec.json.format(msgspec.json.encode(_diff(report)), indent=2).decode() + "\n"


def line(site: model.Site) -> str:
    """One site as one line of JSON, without its line end."""
    return msgspec.json.encode(site_of(site)).decode()


def schema() -> dict[str, Any]:
    """The JSON Schema of what `render` gives."""
    described = msgspec.json.schema(Diff)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **described}


def _diff(report: Report) -> Diff:
    kinds = sorted(Kind, key=lambda kind: (kind.severity, kind.value))
    return Diff(
        schema=SCHEMA,
        repository=report.repository,
        base=_revision(report.base) if report.base else None,
        target=_revision(report.target),
        files=Files(base=list(map(plain, report.files[0])), target=list(map(plain, report.files[1]))),
        coverage=Coverage(
            base=_covered(report.coverage[0]) if report.coverage[0] else None,
            target=_covered(report.coverage[1]),
            partial_files=sorted(map(plain, report.partial)),
        ),
        summary={"checked": report.summary.checked, "unchanged": report.summary.unchanged}
        | {kind.value: report.summary.kinds[kind] for kind in kinds},
        drifts=[_drift(drift) for drift in report.drifts],
        unlocated=[Unlocated(entry=one.entry, reason=plain(one.reason)) for one in report.unlocated],
        notices=list(map(plain, report.notices)),
    )


def _drift(drift: model.Drift) -> Drift:
    return Drift(
        entry=drift.entry,
        kinds=[kind for kind in Kind if kind in drift.kinds],
        severity=drift.severity.name.lower(),
        certain=drift.certain,
        score=_rounded(drift.score),
        runner_up=_rounded(drift.runner_up),
        before=site_of(drift.before) if drift.before else None,
        after=site_of(drift.after) if drift.after else None,
        cause=_cause(drift.cause) if drift.cause else None,
        possibly_continued_by=site_of(drift.possible) if drift.possible else None,
    )


def _cause(cause: model.Cause) -> Cause:
    return Cause(
        commit=cause.commit,
        author=plain(cause.author),
        date=cause.date,
        subject=plain(cause.subject),
        pull_request=cause.pull_request,
    )


def site_of(site: model.Site) -> Site:
    return Site(
        path=plain(site.path),
        line=site.line,
        end_line=site.end_line,
        scope=plain(site.scope),
        exception=site.exception and plain(site.exception),
        message=site.message and plain(site.message),
        alternatives=list(map(plain, site.alternatives)),
        form=site.form,
        guard=list(map(plain, site.guard)),
        ordinal=site.ordinal,
    )


def _revision(revision: model.Revision) -> Revision:
    return Revision(revision=revision.name, commit=revision.commit, committed_at=revision.committed_at)


def _covered(coverage: model.Coverage) -> Covered:
    return Covered(files=coverage.files, sites=coverage.sites, with_message=coverage.with_message)


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 3)


def plain(text: str) -> str:
    """Lone surrogates (odd file names, odd escapes in messages) are no JSON: they are shown as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
