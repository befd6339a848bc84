"""Pages as bytes and as entries: four samples fact by fact, odd and bad ones, no byte ever lost."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracker.catalogue.page import Facts, Page, PageError, parse, render, retire, with_facts
from tracker.model import PageFault

SAMPLES = {path.name[:3]: path.read_bytes() for path in sorted((Path(__file__).parent / "pages").iterdir())}

FACTS = {
    "000": {
        "id": "519f29f51aca4e7b",
        "repository": "jax-ml/jax",
        "exception": "NotImplementedError",
        "title": "psend currently only supports manual sharding",
        "message": "psend currently only supports manual sharding",
        "message_cut": False,
        "path": "jax/_src/lax/parallel.py",
        "line": 1283,
        "excerpt_line": 1266,
        "pin": "1e1c6a8fc0",
        "date": "2026-08-27",
        "solutions": (
            "Wrap the psend/precv code in jax.shard_map with mesh and manual sharding",
            "Ensure the sharded inputs have a sharding compatible with the mesh (e.g. NamedSharding(mesh, ...))",
            "Move communication logic into a shard_map function passed to jit",
        ),
        "trigger": "Calling jax.lax.psend outside jax.shard_map (e.g. jit with automatic sharding, or traced eagerly).",
        "related": (
            "precv currently only supports manual sharding",
            "Mesh must be provided for shard_map with checkify.",
            "Unsupported aval type: {type(v)}",
            "Primitive {prim_name} requires varying manual axes to match,",
            "{} function carry input and carry output must have equal typ",
        ),
    },
    "002": {
        "id": "60961ca5063d1383",
        "repository": "jax-ml/jax",
        "exception": "NotImplementedError",
        "title": "psend is currently only implemented on GPUs",
        "message": "psend is currently only implemented on GPUs",
        "message_cut": False,
        "path": "jax/_src/lax/parallel.py",
        "line": 1269,
        "excerpt_line": 1251,
        "pin": "1e1c6a8fc0",
        "date": "2026-08-27",
        "solutions": (
            "Run on a CUDA or ROCm backend (set jax.default_device to a GPU or run on GPU hosts)",
            "Guard psend/precv usage with jax.devices() platform checks and provide a CPU fallback",
            "Request/await CPU support upstream",
        ),
        "trigger": "Compiling a function containing jax.lax.psend on CPU or TPU "
        "(jax.default_device or available backends).",
        "related": (
            "psend is currently only implemented on GPU",
            "__dlpack__ device only supported for CPU, GPU and TPU pinned",
            "`buffer_callback` not supported on {platform} backend.",
            "the platform for the specified backend {xb.canonicalize_plat",
            "QDWH implementation is only supported on TPU",
        ),
    },
    "003": {
        "id": "522e9506d3fa9a0a",
        "repository": "jax-ml/jax",
        "exception": "NotImplementedError",
        "title": "precv is currently only implemented on GPU",
        "message": "precv is currently only implemented on GPU",
        "message_cut": False,
        "path": "jax/_src/lax/parallel.py",
        "line": 1343,
        "excerpt_line": 1326,
        "pin": "1e1c6a8fc0",
        "date": "2026-08-27",
        "solutions": (
            "Run on CUDA/ROCm backends",
            "Gate precv paths on backend capability",
            "Provide a non-NCCL fallback (e.g. all_gather based) for CPU tests",
        ),
        "trigger": "Compiling code containing lax.precv on CPU or TPU.",
        "related": (),
    },
    "004": {
        "id": "f87282341383122e",
        "repository": "jax-ml/jax",
        "exception": "NotImplementedError",
        "title": "callbacks do not support specifying sharding inside spmd com",
        "message": "callbacks do not support specifying sharding inside spmd computations",
        "message_cut": False,
        "path": "jax/_src/callback.py",
        "line": 163,
        "excerpt_line": 145,
        "pin": "1e1c6a8fc0",
        "date": "2026-08-27",
        "solutions": (
            "Drop the sharding argument when running under manual SPMD (inside shard_map)",
            "Move the callback outside the manual region where specifying sharding is allowed "
            "(ShardingContext path supports SingleDeviceSharding)",
            "For multi-device output needs, split outputs and place them after the callback with jax.device_put",
        ),
        "trigger": "Calling jax.pure_callback(..., sharding=SomeSharding) or "
        "jax.io_callback(..., sharding=...) inside a computation lowered under a Mesh with all axes manual "
        "(e.g. inside shard_map or with fully manual partitioning).",
        "related": (),
    },
}
EXCERPTS = {  # lines, the first, the last
    "000": (
        36,
        "def _psend_lowering_gpu(ctx, x, *, axis_name, perm):",
        "psend_p.def_effectful_abstract_eval(",
    ),
    "002": (
        35,
        "batching.fancy_primitive_batchers[ppermute_p] = _ppermute_batcher",
        "  return send_op.results",
    ),
    "003": (
        36,
        "  # recv_op should return an array of [RankedTensorType,",
        "    return pbroadcast_p.bind(v, axis_",
    ),
    "004": (
        37,
        "          mesh_shape=(),",
        '            "pure_callback only supports SingleDeviceSharding, but got"',
    ),
}

SMALL = """\
own/er · error · ns.BadThing

no {thing} here

Error message

no {thing} here

What it means

Nothing.

Source

Thrown at a/b.py:7

def f(thing):
  if thing:
    raise ns.BadThing(f"no {thing} here")

View on GitHub (pinned to abcdef0123)

Solutions

1. one
2. two

When it happens

Trigger: Calling f.

Common situations: Often.

Related errors

• other

AI-assisted analysis of own/er@abcdef0123 (2026-01-02). Data as JSON: /api/errors/0123456789abcdef. Report.
"""


def small(*changes: tuple[str, str]) -> bytes:
    """The small page with texts replaced; each must be there exactly once."""
    text = SMALL
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text.encode()


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize("fact", FACTS["000"])
def test_samples(name: str, fact: str) -> None:
    assert getattr(parse(SAMPLES[name], "page.txt").entry, fact) == FACTS[name][fact]


@pytest.mark.parametrize("name", EXCERPTS)
def test_sample_excerpts(name: str) -> None:
    lines = parse(SAMPLES[name], "page.txt").entry.excerpt.split("\n")
    count, first, last = EXCERPTS[name]
    assert (len(lines), lines[0][: len(first)], lines[-1][: len(last)]) == (count, first, last)


def test_file_is_the_name_given() -> None:
    assert parse(SAMPLES["000"], "below/a page.txt").entry.file == "below/a page.txt"


CONVERTED = {
    "as it is": lambda data: data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR": lambda data: data.replace(b"\n", b"\r"),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "BOM and CRLF": lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
    "blank lines in front": lambda data: b"\n \n" + data,
    "end of line at the end": lambda data: data + b"\n",
    "text behind the footer": lambda data: data + b"\n\nnull\nmore\n",
    "blanks at every end": lambda data: data.replace(b"\n", b" \t\n"),
}


@pytest.mark.parametrize("convert", CONVERTED.values(), ids=CONVERTED)
@pytest.mark.parametrize("name", SAMPLES)
def test_any_line_end_reads_the_same_and_is_kept(name: str, convert: object) -> None:
    assert callable(convert)
    data = convert(SAMPLES[name])
    page = parse(data, "page.txt")
    assert render(page) == data
    read = page.entry
    for fact, value in FACTS[name].items():
        found = getattr(read, fact)
        assert (found.rstrip() if isinstance(found, str) else found) == value, fact
    assert [line.rstrip() for line in read.excerpt.split("\n")] == parse(SAMPLES[name], "page.txt").entry.excerpt.split(
        "\n"
    )


def test_mixed_line_ends_form_feeds_and_line_separators_are_no_new_lines() -> None:
    data = small(("  if thing:\n", "\f\r\n  # \u2028 \x85 \x0b\n  if thing:\r\n"))
    page = parse(data, "page.txt")
    assert render(page) == data
    assert page.entry.excerpt.split("\n")[1:4] == ["\f", "  # \u2028 \x85 \x0b", "  if thing:"]
    assert page.entry.excerpt_line == 7 - 4


@pytest.mark.parametrize(
    ("change", "fact", "value"),
    [
        # the head
        (("own/er · error", "own/er  ·\terror"), "repository", "own/er"),
        (("· ns.BadThing", "· KeyError "), "exception", "KeyError"),
        # title and message
        (("ng\n\nno {thing} here\n\nErr", "ng\n\nErr"), "title", ""),
        (("ng\n\nno {thing} here\n\nErr", "ng\n\nnull\n\nErr"), "title", ""),
        (("Error message\n\nno {thing} here", "Error message"), "message", "no {thing} here"),
        (("Error message\n\nno {thing} here", "Error message\n\nnull"), "message", "no {thing} here"),
        (("Error message\n\nno {thing} here\n\n", ""), "message", "no {thing} here"),
        (("Error message\n\nno {thing} here\n\n", ""), "title", "no {thing} here"),
        (
            ("Error message\n\nno", "Error message\n\n  a\n\n b:\nno"),
            "message",
            "  a\n\n b:\nno {thing} here",
        ),
        (("Error message\n\nno", "Error message\nSource\nno"), "message", "Source\nno {thing} here"),
        (("Error message\n\nno", "Error message\nThrown at x:1\nno"), "line", 7),
        (
            ("Error message\n\nno", "Error message\nThrown at x:1\nno"),
            "message",
            "Thrown at x:1\nno {thing} here",
        ),
        (("What it means\n\nNothing.\n\n", ""), "message", "no {thing} here"),
        (("What it means\n\nNothing.", "What it means\n\nWhat it means"), "message", "no {thing} here"),
        # the source
        (("a/b.py:7", "a b/c d:e.py:7"), "path", "a b/c d:e.py"),
        (("a/b.py:7", "a/b.py:9999999 "), "line", 9999999),
        (("Source\n\n", ""), "message", "no {thing} here"),
        (("Source\n\n", ""), "path", "a/b.py"),
        (("Source\n\n", "Source\n\nnull\n"), "path", "a/b.py"),
        (("@abcdef0123", "@abcdef0123456789"), "pin", "abcdef0123456789"),
        (("to abcdef0123", "to abcdef0123456789"), "pin", "abcdef0123456789"),
        (("def f(thing):\n", "\n \n\ndef f(thing):\n"), "excerpt_line", 5),
        # the lists
        (("1. one\n2. two", ""), "solutions", ()),
        (("1. one\n2. two", "null"), "solutions", ()),
        (("Solutions\n\n1. one\n2. two\n\n", ""), "solutions", ()),
        (("1. one\n2. two", "  1. one\n  2. two  "), "solutions", ("one", "two")),
        (("1. one\n2. two", "one\nnull\ntwo"), "solutions", ("one", "two")),
        (("1. one\n2. two", "- one\n* two\n• three\n4) four"), "solutions", ("one", "two", "three", "four")),
        (("1. one\n2. two", "1. one\n\n2. two"), "solutions", ("one", "two")),
        (("1. one\n2. two", "1. one\n   more\n2. two"), "solutions", ("one\nmore", "two")),
        (("1. one\n2. two", "1. one\n\n2. two\n   more"), "solutions", ("one", "two\nmore")),
        (("1. one\n2. two", "1.5 is one\n-1 is two"), "solutions", ("1.5 is one", "-1 is two")),
        (("1. one\n2. two", "one\n\nSee also\n\ntwo"), "solutions", ("one",)),
        (("1. one\n2. two", "one\n\nTry / catch\n\nSolutions\n\ntwo"), "solutions", ("one",)),
        (("• other", ""), "related", ()),
        (("Related errors\n\n• other\n\n", ""), "related", ()),
        (("• other", "other {a\n- {} two"), "related", ("other {a", "{} two")),
        (("• other", "• other\n\nUnknown\n\nthing"), "related", ("other",)),
        (("Solutions", "Try / catch\n\nRelated errors\n\n• not this\n\nSolutions"), "related", ("other",)),
        # the trigger
        (("Trigger: Calling f.", ""), "trigger", ""),
        (("Trigger: Calling f.", "null"), "trigger", ""),
        (("Trigger: Calling f.\n\nCommon situations: Often.", "Calling f.\n\nmore"), "trigger", "Calling f."),
        (("Calling f.\n\nCommon", "Calling f\nwith 1.\nCommon"), "trigger", "Calling f\nwith 1."),
        (("Trigger: Calling", "Trigger:\n\nCalling"), "trigger", "Calling f."),
        (("Trigger: Calling", "Usually so.\n\nTrigger: Calling"), "trigger", "Calling f."),
        (("When it happens\n\nTrigger: Calling f.\n\nCommon situations: Often.\n\n", ""), "trigger", ""),
        # a page without an excerpt
        (
            (
                'def f(thing):\n  if thing:\n    raise ns.BadThing(f"no {thing} here")\n\n'
                "View on GitHub (pinned to abcdef0123)\n",
                "",
            ),
            "excerpt_line",
            None,
        ),
        (('def f(thing):\n  if thing:\n    raise ns.BadThing(f"no {thing} here")', "null"), "excerpt", ""),
        (("    raise", "    return"), "excerpt_line", None),
    ],
)
def test_odd_pages(change: tuple[str, str], fact: str, value: object) -> None:
    data = small(change)
    page = parse(data, "page.txt")
    assert getattr(page.entry, fact) == value
    assert render(page) == data


OPEN = "the platform for the specified backend {xb.canonicalize_plat"


@pytest.mark.parametrize(
    ("title", "section", "message", "cut"),
    [
        (OPEN, OPEN, OPEN, True),
        (OPEN, "", OPEN, True),
        (OPEN, OPEN + "form(x)} is", OPEN + "form(x)} is", False),
        (OPEN + "form(x)} is", OPEN, OPEN + "form(x)} is", False),
        (OPEN[:59], OPEN[:59], OPEN[:59], False),
        (OPEN[:59] + " ", OPEN[:59] + " ", OPEN[:59] + " ", True),
        ("another title", OPEN, OPEN, True),
        ("a title that is longer than what the section says", "message", "message", False),
        ("é" * 60, "é" * 60, "é" * 60, True),
        ("", "", "", False),
    ],
)
def test_cut_messages(title: str, section: str, message: str, cut: bool) -> None:
    data = small(
        (
            "no {thing} here\n\nError message\n\nno {thing} here",
            f"{title}\n\nError message\n\n{section}",
        )
    )
    entry = parse(data, "page.txt").entry
    assert (entry.message, entry.message_cut) == (message, cut)


LOOKALIKES = [
    "View on GitHub (pinned to abcdef0123)",
    "View on GitHub (pinned to 999999999)",
    "View on GitHub",
    "View on GitHub (pinned to abcdef0123)\n\nSolutions",
    "Thrown at c/d.py:99",
    "Thrown at nowhere",
    "Source\n\nThrown at c/d.py:99",
    "own/er · error · ns.BadThing",
    "Related errors\n\n• not this",
    "When it happens\n\nTrigger: not this",
    "AI-assisted analysis of",
    *("Error message", "What it means", "Source", "Solutions", "Example fix", "Defensive patterns"),
    *("Validate before calling", "Type guard", "Try / catch", "Prevention", "When it happens"),
]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_an_excerpt_may_hold_text_that_looks_like_the_page(text: str) -> None:
    excerpt = f'"""\n{text}\n"""\ndef f(thing):\n  if thing:\n'
    data = small(("def f(thing):\n  if thing:\n", excerpt))
    page = parse(data, "page.txt")
    assert render(page) == data
    plain = parse(small(), "page.txt").entry
    assert page.entry.excerpt == excerpt + '    raise ns.BadThing(f"no {thing} here")'
    for fact in ("title", "message", "path", "line", "pin", "solutions", "trigger", "related", "id"):
        assert getattr(page.entry, fact) == getattr(plain, fact), fact


def test_the_last_line_that_can_end_the_excerpt_ends_it() -> None:
    view = "View on GitHub (pinned to abcdef0123)"
    excerpt = f"{view}\n\ndef f(thing):\n"
    whole = excerpt + '  if thing:\n    raise ns.BadThing(f"no {thing} here")'
    for follower in ("Unknown\n\ntext\n\nSolutions", "null\n\nSolutions", "Solutions"):
        data = small(("def f(thing):\n", excerpt), ("Solutions", follower))
        assert parse(data, "page.txt").entry.excerpt == whole
    # An example that shows one as its last line, with the null of an empty section.
    example = f"2. two\n\nExample fix\n\n{view}\n\nPrevention\n"
    data = small(("Solutions", "null\n\nSolutions"), ("2. two\n", example))
    assert parse(data, "page.txt").entry.excerpt == whole.removeprefix(f"{view}\n\n")


def test_without_the_heading_the_first_line_that_says_so_is_the_place() -> None:
    data = small(("Source\n\n", ""), ("  if thing:\n", "Thrown at c/d.py:99\n  if thing:\n"))
    assert parse(data, "page.txt").entry.line == 7


# The excerpt's end, with the heading that follows it, can only be told from the same two lines in one of both.
EXAMPLES = [text for text in LOOKALIKES if not text.endswith("Solutions")]


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_may_hold_text_that_looks_like_the_page(text: str) -> None:
    data = small(("2. two\n", f"2. two\n\nExample fix\n\nx = '''\n{text}\n\nPrevention\n'''\n"))
    page = parse(data, "page.txt")
    plain = parse(small(), "page.txt").entry
    for fact in ("message", "path", "line", "excerpt", "pin", "solutions", "trigger", "related", "id"):
        assert getattr(page.entry, fact) == getattr(plain, fact), fact


FOOT = "`AI-assisted analysis of OWNER/NAME@SHA (YYYY-MM-DD). Data as JSON: /api/errors/ID.`"
BAD = [
    (b"", 1, "the page is empty: expected `OWNER/NAME · error · EXCEPTION`"),
    (b"\xef\xbb\xbf\r\n \n", 1, "the page is empty: expected `OWNER/NAME · error · EXCEPTION`"),
    (
        small().replace(b"Nothing.", b"No\xffthing."),
        11,
        "not UTF-8: byte 0xff at offset 98; expected a page as UTF-8 text",
    ),
    (
        small().replace(b"own", b"\0own", 1),
        1,
        "not text: byte 0x00 at offset 0; expected a page as UTF-8 text",
    ),
    (
        small().decode().encode("utf-16"),
        1,
        "not UTF-8: byte 0xff at offset 0; expected a page as UTF-8 text",
    ),
    (
        b"\n\x1b[31mhello\n",
        2,
        "expected `OWNER/NAME · error · EXCEPTION` as the first line, found '\\x1b[31mhello'",
    ),
    (
        small(("own/er · error · ns.BadThing\n", "")),
        2,
        "expected `OWNER/NAME · error · EXCEPTION` as the first line, found 'no {thing} here'",
    ),
    (
        small(("own/er · error", "owner · error")),
        1,
        "expected `OWNER/NAME · error · EXCEPTION` as the first line, found 'owner · error · ns.BadThing'",
    ),
    (
        small(("own/er · error", "\x01own/er · error")),
        1,
        "expected `OWNER/NAME · error · EXCEPTION` as the first line, found '\\x01own/er · error · ns.BadThing'",
    ),
    (
        small(("· ns.BadThing", "·")),
        1,
        "expected `OWNER/NAME · error · EXCEPTION` as the first line, found 'own/er · error ·'",
    ),
    (
        small(("own/er · error · ns.BadThing", "x" * 500)),
        1,
        f"expected `OWNER/NAME · error · EXCEPTION` as the first line, found '{'x' * 59}'…",
    ),
    (
        small(("Thrown at a/b.py:7\n\n", "")),
        15,
        "expected `Thrown at PATH:LINE` in the section `Source`, found 'def f(thing):'",
    ),
    (
        small(("Source\n\nThrown at a/b.py:7\n\n", "")),
        34,
        "expected `Thrown at PATH:LINE` in the section `Source`, "
        "found 'AI-assisted analysis of own/er@abcdef0123 (2026-01-02). Dat'…",
    ),
    (small(("a/b.py:7", "a/b.py")), 15, "expected `Thrown at PATH:LINE`, found 'Thrown at a/b.py'"),
    (small(("a/b.py:7", "a/b.py:x")), 15, "expected `Thrown at PATH:LINE`, found 'Thrown at a/b.py:x'"),
    (small(("a/b.py:7", "a/b.py:-7")), 15, "expected `Thrown at PATH:LINE`, found 'Thrown at a/b.py:-7'"),
    (small(("a/b.py:7", "a/b.py:٧")), 15, "expected `Thrown at PATH:LINE`, found 'Thrown at a/b.py:٧'"),
    (small(("at a/b.py:7", "at :7")), 15, "expected `Thrown at PATH:LINE`, found 'Thrown at :7'"),
    (small(("a/b.py:7", "a/b.py:0")), 15, "expected a line number from 1 to 9999999, found '0'"),
    (small(("a/b.py:7", "a/b.py:07")), 15, "expected a line number from 1 to 9999999, found '07'"),
    (
        small(("a/b.py:7", f"a/b.py:{10**30}")),
        15,
        f"expected a line number from 1 to 9999999, found '{10**30}'",
    ),
    (
        small(("a/b.py:7", "a/b.py:" + "9" * 5000)),
        15,
        f"expected a line number from 1 to 9999999, found '{'9' * 59}'…",
    ),
    (small(("a/b.py:7", "/a.py:7")), 15, "expected a path from the repository's root, found '/a.py'"),
    (small(("a/b.py:7", "a/../b.py:7")), 15, "expected a path from the repository's root, found 'a/../b.py'"),
    (
        small(("View on GitHub (pinned to abcdef0123)\n\n", "")),
        21,
        "expected `View on GitHub (pinned to SHA)`, 7 to 40 hex digits, after the excerpt, found 'Solutions'",
    ),
    (
        small(("(pinned to abcdef0123)", "(pinned to main)")),
        21,
        "expected `View on GitHub (pinned to SHA)`, 7 to 40 hex digits, after the excerpt, "
        "found 'View on GitHub (pinned to main)'",
    ),
    (
        small(("to abcdef0123", "to abcdef9999")),
        21,
        "pinned to abcdef9999 here and to abcdef0123 in line 38: expected one commit",
    ),
    (
        small().replace(b"AI-assisted", b"Assisted"),
        38,
        f"expected the footer {FOOT} as the last line, "
        "found 'Assisted analysis of own/er@abcdef0123 (2026-01-02). Data a'…",
    ),
    (
        small((". Data as JSON: /api/errors/0123456789abcdef. Report.", "")),
        38,
        f"expected the footer {FOOT}, found 'AI-assisted analysis of own/er@abcdef0123 (2026-01-02)'",
    ),
    (
        small(("own/er@abcdef0123", "own/er")),
        38,
        f"expected the footer {FOOT}, found 'AI-assisted analysis of own/er (2026-01-02). Data as JSON: '…",
    ),
    (
        small(("own/er@", "else/where@")),
        38,
        "the page is about own/er and its footer about else/where: expected one",
    ),
    (
        small(("@abcdef0123", "@ABCDEF0123")),
        38,
        "expected a commit of 7 to 40 hex digits (0-9, a-f), found 'ABCDEF0123'",
    ),
    (small(("@abcdef0123", "@")), 38, "expected a commit of 7 to 40 hex digits (0-9, a-f), found ''"),
    (
        small(("0123456789abcdef.", "0123456789abcde.")),
        38,
        "expected an id of 16 hex digits (0-9, a-f), found '0123456789abcde'",
    ),
    (
        small(("0123456789abcdef.", "0123456789ABCDEF.")),
        38,
        "expected an id of 16 hex digits (0-9, a-f), found '0123456789ABCDEF'",
    ),
    (small(("0123456789abcdef.", ".")), 38, "expected an id of 16 hex digits (0-9, a-f), found ''"),
    (small(("2026-01-02", "2026-02-30")), 38, "expected a date YYYY-MM-DD, found '2026-02-30'"),
    (small(("2026-01-02", "20260102")), 38, "expected a date YYYY-MM-DD, found '20260102'"),
    (small(("2026-01-02", "")), 38, "expected a date YYYY-MM-DD, found ''"),
    (small() + small(), 76, "a second footer, the first is line 38: expected one page in a file"),
]


@pytest.mark.parametrize(("data", "line", "reason"), BAD, ids=[str(number) for number in range(len(BAD))])
def test_bad_pages(data: bytes, line: int, reason: str) -> None:
    with pytest.raises(PageError) as caught:
        parse(data, "bad.txt")
    assert (caught.value.fault.file, caught.value.fault.line, caught.value.fault.reason) == (
        "bad.txt",
        line,
        reason,
    )
    assert str(caught.value) == f"bad.txt:{line}: {reason}"


def test_a_huge_page_is_read_in_no_time() -> None:
    noise = "{'\"@:[ \t1. raise View on GitHub Thrown at Source · " * 20_000
    text = SMALL.replace("Nothing.", noise + "\n" + "Source\n\n" * 5_000)
    text = text.replace("def f(thing):\n", noise + "\n" + "View on GitHub (pinned to abcdef0123)\n" * 5_000)
    entry = parse(text.encode(), "page.txt").entry
    assert (entry.line, entry.id, entry.solutions) == (7, "0123456789abcdef", ("one", "two"))


NEW: Facts = {
    "exception": "ValueError",
    "title": "no such {thing}",
    "message": "no such {thing}\n  at all",
    "path": "c d/e.py",
    "line": 1234,
    "excerpt": 'if x:\n    raise ValueError(f"no such {thing}" "at all")',
    "pin": "1" * 40,
    "date": "2027-03-04",
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_facts_are_replaced_and_nothing_else(name: str, end: bytes) -> None:
    before = parse(SAMPLES[name].replace(b"\n", end), "page.txt")
    after = with_facts(before, **NEW)
    assert {fact: getattr(after.entry, fact) for fact in NEW} == NEW
    assert after.entry.excerpt_line == 1234 - 1
    assert after.text.count("1" * 40) == 2
    assert render(after).count(end) == render(after).replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
    old: Facts = {fact: getattr(before.entry, fact) for fact in NEW}
    assert render(with_facts(after, **old)) == render(before)


def test_a_fact_that_stays_keeps_its_bytes() -> None:
    data = small(("  if thing:\n", "  if thing:\r\n"), ("@abcdef0123", "@abcdef0123456789"))
    page = parse(data, "page.txt")
    after = with_facts(page, line=8, excerpt=page.entry.excerpt, pin=page.entry.pin)
    assert render(after) == data.replace(b"b.py:7", b"b.py:8")


@pytest.mark.parametrize("fact", NEW)
def test_one_fact_leaves_the_others(fact: str) -> None:
    before = parse(small(), "page.txt")
    after = with_facts(before, **{fact: NEW[fact]})
    for other in NEW:
        expected = NEW[other] if other == fact else getattr(before.entry, other)
        assert getattr(after.entry, other) == expected
    assert after.entry.solutions == before.entry.solutions


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"pin": "main"}, "page.txt:21: expected `View on GitHub (pinned to SHA)`, 7 to 40 hex digits"),
        ({"line": 0}, "page.txt:15: expected a line number from 1 to 9999999, found '0'"),
        ({"date": "today"}, "page.txt:38: expected a date YYYY-MM-DD, found 'today'"),
        (
            {"message": ""},
            "page.txt:1: the page cannot state the message '': it would be read as something else",
        ),
        ({"message": "a\n\nWhat it means\n"}, "page.txt:1: the page cannot state the message"),
        ({"excerpt": "\n  raise X"}, "page.txt:1: the page cannot state the excerpt '\\n  raise X'"),
        (
            {"exception": "Bad Thing"},
            "page.txt:1: expected `OWNER/NAME · error · EXCEPTION` as the first line",
        ),
        ({"message": "\ud800"}, "page.txt:7: not UTF-8: byte 0xed"),
    ],
)
def test_facts_that_the_page_would_not_give_back(facts: Facts, reason: str) -> None:
    with pytest.raises(PageError) as caught:
        with_facts(parse(small(), "page.txt"), **facts)
    assert str(caught.value).startswith(reason)


def test_a_fact_that_the_page_does_not_state_is_not_replaced() -> None:
    page = parse(small(("Error message\n\nno {thing} here\n\n", "")), "page.txt")
    with pytest.raises(PageError, match="cannot state the message 'other'"):
        with_facts(page, message="other")


GONE = "No longer raised since abcdef0 (2026-03-04), own 2.0; last raised in own 1.9. Likely successor: a.py:1, V: {x}"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    "changes", [(), (("no {thing} here\n\nError", "Error"),), (("own/er · error", "\ufeffown/er · error"),)]
)
def test_a_page_says_that_its_error_is_no_longer_raised(end: bytes, changes: tuple[tuple[str, str], ...]) -> None:
    before = parse(small(*changes).replace(b"\n", end), "page.txt")
    after = retire(before, GONE)
    assert (before.entry.retired, after.entry.retired) == ("", "abcdef0")
    assert replace(after.entry, retired="") == before.entry
    assert after.line_of("retired") == (3 if "title" not in before.spans else 5)
    assert render(after).replace(end * 2 + GONE.encode(), b"") == render(before)
    assert parse(render(after), "page.txt") == after
    moved = with_facts(after, title="other", line=9) if "title" in after.spans else with_facts(after, line=9)
    assert moved.entry.retired == "abcdef0"
    with pytest.raises(PageError, match="cannot say"):
        retire(after, GONE)


@pytest.mark.parametrize(
    "line", ["", "gone", "No longer raised since main (2026-03-04)", GONE + "\nError message", "\ud800"]
)
def test_a_line_that_would_not_be_read_back_is_not_written(line: str) -> None:
    with pytest.raises(PageError):
        retire(parse(small(), "page.txt"), line)


@pytest.mark.parametrize(
    "change",
    [
        ("here\n\nWhat", f"here\n{GONE}\n\nWhat"),
        ("Nothing.", GONE),
        ("Trigger: Calling f.", GONE),
        ("  if thing:", GONE),
        ("no {thing} here\n\nError", "No longer raised since then\n\nError"),
    ],
)
def test_elsewhere_the_same_words_mean_nothing(change: tuple[str, str]) -> None:
    assert parse(small(change), "page.txt").entry.retired == ""


def test_a_message_that_is_cut_below_a_title_that_is_not() -> None:
    long = "no {thing} is anywhere near the place where you have looked for it"
    page = parse(
        small(
            ("no {thing} here\n\nError", f"{long}\n\nError"), ("message\n\nno {thing} here", f"message\n\n{long[:60]}")
        ),
        "p",
    )
    assert (page.entry.message, page.said("message"), page.said("excerpt")) == (long, long[:60], page.entry.excerpt)
    after = with_facts(page, title=long.upper(), message=long.upper()[:60])
    assert (after.entry.message, after.said("message")) == (long.upper(), long.upper()[:60])


def test_what_a_page_says_it_means() -> None:
    assert parse(small(("Nothing.", "Nothing.\n\nAt all.")), "p").entry.meaning == "Nothing.\n\nAt all."
    assert parse(small(("What it means\n\nNothing.\n\n", "")), "p").entry.meaning == ""
    assert parse(small(("Nothing.", "null")), "p").entry.meaning == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_facts(end: str) -> None:
    page = parse(SMALL.replace("\n", end).encode(), "page.txt")
    lines = {fact: page.line_of(fact) for fact in page.spans}
    assert lines == {
        "exception": 1,
        "title": 3,
        "message": 7,
        "path": 15,
        "line": 15,
        "excerpt": 17,
        "pin": 21,
        "date": 38,
        "id": 38,
    }
    for fact, spans in page.spans.items():
        for start, stop in spans:
            assert page.text[start:stop].replace(end, "\n") == str(getattr(page.entry, fact))


PIECES = st.one_of(
    st.sampled_from([line + b"\n" for data in SAMPLES.values() for line in data.split(b"\n")]),
    st.sampled_from([text.encode() for text in LOOKALIKES]),
    st.sampled_from([b"\r\n", b"\r", b"\n", b"\0", b"\f", b"\xef\xbb\xbf", b"null\n", "\u2028".encode(), b"\xc2"]),
    st.binary(max_size=8),
)


@st.composite
def edited(draw: st.DrawFn) -> bytes:
    """A sample page with some bytes or lines replaced, inserted or deleted."""
    data = draw(st.sampled_from(sorted(SAMPLES.values())))
    data = data.replace(b"\n", draw(st.sampled_from([b"\n", b"\r\n", b"\r"])))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        if draw(st.booleans()):  # whole lines
            at = data.rfind(b"\n", 0, at) + 1
        gone = draw(st.one_of(st.just(0), st.integers(0, 4), st.integers(0, 400)))
        data = data[:at] + draw(st.one_of(st.just(b""), PIECES)) + data[at + gone :]
    return data


def read(data: bytes) -> Page | PageFault:
    try:
        return parse(data, "page.txt")
    except PageError as error:
        return error.fault


@given(edited())
@example(b"")
@example(b"\xef\xbb\xbf")
def test_any_edit_is_read_and_kept_or_is_a_fault(data: bytes) -> None:
    page = read(data)
    if isinstance(page, PageFault):
        assert page.file == "page.txt"
        assert 1 <= page.line <= max(1, len(data.splitlines()))
        assert page.reason.isprintable()
        return
    assert render(page) == data
    for fact in ("exception", "title", "path", "line", "excerpt", "date", "id"):
        for start, stop in page.spans.get(fact, ()):
            assert re.sub("\r\n?", "\n", page.text[start:stop]) == str(getattr(page.entry, fact))
    assert all(page.entry.pin.startswith(page.text[start:stop]) for start, stop in page.spans["pin"])
    # There and back again: nothing but the facts was touched.
    entry = page.entry
    moved = with_facts(page, path="x/y.py", line=entry.line + 1, date="1999-01-01", exception="X")
    back = with_facts(moved, path=entry.path, line=entry.line, date=entry.date, exception=entry.exception)
    assert (back.entry, render(back)) == (entry, data)


@given(st.binary(max_size=300))
def test_anything_is_read_or_is_a_fault(data: bytes) -> None:
    with pytest.raises(PageError):
        parse(data, "page.txt")
