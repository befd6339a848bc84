"""`tracker pull`: upstream into the mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tracker.commands.options import Settings, fetch, open_mirror
from tracker.errors import MirrorInDoubt

if TYPE_CHECKING:
    from tracker.config import Config
    from tracker.repository.fetch import PullResult


@click.command("pull")
@click.pass_obj
def command(settings: Settings) -> int:
    """Fetch the configured branch and the tags of upstream into the mirror.

    The first time this takes minutes and, for JAX, some 250 MB; after that seconds. It can be interrupted at any
    time; the next pull simply works.

    \b
    Example:
      tracker pull
    """
    from tracker.report.words import counted
    from tracker.repository import renewal

    config = settings.config()
    renewal.resume(config.state.mirror)
    result = _renewed(settings, config) if renewal.in_doubt(config.state.mirror) else None
    try:
        if result is None:
            with open_mirror(config) as mirror:
                result = fetch(settings, config, mirror)
    except MirrorInDoubt:
        result = _renewed(settings, config)
        if result is None:
            raise
    if result.before is None:
        settings.say(f"{result.branch} is at {result.after[:12]}, {counted(result.commits, 'commit')} in all")
    elif result.before == result.after:
        settings.say(f"{result.branch} is at {result.after[:12]}, as before")
    else:
        rewritten = "; upstream rewrote its history" if result.forced else ""
        settings.say(
            f"{result.branch} went from {result.before[:12]} to {result.after[:12]}, "
            f"{counted(result.commits, 'new commit')}{rewritten}"
        )
    if result.lacking:
        settings.say(
            "upstream lacks some of its own files, and was taken over as it is; what lacks them cannot be read"
        )
    if result.tags:
        settings.say(f"{counted(len(result.tags), 'new tag')}, the last {sorted(result.tags)[-1]}")
    return 0


def _renewed(settings: Settings, config: Config) -> PullResult | None:
    """Fill a damaged mirror anew; None where it is not damaged. LockedError: a run may be doing that."""
    from tracker.repository import renewal
    from tracker.store.lock import run_lock

    mirror, upstream = config.state.mirror, config.upstream
    with run_lock(config.state.path):
        with settings.progress("looking through the whole mirror"):
            found = renewal.damage(mirror, upstream.url)
        if found is None:
            return None
        with settings.progress(f"the mirror is damaged ({found}): filling it anew") as progress:
            renewed = renewal.renew(mirror, upstream.url, upstream.branch, progress=progress)
    settings.say(renewed.words(found))
    return renewed.pulled
