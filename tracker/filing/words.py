"""Findings -> the titles, bodies and comments of issues, written for the person who has to mend the page.

Pure. All that upstream wrote goes in fences or is made harmless: it must neither call people nor pose as ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tracker.filing import marks
from tracker.harmless import code, cut_body, cut_title, fence, inline, plain
from tracker.ledger import Family, Finding, Found, Gone, Item
from tracker.model import Cause, Kind, Site
from tracker.report.facts import text_changes
from tracker.report.links import blob, unannounced
from tracker.report.words import Change, compared, counted

TITLE, BODY = 250, 60_000
"""Characters. GitHub refuses titles over 256 and bodies over 65,536."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What issues call things."""

    repository: str
    """The upstream project, owner/name."""
    web: str
    """Its address for people, without a slash at the end."""


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
    head, evidence, tail = _told(finding, names)
    if item.previous is not None:
        tail = f"{tail}\n\nTold before in #{item.previous}."
    tail = (
        f"{tail}\n\n---\n"
        "Kept up to date, and closed, by the tracker. What you write outside of this part stays. "
        "To silence it, close this as not planned or label it `tracker:ignore`.\n\n"
        f"{marks.foot(finding, item)}"
    )
    before, after = marks.around(old)
    return cut_body(f"{before}{marks.BEGIN}\n{head}", evidence, f"{tail}{after}", BODY)


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
    what = ", ".join(f"**{kind}**" for kind in Kind if kind in drift.kinds and kind in _ADJECTIVE)
    if found.page:
        head = f"The page {code(found.page)} (`{found.entry}`) says what {names.repository} no longer does: {what}."
        mend = f"* Mend the page, then bring it up to date: `tracker repin --accept {found.entry} --write`\n"
    else:
        head, mend = f"{names.repository} no longer raises the error `{found.entry}` as it did: {what}.", ""
    right = "if the page is still right" if found.page else "if that is as it should be"
    return (
        head,
        _evidence(found, names),
        f'**What to do**\n\n{mend}* {right.capitalize()}: `tracker ack {found.entry} --reason "…"`',
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
    for noun, changes, rest in (
        ("exception", _changed(before.exception or "", after.exception or ""), ""),
        ("message", *text_changes(before, after)),
        ("condition", _changed("\n".join(before.guard), "\n".join(after.guard)), ""),
        ("function", _changed(before.scope, after.scope), ""),
    ):
        if changes:
            lines = compared(changes) + ([f"  {rest}"] if rest else [])
            yield f"**{noun.capitalize()}**\n\n" + fence("\n".join(lines), "diff")
        elif noun == "message" and after.messages:
            yield "**Message**\n\n" + fence("\n".join(after.messages))


def _changed(before: str, after: str) -> list[Change]:
    return [(before, after)] if before != after else []


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
        "The source changed again. Now:", evidence, marks.event(finding.key, finding.fingerprint, "changed"), BODY
    )


def reopened(finding: Finding, item: Item, names: Names) -> str:
    """The comment on an issue whose drift is back."""
    _, evidence, _ = _told(finding, names)
    event = marks.event(finding.key, finding.fingerprint, f"reopened-{item.episode}")
    return cut_body("It is back:", evidence, event, BODY)


def reminder(finding: Finding, item: Item, names: Names) -> str:
    """The one comment on an issue that a person closed as completed while the drift is still there."""
    _, evidence, _ = _told(finding, names)
    event = marks.event(finding.key, finding.fingerprint, f"reminder-{item.episode}")
    return cut_body(
        "This was closed as completed, and the page still differs from the source. It stays closed; "
        f'`tracker ack {finding.entry} --reason "…"` says that it is meant so.',
        evidence,
        event,
        BODY,
    )


def settled(item: Item, gone: Gone) -> str:
    """The comment with which the tracker closes an issue."""
    event = marks.event(item.key, item.fingerprint, f"settled-{item.episode}")
    return cut_body(f"Settled: {inline(gone.reason)}.", "", event, BODY)


def duplicate(item: Item, number: int, of: int) -> str:
    """The comment on a second issue with the same key."""
    return cut_body(f"The same as #{of}.", "", marks.event(item.key, str(number), "duplicate"), BODY)
