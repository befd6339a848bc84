"""How often the answer is right, on ten months of JAX with nothing but the two releases at hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.gold.score import GOLD, score
from tracker.cli import main

ROOT = Path(__file__).parent.parent.parent

# What is reached today, less than half a point below; a change of the matcher moves these figures on purpose.
PAIRS, NEW, KINDS = 0.975, 0.975, 0.99


@pytest.mark.index
def test_two_releases_alone(tmp_path, capsys):
    shutil.copy(ROOT / "config.toml", tmp_path)
    ends = ("release:0.6.0", "--base", "release:0.4.30")
    assert main(["-q", "-c", str(tmp_path / "config.toml"), "diff", *ends, "--all-sites", "--format", "json"]) == 1
    result = score(json.loads(capsys.readouterr().out))
    print(result)
    assert (result.pairs >= PAIRS, result.new >= NEW, result.kinds >= KINDS) == (True, True, True), str(result)


def test_the_scorer_sees_a_wrong_answer():
    """An empty report says that nothing changed: right for the sites that stayed, wrong for all others."""
    files = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    paths = sorted({site["path"] for row in files for site in (row["before"], row["after"]) if site})
    result = score({"files": {"base": paths, "target": paths}, "drifts": []})
    assert result.pairs < 0.2
    assert result.new == 0
