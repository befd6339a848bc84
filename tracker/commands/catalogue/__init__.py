"""`tracker catalogue`: the pages themselves, each verb in a file of its own."""

from __future__ import annotations

import click

from tracker.commands.lazy import Commands

COMMANDS = {
    "list": "tracker.commands.catalogue.list",
    "show": "tracker.commands.catalogue.show",
    "import": "tracker.commands.catalogue.import_",
    "check": "tracker.commands.catalogue.check",
    "init": "tracker.commands.catalogue.init",
}


@click.command(
    "catalogue",
    cls=Commands,
    modules=COMMANDS,
    short_help="The pages: list, show, import, check them, draft new ones.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def command() -> None:
    """The pages of the catalogue, which `[catalogue] path` names.

    \b
    Example:
      tracker catalogue list
    """
