"""A replay of real history: an upstream that gains one real commit at a time, watched and filed on a fake GitHub.

    python -m tests.filing.replay UPSTREAM [COMMITS] [pages|all]

UPSTREAM is a clone of the upstream project; its last COMMITS first-parent commits are played. What is filed at the end
is held against one comparison of the two ends, and each cause against the commit at whose arrival the drift appeared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.filing.desk import DAY, REPO
from tests.github.fake import TOKEN, FakeGitHub
from tracker.check import check_all
from tracker.commands import filing
from tracker.commands.options import workers
from tracker.config import load
from tracker.ledger import Family, content, family
from tracker.repository import revisions
from tracker.repository.mirror import Mirror
from tracker.run import once
from tracker.scope import cache_of, sources_of
from tracker.store.database import Database
from tracker.store.drifts import open_drifts

ROOT = Path(__file__).resolve().parents[2]
PER_DAY = 28
"""Commits a day, as upstream makes them."""


def git(folder: Path, *arguments: str) -> str:
    """The output of a git command."""
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def replay(upstream: Path, count: int, track: str, folder: Path) -> None:
    """Play it, and print what came of it."""
    commits = git(upstream, "rev-list", "--first-parent", "--reverse", f"--max-count={count + 1}", "main").split()
    growing = folder / "upstream"
    subprocess.run(["git", "clone", "--quiet", "--bare", "--shared", upstream, growing], check=True)
    (folder / "config.toml").write_text(
        f'[upstream]\nurl = "{growing.as_uri()}"\n'
        f'[catalogue]\npath = "{ROOT / "state" / "catalogue"}"\ntrack = "{track}"\n'
        + (f'base = "{commits[0]}"\n' if track == "all" else ""),
        encoding="utf-8",
    )
    os.environ["TRACKER_GITHUB_TOKEN"] = TOKEN
    with FakeGitHub(now=time.time()) as fake:
        fake.repository(REPO)
        settings = {"repository": REPO, "apply": "true", "api": fake.url, "spacing": "0", "per_day": "20"}
        config = load(folder / "config.toml", [f"filing.{key}={value}" for key, value in settings.items()])
        filing.time.time = lambda: fake.now  # type: ignore[attr-defined]
        arrived: dict[tuple[str, str], str] = {}
        began = time.perf_counter()
        with Database.open(config.state.database) as database:
            for number, commit in enumerate([*commits, commits[-1], commits[-1]]):
                git(growing, "update-ref", "refs/heads/main", commit)
                lines: list[str] = []
                once(
                    config,
                    database,
                    workers,
                    lambda db, run, outlook: filing.deliver_due(config, db, run, outlook, stopped=lambda: False),
                    lines.extend,
                    lambda: fake.now,
                )
                for found in open_drifts(database):
                    arrived.setdefault((found.entry, found.fingerprint), commit)
                for line in lines:
                    print(f"{number:3} {commit[:10]} {line}"[:180], flush=True)
                fake.now += DAY / PER_DAY
        spent = time.perf_counter() - began
        wrong = _compared(config, commits, fake, arrived) if track == "all" else []
        issues = [issue for issue in fake.ours(REPO) if "without a page" not in issue.title]
        print(f"{len(commits) - 1} commits, {spent / (len(commits) + 2):.1f} s a run, {len(issues)} issues of meaning:")
        for issue in issues:
            print(f"  #{issue.number} {issue.state:6} {issue.title}")
        print(f"{len(wrong)} of them wrong", *wrong, sep="\n  ")


def _compared(config: object, commits: list[str], fake: FakeGitHub, arrived: dict[tuple[str, str], str]) -> list[str]:
    """What is filed against one look at the two ends."""
    wrong = []
    with Mirror.open(config.state.mirror) as mirror, workers() as executor, cache_of(config) as cache:  # type: ignore[attr-defined]
        base, target = (revisions.resolve(mirror, commit) for commit in (commits[0], commits[-1]))
        report = check_all(sources_of(config, mirror, executor, cache), [], target, base, "jax-ml/jax")  # type: ignore[arg-type]
    expected = {
        drift.before.fingerprint: drift
        for drift in report.drifts
        if drift.before is not None and family(drift) is Family.MEANING and drift.certain
    }
    bodies = [issue.body or "" for issue in fake.open(REPO)]
    for entry, drift in expected.items():
        said = [body for body in bodies if f"`{entry}`" in body]
        if len(said) != 1:
            wrong.append(f"{entry} is told {len(said)} times: {drift.before}")
            continue
        causes = set(re.findall(r"/commit/([0-9a-f]{40})", said[0]))
        came = arrived.get((entry, content(drift)))
        if came not in causes:
            wrong.append(f"{entry}: came with {came}, and {causes} is said to be the cause")
    told = {entry for body in bodies for entry in re.findall(r"The error `(1:[0-9a-f]+)`", body)}
    wrong += [f"{entry} is told and is no drift" for entry in told - expected.keys()]
    return wrong


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        arguments = [*sys.argv[1:], "60", "all"][:3] if len(sys.argv) < 4 else sys.argv[1:4]
        replay(Path(arguments[0]).resolve(), int(arguments[1]), arguments[2], Path(place))
