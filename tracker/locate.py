"""An entry -> the site its page speaks of: in a snapshot where the page was true, or in the page's own excerpt."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable
from itertools import accumulate

from tracker.catalogue.restate import CUT
from tracker.harvest.sites import harvest
from tracker.message import HOLE, escape, wording
from tracker.model import Entry, Site, Snapshot, leaf


def agrees(entry: Entry, site: Site) -> bool:
    """Whether a page can speak of this site: the same exception and message, the line aside.

    The page's message may be cut, and its placeholders may be anonymous; white space does not count.
    """
    if leaf(entry.exception) != leaf(site.exception):
        return False
    if not entry.message:
        return not site.messages
    claims = wordings(entry.message)
    starts = claims if entry.message_cut else beginnings(entry.message)
    return any(
        theirs in claims or any(theirs.startswith(start) for start in starts) for theirs in map(wording, site.messages)
    )


def wordings(stated: str) -> list[str]:
    """The wordings that a page's text can stand for: it may show the braces of a literal single, as they are raised."""
    return list(dict.fromkeys((wording(stated), wording(escape(stated)))))


def beginnings(stated: str) -> list[str]:
    """How the whole wording begins where the text can be cut; nothing where it is not.

    Where the cut fell behind a blank, the blank is gone, too; it may have been one inside a placeholder.
    """
    if not CUT - 2 <= len(stated) <= CUT:
        return []
    unclosed = wording(stated).endswith(HOLE) and not stated.endswith("}")
    return [claim if len(stated) == CUT or unclosed else f"{claim} " for claim in wordings(stated)]


def in_snapshot(entry: Entry, snapshot: Snapshot) -> Site | str:
    """The site at the page's path and line, or why there is none that the page can speak of."""
    return finder(snapshot)(entry)


def finder(snapshot: Snapshot) -> Callable[[Entry], Site | str]:
    """`in_snapshot` for many entries: the sites are sorted by file once."""
    name, files = snapshot.revision.name, set(snapshot.files)
    sites: dict[str, list[Site]] = defaultdict(list)
    for site in snapshot.sites:
        sites[site.path].append(site)

    def find(entry: Entry) -> Site | str:
        if entry.path not in files:
            return f"{name} has no file {entry.path} in scope"
        here = sites.get(entry.path, [])
        if found := [site for site in here if site.line == entry.line and agrees(entry, site)]:
            return found[0]
        elsewhere = [site.line for site in here if agrees(entry, site)]
        if elsewhere:
            lines = ", ".join(map(str, elsewhere))
            return f"at {name} its error is raised at {entry.path}:{lines}, not at line {entry.line}"
        if problem := snapshot.partial.get(entry.path):
            return f"{entry.path} {problem} at {name}, and no such raise was found in it"
        return f"{entry.path} raises no {leaf(entry.exception)} with this message at {name}"

    return find


def in_excerpt(entry: Entry) -> Site | str:
    """The site as the page's excerpt shows it, or why the excerpt does not show it.

    Scope and guard reach as far as the excerpt does: without the head of a function, the scope is empty.
    """
    if entry.excerpt_line is None:
        return "its excerpt shows no raise statement"
    lines = entry.excerpt.split("\n")
    at = entry.line - entry.excerpt_line
    # An excerpt begins and ends anywhere. It is read from the first line that makes a whole piece of source
    # (a line indented less than all before it can), to the first line that completes the statement.
    indents = [len(line) - len(line.lstrip()) if line.strip() else 1 << 16 for line in lines]
    least = list(accumulate(indents, min))
    starts = [n for n in range(at + 1) if n == 0 or indents[n] < least[n - 1] or indents[n] == least[-1]]
    for start in starts:
        for stop in range(at + 1, len(lines) + 1):
            piece = textwrap.dedent("\n".join(lines[start:stop])) + "\n"
            found = harvest(entry.path, piece.encode("utf-8", "replace"))
            if found.problem is None:
                for site in found.sites:
                    if site.line == at - start + 1 and agrees(entry, site):
                        return site.shifted(entry.excerpt_line + start - 1)
    return "the raise statement in its excerpt does not carry its exception and message"
