"""python -m tests.gold.figures: the accuracy figures, with the two releases alone and along upstream's history."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.gold.score import score

WAYS = {
    "two releases alone": ("release:0.6.0", "--base", "release:0.4.30", "--no-history"),
    "along the history": ("jax-v0.6.0", "--base", "jax-v0.4.30"),
}


def main() -> None:
    for name, ends in WAYS.items():
        command = [sys.executable, "-m", "tracker", "-q", "diff", *ends, "--all-sites", "--format", "json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        figures = str(score(json.loads(done.stdout))) if done.returncode == 1 else "not measured, see above"
        print(f"{name:20} {figures}")


if __name__ == "__main__":
    main()
