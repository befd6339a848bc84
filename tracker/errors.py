"""The project's own failures: each is one line that says what is wrong, where, and what to do next."""

import errno


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


class MirrorInDoubt(GitError):
    """git failed in a way that a damaged mirror can be the reason of."""


class StoreError(TrackerError):
    """The database cannot be used, or not written; nothing of it was changed."""


class NeedsHumanError(TrackerError):
    """Nothing goes on without a person's decision; the line says which."""

    exit_code = 6


class GitHubError(TrackerError):
    """GitHub cannot be asked, or said no."""

    exit_code = 4


class RunError(TrackerError):
    """A run whose check cannot be trusted: it files nothing and closes nothing."""


class LockedError(TrackerError):
    """Another run holds the lock."""

    exit_code = 75


class AuthError(GitHubError):
    """The token is not accepted, or may not do this."""


class NotSent(GitHubError):
    """Nothing reached GitHub: no way there, or no answer to a question that changes nothing."""

    exit_code = 5


class RateLimited(GitHubError):
    """GitHub wants no request before a time, which is stored: every process keeps to it."""

    exit_code = 5


class OutcomeUnknown(GitHubError):
    """A write was sent and its answer never came, or cannot be read: it may have happened."""

    exit_code = 5


class IncompleteList(GitHubError):
    """Not every issue could be listed, so nothing may be written."""

    exit_code = 5


class Rejected(GitHubError):
    """GitHub refuses what was sent: a fault of the tracker, to be looked at."""

    exit_code = 6


class SiteError(TrackerError):
    """A site with pages that may not be asked, or that says no."""


class SiteDeferred(SiteError):
    """A site that cannot be had for now."""

    exit_code = 5


def of_system(error: OSError) -> str:
    """What the system refused, and where, on one line."""
    where = f": {error.filename}" if error.filename else ""
    hint = " (free some space and run it again)" if error.errno == errno.ENOSPC else ""
    return f"{error.strerror or error}{where}{hint}"
