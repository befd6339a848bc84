"""What an unattended run says of drifts and of failures that are over: lines for a mail. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb

from tracker.errors import TrackerError, of_system
from tracker.ledger import Family
from tracker.model import Drift, Kind, Report, Severity
from tracker.report.words import counted
from tracker.store.database import stamp
from tracker.store.drifts import Changes, Seen
from tracker.store.runs import FAILED, Run

_NUMBERS = re.compile(r"\b(?:[0-9a-f]{7,40}|\d[\d.,:TZ-]*)\b")


def failure(error: Exception) -> tuple[int, str]:
    """The exit code of a run that failed, and why it did, on one line."""
    if isinstance(error, TrackerError):
        return error.exit_code, str(error)
    if isinstance(error, OSError):
        return TrackerError.exit_code, of_system(error)
    at = extract_tb(error.__traceback__)[-1:]
    where = f" at {Path(at[0].filename).name}:{at[0].lineno}" if at else ""
    said = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return TrackerError.exit_code, f"a fault of the program ({said}{where}): report it with what `tracker -v run` shows"


def alike(said: str, before: str | None) -> bool:
    """Whether two lines are the same but for commits, counts and times: then it was told."""
    return before is not None and _NUMBERS.sub("#", said) == _NUMBERS.sub("#", before)


def recovered(failed: Sequence[Run]) -> list[str]:
    told = [run for run in failed if run.outcome == FAILED]
    if not told:
        return []
    since = told[0].started_at
    first = told[0].said.partition(":")[0]
    return [f"it works again, after {counted(len(told), 'failed run')} since {stamp(since)[:16]}Z ({first})"]


def changed(report: Report, changes: Changes) -> list[str]:
    """The drifts that came and went, below a line that says where."""
    came = [_line(one.drift, one.page) for one in changes.appeared if one.drift.severity > Severity.NOTICE]
    went = [
        f"settled: {_name(found.drift)} ({why.reason})"
        for found, why in changes.closed
        if found.family is Family.MEANING
    ]
    head = [f"{report.repository} at {report.target.commit[:12]}:"] if came or went else []
    return [*head, *came, *went]


def baseline(report: Report, appeared: Sequence[Seen]) -> list[str]:
    """What the first run found."""
    meaning = [one for one in appeared if one.family is Family.MEANING]
    new = sum(one.family is Family.NEW for one in appeared)
    noun = "page" if report.tracked == "pages" else "error"
    lines = [
        f"first run, at {report.target.commit[:12]}: {counted(report.summary.checked, noun)} checked, "
        f"{len(meaning)} of them with a drift of meaning, {counted(new, 'new error')}"
    ]
    if len(meaning) <= 20:
        lines += [_line(one.drift, one.page) for one in meaning]
    lines.append("this is the baseline: from now on what changes is told; `tracker file` shows what this run found")
    return lines


def _line(drift: Drift, page: str) -> str:
    """A drift in one line, for a mail."""
    site = drift.after or drift.before
    assert site is not None
    kinds = ", ".join(kind for kind in Kind if kind in drift.kinds and kind.severity >= Severity.WARNING)
    cause = ""
    if drift.cause is not None:
        request = f" (#{drift.cause.pull_request})" if drift.cause.pull_request else ""
        cause = f", by {drift.cause.commit[:10]}{request}"
    where = f"{site.path}:{site.line}"
    unsure = "" if drift.certain else " (not sure: a file could not be wholly read)"
    return f"{kinds}{unsure}: {_name(drift)}  [{page or where}]{cause}" if kinds else ""


def _name(drift: Drift) -> str:
    site = drift.before or drift.after
    assert site is not None
    text = " ".join((site.message or "").split()) or f"{site.exception or 'raise'} in {site.scope or site.path}"
    return text if len(text) <= 100 else f"{text[:99]}…"
