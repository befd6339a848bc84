"""The answer as JSON, schema `tracker.lookup/1`: a contract that other programs are written against."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from tracker import model
from tracker.lookup import ask, verdict
from tracker.report.json import Site, of_site, shown_text
from tracker.report.screen import Screen

SCHEMA = "tracker.lookup/1"


class At(msgspec.Struct, frozen=True, kw_only=True):
    """The revision at which the error was looked up, and why this one."""

    revision: str
    commit: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40}$")]
    because: str


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """An error as pasted, without what was wrapped around it."""

    exception: str | None
    message: str


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """The first and the last release in a row that raise the text; `ongoing`: the last is the newest one known."""

    first: str
    last: str
    ongoing: bool


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the site in a later release."""

    release: str
    kinds: list[model.Kind]
    site: Site | None


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A site that the error comes from."""

    entry: str | None
    site: Site
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]
    why: str
    partial: bool
    releases: Range | None
    changes: list[Change]
    now: Site | None


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The answer for one of the errors of the paste."""

    error: Error
    verdict: verdict.Verdict
    reason: str
    matches: list[Match]


class Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer: the most telling verdict, and the matches of all errors in the order of the paste."""

    schema: str
    at: At
    verdict: verdict.Verdict
    error: Error
    reason: str
    matches: list[Match]
    errors: list[Judged]
    newest: str
    notices: list[str]


def render(answer: ask.Answer, screen: Screen) -> str:
    """The answer as indented JSON; how wide or colourful the screen is does not matter."""
    judged = [_judged(one, answer) for one in answer.judged]
    first = next((one for one in judged if one.verdict is answer.verdict), None)
    told = Lookup(
        schema=SCHEMA,
        at=At(revision=answer.at.name, commit=answer.at.commit, because=answer.because),
        verdict=answer.verdict,
        error=first.error if first else Error(exception=None, message=""),
        reason=first.reason if first else "",
        matches=_all_matches(judged, answer.verdict),
        errors=judged,
        newest=answer.newest.name,
        notices=list(answer.notices),
    )
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of what `render` gives."""
    described = msgspec.json.schema(Lookup)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **described}


def _all_matches(judged: list[Judged], best: verdict.Verdict) -> list[Match]:
    """Those of the errors with the best verdict first."""
    ordered = sorted(judged, key=lambda one: one.verdict is not best)
    found: list[Match] = []
    for match in (match for one in ordered for match in one.matches):
        if match.site not in [other.site for other in found]:
            found.append(match)
    return found


def _judged(one: verdict.Judged, answer: ask.Answer) -> Judged:
    error = Error(
        exception=one.error.exception and shown_text(one.error.exception), message=shown_text(one.error.message)
    )
    return Judged(
        error=error,
        verdict=one.verdict,
        reason=shown_text(one.reason),
        matches=[_match(m, answer) for m in one.matches],
    )


def _match(one: verdict.Match, answer: ask.Answer) -> Match:
    entry, story = answer.entries.get(one.site), answer.stories.get(one.site)
    span = story.span if story else None
    return Match(
        entry=entry.id if entry else None,
        site=of_site(one.site),
        score=one.score,
        why=shown_text(one.why),
        partial=one.partial,
        releases=Range(first=span.first, last=span.last, ongoing=span.ongoing) if span else None,
        changes=[
            Change(
                release=change.release,
                kinds=[kind for kind in model.Kind if kind in change.kinds],
                site=of_site(change.site) if change.site else None,
            )
            for change in (story.changes if story else ())
        ],
        now=of_site(story.now) if story and story.now else None,
    )
