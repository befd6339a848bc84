"""`tracker schema`: the JSON Schema of the JSON that other programs read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from tracker.commands.options import write

SCHEMAS = {"diff": "tracker.report.json", "lookup": "tracker.lookup.json"}
HISTORY = ("history", "changelog")


@click.command("schema")
@click.argument("name", metavar="[COMMAND]", type=click.Choice([*SCHEMAS, *HISTORY]), default="diff")
def command(name: str) -> int:
    """Print the JSON Schema of what COMMAND prints with `--format json`: diff (the default), lookup,
    history, or changelog (`history --between`).

    \b
    Example:
      tracker schema > tracker.diff-1.schema.json
    """
    import json

    write(json.dumps(_schema(name), indent=2) + "\n")
    return 0


def _schema(name: str) -> Any:
    if name in HISTORY:
        from tracker.report.history_json import schemas

        return schemas()[name]
    return import_module(SCHEMAS[name]).schema()
