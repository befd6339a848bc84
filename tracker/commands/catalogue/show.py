"""`tracker catalogue show`: one page, as it is or as an entry."""

from __future__ import annotations

import click

from tracker.commands.complete import ids
from tracker.commands.options import Settings, write
from tracker.errors import CatalogueError


@click.command("show")
@click.argument("identity", metavar="ID", shell_complete=ids)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(settings: Settings, identity: str, form: str) -> int:
    """Print the page with this ID, or with the only id that begins so.

    \b
    Example:
      tracker catalogue show 6096
    """
    from tracker.catalogue.folder import read
    from tracker.report.catalogue import shown_json

    config = settings.config()
    catalogue = read(config.catalogue.path, config.catalogue.repository)
    wanted = identity.lower()
    found = [page for page in catalogue.pages if wanted and page.entry.id.startswith(wanted)]
    if not found:
        hint = f"; {len(catalogue.faults)} of its pages cannot be used" if catalogue.faults else ""
        raise CatalogueError(
            f"no page of {catalogue.folder} has an id that begins with {identity!r}{hint}: see `tracker catalogue list`"
        )
    if len(found) > 1:
        some = ", ".join(page.entry.id for page in found[:4])
        raise CatalogueError(
            f"{len(found)} pages have an id that begins with {identity!r}: write more of it ({some}"
            + (", ...)" if len(found) > 4 else ")")
        )
    (page,) = found
    write(page.text.rstrip("\r\n") + "\n" if form == "text" else shown_json(page.entry))
    return 0
