"""Exceptions that are made in one place and raised in another: `yield lambda name: ValueError(f"... {name}")`, and
`raise error("the name")` where the generator was asked. Which generator that was is not followed here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tracker.harvest.blocks import File, find
from tracker.harvest.grammar import children, descendants, text
from tracker.harvest.parts import render
from tracker.harvest.raised import raised
from tracker.harvest.source import normalize
from tracker.model import Form, Site

# What people call a variable that holds an error; other small names that are called are functions.
_HELD = re.compile(r"(?:\w+_)?(?:e|exc|err|error|exception)")


class Maker(NamedTuple):
    """A function without a name that makes an exception."""

    parameter: str
    message: str
    """With the parameter as a placeholder."""


def makers(path: str, raw: bytes) -> tuple[Maker, ...]:
    """The makers that the generators of a file yield, in source order."""
    if b"yield lambda" not in raw:
        return ()
    file = File.whole(path, normalize(raw).data)
    found = []
    for place in find(file, ("expression_statement",), [b"yield lambda"]):
        for node in descendants(place.node):
            body = node.child_by_field_name("body") if node.type == "lambda" else None
            listed = node.child_by_field_name("parameters") if node.type == "lambda" else None
            if body is None or listed is None or len(names := children(listed)) != 1:
                continue
            for one in raised(body, place.frame):
                found += [Maker(text(names[0]), render(parts)) for parts in one.texts]
    return tuple(found)


def calls_a_maker(site: Site) -> bool:
    """Whether a site raises what a variable makes of a text."""
    held = _HELD.fullmatch(site.exception or "") is not None
    return held and site.form is Form.LITERAL and site.message is not None


def made(site: Site, maker: Maker) -> str:
    """What such a site says if the variable is this maker."""
    return maker.message.replace("{" + maker.parameter + "}", site.message or "")
