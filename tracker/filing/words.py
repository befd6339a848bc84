"""Findings -> the titles, bodies and comments of issues, written for the person who has to mend the page.

Pure. All that upstream wrote goes in fences or is made harmless: it must neither call people nor pose as ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tracker.harmless import code, cut_body, cut_title, fence, inline, plain
from tracker.ledger import Family, Finding, Found, Gone, Item
from tracker.model import Cause, Kind, Site
from tracker.report.links import blob, unannounced
from tracker.report.words import counted, in_signs

BEGIN, END = "<!-- tracker:begin -->", "<!-- tracker:end -->"
"""Between the two the tracker writes; what people write outside of them is kept."""
KEY, EVENT = "tracker-key: ", "tracker-event: "
TITLE, BODY = 250, 60_000
"""Characters. GitHub refuses titles over 256 and bodies over 65,536."""

_DATA = re.compile(r"^<!-- tracker-data: (\{.*\}) -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What issues call things."""

    repository: str
    """The upstream project, owner/name."""
    web: str
    """Its address for people, without a slash at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What an issue says of itself to the tracker."""

    key: str
    family: Family
    entry: str
    fingerprint: str
    episode: int


def key_of(body: str) -> str | None:
    """The key that a body carries as a whole line of its own; None where it carries none, or several."""
    keys = {line.removeprefix(KEY).strip() for line in _lines(body) if line.startswith(KEY)}
    return keys.pop() if len(keys) == 1 else None


def mark_of(body: str) -> Mark | None:
    """The key and what stands with it; None where either is missing or they do not fit."""
    name = key_of(body)
    found = _DATA.findall(body)
    if name is None or not found:
        return None
    try:
        data = json.loads(found[-1])
        mark = Mark(
            key=data["key"],
            family=Family(data["family"]),
            entry=data["entry"],
            fingerprint=data["fingerprint"],
            episode=int(data["episode"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
    return mark if mark.key == name else None


def events_of(body: str) -> list[str]:
    """The events that a comment tells of."""
    return [line.removeprefix(EVENT).strip() for line in _lines(body) if line.startswith(EVENT)]


def _lines(body: str) -> list[str]:
    """Lines outside of fences: what is quoted does not speak for the tracker."""
    found, fenced = [], ""
    for line in body.replace("\r\n", "\n").split("\n"):
        opening = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fenced:
            if opening and opening[1].startswith(fenced) and not line.strip().strip(fenced[0]):
                fenced = ""
        elif opening:
            fenced = opening[1]
        else:
            found.append(line)
    return found


def title(finding: Finding) -> str:
    """One line that says what is wrong with which page."""
    if finding.family is Family.NEW:
        return f"{counted(len(finding.drifts), 'error')} without a page"
    if finding.family is Family.LINES:
        return f"{counted(len(finding.drifts), 'page')} to repin: right, but on other lines"
    if finding.family is Family.MASS:
        where = f" in {finding.entry}" if "/" in finding.entry or "." in finding.entry else ""
        return cut_title(plain(f"{len(finding.drifts)} pages say what is no longer so{where}"), TITLE)
    drift = finding.drifts[0].drift
    assert drift.before is not None
    what = " and ".join(_ADJECTIVE[kind] for kind in Kind if kind in drift.kinds and kind in _ADJECTIVE)
    return cut_title(plain(f"{what}: {_name(drift.before)}"), TITLE)


_ADJECTIVE = {
    Kind.REMOVED: "Removed",
    Kind.REWORDED: "Reworded",
    Kind.RETYPED: "Retyped",
    Kind.GUARD_CHANGED: "Raised under another condition",
}


def body(finding: Finding, item: Item, names: Names, old: str = "") -> str:
    """The body of an issue. Of an `old` one, only what stands between the tracker's own marks is replaced."""
    data = {
        "key": finding.key,
        "family": finding.family.value,
        "entry": finding.entry,
        "fingerprint": finding.fingerprint,
        "episode": item.episode,
    }
    head, evidence, tail = _told(finding, names)
    if item.previous is not None:
        tail = f"{tail}\n\nTold before in #{item.previous}."
    foot = (
        f"{tail}\n\n---\n"
        "Kept up to date, and closed, by the tracker. What you write outside of this part stays. "
        f"To silence it, close this as not planned or label it `tracker:ignore`.\n\n"
        f"{KEY}{finding.key}\n{END}\n\n<!-- tracker-data: {_comment_safe(json.dumps(data))} -->"
    )
    before, after = _around(old)
    return cut_body(f"{before}{BEGIN}\n{head}", evidence, f"{foot}{after}", BODY)


def _comment_safe(data: str) -> str:
    """JSON without two hyphens in a row, at which an HTML comment might end."""
    return data.replace("--", "-\\u002d")


def owned(old: str) -> bool:
    """Whether the tracker still finds its own part in a body."""
    return _part(old) is not None


def _part(old: str) -> tuple[int, int] | None:
    start, end = old.find(BEGIN), old.find(END)
    return (start, end + len(END)) if 0 <= start < end else None


def _around(old: str) -> tuple[str, str]:
    part = _part(old)
    if part is None:
        return "", ""
    after = _DATA.sub("", old[part[1] :]).strip()
    before = old[: part[0]].rstrip()
    return f"{before}\n\n" if before else "", f"\n\n{after}" if after else ""


def _told(finding: Finding, names: Names) -> tuple[str, str, str]:
    """What is said before the evidence, the evidence (which may be cut), and what is said after it."""
    if finding.family is Family.MEANING:
        return _one(finding.drifts[0], names)
    listed = "\n".join(_line(one, names) for one in _in_order(finding.drifts))
    if finding.family is Family.NEW:
        return (
            f"{names.repository} raises {counted(len(finding.drifts), 'error')} that no page of the catalogue "
            "speaks of and that the pages' own commit did not have.",
            listed,
            "**What to do:** `tracker catalogue init --new-since pin` drafts the pages; an error that needs none is "
            'accepted with `tracker ack ID --reason "…"`. The list gets shorter by itself.',
        )
    if finding.family is Family.LINES:
        return (
            f"{counted(len(finding.drifts), 'page')} of the catalogue "
            f"{'is' if len(finding.drifts) == 1 else 'are'} right in all but the place.",
            listed,
            "**What to do:** `tracker repin --write` brings them up to date.",
        )
    return (
        f"{len(finding.drifts)} pages say something that {names.repository} no longer does. "
        "So many at once are told together.",
        "\n\n".join(f"### {inline(_name_of(one))}\n\n{_evidence(one, names)}" for one in _in_order(finding.drifts)),
        "**What to do:** mend the pages, then `tracker repin --accept ID --write`; a page that is still right is "
        'accepted with `tracker ack ID --reason "…"`.',
    )


def _one(found: Found, names: Names) -> tuple[str, str, str]:
    drift = found.drift
    page = f"The page {code(found.page)} (`{found.entry}`)" if found.page else f"The error `{found.entry}`"
    what = ", ".join(f"**{kind}**" for kind in Kind if kind in drift.kinds and kind in _ADJECTIVE)
    head = f"{page} says something that {names.repository} no longer does: {what}."
    return (
        head,
        _evidence(found, names),
        "**What to do**\n\n"
        f"* Mend the page, then bring it up to date: `tracker repin --accept {found.entry} --write`\n"
        f'* Or, if the page is still right: `tracker ack {found.entry} --reason "…"`',
    )


def _evidence(found: Found, names: Names) -> str:
    drift = found.drift
    assert drift.before is not None
    parts = []
    if drift.after is None:
        parts.append("**The page says**\n\n" + fence(_shown(drift.before)))
        parts.append("**The source** does not raise it any more.")
        if drift.possible is not None:
            parts.append("It may go on as\n\n" + fence(_shown(drift.possible)))
    else:
        parts += list(_differences(drift.before, drift.after))
    parts.append(_places(found, names))
    if drift.cause is not None:
        parts.append(f"**Cause:** {_cause(drift.cause, names)}")
    return "\n\n".join(parts)


def _differences(before: Site, after: Site) -> Iterable[str]:
    for noun, old, new in (
        ("exception", before.exception or "", after.exception or ""),
        ("message", "\n".join(before.messages), "\n".join(after.messages)),
        ("condition", "\n".join(before.guard), "\n".join(after.guard)),
        ("function", before.scope, after.scope),
    ):
        if old == new:
            if noun == "message" and new:
                yield "**Message**\n\n" + fence(new)
            continue
        left, right = in_signs(old, new)
        lines = [f"- {line}" for line in left.split("\n") if left] + [
            f"+ {line}" for line in right.split("\n") if right
        ]
        yield f"**{noun.capitalize()}**\n\n" + fence("\n".join(lines), "diff")


def _shown(site: Site) -> str:
    lines = [f"{site.exception or 'raise'}: {site.message or '(no text)'}"]
    lines += [f"when {condition}" for condition in site.guard]
    return "\n".join(lines)


def _places(found: Found, names: Names) -> str:
    drift = found.drift
    lines = []
    if drift.before is not None:
        lines.append(f"* before: {_link(drift.before, found.base_commit, names)}")
    if drift.after is not None:
        lines.append(f"* now: {_link(drift.after, found.target_commit, names)}")
    elif drift.possible is not None:
        lines.append(f"* perhaps now: {_link(drift.possible, found.target_commit, names)}")
    return "\n".join(lines)


def _link(site: Site, commit: str, names: Names) -> str:
    """A permalink; never one to a branch, whose lines move."""
    where = f" in {code(site.scope)}" if site.scope else ""
    return f"[{inline(site.path)}:{site.line}]({blob(names.web, commit, site)}) at {commit[:10]}{where}"


def _cause(cause: Cause, names: Names) -> str:
    """The commit and its pull request, linked so that upstream is not told of each mention."""
    web = unannounced(names.web)
    request = f" ([pull request {cause.pull_request}]({web}/pull/{cause.pull_request}))" if cause.pull_request else ""
    return f"[{cause.commit[:10]}]({web}/commit/{cause.commit}) of {cause.date[:10]}, {inline(cause.subject)}{request}"


def _line(found: Found, names: Names) -> str:
    site = found.drift.after or found.drift.before
    assert site is not None
    page = f" {code(found.page)}" if found.page else ""
    return f"* {_link(site, found.target_commit, names)}: {inline(_name(site))}{page}"


def _in_order(drifts: Sequence[Found]) -> list[Found]:
    def place(one: Found) -> tuple[str, int]:
        site = one.drift.after or one.drift.before
        return (site.path, site.line) if site is not None else ("", 0)

    return sorted(drifts, key=place)


def _name_of(found: Found) -> str:
    site = found.drift.before or found.drift.after
    assert site is not None
    return _name(site)


def _name(site: Site) -> str:
    """An error as a person calls it."""
    text = " ".join((site.message or "").split())
    return text or f"{site.exception or 'raise'} in {site.scope or site.path}"


def changed(finding: Finding, item: Item, names: Names) -> str:
    """The comment on an issue whose drift says something else than before."""
    _, evidence, _ = _told(finding, names)
    return cut_body(
        "The source changed again. Now:", evidence, _event(finding.key, finding.fingerprint, "changed"), BODY
    )


def reopened(finding: Finding, item: Item, names: Names) -> str:
    """The comment on an issue whose drift is back."""
    _, evidence, _ = _told(finding, names)
    event = _event(finding.key, finding.fingerprint, f"reopened-{item.episode}")
    return cut_body("It is back:", evidence, event, BODY)


def reminder(finding: Finding, item: Item, names: Names) -> str:
    """The one comment on an issue that a person closed as completed while the drift is still there."""
    _, evidence, _ = _told(finding, names)
    event = _event(finding.key, finding.fingerprint, f"reminder-{item.episode}")
    return cut_body(
        "This was closed as completed, and the page still differs from the source. It stays closed; "
        f'`tracker ack {finding.entry} --reason "…"` says that it is meant so.',
        evidence,
        event,
        BODY,
    )


def settled(item: Item, gone: Gone) -> str:
    """The comment with which the tracker closes an issue."""
    event = _event(item.key, item.fingerprint, f"settled-{item.episode}")
    return cut_body(f"Settled: {inline(gone.reason)}.", "", event, BODY)


def duplicate(item: Item, number: int, of: int) -> str:
    """The comment on a second issue with the same key."""
    return cut_body(f"The same as #{of}.", "", _event(item.key, str(number), "duplicate"), BODY)


def _event(name: str, fingerprint: str, what: str) -> str:
    return f"{EVENT}{name}/{fingerprint}/{what}"
