"""What the global options say, and the wiring that several commands share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tracker.config import Config
    from tracker.model import Entry, Revision
    from tracker.report.screen import Screen
    from tracker.repository.fetch import PullResult
    from tracker.repository.mirror import Mirror
    from tracker.snapshots import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The global options."""

    file: Path | None
    overrides: Sequence[str]
    quiet: bool

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


def resolve(settings: Settings, config: Config, mirror: Mirror, name: str, entries: Sequence[Entry]) -> Revision:
    """A name as the user wrote it -> the commit. A release that the mirror lacks is taken from the package index;
    `pin` is the commit that the pages share.
    """
    from tracker.errors import RevisionError
    from tracker.repository import revisions

    if name == "pin":
        pins = sorted({entry.pin for entry in entries})
        if len(pins) != 1:
            listed = f"{len(pins)} pins: {', '.join(pins[:5])}" if pins else "no pin at all"
            raise RevisionError(f"`pin` needs one commit that all pages share, and the catalogue has {listed}")
        try:
            found = revisions.resolve(mirror, pins[0], url=config.upstream.url, branch=config.upstream.branch)
            return replace(found, name=name)
        except RevisionError:
            raise RevisionError(
                f"the mirror does not have the pages' pin {pins[0]}: fetch it with `tracker pull`, "
                "or name a base that it has, such as --base release:VERSION"
            ) from None
    if name.startswith(revisions.RELEASE):
        version = name.removeprefix(revisions.RELEASE)
        known = revisions.release_in(mirror, version) if version != revisions.LATEST else None
        if known is None:
            from tracker.repository.releases import import_release

            with settings.progress(f"taking {config.upstream.package} {version} from the package index") as progress:
                known = import_release(mirror, config.upstream.package, version, progress=progress)
        return known.revision
    return revisions.resolve(mirror, name, url=config.upstream.url, branch=config.upstream.branch)


def target_of(
    settings: Settings, config: Config, mirror: Mirror, name: str | None, entries: Sequence[Entry]
) -> Revision:
    """The revision named, or the newest of the mirror."""
    from tracker.repository.revisions import default_target

    if name is None:
        return default_target(mirror, config.upstream.branch)
    return resolve(settings, config, mirror, name, entries)


def sources_of(config: Config, mirror: Mirror, executor: Executor | None) -> Sources:
    """The files that the configuration has in scope."""
    from tracker.snapshots import Sources

    upstream = config.upstream
    return Sources(mirror, upstream.paths, upstream.exclude, executor, upstream.asserts)


def pins(mirror: Mirror, entries: Sequence[Entry]) -> dict[str, Revision]:
    """The pins of the pages that the mirror has."""
    from tracker.errors import RevisionError
    from tracker.repository import revisions

    found = {}
    for pin in sorted({entry.pin for entry in entries}):
        with suppress(RevisionError):
            found[pin] = revisions.resolve(mirror, pin)
    return found


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

    cores = os.cpu_count() or 1
    if cores == 1:
        yield None
        return
    executor = ProcessPoolExecutor(cores, initializer=_ignore_interrupts)
    try:
        yield executor
    except BaseException:
        # Waiting for them can be interrupted again, and would then never end.
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    # Ctrl-C reaches the whole group; the parent ends the workers, quietly.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def screen() -> Screen:
    """What stdout shows: colours and the real width on a terminal that wants them, else 100 plain columns."""
    from tracker.report.screen import Screen

    if not sys.stdout.isatty():
        return Screen()
    colour = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return Screen(width=max(60, os.get_terminal_size(sys.stdout.fileno()).columns), colour=colour)
