"""The names of a library that a page's writer uses: in what it means, solutions, examples, and when it happens.

It finds names and never says whether the library has them. The message, the excerpt and the related errors are not the
writer's words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tracker.catalogue.layout import HEADINGS
from tracker.catalogue.page import Page

_RELATED = "Related errors"
_NAME = re.compile(r"(?<![\w.@/\\-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_ADDRESS = re.compile(r"\b[a-z]+://\S+|\bwww\.\S+")
_BAD = re.compile(r"\s*(?://|#)\s*(?:before|bad|wrong|don't|instead of)\b", re.IGNORECASE)
_GOOD = re.compile(r"\s*(?://|#)\s*(?:after|good|right|fixed|do)\b", re.IGNORECASE)
_FAREWELL = re.compile(r"\b(?:removed|renamed|deprecated|no longer|replaced)\b", re.IGNORECASE)
"""In the message of an error that is about a name that is gone."""
_IMPORT = re.compile(
    r"\s*(?:>>>\s*)?import\s+(\w[\w.]*(?:\s+as\s+\w+)?(?:\s*,\s*\w[\w.]*(?:\s+as\s+\w+)?)*)\s*(?:[#;].*)?"
)
_FROM = re.compile(r"\s*(?:>>>\s*)?from\s+(\w[\w.]*)\s+import\s+\(?([\w\s,]+?)\)?,?\s*(?:[#;].*)?")
_AS = re.compile(r"(\w[\w.]*)(?:\s+as\s+(\w+))?")
_ITEM = re.compile(r"\s*(?:[0-9]+[.)]|[-*•])\s+")
_CODE = re.compile(r"`([^`]+)`")
_FILES = {"py", "pyi", "md", "rst", "txt", "ipynb", "toml", "cfg", "json", "html", "so", "git"}
_DOMAINS = {"io", "com", "org", "net", "dev", "ai"}
"""Ends of what looks like a name and is a file's or a host's."""


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """A name in full, whatever the page abbreviates it to."""

    line: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """What a page refers to, in the order of its lines."""

    named: tuple[Reference, ...]
    """Names of the packages."""
    aside: tuple[Reference, ...]
    """Names of the packages that the page need not have right: what it advises against, what its error says is gone."""
    others: int
    """Names that begin with something else: another package, or a variable."""


def references(page: Page, packages: Collection[str]) -> References:
    """The dotted names of these packages in a page. An abbreviation counts where the page itself imports it."""
    lines = list(_written(page))
    imported = {number: _imports(text, packages) for number, text, _ in lines}
    aliases = dict(alias for found in imported.values() for alias in found.items())
    said = f"{page.entry.title} {page.entry.message}"
    about = set(re.findall(r"\w+", said)) if _FAREWELL.search(said) else set()
    named: dict[Reference, None] = {}
    aside: dict[Reference, None] = {}
    others: set[Reference] = set()
    for number, text, bad in lines:
        names = [match[0] for match in _NAME.finditer(_ADDRESS.sub(" ", text))]
        for name in [*imported[number].values(), *names]:
            root, _, rest = name.partition(".")
            last = name.rpartition(".")[2]
            if root not in packages and root not in aliases:
                others.add(Reference(number, name))
            elif last not in _FILES | _DOMAINS:
                found = Reference(number, name if root in packages else f"{aliases[root]}.{rest}")
                if "." in found.name:
                    (aside if bad or last in about else named)[found] = None
    return References(named=tuple(named), aside=tuple(aside), others=len(others))


def _written(page: Page) -> Iterator[tuple[int, str, bool]]:
    """Number, text, and whether it shows what not to do, of each line that is the writer's own."""
    lines = re.split(r"\r\n|\r|\n", page.text)
    place = page.line_of("path")
    code = (page.line_of("excerpt"), page.entry.excerpt.count("\n")) if "excerpt" in page.spans else (place, 0)
    start = page.line_of("message") + page.said("message").count("\n") if "message" in page.spans else 0
    related = max((n for n, text in enumerate(lines, 1) if text.rstrip() == _RELATED), default=len(lines))
    bad = False
    for number, text in enumerate(lines[: max(related, code[0] + code[1]) - 1], 1):
        if text.rstrip() in HEADINGS or _GOOD.match(text):
            bad = False
        elif _BAD.match(text):
            bad = True
        if start < number < place or number > code[0] + code[1]:
            yield number, text, bad


def _imports(text: str, packages: Collection[str]) -> Mapping[str, str]:
    """What a line imports from the packages: the name it has from then on, and the name in full."""
    pieces = [_ITEM.sub("", text), *_CODE.findall(text)]
    return dict(one for piece in pieces for one in _import(piece, packages).items())


def _import(text: str, packages: Collection[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    if match := _IMPORT.fullmatch(text):
        for part in match[1].split(","):
            name, alias = _as(part)
            if name.partition(".")[0] in packages:
                found[alias or name.partition(".")[0]] = name if alias else name.partition(".")[0]
                if not alias:
                    found[name] = name
    elif (match := _FROM.fullmatch(text)) and match[1].partition(".")[0] in packages:
        for part in match[2].split(","):
            if part.strip():
                name, alias = _as(part)
                found[alias or name] = f"{match[1]}.{name}"
    return found


def _as(part: str) -> tuple[str, str]:
    match = _AS.fullmatch(part.strip())
    return (match[1], match[2] or "") if match else (part.strip(), "")
