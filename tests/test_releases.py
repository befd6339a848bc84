"""The main job on real input: the four pages against real releases of JAX from the package index."""

from __future__ import annotations

import ast
import json
import shutil
import sys
from pathlib import Path

import pytest

from tracker.cli import main
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import resolve

pytestmark = pytest.mark.index

ROOT = Path(__file__).parent.parent
PSEND, PSEND_GPU, PRECV, CALLBACK = (
    "519f29f51aca4e7b",
    "60961ca5063d1383",
    "522e9506d3fa9a0a",
    "f87282341383122e",
)


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    """The configuration and the pages as a user gets them, with a mirror of their own."""
    folder = tmp_path_factory.mktemp("jax")
    shutil.copy(ROOT / "config.toml", folder)
    shutil.copytree(ROOT / "state" / "catalogue", folder / "state" / "catalogue")
    return folder / "config.toml"


@pytest.fixture
def diff(config, capsys):
    def run(*arguments: str) -> tuple[int, dict]:
        code = main(["-c", str(config), "diff", *arguments, "--format", "json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def lines(report: dict) -> dict[str, tuple[int, int, set[str]]]:
    """entry -> line before, line after, kinds."""
    return {
        drift["entry"]: (drift["before"]["line"], drift["after"]["line"], set(drift["kinds"]))
        for drift in report["drifts"]
        if drift["entry"]
    }


def test_the_release_that_the_pages_agree_with(diff):
    code, report = diff("release:0.11.1")
    assert (code, report["summary"]["checked"], report["summary"]["unchanged"]) == (0, 4, 4)
    assert report["drifts"] == report["unlocated"] == []


def test_moved_by_one_line_is_still_right(diff):
    code, report = diff("release:0.11.2")
    assert code == 0
    assert lines(report) == {
        PSEND_GPU: (1269, 1270, {"moved"}),
        PSEND: (1283, 1284, {"moved"}),
        PRECV: (1343, 1344, {"moved"}),
    }


def test_the_guard_that_changed(diff):
    code, report = diff("release:0.12.0.1", "--base", "release:0.11.1")
    assert code == 1
    assert lines(report) == {
        PSEND_GPU: (1269, 1292, {"moved", "guard-changed", "excerpt-changed"}),
        PSEND: (1283, 1306, {"moved", "excerpt-changed"}),
        PRECV: (1343, 1366, {"moved"}),
        CALLBACK: (163, 169, {"moved"}),
    }
    (guarded,) = (drift for drift in report["drifts"] if drift["entry"] == PSEND_GPU)
    assert "oneapi" not in guarded["before"]["guard"][0]
    assert guarded["after"]["guard"] == [
        'if "cuda" not in ctx.module_context.platforms and "rocm" not in ctx.module_context.platforms'
        ' and "oneapi" not in ctx.module_context.platforms'
    ]
    assert report["summary"]["new"] > 300
    assert "new errors" in report["notices"][0]


def test_the_pages_alone_say_the_same_of_the_entries(diff):
    _, alone = diff("release:0.12.0.1")
    _, based = diff("release:0.12.0.1", "--base", "release:0.11.1")
    assert lines(alone) == lines(based)


def test_every_raise_of_a_release_and_no_other(config, capsys, tmp_path):
    """Against the running Python's own parser, on the files that it can read."""
    assert main(["-c", str(config), "sites", "release:0.12.0.1", "--format", "jsonl"]) == 0
    out = capsys.readouterr().out
    found = {(site["path"], site["line"], site["end_line"]) for site in map(json.loads, out.splitlines())}
    expected, unreadable = set(), set()
    with Mirror.open(config.parent / "state" / "mirror") as mirror:
        files = mirror.files(resolve(mirror, "release:0.12.0.1").commit, ["jax/**/*.py"])
        for file, (_, raw) in zip(files, mirror.read(file.blob for file in files), strict=True):
            try:
                tree = ast.parse(raw)
            except SyntaxError:
                unreadable.add(file.path)
                continue
            expected |= {
                (file.path, node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.Raise)
            }
    assert {site for site in found if site[0] not in unreadable} == expected
    assert len(files) == 627
    if sys.version_info >= (3, 13):
        assert not unreadable
        assert len(expected) == 5971
