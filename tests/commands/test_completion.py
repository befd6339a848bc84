"""Completion in the shells themselves: the script that is printed, sourced by a real bash, zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import page
from tracker.cli import COMMANDS
from tracker.model import Kind

ID = "0123456789abcdef"
SOURCE = 'def check(x):\n    if not x:\n        raise ValueError("x is missing")\n'

BASH = """
source /dev/stdin <<< "$(tracker completion bash)"
COMP_WORDS=({words}); COMP_CWORD=$(({count} - 1))
_tracker_completion tracker
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# A real completion takes a terminal; what the script hands to zsh is looked at instead.
ZSH = """
autoload -U compinit; compinit -u -D
compadd() {{ local name=$@[-1]; print -l -- "${{(@P)name}}" }}
_describe() {{ local name=$3; local -a got; got=("${{(@P)name}}"); print -l -- "${{got[@]%%:*}}" }}
eval "$(tracker completion zsh)"
words=({words}); CURRENT={count}
_tracker_completion tracker
"""
FISH = """
tracker completion fish | source
complete --do-complete "{line}" | string split -f1 \\t
"""


@pytest.fixture
def filled(repository, place, run):
    commit = repository.commit({"pkg/a.py": SOURCE})
    repository.git("tag", "demo-v1.0")
    place.page("one.txt", page(SOURCE, 3, message="x is missing", pin=commit))
    run("pull")
    return place


def offered(shell: str, place, *words: str) -> list[str]:
    """What a shell offers for the last of these words."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")
    quoted = " ".join(f"'{word}'" for word in ("tracker", *words))
    count = len(words) + 1
    script = {
        "bash": BASH.format(words=quoted, count=count),
        "zsh": ZSH.format(words=quoted, count=count),
        "fish": FISH.format(line=" ".join(("tracker", *words))),
    }[shell]
    arguments = {"bash": ["--norc", "-c"], "zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}[shell]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PATH": path, "TRACKER_CONFIG": str(place.config), "HOME": str(place.folder)}
    done = subprocess.run([shell, *arguments, script], env=env, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_kinds_revisions_and_ids(shell, filled):
    assert set(COMMANDS) <= set(offered(shell, filled, ""))
    assert offered(shell, filled, "catalogue", "in") == ["init"]
    assert set(offered(shell, filled, "diff", "--kind", "")) == {kind.value for kind in Kind}
    assert offered(shell, filled, "diff", "demo-") == ["demo-v1.0"]
    assert offered(shell, filled, "catalogue", "init", "--at", "ma") == ["main"]
    assert offered(shell, filled, "catalogue", "show", "01") == [ID]
    assert offered(shell, filled, "ack", "01") == [ID]


@pytest.mark.parametrize("broken", ["no config", "bad config", "no mirror", "no pages"])
def test_a_completion_never_fails_and_never_speaks(broken, filled):
    match broken:
        case "no config":
            filled.config.unlink()
        case "bad config":
            filled.config.write_text("[")
        case "no mirror":
            shutil.rmtree(filled.folder / "state")
        case "no pages":
            shutil.rmtree(filled.pages)
    assert offered("bash", filled, "diff", "demo-") == ([] if broken != "no pages" else ["demo-v1.0"])
    assert offered("bash", filled, "catalogue", "show", "01") == ([] if broken != "no mirror" else [ID])
    assert not (filled.folder / "state").exists() or broken != "no mirror"


def test_the_configuration_that_the_line_names_counts(filled):
    elsewhere = filled.folder / "other.toml"
    filled.config.rename(elsewhere)
    assert offered("bash", filled, "-c", str(elsewhere), "catalogue", "show", "01") == [ID]
    assert offered("bash", filled, "catalogue", "show", "01") == []


def test_another_shell_is_wrong_usage(run):
    done = run("completion", "tcsh")
    assert done.code == 2
    assert "'bash', 'zsh', 'fish'" in done.err
