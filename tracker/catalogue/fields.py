"""An entry as a site's JSON has it, whatever it calls the fields -> what a page says; and lists of entries or of ids.

Values in, values out: nothing is fetched, and what is not said is left empty, never invented.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracker.catalogue.compose import Content
from tracker.errors import CatalogueError

API = "/api/errors/"
"""Where a site has an entry as JSON, as the pages' own footers say."""

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
_PLACE = re.compile(r"(?:Thrown at\s+)?(\S.*?)(?::|#L)([0-9]{1,9})(?![0-9])\S*")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_SHA = re.compile(r"[0-9a-f]{7,40}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+?)(?:\.git)?/?$")

Fields = Mapping[str, Any]
_WRAPPERS = ("data", "error", "entry", "result", "page", "item")
_LISTS = ("errors", "entries", "items", "results", "pages", "data", "ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What an answer holds: entries, links to entries, and the link to where the list goes on."""

    entries: Sequence[Fields]
    links: Sequence[str]
    """Addresses, from the site's root or whole."""
    following: str | None = None


def listing(data: bytes) -> Listing:
    """The bytes of an answer -> what it holds. CatalogueError: it is no JSON, or holds no entry and no list of any."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CatalogueError(f"it is no JSON ({error})") from None
    following = None
    if isinstance(value, dict):
        fields = _folded(value)
        following = fields.get("next") if isinstance(fields.get("next"), str) else None
        items = next((fields[name] for name in _LISTS if isinstance(fields.get(name), list)), None)
        if items is None or _is_entry(fields):
            items = [value]
    elif isinstance(value, list):
        items = value
    else:
        raise CatalogueError("it is JSON, but neither an entry nor a list of entries or ids")
    entries, links = [], []
    for item in items:
        fields = _unwrapped(item) if isinstance(item, dict) else {}
        # A list may show where its entries are thrown, and have the rest of each only at its own address.
        if _is_entry(fields) and (_pin(fields) or items == [value]):
            entries.append(fields)
        elif link := item if isinstance(item, str) else _text(fields, "url", "href", "link", "api", "id", "errorid"):
            links.append(API + link if _ID.fullmatch(link) else link)
        elif _is_entry(fields):
            entries.append(fields)
        else:
            raise CatalogueError("it is JSON, but neither an entry (with exception, path and line) nor a list of ids")
    return Listing(entries=entries, links=links, following=following)


def content(fields: Fields, *, named: str, repository: str, day: str) -> Content:
    """The fields of an entry -> what its page says.

    `named` is the address or file it came from, for an id that only stands there. `repository` and `day` are for an
    entry that does not say its own. CatalogueError: what every page needs is missing, with its name.
    """
    path, line = _place(fields)
    pin, identity = _pin(fields), _identity(fields, named)
    exception = _named(fields, "exception", "exceptiontype", "errortype", "exceptionclass", "type", "error")
    message = _text(fields, "message", "errormessage", "text", "fullmessage", "title")
    wanted = {"id": identity, "exception": exception, "message": message, "path": path, "commit": pin}
    if missing := [name for name, value in wanted.items() if not value]:
        raise CatalogueError(f"an entry without {', '.join(missing)}")
    sections = _sections(fields)
    when = sections.get("whenithappens") or fields.get("whenithappens")
    told = _folded(when) if isinstance(when, dict) else {}
    everything = {**sections, **fields, **told}
    trigger = _text(everything, "trigger", "triggers", "when") or (when.strip() if isinstance(when, str) else "")
    return Content(
        id=identity,
        repository=_repository(fields) or repository,
        exception=exception,
        title=_text(fields, "title", "name"),
        message=message,
        path=path,
        line=line,
        pin=pin,
        date=_date(fields) or day,
        excerpt=_source(fields),
        meaning=_prose(everything, "meaning", "whatitmeans", "explanation", "description", "summary"),
        solutions=_list(everything, "solutions", "solution", "fixes", "howtofix"),
        example=_example(everything),
        patterns=list(_patterns(everything)),
        trigger=trigger.removeprefix("Trigger:").strip(),
        situations=_prose(everything, "commonsituations", "situations", "commoncauses"),
        related=_list(everything, "related", "relatederrors", "seealso"),
    )


def _folded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Names without case and signs: `errorId`, `error_id` and `Error ID` are one."""
    return {re.sub(r"[\W_]", "", name).lower(): value for name, value in fields.items()}


def _unwrapped(item: Mapping[str, Any]) -> dict[str, Any]:
    fields = _folded(item)
    while not _is_entry(fields):
        inner = next((fields[name] for name in _WRAPPERS if isinstance(fields.get(name), dict)), None)
        if inner is None:
            break
        fields = {**{name: value for name, value in fields.items() if value is not inner}, **_folded(inner)}
    return fields


def _is_entry(fields: Fields) -> bool:
    return bool(_place(fields)[0])


def _text(fields: Fields, *names: str) -> str:
    return next((value.strip() for name in names if isinstance(value := fields.get(name), str) and value.strip()), "")


def _prose(fields: Fields, *names: str) -> str:
    """A text, or paragraphs as a list."""
    return "\n".join(_list(fields, *names))


def _named(fields: Fields, *names: str) -> str:
    """The first that can be the name of a class; `error` may as well be a message."""
    texts = (_text(fields, name) for name in names)
    return next((text for text in texts if _NAME.fullmatch(text) and text.lower() != "error"), "")


def _list(fields: Fields, *names: str) -> list[str]:
    value: Any = next((fields[name] for name in names if fields.get(name)), [])
    if isinstance(value, str):
        return [line for line in value.strip().split("\n") if line.strip()]
    items = value if isinstance(value, list) else []
    texts = [item if isinstance(item, str) else _text(_folded(item), "title", "message", "text", "name", "description")
             for item in items if isinstance(item, str | dict)]  # fmt: skip
    return [text for text in texts if text.strip()]


def _place(fields: Fields) -> tuple[str, int]:
    """Path and line: of two fields, of one `PATH:LINE`, or of an object of its own; empty and 0 where not said."""
    for name in ("thrownat", "location", "source", "site", "position", "raisedat"):
        if isinstance(inner := fields.get(name), dict) and (found := _place(_folded(inner)))[0]:
            return found
    line = next((n for name in ("line", "lineno", "linenumber", "startline") if (n := _number(fields.get(name)))), 0)
    for name in (
        "path",
        "file",
        "filename",
        "filepath",
        "sourcefile",
        "sourcepath",
        "location",
        "thrownat",
        "raisedat",
    ):
        text = _text(fields, name)
        if match := _PLACE.fullmatch(text):
            return match[1], line or int(match[2])
        if text and line and "\n" not in text:
            return text, line
    return "", 0


def _number(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,7}", value) else 0


def _pin(fields: Fields) -> str:
    for name in ("commit", "sha", "pin", "pinnedto", "commitsha", "commithash", "revision", "ref", "pinned"):
        value = fields.get(name)
        text = _text(_folded(value), "sha", "hash", "id", "commit") if isinstance(value, dict) else _text(fields, name)
        if _SHA.fullmatch(text.lower()):
            return text.lower()
    return next(
        (_pin(_folded(inner)) for name in ("source", "location") if isinstance(inner := fields.get(name), dict)), ""
    )


def _identity(fields: Fields, named: str) -> str:
    text = _text(fields, "id", "errorid", "identity", "hash", "key").lower()
    found = _ID.fullmatch(text) or next(iter(reversed(list(_ID.finditer(named.lower())))), None)
    return found[0] if found else ""


def _repository(fields: Fields) -> str:
    value = fields.get("repository") or fields.get("repo") or fields.get("project")
    text = _text(_folded(value), "fullname", "name", "slug") if isinstance(value, dict) else value
    match = _REPOSITORY.search(text) if isinstance(text, str) else None
    return match[1] if match else ""


def _date(fields: Fields) -> str:
    names = ("date", "analyzedat", "analysedat", "analysisdate", "updatedat", "createdat", "generatedat", "published")
    return next((match[0] for name in names if (match := _DAY.match(_text(fields, name)))), "")


def _source(fields: Fields) -> str:
    """The excerpt, every blank kept."""
    for name in ("excerpt", "snippet", "sourceexcerpt", "codeexcerpt", "source", "code", "sourcecode", "context"):
        value = fields.get(name)
        if isinstance(value, dict) and (found := _source(_folded(value))):
            return found
        if isinstance(value, list) and all(isinstance(line, str) for line in value):
            value = "\n".join(value)
        if isinstance(value, str) and value.strip():
            lines = value.replace("\r\n", "\n").split("\n")
            while lines and not lines[0].strip():
                del lines[0]
            while lines and not lines[-1].strip():
                del lines[-1]
            return "\n".join(lines)
    return ""


def _sections(fields: Fields) -> dict[str, Any]:
    """`sections` as an object, or as a list of headings and texts."""
    value = fields.get("sections")
    if isinstance(value, dict):
        return _folded(value)
    parts = [_folded(part) for part in value if isinstance(part, dict)] if isinstance(value, list) else []
    titled = ((_text(part, "heading", "title", "name"), part) for part in parts)
    return _folded(
        {
            title: next((part[name] for name in ("body", "content", "text", "items") if part.get(name)), "")
            for title, part in titled
            if title
        }
    )


def _example(fields: Fields) -> str:
    names = ("examplefix", "example", "fixexample", "codeexample")
    value: Any = next((fields[name] for name in names if fields.get(name)), "")
    if isinstance(value, dict):
        inner = _folded(value)
        before, after = _text(inner, "before", "bad", "wrong"), _text(inner, "after", "good", "fixed", "right")
        return "\n".join(f"// {label}\n{text}" for label, text in (("before", before), ("after", after)) if text)
    return value.strip("\n") if isinstance(value, str) else ""


def _patterns(fields: Fields) -> Iterator[tuple[str, str]]:
    value = fields.get("defensivepatterns") or fields.get("patterns") or {}
    if isinstance(value, str):
        yield "", value.strip("\n")
    inner = _folded(value) if isinstance(value, dict) else {}
    if strategy := _text(inner, "strategy"):
        yield "", f"Strategy: {strategy}"
    for heading, names in (
        ("Validate before calling", ("validatebeforecalling", "validate", "validation")),
        ("Type guard", ("typeguard", "guard")),
        ("Try / catch", ("trycatch", "tryexcept")),
        ("Prevention", ("prevention", "prevent")),
    ):
        if text := _prose(inner, *names) or _prose(fields, *names):
            yield heading, text
