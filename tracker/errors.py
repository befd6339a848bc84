"""The project's own failures: each is one line that says what is wrong, where, and what to do next."""


class TrackerError(Exception):
    """A failure that the user can act on; the command line prints it as one line and exits with `exit_code`."""

    exit_code = 2


class ConfigError(TrackerError):
    """config.toml, its overrides or the environment cannot be used."""


class CatalogueError(TrackerError):
    """The catalogue cannot be used as a whole; a single faulty page is a `model.PageFault`, not an error."""


class RevisionError(TrackerError):
    """A revision that cannot be resolved in the mirror."""


class ReleaseError(TrackerError):
    """A release that cannot be had, or whose wheel cannot be trusted."""


class GitError(TrackerError):
    """git itself failed: no network, a broken mirror, a time-out."""

    exit_code = 3
