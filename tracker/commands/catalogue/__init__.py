"""`tracker catalogue`: the pages themselves, each verb in a file of its own."""

from __future__ import annotations

import click

from tracker.commands.lazy import Commands

COMMANDS = {
    "list": "One line for each page.",
    "show": "One page.",
    "import": "Pages from files or a site into the catalogue.",
    "check": "What is wrong with the pages themselves.",
    "init": "A draft page for each error that has none.",
}


@click.command(
    "catalogue",
    cls=Commands,
    package="tracker.commands.catalogue",
    helps=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
def command() -> None:
    """The pages of the catalogue, which `[catalogue] path` names.

    \b
    Example:
      tracker catalogue list
    """
