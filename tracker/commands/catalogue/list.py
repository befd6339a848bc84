"""`tracker catalogue list`: one line for each page."""

from __future__ import annotations

import sys

import click

from tracker.commands.options import Settings, write

FORMATS = ("text", "json")


@click.command("list")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.pass_obj
def command(settings: Settings, form: str) -> int:
    """List the pages: id, exception, message (cut), place, pin and file.

    A page that cannot be read is named on stderr. Exit code: 0 all were read, 6 one was not.

    \b
    Example:
      tracker catalogue list --format json
    """
    from tracker.catalogue.folder import read
    from tracker.report.catalogue import listed, listed_json

    config = settings.config()
    catalogue = read(config.catalogue.path, config.catalogue.repository)
    for fault in catalogue.faults:
        print(f"tracker: {fault.file}:{fault.line}: {fault.reason}", file=sys.stderr)
    entries = [page.entry for page in catalogue.pages]
    write(listed(entries) if form == "text" else listed_json(entries, catalogue.faults))
    return 6 if catalogue.faults else 0
