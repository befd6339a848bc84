"""Names -> revisions: a sha, a tag, a branch, anything git itself understands, or `release:VERSION`.

It reads the mirror; upstream is asked only for a full sha that the mirror lacks. Wheels are not its business.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from packaging.version import InvalidVersion, Version

from tracker.errors import GitError, RevisionError
from tracker.model import Milestone, Revision
from tracker.repository.fetch import fetch_commit
from tracker.repository.mirror import Mirror

RELEASE = "release:"
LATEST = "latest"
RELEASE_REFS = "refs/tracker/releases/"

_SHA = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_COMMITTER = re.compile(rb"^committer .*> (\d+) ([+-])(\d\d)(\d\d)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release of the package that is in the mirror as a commit."""

    package: str
    version: str
    commit: str
    committed_at: str
    upstream_commit: str | None
    """The upstream commit the release was built from, as the release itself says."""

    @property
    def revision(self) -> Revision:
        return Revision(name=RELEASE + self.version, commit=self.commit, committed_at=self.committed_at)


def resolve(mirror: Mirror, name: str, *, url: str | None = None, branch: str = "main") -> Revision:
    """A name -> the commit it means. `release:` names must be in the mirror already; `pin` is not known here.

    With `url`, a full sha that is missing from a mirror that has been pulled is asked for upstream.
    RevisionError: unknown (with the nearest names), ambiguous, or no name at all.
    """
    if not name or name.startswith("-") or not name.isprintable():
        raise RevisionError(f"{name!r} is not the name of a revision")
    if name.startswith(RELEASE):
        return _release(mirror, name)
    found = mirror.git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    if not found.status:
        return _revision(mirror, name, found.out.decode().strip())
    if "is ambiguous" in found.err:
        raise RevisionError(f"the short sha {name} is ambiguous in the mirror: write more of its digits")
    if _SHA.fullmatch(name):
        if release := _built_from(mirror, name.lower()):
            return Revision(name=name, commit=release.commit, committed_at=release.committed_at)
        if url and len(name) == 40 and mirror.commit(f"refs/heads/{branch}"):
            try:
                fetch_commit(mirror, url, name.lower())
            except GitError as error:
                raise RevisionError(f"the mirror has no commit {name}, and it {error}") from error
            return _revision(mirror, name, name.lower())
    raise RevisionError(_unknown(mirror, name))


def pinned(mirror: Mirror, pins: Iterable[str]) -> dict[str, Revision]:
    """The commits of pages' pins, or the releases that were built from them, as far as the mirror has either."""
    found = {}
    for pin, commit, content in mirror.commits(pins):
        if commit is not None:
            found[pin] = Revision(name=pin, commit=commit, committed_at=_committed_at(content))
            continue
        with suppress(RevisionError):  # of several releases
            if (release := _built_from(mirror, pin.lower())) is not None:
                found[pin] = Revision(name=pin, commit=release.commit, committed_at=release.committed_at)
    return found


def default_target(mirror: Mirror, branch: str) -> Revision:
    """The branch's head where it has been pulled, else the newest release. RevisionError: neither."""
    if head := mirror.commit(f"refs/heads/{branch}"):
        return _revision(mirror, branch, head)
    if known := releases(mirror):
        return known[-1].revision
    raise RevisionError("the mirror is empty: run `tracker pull`, or name a release such as `release:latest`")


def releases(mirror: Mirror) -> list[Release]:
    """The releases in the mirror, newest version last."""
    listing = mirror.git(
        "for-each-ref",
        "--format=%(refname)%00%(objectname)%00%(committerdate:iso-strict)"
        "%00%(contents:trailers:key=Upstream-Commit,valueonly)%00%(contents:subject)%01",
        RELEASE_REFS,
    )
    found = []
    for line in listing.out.decode().split("\x01"):
        if line.strip():
            ref, commit, date, upstream, subject = line.strip().split("\0")
            release = Release(
                package=subject.partition(" ")[0],
                version=ref.removeprefix(RELEASE_REFS),
                commit=commit,
                committed_at=datetime.fromisoformat(date).isoformat(),
                upstream_commit=upstream.strip() or None,
            )
            found.append(release)
    return sorted(found, key=lambda release: Version(release.version))


def release_in(mirror: Mirror, version: str) -> Release | None:
    """The release of this version, if the mirror has it; `latest` is the newest of the mirror."""
    known = releases(mirror)
    if version == LATEST:
        return known[-1] if known else None
    try:
        wanted = Version(version)
    except InvalidVersion:
        raise RevisionError(f"{RELEASE}{version}: {version!r} is not a version") from None
    return next((release for release in known if Version(release.version) == wanted), None)


def upstream_commit(mirror: Mirror, revision: Revision) -> str:
    """Upstream's own commit of a revision: of a release the one it was built from, where it says so."""
    built = {release.commit: release.upstream_commit for release in releases(mirror)}
    return built.get(revision.commit) or revision.commit


def releases_with(mirror: Mirror, package: str, commit: str) -> set[Version]:
    """The releases that hold a commit, release candidates and the like left out.

    They are the releases of the mirror from the commit on, where it is one of them; else upstream's tags
    `PACKAGE-vVERSION` and `vVERSION`.
    """
    known = releases(mirror)
    if commit in (order := [release.commit for release in known]):
        return {Version(release.version) for release in known[order.index(commit) :]}
    listing = mirror.git("tag", f"--contains={commit}", "--list", f"{package}-v*", "v*")
    return {version for tag in listing.out.decode("utf-8", "replace").split() if (version := _tagged(tag, package))}


def tagged(mirror: Mirror, package: str) -> list[tuple[Version, Revision]]:
    """The final releases that upstream's tags `PACKAGE-vVERSION` and `vVERSION` name, by the tag."""
    listing = mirror.git(
        "for-each-ref",
        "--format=%(refname:lstrip=2)%00%(if)%(*objectname)%(then)%(*objectname)%00%(*committerdate:iso-strict)"
        "%(else)%(objectname)%00%(committerdate:iso-strict)%(end)",
        f"refs/tags/{package}-v*",
        "refs/tags/v*",
    )
    found = []
    for line in listing.out.decode("utf-8", "replace").splitlines():
        tag, commit, date = line.split("\0")
        # A tag of something else than a commit has no date.
        if date and (version := _tagged(tag, package)):
            made = Revision(name=tag, commit=commit, committed_at=datetime.fromisoformat(date).isoformat())
            found.append((version, made))
    return found


def milestones(mirror: Mirror, package: str) -> list[Milestone]:
    """Every release that the mirror knows of, as a commit of its own or by upstream's tag, oldest first."""
    found = [
        Milestone(version=one.version, date=one.committed_at, commit=one.commit, upstream=one.upstream_commit)
        for one in releases(mirror)
    ]
    found += [
        Milestone(version=str(version), date=one.committed_at, commit=one.commit, upstream=one.commit)
        for version, one in tagged(mirror, package)
    ]
    return sorted(found, key=lambda one: (datetime.fromisoformat(one.date), Version(one.version), one.commit))


def _tagged(tag: str, package: str) -> Version | None:
    """The version that a tag stands for; None for release candidates and the like, and for other tags."""
    try:
        version = Version(tag.removeprefix(f"{package}-").removeprefix("v"))
    except InvalidVersion:
        return None
    return None if version.is_prerelease else version


def _release(mirror: Mirror, name: str) -> Revision:
    release = release_in(mirror, name.removeprefix(RELEASE))
    if release is None:
        raise RevisionError(_unknown(mirror, name))
    return Revision(name=name, commit=release.commit, committed_at=release.committed_at)


def _built_from(mirror: Mirror, sha: str) -> Release | None:
    built = [release for release in releases(mirror) if (release.upstream_commit or "").startswith(sha)]
    if len({release.upstream_commit for release in built}) > 1:
        raise RevisionError(
            f"the short sha {sha} is ambiguous among the releases in the mirror: write more of its digits"
        )
    return built[-1] if built else None


def _revision(mirror: Mirror, name: str, commit: str) -> Revision:
    ((_, _, content),) = mirror.objects([commit])
    return Revision(name=name, commit=commit, committed_at=_committed_at(content))


def _committed_at(commit: bytes) -> str:
    match = _COMMITTER.search(commit)
    if match is None:
        return datetime.fromtimestamp(0, UTC).isoformat()
    offset = timedelta(hours=int(match[3]), minutes=int(match[4])) * (-1 if match[2] == b"-" else 1)
    try:
        return datetime.fromtimestamp(int(match[1]), timezone(offset)).isoformat()
    except (ValueError, OverflowError, OSError):  # git takes any number for a date
        return datetime.fromtimestamp(0, UTC).isoformat()


def _unknown(mirror: Mirror, name: str) -> str:
    from rapidfuzz import process as nearest  # only who mistypes waits for it

    listing = mirror.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads", "refs/tags")
    names = listing.out.decode("utf-8", "replace").splitlines()
    names += [RELEASE + release.version for release in releases(mirror)]
    near = nearest.extract(name, names, limit=None, score_cutoff=60)
    # Versions differ at their end: who mistypes one has its beginning right.
    near.sort(key=lambda found: -len(os.path.commonprefix([name, found[0]])))  # noqa: RUF071 -- characters are meant
    close = [found for found, _, _ in near[:4]]
    hint = f"; near to it are {', '.join(close)}" if close else ""
    advice = "run `tracker pull`, or take a release such as `release:latest`"
    return f"the mirror has no revision {name!r}{hint}: {advice}"
