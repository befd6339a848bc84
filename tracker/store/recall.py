"""Questions to the index: the life of an error, what was raised at a position, every text there ever was.

Lines are those of the commit that a span begins with: a line that only moved is no event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from tracker.model import Form, Kind, Site
from tracker.store.history import History
from tracker.store.index import got, put
from tracker.store.timeline import Message, Released, Stretch


def life(history: History, error: int) -> list[Stretch]:
    """The spans of an error, oldest first."""
    return [stretch for _, stretch in _stretches(history, "spans.error = ? order by since", error)]


def sites_at(history: History, position: int, path: str | None = None) -> list[tuple[int, Site]]:
    """Every error that is raised at a position, and how; in one file where `path` is given.

    A site's line is that of the commit that its span begins with.
    """
    where = "since <= ?1 and (until is null or until > ?1)"
    if path is not None:
        found = _stretches(history, f"paths.path = ?2 and {where}", position, put(path))
    else:
        found = _stretches(history, where, position)
    return sorted(
        ((error, stretch.site) for error, stretch in found), key=lambda one: (one[1].path, one[1].line, one[0])
    )


def changes(history: History, after: int, until: int) -> list[tuple[int, Stretch]]:
    """What began behind the position `after`, up to `until`, and the errors that ended there, by commit."""
    return list(
        _stretches(history, "(since > ?1 and since <= ?2) or (until > ?1 and until <= ?2) order by since", after, until)
    )


def errors_saying(history: History, text: str) -> tuple[list[int], list[int]]:
    """The errors that said exactly this at some time, and those that said something that contains it."""
    exact = _errors_of(history, "messages.text = ?", put(text))
    pattern = "".join(f"\\{sign}" if sign in "%_\\" else sign for sign in text)
    containing = _errors_of(history, "messages.text like ? escape '\\'", put(f"%{pattern}%"))
    return exact, [error for error in containing if error not in set(exact)]


def _errors_of(history: History, where: str, value: object) -> list[int]:
    rows = history.rows(
        "select distinct error from messages join said on said.message = messages.id "
        f"join spans on spans.state = said.state where {where} order by error desc",
        value,
    )
    return [int(row[0]) for row in rows]


def messages(history: History) -> Iterator[Message]:
    """Every text that any error ever had, with the releases that said so; by error, then oldest first."""
    released = Released(history.releases())
    rows = history.rows(
        "select error, messages.text, states.exception, paths.path, states.scope, since, until from spans "
        "join states on states.id = spans.state join said on said.state = states.id "
        "join messages on messages.id = said.message join paths on paths.id = spans.path order by error, since, n"
    )
    known: dict[tuple[int, str], Message] = {}
    at = 0
    for error, text, exception, path, scope, since, until in rows:
        if error != at:
            yield from known.values()
            known, at = {}, error
        inside = released.within(since, until)
        one = Message(
            error=error,
            text=got(text),
            exception=None if exception is None else got(exception),
            path=got(path),
            scope=got(scope),
            first=inside[0].version if inside else None,
            last=inside[1].version if inside else None,
            alive=until is None,
        )
        before = known.get((error, one.text))
        first = before.first if before is not None and before.first is not None else one.first
        last = one.last or (before.last if before is not None else None)
        known[error, one.text] = replace(one, first=first, last=last)
    yield from known.values()


def _stretches(history: History, where: str, *values: object) -> Iterator[tuple[int, Stretch]]:
    rows = history.rows(
        "select error, since, until, kinds, paths.path, scope, exception, form, guard, state, line, end_line, "
        "ordinal from spans join states on states.id = spans.state join paths on paths.id = spans.path where " + where,
        *values,
    )
    texts: dict[int, list[str]] = {}
    numbers = sorted({row[9] for row in rows})
    for n in range(0, len(numbers), 500):
        some = numbers[n : n + 500]
        marks = ", ".join("?" * len(some))
        for state, text in history.rows(
            "select state, text from said join messages on messages.id = said.message "
            f"where state in ({marks}) order by state, n", *some,
        ):  # fmt: skip
            texts.setdefault(state, []).append(got(text))
    for error, since, until, kinds, path, scope, exception, form, guard, state, line, end_line, ordinal in rows:
        said = texts.get(state, [])
        yield (
            error,
            Stretch(
                since=since,
                until=until,
                kinds=tuple(map(Kind, kinds.split())),
                site=Site(
                    path=got(path),
                    line=line,
                    end_line=end_line,
                    scope=got(scope),
                    exception=None if exception is None else got(exception),
                    message=said[0] if said else None,
                    alternatives=tuple(said[1:]),
                    form=Form(form),
                    guard=tuple(json.loads(got(guard))),
                    ordinal=ordinal,
                ),
            ),
        )
