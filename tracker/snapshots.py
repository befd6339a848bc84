"""Revisions -> snapshots: blobs out of the mirror, through the harvest, in parallel where that pays.

A file that several revisions share is read and harvested once. What is harvested is kept in a cache where there is one;
nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import TypeVar

from tracker.errors import RevisionError
from tracker.harvest.kept import pack, pack_all, unpack, unpack_all
from tracker.harvest.link import handed_in
from tracker.harvest.makers import calls_a_maker, made, makers
from tracker.harvest.sites import Harvest
from tracker.harvest.source import normalize
from tracker.lives import Lives, follow
from tracker.model import Revision, Site, Snapshot
from tracker.repository.globs import scope
from tracker.repository.mirror import Mirror, SourceFile
from tracker.repository.steps import steps
from tracker.store.cache import Cache
from tracker.tasks import Named, Packed, harvested, harvested_at, linked, linked_at, problems, problems_at
from tracker.versions import Versions

# Measured on JAX: a worker needs about 0.1 s to start, and one core harvests some 7 MB in a second.
PARALLEL_FROM = 2_000_000
"""Bytes of source from which on a second process pays."""
BATCH = 250_000
"""Bytes of source handed to a worker at once."""
Name = TypeVar("Name")


class Sources:
    """The files in scope of a mirror, at any revision."""

    def __init__(
        self,
        mirror: Mirror,
        paths: Sequence[str],
        exclude: Sequence[str] = (),
        executor: Executor | None = None,
        asserts: bool = False,
        cache: Cache | None = None,
    ) -> None:
        self._mirror = mirror
        self._cache = cache
        self._paths, self._exclude = paths, exclude
        self._executor = executor
        self._asserts = asserts
        self._files: dict[str, list[SourceFile]] = {}
        self._named: dict[str, dict[str, str]] = {}
        self._harvests: dict[Named, Harvest] = {}
        self._coming: list[Future[list[tuple[Named, Packed]]]] = []
        self._problems: dict[Named, str] = {}
        self._lines: dict[str, list[str]] = {}

    def files(self, revision: Revision) -> list[SourceFile]:
        """The files of a revision that are in scope, ordered by path. RevisionError: there are none."""
        if revision.commit not in self._files:
            found = self._mirror.files(revision.commit, self._paths, self._exclude)
            if not found:
                globs = ", ".join(self._paths)
                raise RevisionError(
                    f"{revision.name} ({revision.commit[:12]}) holds no file that [upstream] paths matches "
                    f"({globs}): is it the right repository?"
                )
            self._files[revision.commit] = found
        return self._files[revision.commit]

    def lines(self, revision: Revision, path: str) -> list[str]:
        """The text of one file as lines without their ends; empty where the revision has no such file."""
        blob = self._blobs(revision).get(path)
        if blob is None:
            return []
        if blob not in self._lines:
            self._lines[blob] = _lines(self._mirror.content(blob))
        return self._lines[blob]

    def versions(self, revisions: Sequence[Revision], path: str) -> Iterator[list[str] | None]:
        """The lines of a file at each revision, None where the revision has no such file in scope."""
        if scope(self._paths, self._exclude)(path):
            for raw in self._mirror.versions((revision.commit, path) for revision in revisions):
                yield None if raw is None else _lines(raw)
        else:
            yield from (None for _ in revisions)

    def lives(self, base: Revision, target: Revision, paths: set[str], settled: Mapping[str, Set[str]]) -> Lives:
        """What became of the sites in the files `paths` step by step; empty where no way to the target is known.

        `settled`: path -> definitions whose sites are left out.
        """
        way = steps(self._mirror, base, target, self._paths, self._exclude)
        if not way or len(way) == 1:
            return Lives({}, {}, only=way[0].cause if way else None)
        versions = Versions(self._mirror, self._known, settled, self._asserts, self._executor)
        start = self._blobs(base)
        return follow(start, versions.along(start, way, paths), paths, versions)

    def _known(self, path: str, blob: str) -> Harvest | None:
        return self._harvests.get((path, blob))

    def snapshots(self, revisions: Sequence[Revision]) -> list[Snapshot]:
        """A snapshot of each revision. RevisionError: a revision without any file in scope."""
        wanted = {(file.path, file.blob): file.size for revision in revisions for file in self.files(revision)}
        self._harvest(revisions)
        by_commit = self._link({revision.commit: revision for revision in revisions}, parallel=self._pays(wanted))
        return [
            self._snapshot(revision, {**self._of(revision), **by_commit[revision.commit]}) for revision in revisions
        ]

    def verified(self, snapshot: Snapshot, paths: Iterable[str]) -> Snapshot:
        """The same, with `partial` also told of those parts of the files `paths` that are not read for a snapshot.

        They hold no site; where one is missing, they count.
        """
        blobs = self._blobs(snapshot.revision)
        asked = {(path, blobs[path]) for path in paths if path in blobs and path not in snapshot.partial}
        keys = {name: self._key("problem", *name) for name in asked if name not in self._problems}
        self._problems.update({name: raw.decode() for name, raw in self._kept(keys).items()})
        sizes = {(file.path, file.blob): file.size for file in self.files(snapshot.revision)}
        missing = {name: sizes[name] for name in sorted(asked) if name not in self._problems}
        if self._executor is not None and sum(missing.values()) >= PARALLEL_FROM:
            running = [self._executor.submit(problems_at, self._mirror.path, batch) for batch in _batches(missing)]
            for future in running:
                self._problems.update(future.result())
        else:
            self._problems.update(problems(self._mirror, list(missing)))
        self._keep({keys[name]: self._problems[name].encode() for name in missing})
        partial = dict(snapshot.partial) | {
            path: problem for path, _ in asked if (problem := self._problems[path, blobs[path]])
        }
        return replace(snapshot, partial={path: partial[path] for path in snapshot.files if path in partial})

    def handed_in(self, revision: Revision) -> dict[Site, tuple[str, ...]]:
        """Sites of a revision -> what they say, beside their message, once others, here or there, did their part."""
        (snapshot,) = self.snapshots([revision])
        of, blobs = self._of(revision), self._blobs(revision)
        found = handed_in(of, lambda path: self._mirror.content(blobs[path]) if path in blobs else None)
        places = {(path, of[path].sites[n].line): texts for (path, n), texts in found.items()}
        fuller = {site: places[site.path, site.line] for site in snapshot.sites if (site.path, site.line) in places}
        if callers := [site for site in snapshot.sites if calls_a_maker(site)]:
            files = zip(blobs, self._mirror.read(blobs.values()), strict=True)
            known = [maker for path, (_, raw) in files for maker in makers(path, raw)]
            fuller |= {site: tuple(made(site, maker) for maker in known) for site in callers}
        return fuller

    def _snapshot(self, revision: Revision, harvests: Mapping[str, Harvest]) -> Snapshot:
        return Snapshot(
            revision=revision,
            sites=tuple(site for found in harvests.values() for site in found.sites),
            files=tuple(harvests),
            partial={path: found.problem for path, found in harvests.items() if found.problem},
            reasons={
                site: str(reason)
                for found in harvests.values()
                for site, reason in zip(found.sites, found.reasons, strict=True)
                if reason is not None
            },
        )

    def _blobs(self, revision: Revision) -> dict[str, str]:
        if revision.commit not in self._named:
            self._named[revision.commit] = {file.path: file.blob for file in self.files(revision)}
        return self._named[revision.commit]

    def _of(self, revision: Revision) -> dict[str, Harvest]:
        return {path: self._harvests[path, blob] for path, blob in self._blobs(revision).items()}

    def _pays(self, wanted: Mapping[Named, int]) -> bool:
        """Whether so many bytes are worth a second process."""
        return self._executor is not None and sum(wanted.values()) >= PARALLEL_FROM

    def begin(self, revisions: Sequence[Revision]) -> None:
        """Have other processes harvest these revisions, while whoever asks for that does something else.

        RevisionError: a revision without any file in scope.
        """
        sizes = {(file.path, file.blob): file.size for revision in revisions for file in self.files(revision)}
        wanted = {name: size for name, size in sizes.items() if name not in self._harvests}
        for name, raw in self._kept({name: self._key("harvest", *name) for name in wanted}).items():
            if (found := unpack(raw)) is not None:
                self._harvests[name] = found
        # Both versions of a file come to one worker.
        missing = {name: wanted[name] for name in sorted(wanted) if name not in self._harvests}
        if self._executor is not None and self._pays(missing):
            path, asserts = self._mirror.path, self._asserts
            batches = sorted(_batches(missing), key=lambda batch: -sum(missing[name] for name in batch))
            self._coming += [self._executor.submit(harvested_at, path, batch, asserts) for batch in batches]

    def _harvest(self, revisions: Sequence[Revision]) -> None:
        self._collect()
        self.begin(revisions)
        self._collect()
        names = {(file.path, file.blob) for revision in revisions for file in self.files(revision)}
        self._take(harvested(self._mirror, sorted(names - self._harvests.keys()), self._asserts))

    def _collect(self) -> None:
        """Take over what other processes were asked for."""
        for future in self._coming:
            self._take(future.result())
        self._coming.clear()

    def _take(self, packed: Sequence[tuple[Named, Packed]]) -> None:
        for name, given in packed:
            found = unpack(given) if isinstance(given, bytes) else given
            assert found is not None, "what was just packed is whole"
            self._harvests[name] = found
        keys = {name: self._key("harvest", *name) for name, _ in packed}
        self._keep({keys[name]: given if isinstance(given, bytes) else pack(given) for name, given in packed})

    def _link(self, revisions: Mapping[str, Revision], parallel: bool) -> dict[str, dict[str, Harvest]]:
        """By commit, the harvests of those files whose texts stand in other files, completed.

        What a file's texts owe to other files belongs to the revision, so they are kept by all its files.
        """
        keys = {
            commit: self._key("linked", *(word for named in self._blobs(revision).items() for word in named))
            for commit, revision in revisions.items()
        }
        found: dict[str, dict[str, Harvest]] = {}
        for commit, raw in self._kept(keys).items():
            if (known := unpack_all(raw)) is not None:
                found[commit] = known
        given = {c: (self._blobs(r), _linkable(self._of(r))) for c, r in revisions.items() if c not in found}
        packed = {commit: pack_all(harvests) for commit, (_, harvests) in given.items()}
        if parallel and self._executor is not None and all(packed.values()):
            path, executor = self._mirror.path, self._executor
            running = {c: executor.submit(linked_at, path, given[c][0], packed[c] or b"") for c in given}
            found |= {commit: future.result() for commit, future in running.items()}
        else:
            found |= {commit: linked(self._mirror, *both) for commit, both in given.items()}
        self._keep({keys[commit]: pack_all(found[commit]) for commit in given})
        return found

    def _key(self, kind: str, *parts: str) -> bytes:
        return self._cache.name(kind, str(self._asserts), *parts) if self._cache is not None else b""

    def _kept(self, keys: Mapping[Name, bytes]) -> dict[Name, bytes]:
        values = self._cache.get(keys.values()) if self._cache is not None else {}
        return {name: values[key] for name, key in keys.items() if key in values}

    def _keep(self, values: Mapping[bytes, bytes | None]) -> None:
        """What cannot be packed (text that is no UTF-8) is made anew each time."""
        if self._cache is not None:
            self._cache.put({key: value for key, value in values.items() if value is not None})


def _lines(raw: bytes) -> list[str]:
    return normalize(raw).data.decode("utf-8", "replace").split("\n")


def _batches(wanted: Mapping[Named, int]) -> Iterator[list[Named]]:
    batch: list[Named] = []
    size = 0
    for name, bytes_ in wanted.items():
        batch.append(name)
        size += bytes_
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _linkable(harvests: Mapping[str, Harvest]) -> dict[str, Harvest]:
    """The same, of files that wait for no other file only what they import: all that linking asks of them."""
    return {
        path: found if found.open or found.helpers else Harvest(sites=(), problem=None, imports=found.imports)
        for path, found in harvests.items()
    }
