"""python -m tests.benchmarks.speed [--mirror DIR] [--runs N] [--only NAME]: how long a diff takes, beside its peers.

Each row of `ROWS` is measured in turn with its peer, on the same machine in the same run, and the medians make the
figure. A new row is one entry there. Needs a mirror with the tags: `tracker pull`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from tests.support import page
from tracker.harvest.sites import harvest

BASE, TARGET = "jax-v0.9.1", "jax-v0.11.0"
"""Five months of JAX, 2026-02-28 to 2026-07-16."""
PAGES = 5000


class Lab:
    """The two checkouts, a configuration on the mirror, and a catalogue of many pages."""

    def __init__(self, folder: Path, mirror: Path) -> None:
        self.folder = folder
        self.mirror = mirror
        self.state = folder / "state"
        self.state.mkdir()
        (self.state / "mirror").symlink_to(mirror)
        for revision in (BASE, TARGET):
            archive = subprocess.run(
                ["git", "-C", str(mirror), "archive", revision, "jax"], check=True, capture_output=True
            ).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder / revision, filter="data")
        (folder / "rule.yml").write_text("id: raise\nlanguage: python\nrule: {kind: raise_statement}\n")
        self.config("none", 1)
        self.config("many", PAGES)

    def config(self, name: str, number: int) -> None:
        """A configuration with a catalogue of so many pages, made from the sites of the base."""
        pages = self.folder / f"{name}-pages"
        pages.mkdir()
        commit = subprocess.run(
            ["git", "-C", str(self.mirror), "rev-parse", f"{BASE}^{{commit}}"], check=True, capture_output=True
        ).stdout.decode()
        for n, text in enumerate(self.texts(commit.strip(), number)):
            (pages / f"{n:05}.txt").write_text(text)
        (self.folder / f"{name}.toml").write_text(f'[catalogue]\npath = "{pages}"\n[state]\npath = "{self.state}"\n')

    def texts(self, commit: str, number: int) -> list[str]:
        sites = []
        for file in sorted((self.folder / BASE).rglob("*.py")):
            path = str(file.relative_to(self.folder / BASE))
            source = file.read_text(encoding="utf-8")
            found = harvest(path, source.encode()).sites
            sites += [(source, site) for site in found if site.message is not None and site.exception]
        return [
            page(
                source,
                site.line,
                message=" ".join((site.message or "").split()),
                pin=commit,
                id=hashlib.sha256(f"{n}".encode()).hexdigest()[:16],
                path=site.path,
                exception=site.exception or "",
                repository="jax-ml/jax",
                cut=True,
            )
            for n, (source, site) in enumerate(islice(cycle(sites), number))
        ]

    def forget(self) -> None:
        for file in self.state.glob("cache.sqlite3*"):
            file.unlink()

    def tracker(self, *arguments: str, pages: str = "none") -> None:
        command = [sys.executable, "-m", "tracker", "-q", "-c", str(self.folder / f"{pages}.toml"), *arguments]
        self.run(command, cwd=Path.cwd())

    def diff(self, *options: str, pages: str = "none", cold: bool = False) -> None:
        if cold:
            self.forget()
        self.tracker("diff", TARGET, "--base", BASE, *options, pages=pages)

    def ast_grep(self) -> None:
        self.run([str(Path(sys.executable).with_name("ast-grep")), "scan", "-r", "rule.yml", BASE, TARGET])

    def git_diff(self) -> None:
        self.run(["git", "-C", str(self.mirror), "diff", "--stat", BASE, TARGET])

    def run(self, command: list[str], cwd: Path | None = None) -> None:
        done = subprocess.run(command, cwd=cwd or self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert done.returncode in (0, 1), done.stderr.decode()
        # An exception ends with 1, too.
        assert b"Traceback" not in done.stderr, done.stderr.decode()


Run = Callable[[Lab], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is measured, and beside what."""

    ours: Run
    peer: Run | None = None
    most: float
    """The ratio to the peer that is to be reached; without a peer, or with `less`, seconds."""
    less: bool = False
    """Whether the difference to the peer is the figure."""


TWO_POINTS = ("--all-sites", "--no-history")

ROWS = {
    "cold diff, to ast-grep on both checkouts": Row(
        ours=lambda lab: lab.diff(*TWO_POINTS, cold=True), peer=Lab.ast_grep, most=0.75
    ),
    "cold diff with causes, to the same": Row(
        ours=lambda lab: lab.diff("--all-sites", cold=True), peer=Lab.ast_grep, most=4
    ),
    "warm diff, to git diff --stat": Row(ours=lambda lab: lab.diff(*TWO_POINTS), peer=Lab.git_diff, most=3),
    "warm diff with causes, to the same": Row(ours=lambda lab: lab.diff("--all-sites"), peer=Lab.git_diff, most=3),
    "5,000 pages, cold, more than all sites": Row(
        ours=lambda lab: lab.diff("--no-history", pages="many", cold=True),
        peer=lambda lab: lab.diff(*TWO_POINTS, cold=True),
        most=1,
        less=True,
    ),
    "5,000 pages, warm, more than all sites": Row(
        ours=lambda lab: lab.diff("--no-history", pages="many"),
        peer=lambda lab: lab.diff(*TWO_POINTS),
        most=0.2,
        less=True,
    ),
    "tracker --help": Row(ours=lambda lab: lab.tracker("--help"), most=0.15),
}


def measured(lab: Lab, row: Row, runs: int) -> tuple[float, float | None, float]:
    """Median seconds of ours and of the peer, taken in turn, and the figure."""
    ours, peers = [], []
    row.ours(lab)  # what is warm is warm from here on
    for _ in range(runs):
        if row.peer is not None:
            peers.append(seconds(lab, row.peer))
        ours.append(seconds(lab, row.ours))
    if not peers:
        return median(ours), None, median(ours)
    both = median(ours), median(peers)
    return *both, both[0] - both[1] if row.less else both[0] / both[1]


def seconds(lab: Lab, run: Run) -> float:
    began = time.perf_counter()
    run(lab)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, default=Path("state/mirror"))
    parser.add_argument("--runs", type=int, default=5, help="How often each thing is measured; the median counts.")
    parser.add_argument("--only", choices=list(ROWS), action="append", help="measure only this row")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, {BASE} to {TARGET}, medians of {options.runs}")
    print(f"{'':42} {'ours':>7} {'peer':>7} {'figure':>8} {'at most':>8}")
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), options.mirror.absolute())
        for name in options.only or ROWS:
            row = ROWS[name]
            ours, peer, figure = measured(lab, row, options.runs)
            unit = "s" if row.less or peer is None else "x"
            beside = f"{peer:5.2f} s" if peer is not None else ""
            print(f"{name:42} {ours:5.2f} s {beside:>7} {figure:6.2f} {unit} {row.most:6.2f} {unit}", flush=True)


if __name__ == "__main__":
    main()
