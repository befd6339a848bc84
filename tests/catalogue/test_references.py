"""The names that a page's writer uses: which lines count, what is an abbreviation, and what only looks like a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import page as made
from tracker.catalogue.page import Page, parse
from tracker.catalogue.references import Reference, references

PAGES = [parse(file.read_bytes(), file.name) for file in sorted((Path(__file__).parent / "pages").iterdir())]
SOURCE = "import lib.inside\n\n\ndef f(x):\n    raise ValueError('bad lib.inside.thing')\n"


def with_solution(text: str, message: str = "bad lib.inside.thing") -> Page:
    plain = made(SOURCE, 5, message="bad lib.inside.thing", pin="1e1c6a8fc0").replace("1. Do it right", text)
    return parse(plain.replace("bad lib.inside.thing", message).encode(), "a.txt")


def names(text: str, message: str = "bad lib.inside.thing") -> list[str]:
    return [reference.name for reference in references(with_solution(text, message), {"lib"}).named]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1. Call lib.f", ["lib.f"]),
        ("1. Call lib.f.", ["lib.f"]),
        ("1. Call `lib.a.f(x)`, or lib.g(lib.h)", ["lib.a.f", "lib.g", "lib.h"]),
        ("1. Call lib.f\n2. Call lib.f", ["lib.f", "lib.f"]),
        ("lib.f and lib.f", ["lib.f"]),
        ("@lib.f", []),
        ("1. Do it", []),
        ("lib", []),
        ("lib.", []),
        ("lib.9", []),
        ("mylib.f, x.lib.f, lib-x.f, a/lib.f, a\\lib.f", []),
        ("https://lib.readthedocs.io/lib.f.html and www.lib.org/lib.f", []),
        ("see lib.readthedocs.io, lib.dev or write to me@lib.org", []),
        ("lib.py, lib.f.py and lib.toml", []),
        ("np.zeros(x.shape), e.g. torch.f", []),
        ("import lib.a as la\nla.f(x)", ["lib.a", "lib.a.f"]),
        ("import lib.a, lib.b as lb\nlb.g()", ["lib.a", "lib.b", "lib.b.g"]),
        ("from lib import a\na.f()", ["lib.a", "lib.a.f"]),
        ("from lib.a import (f, g as h)\nh.x", ["lib.a.f", "lib.a.g", "lib.a", "lib.a.g.x"]),
        (">>> from lib import a  # so\n>>> a.f()", ["lib.a", "lib.a.f"]),
        ("import torch as t\nt.f()\nfrom np import lib2\nlib2.f", []),
        ("import lib\nlib.f", ["lib.f"]),
        ("a.f()", []),
        ("1. from lib import a\n2. a.f()", ["lib.a", "lib.a.f"]),
        ("1. Write `import lib.a as la` and la.f()", ["lib.a", "lib.a.f"]),
        ("1. Choose from lib import things", []),
        ("// before\nlib.f()\n// after\nlib.g()", ["lib.g"]),
        ("# before\nlib.f()\n\n# after\nlib.g()\n", ["lib.g"]),
        ("# Before: so\nlib.f()\nExample fix\nlib.g()", ["lib.g"]),
        ("// after\nlib.g()\n// before\nlib.f()", ["lib.g"]),
    ],
)
def test_what_a_page_refers_to(text, found):
    assert sorted(names(text)) == sorted(found)


def test_neither_the_message_nor_the_excerpt_nor_related_errors_are_the_writer_s():
    text = with_solution("1. Do it").text.replace("• another one", "• lib.f is bad")
    assert references(parse(text.encode(), "a.txt"), {"lib"}).named == ()
    text = (
        with_solution("1. Do it").text.replace("Something is wrong.", "See lib.f.").replace("Doing it", "Calling lib.g")
    )
    found = references(parse(text.encode(), "a.txt"), {"lib"}).named
    lines = text.split("\n")
    assert [(lines[one.line - 1], one.name) for one in found] == [
        ("See lib.f.", "lib.f"),
        ("Trigger: Calling lib.g wrong.", "lib.g"),
    ]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_are_those_of_the_file_whatever_ends_them(end):
    page = with_solution("1. Call lib.f")
    other = parse(page.text.replace("\n", end).encode(), "a.txt")
    assert references(other, {"lib"}) == references(page, {"lib"})


@pytest.mark.parametrize(
    ("message", "judged"),
    [
        ("lib.gone was removed in 2.0", False),
        ("lib.gone is deprecated", False),
        ("lib.gone got a bad value", True),
        ("other was removed", True),
    ],
)
def test_a_page_about_a_name_that_is_gone_may_speak_of_it(message, judged):
    found = references(with_solution("1. Do not call lib.gone any more", message), {"lib"})
    assert [one.name for one in (found.named if judged else found.aside)] == ["lib.gone"]
    assert (found.aside if judged else found.named) == ()


def test_the_samples():
    found = [references(page, {"jax"}) for page in PAGES]
    assert Reference(75, "jax.lax.psend") in found[0].named
    assert {one.name for one in found[0].named} == {"jax.shard_map", "jax.jit", "jax.lax.psend"}
    assert {one.name for one in found[0].aside} == {"jax.jit"}
    assert {one.name for one in found[1].named} == {
        "jax.default_device", "jax.devices", "jax.default_backend", "jax.jit", "jax.lax.psend",
    }  # fmt: skip
    assert {one.name for one in found[3].named} == {"jax.device_put", "jax.jit", "jax.io_callback", "jax.pure_callback"}
    for page, one in zip(PAGES, found, strict=True):
        lines = page.text.split("\n")
        assert all(name.name.rpartition(".")[2] in lines[name.line - 1] for name in one.named)
