"""Pages from outside: HTML as a site has it, JSON whatever it calls its fields, folders, and archives of all kinds."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalogue.published import as_html, as_json
from tracker.catalogue import incoming
from tracker.catalogue.html import text_of
from tracker.catalogue.incoming import Parcel, Unsaid, from_path, take
from tracker.catalogue.page import Page, parse
from tracker.errors import CatalogueError

PAGES = [parse(file.read_bytes(), file.name) for file in sorted((Path(__file__).parent / "pages").iterdir())]
NAMES = [page.entry.file for page in PAGES]
UNSAID = Unsaid(repository="jax-ml/jax", day="2026-12-01")


def taken(data: bytes | str, name: str = "page.txt") -> Parcel:
    parcel = Parcel()
    take(parcel, data.encode() if isinstance(data, str) else data, name, UNSAID)
    return parcel


def only(data: bytes | str, name: str = "page.txt") -> Page:
    parcel = taken(data, name)
    assert parcel.faults == []
    (page,) = parcel.pages
    return page


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_html_gives_the_page_s_own_text(page):
    # An ordered list has no blanks before its numbers.
    text = re.sub(r"^  ([0-9]\. )", r"\1", page.text, flags=re.MULTILINE)
    got = only(as_html(page), "one.html")
    assert got.text == text
    assert got.entry == replace(page.entry, file="one.txt")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a <b>b</b>c&nbsp;d\n e</p>", "a bc d e"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("a<br>b<br/><br>c", "a\nb\n\nc"),
        ("<pre>\n  a\n\n    b &lt;\n</pre>", "  a\n\n    b <"),
        ("<pre>a<br>  b</pre>", "a\n  b"),
        ("<pre><span class='x lineno'>1</span>a</pre>", "a"),
        ("<span class=lineno>1</span>a", "1a"),
        ("<ol><li>a<li>b</ol><ul><li><p>c</p><p>d</p></ul>e", "1. a\n2. b\n\n• c\nd\n\ne"),
        ("<ol><li>a<ul><li>b</ul></li><li>c</ol>", "1. a\n\n• b\n\n2. c"),
        ("<p hidden>a<p aria-hidden=true>b<p aria-hidden=false>c", "c"),
        ("<script>a</script><style>b</style><template>c</template><!-- d --><button>e</button>f", "f"),
        ("<table><tr><td>a<td>b</table>", "a\n\nb"),
        ("", ""),
        ("<", "<"),
    ],
)
def test_the_text_of_html(html, text):
    assert text_of(html) == text


def test_html_as_deep_as_anybody_likes():
    assert text_of("<div>" * 10_000 + "x") == "x"


@given(st.text(alphabet="<>/!pre olib&;\n ax=\"'-") | st.text())
def test_any_html_gives_a_text(html):
    assert isinstance(text_of(html), str)


JSON = as_json(PAGES[1])
SITE = {"exception_type", "file", "line", "source_excerpt", "commit"}


def renamed(**names: object) -> dict[str, object]:
    """The entry with other names for its fields; an Ellipsis takes one away."""
    fields = dict(JSON)
    for old, new in names.items():
        value = fields.pop(old)
        if isinstance(new, dict):
            fields |= new
        elif new is not ...:
            fields[str(new)] = value
    return fields


E = PAGES[1].entry


@pytest.mark.parametrize(
    "fields",
    [
        JSON,
        renamed(exception_type="exception", file="path", source_excerpt="excerpt", commit="sha"),
        renamed(exception_type="type", source_excerpt="snippet", commit="pin", what_it_means="meaning"),
        renamed(exception_type="errorType", source_excerpt="code", commit="pinned_to", id="errorId"),
        renamed(exception_type="error", file={"thrown_at": f"{E.path}:{E.line}"}, line=...),
        renamed(file={"location": f"Thrown at {E.path}:{E.line}"}, line=..., source_excerpt="source"),
        renamed(file={"location": {"file": E.path, "lineNumber": str(E.line), "excerpt": E.excerpt}}, line=...),
        renamed(file={"source": {"path": E.path, "line": E.line, "excerpt": E.excerpt, "commit": E.pin}}, line=...,
                commit=..., source_excerpt=...),
        renamed(source_excerpt={"excerpt": ["", *E.excerpt.split("\n"), ""]}),
        renamed(repository={"repo": {"full_name": E.repository}}, commit={"commit": {"sha": E.pin.upper()}}),
        renamed(repository={"repository": "https://github.com/jax-ml/jax.git"}),
        renamed(repository=...),
        renamed(message=...),
        renamed(what_it_means={"sections": {"What it means": E.meaning}}),
        renamed(what_it_means={"sections": [{"heading": "What it means", "body": E.meaning}]}),
        renamed(solutions={"Solutions": "\n".join(E.solutions)}),
        {"data": JSON}, {"error": JSON, "status": 200}, [JSON], {"errors": [JSON]}, {"items": [{"entry": JSON}]},
    ],
)  # fmt: skip
def test_json_whatever_it_calls_its_fields(fields):
    page = only(json.dumps(fields), "60961ca5063d1383")
    # What the page of the site has as code without a heading is not in its JSON.
    assert replace(page.entry, file=E.file) == E


def test_an_id_that_only_the_address_has_and_a_date_that_nobody_has():
    page = only(json.dumps(renamed(id=..., analyzed_at=...)), "60961ca5063d1383")
    assert (page.entry.id, page.entry.date, page.entry.file) == (E.id, "2026-12-01", "60961ca5063d1383.txt")


def test_everything_else_that_json_says():
    fields = JSON | {
        "example_fix": {"before": "f(x)\n", "after": "g(x)"},
        "defensive_patterns": {"strategy": "type-guard", "try_catch": "try:\n    f()", "prevention": ["a", "b"]},
    }
    text = only(json.dumps(fields)).text
    assert "Example fix\n\n// before\nf(x)\n// after\ng(x)\n\nDefensive patterns\n\nStrategy: type-guard\n\n" in text
    assert "Try / catch\n\ntry:\n    f()\n\nPrevention\n\na\nb\n\nWhen it happens\n\nTrigger: Compiling" in text
    assert "\n\nCommon situations: Here and there.\n\nRelated errors\n\n• psend is" in text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (json.dumps(renamed(exception_type=...)), "without exception"),
        (json.dumps(renamed(exception_type={"error": "It went wrong."})), "without exception"),
        (json.dumps(renamed(commit=...)), "without commit"),
        (json.dumps(renamed(commit={"commit": "main"})), "without commit"),
        (json.dumps(renamed(message=..., title=...)), "without message"),
        (json.dumps(renamed(id=...)), "without id"),
        (json.dumps(renamed(file={"file": "../../etc/passwd"})), "path"),
        (json.dumps(renamed(line={"line": 0}, file={"file": "a.py:0"})), "line"),
        (json.dumps(renamed(source_excerpt={"excerpt": PAGES[0].text.split("\n")[-1]})), "second footer"),
        (json.dumps(renamed(message={"message": "a\nSource\nThrown at x.py:1"}, title=...)), "no page can state"),
        (json.dumps(renamed(message={"message": "\ud800"}, title=...)), "UTF-8"),
        ('{"a": 1}', "neither an entry"), ("[1]", "neither an entry"), ("[", "no JSON"), ("{}", "neither an entry"),
        ("[" * 100_000, "no JSON"),
        ('{"source":' * 900 + '{"path": "a.py:1"}' + "}" * 900, "nested too deeply"),
        ('{"data":' * 900 + '{"x": 1}' + "}" * 900, "neither an entry"),
        ('{"id": 1, "path": "a.py:' + "9" * 5000 + '"}', "neither an entry"), ('{"id": ', "no JSON"),
        ("plain text", "as the first line"), ("", "empty"), ("<p>hello", "as the first line"), (b"\0\xff", "UTF-8"),
    ],
)  # fmt: skip
def test_what_is_no_page_is_named(data, said):
    parcel = taken(data, "a.html")
    assert parcel.pages == []
    (fault,) = parcel.faults
    assert said in fault.reason
    assert fault.file.startswith("a.html")


def test_a_list_of_good_and_bad_entries():
    parcel = taken(json.dumps({"results": [JSON, renamed(exception_type=...), as_json(PAGES[0])]}), "all.json")
    assert [page.entry.id for page in parcel.pages] == [E.id, PAGES[0].entry.id]
    assert [(fault.file, fault.reason) for fault in parcel.faults] == [
        ("all.json, entry 2", "an entry without exception")
    ]


@pytest.mark.parametrize(
    ("listing", "links", "following"),
    [
        ([E.id, "f" * 16], [f"/api/errors/{E.id}", f"/api/errors/{'f' * 16}"], []),
        ({"errors": [{"id": E.id, "title": "x"}]}, [f"/api/errors/{E.id}"], []),
        ([{"id": E.id, "title": "x", "file": "a.py", "line": 3}], [f"/api/errors/{E.id}"], []),
        ({"errors": [{"url": "/errors/1"}, {"href": "https://x.org/2"}]}, ["/errors/1", "https://x.org/2"], []),
        ({"ids": [E.id], "next": "?page=2"}, [f"/api/errors/{E.id}"], ["?page=2"]),
        ({"items": [], "next": None}, [], []),
        ([], [], []),
    ],
)
def test_a_list_of_ids(listing, links, following):
    parcel = taken(json.dumps(listing))
    assert (parcel.links, parcel.following, parcel.pages, parcel.faults) == (links, following, [], [])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from([E.id, "a.py:3", "1e1c6a8fc0"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*JSON, "sections", "location", "source", "error", "data"]), inner)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_a_page_a_list_or_a_fault(value):
    taken(json.dumps(value))


def zipped(members: dict[str, bytes], **settings: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **settings) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


GOOD = PAGES[0].text.encode()


def test_an_archive_of_pages():
    data = zipped({"a/000.txt": GOOD, "a/1.html": as_html(PAGES[1]).encode(), "2.json": json.dumps(JSON).encode(),
                   "a/": b"", "README.md": b"#", "__MACOSX/a.txt": b"x", "a/.hidden.txt": b"x"})  # fmt: skip
    parcel = taken(data, "all.zip")
    assert [page.entry.file for page in parcel.pages] == ["000.txt", "1.txt", f"{E.id}.txt"]
    assert parcel.faults == []


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("../../evil.txt", GOOD, "leads out"),
        ("/etc/evil.txt", GOOD, "leads out"),
        ("C:\\evil.txt", GOOD, "leads out"),
        ("a\\..\\..\\evil.txt", GOOD, "leads out"),
        ("big.txt", b"a" * (incoming.LARGEST + 1), "too many for a page"),
        ("inner.txt", zipped({"a.txt": GOOD}), "archive inside an archive"),
        ("bad.txt", b"nothing", "as the first line"),
    ],
)
def test_a_bad_member_leaves_the_others(tmp_path, monkeypatch, name, data, said):
    monkeypatch.chdir(tmp_path)
    parcel = taken(zipped({name: data, "good.txt": GOOD}), "all.zip")
    assert [page.entry.file for page in parcel.pages] == ["good.txt"]
    (fault,) = parcel.faults
    assert said in fault.reason
    assert list(tmp_path.iterdir()) == []


def test_a_bomb_is_never_unpacked(monkeypatch):
    """A gigabyte in a megabyte: what is read of each member is counted, whatever it claims."""
    monkeypatch.setattr(incoming, "UNPACKED", 4 << 20)
    bomb = zipped({f"{n}.txt": b"\0" * (1 << 20) for n in range(50)})
    assert len(bomb) < 1 << 20
    with pytest.raises(CatalogueError, match="unpacks to more than 4 MB"):
        taken(bomb, "bomb.zip")
    lying = zipped({"a.txt": b"\0" * (8 << 20)}).replace((8 << 20).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    assert taken(lying, "bomb.zip").pages == []


def test_an_archive_of_too_many_files(monkeypatch):
    monkeypatch.setattr(incoming, "MEMBERS", 3)
    with pytest.raises(CatalogueError, match="holds 4 files"):
        taken(zipped({f"{n}.txt": b"" for n in range(4)}), "all.zip")


def test_broken_archives():
    whole = zipped({"a.txt": GOOD})
    with pytest.raises(CatalogueError, match="broken archive"):
        taken(whole[: len(whole) // 2], "all.zip")
    encrypted = bytearray(whole)
    for at in [m.end() + 4 for m in re.finditer(rb"PK\x01\x02", whole)]:
        encrypted[at] |= 1
    encrypted[6] |= 1
    (fault,) = taken(bytes(encrypted), "all.zip").faults
    assert "unpacked" in fault.reason
    spoiled = whole.replace(whole[60:64], b"\xff\xff\xff\xff")
    assert [fault.reason[:20] for fault in taken(spoiled, "all.zip").faults] == ["cannot be unpacked: "]


def test_a_folder_of_all_kinds(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.txt").write_bytes(GOOD)
    (tmp_path / "b.HTML").write_text("not looked at")
    (tmp_path / "b.htm").write_text(as_html(PAGES[1]), encoding="utf-8")
    (tmp_path / ".c.txt").write_text("hidden")
    (tmp_path / "d.txt").write_text("no page")
    (tmp_path / "e.txt").write_bytes(b"a" * (incoming.LARGEST + 1))
    os.mkfifo(tmp_path / "f.txt")
    (tmp_path / "g.json").write_text(json.dumps([E.id]))
    parcel = from_path(tmp_path, UNSAID)
    assert [page.entry.file for page in parcel.pages] == ["b.txt", "a.txt"]
    assert [(fault.file, fault.reason[:20]) for fault in parcel.faults] == [
        ("d.txt", "expected `OWNER/NAME"),
        ("e.txt", "cannot be read: 1048"),
        ("f.txt", "cannot be read: not "),
        (tmp_path.name, "it only names entrie"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path):
    file = tmp_path / "a.txt"
    file.touch(stat.S_IWUSR)
    with pytest.raises(CatalogueError, match="Permission denied"):
        from_path(file, UNSAID)
