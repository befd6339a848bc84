"""Repin on real releases of JAX from the package index: the four pages, and a page for every tenth raise statement."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import page
from tracker.catalogue.folder import read
from tracker.catalogue.page import parse
from tracker.cli import main
from tracker.repository.mirror import Mirror
from tracker.repository.releases import import_release
from tracker.repository.revisions import release_in
from tracker.snapshots import Sources

pytestmark = pytest.mark.index

ROOT = Path(__file__).parent.parent
PSEND_GPU = "60961ca5063d1383"
OLD, NEW = "release:0.11.1", "release:0.12.0.1"
UPSTREAM = "dc4af68444"
"""The upstream commit that 0.12.0.1 says it was built from."""


@pytest.fixture(scope="module")
def state(tmp_path_factory) -> Path:
    """A mirror with both releases."""
    folder = tmp_path_factory.mktemp("jax")
    shutil.copy(ROOT / "config.toml", folder)
    with Mirror.open(folder / "state" / "mirror") as mirror:
        for release in (OLD, NEW):
            import_release(mirror, "jax", release.removeprefix("release:"))
    return folder


@pytest.fixture
def tracker(state, tmp_path, capsys) -> Callable[..., tuple[int, str, str]]:
    """The command line on pages of the test's own, in `tmp_path / "pages"`."""
    (tmp_path / "pages").mkdir()

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        place = ["-c", str(state / "config.toml"), "--set", f"catalogue.path={tmp_path / 'pages'}"]
        code = main([*place, *arguments])
        return code, *capsys.readouterr()

    return run


def test_the_four_pages(tracker, tmp_path):
    folder = tmp_path / "pages"
    for file in (ROOT / "tests" / "catalogue" / "pages").iterdir():
        shutil.copy(file, folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    code, out, err = tracker("repin", NEW, "--write")
    assert (code, len(out.splitlines())) == (6, 3)
    assert re.search(rf'{PSEND_GPU} +guard-changed.*and "oneapi" not in.*--accept {PSEND_GPU}', err, re.DOTALL)
    (waiting,) = (file for file in folder.iterdir() if file.read_bytes() == before[file.name])
    assert PSEND_GPU in waiting.read_text()

    assert tracker("repin", NEW, "--write", "--accept", PSEND_GPU)[:2] == (0, f"{waiting.name}\n")
    assert tracker("diff", NEW)[0] == 0
    assert tracker("repin", NEW, "--write")[:2] == (0, "")
    for name, data in before.items():
        old, new = parse(data, name), parse((folder / name).read_bytes(), name)
        assert old.entry.line < new.entry.line
        assert (new.entry.pin, new.entry.date) == (UPSTREAM, "2026-10-20")
        # Nothing but the line, the excerpt, the pins and the date.
        assert frame(old.text, old.spans) == frame(new.text, new.spans)


def frame(text: str, spans: dict[str, tuple[tuple[int, int], ...]]) -> str:
    """The page without these facts."""
    facts = sorted((span for fact in ("line", "excerpt", "pin", "date") for span in spans[fact]), reverse=True)
    for start, stop in facts:
        text = text[:start] + text[stop:]
    return text


def test_hundreds_of_pages(tracker, state, tmp_path):
    folder = tmp_path / "pages"
    with Mirror.open(state / "state" / "mirror") as mirror:
        release = release_in(mirror, OLD.removeprefix("release:"))
        sources = Sources(mirror, ["jax/**/*.py"])
        (snapshot,) = sources.snapshots([release.revision])
        sites = [site for site in snapshot.sites if site.message and site.exception]
        for n, site in enumerate(sites[::10]):
            text = "\n".join(sources.lines(release.revision, site.path))
            written = page(
                text,
                site.line,
                message=site.message,
                pin=release.upstream_commit,
                id=f"{n:016x}",
                path=site.path,
                exception=site.exception.rpartition(".")[2],
                repository="jax-ml/jax",
                cut=n % 2 == 0,
            )
            (folder / f"{n:04}.txt").write_text(written, encoding="utf-8")
    pages = len(sites[::10])
    assert pages > 400

    code, out, err = tracker("repin", NEW, "--write")
    waiting = set(re.findall(r"^\d{4}\.txt +([0-9a-f]{16}) ", err, re.MULTILINE))
    left = re.findall(r"^(\d{4}\.txt) is left", err, re.MULTILINE)
    assert (code, len(out.splitlines())) == (6, pages - len(waiting) - len(left))
    assert 0 < len(waiting) + len(left) < pages // 10
    code, out, _ = tracker("diff", NEW, "--base", NEW, "--format", "json")
    report = json.loads(out)
    assert report["unlocated"] == []
    assert {drift["entry"] for drift in report["drifts"]} == waiting | {f"{int(name[:4]):016x}" for name in left}
    done = {page.entry.id for page in read(folder).pages if page.entry.pin == UPSTREAM}
    assert len(done) == pages - len(waiting) - len(left)
