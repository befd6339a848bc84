"""python -m tests.lookup.score REPORTS CONFIG: how often `lookup` finds the right raise first.

REPORTS holds one JSON object a line: `text`, the pasted error; `site`, the raise it came from (`rev`, `path`, `line`,
`function`) or null; `candidates`, where several are as good; `label_strength`, which begins with `line` where the
revision is sure; `jax_version`. CONFIG is a configuration whose mirror has been pulled. Without a site and without
candidates, an error is right when it is not called a match; all of those are listed, for a person to read.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tracker.commands.options import open_mirror
from tracker.config import load
from tracker.errors import RevisionError
from tracker.lookup.ask import Answer, Asked
from tracker.lookup.paste import read
from tracker.lookup.releases import Releases
from tracker.lookup.sieve import Sieve
from tracker.repository import revisions
from tracker.scope import cache_of, sources_of


class Scored(NamedTuple):
    """One report."""

    id: str
    kind: str
    right: bool
    verdict: str
    first: str


def right(row: Mapping[str, Any], answer: Answer) -> bool:
    """Whether the answer to a report is what its label says."""
    found = [match.site for one in answer.judged for match in one.matches]
    labels = [row["site"]] if row.get("site") else row.get("candidates") or []
    if not labels:
        return answer.verdict.value != "match"
    if not found:
        return False
    first = found[0]
    for label in labels:
        named = first.scope.rpartition(".")[2] == label["function"].rpartition(".")[2]
        by_line = not row.get("site") or row["label_strength"].startswith("line")
        if first.path == label["path"] and (first.line == label["line"] if by_line else named):
            return True
    return False


def kind(row: Mapping[str, Any]) -> str:
    """What a report is scored as."""
    if row.get("site"):
        return "line" if row["label_strength"].startswith("line") else "function"
    return "several" if row.get("candidates") else "no site"


def score(rows: list[Mapping[str, Any]], config: Path) -> Iterator[Scored]:
    """Look up every report at the version of its label; without one, as the paste itself says."""
    settings = load(config, [])
    with open_mirror(settings) as mirror, cache_of(settings) as cache:
        sources = sources_of(settings, mirror, None, cache)
        package, url, branch = settings.upstream.package, settings.upstream.url, settings.upstream.branch
        newest = revisions.default_target(mirror, branch)
        releases = Releases(mirror, sources, package, lambda line: None)
        asked = Asked(sources, releases, Sieve(mirror, sources, releases, lambda line: None), newest, [], package)
        for row in rows:
            label = row.get("site") or (row.get("candidates") or [None])[0]
            name = label["rev"] if label else f"{package}-v{row['jax_version']}" if row.get("jax_version") else None
            try:
                at = revisions.resolve(mirror, name, url=url, branch=branch) if name else None
            except RevisionError as error:
                print(f"{row['id']}: {error}", file=sys.stderr)
                continue
            answer = asked.answer(read(row["text"]), at, history=False)
            first = next((m.site for one in answer.judged for m in one.matches), None)
            where = f"{first.path}:{first.line} {first.scope}" if first else ""
            yield Scored(row["id"], kind(row), right(row, answer), answer.verdict.value, where)


def main() -> None:
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if line.strip()]
    total: Counter[str] = Counter()
    good: Counter[str] = Counter()
    for one in score(rows, Path(sys.argv[2])):
        total[one.kind] += 1
        good[one.kind] += one.right
        if not one.right or one.kind in ("no site", "several"):
            print(
                f"{one.id}  {'right' if one.right else 'WRONG'}  {one.kind:8}  {one.verdict:9}  {one.first}", flush=True
            )
    for name in sorted(total):
        print(f"{name:8} {good[name]} of {total[name]}")
    sited = ("line", "function")
    print(f"right site first: {sum(good[name] for name in sited)} of {sum(total[name] for name in sited)}")


if __name__ == "__main__":
    main()
