"""Small histories made in one go, and an index of them as plain rows."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tracker.history.build import Outcome, extend
from tracker.repository.mirror import Mirror
from tracker.sections import Upstream
from tracker.store.history import History
from tracker.store.recall import life as life_of

UPSTREAM = Upstream(url="", branch="main", package="demo", paths=("pkg/**/*.py",))
Tree = Mapping[str, str]


def commit_all(path: Path, trees: Sequence[Tree], branch: str = "main", base: str | None = None) -> list[str]:
    """Commits with exactly these files, one after the other, in a bare repository -> their names."""
    if not path.exists():
        subprocess.run(["git", "init", "--quiet", "--bare", "--template=", str(path)], check=True)
    stream = [b"feature done\n"]
    for n, tree in enumerate(trees, 1):
        said = f"commit {n}".encode()
        stream.append(b"commit refs/heads/%s\nmark :%d\n" % (branch.encode(), n))
        stream.append(b"committer Ada <ada@example.org> %d +0000\n" % (1_750_000_000 + 60 * n))
        stream.append(b"data %d\n%s\n" % (len(said), said))
        if n > 1 or base is not None:
            stream.append(b"from %s\n" % (b":%d" % (n - 1) if n > 1 else str(base).encode()))
        stream.append(b"deleteall\n")
        for name, text in sorted(tree.items()):
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(text.encode()), text.encode()))
    marks = path / "marks"
    subprocess.run(
        ["git", "-C", str(path), "fast-import", "--quiet", "--force", f"--export-marks={marks}"],
        input=b"".join([*stream, b"done\n"]),
        check=True,
    )
    named = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    return [named[f":{n}"] for n in range(1, len(trees) + 1)]


def index(mirror: Path, to: Path, **how: object) -> Outcome:
    """Bring the index at `to` up to date with the mirror."""
    with Mirror.open(mirror, create=False) as opened, History.open(to) as history:
        return extend(opened, history, UPSTREAM, **how)  # type: ignore[arg-type]


_NUMBERS = """
select 'spans', error, since, until, kinds, paths.path, scope, exception, form, guard, line, end_line, ordinal
    from spans
    join paths on paths.id = spans.path join states on states.id = spans.state;
select 'files', paths.path, since, blob, sound, units from files join paths on paths.id = files.path;
select 'said', scope, exception, form, guard, n, text from said
    join states on states.id = said.state join messages on messages.id = said.message
"""
"""Which number a path or a text has depends on when the tables were written, and says nothing."""


def rows(path: Path, numbers: bool = False) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table; with `numbers`, also those that only stand for paths and texts."""
    tables = ("commits", "errors", "facts", "releases")
    queries = [f"select '{table}', * from {table}" for table in tables] + _NUMBERS.split(";")
    if numbers:
        names = ("spans", "files", "said", "states", "paths", "messages")
        queries = [f"select '{table}', * from {table}" for table in (*tables, *names)]
    with closing(sqlite3.connect(path)) as db:
        found = [sorted(db.execute(query).fetchall(), key=repr) for query in queries]
    return {str(table[0][0]): table for table in found if table}


def told(path: Path) -> list[tuple[int, str, str | None]]:
    """What happened, in order: position, kinds (or `removed`, or blank: nothing that anyone is told), message."""
    found = []
    with History.read(path) as history:  # type: ignore[union-attr]
        for error in range(1, history.next_error):
            life = life_of(history, error)
            found += [(one.since, " ".join(sorted(one.kinds)), one.site.message) for one in life]
            if (died := history.died(error)) is not None:
                found.append((died, "removed", life[-1].site.message))
    return sorted(found, key=repr)
