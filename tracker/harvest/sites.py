"""A file -> its sites: every `raise` statement, with what a page needs to know of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from tree_sitter import Node

from tracker.harvest.blocks import Place, find
from tracker.harvest.grammar import descendants, parse
from tracker.harvest.literals import render
from tracker.harvest.raised import Raised, raised
from tracker.harvest.source import normalize
from tracker.model import Form, Site, leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """What one file holds."""

    sites: tuple[Site, ...]
    """In source order."""
    problem: str | None
    """Why the file was not wholly read; None where it was."""


def harvest(path: str, raw: bytes) -> Harvest:
    """The bytes of the file at `path` -> its sites. Never fails: what cannot be read is said in `problem`."""
    source = normalize(raw)
    if b"raise" not in source.data:
        return Harvest(sites=(), problem=source.problem)
    root = parse(source.data)
    problem = source.problem
    if problem is None and root.has_error:
        problem = f"has syntax that is not understood at line {_first_error(root)}"
    sites = [_site(path, place) for place in find(root, "raise_statement", b"raise")]
    return Harvest(sites=_numbered(sites), problem=problem)


def _site(path: str, place: Place) -> Site:
    operands = [child for n, child in enumerate(place.node.children) if place.node.field_name_for_child(n) != "cause"]
    operand = next((child for child in operands if child.is_named and child.type != "comment"), None)
    thrown = raised(operand, place.frame) if operand is not None else []
    messages = list(dict.fromkeys(render(parts) for one in thrown for parts in one.messages))
    first = thrown[0] if thrown else Raised("", (), Form.RERAISE)
    return Site(
        path=path,
        line=place.node.start_point.row + 1,
        end_line=place.node.end_point.row + 1,
        scope=".".join(place.scope),
        exception=first.exception or None,
        message=messages[0] if messages else None,
        alternatives=tuple(messages[1:]),
        form=first.form,
        guard=place.guard,
    )


def _numbered(sites: list[Site]) -> tuple[Site, ...]:
    seen: Counter[tuple[str, str | None, str | None]] = Counter()
    numbered = []
    for site in sites:
        key = (site.scope, leaf(site.exception), site.message)
        seen[key] += 1
        numbered.append(replace(site, ordinal=seen[key]) if seen[key] > 1 else site)
    return tuple(numbered)


def _first_error(root: Node) -> int:
    """Line of the first piece that the grammar could not place."""
    for node in descendants(root):
        if node.is_error or node.is_missing:
            return node.start_point.row + 1
    return 1
