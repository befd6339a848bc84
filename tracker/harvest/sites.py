"""A file -> its sites: every `raise` statement, with what a page needs to know of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from tree_sitter import Node

from tracker.harvest.blocks import DEFINITIONS, File, Misread, Place, find
from tracker.harvest.grammar import children, descendants, parse
from tracker.harvest.guards import negation
from tracker.harvest.helpers import Helper, from_callers, helper
from tracker.harvest.parts import Foreign, Hole, render
from tracker.harvest.raised import Raised, raised, read
from tracker.harvest.source import DEFINITION, normalize
from tracker.model import Form, Site, leaf


class Reason(StrEnum):
    """Why a site has no message."""

    RERAISE = "re-raise"
    NO_ARGUMENT = "no-argument"
    PARAMETER = "parameter"
    """The text is handed in by callers that were not found."""
    FOREIGN = "foreign"
    """The text comes from a module outside the repository, or from one that could not be followed."""
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """What one file holds."""

    sites: tuple[Site, ...]
    """In source order."""
    problem: str | None
    """Why the file was not wholly read; None where it was."""
    reasons: tuple[Reason | None, ...] = ()
    """One for each site: why it has no message; None where it has one."""
    open: Mapping[int, tuple[Raised, ...]] = field(default_factory=dict)
    """Index of a site -> what it throws, where another file has a say in its text."""
    helpers: tuple[Helper, ...] = ()
    """Functions whose raise says what callers hand in: callers in other files count too."""
    imports: frozenset[str] = frozenset()
    """Last parts of the modules and names that the file imports: a first sieve for those callers."""
    asked: frozenset[str] = frozenset()
    """Names that were looked for among the statements of the module: what they stand for has a say in the texts."""
    called: frozenset[str] = frozenset()
    """Functions whose calls have a say in the texts."""


def harvest(path: str, raw: bytes, asserts: bool = False) -> Harvest:
    """The bytes of the file at `path` -> its sites. Never fails: what cannot be read is said in `problem`.

    `asserts`: an `assert` that carries a text counts as a site, too.
    """
    source = normalize(raw)
    names = imports(source.data)
    wanted = _wanted(asserts)
    if not any(word in source.data for word in wanted.values()):
        return Harvest(sites=(), problem=source.problem, imports=names)
    try:
        return read_sites(File.sparse(path, source.data, tuple(wanted.values())), source.problem, wanted, names)
    except Misread:
        return read_sites(File.whole(path, source.data), source.problem, wanted, names)


def _wanted(asserts: bool) -> dict[str, bytes]:
    """Types of statements, each with the word that it holds."""
    return {"raise_statement": b"raise"} | ({"assert_statement": b"assert"} if asserts else {})


def problem_of(raw: bytes) -> str | None:
    """What is wrong with a file, those parts included that `harvest` does not read; None if nothing is.

    A site may have gone only because something in the file is broken.
    """
    source = normalize(raw)
    root = parse(source.data)
    return source.problem or (_not_understood(root) if root.has_error else None)


def _not_understood(root: Node) -> str:
    return f"has syntax that is not understood at line {_first_error(root)}"


def read_sites(file: File, problem: str | None, wanted: Mapping[str, bytes], names: frozenset[str]) -> Harvest:
    """The harvest of a parsed file. Misread: as of `File.sparse`."""
    if problem is None and file.root.has_error:
        problem = _not_understood(file.root)
    sites: list[Site] = []
    everything: list[tuple[Raised, ...]] = []
    helpers: list[Helper] = []
    places = list(find(file, wanted, wanted.values()))
    if file.root.has_error:
        places = _completed(places, file, wanted)
    for place in places:
        thrown = _asserted(place) if place.node.type == "assert_statement" else _thrown(place)
        if thrown is None:
            continue
        if (made := helper(len(sites), thrown, place.frame)) is not None:
            helpers.append(made)
        everything.append(from_callers(thrown, place.frame))
        sites.append(told(_site(file.path, place), everything[-1]))
    file.forget()
    waiting = {made.site for made in helpers}
    return Harvest(
        sites=numbered(sites),
        problem=problem,
        reasons=tuple(map(reason, everything)),
        open={n: thrown for n, thrown in enumerate(everything) if n in waiting or any(one.is_open for one in thrown)},
        helpers=tuple(helpers),
        imports=names,
        asked=frozenset(file.asked),
        called=frozenset(file.called),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What some lines of a source hold, and what else of the module has a say in it."""

    sites: tuple[Site, ...]
    """Without a path, lines counted within the part."""
    sound: bool
    """Whether the source stands by itself: what is not understood in it lies inside of its definitions. Where it does
    not, it was cut inside of a string or a bracket, and its sites are not to be relied on."""
    asked: frozenset[str]
    """Names that were looked for in the module."""
    members: frozenset[str]
    """Names that were looked for in classes."""
    called: frozenset[str]
    """Functions whose calls were looked for in the module."""


def harvest_part(source: bytes, start: int, stop: int, asserts: bool = False) -> Part:
    """The sites between two offsets of a normalized source; what stands around them is there to be referred to."""
    file = File.whole("", source)
    sound = not file.root.has_error or all(map(_is_sound, file.root.children))
    wanted = _wanted(asserts)
    lines = source.count(b"\n", 0, start)
    sites = []
    for place in find(file, wanted, wanted.values(), (start, stop)) if sound else ():
        thrown = _asserted(place) if place.node.type == "assert_statement" else _thrown(place)
        if thrown is not None:
            sites.append(told(_site("", place), from_callers(thrown, place.frame)).shifted(-lines))
    file.forget()
    return Part(
        sites=numbered(sites),
        sound=sound,
        asked=frozenset(file.asked),
        members=frozenset(file.members),
        called=frozenset(file.called),
    )


def _is_sound(node: Node) -> bool:
    """Whether what is not understood in a statement of the module ends well before the statement does."""
    if not node.has_error:
        return True
    if node.is_error or node.is_missing or node.type not in ("decorated_definition", *DEFINITIONS):
        return False
    return all(below.end_byte < node.end_byte for below in descendants(node) if below.is_error or below.is_missing)


def _completed(places: list[Place], file: File, wanted: Mapping[str, bytes]) -> list[Place]:
    """The places of a file that has an error, with those that the error swallowed.

    An open bracket can swallow all that follows. So each definition of the module is read by itself, too.
    """
    seen = {place.node.start_point.row for place in places}
    source = file.source
    edges = [0, *(match.end() for match in DEFINITION.finditer(source)), len(source)]
    for start, stop in pairwise(edges):
        if any(word in source[start:stop] for word in wanted.values()):
            # Line breaks stand for what is before, so that lines are counted in the file.
            alone = File.whole(file.path, b"\n" * source.count(b"\n", 0, start) + source[start:stop])
            if not alone.root.has_error:
                found = find(alone, wanted, wanted.values())
                places += [place for place in found if place.node.start_point.row not in seen]
    return sorted(places, key=lambda place: place.node.start_point)


def _thrown(place: Place) -> tuple[Raised, ...]:
    operands = [child for n, child in enumerate(place.node.children) if place.node.field_name_for_child(n) != "cause"]
    operand = next((child for child in operands if child.is_named and child.type != "comment"), None)
    return raised(operand, place.frame) if operand is not None else ()


def _asserted(place: Place) -> tuple[Raised, ...] | None:
    """What a failed `assert` throws; None where it carries no text."""
    operands = children(place.node)
    form, own = read(operands[1], place.frame) if len(operands) == 2 else (Form.NONE, ())
    thrown = Raised(exception="AssertionError", form=form, own=own, argued=True)
    return (thrown,) if thrown.texts else None


def _site(path: str, place: Place) -> Site:
    guard = place.guard
    asserts = place.node.type == "assert_statement"
    if asserts:
        guard = (*guard, f"if {negation(children(place.node)[0])}")
    return Site(
        path=path,
        line=place.node.start_point.row + 1,
        end_line=place.node.end_point.row + 1,
        scope=".".join(place.scope),
        exception=None,
        message=None,
        form=Form.ASSERT if asserts else Form.RERAISE,
        guard=guard,
    )


def told(site: Site, thrown: tuple[Raised, ...]) -> Site:
    """A site with what it throws; of several exceptions the first one names it."""
    if not thrown:
        return site
    messages = list(dict.fromkeys(render(parts) for one in thrown for parts in one.texts))
    return replace(
        site,
        exception=thrown[0].exception or None,
        message=messages[0] if messages else None,
        alternatives=tuple(messages[1:]),
        form=site.form if site.form is Form.ASSERT else next((one for one in thrown if one.texts), thrown[0]).shown,
    )


def reason(thrown: tuple[Raised, ...]) -> Reason | None:
    """Why what is thrown has no text; None where it has."""
    if any(one.texts for one in thrown):
        return None
    if not thrown or thrown[0].form is Form.RERAISE:
        return Reason.RERAISE
    parts = [part for one in thrown for texts in (*one.own, *one.supplied) for part in texts]
    if any(isinstance(part, Hole) and part.parameter is not None for part in parts):
        return Reason.PARAMETER
    if any(isinstance(part, Foreign) for part in parts):
        return Reason.FOREIGN
    return Reason.COMPUTED if any(one.argued for one in thrown) else Reason.NO_ARGUMENT


def numbered(sites: Iterable[Site]) -> tuple[Site, ...]:
    """Sites of one file, in order -> the same with their ordinals."""
    seen: Counter[tuple[str, str | None, str | None]] = Counter()
    found = []
    for site in sites:
        key = (site.scope, leaf(site.exception), site.message)
        seen[key] += 1
        found.append(replace(site, ordinal=seen[key]) if seen[key] != site.ordinal else site)
    return tuple(found)


_IMPORT = re.compile(rb"\n[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b|import\b)[ \t]*(\([^)]*\)|[^\n#]*)")
_LAST = re.compile(rb"(\w+)[ \t]*(?:as[ \t]+\w+[ \t]*)?(?=$|[,)\\#\n])")


def imports(source: bytes) -> frozenset[str]:
    """Last parts of the modules and names that a source imports."""
    names = set()
    for match in _IMPORT.finditer(b"\n" + source):
        names.update(_LAST.findall(match[2]))
        names.add((match[1] or b"").rpartition(b".")[2])
    return frozenset(name.decode("utf-8", "replace") for name in names if name)


def _first_error(root: Node) -> int:
    """Line of the first piece that the grammar could not place."""
    for node in descendants(root):
        if node.is_error or node.is_missing:
            return node.start_point.row + 1
    return 1
