"""The past of errors over releases of a real repository: read from the releases themselves, and from the index."""

from __future__ import annotations

import pytest

from tracker.history.build import refresh
from tracker.lookup.indexed import Indexed
from tracker.lookup.past import Past
from tracker.lookup.paste import read
from tracker.lookup.releases import Releases
from tracker.lookup.sieve import Sieve
from tracker.repository import revisions
from tracker.repository.fetch import pull
from tracker.repository.mirror import Mirror
from tracker.sections import Upstream
from tracker.snapshots import Sources
from tracker.store.history import FILE, History

CHECK = 'def check(x, axis):\n    if axis > 3:\n        raise ValueError("the axis is beyond the last one")\n'
TWICE = "".join(f'def {n}(x):\n    raise TypeError(f"{{x}} is no array at all")\n\n' for n in ("one", "two"))
SILENT = "def silent(x):\n    if x:\n        raise NotImplementedError\n"
EARLY = 'def early(x):\n    raise OSError(f"no file {x} can be read from here")\n\n'
LATE = 'def late(x):\n    raise OSError(f"no file {x} can be read from here")\n'
STAYS = 'def stays(x):\n    raise KeyError(f"there is no device {x} left")\n'

VERSIONS = {
    "1.0.0": {"pkg/a.py": CHECK + STAYS, "pkg/b.py": TWICE, "pkg/c.py": SILENT, "pkg/d.py": EARLY + LATE},
    "1.1.0": {"pkg/a.py": "\n\n\n" + CHECK + STAYS},
    "1.2.0": {"pkg/a.py": STAYS, "pkg/moved.py": CHECK, "pkg/d.py": LATE},
    "1.3.0": {"pkg/moved.py": CHECK.replace("> 3", "> 4")},
    "1.4.0": {"pkg/b.py": TWICE.replace("is no array at all", "is not an array at all", 1), "pkg/c.py": "x = 1\n"},
    "1.5.0": {"pkg/moved.py": "x = 1\n", "pkg/d.py": LATE.replace("can be read", "is to be had")},
    "1.6.0": {"pkg/moved.py": CHECK},
}


@pytest.fixture
def made(repository, tmp_path):
    """The mirror after all the releases, with the two ways of knowing their past."""
    for version, files in VERSIONS.items():
        repository.commit(files)
        repository.git("tag", f"demo-v{version}")
    repository.commit({"pkg/a.py": "\n" + STAYS})
    mirror = Mirror.open(tmp_path / "mirror")
    pull(mirror, repository.url, "main")
    sources = Sources(mirror, ["pkg/**/*.py"])
    releases = Releases(mirror, sources, "demo", lambda line: None)
    sieve = Sieve(mirror, sources, releases, lambda line: None)
    refresh(mirror, tmp_path, Upstream(package="demo", paths=("pkg/**/*.py",)))
    index = History.read(tmp_path / FILE)
    assert index is not None
    with mirror, index:
        yield mirror, sources, {"sieve": sieve, "index": Indexed(index, mirror, releases, otherwise=sieve)}


@pytest.fixture(params=["sieve", "index"])
def told(request, made):
    """What is told of the site of a scope at a release, as plain values."""
    mirror, sources, ways = made
    past: Past = ways[request.param]

    def tell(version: str, scope: str):
        at = revisions.resolve(mirror, f"demo-v{version}" if version[0].isdigit() else version)
        (snapshot,) = sources.snapshots([at])
        site = next(site for site in snapshot.sites if site.scope == scope)
        story = past.story(site, at, revisions.resolve(mirror, "main"))
        changes = [
            (one.release, sorted(one.kinds), one.site and f"{one.site.path}:{one.site.line}") for one in story.changes
        ]
        now = story.now and f"{story.now.path}:{story.now.line}"
        return (story.span.first, story.span.last, story.span.ongoing) if story.span else None, changes, now

    return tell


@pytest.mark.parametrize("version", ["1.0.0", "1.3.0", "1.6.0", "main"])
def test_nothing_became_of_it(told, version):
    assert told(version, "stays") == (("1.0.0", "1.6.0", True), [], "pkg/a.py:3")


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.0"])
def test_a_text_that_only_moves_is_the_same_to_its_last_release(told, version):
    span, changes, now = told(version, "check")
    assert span == ("1.0.0", "1.4.0", False)
    assert changes == [("1.5.0", ["removed"], None)]
    assert now is None


def test_a_text_that_comes_back_is_told_of_where_it_is(told):
    assert told("1.6.0", "check") == (("1.6.0", "1.6.0", True), [], "pkg/moved.py:3")


def test_a_text_is_raised_as_long_as_one_of_its_twins_is_there(told):
    span, changes, now = told("1.3.0", "one")
    assert (span, changes) == (("1.0.0", "1.6.0", True), [])
    assert now == "pkg/b.py:2"


@pytest.mark.parametrize("told", ["index"], indirect=True)
def test_of_twins_the_one_that_is_left_tells_the_rest(told):
    span, changes, now = told("1.0.0", "early")
    assert span == ("1.0.0", "1.4.0", False)
    assert changes == [("1.5.0", ["reworded"], "pkg/d.py:2")]
    assert now == "pkg/d.py:2"


def test_a_new_wording_begins_where_it_was_made(told):
    assert told("1.4.0", "one") == (("1.4.0", "1.6.0", True), [], "pkg/b.py:2")


def test_a_raise_without_text_is_known_to_the_index_alone(made):
    mirror, sources, ways = made
    at, newest = revisions.resolve(mirror, "demo-v1.1.0"), revisions.resolve(mirror, "main")
    (snapshot,) = sources.snapshots([at])
    (site,) = (site for site in snapshot.sites if site.message is None)
    assert ways["sieve"].story(site, at, newest).span is None
    story = ways["index"].story(site, at, newest)
    assert story.span is not None
    assert (story.span.first, story.span.last) == ("1.0.0", "1.3.0")
    assert [(one.release, one.site) for one in story.changes] == [("1.4.0", None)]


@pytest.mark.parametrize("way", ["sieve", "index"])
@pytest.mark.parametrize(
    ("paste", "first", "last"),
    [
        ("KeyError: there is no device 7 left", "1.0.0", "1.6.0"),
        ("TypeError: None is not an array at all", "1.4.0", "1.6.0"),
        ("ValueError: nobody ever said a word of this", None, None),
    ],
)
def test_who_can_have_raised_it(made, way, paste, first, last):
    (error,) = read(paste).errors
    found = [release.version for release in made[2][way].raising(error)]
    assert (found[-1], found[0]) == (first, last) if first else found == []
