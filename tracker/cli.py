"""The command group: global options, wiring, and the one place where failures become a line and an exit code."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import click

from tracker.commands.lazy import Commands
from tracker.commands.options import ReaderGone, Settings
from tracker.errors import TrackerError, of_system

COMMANDS = {
    "diff": "What became of every error: the report.",
    "sites": "Every raise statement of a revision.",
    "lookup": "An error text or traceback: the page, and where it is raised.",
    "pull": "Fetch upstream into the mirror.",
    "repin": "Bring pages up to date with the source.",
    "run": "One unattended check: pull, check, record, file.",
    "daemon": "The same on a schedule.",
    "status": "Last run, next run, what is open.",
    "file": "The outbox: what would be filed on GitHub.",
    "ack": "Accept a drift, with a reason.",
    "history": "The life of an error; what changed between two releases.",
    "catalogue": "The pages: list, show, import, check, draft new ones.",
    "schema": "The JSON Schema of what a command prints as JSON.",
    "completion": "The completion script of a shell.",
}
"""Name -> what it does. Each is the module of that name in `tracker.commands`, and loaded only when it is called."""

INTERRUPTED = 130
"""What a shell reports of a program that SIGINT ended: 128 + 2."""
READER_GONE = 141
"""What a shell reports of a program that SIGPIPE ended: 128 + 13. Neither 0 nor 1: the report was not delivered."""


@click.command(
    cls=Commands,
    package="tracker.commands",
    helps=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "-c", "--config", "file", type=click.Path(path_type=Path), help="Configuration file.  [default: config.toml]"
)
@click.option("--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Override a key of the file.")
@click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
@click.option(
    "--log-format",
    "log_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the log on stderr is written; as JSON it says more.",
)
@click.version_option(package_name="tracker", message="%(prog)s %(version)s")
@click.pass_context
def group(
    ctx: click.Context,
    file: Path | None,
    overrides: tuple[str, ...],
    verbose: bool,
    quiet: bool,
    log_format: str,
) -> None:
    """Keep an error catalogue true: what became of every error since its page was written.

    A page names the exception, the message and the line of one `raise` of the upstream source. `tracker diff`
    says which pages only moved, which say something that is no longer so, and which errors are new.
    """
    _log(verbose, log_format)
    ctx.obj = Settings(file=file, overrides=overrides, quiet=quiet, verbose=verbose, log_format=log_format)


def _log(verbose: bool, form: str) -> None:
    if form == "json":
        from pythonjsonlogger.json import JsonFormatter

        handler = logging.StreamHandler()
        handler.setFormatter(JsonFormatter("{asctime}{levelname}{name}{message}", style="{"))
        logging.basicConfig(level=logging.DEBUG if verbose else logging.INFO, handlers=[handler])
    else:
        logging.basicConfig(
            level=logging.DEBUG if verbose else logging.WARNING, format="%(asctime)s %(name)s: %(message)s"
        )
        # What the program has to say to a person it prints itself.
        logging.getLogger("tracker").setLevel(logging.NOTSET if verbose else logging.CRITICAL)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code. Every failure is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        # Odd file names and odd escapes in messages must not end a report half way.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        result: Any = group.main(args=arguments, prog_name="tracker", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return _said("interrupted; nothing was lost, run it again", INTERRUPTED)
    except KeyboardInterrupt:
        return _said("interrupted; nothing was lost, run it again", INTERRUPTED)
    except TrackerError as error:
        return _said(str(error), error.exit_code)
    except ReaderGone:
        _drop_output()
        return READER_GONE
    except OSError as error:
        _drop_output()
        return _said(of_system(error), TrackerError.exit_code)


def _drop_output() -> None:
    """What cannot be written is not tried again at exit, where Python would complain of it."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _said(line: str, code: int) -> int:
    print(f"tracker: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
