"""A page as a site publishes it: as HTML and as JSON, made from the text of one."""

from __future__ import annotations

import html
import re
from typing import Any

from tracker.catalogue.page import Page

_HEADINGS = {
    "Error message", "What it means", "Source", "Solutions", "Example fix", "Defensive patterns", "Prevention",
    "Validate before calling", "Type guard", "Try / catch", "When it happens", "Related errors",
}  # fmt: skip


def as_html(page: Page) -> str:
    """A document with the site's own furniture around the page, the excerpt highlighted and with line numbers."""
    entry = page.entry
    body: list[str] = []
    head, tail = page.text.split(entry.excerpt, 1)
    for block in head.split("\n\n"):
        body.append(_block(block))
    source = "\n".join(
        f'<span class="lineno">{n}</span>{re.sub("raise", "<b>raise</b>", html.escape(line))}'
        for n, line in enumerate(entry.excerpt.split("\n"), entry.excerpt_line or 1)
    )
    body.append(f'<div class="code"><pre><code>{source}\n</code></pre></div>')
    body += [_block(block) for block in re.split(r"\n\n+", tail.strip("\n"))]
    return (
        "<!DOCTYPE html>\n<html lang=en><head><title>An error</title><style>p { x: y }</style></head><body>\n"
        "<nav><a href=/>Home</a> <a href=/errors>All errors</a></nav><main>\n"
        + "\n".join(body)
        + "\n</main><script>var a = '<p>';</script><footer>Imprint</footer></body></html>"
    )


def _block(block: str) -> str:
    lines = block.split("\n")
    if block in _HEADINGS:
        return f"<h2>\n  {block}</h2>"
    if all(re.match(r"\s*[0-9]+\. ", line) for line in lines):
        items = (html.escape(re.sub(r"^\s*[0-9]+\. ", "", line)) for line in lines)
        return f"<ol>{''.join(f'<li>{item}</li>' for item in items)}</ol>"
    if all(line.startswith("• ") for line in lines):
        return "<ul>\n" + "\n".join(f'  <li><a href="#">{html.escape(line[2:])}</a>' for line in lines) + "\n</ul>"
    if "  " in block.strip() or any(re.match(r"\s|#|//|def |if |try:|import |except|assert", line) for line in lines):
        return f"<pre>{html.escape(block)}</pre>"
    # Running text is wrapped anywhere.
    text = "<br>".join(html.escape(line).replace(" ", "\n  ", 3) for line in lines)
    text = re.sub("^(Trigger|Common situations):", r"<strong>\1:</strong>", text)
    return f"<p>{text}</p>"


def as_json(page: Page) -> dict[str, Any]:
    """An entry as the API of a site has it."""
    entry = page.entry
    return {
        "id": entry.id,
        "repository": entry.repository,
        "exception_type": entry.exception,
        "title": entry.title,
        "message": entry.message,
        "file": entry.path,
        "line": entry.line,
        "source_excerpt": entry.excerpt,
        "commit": entry.pin + "0" * (40 - len(entry.pin)),
        "analyzed_at": f"{entry.date}T01:02:03Z",
        "what_it_means": entry.meaning,
        "solutions": list(entry.solutions),
        "when_it_happens": {"trigger": entry.trigger, "common_situations": "Here and there."},
        "related_errors": [{"title": title, "id": "0" * 16} for title in entry.related],
    }
