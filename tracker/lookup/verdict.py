"""One pasted error against one snapshot: match, ambiguous, foreign or none, and in plain words why.

Never a guess sold as an answer: what is not sure enough is `none`, and what others raise is `foreign`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracker.lookup.candidate import INSIDE, Agreement, Candidate, Near
from tracker.lookup.foreign import INTERPRETER, Foreign, foreign
from tracker.lookup.paste import Raised
from tracker.lookup.rank import Ranker, best
from tracker.model import Site


class Verdict(StrEnum):
    """What became of a search, the most telling first."""

    MATCH = "match"
    AMBIGUOUS = "ambiguous"
    FOREIGN = "foreign"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A site that an error comes from."""

    site: Site
    score: float
    """How sure, from 0 to 1: several that fit equally well share what one would have."""
    why: str
    partial: bool
    """Only a part of the text is in the paste."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The answer for one error."""

    error: Raised
    verdict: Verdict
    matches: tuple[Match, ...]
    """Best first."""
    reason: str
    """Why there is no match, or why it is not one alone; empty for a plain match."""

    settled: bool = False
    """Whether no other version need be asked: the best match is there whole, or the paste was visibly cut off."""


def judge(error: Raised, ranker: Ranker) -> Judged:
    """The verdict on one error at the ranker's revision."""
    candidates = ranker.rank(error)
    found = best(candidates)
    other = foreign(error, ranker.files)
    if found and (other is None or not other.strong or _outweighs(found[0], other)):
        matches = tuple(_match(one, len(found), error) for one in found)
        settled = found[0].marked or not (found[0].partial or found[0].exception is Agreement.DIFFERS)
        if len(found) == 1 and not found[0].faint:
            return Judged(error=error, verdict=Verdict.MATCH, matches=matches, reason="", settled=settled)
        reason = _several(found)
        return Judged(error=error, verdict=Verdict.AMBIGUOUS, matches=matches, reason=reason, settled=settled)
    if (
        other is not None
        and other.origin == INTERPRETER
        and found
        and found[0].whole
        and _names_own(error, ranker.files)
    ):
        # JAX puts some of the interpreter's words into errors of its own.
        reason = f"{other.reason}, and so does this statement; a frame of the traceback would tell"
        matches = tuple(_match(one, len(found) + 1, error) for one in found)
        return Judged(error=error, verdict=Verdict.AMBIGUOUS, matches=matches, reason=reason, settled=True)
    if other is not None:
        return Judged(error=error, verdict=Verdict.FOREIGN, matches=(), reason=other.reason)
    return Judged(error=error, verdict=Verdict.NONE, matches=(), reason=_nothing(error))


def _names_own(error: Raised, files: frozenset[str]) -> bool:
    """Whether a message speaks of the package or one of its modules."""
    return any(top in error.message for top in {file.partition("/")[0] for file in files})


def _outweighs(candidate: Candidate, other: Foreign) -> bool:
    """Whether a site claims an error that looks like someone else's more strongly than the looks do."""
    if candidate.near is Near.LINE and candidate.exception is not Agreement.DIFFERS:
        return True
    fit = candidate.fit
    says_a_lot = candidate.whole and fit is not None and fit.letters >= INSIDE and bool(fit.text.literals[0])
    return other.origin == "XLA" and says_a_lot and candidate.exception is Agreement.SAME


def _several(found: Sequence[Candidate]) -> str:
    if found[0].exception is Agreement.DIFFERS:
        return "the text is that of a statement which raises another exception"
    if found[0].faint:
        return "the text says so little that others can raise it, too; a frame of the traceback would tell"
    if any(one.partial for one in found):
        return "the paste shows only the beginning of the text, and these begin alike"
    return "these raise the same text; the traceback's last frame would tell which of them it was"


def _nothing(error: Raised) -> str:
    if not error.message:
        return "there is no text to look for, and no frame of the traceback is a raise without text"
    return "no raise statement has this text"


def _match(one: Candidate, among: int, error: Raised) -> Match:
    partial = one.partial and one.near is not Near.LINE
    return Match(site=one.site, score=round(_score(one) / among, 2), why=_why(one, error), partial=partial)


def _score(one: Candidate) -> float:
    fit = one.fit
    if one.faint:
        return 0.4
    if one.odd:
        return 0.7
    if one.near is Near.LINE:
        return 0.99 if fit is not None and fit.complete else 0.95
    sure = 0.6 if one.partial else 0.9 if one.whole else 0.75
    sure += 0.05 * (one.near is Near.FUNCTION) + 0.03 * (one.exception is Agreement.SAME)
    return sure if fit is None or fit.letters >= INSIDE else sure - 0.1


def _why(one: Candidate, error: Raised) -> str:
    """In plain words what speaks for a site."""
    fit, said = one.fit, []
    if one.odd:
        said.append("its text, as far as the source shows it, is another")
    elif fit is None:
        said.append("text not resolved in the source")
    elif fit.complete and not fit.holes and fit.at_end and fit.anchored:
        said.append("the text is the same, letter by letter")
    elif fit.complete:
        said.append(f"all literal parts of its text are there in order ({fit.letters} letters)")
    else:
        said.append(
            f"a part of its text is there ({fit.letters} of {fit.text.letters} letters), the rest is cut off or out"
        )
    if one.exception is Agreement.SAME:
        said.append("same exception")
    elif one.exception is Agreement.DIFFERS:
        said.append(f"but the exception differs ({one.site.exception})")
    elif error.exception is None:
        said.append("the paste names no exception")
    if one.near is Near.LINE:
        said.append("a frame of the traceback is this statement")
    elif one.near is Near.FUNCTION:
        said.append("the traceback goes through this function")
    return ", ".join(said)
