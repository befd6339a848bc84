"""Which sites a pasted error can come from, best first, and what speaks for each. Values in, values out.

A wording that lies on the text whole outweighs any likeness; the exception's type and the frames of the traceback
decide between equal wordings, and stand in for a text that says next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from tracker.lookup.candidate import Agreement, Candidate, Near
from tracker.lookup.frames import Frame
from tracker.lookup.index import Fit, Index, Pasted
from tracker.lookup.paste import Raised
from tracker.lookup.squeeze import ELISION, squeeze_paste
from tracker.model import Form, Site, Snapshot, leaf

_OPENING = re.compile(r":\s|[\"'(>\u2018\u201c]")
MOST_OPENINGS = 200
_NAME = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Z]\w+):\s+")


class Ranker:
    """One snapshot, ready to be asked about many errors."""

    def __init__(self, snapshot: Snapshot, fuller: Mapping[Site, Sequence[str]]) -> None:
        self.files = frozenset(snapshot.files)
        self.index = Index(snapshot.sites, fuller)
        self._exceptions = {leaf(site.exception) for site in snapshot.sites}
        self._at: dict[str, list[Site]] = {}
        for site in snapshot.sites:
            self._at.setdefault(site.path, []).append(site)

    def places(self, frames: Iterable[Frame]) -> dict[str, list[Frame]]:
        """The frames that lie in files of the snapshot, by file."""
        found: dict[str, list[Frame]] = {}
        for frame in frames:
            if (path := within(frame.file, self.files)) is not None:
                found.setdefault(path, []).append(frame)
        return found

    def named(self, error: Raised) -> Raised:
        """An error without a name, where its text begins with one that only the source can tell for one."""
        if error.exception is None and (found := _NAME.match(error.message)) and leaf(found[1]) in self._exceptions:
            return replace(error, exception=found[1], message=error.message[found.end() :])
        return error

    def rank(self, error: Raised) -> list[Candidate]:
        """Every site that may be meant, best first; whether one is, is for the caller to judge by `sure`."""
        error = self.named(error)
        pasted, marked = _pasted(error)
        places = self.places(error.frames)
        last = error.frames[-1].source if error.frames and error.adjacent else None
        raises = last is not None and last.startswith("raise")
        fits: dict[Site, Fit] = {}
        for fit in self.index.fits(pasted) if pasted.text else ():
            for site in fit.text.sites:
                if site not in fits or _better(fit, fits[site]):
                    fits[site] = fit
        here = {site for path in places for site in self._at.get(path, ()) if _near(site, places) is Near.LINE}
        found = []
        for site in [*fits, *(here - set(fits))]:
            near = _near(site, places)
            odd = site not in fits and bool(site.messages)
            if odd and (near is not Near.LINE or (pasted.text and not raises)):
                continue  # it says something, and that is not in the paste
            found.append(
                Candidate(
                    site=site,
                    fit=fits.get(site),
                    exception=agreement(error.exception, site),
                    near=near,
                    odd=odd,
                    marked=marked,
                    open_end=marked or not error.whole,
                )
            )
        return sorted(found, key=lambda candidate: candidate.order)


def best(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first candidate, if it is sure, and all that the paste does not tell from it."""
    plain = [one for one in candidates if not one.odd]
    if not plain or not plain[0].sure:
        return [one for one in candidates if one.odd and one.exception is Agreement.SAME][:1]
    candidates, first = plain, plain[0]
    if first.near is Near.LINE:
        return [first]
    equal = [
        one for one in candidates if one.sure and (one.evidence, one.exception) == (first.evidence, first.exception)
    ]
    if first.fit is not None and first.open_end:
        # A wording that goes on behind this one, and of which the paste may show but the beginning.
        equal += [
            one
            for one in candidates
            if one not in equal
            and one.partial
            and one.fit is not None
            and one.fit.cut
            and one.fit.anchored == first.fit.anchored
            and one.exception >= first.exception
            and one.near >= first.near
            and one.fit.matched >= first.fit.matched
        ]
    return equal


def within(file: str, files: frozenset[str]) -> str | None:
    """The file of the snapshot that a pasted path ends with; at least a folder of it must be there."""
    return next((path for path in endings(file) if path in files), None)


def endings(file: str) -> Iterator[str]:
    """The paths that a pasted path ends with, longest first, each with a folder."""
    parts = file.strip("/").split("/")
    return ("/".join(parts[n:]) for n in range(len(parts) - 1))


def agreement(exception: str | None, site: Site) -> Agreement:
    """Whether a pasted exception is the one that a site raises."""
    raised = leaf(site.exception)
    if exception is None or raised is None or site.form is Form.RERAISE:
        return Agreement.UNKNOWN
    if leaf(exception) == raised:
        return Agreement.SAME
    # A variable or an attribute of an object, not a class.
    return Agreement.DIFFERS if raised[:1].isupper() else Agreement.UNKNOWN


def _pasted(error: Raised) -> tuple[Pasted, bool]:
    """The message for the index, and whether it was visibly cut at its end.

    A wording begins where the message does; where no name of an exception marks that, at any line.
    """
    breaks, parts, length = [], [], 0
    for line in error.message.split("\n"):
        breaks.append(length)
        parts.append(squeeze_paste(line))
        length += len(parts[-1])
    text = squeeze_paste("".join(parts))
    marked = text.endswith(("...", ELISION))
    if marked:
        text = text.rstrip("." + ELISION)
    starts = {0} if error.exception is not None else {*breaks, *_openings(error.message)}
    return Pasted(text, tuple(sorted(at for at in starts if at < len(text))), frozenset(breaks)), marked


def _openings(message: str) -> list[int]:
    """Where in a squeezed text, behind a colon or a quote, someone may begin to quote an error."""
    found, at, length = [], 0, 0
    for opening in islice(_OPENING.finditer(message), MOST_OPENINGS):
        length += len(squeeze_paste(message[at : opening.end()]))
        at = opening.end()
        found.append(length)
    return found


def _better(fit: Fit, other: Fit) -> bool:
    return (fit.complete and fit.anchored, fit.matched) > (other.complete and other.anchored, other.matched)


def _near(site: Site, places: Mapping[str, Sequence[Frame]]) -> Near:
    return max((_nearness(site, frame) for frame in places.get(site.path, ())), default=Near.NOWHERE)


def _nearness(site: Site, frame: Frame) -> Near:
    """Of a frame in the site's file."""
    function = frame.function
    inside = frame.line is not None and site.line <= frame.line <= site.end_line
    if function is None or function.startswith("<"):
        return Near.LINE if inside else Near.FILE
    if not _same_function(function, site.scope):
        return Near.FILE
    return Near.LINE if inside else Near.FUNCTION


def _same_function(function: str, scope: str) -> bool:
    return (
        scope == function or scope.rpartition(".")[2] == function.rpartition(".")[2] or scope.endswith("." + function)
    )
