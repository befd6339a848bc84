"""The source around the sites of a report, for the formats that show it. It reads the mirror and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tracker.model import Drift, Entry, Excerpt, Report, Revision, Severity, Site
from tracker.snapshots import Sources

BEFORE, AFTER = 8, 4
"""Lines that are shown before a statement and after it."""


def with_excerpts(report: Report, sources: Sources, pins: Iterable[Revision], entries: Sequence[Entry]) -> Report:
    """The report with the source around each site that differs in more than a line.

    `pins` are the revisions besides base and target that the mirror has; of an entry whose pin it lacks, the page's
    own excerpt is shown.
    """
    known = {one.commit: one for one in (*pins, *([report.base] if report.base else []), report.target)}
    pages = {entry.id: entry for entry in entries}

    def shown(drift: Drift) -> Drift:
        if drift.severity is Severity.INFO:
            return drift
        before = _before(drift, sources, known, pages)
        after = _around(drift.after, sources.lines(report.target, drift.after.path)) if drift.after else None
        return replace(drift, excerpts=(before, after))

    return replace(report, drifts=tuple(map(shown, report.drifts)))


def _before(
    drift: Drift, sources: Sources, known: Mapping[str, Revision], pages: Mapping[str, Entry]
) -> Excerpt | None:
    if drift.before is None:
        return None
    if drift.origin in known:
        return _around(drift.before, sources.lines(known[drift.origin], drift.before.path))
    entry = pages.get(drift.entry or "")
    if entry is None or entry.excerpt_line is None:
        return None
    return _around(drift.before, entry.excerpt.split("\n"), first=entry.excerpt_line)


def _around(site: Site, lines: Sequence[str], first: int = 1) -> Excerpt | None:
    """The lines around a site, of lines that begin with number `first`; None where the site is not among them."""
    start, end = max(first, site.line - BEFORE), min(first + len(lines), site.end_line + AFTER + 1)
    if not first <= site.line < first + len(lines):
        return None
    return Excerpt(line=start, lines=tuple(lines[start - first : end - first]))
