"""What became of errors over time as JSON, schemas `tracker.history/1` and `tracker.changelog/1`: contracts that other
programs are written against.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tracker import events
from tracker.model import Kind
from tracker.report.json import Site, of_site, shown_text
from tracker.report.screen import Screen

SCHEMA = "tracker.history/1"
CHANGELOG = "tracker.changelog/1"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """What one commit did to an error."""

    kind: str
    """`introduced`, or the weightiest kind of drift."""
    kinds: list[str]
    """All of them."""
    commit: str
    date: str
    release: str | None
    """The lowest version that holds the commit."""
    subject: str
    pull_request: int | None
    site: Site
    """As the commit left it, or as it was when the commit took it away."""


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """An error from the first commit that raised it to the last."""

    entry: str | None
    site: Site
    """The newest."""
    alive: bool
    first_release: str | None
    last_release: str | None
    events: list[Event]
    """Oldest first."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one question."""

    schema: str
    query: str
    errors: list[Error]
    """Newest first."""
    more: int
    """How many more there are."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one error."""

    kinds: list[Kind]
    before: Site | None
    after: Site | None
    commit: str | None
    date: str | None
    subject: str | None
    pull_request: int | None


class Changelog(msgspec.Struct, frozen=True, kw_only=True):
    """What became of all errors between two releases or revisions."""

    schema: str
    base: str
    target: str
    errors: dict[str, int]
    """How many there are at each end."""
    changes: list[Change]


def lives(told: events.Told, screen: Screen) -> str:
    """Lives as indented JSON; how wide or colourful the screen is does not matter."""
    return _text(
        History(
            schema=SCHEMA,
            query=shown_text(told.query),
            errors=[
                Error(
                    entry=life.entry,
                    site=of_site(life.site),
                    alive=life.alive,
                    first_release=life.first,
                    last_release=life.last,
                    events=list(map(_event, life.events)),
                )
                for life in told.lives
            ],
            more=told.more,
        )
    )


def changelog(log: events.Changelog, screen: Screen) -> str:
    """A changelog as indented JSON."""
    return _text(
        Changelog(
            schema=CHANGELOG,
            base=log.base,
            target=log.target,
            errors={"base": log.errors[0], "target": log.errors[1]},
            changes=[
                Change(
                    kinds=list(one.kinds),
                    before=of_site(one.before) if one.before else None,
                    after=of_site(one.after) if one.after else None,
                    commit=one.cause.commit if one.cause else None,
                    date=one.cause.date if one.cause else None,
                    subject=shown_text(one.cause.subject) if one.cause else None,
                    pull_request=one.cause.pull_request if one.cause else None,
                )
                for one in log.changes
            ],
        )
    )


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas of what `tracker history` prints, by what asks for them."""
    described = {"history": (SCHEMA, History), "changelog": (CHANGELOG, Changelog)}
    return {
        name: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": title,
            **msgspec.json.schema(struct),
        }
        for name, (title, struct) in described.items()
    }


def _event(event: events.Event) -> Event:
    names = ["introduced" if kind is Kind.NEW else kind.value for kind in event.kinds]
    return Event(
        kind=names[0],
        kinds=names,
        commit=event.cause.commit,
        date=event.cause.date,
        release=event.release,
        subject=shown_text(event.cause.subject),
        pull_request=event.cause.pull_request,
        site=of_site(event.site),
    )


def _text(answer: msgspec.Struct) -> str:
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n"
