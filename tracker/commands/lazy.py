"""A group whose commands are modules with a `command`, each loaded when it is named, and not to be listed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click


class Commands(click.Group):
    """The commands of `helps`, name -> what it does, in that order.

    Each is the module of that name in `package`; a name that Python keeps for itself has an underscore behind it.
    """

    def __init__(self, *arguments: Any, package: str, helps: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._package, self._helps = package, helps

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._helps)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._helps:
            return None
        command: click.Command = import_module(f"{self._package}.{name}{'_' * iskeyword(name)}").command
        command.short_help = self._helps[name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._helps.items()))
