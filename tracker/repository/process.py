"""The one place that starts git: through GitPython, on one bare repository, never with a hook or a prompt.

It knows processes, their last words and their end, and nothing about commits. GitPython takes 110 ms to
import and looks for git meanwhile, so commands import this package inside their functions.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from tracker.errors import GitError

_NO_GIT = "git is not found: install git 2.29 or newer and put it on the PATH"
try:
    import git
    from git.util import remove_password_if_present
except ImportError as error:
    raise GitError(_NO_GIT) from error

GRACE_S = 5.0
"""Between SIGTERM, at which git removes its locks and temporary packs, and SIGKILL."""

_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LANGUAGE": "C",
    "LC_ALL": "C",
}
# What git itself calls local to a repository (`git rev-parse --local-env-vars`), without the configuration:
# a tracker started from a hook would else work on the repository of the hook.
_FOREIGN = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "gc.auto=0",  # when a mirror is packed is for `upkeep` to say
    "maintenance.auto=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
)
_PERCENT = re.compile(r"\d+% \(\d+/\d+\)")


@dataclass(frozen=True, slots=True)
class Result:
    """How a git command ended."""

    status: int
    out: bytes
    err: str


@dataclass(frozen=True, slots=True)
class Running:
    """A git command under way; ended by `watch`, `end` or `close`."""

    process: subprocess.Popen[bytes]
    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO


def run(directory: Path, *arguments: str, work_tree: Path | None = None, index: Path | None = None) -> Result:
    """A short git command on a repository -> its status and output, whatever the status. GitError: no git.

    It runs in the work tree where one is named, and on an index of its own where one is named.
    """
    place = [f"--git-dir={directory}"]
    if work_tree is not None:
        place = ["-C", str(work_tree), *place, f"--work-tree={work_tree}"]
    return _short(place, arguments, {"GIT_INDEX_FILE": str(index)} if index is not None else None)


def find(folder: Path) -> tuple[Path, Path] | str:
    """The git directory and the work tree of the repository that a folder is in, or why there is none."""
    found = _short(["-C", str(folder)], ("rev-parse", "--absolute-git-dir", "--show-toplevel"), None)
    lines = found.out.decode("utf-8", "surrogateescape").splitlines()
    return (Path(lines[0]), Path(lines[1])) if not found.status and len(lines) == 2 else last_words(found.err)


def _short(place: Sequence[str], arguments: Sequence[str], env: dict[str, str] | None) -> Result:
    status, out, err = _execute(
        place,
        arguments,
        env=env,
        with_extended_output=True,
        with_exceptions=False,
        stdout_as_string=False,
        strip_newline_in_stdout=False,
    )
    return Result(status, out, err)


def start(directory: Path, *arguments: str, hold: Sequence[int] = ()) -> Running:
    """A long git command in its own process group, which inherits the file descriptors `hold`."""
    wrapper = _execute(
        [f"--git-dir={directory}"],
        arguments,
        istream=subprocess.PIPE,
        as_process=True,
        start_new_session=True,
        pass_fds=tuple(hold),
    )
    child, wrapper.proc = wrapper.proc, None  # else GitPython would kill it once the wrapper is forgotten
    return Running(child, child.stdin, child.stdout, child.stderr)


@cache
def _starter() -> git.Git:
    starter = git.Git()
    starter.update_environment(**_ENVIRONMENT)
    return starter


def _execute(place: Sequence[str], arguments: Sequence[str], **how: Any) -> Any:
    for name in _FOREIGN:
        os.environ.pop(name, None)
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    command = [str(git.Git.GIT_PYTHON_GIT_EXECUTABLE), *place, *settings, *arguments]
    try:
        return _starter().execute(command, **how)
    except git.GitCommandNotFound as error:
        raise GitError(_NO_GIT) from error


def watch(running: Running, timeout_s: float, progress: Callable[[str], None]) -> Result:
    """Follow a command that writes no output to its end, what it says on the way going to `progress` by lines.

    GitError after `timeout_s`; then, and at Ctrl-C, the whole process group is ended first.
    """
    lines: list[str] = []
    deadline = time.monotonic() + timeout_s
    try:
        for line in _lines(running.stderr, deadline):
            if not line.startswith(("fatal: ", "error: ")):
                progress(line)
            if not _PERCENT.search(line):
                lines.append(line)
        status = running.process.wait(max(0.1, deadline - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        raise GitError(
            f"git was not ready within {timeout_s:g} s and was ended: run it again, or allow more time"
        ) from error
    finally:
        end(running)
    return Result(status, b"", "\n".join(lines))


def _lines(stream: BinaryIO, deadline: float) -> Iterator[str]:
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            chunk = os.read(stream.fileno(), 65536)
            *whole, rest = re.split(rb"[\r\n]", rest + chunk) if chunk else [rest, b""]
            yield from (text for line in whole if (text := line.decode("utf-8", "replace").strip()))
            if not chunk:
                return


def end(running: Running) -> None:
    """End a command and its whole group: SIGTERM, and SIGKILL to what is left after the grace."""
    group = running.process.pid
    try:
        if running.process.poll() is None:
            try:
                _signal(group, signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    running.process.wait(GRACE_S)
                patience = time.monotonic() + 1
                while _signal(group, 0) and time.monotonic() < patience:  # its transport, its packer
                    time.sleep(0.01)
            finally:
                _signal(group, signal.SIGKILL)
    finally:
        close(running)


def close(running: Running) -> None:
    """Close the pipes of a command, at which one that reads or writes ends by itself, and wait for it."""
    for stream in (running.stdin, running.stdout, running.stderr):
        with suppress(BrokenPipeError):
            stream.close()
    running.process.wait()


def _signal(group: int, number: int) -> bool:
    """Whether the group was there to be signalled."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def last_words(err: str) -> str:
    """git's stderr -> its own last line of failure, without `fatal: `; for one-line errors."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    for mark in ("fatal: ", "error: ", "remote: "):
        for line in reversed(lines):
            if line.startswith(mark):
                return line.removeprefix(mark)
    return lines[-1] if lines else "git said nothing"


def without_password(url: str) -> str:
    """A url as it may be shown."""
    return str(remove_password_if_present([url])[0])
