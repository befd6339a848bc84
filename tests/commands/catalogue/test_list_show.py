"""`tracker catalogue list` and `show`: the pages in a line each, and one as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "catalogue" / "pages"


@pytest.fixture
def seeds(place):
    for file in FOLDER.iterdir():
        (place.pages / file.name).write_bytes(file.read_bytes())
    place.config.write_text(place.config.read_text().replace("a/b", "jax-ml/jax"))
    return place


def test_a_line_for_each_page(run, seeds):
    done = run("catalogue", "list")
    assert (done.code, done.err) == (0, "")
    assert re.split("   *", done.out.splitlines()[0]) == [
        "519f29f51aca4e7b",
        "NotImplementedError",
        "psend currently only supports manual sharding",
        "jax/_src/lax/parallel.py:1283",
        "1e1c6a8fc0",
        "000_4fe9a1b22a778e94.txt",
    ]
    assert [line.split()[-1] for line in done.out.splitlines()] == sorted(file.name for file in FOLDER.iterdir())


def test_a_page_that_cannot_be_read_is_named_and_the_others_are_listed(run, seeds):
    seeds.page("bad.txt", "no page")
    done = run("catalogue", "list")
    assert (done.code, len(done.out.splitlines())) == (6, 4)
    assert done.err.startswith("tracker: bad.txt:1: expected")
    listed = json.loads(run("catalogue", "list", "--format", "json").out)
    assert listed["schema"] == "tracker.catalogue/1"
    assert [entry["line"] for entry in listed["pages"]] == [1283, 1269, 1343, 163]
    assert [fault["file"] for fault in listed["faults"]] == ["bad.txt"]


def test_only_pages_that_cannot_be_read(run, place):
    place.page("bad.txt", "no page")
    done = run("catalogue", "list")
    assert (done.code, done.out) == (6, "")


@pytest.mark.parametrize("name", ["60961ca5063d1383", "60961ca5063d", "6", "60961CA5"])
def test_a_page_by_the_beginning_of_its_id(run, seeds, name):
    done = run("catalogue", "show", name)
    assert (done.code, done.err) == (0, "")
    assert done.out == (FOLDER / "002_2f12e4f3d83c1871.txt").read_text(encoding="utf-8") + "\n"
    entry = json.loads(run("catalogue", "show", name, "--format", "json").out)
    assert (entry["id"], entry["path"], entry["line"]) == ("60961ca5063d1383", "jax/_src/lax/parallel.py", 1269)
    assert len(entry["solutions"]) == 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("5", "2 pages have an id that begins with '5': write more of it (519f29f51aca4e7b, 522e9506d3fa9a0a)"),
        ("ab", "no page of"),
        ("", "no page of"),
        ("60961ca5063d13830", "no page of"),
    ],
)
def test_no_such_page_or_several(run, seeds, name, said):
    done = run("catalogue", "show", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("verb", [["list"], ["show", "6"]])
def test_no_catalogue_at_all(run, place, verb):
    place.pages.rmdir()
    done = run("catalogue", *verb)
    assert (done.code, done.out) == (2, "")
    assert "does not exist: set `[catalogue] path`" in done.err
