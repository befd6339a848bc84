"""The lines of tracebacks as Python, IPython, pytest, rich and GitHub write them -> frames. Nothing else is read."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One place of a traceback."""

    file: str
    """As pasted, with forward slashes."""
    line: int | None
    function: str | None
    source: str | None = None
    """The text of the line, where the paste shows it."""
    revision: str | None = None
    """Of a link: the commit, tag or branch it names."""
    source_follows: bool = False


_PYTHON = re.compile(r'(?:File )?"([^"]+)", lines? (\d+)(?:-\d+)?(?:, in (.+))?')
_NOTEBOOK_8 = re.compile(r"File (\S.*\.pyx?):(\d+)(?:, in (\S+))?")
_NOTEBOOK_7 = re.compile(r"(\S+\.pyx?|\S.*?[/\\]\S+\.pyx?) in ([\w.<>]+)\s*\(")
_CELL = re.compile(r"(?:(<ipython-input-[^>]*>) in (\S+)|(?:Input |Cell )?In ?\[(\d*)\](?:, line (\d+))?)")
_PYTEST = re.compile(r"(\S+\.py):(\d+):? in (.+)$")
_PYTEST_END = re.compile(r"(\S+\.py):(\d+): ([A-Za-z_]\w*)$")
_LINK = re.compile(r"https?://github\.com/[\w.-]+/[\w.-]+/blob/([\w.-]+)/([^\s#?\"'()<>]+\.py)#L(\d+)")
_CONTEXT = re.compile(r"(-+>|❱|>)?\s*(\d+)(?:\s?[│|])?(?:\s(.*))?$")


def frame_of(bare: str) -> Frame | None:
    """The frame that a line names, if it names one."""
    if found := _PYTHON.match(bare):
        return _frame(found[1], found[2], found[3], source_follows=True)
    if ".py" in bare[:4000]:
        if found := _NOTEBOOK_8.match(bare):
            return _frame(found[1], found[2], found[3])
        if found := _PYTEST.match(bare):
            return _frame(found[1], found[2], found[3], source_follows=True)
        if found := _NOTEBOOK_7.match(bare[:4000]):
            return _frame(found[1], None, found[2])
    if found := _CELL.match(bare):
        return _frame(found[1] or "<cell>", found[4], found[2])
    return None


def pytest_end(bare: str) -> Frame | None:
    """The line with which pytest ends an error: where it was raised, and the name."""
    found = _PYTEST_END.match(bare)
    return _frame(found[1], found[2], None) if found else None


def context_line(bare: str) -> tuple[int, str, bool] | None:
    """(number, text, whether it is the marked one) of a numbered source line."""
    found = _CONTEXT.match(bare)
    return (int(found[2][:9]), (found[3] or "").strip(), found[1] is not None) if found else None


def permalinks(text: str) -> list[Frame]:
    """Links to lines of files at a revision."""
    return [
        Frame(file=found[2], line=int(found[3][:9]), function=None, revision=found[1]) for found in _LINK.finditer(text)
    ]


def _frame(file: str, line: str | None, function: str | None, source_follows: bool = False) -> Frame:
    name = (function or "").split("(")[0].strip().replace(".<locals>", "")
    return Frame(
        file=file.strip().replace("\\", "/"),
        line=int(line[:9]) if line else None,
        function=name or None,
        source_follows=source_follows,
    )
