"""Wheels -> commits: the same everywhere, checked, and all or nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile

import pytest

from tracker.errors import GitError, ReleaseError
from tracker.repository import wheel
from tracker.repository.mirror import Mirror
from tracker.repository.releases import import_release
from tracker.repository.revisions import releases

SOURCES = {
    "demo/__init__.py": b"x = 1\n",
    "demo/a b.py": b"",
    "demo/sub/m.py": "ü = '\r\n'\n".encode(),
    "demo/data.txt": b"not a source",
    "demo/stub.pyi": b"x: int\n",
    "demo/version.py": b"_version = '1'\n_git_hash: str = '2d66622450e2c8633cda2307688ef7aa294bd6eb'\n",
}


def tree(mirror: Mirror, commit: str) -> dict[str, bytes]:
    files = mirror.files(commit, ["**"])
    contents = mirror.read(file.blob for file in files)
    return {file.path: content for file, (_, content) in zip(files, contents, strict=True)}


def test_the_sources_of_a_wheel_become_one_commit(mirror, index):
    file = index.add("1.0", SOURCES)
    said: list[str] = []
    release = import_release(mirror, "demo", "1.0", progress=said.append)
    assert said == ["downloading demo==1.0"]
    assert (release.package, release.version, release.committed_at) == ("demo", "1.0", "2026-01-02T03:04:06+00:00")
    assert tree(mirror, release.commit) == {path: content for path, content in SOURCES.items() if path.endswith(".py")}
    wanted = f"""\
demo 1.0

Upstream-Commit: 2d66622450e2c8633cda2307688ef7aa294bd6eb
Wheel: demo-1.0-py3-none-any.whl
Wheel-SHA256: {hashlib.sha256(file.read_bytes()).hexdigest()}
"""
    assert mirror.git("log", "-1", "--format=%B", release.commit).out.decode().rstrip() == wanted.rstrip()
    assert mirror.git("rev-list", "--count", release.commit).out == b"1\n"
    assert mirror.git("rev-parse", "refs/tracker/releases/1.0").out.decode().strip() == release.commit
    assert mirror.git("fsck", "--strict").status == 0


def test_the_commit_depends_on_the_wheel_alone(mirror, index, tmp_path, monkeypatch):
    index.add("1.0", SOURCES)
    first = import_release(mirror, "demo", "1.0")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Someone")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    (tmp_path / "gitconfig").write_text(
        "[core]\n\tautocrlf = true\n[user]\n\tname = Someone\n[i18n]\n\tcommitEncoding = latin1\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    with Mirror.open(tmp_path / "second") as second:
        import_release(second, "demo", "1.0")
        assert releases(second) == [first]
        assert import_release(second, "Demo", "1.0.0") == first


def test_a_release_that_is_there_is_not_downloaded_again_and_latest_always_asks(mirror, index):
    index.add("1.0")
    first = import_release(mirror, "demo", "latest")
    assert first.version == "1.0"
    index.add("1.1")
    index.add("2.0rc1")
    assert import_release(mirror, "demo", "latest").version == "1.1"
    for file in index.path.iterdir():
        file.unlink()
    assert import_release(mirror, "demo", "1.0") == first
    with pytest.raises(ReleaseError, match="has no wheel of demo at all"):
        import_release(mirror, "demo", "latest")


def test_a_mirror_holds_the_releases_of_one_package(mirror, index):
    index.add("1.0")
    index.add("1.0", package="other")
    import_release(mirror, "demo", "1.0")
    for version in ("1.0", "latest"):
        with pytest.raises(ReleaseError, match=r"holds releases of demo, not of other: set another \[state\] path"):
            import_release(mirror, "other", version)


def test_odd_times_of_a_zip_are_taken_as_they_are(mirror, index):
    index.add("1.0", date=(1980, 1, 1, 0, 0, 0))
    index.add("1.1", date=(1980, 0, 0, 0, 0, 0))
    for version in ("1.0", "1.1"):
        assert import_release(mirror, "demo", version).committed_at == "1980-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("package", "version", "message"),
    [
        ("demo", "1.5", "there is no release 1.5 of demo as a wheel; near to it are 1.0, 1.1, 1.10, 2.0, 3.0"),
        ("demo", "0.1", "near to it are 1.0, 1.1, 3.0"),
        ("demo", "one", "release:one: 'one' is not a version"),
        ("demo", "1.0 ; x", "is not a version"),
        ("demo", "--index-url=x", "is not a version"),
        ("nothing", "1.0", "has no wheel of nothing at all: check .upstream. package"),
        ("-r x", "1.0", "'-r x' is not the name of a package"),
        ("demo @ file:///x", "1.0", "is not the name of a package"),
    ],
)
def test_a_release_that_is_not_to_be_had_is_one_line(mirror, index, package, version, message):
    for known in ("1.0", "1.1", "1.10", "2.0", "3.0"):
        index.add(known)
    with pytest.raises(ReleaseError, match=message) as caught:
        import_release(mirror, package, version)
    assert "\n" not in str(caught.value)
    assert releases(mirror) == []


def test_no_network(mirror, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    for version in ("1.0", "latest"):
        with pytest.raises(ReleaseError, match="the package index cannot be reached: check the network") as caught:
            import_release(mirror, "demo", version)
        assert "\n" not in str(caught.value)


def test_a_python_without_pip(mirror, monkeypatch, tmp_path):
    bare = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    monkeypatch.setattr(sys, "executable", str(bare / "bin" / "python"))
    with pytest.raises(ReleaseError, match=r"there is no pip in this Python .*ensurepip"):
        import_release(mirror, "demo", "1.0")


def test_a_folder_named_pip_is_not_run(mirror, index, tmp_path, monkeypatch):
    index.add("1.0")
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").write_text("")
    (tmp_path / "pip" / "__main__.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(tmp_path)
    assert import_release(mirror, "demo", "1.0").version == "1.0"


def wrong(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("sources", "record", "message"),
    [
        ({"demo/a.py": b"x"}, {"demo/a.py": wrong(b"y")}, r"demo/a\.py is not what RECORD says"),
        ({"demo/a.py": b"x"}, {"demo/a.py": None}, r"demo/a\.py is not in RECORD"),
        ({"demo/a.py": b"x"}, {"demo/a.py": ""}, r"demo/a\.py has no sha256 in RECORD"),
        ({"demo/a.py": b"x"}, {"demo/a.py": "md5=abc"}, r"demo/a\.py has no sha256 in RECORD"),
        ({"demo/a.py": b"x"}, {"demo/b.py": wrong(b"y")}, r"demo/b\.py is in RECORD but not in the wheel"),
        ({"demo/a.txt": b"x"}, {}, r"the wheel has no \.py file"),
        ({"../a.py": b"x"}, {}, r"the path '\.\./a\.py' leaves the wheel"),
        ({"/etc/a.py": b"x"}, {}, "the path '/etc/a.py' leaves the wheel"),
        ({"demo//a.py": b"x"}, {}, "is no path"),
        ({"demo/.git/hooks/a.py": b"x"}, {}, "is no path"),
        ({"demo/.GIT/a.py": b"x"}, {}, "is no path"),
        ({"c:/a.py": b"x"}, {}, "is no path"),
        ({'"demo/a.py': b"x"}, {}, "is no path"),
        ({"demo/a\nb.py": b"x"}, {}, "is no path"),
    ],
)
def test_a_wheel_that_cannot_be_trusted_is_named_with_its_member(mirror, index, sources, record, message):
    file = index.add("1.0", sources, record=record)
    with pytest.raises(ReleaseError, match=message) as caught:
        wheel.check(file, "demo")
    assert str(caught.value).startswith("demo-1.0-py3-none-any.whl: ")
    assert "\n" not in str(caught.value)
    with pytest.raises(ReleaseError):
        import_release(mirror, "demo", "1.0")
    assert releases(mirror) == []


def test_a_broken_zip(mirror, index):
    file = index.add("1.0", {"demo/a.py": os.urandom(4000)})
    whole = file.read_bytes()
    middle = bytearray(whole)
    middle[600] ^= 0xFF
    for broken in (b"", b"no zip", whole[:-200], bytes(middle)):
        file.write_bytes(broken)
        with pytest.raises(ReleaseError, match="the wheel is broken"):
            wheel.check(file, "demo")
        with pytest.raises(ReleaseError) as caught:
            import_release(mirror, "demo", "1.0")
        assert "\n" not in str(caught.value)
        assert releases(mirror) == []


def test_no_record_and_two_members_of_one_name(index):
    file = index.path / "demo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("demo/a.py", "x")
    with pytest.raises(ReleaseError, match="no RECORD"):
        wheel.check(file, "demo")
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("demo/a.py", "y")
    with pytest.raises(ReleaseError, match="a member is there twice"):
        wheel.check(file, "demo")


def test_a_wheel_of_endless_size(index, monkeypatch):
    monkeypatch.setattr(wheel, "MAX_BYTES", 1000)
    file = index.add("1.0", {"demo/a.py": b"x" * 600, "demo/b.py": b"x" * 600})
    with pytest.raises(ReleaseError, match=r"more than 0 MB of \.py files"):
        wheel.check(file, "demo")


class Stop(KeyboardInterrupt):
    """Ctrl-C at a chosen place."""


def test_an_import_that_is_stopped_in_the_middle_leaves_no_release(mirror, index, tmp_path, monkeypatch):
    index.add("1.0", {f"demo/m{n}.py": os.urandom(50_000) for n in range(40)})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    real = wheel.Wheel.read

    def stopped(checked):
        for n, source in enumerate(real(checked)):
            if n == 30:
                raise Stop
            yield source

    with monkeypatch.context() as patched:
        patched.setattr(wheel.Wheel, "read", stopped)
        with pytest.raises(Stop):
            import_release(mirror, "demo", "1.0")
    assert releases(mirror) == []
    assert list(temporary.iterdir()) == []
    assert [path for name in ("tmp_*", "*.lock", "fast_import_crash_*") for path in mirror.path.rglob(name)] == []
    assert len(tree(mirror, import_release(mirror, "demo", "1.0").commit)) == 40
    assert list(temporary.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from tracker.repository import wheel
from tracker.repository.mirror import Mirror
from tracker.repository.releases import import_release

real = wheel.Wheel.read
def killed(checked):
    for n, source in enumerate(real(checked)):
        if n == 30:
            os.kill(os.getpid(), signal.SIGKILL)
        yield source
wheel.Wheel.read = killed
with Mirror.open(Path(sys.argv[1])) as mirror:
    import_release(mirror, "demo", "1.0")
"""


def test_an_import_that_is_killed_leaves_no_release(mirror, index):
    index.add("1.0", {f"demo/m{n}.py": b"%d\n" % n * 50_000 for n in range(40)})
    done = subprocess.run([sys.executable, "-c", KILLED, str(mirror.path)], check=False)
    assert done.returncode == -9
    release = import_release(mirror, "demo", "1.0")
    assert len(tree(mirror, release.commit)) == 40


def test_an_index_that_is_too_slow(mirror, index):
    index.add("1.0")
    with pytest.raises(ReleaseError, match=r"pip did not download demo==1\.0 within 0\.01 s: check the network"):
        import_release(mirror, "demo", "1.0", timeout_s=0.01)


def test_a_mirror_that_cannot_be_written(mirror, index):
    index.add("1.0")
    (mirror.path / "refs" / "tracker").write_text("in the way")
    with pytest.raises(GitError, match=r"cannot write release 1.0 into") as caught:
        import_release(mirror, "demo", "1.0")
    assert "\n" not in str(caught.value)


@pytest.mark.index
def test_a_real_release_has_the_same_sha_on_every_machine(mirror):
    release = import_release(mirror, "jax", "0.11.1")
    assert release.commit == "d5a48ae5ac2c0efd41165ca16f35eb1ada416115"
    assert release.upstream_commit == "2d66622450e2c8633cda2307688ef7aa294bd6eb"
    assert release.committed_at == "2026-08-17T18:02:46+00:00"
    files = mirror.files(release.commit, ["jax/**/*.py"])
    assert sum(len(content) for _, content in mirror.read(file.blob for file in files)) == sum(
        file.size for file in files
    )
    assert "jax/_src/lax/parallel.py" in {file.path for file in files}


@pytest.mark.index
def test_a_version_that_no_index_has(mirror):
    with pytest.raises(
        ReleaseError, match=r"there is no release 0\.11\.99 of jax as a wheel; near to it are .*0\.11\.1"
    ):
        import_release(mirror, "jax", "0.11.99")
