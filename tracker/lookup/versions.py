"""Which version a paste says it comes from. It may be wrong: development builds call themselves by the next one."""

from __future__ import annotations

import re

_NUMBER = r"v?(\d+\.\d+\.\d+(?:\.\d+)?(?:\.?(?:rc|dev|a|b)\d+)?)"
# "removed in JAX v0.6.0" tells of an event, "jax v0.4.25 or newer" and "jax>=0.4" of a bound: not of what is installed.
_EVENT = re.compile(
    r"(?:removed|deprecated|added|introduced|changed|deleted|renamed|fixed|available|new) (?:in|since|with|from|by)\s*$"
    r"|(?:since|before|until|after|from|than|requires?|needs?|use|least)\s*$",
    re.IGNORECASE,
)
_BOUND = re.compile(r"\s*(?:or (?:newer|later|above|higher|older)|and (?:newer|later|above)|\+)", re.IGNORECASE)


def stated(text: str, package: str) -> list[str]:
    """The versions of the package that a text names as installed, each once, in order."""
    name = re.escape(package)
    gap = r"[\s'\"`*|(]{0,40}"
    pattern = re.compile(
        rf"(?<![\w/.-]){name}(?:\.__version__|[ _]version)?{gap}(?:==?|:|is\b|@|,)?{gap}{_NUMBER}(?![\w])"
        rf"|[/\\]{name}-{_NUMBER}(?:\.dist-info|-py|\.egg|[/\\])",
        re.IGNORECASE,
    )
    found = []
    for match in pattern.finditer(text):
        before = text[max(0, match.start() - 24) : match.start()]
        if not _EVENT.search(before) and not _BOUND.match(text, match.end()):
            found.append(match[1] or match[2])
    return list(dict.fromkeys(found))
