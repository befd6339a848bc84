"""`tracker schema`: the JSON Schema of the JSON that other programs read."""

from __future__ import annotations

import click

from tracker.commands.options import write


@click.command("schema", short_help="The JSON Schema of what `--format json` prints.")
@click.argument("what", type=click.Choice(["diff", "history", "changelog"]), default="diff", required=False)
def command(what: str) -> int:
    """Print the JSON Schema of what `tracker diff --format json` prints; `history` and `changelog`: of what `tracker
    history` and `tracker history --between` print.

    \b
    Example:
      tracker schema > tracker.diff-1.schema.json
    """
    import json

    from tracker.report import history_json
    from tracker.report.json import schema

    write(json.dumps(schema() if what == "diff" else history_json.schemas()[what], indent=2) + "\n")
    return 0
