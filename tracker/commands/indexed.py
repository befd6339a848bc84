"""The index of the history, for the commands that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tracker.commands.options import Settings, workers

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.repository.mirror import Mirror
    from tracker.store.history import History


@contextmanager
def opened(settings: Settings, config: Config, mirror: Mirror) -> Iterator[History]:
    """The index, built where there is none, and brought up to date."""
    from tracker.history.standing import is_current
    from tracker.store.history import FILE, History

    found = History.read(config.state.path / FILE)
    if found is None or not is_current(found, mirror, config.upstream):
        if found is not None:
            found.close()
        _bring_up_to_date(settings, config, mirror, first=found is None)
        found = History.read(config.state.path / FILE)
        assert found is not None
    with found:
        yield found


def _bring_up_to_date(settings: Settings, config: Config, mirror: Mirror, first: bool) -> None:
    from tracker.history.build import refresh
    from tracker.report.words import counted

    if first:
        settings.say("reading the history, once: for eight years of JAX this takes about a minute")
    with workers() as executor, settings.progress("reading the history") as progress:
        outcome = refresh(mirror, config.state.path, config.upstream, executor, progress)
    if outcome.because is not None:
        settings.say(f"the history was read anew: {outcome.because}")
    if outcome.commits:
        settings.say(f"{counted(outcome.commits, 'commit')} read")


@contextmanager
def opened_if_quick(settings: Settings, config: Config, mirror: Mirror) -> Iterator[History | None]:
    """The same where only what is new has to be read; else None."""
    from tracker.history.standing import can_go_on
    from tracker.store.history import FILE, History

    found = History.read(config.state.path / FILE)
    quick = found is not None and can_go_on(found, mirror, config.upstream)
    if found is not None:
        found.close()
    if not quick:
        yield None
        return
    with opened(settings, config, mirror) as history:
        yield history
