"""python -m tests.benchmarks.peers [--mirror DIR] [--blame]: what other ways of following errors make of the gold span.

Every way gets the same two trees and the same sites (position, exception, extent), and says where each base site is at
the target. One scorer, `tests.gold.score`, gives every figure. Needs a mirror with the tags: `tracker pull`.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.extract import extract

from tests.gold.score import score
from tracker.harvest.sites import harvest
from tracker.model import Site, leaf

BASE, TARGET = "jax-v0.4.30", "jax-v0.6.0"
SCOPE = "jax"

Place = tuple[str, int]
Pairs = Mapping[Place, Place | None]


class Tree(NamedTuple):
    """One end of the span."""

    revision: str
    sources: dict[str, bytes]
    sites: dict[Place, Site]


class Span(NamedTuple):
    """Both ends, and the repository between them."""

    mirror: Path
    base: Tree
    target: Tree


def tree(mirror: Path, revision: str) -> Tree:
    archive = git(mirror, "archive", "--format=tar", revision, SCOPE)
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        files = [member for member in opened if member.isfile() and member.name.endswith(".py")]
        sources = {member.name: opened.extractfile(member).read() for member in files}  # type: ignore[union-attr]
    sites = [site for path, raw in sorted(sources.items()) for site in harvest(path, raw).sites]
    return Tree(revision, sources, {(site.path, site.line): site for site in sites})


def git(mirror: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(mirror), *arguments], check=True, capture_output=True).stdout


def in_order(base: Mapping[object, list[Place]], target: Mapping[object, list[Place]]) -> dict[Place, Place | None]:
    """The n-th site of a key continues as the n-th of the same key."""
    return {
        place: theirs[n] if n < len(theirs := target.get(key, [])) else None
        for key, places in base.items()
        for n, place in enumerate(places)
    }


def line_mapping(span: Span) -> Pairs:
    """One two-point `git diff -M` with the histogram algorithm: a line that no hunk touches goes on."""
    shown = git(span.mirror, "diff", "-M", "--histogram", "-U0", span.base.revision, span.target.revision, "--", SCOPE)
    renamed: dict[str, str | None] = {}
    hunks: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    old = ""
    for line in shown.decode("utf-8", "replace").split("\n"):
        if line.startswith("--- "):
            old = line[6:] if line != "--- /dev/null" else ""
        elif line.startswith("+++ ") and old:
            renamed[old] = line[6:] if line != "+++ /dev/null" else None
        elif line.startswith("rename from "):
            old = line[12:]
        elif line.startswith("rename to "):
            renamed[old] = line[10:]
        elif old and (match := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)):
            hunks[old].append((int(match[1]), int(match[2] or 1), int(match[3] or 1)))
    return {(path, line): _mapped(renamed.get(path, path), hunks[path], line) for path, line in span.base.sites}


def _mapped(path: str | None, hunks: list[tuple[int, int, int]], line: int) -> Place | None:
    shift = 0
    for start, removed, added in hunks:
        if removed and start <= line < start + removed:
            return None
        if start + max(removed - 1, 0) < line or (not removed and start < line):
            shift += added - removed
    return (path, line + shift) if path is not None else None


def blame(span: Span) -> Pairs:
    """`git blame -w -M -C BASE..TARGET` of every target file with a raise: what it attributes to the base goes on."""
    found: dict[Place, Place | None] = dict.fromkeys(span.base.sites)
    base = git(span.mirror, "rev-parse", f"{span.base.revision}^{{commit}}").decode().strip()
    paths = sorted({path for path, _ in span.target.sites})

    def attributed(path: str) -> list[tuple[Place, Place]]:
        span_of = f"{span.base.revision}..{span.target.revision}"
        shown = git(span.mirror, "blame", "-w", "-M", "-C", "--line-porcelain", span_of, "--", path)
        pairs = []
        origin: tuple[str, int, int] | None = None
        for line in shown.decode("utf-8", "replace").split("\n"):
            if match := re.match(r"([0-9a-f]{40}) (\d+) (\d+)", line):
                origin = match[1], int(match[2]), int(match[3])
            elif line.startswith("filename ") and origin is not None and origin[0] == base:
                pairs.append(((line[9:], origin[1]), (path, origin[2])))
        return pairs

    with ThreadPoolExecutor(2) as pool:
        for pairs in pool.map(attributed, paths):
            found.update((before, after) for before, after in pairs if before in found)
    return found


def fingerprints(span: Span) -> Pairs:
    """Exact fingerprints, as baselines of static analysis do: path, exception, dedented code, index."""

    def keys(tree: Tree) -> dict[object, list[Place]]:
        found = defaultdict(list)
        for place, site in tree.sites.items():
            lines = tree.sources[site.path].decode("utf-8", "replace").split("\n")[site.line - 1 : site.end_line]
            found[site.path, leaf(site.exception), textwrap.dedent("\n".join(lines))].append(place)
        return found

    return in_order(keys(span.base), keys(span.target))


def rolling(span: Span) -> Pairs:
    """Code scanning's line hash: the first 100 characters from the line's start that are no blanks, and an index."""

    def keys(tree: Tree) -> dict[object, list[Place]]:
        found = defaultdict(list)
        for path, line in tree.sites:
            text = tree.sources[path].decode("utf-8", "replace").split("\n", line - 1)[-1][:2000]
            found[path, "".join(text.split())[:100]].append((path, line))
        return found

    return in_order(keys(span.base), keys(span.target))


def babel(span: Span) -> Pairs:
    """Babel's Python extractor with the exceptions as keywords, then `Catalog.update` at its own fuzzy cutoff.

    The extractor reads plain strings and their concatenation; anything else it does not see counts as removed.
    """

    def extracted(tree: Tree) -> tuple[Catalog, dict[object, list[Place]]]:
        catalog, places = Catalog(), defaultdict(list)
        names = {leaf(site.exception) or "" for site in tree.sites.values()}
        keywords = dict.fromkeys(names)
        for path, raw in sorted(tree.sources.items()):
            ends = {
                n: site
                for site in tree.sites.values()
                if site.path == path
                for n in range(site.line, site.end_line + 1)
            }
            for line, message, *_ in extract("python", io.BytesIO(raw), keywords=keywords):
                text = message[0] if isinstance(message, tuple) else message
                if line in ends and text:
                    place = path, ends[line].line
                    if place not in places[text]:
                        places[text].append(place)
                        catalog.add(text, locations=[place])
        return catalog, places

    with redirect_stderr(io.StringIO()):  # a warning for each f-string, which the figure says as well
        catalog, old = extracted(span.base)
        template, new = extracted(span.target)
    catalog.update(template)
    gone: dict[object, list[Place]] = {}
    for message in catalog:
        before = message.previous_id[0] if message.fuzzy and message.previous_id else message.id
        if message.id and before in old:
            gone[before] = new.get(message.id, [])
    return dict.fromkeys(span.base.sites) | in_order(old, gone)


def tracker(span: Span, *options: str) -> Pairs:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        (Path(folder) / "state").mkdir()
        (Path(folder) / "state" / "mirror").symlink_to(span.mirror.absolute())
        config.write_text('[upstream]\nurl = "unused"\npaths = ["jax/**/*.py"]\n[catalogue]\ntrack = "all"\n')
        ends = ("diff", span.target.revision, "--base", span.base.revision, "--format", "json", *options)
        done = subprocess.run(
            [sys.executable, "-m", "tracker", "-q", "-c", str(config), *ends], stdout=subprocess.PIPE, check=False
        )
    found: dict[Place, Place | None] = {place: place for place in span.base.sites}
    for drift in json.loads(done.stdout)["drifts"]:
        if drift["before"]:
            after = drift["after"] and (drift["after"]["path"], drift["after"]["line"])
            found[drift["before"]["path"], drift["before"]["line"]] = after
    return found


WAYS: dict[str, Callable[[Span], Pairs]] = {
    "Babel extract + update": babel,
    "git diff -M, line mapping": line_mapping,
    "git blame -w -M -C": blame,
    "exact fingerprint (path, code, index)": fingerprints,
    "rolling line hash (100 characters)": rolling,
    "tracker, two ends alone": lambda span: tracker(span, "--no-history"),
    "tracker, along the history": tracker,
}


def report(span: Span, pairs: Pairs) -> dict[str, object]:
    taken = Counter(after for after in pairs.values() if after in span.target.sites)
    drifts = [
        {"before": place(before), "after": place(after) if after in taken else None, "kinds": []}
        for before, after in pairs.items()
    ]
    drifts += [{"before": None, "after": place(new), "kinds": ["new"]} for new in span.target.sites if new not in taken]
    return {"files": {"base": list(span.base.sources), "target": list(span.target.sources)}, "drifts": drifts}


def place(at: Place | None) -> dict[str, object] | None:
    return {"path": at[0], "line": at[1]} if at else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, default=Path("state/mirror"))
    parser.add_argument("--only", choices=list(WAYS), action="append", help="measure only this way")
    options = parser.parse_args()
    span = Span(options.mirror, tree(options.mirror, BASE), tree(options.mirror, TARGET))
    print(f"{'':40} {'pairs':>6} {'new F1':>7} {'seconds':>8}")
    for name in options.only or WAYS:
        began = time.monotonic()
        pairs = WAYS[name](span)
        seconds = time.monotonic() - began
        figures = score(report(span, pairs))
        print(f"{name:40} {figures.pairs:6.3f} {figures.new:7.3f} {seconds:8.1f}", flush=True)


if __name__ == "__main__":
    main()
