"""What is wrong with pages, for a person and for a program."""

from __future__ import annotations

import json

from tracker.audit.findings import Audit
from tracker.report.words import counted


def as_text(audit: Audit) -> str:
    """One line for each fault, then what could not be looked at."""
    lines = [f"{one.file}:{one.line}: {one.fault}: {one.words}" for one in audit.findings]
    lines += [f"not checked: {words}" for words in audit.unverified]
    return "".join(f"{line}\n" for line in lines or [f"Nothing is wrong with {counted(audit.pages, 'page')}."])


def summary(audit: Audit) -> str:
    """How much was looked at, and what could not be judged."""
    line = (
        f"{counted(audit.pages, 'page')} read, {audit.pinned} compared with their pins; "
        f"{counted(audit.related, 'related error')} and {counted(audit.names, 'name')} looked for at {audit.at.name}; "
        f"{counted(len(audit.findings), 'fault')}"
    )
    if audit.unjudged:
        listed = "; ".join(f"{words}: {number}" for words, number in audit.unjudged.items())
        line += f"\nnot judged: {listed}"
    return line


def as_json(audit: Audit) -> str:
    """The same for a program."""
    value = {
        "schema": "tracker.catalogue-check/1",
        "at": {"revision": audit.at.name, "commit": audit.at.commit, "committed_at": audit.at.committed_at},
        "checked": {
            "pages": audit.pages,
            "pinned": audit.pinned,
            "related": audit.related,
            "names": audit.names,
        },
        "faults": [
            {
                "kind": one.fault,
                "entry": one.entry,
                "page": one.file,
                "line": one.line,
                "name": one.name or None,
                "said": one.words,
            }
            for one in audit.findings
        ],
        "unjudged": dict(audit.unjudged),
        "unchecked": list(audit.unverified),
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
