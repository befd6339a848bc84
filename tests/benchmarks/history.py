"""python -m tests.benchmarks.history [--mirror DIR] [--runs N]: the history index beside git itself, in one run.

Prints ratios: building the index to reading the same blobs with `git cat-file --batch`, a query to `git log -S`, and
what one new commit costs; writes growth.svg, the time per commit over the history. Needs a mirror: `tracker pull`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tracker.commands.options import workers
from tracker.history.build import extend
from tracker.repository.mirror import Mirror
from tracker.repository.steps import first_parents
from tracker.sections import Upstream
from tracker.store.history import History

UPSTREAM = Upstream()
MESSAGE = "psend is currently only implemented on GPUs"
COMMITS = 20
"""New commits that are taken in one by one."""
SLICE = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, default=Path("state/mirror"))
    parser.add_argument("--runs", type=int, default=3, help="How often each thing is measured; the median counts.")
    parser.add_argument("--growth", type=Path, default=Path(__file__).with_name("growth.svg"))
    arguments = parser.parse_args()
    mirror = arguments.mirror.absolute()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        (state / "mirror").symlink_to(mirror)
        config = state / "config.toml"
        config.write_text(f'[state]\npath = "{state}"\n')
        to = state / "history.sqlite3"
        print(f"{os.cpu_count()} cores; medians of {arguments.runs}")
        building(mirror, to, arguments.runs)
        one_by_one(mirror, to)
        asking(mirror, config, arguments.runs)
        growth(mirror, state / "alone.sqlite3", arguments.growth)


def building(mirror: Path, to: Path, runs: int) -> None:
    with Mirror.open(mirror, create=False) as opened:
        steps = first_parents(opened, None, f"refs/heads/{UPSTREAM.branch}", UPSTREAM.paths, UPSTREAM.exclude)
    ordered = [change.new for step in steps for change in step.changes if change.new]
    blobs = sorted(set(ordered))
    read = seconds(runs, lambda: cat(mirror, blobs))
    read_in_order = seconds(runs, lambda: cat(mirror, list(dict.fromkeys(ordered))))
    built = seconds(runs, lambda: build(mirror, to))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    workers_peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{len(steps)} commits, {len(ordered)} changed files, {len(blobs)} blobs")
    print(f"git cat-file --batch, by name       {read:8.2f} s")
    print(f"git cat-file --batch, as history    {read_in_order:8.2f} s")
    print(f"history from empty                  {built:8.2f} s   {built / read:.1f}x, {built / read_in_order:.1f}x")
    print(f"peak memory                         {max(peak, workers_peak):8} MB in the largest process")
    print(f"the index                           {to.stat().st_size / 1e6:8.1f} MB")


def build(mirror: Path, to: Path) -> None:
    for file in to.parent.glob(f"{to.name}*"):
        file.unlink()
    with Mirror.open(mirror, create=False) as opened, History.open(to) as history, workers() as executor:
        extend(opened, history, UPSTREAM, executor)


def one_by_one(mirror: Path, to: Path) -> None:
    """The newest commits forgotten, and taken in again one at a time, by the same code that follows a pull."""
    with tempfile.TemporaryDirectory() as folder, History.open(to) as history:
        copy = Path(folder) / "mirror"
        subprocess.run(["git", "clone", "--quiet", "--bare", "--shared", str(mirror), str(copy)], check=True)
        tip = history.tip
        commits = [history.commit_at(position) for position in range(tip - COMMITS, tip + 1)]
        with history.writing():
            history.go_back(tip - COMMITS)
        taken = []
        with Mirror.open(copy, create=False) as opened:
            for commit in commits[1:]:
                assert commit is not None
                opened.git("update-ref", f"refs/heads/{UPSTREAM.branch}", commit.commit)
                began = time.perf_counter()
                extend(opened, history, UPSTREAM)
                taken.append(time.perf_counter() - began)
    print(f"one new commit                      {median(taken):8.3f} s   at most {max(taken):.3f} s of {len(taken)}")


def asking(mirror: Path, config: Path, runs: int) -> None:
    tracker = [sys.executable, "-m", "tracker", "-c", str(config), "history", MESSAGE]
    quiet(tracker)
    asked = seconds(2 * runs, lambda: quiet(tracker))
    log = ["git", "-C", str(mirror), "log", f"-S{MESSAGE}", "--first-parent", "-m", "--format=%H", UPSTREAM.branch]
    print(f"tracker history TEXT                {asked:8.2f} s")
    for name, command in {"the whole repository": log, "jax/ alone": [*log, "--", "jax"]}.items():
        try:
            searched = seconds(1, lambda command=command: quiet(command))  # type: ignore[misc]
        except subprocess.CalledProcessError:
            print(f"git log -S, {name:23} not measured: the mirror lacks files that upstream lacks, too")
        else:
            print(f"git log -S, {name:23} {searched:8.2f} s   {searched / asked:.0f}x")


def growth(mirror: Path, to: Path, picture: Path) -> None:
    """One process, so that each slice of the history is measured by itself."""
    times: list[tuple[int, float]] = []
    real = History.add

    def timed(self: History, commits, *rest) -> None:  # type: ignore[no-untyped-def]
        real(self, commits, *rest)
        times.append((commits[-1].position, time.process_time()))

    History.add = timed  # type: ignore[method-assign]
    try:
        began = time.process_time()
        with Mirror.open(mirror, create=False) as opened, History.open(to) as history:
            extend(opened, history, UPSTREAM)
    finally:
        History.add = real  # type: ignore[method-assign]
    points, before = [], (0, began)
    for position, at in times:
        if position - before[0] >= SLICE:
            points.append((position, 1000 * (at - before[1]) / (position - before[0])))
            before = (position, at)
    picture.write_text(chart(points))
    thirds = [points[n * len(points) // 3 : (n + 1) * len(points) // 3] for n in range(3)]
    told = ", ".join(f"{sum(cost for _, cost in third) / len(third):.2f}" for third in thirds)
    print(f"ms of one core for a commit, by thirds of the history: {told}   ({picture.name})")


def chart(points: list[tuple[int, float]]) -> str:
    """Milliseconds per commit over the commits, as a line."""
    width, height, left, bottom = 640, 240, 48, 36
    most = max(cost for _, cost in points) * 1.1
    last = points[-1][0]

    def x(position: float) -> float:
        return left + (width - left - 12) * position / last

    def y(cost: float) -> float:
        return (height - bottom) - (height - bottom - 12) * cost / most

    line = " ".join(f"{x(position):.1f},{y(cost):.1f}" for position, cost in points)
    marks = [
        f'<text x="{left - 6}" y="{y(cost) + 4:.1f}" text-anchor="end">{cost}</text>'
        f'<line x1="{left}" x2="{width - 12}" y1="{y(cost):.1f}" y2="{y(cost):.1f}" stroke="#ddd"/>'
        for cost in range(0, int(most) + 1, max(1, round(most / 5)))
    ]
    marks += [
        f'<text x="{x(position):.1f}" y="{height - bottom + 16}" text-anchor="middle">{position}</text>'
        for position in range(0, last + 1, 5000)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="11" fill="#444"><rect width="{width}" height="{height}" fill="#fff"/>'
        + "".join(marks)
        + f'<polyline points="{line}" fill="none" stroke="#2a6fb0" stroke-width="1.5"/>'
        + f'<text x="{left}" y="{height - 6}">commits of JAX since 2018; milliseconds of one core for a commit, '
        + f"means of {SLICE}</text></svg>\n"
    )


def cat(mirror: Path, blobs: list[str]) -> None:
    subprocess.run(
        ["git", "-C", str(mirror), "cat-file", "--batch"],
        input="".join(f"{blob}\n" for blob in blobs).encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )


def quiet(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def seconds(runs: int, work: Callable[[], None]) -> float:
    """The median of several runs."""
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return median(taken)


if __name__ == "__main__":
    main()
