"""The way between two revisions, where it is known by something else than the history."""

from __future__ import annotations

from tracker.repository.releases import import_release
from tracker.repository.revisions import resolve
from tracker.repository.steps import steps


def test_the_commit_that_a_release_was_built_from_has_the_way_of_the_release(mirror, index):
    for n, version in enumerate(("1.0", "1.1", "1.2")):
        built = f"_git_hash: str = '{str(n) * 40}'\n".encode()
        index.add(version, {"demo/version.py": built, "demo/a.py": version.encode()})
        import_release(mirror, "demo", version)
    target = resolve(mirror, "release:1.2")
    for name in ("release:1.0", "0" * 10):
        way = steps(mirror, resolve(mirror, name), target, ["demo/a.py"], [])
        assert way is not None
        assert [step.cause.subject for step in way] == ["demo 1.1", "demo 1.2"]
    assert steps(mirror, target, resolve(mirror, "0" * 10), ["demo/a.py"], []) is None
