"""Names -> commits: what is understood, and what is said about the rest."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracker.errors import RevisionError
from tracker.repository.fetch import pull
from tracker.repository.mirror import Mirror
from tracker.repository.releases import import_release
from tracker.repository.revisions import default_target, milestones, release_in, releases, releases_with, resolve

UPSTREAM_COMMIT = "2d66622450e2c8633cda2307688ef7aa294bd6eb"


def version_py(commit: str) -> dict[str, bytes]:
    return {"demo/version.py": f"_git_hash: str = '{commit}'\n".encode()}


@pytest.fixture
def history(mirror, repository):
    """Three commits, a tag of each sort on the second."""
    commits = [repository.commit({"a.py": str(n)}) for n in range(3)]
    repository.git("tag", "v1", commits[1])
    repository.git("tag", "--annotate", "--message", "one", "v1-annotated", commits[1])
    pull(mirror, repository.url, "main")
    return commits


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("main", 2),
        ("HEAD", 2),
        ("v1", 1),
        ("v1-annotated", 1),
        ("refs/tags/v1", 1),
        ("v1~1", 0),
        ("main^", 1),
        ("main~2", 0),
        ("{full}", 2),
        ("{upper}", 2),
        ("{short}", 2),
        ("v1-0-g{short}", 2),
    ],
)
def test_every_sort_of_name_git_knows(mirror, history, name, expected):
    name = name.format(full=history[2], upper=history[2].upper(), short=history[2][:9])
    revision = resolve(mirror, name)
    assert (revision.name, revision.commit) == (name, history[expected])
    assert revision.committed_at == f"2025-06-15T17:{7 + expected:02}:40+02:00"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("v1-anotated", "near to it are v1-annotated.*`tracker pull`"),
        ("mian", "near to it are main"),
        ("0123456", "the mirror has no revision '0123456'"),
        ("f" * 40, "the mirror has no revision 'ffff"),
        ("main:a.py", "the mirror has no revision"),
        ("main..v1", "the mirror has no revision"),
        ("main v1", "the mirror has no revision"),
        ("release:9.9", "the mirror has no revision 'release:9.9'"),
        ("release:", "release:: '' is not a version"),
        ("release:new", "'new' is not a version"),
        ("", "'' is not the name"),
        ("-1", "'-1' is not the name"),
        ("--help", "'--help' is not the name"),
        ("--output=x", "is not the name"),
        ("main\n", r"'main\\n' is not the name"),
        ("ma\0in", r"is not the name"),
        ("a\udc80b", "is not the name"),
    ],
)
def test_what_is_unknown_or_no_name_is_one_line(mirror, history, name, message):
    with pytest.raises(RevisionError, match=message) as caught:
        resolve(mirror, name)
    assert "\n" not in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=8), st.from_regex(r"[-@{}^~:/.*a-g0-9]{1,8}", fullmatch=True)))
def test_any_text_is_a_commit_or_one_line(mirror, history, name):
    try:
        said = resolve(mirror, name).commit
    except RevisionError as error:
        said = str(error)
    assert said in history or len(said.splitlines()) == 1


def test_an_ambiguous_short_sha_is_called_so(mirror, repository):
    # 400 commits of fixed dates: some two of them begin with the same four digits.
    stream = "".join(f"commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\nx\n" for n in range(1, 401))
    repository.git("fast-import", "--quiet", "--force", text=stream)
    pull(mirror, repository.url, "main")
    shas = sorted(mirror.git("rev-list", "main").out.decode().split())
    short = next(one[:4] for one, two in pairwise(shas) if one[:4] == two[:4])
    with pytest.raises(RevisionError, match=f"short sha {short} is ambiguous"):
        resolve(mirror, short)


def test_a_full_sha_of_no_branch_is_asked_for_upstream_once(mirror, repository, history):
    repository.git("checkout", "--quiet", "-b", "other")
    stray = repository.commit({"a.py": "stray"})
    repository.git("tag", "only-of-the-stray")
    with pytest.raises(RevisionError, match="the mirror has no revision"):
        resolve(mirror, stray)
    with pytest.raises(RevisionError, match="the mirror has no revision"):
        resolve(mirror, stray[:12], url=repository.url)
    assert resolve(mirror, stray, url=repository.url).commit == stray
    assert resolve(mirror, stray[:12]).commit == stray
    assert mirror.commit("only-of-the-stray") is None
    with pytest.raises(RevisionError, match=f"the mirror has no commit {'0' * 40}, and it cannot fetch"):
        resolve(mirror, "0" * 40, url=repository.url)
    with pytest.raises(RevisionError, match="there is no git repository"):
        resolve(mirror, "0" * 40, url=repository.url + "-none")


def test_upstream_is_not_asked_by_a_mirror_that_was_never_pulled(mirror, repository):
    commit = repository.commit({"a.py": "1"})
    with pytest.raises(RevisionError, match="the mirror has no revision"):
        resolve(mirror, commit, url=repository.url)


def test_a_commit_with_a_mad_date_is_still_a_commit(mirror, repository):
    repository.git(
        "fast-import",
        "--quiet",
        "--force",
        "--date-format=raw-permissive",
        text="commit refs/heads/main\ncommitter A <a@b> 99999999999999 +9999\ndata 1\nx\n",
    )
    pull(mirror, repository.url, "main")
    assert resolve(mirror, "main").committed_at == "1970-01-01T00:00:00+00:00"


def test_releases_are_ordered_by_version_and_known_by_their_names(mirror, index):
    for version in ("0.9.1", "0.10.0", "0.12.0rc1"):
        index.add(version)
        import_release(mirror, "demo", version)
    assert [release.version for release in releases(mirror)] == ["0.9.1", "0.10.0", "0.12.0rc1"]
    ten = resolve(mirror, "release:0.10.0")
    assert (ten.name, ten.committed_at) == ("release:0.10.0", "2026-01-02T03:04:06+00:00")
    assert resolve(mirror, "release:0.10").commit == ten.commit
    assert resolve(mirror, "release:latest").commit == resolve(mirror, "release:0.12.0rc1").commit
    with pytest.raises(RevisionError, match=r"near to it are .*release:0.9.1"):
        resolve(mirror, "release:0.9.2")
    assert release_in(mirror, "0.9.2") is None


def test_the_upstream_commit_of_a_release_stands_for_it(mirror, index):
    index.add("1.0", version_py(UPSTREAM_COMMIT))
    index.add("1.1", version_py(UPSTREAM_COMMIT[:10] + "0" * 30))
    index.add("1.2")
    made = [import_release(mirror, "demo", version) for version in ("1.0", "1.1", "1.2")]
    assert [release.upstream_commit for release in made] == [UPSTREAM_COMMIT, UPSTREAM_COMMIT[:10] + "0" * 30, None]
    for name in (UPSTREAM_COMMIT, UPSTREAM_COMMIT[:12], UPSTREAM_COMMIT[:11].upper()):
        assert resolve(mirror, name).commit == made[0].commit
        assert resolve(mirror, name).name == name
    with pytest.raises(RevisionError, match="ambiguous among the releases"):
        resolve(mirror, UPSTREAM_COMMIT[:10])
    with pytest.raises(RevisionError, match="the mirror has no revision"):
        resolve(mirror, UPSTREAM_COMMIT[:6])


def test_the_default_is_the_branch_then_the_newest_release_then_an_advice(mirror, index, repository):
    with pytest.raises(RevisionError, match=r"the mirror is empty: run `tracker pull`, or .*release:latest"):
        default_target(mirror, "main")
    index.add("1.10")
    index.add("1.9")
    for version in ("1.10", "1.9"):
        import_release(mirror, "demo", version)
    assert default_target(mirror, "main").name == "release:1.10"
    commit = repository.commit({"a.py": "1"})
    pull(mirror, repository.url, "main")
    assert (default_target(mirror, "main").name, default_target(mirror, "main").commit) == ("main", commit)


def test_an_empty_mirror_knows_nothing():
    with tempfile.TemporaryDirectory() as folder, Mirror.open(Path(folder) / "mirror") as mirror:
        assert releases(mirror) == []
        with pytest.raises(RevisionError, match="the mirror has no revision 'main'"):
            resolve(mirror, "main")


def versions(found) -> list[str]:
    return list(map(str, sorted(found)))


def test_the_releases_that_hold_a_commit(mirror, repository):
    """A release branch, candidates and other packages' tags in between."""
    first = repository.commit({"a.py": "1"})
    repository.git("tag", "demo-v1.9")
    repository.commit({"a.py": "2"})
    for tag in ("demo-v1.10", "demo-v2.0rc1", "demolib-v1.11", "workflow_test", "demo-version", "v1.10.post1"):
        repository.git("tag", tag)
    repository.git("branch", "stable")
    change = repository.commit({"a.py": "3"})
    repository.git("tag", "demo-v2.0")
    later = repository.commit({"a.py": "4"})
    repository.git("checkout", "--quiet", "stable")
    repository.commit({"b.py": "1"})
    repository.git("tag", "demo-v1.10.1")
    pull(mirror, repository.url, "main")
    assert versions(releases_with(mirror, "demo", first)) == ["1.9", "1.10", "1.10.post1", "1.10.1", "2.0"]
    assert versions(releases_with(mirror, "demo", change)) == ["2.0"]
    assert versions(releases_with(mirror, "other", first)) == ["1.10.post1"]
    assert releases_with(mirror, "demo", later) == releases_with(mirror, "demo", "f" * 40) == set()


def test_the_releases_from_a_release_on(mirror, index):
    for version in ("0.9", "0.10", "0.11"):
        index.add(version, {"demo/a.py": version.encode()})
        import_release(mirror, "demo", version)
    second = release_in(mirror, "0.10")
    assert versions(releases_with(mirror, "demo", second.commit)) == ["0.10", "0.11"]


def test_milestones_are_tags_and_releases_in_the_order_of_time(mirror, repository, index):
    commits = [repository.commit({"a.py": str(n)}) for n in range(3)]
    repository.git("tag", "demo-v1.0", commits[0])
    repository.git("tag", "--annotate", "--message", "one", "v1.1", commits[1])
    repository.git("tag", "demo-v1.2rc1", commits[1])
    repository.git("tag", "other-v9", commits[1])
    repository.git("tag", "demo-vnext", commits[2])
    repository.git("tag", "v7", repository.git("hash-object", "-w", "a.py"))
    pull(mirror, repository.url, "main")
    index.add("1.3", version_py(UPSTREAM_COMMIT))
    index.add("1.4")
    for version in ("1.3", "1.4"):
        import_release(mirror, "demo", version)
    found = milestones(mirror, "demo")
    assert [(one.version, one.upstream) for one in found] == [
        ("1.0", commits[0]),
        ("1.1", commits[1]),
        ("1.3", UPSTREAM_COMMIT),
        ("1.4", None),
    ]
    assert [one.date for one in found[:2]] == ["2025-06-15T17:07:40+02:00", "2025-06-15T17:08:40+02:00"]
    assert [one.commit for one in found[2:]] == [release.commit for release in releases(mirror)]


def test_an_empty_mirror_has_no_milestones(mirror):
    assert milestones(mirror, "demo") == []
