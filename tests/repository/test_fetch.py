"""Pulling: what comes, what does not, what is said when it fails, and that the next pull simply works."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import Repository
from tracker.errors import GitError
from tracker.repository.fetch import _failure, pull
from tracker.repository.mirror import Mirror


def refs(mirror: Mirror) -> list[str]:
    return mirror.git("for-each-ref", "--format=%(refname)").out.decode().split()


def left_behind(mirror: Mirror) -> list[Path]:
    names = ("*.lock", "tmp_*", "*.keep")
    return [path for name in names for path in mirror.path.rglob(name)]


def test_a_pull_brings_the_branch_and_the_tags_and_nothing_else(mirror, repository):
    first = repository.commit({"a.py": "1"})
    repository.git("tag", "v1")
    repository.git("tag", "--annotate", "--message", "one", "v1-annotated")
    repository.git("branch", "other")
    repository.git("update-ref", "refs/pull/1/head", first)
    said: list[str] = []
    result = pull(mirror, repository.url, "main", progress=said.append)
    assert (result.before, result.after, result.commits, result.forced) == (None, first, 1, False)
    assert result.tags == ("v1", "v1-annotated")
    assert refs(mirror) == ["refs/heads/main", "refs/tags/v1", "refs/tags/v1-annotated"]
    assert any("Counting objects" in line for line in said)
    assert mirror.commit("HEAD") == first

    again = pull(mirror, repository.url, "main")
    assert (again.before, again.after, again.commits, again.tags) == (first, first, 0, ())

    repository.commit({"a.py": "2"})
    third = repository.commit({"a.py": "3"})
    repository.git("tag", "v2")
    more = pull(mirror, repository.url, "main")
    assert (more.before, more.after, more.commits, more.forced, more.tags) == (first, third, 2, False, ("v2",))


def test_a_local_path_is_an_upstream_too(mirror, repository):
    commit = repository.commit({"a.py": "1"})
    assert pull(mirror, str(repository.path), "main").after == commit


def test_a_branch_of_another_name(mirror, repository):
    repository.commit({"a.py": "1"})
    repository.git("checkout", "--quiet", "-b", "release/1.x")
    commit = repository.commit({"a.py": "2"})
    assert pull(mirror, repository.url, "release/1.x").after == commit
    assert refs(mirror) == ["refs/heads/release/1.x"]
    assert mirror.commit("HEAD") == commit


def test_a_rewritten_branch_and_a_moved_tag_are_followed_and_the_old_head_is_kept(mirror, repository):
    repository.commit({"a.py": "1"})
    old = repository.commit({"a.py": "2"})
    repository.git("tag", "v1")
    pull(mirror, repository.url, "main")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    new = repository.commit({"a.py": "other"})
    repository.git("tag", "--force", "v1")
    result = pull(mirror, repository.url, "main")
    assert (result.before, result.after, result.commits, result.forced) == (old, new, 1, True)
    assert mirror.commit("v1") == new
    mirror.git("gc", "--quiet", "--prune=now")
    assert mirror.commit(old) == old


def test_a_tag_that_becomes_a_folder_of_tags_does_not_stop_the_pulls(mirror, repository):
    repository.commit({"a.py": "1"})
    repository.git("tag", "v1")
    repository.git("tag", "gone")
    pull(mirror, repository.url, "main")
    repository.git("tag", "--delete", "gone")
    pull(mirror, repository.url, "main")
    assert refs(mirror) == ["refs/heads/main", "refs/tags/gone", "refs/tags/v1"]
    repository.git("tag", "--delete", "v1")
    repository.git("tag", "v1/a")
    commit = repository.commit({"a.py": "2"})
    assert pull(mirror, repository.url, "main").after == commit
    assert refs(mirror) == ["refs/heads/main", "refs/tags/v1/a"]


def hang_up(listener: socket.socket) -> None:
    while True:
        try:
            listener.accept()[0].close()
        except OSError:
            return


@pytest.mark.parametrize(
    ("url", "branch", "message"),
    [
        ("{up}", "mian", "has no branch 'mian'; it has main, .*: set .upstream. branch"),
        ("{up}", "a..b", "cannot be the name of a branch"),
        ("{up}", "*", "cannot be the name of a branch"),
        ("{tmp}/none", "main", "there is no git repository: check .upstream. url"),
        ("file://{tmp}/none", "main", "there is no git repository: check .upstream. url"),
        ("{tmp}", "main", "there is no git repository: check .upstream. url"),
        ("{empty}", "main", "has no branch at all: it is empty"),
        ("http://127.0.0.1:9/x.git", "main", "there is no way to upstream: check the network and .upstream. url"),
        ("http://ada:secret@127.0.0.1:9/x.git", "main", r"http://\*\*\*\*\*:\*\*\*\*\*@127.0.0.1:9/x.git"),
        ("https://host.invalid/x.git", "main", "there is no way to upstream"),
        ("nonsense://x", "main", "cannot fetch from nonsense://x: "),
        ("--upload-pack=touch {tmp}/pwned", "main", "cannot fetch from"),
        ("ext::sh -c touch% {tmp}/pwned", "main", "transport 'ext' not allowed"),
    ],
)
def test_a_failure_is_one_line_with_what_to_do(mirror, repository, tmp_path, url, branch, message):
    repository.commit({"a.py": "1"})
    for name in ("maintenance", "other"):
        repository.git("branch", name)
    empty = tmp_path / "empty.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(empty)], check=True)
    url = url.format(up=repository.url, tmp=tmp_path, empty=empty)
    with pytest.raises(GitError, match=message) as caught:
        pull(mirror, url, branch)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "pwned").exists()
    assert refs(mirror) == []
    assert pull(mirror, repository.url, "main").commits == 1


@pytest.mark.parametrize("known", [0, 2])
def test_a_shallow_upstream_is_named_not_taken_for_one_that_has_nothing_new(mirror, repository, tmp_path, known):
    commits = [repository.commit({"a.py": str(n)}) for n in range(4)]
    if known:
        repository.git("branch", "older", commits[known - 1])
        pull(mirror, repository.url, "older")
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", repository.url, str(shallow)], check=True)
    before = refs(mirror)
    with pytest.raises(
        GitError, match="is a shallow clone, its history cut off: complete it there with `git fetch --unshallow`"
    ):
        pull(mirror, str(shallow), "main")
    assert refs(mirror) == before
    subprocess.run(["git", "-C", str(shallow), "fetch", "--quiet", "--unshallow"], check=True)
    assert pull(mirror, str(shallow), "main").after == commits[-1]


def test_a_damaged_upstream_is_named_and_the_mirror_stays(mirror, repository):
    first = repository.commit({"a.py": "1"})
    pull(mirror, repository.url, "main")
    repository.commit({"a.py": "2"})
    blob = repository.git("rev-parse", "HEAD:a.py")
    (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match="upstream is damaged"):
        pull(mirror, repository.url, "main")
    assert mirror.commit("main") == first
    assert left_behind(mirror) == []


def test_a_local_copy_without_some_of_its_files_is_taken_over(mirror, repository):
    repository.commit({"a.py": "1", "big.gif": "large"})
    second = repository.commit({"a.py": "2", "lost.py": "raise E"})
    repository.git("tag", "v1")
    for name in ("big.gif", "lost.py"):
        blob = repository.git("rev-parse", f"HEAD:{name}")
        (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    result = pull(mirror, repository.url, "main")
    assert (result.after, result.commits, result.tags, result.lacking) == (second, 2, ("v1",), True)
    files = {file.path: file.blob for file in mirror.files(second, ["a.py"])}
    assert [raw for _, raw in mirror.read(files.values())] == [b"2"]
    with pytest.raises(GitError):
        list(mirror.read([repository.git("rev-parse", "HEAD:lost.py")]))
    third = _commit_on_top(repository, "a.py", "3")
    again = pull(mirror, repository.url, "main")
    assert (again.after, again.lacking) == (third, False)


def _commit_on_top(repository: Repository, name: str, text: str) -> str:
    """The commit of one changed file; unlike `git commit` it does not ask for the others."""
    old, new = repository.git("rev-parse", f"HEAD:{name}"), repository.git("hash-object", "-w", "--stdin", text=text)
    listing = repository.git("ls-tree", "HEAD").replace(old, new)
    tree = repository.git("mktree", "--missing", text=f"{listing}\n")
    commit = repository.git("commit-tree", tree, "-p", "HEAD", "-m", "change")
    repository.git("update-ref", "refs/heads/main", commit)
    return commit


def test_a_local_copy_without_some_of_its_folders_is_not(mirror, repository):
    repository.commit({"pkg/a.py": "1"})
    tree = repository.git("rev-parse", "HEAD:pkg")
    (repository.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitError, match=r"lacks parts of its history|damaged"):
        pull(mirror, repository.url, "main")
    assert mirror.commit("main") is None


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "error: file write error: No space left on device\nfatal: fetch-pack: invalid index-pack output",
            "No space left on device; the disk is full",
        ),
        (
            "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
            "a private repository needs credentials",
        ),
        ("remote: Repository not found.\nfatal: repository 'https://x/y/' not found", "check .upstream. url"),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", "needs credentials"),
        ("fatal: unable to access 'https://x/': Could not resolve host: x", "Could not resolve host: x; .*network"),
        ("fatal: unable to access 'https://x/': Operation too slow. Less than 1000", "check the network"),
        ("git@x: Permission denied (publickey).\nfatal: Could not read from remote", "needs credentials"),
        ("error: RPC failed; curl 92\nfatal: early EOF\nfatal: fetch-pack: invalid", "broken or cut off: pull again"),
        ("fatal: the remote end hung up unexpectedly", "broken or cut off: pull again"),
        ("", "git said nothing; pull again"),
    ],
)
def test_the_words_of_git_become_advice(mirror, said, message):
    with pytest.raises(GitError, match=message):
        raise _failure(mirror, "https://x/", "main", said)


def litter(mirror: Mirror) -> list[Path]:
    """What a git that was killed by SIGKILL leaves."""
    places = ["packed-refs.lock", "refs/heads/main.lock", "refs/tags/v1.lock", "objects/pack/tmp_pack_x1", "HEAD.lock"]
    places += ["objects/pack/pack-1234.keep", "shallow.lock", "objects/info/commit-graph.lock", "fast_import_crash_7"]
    for place in places:
        file = mirror.path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("fetch-pack 7 on host")
    return [mirror.path / place for place in places]


def test_what_a_killed_git_left_behind_does_not_stop_the_next_pull(mirror, repository):
    repository.commit({"a.py": "1"})
    repository.git("tag", "v1")
    files = litter(mirror)
    assert pull(mirror, repository.url, "main").commits == 1
    assert [file for file in files if file.exists()] == []


def test_what_another_writer_is_using_is_left_alone(mirror):
    files = litter(mirror)
    with Mirror.open(mirror.path) as other:
        for file in files:
            file.unlink()
        with other.writing():
            litter(mirror)
            with mirror.writing():
                assert all(file.exists() for file in files)
    with mirror.writing():
        assert not any(file.exists() for file in files)


def test_a_writer_is_known_to_the_next_though_the_first_is_done(mirror):
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        first.enter_context(mirror.writing())
        second.enter_context(mirror.writing())
        first.close()
        files = litter(mirror)
        with mirror.writing():
            assert all(file.exists() for file in files)


@pytest.fixture
def silent_url():
    """A server that takes every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/x.git"


def processes_of(mirror: Mirror) -> list[str]:
    """Command lines that name the mirror, or are a transport of git."""
    done = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if str(mirror.path) in line and line.startswith("git")]


def test_a_silent_upstream_ends_at_the_time_limit_with_all_its_processes(mirror, repository, silent_url):
    began = time.monotonic()
    with pytest.raises(GitError, match=r"not ready within 0\.5 s"):
        pull(mirror, silent_url, "main", timeout_s=0.5)
    assert time.monotonic() - began < 4
    assert processes_of(mirror) == []
    repository.commit({"a.py": "1"})
    assert pull(mirror, repository.url, "main").commits == 1


def test_an_upstream_that_hangs_up(mirror):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up, args=(listener,), daemon=True)
        thread.start()
        with pytest.raises(GitError, match="cannot fetch from http://127"):
            pull(mirror, f"http://127.0.0.1:{listener.getsockname()[1]}/x.git", "main")
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


PULL = """
import sys
from pathlib import Path
from tracker.repository.fetch import pull
from tracker.repository.mirror import Mirror
with Mirror.open(Path(sys.argv[1])) as mirror:
    print("ready", flush=True)
    try:
        pull(mirror, sys.argv[2], "main")
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_pull_that_is_ended_in_the_middle_leaves_a_mirror_that_works(mirror, repository, tmp_path, number, status):
    repository.commit({"a.py": "1"})
    pipe = tmp_path / "middle"
    os.mkfifo(pipe)
    # An upstream whose server stops in the middle of its answer, until the pipe is closed.
    slow = tmp_path / "slow-pack"
    slow.write_text(f'#!/bin/sh\n"$@" | {{ head -c 30; cat {pipe}; }}\n')
    slow.chmod(0o755)
    hook = {"GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig")}
    (tmp_path / "gitconfig").write_text(f"[uploadpack]\n\tpackObjectsHook = {slow}\n")
    command = [sys.executable, "-c", PULL, str(mirror.path), repository.url]
    with subprocess.Popen(command, env=os.environ | hook, stdout=subprocess.PIPE, text=True) as pulling:
        assert pulling.stdout is not None
        assert pulling.stdout.readline() == "ready\n"
        with pipe.open("wb") as held:  # opens once the server has come so far
            pulling.send_signal(number)
            assert pulling.wait(10) == status
            if number == signal.SIGINT:
                assert processes_of(mirror) == []
                assert left_behind(mirror) == []
            held.write(b"")
    assert refs(mirror) == []
    assert pull(mirror, repository.url, "main").commits == 1
    assert mirror.git("fsck", "--full").status == 0
