"""The words of the project as frozen values. No input, no output, no formatting here.

Lines are 1-based everywhere. A line is never part of an identity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """How much a drift matters to the reader of a page; ordered."""

    INFO = 0
    NOTICE = 1
    WARNING = 2
    ERROR = 3


class Kind(StrEnum):
    """What differs in a pair, in the order in which a person is told."""

    REMOVED = "removed"
    REWORDED = "reworded"
    RETYPED = "retyped"
    GUARD_CHANGED = "guard-changed"
    NEW = "new"
    PLACEHOLDER_CHANGED = "placeholder-changed"
    RELOCATED = "relocated"
    EXCERPT_CHANGED = "excerpt-changed"
    MOVED = "moved"

    @property
    def severity(self) -> Severity:
        return _SEVERITY[self]


_SEVERITY = {
    Kind.REMOVED: Severity.ERROR,
    Kind.REWORDED: Severity.ERROR,
    Kind.RETYPED: Severity.ERROR,
    Kind.GUARD_CHANGED: Severity.WARNING,
    Kind.NEW: Severity.WARNING,
    Kind.PLACEHOLDER_CHANGED: Severity.NOTICE,
    Kind.RELOCATED: Severity.NOTICE,
    Kind.EXCERPT_CHANGED: Severity.INFO,
    Kind.MOVED: Severity.INFO,
}


class Form(StrEnum):
    """How the source writes a message."""

    LITERAL = "literal"
    FSTRING = "fstring"
    FORMAT = "format"
    PERCENT = "percent"
    CONCAT = "concat"
    VARIABLE = "variable"
    CALL = "call"
    ASSERT = "assert"
    """An `assert` with a text; only where the configuration asks for it."""
    NONE = "none"
    RERAISE = "reraise"


def leaf(exception: str | None) -> str | None:
    """The last dotted part of an exception's name: `core.ShapeError` and `ShapeError` are the same."""
    return exception.rpartition(".")[2] if exception else exception


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One `raise` statement at one revision."""

    path: str
    line: int
    """First line of the statement."""
    end_line: int
    scope: str
    """Dotted names of the enclosing classes and functions; empty at module level."""
    exception: str | None
    """As written, import aliases resolved; None for a bare `raise`."""
    message: str | None
    """Literal text with `{placeholder}`s, literal braces doubled; None where the source has no literal text."""
    alternatives: tuple[str, ...] = ()
    """Other texts of the same statement (the other branch of a conditional expression, ...)."""
    form: Form
    guard: tuple[str, ...] = ()
    """The conditions inside the scope under which the site is reached, outermost first."""
    ordinal: int = 1
    """n-th site of the file with the same scope, exception leaf and message."""

    def __hash__(self) -> int:
        # Enough to tell nearly all apart, for a fraction of the time: sites are looked up by the hundred thousand.
        return hash((self.path, self.line, self.ordinal))

    @property
    def messages(self) -> tuple[str, ...]:
        """Every text of the statement; empty where it has none."""
        return (self.message, *self.alternatives) if self.message is not None else ()

    def shifted(self, lines: int, path: str | None = None) -> Site:
        """The same site so many lines further down, in another file where `path` is given."""
        # As `dataclasses.replace` does it, in a third of the time: along a history it is asked for a million times.
        return Site(
            path=self.path if path is None else path,
            line=self.line + lines,
            end_line=self.end_line + lines,
            scope=self.scope,
            exception=self.exception,
            message=self.message,
            alternatives=self.alternatives,
            form=self.form,
            guard=self.guard,
            ordinal=self.ordinal,
        )

    @property
    def fingerprint(self) -> str:
        """Versioned identity without any line: equal fingerprints are the same error."""
        parts = (self.path, self.scope, leaf(self.exception) or "", self.message or "", str(self.ordinal))
        return "1:" + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A named commit of the mirror."""

    name: str
    """As the user wrote it: a sha, a tag, a branch, `release:VERSION`."""
    commit: str
    """40 hex digits."""
    committed_at: str
    """ISO 8601 with offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All sites of one revision."""

    revision: Revision
    sites: tuple[Site, ...]
    """Ordered by (path, line)."""
    files: tuple[str, ...]
    """Every path that was read, with or without sites; ordered."""
    partial: Mapping[str, str] = field(default_factory=dict)
    """Path -> why the file could not be wholly read. What is missing there is never surely removed."""
    reasons: Mapping[Site, str] = field(default_factory=dict)
    """Site without a message -> why it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page of the catalogue as a value: what the page claims, nothing more."""

    id: str
    """16 hex digits: the identity of the entry."""
    file: str
    """The page's file name, for messages to people."""
    repository: str
    exception: str
    title: str
    message: str
    message_cut: bool
    """True where the page shows only the beginning of the message."""
    path: str
    line: int
    excerpt: str
    """The source lines as the page shows them, joined by newlines."""
    excerpt_line: int | None
    """Line number of the excerpt's first line; None where the raise is not in the excerpt."""
    pin: str
    """The commit the page was written against, often abbreviated."""
    date: str
    """ISO date of the analysis."""
    solutions: tuple[str, ...] = ()
    trigger: str = ""
    related: tuple[str, ...] = ()
    """Titles of related errors, possibly cut."""
    meaning: str = ""
    """What the page says the error means, as it stands there."""
    retired: str = ""
    """The commit since which the page says that the error is no longer raised; empty while it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFault:
    """A page that cannot be read, or cannot be used."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The commit that made a drift."""

    commit: str
    author: str
    date: str
    subject: str
    pull_request: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A base site and the target site that continues it, or that nothing does."""

    before: Site
    after: Site | None
    score: float | None = None
    """0..1 for a fuzzy pair; None for an exact one and for a lone site."""
    runner_up: float | None = None
    """Score of the second-best partner of a fuzzy pair; of a lone site, of the partner that was not good enough."""
    possible: Site | None = None
    """Of a lone base site, the target site that it may continue in, where that is not sure enough to be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Lines of one source file."""

    line: int
    """Number of the first of them."""
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """A release of upstream: a point in time, and a commit."""

    version: str
    date: str
    """ISO 8601."""
    commit: str
    """As the mirror has it."""
    upstream: str | None
    """The commit of upstream it was made from; None where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What differs in a pair, or a site that has no partner."""

    entry: str | None
    kinds: frozenset[Kind]
    before: Site | None
    after: Site | None
    certain: bool = True
    score: float | None = None
    runner_up: float | None = None
    cause: Cause | None = None
    possible: Site | None = None
    """Of a removed site, the new one that it may go on as."""
    origin: str = ""
    """The commit at which `before` stands so, abbreviated where only a page names it; empty without a before."""
    excerpts: tuple[Excerpt | None, Excerpt | None] = (None, None)
    """The source around `before` and `after`, for the formats that show it."""

    @property
    def leading(self) -> Kind:
        """The kind that a person is told first."""
        return next(kind for kind in Kind if kind in self.kinds)

    @property
    def severity(self) -> Severity:
        return max(kind.severity for kind in self.kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlocated:
    """An entry whose own facts cannot be found even where it was pinned."""

    entry: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a revision was read."""

    files: int
    sites: int
    with_message: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The outcome in numbers."""

    checked: int
    """Entries, or base sites, whose outcome is known."""
    unchanged: int
    differing: int
    """Those that differ in more than a line or an excerpt."""
    kinds: Mapping[Kind, int]
    """Drifts of each kind; new ones are not among the checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of the checked entries or sites between a base and a target."""

    repository: str
    base: Revision | None
    """None where the pages themselves are the base."""
    target: Revision
    files: tuple[tuple[str, ...], tuple[str, ...]]
    """Paths read at the base and at the target."""
    coverage: tuple[Coverage | None, Coverage]
    partial: Mapping[str, str]
    """Path -> why the file could not be wholly read, of both revisions."""
    tracked: str
    """What was checked: `pages`, or `all` sites of the base."""
    summary: Summary
    """Of the whole check, whichever of its drifts are shown."""
    drifts: tuple[Drift, ...]
    """Ordered by (path, line) of before, then after."""
    unlocated: tuple[Unlocated, ...] = ()
    pages: Mapping[str, str] = field(default_factory=dict)
    """Entry -> the file name of its page."""
    notices: tuple[str, ...] = ()
    """One-line remarks for the reader: what was not computed, and how to get it."""
    web: str = ""
    """Upstream's address for people, without a slash at the end; empty where nothing can be linked."""
    milestones: tuple[Milestone, ...] = ()
    """The releases that the mirror knows of, oldest first."""
