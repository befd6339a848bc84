"""What people really paste -> the error in it: one row for each thing that is wrapped around a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.lookup.paste import read

WANTED = ("TypeError", "x must be\nan array, got 3")

PLAIN = "TypeError: x must be\nan array, got 3"
TRACE = (
    f'Traceback (most recent call last):\n  File "/v/pkg/core.py", line 7, in check\n    raise TypeError(m)\n{PLAIN}'
)


def quoted(sign: str) -> str:
    return "\n".join(sign + line for line in TRACE.split("\n"))


@pytest.mark.parametrize(
    "paste",
    [
        pytest.param(PLAIN, id="text alone"),
        pytest.param(TRACE, id="traceback"),
        pytest.param(TRACE.replace("\n", "\r\n"), id="Windows line ends"),
        pytest.param(f"```pytb\n{TRACE}\n```", id="code fence"),
        pytest.param(quoted("> "), id="quoted mail"),
        pytest.param(quoted("# "), id="code comment"),
        pytest.param(quoted("[rank0]: "), id="torchrun"),
        pytest.param(quoted("(worker pid=123, ip=10.0.0.1) "), id="Ray"),
        pytest.param("\n".join("E       " + line for line in PLAIN.split("\n")), id="pytest"),
        pytest.param("**TypeError: x must be\nan array, got 3**", id="bold"),
        pytest.param("`TypeError`: x must be\nan array, got 3", id="name in back-quotes"),
        pytest.param('"TypeError: x must be\nan array, got 3"', id="in quotes"),
        pytest.param("pkg.errors.TypeError: x must be\nan array, got 3", id="dotted name"),
        pytest.param("UnfilteredStackTrace: TypeError: x must be\nan array, got 3", id="stand-in and name"),
        pytest.param("\x1b[0;31mTypeError\x1b[0m: x must be\n\x1b[1man\x1b[0m array, got 3", id="colours"),
        pytest.param("[0;31mTypeError[0m: x must be\n[1man[0m array, got 3", id="colours without escape"),
        pytest.param(
            "TypeError: x must be\nan array, got 3\n\nFor simplicity, JAX has removed its internal frames from"
            "\nthe traceback of the following exception. Set X",
            id="note on hidden frames",
        ),
        pytest.param(
            "The stack trace below excludes JAX-internal frames.\nThe preceding is the original exception "
            f"that occurred, unmodified.\n\n--------------------\n\n{PLAIN}",
            id="note before",
        ),
        pytest.param('{"name": "TypeError", "message": "x must be\\nan array, got 3", "stack": "---"}', id="JSON"),
        pytest.param("TypeError: x must be&#10;an array, got 3", id="entities"),
        pytest.param(
            f"{TRACE}\n\nDuring handling of the above exception, another exception occurred:\n", id="chain cut"
        ),
        pytest.param(
            "  + Exception Group Traceback (most recent call last):\n  +-+---------------- 1 ----------------\n"
            "    | TypeError: x must be\n    | an array, got 3\n    +------------------------------------",
            id="exception group",
        ),
        pytest.param(
            "╭──── Traceback (most recent call last) ────╮\n│ /v/pkg/core.py:7 in check │\n│ ❱  7 │   raise │\n"
            "╰───────────────────────────────────────────╯\nTypeError: x must be\nan array, got 3",
            id="rich",
        ),
    ],
)
def test_an_error_without_its_wrapper(paste):
    (error,) = read(paste).errors
    assert (error.name, error.message) == WANTED


PATH = "/v/site-packages/pkg/core.py"
CHECK = (PATH, 7, "check", "raise TypeError(m)")


@pytest.mark.parametrize(
    ("paste", "frame"),
    [
        (f'  File "{PATH}", line 7, in check\n    raise TypeError(m)\nTypeError: x', CHECK),
        (f'"{PATH}", line 7, in check\nraise TypeError(m)\nTypeError: x', CHECK),
        (f"{PATH} in check(x, *args)\n      6   if x:\n----> 7     raise TypeError(m)\n      8\nTypeError: x", CHECK),
        (f"[{PATH}](https://localhost:8080/#) in check(x)\n----> 7     raise TypeError(m)\nTypeError: x", CHECK),
        (
            f"File {PATH}:7, in A.check(self)\n      6   if x:\n----> 7     raise TypeError(m)\n\nTypeError: x",
            (PATH, 7, "A.check", "raise TypeError(m)"),
        ),
        (f"{PATH}:7: in check\n    raise TypeError(m)\nE   TypeError: x", CHECK),
        (f">       raise TypeError(m)\nE       TypeError: x\n\n{PATH}:7: TypeError", (PATH, 7, None, None)),
        (f"│ {PATH}:7 in check │\n│    6 │ if x: │\n│ ❱  7 │   raise TypeError(m) │\nTypeError: x", CHECK),
        (
            '  File "C:\\Lib\\pkg\\core.py", line 7, in check\n    raise TypeError(m)\nTypeError: x',
            ("C:/Lib/pkg/core.py", 7, "check", "raise TypeError(m)"),
        ),
        (
            '  File "C:\\Lib\\pkg\numpy\\core.py", line 7, in check\n    raise TypeError(m)\nTypeError: x',
            ("C:/Lib/pkg/numpy/core.py", 7, "check", "raise TypeError(m)"),
        ),
        ("TypeError: x\nhttps://github.com/a/pkg/blob/0123456789/pkg/core.py#L7-L9", ("pkg/core.py", 7, None, None)),
    ],
    ids=[
        "python",
        "python, prefix lost",
        "IPython 7",
        "Colab",
        "IPython 8",
        "pytest",
        "pytest end",
        "rich",
        "Windows",
        "Windows, \\n taken for a line end",
        "permalink",
    ],
)
def test_frames(paste, frame):
    (error,) = read(paste).errors
    last = error.frames[-1]
    assert (last.file, last.line, last.function, last.source) == frame
    assert error.message.startswith("x")


def test_two_errors_each_once_in_order():
    chain = (
        f"{TRACE}\n\nThe above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\n    f()\nRuntimeError: other\n'
        f"{TRACE}\n"
    )
    assert [error.name for error in read(chain).errors] == ["TypeError", "RuntimeError"]


def test_an_error_told_of_inside_another():
    nested = read("LoweringError: failed in kernel\nOriginal exception: TypeError: x must be an array\n").errors
    assert ("TypeError", "x must be an array") in [(error.name, error.message) for error in nested]


@pytest.mark.parametrize(
    "text",
    ["", "\n \n", "```\n```", "Traceback (most recent call last):\n"],
)
def test_no_error(text):
    assert read(text).errors == ()


@pytest.mark.parametrize(
    "line", ["    except ValueError:", "    Raises: ValueError: if x is bad", "raise ValueError", "import ValueError"]
)
def test_what_only_names_an_exception_is_no_error_of_that_name(line):
    assert [error.exception for error in read(f"{line}\nTypeError: x").errors] == ["TypeError"]


def test_an_error_without_a_name():
    (error,) = read('  File "/v/pkg/core.py", line 7, in check\n    y = g(x)\n[...]\nx must be an array').errors
    assert (error.exception, error.adjacent) == (None, False)
    assert error.message.endswith("x must be an array")


@given(st.text(alphabet=st.sampled_from("Error: \n\t\"'`>|[]{}\\xE-#.…aT\x1b;m0│"), max_size=300))
def test_any_text_can_be_read(text):
    for error in read(text).errors:
        assert isinstance(error.message, str)
