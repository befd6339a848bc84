"""The outcome of a report in a sentence, and in counts."""

from __future__ import annotations

from tracker.model import Kind, Report
from tracker.report.words import counted


def verdict(report: Report) -> str:
    """The outcome in one sentence."""
    noun = "page" if report.tracked == "pages" else "error"
    counts = report.summary
    checked = counted(counts.checked, noun)
    if not counts.checked:
        return f"No {noun} could be checked."
    if counts.differing:
        verb = "differs" if counts.differing == 1 else "differ"
        return f"{counts.differing} of {checked} {verb} from the source in more than the line."
    all_of, are, say = (f"All {checked}", "are", "say") if counts.checked > 1 else (f"The one {noun}", "is", "says")
    if counts.unchanged == counts.checked:
        return f"{all_of} {are} right at {report.target.name}."
    return f"{all_of} still {say} what the source says; {counts.checked - counts.unchanged} moved."


def summary(report: Report) -> str:
    """The counts on one line."""
    counts = [f"{report.summary.checked} checked", f"{report.summary.unchanged} unchanged"]
    counts += [f"{number} {kind}" for kind in reversed(Kind) if (number := report.summary.kinds[kind])]
    if report.unlocated:
        counts.append(f"{len(report.unlocated)} unlocated")
    return ", ".join(counts)
