"""Upstream -> mirror: the configured branch and the tags, or one single commit. Nothing else is ever fetched.

Whatever ends a fetch (an error, a time limit, Ctrl-C), the mirror stays as it was and the next fetch works.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from tracker.errors import GitError, MirrorInDoubt
from tracker.repository import process
from tracker.repository.local import folder_of, take_over
from tracker.repository.mirror import Mirror

PINS, FETCHED = "refs/tracker/pins/", "refs/tracker/fetched/"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullResult:
    """What a pull brought."""

    branch: str
    before: str | None
    """Head of the branch before; None at the first pull."""
    after: str
    commits: int
    """How many commits of the branch are new."""
    forced: bool
    """True where upstream rewrote the branch: `before` is no ancestor of `after`."""
    tags: tuple[str, ...]
    """New tags, ordered."""
    lacking: bool = False
    """True where upstream is a local copy without some of its files: it was taken over as it is."""


def pull(
    mirror: Mirror,
    url: str,
    branch: str,
    *,
    timeout_s: float = 3600,
    progress: Callable[[str], None] = lambda line: None,
) -> PullResult:
    """Fetch the branch and all tags of `url`; a rewritten branch and moved tags are followed.

    A head that upstream rewrote is kept under refs/tracker/replaced, for the pages pinned to it.
    GitError: one line with git's own reason and what to do.
    """
    head = f"refs/heads/{branch}"
    before, old_tags = mirror.commit(head), _tags(mirror)
    if before is None:
        if mirror.git("check-ref-format", head).status:
            raise GitError(f"[upstream] branch = {branch!r} cannot be the name of a branch")
        _refuse_dangling(mirror, head)  # fetched again, the branch would be whole, and much else still lost
    lacking = False
    try:
        changed = _fetch(mirror, url, [f"+{head}:{head}", "+refs/tags/*:refs/tags/*"], branch, timeout_s, progress)
    except DamagedError:
        folder = folder_of(url)
        if before is not None or folder is None:
            raise
        with mirror.writing():
            take_over(mirror, folder, branch)
        changed = lacking = True
    if before is not None and not changed and (mirror.path / "HEAD").read_bytes() == f"ref: {head}\n".encode():
        return PullResult(branch=branch, before=before, after=before, commits=0, forced=False, tags=())
    after = mirror.commit(head)
    if after is None:
        _refuse_dangling(mirror, head)
        raise GitError(f"the branch {branch} of {process.without_password(url)} is no commit")
    forced = before is not None and mirror.git("merge-base", "--is-ancestor", before, after).status != 0
    if forced:
        mirror.git("update-ref", f"refs/tracker/replaced/{before}", str(before))
    mirror.git("symbolic-ref", "HEAD", head)
    new = mirror.git("rev-list", "--count", after, *([f"^{before}"] if before else []))
    return PullResult(
        branch=branch,
        before=before,
        after=after,
        commits=int(new.out),
        forced=forced,
        tags=tuple(sorted(_tags(mirror) - old_tags)),
        lacking=lacking,
    )


def _refuse_dangling(mirror: Mirror, head: str) -> None:
    """MirrorInDoubt: the branch is there, and its commit is not."""
    if not mirror.git("rev-parse", "--verify", "--quiet", head).status:
        raise MirrorInDoubt(f"{head} in {mirror.path} leads to no commit: `tracker pull` fills a damaged mirror anew")


class DamagedError(GitError):
    """Upstream lacks objects that it promises."""


def fetch_commit(mirror: Mirror, url: str, commit: str, *, timeout_s: float = 120) -> None:
    """Fetch one commit that no branch or tag reaches, into `FETCHED`. GitError: not to be had."""
    _fetch(mirror, url, [f"+{commit}:{FETCHED}{commit}"], commit, timeout_s, lambda line: None)


def keep(mirror: Mirror, commits: Iterable[str]) -> None:
    """Hold on to commits under `PINS`, whatever upstream does to its history."""
    kept = mirror.git("for-each-ref", "--format=%(refname)", PINS).out.decode("utf-8", "replace").split()
    for commit in sorted(set(commits) - {ref.removeprefix(PINS) for ref in kept}):
        mirror.git("update-ref", f"{PINS}{commit}", commit)


def _fetch(
    mirror: Mirror,
    url: str,
    refspecs: Sequence[str],
    wanted: str,
    timeout_s: float,
    progress: Callable[[str], None],
) -> bool:
    """Whether git says that anything changed: it names each ref that did."""
    options = ["--progress", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
    with mirror.writing() as lock:
        result = _git_fetch(mirror, lock, [*options, "--end-of-options", url, *refspecs], timeout_s, progress)
        if result.status and "git remote prune" in result.err:
            # A tag `a` that upstream replaced by `a/b` is in the way: only then what upstream dropped is dropped.
            options.append("--prune")
            result = _git_fetch(mirror, lock, [*options, "--end-of-options", url, *refspecs], timeout_s, progress)
        if result.status:
            raise _failure(mirror, url, wanted, result.err)
    if "because shallow roots are not allowed" in result.err:  # a warning of git, which then takes nothing over
        raise GitError(
            f"{process.without_password(url)} is a shallow clone, its history cut off: complete it there "
            "with `git fetch --unshallow`, or set [upstream] url to what it was cloned from"
        )
    return bool(result.err)


def _git_fetch(
    mirror: Mirror, lock: int, arguments: Sequence[str], timeout_s: float, progress: Callable[[str], None]
) -> process.Result:
    fetching = process.start(mirror.path, "fetch", *arguments, hold=[lock])
    fetching.stdin.close()
    return process.watch(fetching, timeout_s, progress)


_DAMAGED = "corruption on the remote"
_BROKEN = "early EOF|bad object|index-pack|unpack|corrupt|hung up|did not send|RPC failed|missing|inflate"

# (what git says, what to do); the first that fits. Texts of git 2.29 to 2.51, of libcurl and of ssh.
_ADVICE = (
    ("No space left on device|Disk quota exceeded", "the disk is full: free some space, then pull again"),
    (
        "could not read Username|Authentication failed|returned error: 40[134]|repository .*not found"
        "|Permission denied \\(|Host key verification",
        "check [upstream] url; a private repository needs credentials that git finds without asking",
    ),
    (
        "Could not resolve|Failed to connect|Couldn't connect|Connection (refused|timed out|reset)"
        "|Network is unreachable|Operation (too slow|timed out)|unable to access|proxy",
        "there is no way to upstream: check the network and [upstream] url",
    ),
    (
        "does not appear to be a git repository|not a git repository|repository .*does not exist",
        "there is no git repository: check [upstream] url",
    ),
    ("not our ref|no such remote ref", "upstream does not have it"),
    (_DAMAGED, "upstream is damaged: take another [upstream] url"),
    (
        "cannot lock ref|unable to create|Permission denied",
        "the mirror cannot be written: look there",
    ),
    (
        _BROKEN,
        "upstream's answer was broken or cut off: pull again; if it stays so, upstream is damaged",
    ),
    ("", "pull again, or look at [upstream] in config.toml"),
)


def _failure(mirror: Mirror, url: str, wanted: str, err: str) -> GitError:
    shown = process.without_password(url)
    if "couldn't find remote ref" in err:
        return _no_branch(mirror, url, wanted)
    pattern, advice = next(row for row in _ADVICE if re.search(row[0], err, re.IGNORECASE))
    # The last line is often only that the other end hung up; the line that gave the advice says why.
    reasons = [line for line in err.splitlines() if re.search(pattern, line, re.IGNORECASE)]
    words = process.last_words("\n".join(reasons)).replace(url, shown).rstrip(".")
    with suppress(ValueError):
        if (password := urlsplit(url).password) is not None:  # git may quote a part of the url
            words = words.replace(password, "*****")
    kind = DamagedError if pattern == _DAMAGED else MirrorInDoubt if pattern in (_BROKEN, "") else GitError
    return kind(f"cannot fetch from {shown}: {words}; {advice}")


def _no_branch(mirror: Mirror, url: str, branch: str) -> GitError:
    from rapidfuzz import process as nearest  # only who mistypes waits for it

    shown = process.without_password(url)
    asking = process.start(mirror.path, "ls-remote", "--heads", "--end-of-options", url)
    try:
        heads = asking.stdout.read().decode("utf-8", "replace")
    finally:
        process.end(asking)
    names = [line.partition("\trefs/heads/")[2] for line in heads.splitlines()]
    if not names:
        return GitError(f"{shown} has no branch at all: it is empty; check [upstream] url")
    close = ", ".join(name for name, _, _ in nearest.extract(branch, names, limit=5))
    return GitError(f"{shown} has no branch {branch!r}; it has {close}: set [upstream] branch")


def _tags(mirror: Mirror) -> set[str]:
    listing = mirror.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags")
    return set(listing.out.decode("utf-8", "surrogateescape").splitlines())
