"""`tracker catalogue import` from files and from a real site: what is written, what is left, what is asked again."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.catalogue.published import as_html, as_json
from tests.catalogue.publisher import Reply, publisher
from tracker.catalogue import site as module
from tracker.catalogue.page import parse

FOLDER = Path(__file__).parents[2] / "catalogue" / "pages"
PAGES = [parse(file.read_bytes(), file.name) for file in sorted(FOLDER.iterdir())]
NAMES = [page.entry.file for page in PAGES]
IDS = [page.entry.id for page in PAGES]


@pytest.fixture
def jax(place):
    """The workplace as one of JAX."""
    text = place.config.read_text().replace('repository = "a/b"', 'repository = "jax-ml/jax"')
    place.config.write_text(text)
    return place


@pytest.fixture
def there(monkeypatch):
    monkeypatch.setattr(module, "PACE", 0.0)
    with publisher() as site:
        for page in PAGES:
            body = json.dumps(as_json(page)).encode()
            headers = {"ETag": f'"{page.entry.id}"', "Content-Type": "application/json"}
            site.replies[f"/api/errors/{page.entry.id}"] = Reply(headers=headers, body=body)
            site.replies[f"/errors/{page.entry.id}"] = Reply(body=as_html(page).encode())
        listing = json.dumps({"errors": [{"id": id} for id in IDS[:2]], "next": "/api/errors?page=2"}).encode()
        site.replies["/api/errors"] = Reply(headers={"ETag": '"list"'}, body=listing)
        site.replies["/api/errors?page=2"] = Reply(body=json.dumps(IDS[2:]).encode())
        yield site


def held(place) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(place.pages.iterdir())}


SEEDS = {file.name: file.read_bytes() for file in sorted(FOLDER.iterdir())}


def archive(place) -> Path:
    with zipfile.ZipFile(place.folder / "all.zip", "w") as made:
        for name, data in SEEDS.items():
            made.writestr(f"seeds/{name}", data)
    return place.folder / "all.zip"


@pytest.mark.parametrize("source", [lambda place: FOLDER, archive], ids=["folder", "archive"])
def test_a_folder_and_an_archive_come_in_byte_for_byte(run, jax, source):
    jax.pages.rmdir()
    done = run("catalogue", "import", str(source(jax)))
    assert done.code == 0
    assert held(jax) == SEEDS
    assert done.out == "".join(f"new       {name}\n" for name in NAMES)
    assert done.err == "4 new, 0 unchanged\n"
    again = run("catalogue", "import", str(source(jax)))
    assert (again.code, again.out, again.err) == (0, "", "0 new, 4 unchanged\n")
    assert [file.name for file in jax.pages.iterdir() if file.name.startswith(".")] == []


def test_a_page_that_differs_is_left_until_forced(run, jax):
    run("catalogue", "import", str(FOLDER))
    mine = SEEDS[NAMES[1]].replace(b"parallel.py:1269", b"parallel.py:1292").replace(b"1e1c6a8fc0", b"62d012beed")
    (jax.pages / NAMES[1]).rename(jax.pages / "mine.txt").write_bytes(mine)
    (jax.pages / NAMES[0]).unlink()
    done = run("catalogue", "import", str(FOLDER))
    assert done.code == 6
    assert done.out == (
        f"new       {NAMES[0]}\n"
        "differs   mine.txt  line (1292 here, 1269 there), pin (62d012beed here, 1e1c6a8fc0 there)\n"
    )
    assert done.err == "1 new, 2 unchanged, 1 differing and left as they are (--force replaces them)\n"
    assert held(jax)["mine.txt"] == mine
    forced = run("catalogue", "import", str(FOLDER), "--force")
    assert (forced.code, forced.err) == (0, "0 new, 3 unchanged, 1 replaced\n")
    assert forced.out.startswith("replaced  mine.txt  line")
    assert held(jax) == {**{n: d for n, d in SEEDS.items() if n != NAMES[1]}, "mine.txt": SEEDS[NAMES[1]]}


def test_a_name_that_is_taken_and_one_that_is_unfit(run, jax, tmp_path):
    (jax.pages / NAMES[0]).write_text("somebody's notes")
    odd = tmp_path / "a\nb.txt"
    odd.write_bytes(SEEDS[NAMES[1]])
    assert run("catalogue", "import", str(FOLDER / NAMES[0])).out == f"new       {IDS[0]}.txt\n"
    assert run("catalogue", "import", str(odd)).out == f"new       {IDS[1]}.txt\n"
    assert (jax.pages / NAMES[0]).read_text() == "somebody's notes"
    (jax.pages / f"{IDS[2]}.txt").write_text("and more")
    (jax.pages / NAMES[2]).write_text("and more")
    done = run("catalogue", "import", str(FOLDER / NAMES[2]))
    assert done.code == 2
    assert f"{IDS[2]}.txt is there already and is no page" in done.err


def test_what_cannot_be_used_is_named_and_the_rest_comes_in(run, jax, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_bytes(SEEDS[NAMES[0]])
    (source / "b.txt").write_bytes(SEEDS[NAMES[0]].replace(b"psend", b"precv"))
    (source / "c.html").write_text("<p>Not found")
    (source / "d.txt").write_bytes(SEEDS[NAMES[1]].replace(b"jax-ml/jax", b"a/b"))
    done = run("catalogue", "import", str(source))
    assert done.code == 6
    assert list(held(jax)) == ["a.txt"]
    assert [line.split(":")[1].strip() for line in done.err.splitlines()[:3]] == ["c.html", "b.txt", "d.txt"]
    assert "also that of a.txt" in done.err
    assert "about a/b, the catalogue about jax-ml/jax" in done.err
    assert done.err.endswith("1 new, 0 unchanged, 3 that could not be used\n")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("nowhere", "no file or folder nowhere"),
        ("empty", "nothing was imported from .*empty: there is no page in it"),
        ("text.txt", "not one of the 1 pages"),
        ("broken.zip", "broken archive"),
        ("ftp://x.org/a", "no address that starts with https"),
    ],
)
def test_nothing_to_import_is_one_line_and_2(run, jax, tmp_path, monkeypatch, source, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04...")
    done = run("catalogue", "import", source)
    assert (done.code, done.out) == (2, "")
    assert re.search(said, done.err)
    assert "Traceback" not in done.err
    assert held(jax) == {}


def test_a_whole_site_and_only_what_is_new_the_next_time(run, jax, there):
    done = run("catalogue", "import", f"{there.address}/api/errors")
    assert (done.code, done.err.splitlines()[-1]) == (0, "4 new, 0 unchanged")
    assert sorted(held(jax)) == sorted(f"{id}.txt" for id in IDS)
    assert there.paths == ["/robots.txt", "/api/errors", *(f"/api/errors/{id}" for id in IDS[:2]),
                           "/api/errors?page=2", *(f"/api/errors/{id}" for id in IDS[2:])]  # fmt: skip
    before = held(jax)
    there.asked.clear()
    again = run("catalogue", "import", f"{there.address}/api/errors")
    assert (again.code, again.out) == (0, "")
    assert again.err.splitlines()[-1] == "0 new, 4 unchanged"
    conditional = [one for one in there.asked if "if-none-match" in one.headers]
    assert [one.path for one in conditional] == ["/api/errors", *(f"/api/errors/{id}" for id in IDS)]
    assert held(jax) == before
    assert list((jax.folder / "state").glob("imports.json")) != []
    assert "etag" not in b"".join(before.values()).decode()


def test_a_page_that_was_taken_out_or_changed_here_is_asked_for_whole(run, jax, there):
    run("catalogue", "import", f"{there.address}/api/errors")
    (jax.pages / f"{IDS[0]}.txt").unlink()
    mine = jax.pages / f"{IDS[1]}.txt"
    mine.write_text(mine.read_text().replace("Run on a CUDA", "Run it on a CUDA"))
    there.asked.clear()
    done = run("catalogue", "import", f"{there.address}/api/errors")
    assert done.code == 6
    assert done.out == f"new       {IDS[0]}.txt\ndiffers   {IDS[1]}.txt  solutions\n"
    whole = [one.path for one in there.asked if "if-none-match" not in one.headers]
    assert {f"/api/errors/{IDS[0]}", f"/api/errors/{IDS[1]}"} <= set(whole)
    assert f"/api/errors/{IDS[2]}" not in whole
    # What was left as it is differs the next time, too.
    assert run("catalogue", "import", f"{there.address}/api/errors").out == f"differs   {IDS[1]}.txt  solutions\n"


def test_what_a_site_changed_is_a_difference_and_then_taken(run, jax, there):
    run("catalogue", "import", f"{there.address}/api/errors")
    fields = as_json(PAGES[0]) | {"line": 1306}
    path = f"/api/errors/{IDS[0]}"
    there.replies[path] = Reply(headers={"ETag": '"new"'}, body=json.dumps(fields).encode())
    assert run("catalogue", "import", f"{there.address}{path}").out == (
        f"differs   {IDS[0]}.txt  line (1283 here, 1306 there)\n"
    )
    assert run("catalogue", "import", "--force", f"{there.address}{path}").code == 0
    assert "parallel.py:1306" in (jax.pages / f"{IDS[0]}.txt").read_text()
    assert run("catalogue", "import", f"{there.address}{path}").err.splitlines()[-1] == "0 new, 1 unchanged"


def test_one_page_of_a_site_as_html(run, jax, there):
    done = run("catalogue", "import", f"{there.address}/errors/{IDS[3]}")
    assert (done.code, done.out) == (0, f"new       {IDS[3]}.txt\n")
    assert held(jax)[f"{IDS[3]}.txt"] == SEEDS[NAMES[3]]


def test_what_came_before_a_site_closed_stays_and_the_next_import_goes_on(run, jax, there):
    path = f"/api/errors/{IDS[2]}"
    whole = there.replies[path]
    there.replies[path] = Reply(status=429, headers={"Retry-After": "3600"})
    done = run("catalogue", "import", f"{there.address}/api/errors")
    assert done.code == 5
    assert sorted(held(jax)) == sorted(f"{id}.txt" for id in IDS[:2])
    assert "wants no request for 3600 s" in done.err.splitlines()[-1]
    there.replies[path] = whole
    there.asked.clear()
    assert run("catalogue", "import", f"{there.address}/api/errors").code == 0
    assert len(held(jax)) == 4


def test_an_entry_that_is_gone_and_one_elsewhere_leave_the_others(run, jax, there):
    there.replies["/api/errors"] = Reply(
        body=json.dumps([IDS[0], "0" * 16, "https://example.org/1", "http://["]).encode()
    )
    done = run("catalogue", "import", f"{there.address}/api/errors")
    assert done.code == 6
    assert list(held(jax)) == [f"{IDS[0]}.txt"]
    assert "0000000000000000:1: http" in done.err
    assert "404 Not Found" in done.err
    assert "leaves http://127.0.0.1" in done.err
    assert "is no address" in done.err


@pytest.mark.parametrize(
    ("path", "said", "code"),
    [
        ("/missing", "it answered 404", 2),
        ("/forbidden", "robots.txt", 2),
        ("/broken", "cannot be had", 5),
        ("/text", "not one of the 1 pages", 2),
        ("/zip", "broken archive", 2),
    ],
)
def test_a_site_that_gives_nothing(run, jax, there, monkeypatch, path, said, code):
    monkeypatch.setattr(module, "TRIES", 1)
    there.replies |= {
        "/robots.txt": Reply(body=b"User-agent: *\nDisallow: /forbidden"),
        "/broken": Reply(status=500),
        "/text": Reply(body=b"<h1>Welcome</h1>"),
        "/zip": Reply(body=b"PK\x03\x04..."),
    }
    done = run("catalogue", "import", there.address + path)
    assert (done.code, done.out) == (code, "")
    assert said in done.err.splitlines()[-1]
    assert "Traceback" not in done.err
    assert held(jax) == {}


def test_what_is_remembered_of_sites_may_be_lost_or_broken(run, jax, there):
    run("catalogue", "import", f"{there.address}/api/errors")
    for notes in (b"", b"[1]", b'{"a": 1}'):
        (jax.folder / "state" / "imports.json").write_bytes(notes)
        assert run("catalogue", "import", f"{there.address}/api/errors").code == 0
