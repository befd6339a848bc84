"""The report as Markdown: a changelog of errors for people, by what became of them and then by file.

Pure. All that upstream wrote stands in code or is made harmless: it calls nobody and is no markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tracker.harmless import code, fence, inline
from tracker.model import Cause, Drift, Kind, Report, Revision, Site
from tracker.report.facts import TITLES, doubt, kinds, rows, subject, texts
from tracker.report.links import Links
from tracker.report.screen import Screen
from tracker.report.summary import verdict
from tracker.report.words import compared

FEW = 20
"""Drifts that only moved which are listed one by one; more are a count, unless nothing else is to be shown."""


def render(report: Report, screen: Screen) -> str:
    """The report as GitHub's Markdown; how wide or colourful the screen is does not matter."""
    return "\n\n".join(blocks(report)) + "\n"


def blocks(report: Report) -> Iterator[str]:
    """The parts of the report in order, each whole in itself: cut between two of them, it is still right."""
    links = Links.of(report, announced=False)
    base = _revision(report.base, links) if report.base else "the pages"
    yield f"# Errors of {inline(report.repository)}"
    yield f"{base} → {_revision(report.target, links)}"
    yield f"**{inline(verdict(report))}**"
    yield _counts(report)
    for kind in Kind:
        drifts = [drift for drift in report.drifts if drift.leading is kind]
        if drifts:
            yield f"## {TITLES[kind]} ({len(drifts)})"
            yield from _section(kind, drifts, report, links, alone=len(drifts) == len(report.drifts))
    if report.unlocated:
        yield "## Pages that could not be checked"
        yield "Their own facts cannot be found."
        yield "\n".join(
            f"* {code(report.pages.get(one.entry, one.entry))}: {inline(one.reason)}" for one in report.unlocated
        )
    if report.partial:
        yield "## Files that were not wholly read"
        yield "Nothing in them is surely removed."
        yield "\n".join(f"* {code(path)} {inline(why)}" for path, why in sorted(report.partial.items()))
    for notice in report.notices:
        yield f"_{inline(notice[:1].upper() + notice[1:])}._"


def _counts(report: Report) -> str:
    counts = [("checked", report.summary.checked), ("unchanged", report.summary.unchanged)]
    counts += [(kind.value, number) for kind in Kind if (number := report.summary.kinds[kind])]
    counts += [("unlocated", len(report.unlocated))] if report.unlocated else []
    return "\n".join(["| | errors |", "|---|---:|", *(f"| {name} | {number:,} |" for name, number in counts)])


def _section(kind: Kind, drifts: Sequence[Drift], report: Report, links: Links, alone: bool) -> Iterator[str]:
    listed = kind in (Kind.NEW, Kind.MOVED, Kind.EXCERPT_CHANGED)
    if listed and kind is not Kind.NEW and len(drifts) > FEW and not alone:
        yield f"They are right but for the line, and not listed here (`--kind {kind}` lists them)."
        return
    for path, group in groupby(sorted(drifts, key=_place), _path):
        yield f"### {code(path)}"
        if listed:
            yield "\n".join(_line(drift, report, links) for drift in group)
        else:
            for drift in group:
                yield _card(drift, report, links)


def _place(drift: Drift) -> tuple[str, int]:
    site = _shown(drift)
    return site.path, site.line


def _path(drift: Drift) -> str:
    return _shown(drift).path


def _shown(drift: Drift) -> Site:
    """The site that a reader looks for: as it is now, or where it was."""
    site = drift.after or drift.before
    assert site is not None
    return site


def _card(drift: Drift, report: Report, links: Links) -> str:
    parts = [_head(drift, report, links)]
    for row in rows(drift):
        if row.changes:
            lines = compared(row.changes) + ([f"  {row.text}"] if row.text else [])
            parts.append(f"{row.label.capitalize()}:\n\n" + fence("\n".join(lines), "diff"))
        elif row.label == "message":
            parts.append(fence(row.text, "text"))
    if drift.possible is not None:
        where = _where(drift.possible, report.target.commit, links, "")
        parts.append(f"It may go on at {where}:\n\n{fence(texts(drift.possible), 'text')}")
    if drift.cause is not None:
        parts.append(f"Cause: {_cause(drift.cause, links)}")
    return "\n\n".join(parts)


def _head(drift: Drift, report: Report, links: Links) -> str:
    site = _shown(drift)
    scopes = [code(one.scope) or "the module" for one in (drift.before, drift.after) if one is not None]
    parts = [f"**{code(site.exception or 'raise')}** in {' → '.join(dict.fromkeys(scopes))}"]
    parts.append(_places(drift, report, links))
    if others := kinds(drift)[1:]:
        parts.append(f"also {', '.join(others)}")
    if drift.entry is not None:
        parts.append(f"page {code(report.pages.get(drift.entry, drift.entry))}")
    if not drift.certain:
        parts.append("not certain")
    if remark := doubt(drift):
        parts.append(remark)
    return " · ".join(parts)


def _places(drift: Drift, report: Report, links: Links) -> str:
    here = _path(drift)
    before = _where(drift.before, drift.origin, links, here) if drift.before else ""
    after = _where(drift.after, report.target.commit, links, here) if drift.after else ""
    return " → ".join(place for place in (before, after) if place)


def _line(drift: Drift, report: Report, links: Links) -> str:
    site = _shown(drift)
    page = f" · page {code(report.pages.get(drift.entry, drift.entry))}" if drift.entry is not None else ""
    cause = f" · {_cause(drift.cause, links)}" if drift.cause is not None else ""
    return f"* {_places(drift, report, links)} {code(site.exception or 'raise')}: {code(texts(site))}{page}{cause}"


def _where(site: Site, commit: str, links: Links, here: str) -> str:
    """The line of a site, with its file unless that is the one under whose heading it stands."""
    shown = f"line {site.line}" if site.path == here else code(f"{site.path}:{site.line}")
    address = links.site(site, commit)
    return f"[{shown}]({address})" if address else shown


def _revision(revision: Revision, links: Links) -> str:
    shown = code(links.short(revision.commit))
    address = links.commit(revision.commit)
    return f"{code(revision.name)} ({f'[{shown}]({address})' if address else shown}, {revision.committed_at[:10]})"


def _cause(cause: Cause, links: Links) -> str:
    shown, address = code(links.short(cause.commit)), links.commit(cause.commit)
    pull = links.pull(cause.pull_request)
    request = f" ([pull request {cause.pull_request}]({pull}))" if pull else ""
    return f"{f'[{shown}]({address})' if address else shown} of {cause.date[:10]}, {inline(subject(cause))}{request}"
