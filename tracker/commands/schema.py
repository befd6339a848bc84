"""`tracker schema`: the JSON Schema of the JSON that other programs read."""

from __future__ import annotations

import click

from tracker.commands.options import write


@click.command("schema", short_help="The JSON Schema of `diff --format json`.")
def command() -> int:
    """Print the JSON Schema of what `tracker diff --format json` prints.

    \b
    Example:
      tracker schema > tracker.diff-1.schema.json
    """
    import json

    from tracker.report.json import schema

    write(json.dumps(schema(), indent=2) + "\n")
    return 0
