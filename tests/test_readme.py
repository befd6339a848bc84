"""The README says what the program says."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tracker.cli import COMMANDS, group
from tracker.model import Kind

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def options(command: click.Command) -> list[str]:
    return [name for option in command.params if isinstance(option, click.Option) for name in option.opts]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_explained(name):
    command = group.get_command(click.Context(group), name)
    assert f"`tracker {name}" in README
    for option in options(command):
        if name == "diff":
            assert option in README
    assert "Example:" in (command.help or "")


def test_every_global_option_is_explained():
    for option in options(group):
        if option != "--version":
            assert option in README


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_explained(kind):
    assert f"| `{kind}` | {kind.severity.name.lower()} |" in README
