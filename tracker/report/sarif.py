"""The report as SARIF 2.1.0 (OASIS), for code scanning and for viewers of findings.

Pure, and the same report always gives the same text: no time, no identifier by chance. Lines only, no columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tracker.harmless import printable
from tracker.model import Drift, Kind, Report, Revision, Severity, Site
from tracker.report.facts import kinds, rows, subject, texts
from tracker.report.links import Links, quoted
from tracker.report.screen import Screen

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE, TARGET = "BASE", "TARGET"
"""The roots that paths are relative to; a page that was written against another commit than the base has its own."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note", Severity.INFO: "none"}
_MEANING = {
    Kind.REMOVED: (
        "The error is no longer raised.",
        "Nothing continues it. Retire its page: `tracker repin --accept` marks it so, with the likely successor.",
    ),
    Kind.REWORDED: (
        "The error says something else.",
        "The literal wording of its message differs; white space does not count. Mend what the page quotes.",
    ),
    Kind.RETYPED: (
        "Another exception is raised.",
        "The last part of the exception's name differs. Mend the page, and whatever tells its readers what to catch.",
    ),
    Kind.GUARD_CHANGED: (
        "The error is raised under other conditions.",
        "The conditions on the way to the raise differ; layout and quotes do not count. Mend what the page says about "
        "when it happens.",
    ),
    Kind.NEW: (
        "An error that the base does not have.",
        "It continues none of the base's errors. Write a page for it, or accept it with `tracker ack`.",
    ),
    Kind.PLACEHOLDER_CHANGED: (
        "The message has other placeholders.",
        "The wording is the same, what is put into it is not. `tracker repin` brings the page up to date.",
    ),
    Kind.RELOCATED: (
        "The error is raised in another file, function or class.",
        "`tracker repin` brings the page up to date.",
    ),
    Kind.EXCERPT_CHANGED: (
        "The source around the error differs from the page's excerpt.",
        "`tracker repin` brings the page up to date.",
    ),
    Kind.MOVED: ("The error is raised on another line.", "`tracker repin` brings the page up to date."),
}


def render(report: Report, screen: Screen) -> str:
    """The report as indented JSON; how wide or colourful the screen is does not matter."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}
    return json.dumps(_clean(log), indent=2, ensure_ascii=False) + "\n"


def _run(report: Report) -> dict[str, Any]:
    links = Links.of(report)
    roots = _roots(report)
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "tracker", "rules": [_rule(kind) for kind in Kind]}},
        "automationDetails": {"id": f"tracker/{report.repository}/", "guid": _guid(report, report.target)},
        "originalUriBaseIds": {root: {"description": _message(name)} for root, (name, _) in roots.items()},
        "invocations": [_invocation(report)],
        "results": [_result(drift, report, links) for drift in report.drifts],
    }
    if report.base is not None:
        run["baselineGuid"] = _guid(report, report.base)
    if report.web:
        run["versionControlProvenance"] = [
            {"repositoryUri": report.web, "revisionId": known, "mappedTo": {"uriBaseId": root}}
            for root, (_, commit) in roots.items()
            if (known := links.known(commit))
        ]
    return run


def _roots(report: Report) -> dict[str, tuple[str, str]]:
    """Root -> the name and the commit of the revision that it stands for."""
    found = {TARGET: (report.target.name, report.target.commit)}
    if report.base is not None:
        found[BASE] = (report.base.name, report.base.commit)
    pins = sorted({drift.origin for drift in report.drifts if drift.before is not None})
    return found | {root: (pin, pin) for pin in pins if (root := _root(pin, report)) != BASE}


def _root(origin: str, report: Report) -> str:
    """The root of what stands so at a commit before the target."""
    return BASE if report.base is not None and report.base.commit == origin else f"PIN-{origin[:10]}"


def _guid(report: Report, revision: Revision) -> str:
    """Names the check of one revision: what it is the baseline of, and what has it as its baseline, agree on it."""
    return str(uuid5(NAMESPACE_URL, printable(f"tracker:{report.repository}@{revision.commit}")))


def _rule(kind: Kind) -> dict[str, Any]:
    short, long = _MEANING[kind]
    return {
        "id": kind.value,
        "name": "".join(map(str.capitalize, kind.value.split("-"))),
        "shortDescription": {"text": short},
        "fullDescription": {"text": f"{short} {long}"},
        "help": {"text": long.replace("`", ""), "markdown": long},
        "defaultConfiguration": {"level": _LEVELS[kind.severity]},
    }


def _invocation(report: Report) -> dict[str, Any]:
    """What could not be checked, and what the reader is told besides."""
    notifications = [
        {
            "level": "error",
            "message": _message(f"{report.pages.get(one.entry, one.entry)} could not be checked: {one.reason}"),
            "properties": {"entry": one.entry},
        }
        for one in report.unlocated
    ]
    notifications += [
        {"level": "warning", "message": _message(f"{path} {why}: nothing in it is surely removed")}
        for path, why in sorted(report.partial.items())
    ]
    notifications += [{"level": "note", "message": _message(notice)} for notice in report.notices]
    return {"executionSuccessful": True, "toolExecutionNotifications": notifications}


def _result(drift: Drift, report: Report, links: Links) -> dict[str, Any]:
    leading, site = drift.leading, drift.after or drift.before
    assert site is not None
    result: dict[str, Any] = {
        "ruleId": leading.value,
        "ruleIndex": list(Kind).index(leading),
        "level": _LEVELS[drift.severity],
        "message": _message("\n".join(_told(drift, report))),
        "locations": [_location(site, TARGET if drift.after is not None else _root(drift.origin, report))],
        "partialFingerprints": _fingerprints(drift),
        "baselineState": _state(drift),
        "properties": _properties(drift, report, links),
    }
    if drift.severity is Severity.INFO:
        result["kind"] = "informational"
    related = [
        (drift.before, _root(drift.origin, report), "what it was") if drift.after is not None else None,
        (drift.possible, TARGET, "what it may go on as"),
    ]
    if found := [one for one in related if one is not None and one[0] is not None]:
        result["relatedLocations"] = [
            {**_location(place, root), "id": n, "message": {"text": said}}
            for n, (place, root, said) in enumerate(found, 1)
            if place is not None
        ]
    return result


def _told(drift: Drift, report: Report) -> Iterator[str]:
    site = drift.after or drift.before
    assert site is not None
    yield f"{site.exception or 'raise'}: {texts(site)}"
    yield f"{', '.join(kinds(drift))}{'' if drift.certain else ' (not certain)'}"
    for row in rows(drift):
        if row.changes:
            yield f"{row.label}:"
            sides = (side for change in row.changes for side in zip("-+", change, strict=True))
            yield from (f"{sign} {text}" for sign, text in sides if text)
    if drift.entry is not None:
        yield f"page: {report.pages.get(drift.entry, drift.entry)}"
    if drift.cause is not None:
        yield f"cause: {drift.cause.commit[:10]} of {drift.cause.date[:10]}, {subject(drift.cause)}"


def _message(text: str) -> dict[str, str]:
    """A text in which nothing stands for something else: braces are doubled (SARIF, 3.11.5), and no brackets are
    followed by parentheses, which would be a link (3.11.6).
    """
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _location(site: Site, root: str) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quoted(site.path), "uriBaseId": root},
            "region": {"startLine": site.line, "endLine": max(site.line, site.end_line)},
        },
        **({"logicalLocations": [{"fullyQualifiedName": site.scope}]} if site.scope else {}),
    }


def _fingerprints(drift: Drift) -> dict[str, str]:
    """What keeps the result the same from run to run: the entry where there is one, else what the site was at first."""
    site = drift.before or drift.after
    assert site is not None
    version, _, digest = site.fingerprint.partition(":")
    found = {f"site/v{version}": digest}
    if drift.entry is not None:
        found["entry/v1"] = drift.entry
    # The one that GitHub goes by; without it, it would want to read the line from a checkout that is not there.
    return {**found, "primaryLocationLineHash": drift.entry or digest}


def _state(drift: Drift) -> str:
    if drift.before is None:
        return "new"
    if drift.after is None:
        return "absent"
    return "unchanged" if drift.severity is Severity.INFO else "updated"


def _properties(drift: Drift, report: Report, links: Links) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kinds": [kind.value for kind in kinds(drift)],
        "severity": drift.severity.name.lower(),
        "certain": drift.certain,
    }
    if drift.entry is not None:
        found |= {"entry": drift.entry, "page": report.pages.get(drift.entry, "")}
    if drift.score is not None:
        found["score"] = round(drift.score, 3)
    if drift.cause is not None:
        found["cause"] = {
            "commit": drift.cause.commit,
            "author": drift.cause.author,
            "date": drift.cause.date,
            "subject": drift.cause.subject,
            "pullRequest": drift.cause.pull_request,
            "uri": links.pull(drift.cause.pull_request) or links.commit(drift.cause.commit),
        }
    return found


def _clean(value: Any) -> Any:
    """Lone surrogates and characters that do not show, as escapes: some readers refuse them."""
    if isinstance(value, str):
        return "\n".join(map(printable, value.split("\n")))
    if isinstance(value, dict):
        return {name: _clean(one) for name, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, list) else value
