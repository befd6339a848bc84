"""`tracker completion`: what makes a shell complete the commands and options."""

from __future__ import annotations

import click

from tracker.commands.options import write


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that makes SHELL complete commands, options and their values; source it where the shell starts.

    \b
    Example:
      tracker completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None
    write(completer(ctx.find_root().command, {}, "tracker", "_TRACKER_COMPLETE").source() + "\n")
    return 0
