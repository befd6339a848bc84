"""Errors that no `raise` of the package's Python makes: what speaks for C++, the interpreter or another package.

It knows nothing of sites; whether a site's claim is stronger is decided by who asks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tracker.lookup.frames import Frame
from tracker.lookup.paste import Raised
from tracker.lookup.rank import within


class Foreign(NamedTuple):
    """Who raises an error, if not the package, and how that shows."""

    origin: str
    reason: str
    strong: bool
    """Whether only the frame of a raise, or the same exception with a text that says a lot, can outweigh it."""


INTERPRETER = "Python"
"""The origin of what CPython itself raises."""

_RUNTIME = {"XlaRuntimeError", "JaxRuntimeError", "MLIRError"}
_OWN_TOPS = {"builtins", "__main__", "exceptions", "errors", "core"}
# The codes of absl::Status, which XLA's errors begin with.
_STATUS = re.compile(
    r"(?:CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|UNAUTHENTICATED"
    r"|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS)\s?: "
)
_COMPILED = re.compile(
    r"\bstd::|\b\w+\.(?:cc|cpp|cu|h):\d+|\bpybind11\b|\bnanobind\b|\bterminate called|\bCheck failed: |\bLLVM ERROR"
    r"|\bincompatible (?:function|constructor) arguments\b|\bfailed to legalize\b|\bloc\(|\bSegmentation fault"
    r"|\bFatal Python error|'?\w+\.\w+' op "
)
# What CPython itself says; each must be the whole first line of the message.
_INTERPRETER = re.compile(
    r"name '[^']*' is not defined\.?.*|(?:unhashable|bad operand) type.*"
    r"|'[^']*' object (?:is not (?:callable|iterable|subscriptable|an iterator|reversible)|has no attribute '[^']*'"
    r"|does not support (?:item assignment|item deletion|indexing|the [\w ]+ protocol)"
    r"|cannot be interpreted as an integer)\.?(?: Did you mean: .*)?"
    r"|(?:partially initialized )?module \S+ has no attribute .*|type object '[^']*' has no attribute '[^']*'.*"
    r"|cannot import name '?[^']*'? from .*|No module named .*"
    r"|[\w.<>]+\(\) (?:missing \d+ required .*|takes .* arguments?.*|got an unexpected keyword argument .*"
    r"|got multiple values for .*|argument .* must be .*)"
    r"|unsupported operand type\(s\) for .*|'[^']*' not supported between instances of .*"
    r"|(?:list|tuple|string|pop from empty \w+|list assignment|bytearray|range object) ?(?:index out of range)?"
    r"|(?:integer |float )?(?:division|modulo)(?: or modulo)? by zero|object of type '[^']*' has no len\(\)"
    r"|(?:not enough|too many) values to unpack.*|cannot unpack non-iterable .*|maximum recursion depth exceeded.*"
    r"|can't set attribute.*|invalid literal for int\(\) .*|could not convert string to float: .*"
    r"|(?:local|free) variable '[^']*' referenced before assignment.*|cannot access (?:local|free) variable .*"
    r"|must be real number, not .*|expected str, bytes or os\.PathLike object.*|isinstance\(\) arg 2 must .*"
    r"|a bytes-like object is required.*|'[^']*' object does not support the .*"
    r"|dictionary changed size during iteration|generator already executing|\w+ expected at (?:most|least) .*"
)
_PACKAGE = re.compile(r"(?:site-packages|dist-packages)/([\w.-]+)|(?:/lib(?:64)?/python3[.\d]*)/(\w+)")


def foreign(error: Raised, files: frozenset[str]) -> Foreign | None:
    """What speaks against the package itself having raised an error; None: nothing does. `files` are the package's."""
    top, dot, _ = (error.exception or "").partition(".")
    own = {part for file in files for part in file.split("/")[:2]}
    if error.name in _RUNTIME:
        return Foreign("XLA", f"{error.name} is how errors of XLA, which is C++, reach Python", True)
    if dot and top not in own and top not in _OWN_TOPS and not top[:1].isupper():
        return Foreign(top, f"{error.exception} is an exception of {top}", True)
    if _STATUS.match(error.message):
        code = error.message.partition(":")[0]
        return Foreign("XLA", f"its text begins with {code}, a status code of XLA's C++", True)
    last = error.frames[-1] if error.frames and error.adjacent else None
    if last is not None and (found := _other_package(last, files)) is not None:
        return found
    line = " ".join(error.message.partition("\n")[0][:2000].split())
    if error.exception is not None and _INTERPRETER.fullmatch(line):
        return Foreign(INTERPRETER, "this is what the Python interpreter itself says", True)
    if error.name == "AssertionError":
        where = f" ({last.file}:{last.line})" if last is not None and last.line else ""
        return Foreign("assert", f"an `assert` failed{where}; that is no raise statement", False)
    if _COMPILED.search(error.message[:4000]):
        return Foreign(
            "C++", "its text has the form of an error of compiled code (XLA, MLIR or bindings to them)", False
        )
    if (
        last is not None
        and last.source
        and within(last.file, files)
        and not last.source.startswith(("raise", "assert"))
    ):
        where = f"{last.file.rpartition('/')[2]}:{last.line}"
        return Foreign("C++", f"the last frame ({where}) raises nothing, it calls into compiled code", False)
    return None


def _other_package(frame: Frame, files: frozenset[str]) -> Foreign | None:
    """The package whose own raise is the last thing of a traceback."""
    if within(frame.file, files) is not None or not (frame.source or "").startswith("raise"):
        return None
    found = _PACKAGE.search(frame.file)
    origin = (found[1] or found[2]) if found else "the program itself"
    return Foreign(origin, f"the last frame is a raise in {frame.file}:{frame.line or '?'}", True)
