"""`tracker pull`: upstream into the mirror."""

from __future__ import annotations

import click

from tracker.commands.options import Settings, fetch, open_mirror


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

    config = settings.config()
    with open_mirror(config) as mirror:
        result = fetch(settings, config, mirror)
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
