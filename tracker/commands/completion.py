"""`tracker completion`: the script that makes a shell complete commands, options and their values."""

from __future__ import annotations

import click

from tracker.commands.options import write

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that makes SHELL complete commands, options, kinds, revisions and the ids of pages.

    \b
    Example:
      eval "$(tracker completion bash)"                                  # in ~/.bashrc
      eval "$(tracker completion zsh)"                                   # in ~/.zshrc, after compinit
      tracker completion fish > ~/.config/fish/completions/tracker.fish
    """
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    root = ctx.find_root()
    write(completion(root.command, {}, "tracker", "_TRACKER_COMPLETE").source() + "\n")
    return 0
