"""`release:VERSION` -> a commit of the mirror: pip downloads the wheel, its sources become one commit.

The commit depends on the wheel alone, so its sha is the same on every machine. All or nothing: a release
whose import was ended half-way is simply not there. pip knows the user's index; no host is named here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from bisect import bisect
from collections.abc import Callable
from pathlib import Path

from packaging.utils import InvalidName, InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from tracker.errors import GitError, ReleaseError
from tracker.repository import process, wheel
from tracker.repository.mirror import Mirror
from tracker.repository.revisions import LATEST, RELEASE_REFS, Release, release_in

PYTHON_VERSION = "3.14"
"""pip takes the wheels for this Python, whichever runs the tracker: jax asks for a newer one than it."""

_PERSON = "tracker <tracker@localhost>"


def import_release(
    mirror: Mirror,
    package: str,
    version: str,
    *,
    timeout_s: float = 300,
    progress: Callable[[str], None] = lambda line: None,
) -> Release:
    """The release of this version (or `latest`, which asks the index), imported unless the mirror has it.

    ReleaseError: no such package or version (with the nearest), no network, a wheel that cannot be trusted.
    """
    try:
        package = canonicalize_name(package, validate=True)
    except InvalidName:
        raise ReleaseError(f"[upstream] package = {package!r} is not the name of a package") from None
    if version != LATEST:
        try:
            version = str(Version(version))
        except InvalidVersion:
            raise ReleaseError(f"release:{version}: {version!r} is not a version") from None
        if known := _known(mirror, package, version):
            return known
    with tempfile.TemporaryDirectory(prefix="tracker-release-") as folder:
        file = _download(package, version, Path(folder), timeout_s, progress)
        version = _version(file, package, version)
        known = _known(mirror, package, version)
        if known is None:
            _commit(mirror, package, version, wheel.check(file, package))
            known = _known(mirror, package, version)
    assert known is not None
    return known


def _known(mirror: Mirror, package: str, version: str) -> Release | None:
    release = release_in(mirror, version)
    if release and release.package != package:
        raise ReleaseError(
            f"{mirror.path} holds releases of {release.package}, not of {package}: set another [state] path"
        )
    return release


def _download(package: str, version: str, folder: Path, timeout_s: float, progress: Callable[[str], None]) -> Path:
    """`pip download` -> the wheel's file."""
    wanted = package if version == LATEST else f"{package}=={version}"
    progress(f"downloading {wanted}")
    wheels = folder / "wheels"
    # -P: else a folder named pip in the current directory would be run instead of pip.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", PYTHON_VERSION, "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar=off", "--retries=2", "--dest", str(wheels), wanted]
    try:
        pip = subprocess.run(
            command,
            env={**os.environ, "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise ReleaseError(f"pip did not download {wanted} within {timeout_s:g} s: check the network") from None
    if pip.returncode:
        raise ReleaseError(_why(pip.stderr, package, version))
    if yanked := re.search(r"yanked version:.*(?:\n.*)*?Reason for being yanked: (.*)", pip.stderr):
        progress(f"{wanted} was withdrawn by its authors: {yanked[1]}")
    files = list(wheels.glob("*.whl"))
    if len(files) != 1:
        raise ReleaseError(f"pip downloaded no wheel for {wanted}")
    return files[0]


def _version(file: Path, package: str, wanted: str) -> str:
    try:
        name, version, _, _ = parse_wheel_filename(file.name)
    except InvalidWheelFilename as error:
        raise ReleaseError(f"pip downloaded {file.name}, which is not named as a wheel") from error
    if name != canonicalize_name(package) or (wanted != LATEST and version != Version(wanted)):
        raise ReleaseError(f"pip downloaded {file.name} where {package} {wanted} was asked for")
    return str(version)


# (what pip says, what is wrong); the first that fits. The texts are those of pip 24 to 26.
_REASONS = (
    (
        r"No module named '?pip",
        f"there is no pip in this Python ({sys.executable}): install it with `python -m ensurepip`",
    ),
    (r"No space left on device|Disk quota exceeded", "the disk is full: free some space, then run again"),
    (
        r"DO NOT MATCH THE HASHES",
        "its hash is not the one the index names: the download cannot be trusted, run again",
    ),
    (
        r"Retrying \(|Failed to establish|NameResolutionError|(Connect|Read)Timeout|ProxyError|SSLError",
        "the package index cannot be reached: check the network and pip's settings (`pip config list`)",
    ),
)


def _why(err: str, package: str, version: str) -> str:
    wanted = package if version == LATEST else f"{package} {version}"
    for pattern, reason in _REASONS:
        if re.search(pattern, err):
            return f"cannot download {wanted}: {reason}"
    if versions := re.search(r"\(from versions: (.*?)\)", err):
        known = [word.strip() for word in versions[1].split(",") if word.strip() != "none"]
        if not known:
            return f"the package index has no wheel of {package} at all: check [upstream] package"
        close = _nearest(version, known)
        return f"there is no release {version} of {package} as a wheel; near to it are {', '.join(close)}"
    lines = [line for line in err.splitlines() if line.strip()]
    said = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines[-1:]
    return f"cannot download {wanted}: {said[0] if said else 'pip said nothing'}"


def _nearest(version: str, known: list[str]) -> list[str]:
    """The neighbours in the order of versions, and the newest."""
    ordered = sorted(known, key=Version)
    at = bisect(ordered, Version(version), key=Version) if version != LATEST else len(ordered)
    return list(dict.fromkeys(ordered[max(0, at - 2) : at + 2] + ordered[-1:]))


def _commit(mirror: Mirror, package: str, version: str, checked: wheel.Wheel) -> None:
    """The sources as one commit without parents. git sets the ref last: the release is there whole or not."""
    trailers = [f"Upstream-Commit: {checked.upstream_commit}"] if checked.upstream_commit else []
    trailers += [f"Wheel: {checked.file.name}", f"Wheel-SHA256: {checked.sha256}"]
    message = f"{package} {version}\n\n" + "\n".join(trailers) + "\n"
    with mirror.writing() as lock:
        importing = process.start(mirror.path, "fast-import", "--quiet", "--date-format=raw", hold=[lock])
        try:
            send = importing.stdin.write
            person = f"{_PERSON} {checked.newest} +0000"
            send(f"feature done\ncommit {RELEASE_REFS}{version}\n".encode())
            send(f"author {person}\ncommitter {person}\n".encode())
            send(_data(message.encode()))
            for path, content in checked.read():
                send(f"M 100644 inline {path}\n".encode() + _data(content))
            send(b"done\n")
            importing.stdin.close()
        except BrokenPipeError:
            pass  # git's own words follow
        except BaseException:
            process.end(importing)
            raise
        result = process.watch(importing, 60, lambda line: None)
        if result.status:
            why = process.last_words(result.err)
            raise GitError(f"cannot write release {version} into {mirror.path}: {why}")


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)
