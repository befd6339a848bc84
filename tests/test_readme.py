"""The README says what the program says: commands, options and examples, in both directions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tracker.cli import COMMANDS, group
from tracker.commands.lazy import Commands
from tracker.model import Kind

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
USUAL = {"--help", "--version"}


def commands(parent: click.Command = group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by the words that name it, `catalogue` and `catalogue list` both."""
    if isinstance(parent, Commands):
        context = click.Context(parent)
        for word in parent.list_commands(context):
            command = parent.get_command(context, word)
            assert command is not None
            yield f"{name} {word}".strip(), command
            yield from commands(command, f"{name} {word}".strip())


ALL = dict(commands())


def options(command: click.Command) -> set[str]:
    """The long names of its options, `--no-x` of a switch, too."""
    found = [option for option in command.params if isinstance(option, click.Option)]
    return {n for option in found for n in (*option.opts, *option.secondary_opts) if n.startswith("--")} - USUAL


def lacking(where: str, missing: set[str], what: str) -> None:
    """Fails with one line that says what somebody has to do."""
    if missing:
        pytest.fail(f"README.md, {where}: {what} {', '.join(sorted(missing))}", pytrace=False)


def command_table() -> str:
    """The rows under `## Commands`, up to the first line that is none."""
    section = README.partition("\n## Commands\n")[2]
    return section[: section.index("\n\n", section.index("\n|"))]


def tables() -> dict[str, list[str]]:
    """Command -> the first cells of its table of options: below `### `tracker NAME`` or `` `tracker NAME`: ``."""
    found: dict[str, list[str]] = {}
    owner = ""
    for line in README.split("\n"):
        if match := re.match(r"(?:###+ )?`tracker ((?:\w+ ?)+)[^`]*`:?$", line):
            owner = match[1].strip()
        elif line.startswith("## "):
            owner = ""
        elif owner and (match := re.match(r"\| (`-.*?`(?:, `-.*?`)*) \|", line)):
            found.setdefault(owner, []).append(match[1])
    return found


def named(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))


def test_the_table_of_commands_has_every_command_and_no_other():
    heads = set(re.findall(r"^\| `tracker ([a-z]+)", command_table(), re.MULTILINE))
    lacking("the table of commands", set(COMMANDS) - heads, "add a row for")
    lacking("the table of commands", heads - set(COMMANDS), "take out, there is no such command:")


@pytest.mark.parametrize("name", ALL)
def test_every_command_is_spoken_of(name):
    lacking("anywhere", {f"`tracker {name}`"} if f"tracker {name}" not in README else set(), "write about")


@pytest.mark.parametrize("name", ALL)
def test_every_option_is_explained(name):
    """In the table of the command where it has one; else anywhere."""
    rows = tables().get(name)
    text = "\n".join(rows) if rows else README
    known = options(ALL[name])
    # A switch and its opposite are one option, and one of them is enough.
    pairs = [o for o in ALL[name].params if isinstance(o, click.Option) and o.secondary_opts]
    spoken = named(text)
    for option in pairs:
        if spoken & {*option.opts, *option.secondary_opts}:
            known -= {*option.opts, *option.secondary_opts}
    lacking(f"`tracker {name}`", known - spoken, "explain")


@pytest.mark.parametrize("name", sorted(tables()))
def test_every_option_that_is_explained_is_there(name):
    assert name in ALL, f"README.md has a table of options of `tracker {name}`, which is no command"
    lacking(f"`tracker {name}`", named("\n".join(tables()[name])) - options(ALL[name]), "take out, it has no option")


def test_no_option_is_made_up():
    """Whatever the README calls an option of the program is one of some command."""
    known = options(group) | USUAL | {name for command in ALL.values() for name in options(command)}
    own = [piece for piece in re.findall(r"`[^`\n]*`|^.*tracker .*$", README, re.MULTILINE) if "pip " not in piece]
    lacking("anywhere", named("\n".join(own)) - known, "take out, no command has")


def test_every_global_option_is_explained():
    lacking("global options", options(group) - named(README), "explain")


def examples(name: str) -> list[str]:
    """The lines below `Example:` in what `--help` prints."""
    text = ALL[name].get_help(click.Context(ALL[name], info_name=name))
    block = text.partition("Example:\n")[2].partition("\n\n")[0]
    return [line.strip() for line in block.split("\n") if line.strip()]


@pytest.mark.parametrize("name", ALL)
def test_help_has_an_example_that_the_program_takes(name):
    """Each of them is read by the command's own parser; nothing is run."""
    lines = examples(name)
    assert lines, f"`tracker {name} --help` has no example"
    for line in lines:
        inside = re.search(r"\$\((.*?)\)", line)
        words = shlex.split(inside[1] if inside else line, comments=True)
        words = words[words.index("tracker") + 1 :]
        words = words[: next((n for n, word in enumerate(words) if word in ("|", ">")), len(words))]
        context = group.make_context("tracker", list(words))
        words = words[words.index(name.split()[0]) :] if name.split()[0] in words else []
        count = len(name.split())
        assert " ".join(words[:count]) == name, f"`tracker {name} --help` shows another command: {line}"
        ALL[name].make_context(name, words[count:], parent=context)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_explained(kind):
    assert f"| `{kind}` | {kind.severity.name.lower()} |" in README
