"""Versions of a file one after the other: each says what the whole file says, and no more is read than must be."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracker.harvest import calls, reading
from tracker.harvest.pieces import (
    AS_BEFORE,
    NOTHING_OWED,
    NOTHING_SETTLED,
    Entry,
    Owed,
    Piece,
    Reader,
    pieces,
    texts,
    unsettled,
)
from tracker.harvest.reading import Parts
from tracker.harvest.sites import harvest
from tracker.model import Site

CONSTANT = 'TEXT = "a text"\n'
SAID = "def f():\n    raise ValueError(TEXT)\n"
OTHER = 'def g():\n    raise TypeError("another")\n'
HELPER = "def fail(text):\n    raise ValueError(text)\n"
CALLER = 'def h():\n    fail("too bad")\n'


def whole(source: str) -> list[Site]:
    return [replace(site, ordinal=1) for site in harvest("", source.encode()).sites]


def placed(found: tuple[Piece, ...]) -> list[Site]:
    return [replace(site.shifted(piece.line), ordinal=1) for piece in found for site in piece.sites]


class Read:
    """A reader, and what its entries stand for."""

    def __init__(self, first: str | None = None, settled: frozenset[str] = NOTHING_SETTLED) -> None:
        known = harvest("", (first or "").encode())
        self.before: dict[bytes, tuple[Site, ...]] = {}
        if first is None or known.problem is not None:
            self.reader = Reader(Parts(), settled=settled)
        else:
            self.before = {piece.key: piece.sites for piece in pieces(first.encode(), known.sites, settled=settled)}
            self.reader = Reader(Parts(), first.encode(), Owed(known.asked, known.called), settled)

    def next(self, source: str) -> list[Site]:
        return placed(tuple(map(self._piece, self.reader.next(source.encode()))))

    def _piece(self, entry: Entry) -> Piece:
        as_before = entry.found == AS_BEFORE
        sites = self.before.get(entry.key, ()) if as_before else self.reader.found[entry.found]
        return Piece(entry.key, entry.line, sites)


@pytest.mark.parametrize(
    ("before", "after", "read"),
    [
        # What changed outside of a piece has no say in it.
        (CONSTANT + SAID + OTHER, CONSTANT + SAID + OTHER, 0),
        (CONSTANT + SAID + OTHER, "# Why.\n" + CONSTANT + SAID + OTHER, 0),
        (CONSTANT + SAID + OTHER, 'MORE = "more"\n' + CONSTANT + SAID + OTHER, 0),
        (CONSTANT + SAID + OTHER, CONSTANT + OTHER + SAID, 0),
        (CONSTANT + SAID + OTHER, CONSTANT + SAID, 0),
        (HELPER + CALLER + OTHER, HELPER + CALLER + OTHER + "def k():\n    call(1)\n", 0),
        # The constant, the caller or the piece itself: what owes it something is read again.
        (CONSTANT + OTHER, CONSTANT + OTHER + SAID, 1),
        (CONSTANT + OTHER, CONSTANT.replace("a text", "the text") + OTHER, 0),
        (CONSTANT + SAID, CONSTANT.replace("a text", "the text") + SAID, 1),
        (CONSTANT + SAID, SAID, 1),
        (HELPER + CALLER, HELPER + CALLER.replace("too", "very"), 1),
        (HELPER + CALLER, HELPER + CALLER + 'def k():\n    fail("worse")\n', 1),
        (HELPER + CALLER, HELPER, 1),
    ],
)
def test_only_what_a_change_has_a_say_in_is_read_again(before, after, read):
    seen = Read()
    assert seen.next(before) == whole(before)
    count = len(seen.reader.found)
    assert seen.next(after) == whole(after)
    assert len(seen.reader.found) - count == read
    assert Read(before).next(after) == whole(after)


def test_of_a_version_that_is_known_nothing_is_read_until_something_has_a_say_in_it():
    known = Read(CONSTANT + SAID + OTHER)
    assert known.next("\n" + CONSTANT + SAID + OTHER) == whole("\n" + CONSTANT + SAID + OTHER)
    assert known.reader.found == []
    assert "TEXT" in known.reader.owed.asked
    later = CONSTANT.replace("a text", "the text") + SAID + OTHER
    assert known.next(later) == whole(later)
    assert known.reader.found != []


def test_what_is_owed_is_handed_on_with_the_last_version():
    first = Read(CONSTANT + SAID + OTHER)
    first.next(CONSTANT + OTHER + SAID)
    later = (CONSTANT.replace("a text", "the text") + OTHER + SAID).encode()
    told = Reader(Parts(), (CONSTANT + OTHER + SAID).encode(), first.reader.owed)
    assert [entry.found for entry in told.next(later)] != [AS_BEFORE, AS_BEFORE]
    untold = Reader(Parts(), (CONSTANT + OTHER + SAID).encode(), NOTHING_OWED)
    assert [entry.found for entry in untold.next(later)] == [AS_BEFORE, AS_BEFORE]


def test_a_file_that_cannot_be_cut_is_one_piece_until_it_can():
    seen = Read(OTHER)
    broken = 'X = """\n' + OTHER + '"""\n' + SAID
    assert seen.next(broken) == whole(broken)
    assert not seen.reader.is_cut
    assert seen.next(OTHER + SAID) == whole(OTHER + SAID)
    assert seen.reader.is_cut


def test_the_source_of_pieces_that_can_hold_sites():
    assert texts((CONSTANT + SAID + "def k(): pass\n" + OTHER).encode()) == [SAID.encode(), OTHER.encode()]


METHODS = "\n    @property\n".join(
    ["class C:"] + [f"    async def {name}(self):\n        raise E('{name} is bad' * 9)\n" * 25 for name in "xyz"]
)
BELOW = 'if TEXT:\n    def k(): raise E("below")\n'


@pytest.mark.parametrize(
    ("source", "settled", "scopes", "read"),
    [
        (SAID + OTHER, {"f"}, ["g"], 1),
        (SAID + OTHER, {"f", "g"}, [], 0),
        ("@d\n" + SAID + "@d(\n1)\nasync " + OTHER, {"f"}, ["g"], 1),
        (METHODS + OTHER, {"C"}, ["g"], 1),
        (METHODS, {"C.x", "C.z"}, ["C.y"] * 25, 1),
        (METHODS, {"C.x", "C.y", "C.z"}, [], 1),
        ("def f():\n    def k():\n        raise E\n    raise F\n", {"f.k"}, ["f"], 1),
        (BELOW + OTHER, {"", "k"}, ["g"], 2),
        # Of another name, or behind the definition that is settled.
        (SAID + OTHER, {"h", "k"}, ["f", "g"], 2),
        (SAID + OTHER, {"f.g", "g.f", ""}, ["f", "g"], 2),
        (SAID + BELOW + OTHER, {"f"}, ["k", "g"], 2),
        (SAID + "raise E\n", {"f"}, [""], 1),
        (METHODS + OTHER, {"x", "C.w"}, ["C.x", "C.y", "C.z"] * 25 + ["g"], 2),
        ("def f\u00e9():\n    raise E\n", {"f"}, ["f\u00e9"], 1),
    ],
)
def test_what_is_settled_is_not_read(source, settled, scopes, read):
    seen = Read(settled=frozenset(settled))
    assert sorted(site.scope for site in seen.next(source)) == sorted(scopes)
    assert len(seen.reader.found) == read
    assert sorted(site.scope for site in Read(source, frozenset(settled)).next("\n" + source)) == sorted(scopes)


SOURCE = (
    inspect.getsource(calls).replace("return", "raise E", 5)
    + inspect.getsource(reading).replace("return", "raise _NO", 5)
    + CONSTANT
    + SAID
    + HELPER
    + CALLER
    + OTHER
)
EDIT = st.tuples(
    st.integers(0, len(SOURCE)) | st.integers(len(SOURCE) - 200, len(SOURCE)),
    st.integers(0, 40),
    st.sampled_from(
        ["", "x", "\n", '"""', "(", "\n" + SAID, "\n" + CALLER, "@d\n", "\nTEXT = 'b'\n", "#", "fail('c')"]
    ),
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(EDIT, min_size=1, max_size=5),
    st.booleans(),
    st.frozensets(st.sampled_from(sorted({site.scope for site in whole(SOURCE)}))),
)
def test_every_version_says_what_the_file_says(edits, known, settled):
    seen = Read(SOURCE if known else None, settled)
    source = SOURCE
    for at, gone, come in edits:
        source = source[:at] + come + source[at + gone :]
        found = seen.next(source)
        if harvest("", source.encode()).problem is None:
            assert found == list(unsettled(whole(source), settled))
