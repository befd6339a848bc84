"""Functions that raise what they are handed: the texts stand at their calls, and belong to their sites."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tree_sitter import Node

from tracker.harvest.blocks import Frame
from tracker.harvest.calls import callee, calls_of
from tracker.harvest.grammar import text
from tracker.harvest.names import Meaning
from tracker.harvest.parts import Arguments, Expected, Hole, distinct, matched
from tracker.harvest.raised import Raised
from tracker.harvest.texts import DEEPEST, arguments, signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A function of a module that raises what it is handed, for callers in other files."""

    site: int
    """Index of its site in the file."""
    name: str
    function: int
    """Where it begins in its file."""
    signature: tuple[Expected, ...]
    thrown: tuple[Raised, ...]
    """What it throws, its parameters open."""

    def called(self, given: Arguments) -> tuple[Raised, ...]:
        """What the helper throws for one call; nothing where the call hands over no text."""
        values = matched(self.signature, given)
        return tuple(made for one in self.thrown if (made := one.filled(self.function, values)).texts)


def helper(site: int, thrown: tuple[Raised, ...], frame: Frame) -> Helper | None:
    """The helper that a site stands in, where its text is a parameter of a function of the module."""
    found = _handed_to(thrown, frame)
    if found is None or found.outer is None or found.outer.outer is not None:
        return None
    function = found.block.owner
    name = function.child_by_field_name("name")
    listed = signature(Meaning("definition", function, found.outer))
    return Helper(
        site=site, name=text(name) if name else "", function=function.start_byte, signature=listed, thrown=thrown
    )


def from_callers(thrown: tuple[Raised, ...], frame: Frame) -> tuple[Raised, ...]:
    """What a site throws, completed by what the callers in this file hand in."""
    body = _handed_to(thrown, frame)
    name = body.block.owner.child_by_field_name("name") if body is not None else None
    if body is None or body.outer is None or name is None:
        return thrown
    function, active = body.block.owner, frame.file.active
    key = "callers", function.id
    if key in active or len(active) >= DEEPEST:
        return thrown
    active[key] = None
    listed = signature(Meaning("definition", function, body.outer))
    found: list[Raised] = []
    for call, at in calls_of(text(name), frame.file):
        if any(meaning.node == function for meaning in callee(_function(call), at)):
            values = matched(listed, arguments(call, at))
            made = from_callers(tuple(one.filled(function.start_byte, values) for one in thrown), at)
            found += [one for one in made if one.texts]
    del active[key]
    if not found:
        return thrown
    # One raise, one exception: what the callers add are only texts.
    own = distinct(parts for one in found for parts in one.own)
    supplied = distinct(parts for one in found for parts in one.supplied)
    return (replace(thrown[0], own=own, supplied=supplied), *thrown[1:])


def _function(call: Node) -> Node:
    return call.child_by_field_name("function") or call


def _handed_to(thrown: tuple[Raised, ...], frame: Frame) -> Frame | None:
    """The body of the function around `frame` whose callers hand in the text; None where there is text already."""
    if any(one.texts for one in thrown):
        return None
    holes = [
        part.parameter.function
        for one in thrown
        for parts in (*one.own, *one.supplied)
        for part in parts
        if isinstance(part, Hole) and part.parameter is not None
    ]
    at: Frame | None = frame
    while at is not None:
        if at.block.owner.type == "function_definition" and at.block.owner.start_byte in holes:
            return at
        at = at.outer
    return None
