"""A group whose commands are modules with a `command`, each loaded when it is named."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class Commands(click.Group):
    """The commands of `modules`, name -> module, in that order."""

    def __init__(self, *arguments: Any, modules: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._modules:
            return None
        command: click.Command = import_module(self._modules[name]).command
        return command
