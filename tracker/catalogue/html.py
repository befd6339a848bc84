"""A page as HTML -> the same page as text, in the form of the catalogue's own files. Only this module knows selectolax.

Source lines keep every blank; running text is folded. Whether the text is a page is not decided here.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tracker.catalogue.layout import is_foot, is_head

_UNSEEN = {
    "head", "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "button", "select",
    "textarea", "input", "-comment", "!doctype",
}  # fmt: skip
_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label",
    "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "-text",
}  # fmt: skip
_NUMBERS = {"lineno", "linenos", "linenumber", "line-number", "gutter"}
"""Classes of the line numbers that highlighters put into source text."""
_BLANKS = re.compile(r"\s+")
_BREAK = "\n"


def text_of(html: str) -> str:
    """What a reader sees of the page: from its first line to its footer, where both are there; else all of it."""
    writer = _Writer()
    node: LexborNode | None = LexborHTMLParser(html).root
    depth = 0
    # By hand, for a document may be nested deeper than Python calls.
    while node is not None:
        if _seen(node, writer.in_pre):
            writer.enter(node)
            if node.child is not None:
                node, depth = node.child, depth + 1
                continue
            writer.leave(node)
        while node is not None and node.next is None and depth:
            node, depth = node.parent, depth - 1
            if node is not None:
                writer.leave(node)
        node = node.next if node is not None else None
    writer.flush()
    return _cut("".join(writer.written))


def _seen(node: LexborNode, in_pre: int) -> bool:
    if node.tag in _UNSEEN:
        return False
    if node.is_text_node:
        return True
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return False
    return not (in_pre and _NUMBERS & set((attributes.get("class") or "").split()))


class _Writer:
    """Blocks of text as they come: one blank line between two, none between the items of a list."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.in_pre = 0
        self._inline: list[str] = []
        self._mark = ""
        self._lists: list[int | None] = []
        self._after_item = False

    def enter(self, node: LexborNode) -> None:
        tag = node.tag
        if node.is_text_node:
            text = node.text_content or ""
            self._inline.append(text if self.in_pre else _BLANKS.sub(" ", text))
        elif tag == "br":
            self._inline.append(_BREAK)
        elif tag not in _INLINE:
            self.flush()
            if tag == "pre":
                self.in_pre += 1
            elif tag in ("ol", "ul"):
                self._lists.append(0 if tag == "ol" else None)
                self._after_item = False
            elif tag == "li":
                self._mark = self._marked()

    def leave(self, node: LexborNode) -> None:
        tag = node.tag
        if tag in ("td", "th"):
            self._inline.append(" ")
        elif tag not in _INLINE and tag != "br":
            self.flush()
            if tag == "pre":
                self.in_pre -= 1
            elif tag in ("ol", "ul") and self._lists:
                self._lists.pop()
                self._after_item = False

    def flush(self) -> None:
        """End a block."""
        text, self._inline = "".join(self._inline), []
        if self.in_pre:
            text = text.replace("\r\n", "\n").strip("\n")
        else:
            text = "\n".join(line.strip() for line in text.split(_BREAK)).strip("\n")
        if not text.strip():
            return
        if self.written:
            self.written.append("\n" if self._after_item and self._lists else "\n\n")
        self.written.append(self._mark + text)
        self._mark = ""
        self._after_item = bool(self._lists)

    def _marked(self) -> str:
        if not self._lists or (number := self._lists[-1]) is None:
            return "• "
        self._lists[-1] = number + 1
        return f"{number + 1}. "


def _cut(text: str) -> str:
    lines = text.split("\n")
    head = next((at for at, line in enumerate(lines) if is_head(line)), None)
    foot = next((at for at in reversed(range(len(lines))) if is_foot(lines[at])), None)
    return text if head is None or foot is None or foot < head else "\n".join(lines[head : foot + 1])
