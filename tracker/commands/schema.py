"""`tracker schema`: the JSON Schema of the JSON that other programs read."""

from __future__ import annotations

from importlib import import_module

import click

from tracker.commands.options import write

SCHEMAS = {"diff": "tracker.report.json", "lookup": "tracker.lookup.json"}


@click.command("schema", short_help="The JSON Schema of what a command prints as JSON.")
@click.argument("name", metavar="[COMMAND]", type=click.Choice(list(SCHEMAS)), default="diff")
def command(name: str) -> int:
    """Print the JSON Schema of what COMMAND prints with `--format json`: diff (the default) or lookup.

    \b
    Example:
      tracker schema > tracker.diff-1.schema.json
    """
    import json

    write(json.dumps(import_module(SCHEMAS[name]).schema(), indent=2) + "\n")
    return 0
