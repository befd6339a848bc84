"""What the global options say, and the wiring that several commands share."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tracker.config import Config
    from tracker.report.screen import Screen
    from tracker.repository.fetch import PullResult
    from tracker.repository.mirror import Mirror


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The global options."""

    file: Path | None
    overrides: Sequence[str]
    quiet: bool
    verbose: bool = False
    log_format: str = "text"

    def arguments(self) -> list[str]:
        """The same options again, for a process of its own."""
        file = ["--config", str(self.file)] if self.file is not None else []
        overrides = [word for override in self.overrides for word in ("--set", override)]
        flags = [flag for flag, given in (("--quiet", self.quiet), ("--verbose", self.verbose)) if given]
        return [*file, *overrides, *flags, "--log-format", self.log_format]

    def config(self) -> Config:
        from tracker.config import load

        named = self.file or (Path(value) if (value := os.environ.get("TRACKER_CONFIG")) else None)
        return load(named, self.overrides)

    def say(self, line: str) -> None:
        """A line for the person, on stderr."""
        if not self.quiet:
            print(line, file=sys.stderr)

    @contextmanager
    def progress(self, title: str) -> Iterator[Progress]:
        """A single line on a terminal that shows what is going on; elsewhere nothing but the title."""
        shown = Progress(title, live=sys.stderr.isatty() and not self.quiet)
        if not shown.live:
            self.say(title)
        try:
            yield shown
        finally:
            shown.clear()


class Progress:
    """The last words of a long step."""

    def __init__(self, title: str, live: bool) -> None:
        self.title = title
        self.live = live

    def __call__(self, words: str) -> None:
        if self.live:
            print(f"\r\x1b[K{self.title}: {words}"[:200], end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class ReaderGone(Exception):
    """Whoever read stdout closed it, as `head` does."""


def write(text: str) -> None:
    """Data, on stdout. ReaderGone: nobody reads it any more."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def open_mirror(config: Config) -> Mirror:
    from tracker.repository.mirror import Mirror

    return Mirror.open(config.state.mirror)


def fetch(settings: Settings, config: Config, mirror: Mirror) -> PullResult:
    """Fetch upstream's branch and tags into the mirror. GitError: it cannot be had."""
    from tracker.repository.fetch import pull

    with settings.progress(f"pulling {config.upstream.branch} of {config.upstream.url}") as progress:
        return pull(mirror, config.upstream.url, config.upstream.branch, progress=progress)


@contextmanager
def workers() -> Iterator[Executor | None]:
    """Processes for the harvest; None on a machine with one core."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Those of the machine may be more than this process may use.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores == 1:
        yield None
        return
    executor = ProcessPoolExecutor(cores, initializer=_start_worker)
    try:
        yield executor
    except BaseException:
        # Waiting for them can be interrupted again, and would then never end.
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _start_worker() -> None:
    # A harvest leaves no circles behind, and looking for some takes a tenth of its time.
    gc.disable()
    # Ctrl-C reaches the whole group; the parent ends the workers, quietly.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers, and they would wait for work for ever."""
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def screen() -> Screen:
    """What stdout shows: colours and the real width on a terminal that wants them, else 100 plain columns."""
    from tracker.report.screen import Screen

    if not sys.stdout.isatty():
        return Screen()
    colour = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return Screen(width=max(60, os.get_terminal_size(sys.stdout.fileno()).columns), colour=colour)
