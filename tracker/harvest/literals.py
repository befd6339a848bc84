"""String literals and templates -> parts: literal text and holes, whatever the source wrote them with.

`"%s" % x`, `"{}".format(x)`, `f"{x}"` and `"" + x` give equal parts: they read the same to who sees the error.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from string import Formatter

from tree_sitter import Node

from tracker.harvest.grammar import children, code, text
from tracker.harvest.parts import Foreign, Hole, Parts, suffixed

Fill = Callable[[Node], Parts]
"""What an interpolated expression gives: a hole, or the text it is known to be."""


def string(node: Node, fill: Fill) -> Parts:
    """A `string` or `concatenated_string` -> parts."""
    if node.type == "concatenated_string":
        return tuple(part for child in node.named_children if child.type == "string" for part in string(child, fill))
    parts: list[str | Hole | Foreign] = []
    raw = formatted = template = False
    for child in node.children:
        if child.type == "string_start":
            prefix = text(child).rstrip("'\"").lower()
            raw, template = "r" in prefix, "t" in prefix
            formatted = template or "f" in prefix
        elif child.type == "string_content":
            parts.append(_unescape(text(child), raw, formatted))
        elif child.type == "interpolation":
            parts.extend(_interpolation(child, fill))
    # A t-string is an object that nobody has rendered: what is seen of it is its repr.
    return ("Template(", *parts, ")") if template else tuple(parts)


_ESCAPE = re.compile(
    r"\\(?:N\{(?P<name>[^}]+)\}|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"
    r"|(?P<octal>[0-7]{1,3})|(?P<sign>[\s\S]))|(?P<brace>\{\{|\}\})"
)
_SIGNS = {
    "\n": "", "\\": "\\", "'": "'", '"': '"',
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def _unescape(content: str, raw: bool, formatted: bool) -> str:
    def meaning(match: re.Match[str]) -> str:
        if brace := match["brace"]:
            return brace[0] if formatted else brace
        if raw:
            return match[0]
        if name := match["name"]:
            try:
                return unicodedata.lookup(name)
            except KeyError:
                return match[0]
        if digits := match["x"] or match["u"] or match["U"]:
            return chr(int(digits, 16)) if int(digits, 16) <= 0x10FFFF else match[0]
        if octal := match["octal"]:
            return chr(int(octal, 8))
        return _SIGNS.get(match["sign"], match[0])

    return _ESCAPE.sub(meaning, content) if "\\" in content or formatted else content


def _interpolation(node: Node, fill: Fill) -> Iterator[str | Hole | Foreign]:
    expression = node.child_by_field_name("expression")
    if expression is None:
        yield Hole("")
        return
    conversion = node.child_by_field_name("type_conversion")
    specifier = node.child_by_field_name("format_specifier")
    suffix = (text(conversion) if conversion else "") + (text(specifier) if specifier else "")
    equals = next((child for child in node.children if child.type == "="), None)
    if equals is not None:
        # `{x=}` is the text of the expression, the sign, and its repr.
        behind = equals.next_sibling
        end = (behind.start_byte if behind is not None else equals.end_byte) - node.start_byte
        yield (node.text or b"")[1:end].decode("utf-8", "surrogatepass")
        suffix = suffix or "!r"
    yield from suffixed(fill(expression), suffix)


_CONVERSION = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-#0 +]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+))?"
    r"[hlL]?(?P<type>[a-zA-Z%])"
)


def percent(template: Parts, right: Node, fill: Fill) -> Parts:
    """`template % right` -> parts, by the conversions of printf-style formatting."""
    named: dict[str, Node] = {}
    positional: list[Node] | None = None
    if right.type == "tuple":
        positional = children(right)
    elif right.type == "dictionary":
        named = dict(literal_keys(right))
    else:
        positional = [right]
    arguments = iter(positional or ())

    def argument(key: str | None) -> Parts:
        if key is not None:
            return fill(named[key]) if key in named else (Hole(f"{code(right)}[{key!r}]" if not named else key),)
        node = next(arguments, None)
        return (Hole(""),) if node is None or node.type == "list_splat" else fill(node)

    parts: list[str | Hole | Foreign] = []
    for part in template:
        if not isinstance(part, str):
            parts.append(part)
            continue
        at = 0
        for match in _CONVERSION.finditer(part):
            parts.append(part[at : match.start()])
            at = match.end()
            if match["type"] == "%":
                parts.append("%")
                continue
            for star in (match["width"], match["precision"]):
                if star == "*":
                    argument(None)
            parts.extend(suffixed(argument(match["key"]), _percent_suffix(match)))
        parts.append(part[at:])
    return tuple(part for part in parts if part != "")


def _percent_suffix(match: re.Match[str]) -> str:
    layout = match["flags"] + (match["width"] or "") + (f".{match['precision']}" if match["precision"] else "")
    kind = match["type"]
    if kind in "ra":
        return f"!{kind}" + (f":{layout}" if layout else "")
    if kind in "sdiuc":
        return f":{layout}{'' if kind == 's' else kind}" if layout else ""
    return f":{layout}{kind}"


def literal_keys(dictionary: Node) -> Iterator[tuple[str, Node]]:
    for pair in dictionary.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None and key.type == "string":
            yield (
                "".join(part for part in string(key, lambda node: (Hole(code(node)),)) if isinstance(part, str)),
                value,
            )


_FIELD = re.compile(r"([^.\[]*)(.*)", re.DOTALL)


def format_call(template: Parts, arguments: Sequence[Node], fill: Fill) -> Parts:
    """`template.format(*arguments)` -> parts."""
    positional = [node for node in arguments if node.type not in ("keyword_argument", "dictionary_splat", "comment")]
    named = {
        text(name): value
        for node in arguments
        if node.type == "keyword_argument"
        and (name := node.child_by_field_name("name"))
        and (value := node.child_by_field_name("value"))
    }
    automatic = itertools.count()

    def field(name: str) -> Parts:
        head, rest = _FIELD.fullmatch(name).groups()  # type: ignore[union-attr] # matches anything
        key = head or str(next(automatic))
        if not key.isdigit():
            node = named.get(key)
        elif any(before.type == "list_splat" for before in positional[: int(key) + 1]):
            node = None
        else:
            node = positional[int(key)] if int(key) < len(positional) else None
        if node is None:
            return (Hole("" if key.isdigit() else name),)
        return (Hole(code(node) + rest),) if rest else fill(node)

    parts: list[str | Hole | Foreign] = []
    for part in template:
        if not isinstance(part, str):
            parts.append(part)
            continue
        try:
            pieces = list(Formatter().parse(part))
        except ValueError:
            parts.append(part)
            continue
        for literal, replacement, spec, conversion in pieces:
            if literal:
                parts.append(literal)
            if replacement is not None:
                suffix = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
                parts.extend(suffixed(field(replacement), suffix))
    return tuple(parts)
