"""What the command line loads, and when."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tracker.cli import COMMANDS, main

LOADED = """
import sys
from tracker.cli import main
code = main(sys.argv[1:])
print(*sorted(name for name in sys.modules), file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    """The modules that are loaded once the command line with these arguments has done its work."""
    # Measured, it would load what measures it.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_help_loads_no_command():
    found = loaded("--help")
    assert "tracker.commands.options" in found
    assert not {f"tracker.commands.{name}" for name in COMMANDS} & found
    assert not {"git", "msgspec", "rich", "sqlite3", "tree_sitter", "httpx", "apscheduler", "rapidfuzz"} & found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_loads_no_other(name):
    found = loaded(name, "--help")
    assert {other for other in COMMANDS if f"tracker.commands.{other}" in found} == {name}
    assert not {"tree_sitter", "httpx", "apscheduler", "rapidfuzz", "jinja2"} & found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_each_command_does(name, capsys):
    assert main(["--help"]) == 0
    assert f"  {name} " in capsys.readouterr().out
    assert len(COMMANDS[name]) < 65, "it would be wrapped at 80 columns"
