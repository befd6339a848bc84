"""The mirror as a place, and its objects as values."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from tracker.errors import ConfigError, GitError
from tracker.repository.fetch import pull
from tracker.repository.mirror import Mirror


def paths(mirror: Mirror, commit: str, *globs: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [file.path for file in mirror.files(commit, globs, exclude)]


def test_a_file_at_several_commits(mirror, repository):
    first = repository.commit({"a.py": "1", "f/b c.py": "2"})
    second = repository.commit({"a.py": "", "f/b c.py": None})
    pull(mirror, repository.url, "main")
    places = [(first, "a.py"), (second, "a.py"), (first, "f/b c.py"), (second, "f/b c.py"), (first, "f"), (first, "")]
    assert list(mirror.versions(places)) == [b"1", b"", b"2", None, None, None]
    odd = ["../a.py", "a.py\nHEAD", "a.py missing", "a" * 5000, "\udcff.py", "/a.py", "a.py/"]
    assert list(mirror.versions([(first, path) for path in odd] * 100)) == [None] * 700
    assert contents(mirror, [repository.git("rev-parse", f"{first}:a.py")]) == [b"1"]


def contents(mirror: Mirror, blobs: list[str]) -> list[bytes]:
    return [content for _, content in mirror.read(blobs)]


def test_a_mirror_is_made_as_a_whole_and_opened_again(tmp_path):
    path = tmp_path / "a" / "mirror"
    with Mirror.open(path) as mirror:
        assert mirror.git("rev-parse", "--is-bare-repository").out == b"true\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["mirror"]
    assert not (path / "hooks").exists()
    with Mirror.open(path, create=False) as mirror:
        assert mirror.path == path


def test_an_empty_folder_becomes_a_mirror(tmp_path):
    (tmp_path / "mirror").mkdir()
    Mirror.open(tmp_path / "mirror").close()
    assert (tmp_path / "mirror" / "HEAD").is_file()


def test_a_path_with_odd_signs_is_taken_as_it_is(tmp_path, repository, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "wrong"))
    monkeypatch.chdir(tmp_path)
    with Mirror.open(Path("~") / "$HOME mirror ü") as mirror:
        commit = repository.commit({"a.py": "x"})
        pull(mirror, repository.url, "main")
        assert paths(mirror, commit, "*.py") == ["a.py"]
        assert mirror.path == tmp_path / "~" / "$HOME mirror ü"
    assert not (tmp_path / "wrong").exists()


def test_what_is_no_mirror_is_refused_and_left_alone(tmp_path, repository):
    repository.commit({"a.py": "x"})
    file = tmp_path / "file"
    file.write_text("mine")
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    for path, message in [
        (file, "is not a mirror but a file"),
        (folder, "is not a mirror"),
        (repository.path, "is not a mirror"),
        (repository.path / ".git", "is a git repository but not a bare one"),
    ]:
        with pytest.raises(GitError, match=message) as caught:
            Mirror.open(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert file.read_text() == "mine"
    assert [entry.name for entry in folder.iterdir()] == ["below"]
    with pytest.raises(GitError, match=r"there is no mirror at .* run `tracker pull`"):
        Mirror.open(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


def test_the_repository_of_a_hook_that_starts_the_tracker_does_not_leak_in(tmp_path, repository, monkeypatch):
    commit = repository.commit({"a.py": "x"})
    monkeypatch.setenv("GIT_DIR", str(repository.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repository.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository.path / ".git" / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(repository.path / ".git" / "objects"))
    with Mirror.open(tmp_path / "mirror") as mirror:
        assert mirror.commit(commit) is None
        pull(mirror, repository.url, "main")
        assert paths(mirror, commit, "**/*.py") == ["a.py"]


def test_no_hook_is_ever_run(mirror, repository, tmp_path):
    hooks = mirror.path / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-update", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
        (hooks / name).chmod(0o755)
    repository.commit({"a.py": "x"})
    pull(mirror, repository.url, "main")
    assert not (tmp_path / "hook-ran").exists()


TREE = ["a.py", "jax/b.py", "jax/c.pyi", "jax/sub/d.py", "jax/sub/e.py", "other/jax/f.py", "tests/g.py"]


@pytest.mark.parametrize(
    ("globs", "exclude", "expected"),
    [
        (["jax/**/*.py"], [], ["jax/b.py", "jax/sub/d.py", "jax/sub/e.py"]),
        (["/jax/**/*.py"], [], ["jax/b.py", "jax/sub/d.py", "jax/sub/e.py"]),
        (["./jax/*.py"], [], ["jax/b.py"]),
        (["jax"], [], ["jax/b.py", "jax/c.pyi", "jax/sub/d.py", "jax/sub/e.py"]),
        (["jax/"], ["jax/sub"], ["jax/b.py", "jax/c.pyi"]),
        (["*.py"], [], ["a.py"]),
        (["**/*.py"], ["**/jax/*.py"], ["a.py", "jax/sub/d.py", "jax/sub/e.py", "tests/g.py"]),
        (["jax/sub/[d].py", "a.py"], [], ["a.py", "jax/sub/d.py"]),
        (["jax/sub/?.py"], ["jax/sub/e.py"], ["jax/sub/d.py"]),
        (["f.py"], [], []),
        (["!jax"], [], []),
    ],
)
def test_globs_are_those_of_gitignore_from_the_root(mirror, repository, globs, exclude, expected):
    commit = repository.commit(dict.fromkeys(TREE, "x"))
    pull(mirror, repository.url, "main")
    assert [file.path for file in mirror.files(commit, globs, exclude)] == expected


def test_what_is_no_glob_is_named(mirror, repository):
    commit = repository.commit({"a.py": "x"})
    pull(mirror, repository.url, "main")
    with pytest.raises(ConfigError, match="not a glob"):
        mirror.files(commit, ["a/**b/***/\\"])


def test_only_regular_files_and_every_name(mirror, repository):
    names = ["a b.py", 'quo"te.py', "tab\t.py", "new\nline.py", "ümlaut.py", os.fsdecode(b"latin\xe9.py")]
    (repository.path / "link.py").symlink_to("a b.py")
    run = repository.path / "run.py"
    run.write_text("#!")
    run.chmod(0o755)
    repository.commit({name: name.encode("utf-8", "surrogateescape") for name in names})
    head = repository.git("rev-parse", "HEAD")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},module.py")
    repository.git("commit", "--quiet", "--message", "a submodule")
    pull(mirror, repository.url, "main")
    files = mirror.files("main", ["**"])
    assert [file.path for file in files] == sorted([*names, "run.py"])
    for file, (blob, content) in zip(files, mirror.read(file.blob for file in files), strict=True):
        assert (blob, len(content)) == (file.blob, file.size)
        assert content in (file.path.encode("utf-8", "surrogateescape"), b"#!")


def test_a_tree_that_is_none(mirror):
    with pytest.raises(GitError, match=r"the tree of 000000000000 cannot be read .* `tracker pull`"):
        mirror.files("0" * 40, ["**"])


def test_many_contents_come_in_the_order_asked_through_one_process(mirror, repository):
    files = {f"f{n}.py": b"\n" * n + bytes([n % 256]) for n in range(700)}
    files["empty.py"] = b""
    files["big.py"] = b"x" * 3_000_000
    commit = repository.commit(files)
    pull(mirror, repository.url, "main")
    found = mirror.files(commit, ["**"])
    wanted = [file for _ in range(2) for file in reversed(found)]
    assert contents(mirror, [file.blob for file in wanted]) == [files[file.path] for file in wanted]
    reader = mirror._reader
    assert contents(mirror, [found[0].blob]) == [files[found[0].path]]
    assert reader is not None
    assert mirror._reader is reader


def test_a_reading_that_is_given_up_or_nested_does_not_disturb_the_next(mirror, repository):
    files = {f"f{n}.py": f"{n}\n" * 5000 for n in range(40)}
    commit = repository.commit(files)
    pull(mirror, repository.url, "main")
    found = mirror.files(commit, ["**"])
    blobs = [file.blob for file in found]
    expected = [files[file.path].encode() for file in found]
    given_up = mirror.read(blobs)
    next(given_up)
    given_up.close()
    assert contents(mirror, blobs) == expected
    for n, (_, outer) in enumerate(mirror.read(blobs)):
        assert outer == expected[n]
        assert contents(mirror, blobs[:3]) == expected[:3]
    mirror.close()
    assert contents(mirror, blobs) == expected


def test_a_closed_mirror_leaves_no_process(mirror, repository):
    commit = repository.commit({"a.py": "x"})
    pull(mirror, repository.url, "main")
    contents(mirror, [file.blob for file in mirror.files(commit, ["**"])])
    assert mirror._reader is not None
    child = mirror._reader.process
    assert child.poll() is None
    mirror.close()
    assert child.poll() is not None


def test_a_missing_object_is_named_and_the_others_are_still_read(mirror, repository):
    commit = repository.commit({"a.py": "x"})
    pull(mirror, repository.url, "main")
    (file,) = mirror.files(commit, ["a.py"])
    with pytest.raises(GitError, match=f"object {'1' * 40} cannot be read in .* missing"):
        contents(mirror, [file.blob, "1" * 40])
    with pytest.raises(GitError, match="is a commit where a file was expected"):
        contents(mirror, [commit])
    assert contents(mirror, [file.blob]) == [b"x"]


@pytest.mark.parametrize(
    "broken",
    [b"", b"no zlib at all", zlib.compress(b"blob 7\0something else")[:-6]],
)
def test_a_broken_object_is_one_line(mirror, repository, broken):
    commit = repository.commit({"a.py": "x"})
    pull(mirror, repository.url, "main")
    (file,) = mirror.files(commit, ["a.py"])
    loose = mirror.path / "objects" / file.blob[:2] / file.blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(broken)
    with pytest.raises(GitError, match=file.blob) as caught:
        contents(mirror, [file.blob])
    assert "\n" not in str(caught.value)


def test_a_file_whose_object_is_missing_is_never_left_out(mirror, repository):
    commit = repository.commit({"a.py": "x", "b.py": "y"})
    pull(mirror, repository.url, "main")
    gone = mirror.files(commit, ["a.py"])[0].blob
    (mirror.path / "objects" / gone[:2] / gone[2:]).unlink()
    with pytest.raises(GitError, match=r"a\.py of [0-9a-f]{12} cannot be read .* missing"):
        mirror.files(commit, ["*.py"])
    assert paths(mirror, commit, "*.py", exclude=("a.py",)) == ["b.py"]


def test_a_mirror_may_be_a_copy_of_a_bare_repository(tmp_path, repository):
    commit = repository.commit({"a.py": "x"})
    copy = tmp_path / "state" / "mirror"
    subprocess.run(["git", "clone", "--quiet", "--bare", repository.url, str(copy)], check=True)
    with Mirror.open(copy) as mirror:
        assert paths(mirror, commit, "*.py") == ["a.py"]
        repository.commit({"b.py": "x"})
        assert pull(mirror, repository.url, "main").commits == 1


def test_a_reading_that_is_given_up_ends_although_other_processes_hold_its_pipes(mirror, repository):
    """Workers that are forked meanwhile inherit the reader's pipes: it never sees their end."""
    commit = repository.commit({f"{n}.py": f"x = {n}\n" for n in range(9)})
    pull(mirror, repository.url, "main")
    reading = mirror.read([file.blob for file in mirror.files(commit, ["*.py"])])
    next(reading)
    worker = os.fork()
    if not worker:
        time.sleep(60)
        os._exit(0)
    try:
        began = time.monotonic()
        reading.close()
        assert time.monotonic() - began < 30
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
