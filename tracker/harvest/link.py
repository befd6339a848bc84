"""The second pass of the harvest: what other files of the repository say is filled into the sites.

Pure: the files are read through a function that is handed in, and only those that a site refers to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from tracker.harvest.exports import Export, calls, export, passed_on
from tracker.harvest.helpers import Helper
from tracker.harvest.parts import (
    Arguments,
    Foreign,
    Hole,
    Parts,
    Texts,
    bind,
    distinct,
    foreign,
    has_text,
    joined,
    matched,
    render,
    suffixed,
)
from tracker.harvest.raised import Raised
from tracker.harvest.sites import Harvest, numbered, reason, told
from tracker.model import Form

Read = Callable[[str], bytes | None]
"""A path from the root of the repository -> the file's bytes; None where there is no such file in scope."""

FARTHEST = 6
"""Files that are followed one after the other: a re-export of a re-export, a base class of a base class."""


def link(harvests: Mapping[str, Harvest], read: Read) -> dict[str, Harvest]:
    """The harvests of one revision by path -> the same with the texts that stand in other files. Never fails."""
    links = _Links(read)
    thrown = {path: dict(found.open) for path, found in harvests.items() if found.open}
    waiting: list[tuple[str, Helper]] = []
    for path, found in harvests.items():
        for helper in found.helpers:
            if any(one.texts for one in links.all(path, helper.thrown)):
                # The exception class has words of its own: what callers hand in are only placeholders in them.
                thrown[path][helper.site] = helper.thrown
            else:
                waiting.append((path, helper))
    for (path, n), more in _handed_in(waiting, harvests, read, links).items():
        thrown[path][n] = _with(thrown[path][n], more)
    return {
        path: _linked(found, {n: links.all(path, given) for n, given in thrown[path].items()})
        if path in thrown
        else found
        for path, found in harvests.items()
    }


def handed_in(harvests: Mapping[str, Harvest], read: Read) -> dict[tuple[str, int], tuple[str, ...]]:
    """Path and index of sites whose exception has words of its own -> their texts with what callers in other files hand
    in. They are no part of the sites: a caller that comes or goes is no other message.
    """
    links = _Links(read)
    helpers = []
    for path, found in harvests.items():
        for helper in found.helpers:
            if any(one.texts for one in links.all(path, helper.thrown)) and (raw := read(path)) is not None:
                for one in (helper, *passed_on(path, raw, helper)):
                    helpers.append((path, replace(one, thrown=links.all(path, one.thrown))))
    return {
        at: tuple(dict.fromkeys(render(parts) for one in told for parts in one.texts))
        for at, told in _handed_in(helpers, harvests, read, links).items()
    }


def _with(thrown: tuple[Raised, ...], more: Sequence[Raised]) -> tuple[Raised, ...]:
    """What a site throws, completed by what callers of other files hand in."""
    own = [parts for parts in thrown[0].own if has_text(parts)] + [parts for one in more for parts in one.own]
    supplied = [*thrown[0].supplied, *(parts for one in more for parts in one.supplied)]
    return (replace(thrown[0], own=distinct(own), supplied=distinct(supplied)), *thrown[1:])


def _linked(found: Harvest, thrown: Mapping[int, tuple[Raised, ...]]) -> Harvest:
    sites = list(found.sites)
    reasons = list(found.reasons)
    for n, made in thrown.items():
        sites[n] = replace(told(sites[n], made), ordinal=1)
        reasons[n] = reason(made)
    sites = [replace(site, ordinal=1) if site.ordinal > 1 else site for site in sites]
    return replace(found, sites=numbered(sites), reasons=tuple(reasons))


def _handed_in(
    waiting: Iterable[tuple[str, Helper]], harvests: Mapping[str, Harvest], read: Read, links: _Links
) -> Mapping[tuple[str, int], list[Raised]]:
    """Path and index of a site -> what the callers in other files make the helper there throw."""
    helpers: dict[str, list[tuple[str, Helper]]] = defaultdict(list)
    homes: dict[str, set[str]] = defaultdict(set)
    for path, helper in waiting:
        helpers[helper.name].append((path, helper))
        module = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
        homes[helper.name] |= {helper.name, module}
    handed: dict[tuple[str, int], list[Raised]] = defaultdict(list)
    for path, harvest in sorted(harvests.items()):
        names = frozenset(name for name, home in homes.items() if home & harvest.imports)
        raw = read(path) if names else None
        for target, given in calls(path, raw, names) if raw is not None else ():
            name = target.name.rpartition(".")[2]
            home = links.home(path, target)
            for where, helper in helpers.get(name, ()):
                if where == home:
                    handed[where, helper.site] += helper.called(links.arguments(path, given))
    return handed


class _Links:
    """The modules of one revision, by the name that another file of it uses."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._texts: dict[str, bytes | None] = {}
        self._exports: dict[tuple[str, str], Export | None] = {}

    def _raw(self, path: str) -> bytes | None:
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _file(self, source: str, module: str) -> str | None:
        """The file of a module, seen from the file `source`: its packages may lie under a folder like `src`."""
        folders = source.split("/")[:-1]
        below = module.replace(".", "/")
        for depth in range(len(folders)):
            prefix = "".join(f"{folder}/" for folder in folders[:depth])
            for path in (f"{prefix}{below}.py", f"{prefix}{below}/__init__.py"):
                if self._raw(path) is not None:
                    return path
        return None

    def _find(self, source: str, target: Foreign, depth: int = 0) -> tuple[str, Export] | None:
        """What a reference of the file `source` means, and the file that says so."""
        head, _, rest = target.name.partition(".")
        # `from package import name`: a module of the package, or a name in its `__init__`.
        tries = [(f"{target.module}.{head}", rest), (target.module, target.name)]
        for module, name in tries if rest else reversed(tries):
            path = self._file(source, module) if name else None
            said = self._export(path, name) if path is not None else None
            if path is None or said is None:
                continue
            if said.elsewhere is None:
                return path, said
            if depth < FARTHEST:
                return self._find(path, said.elsewhere, depth + 1)
        return None

    def _export(self, path: str, name: str) -> Export | None:
        if (path, name) not in self._exports:
            raw = self._raw(path)
            self._exports[path, name] = export(path, raw, name) if raw is not None else None
        return self._exports[path, name]

    def home(self, source: str, target: Foreign) -> str | None:
        """The file in which what a reference means is defined."""
        found = self._find(source, target)
        return found[0] if found is not None else None

    def all(self, source: str, thrown: Iterable[Raised]) -> tuple[Raised, ...]:
        """What a site of the file `source` throws, once the other files have had their say."""
        return tuple(dict.fromkeys(made for one in thrown for made in self._made(source, one, 0)))

    def _made(self, source: str, one: Raised, depth: int) -> list[Raised]:
        maker = one.supplied[0][0] if len(one.supplied) == 1 and len(one.supplied[0]) == 1 else None
        if isinstance(maker, Foreign) and depth < FARTHEST and (found := self._find(source, maker)) is not None:
            path, said = found
            if said.raised:
                values = matched(said.signature, self.arguments(source, maker.arguments or Arguments((), ())))
                filled = [made.filled(said.function, values) for made in said.raised]
                form = Form.CALL if maker.use == "call" else Form.VARIABLE
                return [replace(m, form=form) for made in filled for m in self._made(path, made, depth + 1)]
        own, supplied = self.texts(source, one.own), self.texts(source, one.supplied)
        # What another file was asked and did not say tells nothing more than the call itself.
        return [replace(one, own=own, supplied=tuple(parts for parts in supplied if has_text(parts)) or one.supplied)]

    def arguments(self, source: str, given: Arguments) -> Arguments:
        """What a call in the file `source` hands over."""
        return Arguments(
            tuple(self.texts(source, texts) for texts in given.positional),
            tuple((name, self.texts(source, texts)) for name, texts in given.keywords),
        )

    def texts(self, source: str, texts: Texts, depth: int = 0) -> Texts:
        """Texts of the file `source` with what other files say in their places."""
        if not any(True for _ in foreign(texts)):
            return texts
        return distinct(
            parts for given in texts for parts in joined([self._part(source, part, depth) for part in given])
        )

    def _part(self, source: str, part: str | Hole | Foreign, depth: int) -> Texts:
        if not isinstance(part, Foreign):
            return ((part,),)
        found = self._find(source, part) if depth < FARTHEST else None
        said: Iterable[Parts] = ()
        if found is not None:
            path, told_by = found
            given = self.arguments(source, part.arguments or Arguments((), ()))
            texts = told_by.items if part.use == "item" else told_by.texts
            bound = bind(texts, told_by.function, matched(told_by.signature, given))
            said = filter(has_text, self.texts(path, bound, depth + 1))
        return distinct(suffixed(parts, part.suffix) for parts in said) or ((part,),)
