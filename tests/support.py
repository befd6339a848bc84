"""Pages made from source, as a catalogue would hold them."""

from __future__ import annotations

from pathlib import Path

BEFORE, AFTER = 18, 18
CUT = 60


def page(
    source: str,
    line: int,
    *,
    message: str,
    pin: str,
    id: str = "0123456789abcdef",
    path: str = "pkg/a.py",
    exception: str = "ValueError",
    repository: str = "a/b",
    cut: bool = False,
) -> str:
    """The page of the raise at `line` of a source file."""
    lines = source.split("\n")
    excerpt = "\n".join(lines[max(0, line - 1 - BEFORE) : line + AFTER]).strip("\n")
    shown = message[:CUT] if cut else message
    return (
        f"{repository} · error · {exception}\n\n{message[:CUT]}\n\nError message\n\n{shown}\n\n"
        f"What it means\n\nSomething is wrong.\n\nSource\n\nThrown at {path}:{line}\n\n{excerpt}\n\n"
        f"View on GitHub (pinned to {pin[:10]})\n\nSolutions\n\n1. Do it right\n\n"
        "When it happens\n\nTrigger: Doing it wrong.\n\nRelated errors\n\n• another one\n\n"
        f"AI-assisted analysis of {repository}@{pin[:10]} (2026-08-27). "
        f"Data as JSON: /api/errors/{id}. Report an issue: GitHub."
    )


class Workplace:
    """A configuration, its pages and its upstream, in a folder of their own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.pages = folder / "pages"
        self.pages.mkdir(parents=True)
        self.config = folder / "config.toml"
        self.configure(url)

    def configure(self, url: str, **upstream: str) -> None:
        extra = "".join(f"{key} = {value}\n" for key, value in upstream.items())
        self.config.write_text(
            f'[upstream]\nurl = "{url}"\nbranch = "main"\npackage = "demo"\n'
            + ("" if "paths" in upstream else 'paths = ["pkg/**/*.py"]\n')
            + extra
            + '[catalogue]\nrepository = "a/b"\npath = "pages"\n[state]\npath = "state"\n',
            encoding="utf-8",
        )

    def page(self, name: str, text: str) -> Path:
        file = self.pages / name
        file.write_text(text, encoding="utf-8")
        return file
