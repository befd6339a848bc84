"""A site that can have raised a pasted error, with what speaks for it, and whether that is enough.

How much literal text is enough was set on messages of NumPy, SciPy, Flax and the standard library, none of which
may match.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from tracker.lookup.index import Fit
from tracker.model import Site

TELLING = 12
"""Letters of literal text from which a wording tells an error by itself: two words, say. Some 60 of JAX say less."""
LOOSE = 9
"""As many more where it begins with a placeholder, where words follow that it does not know, and where all its literals
are shorter than a phrase."""
PHRASE = 10
FAINT = 5
"""Letters from which a wording is worth a mention."""
INSIDE = 30
"""The same for a wording that does not begin where the message does."""
SHOWN = 5
"""Characters of a literal that was cut off from which its beginning counts."""
PARTIAL = 14
"""The same for the part of a wording that was not cut off."""


class Near(IntEnum):
    """How close the frames of a traceback come to a site."""

    NOWHERE = 0
    FILE = 1
    FUNCTION = 2
    LINE = 3
    """A line of the statement itself."""


class Agreement(IntEnum):
    """Whether the exceptions are the same; unknown where the paste or the source does not say."""

    DIFFERS = 0
    UNKNOWN = 1
    SAME = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A site that can have raised an error, with what speaks for it."""

    site: Site
    fit: Fit | None
    """None: the source has no text to compare."""
    exception: Agreement
    near: Near
    odd: bool
    """It says something, and that is not in the paste: only a frame of the traceback speaks for it."""
    marked: bool
    """Whether the pasted message was visibly cut off."""
    open_end: bool
    """Whether the pasted message may go on where the paste ends."""

    @property
    def whole(self) -> bool:
        return self.fit is not None and self.fit.complete and self.fit.anchored

    @property
    def order(self) -> tuple[object, ...]:
        """Best first."""
        fit = self.fit
        return (
            self.exception is Agreement.DIFFERS,
            self.near is not Near.LINE,
            *self.evidence,
            fit.holes if fit else 0,
            self.site.path,
            self.site.line,
        )

    @property
    def evidence(self) -> tuple[float, ...]:
        """What tells candidates apart, smaller is better: tier of the text, its length, then frames and exception."""
        fit = self.fit
        if fit is None:
            return 4, 0, False, -self.near, -self.exception
        tier = (0 if fit.at_end else 1) if self.whole else 0 if self.partial else 2 if fit.complete else 3
        # The first letters of a literal at the end of a paste can be there by chance.
        matched = fit.matched - (fit.shown if fit.shown < SHOWN else 0)
        return tier, -matched, not self.whole, -self.near, -self.exception

    @property
    def sure(self) -> bool:
        """Whether this is more than a likeness."""
        fit = self.fit
        if self.near is Near.LINE and (fit is None or fit.complete or fit.cut or fit.elided):
            return True
        if fit is None:
            return False
        if self.exception is Agreement.DIFFERS:
            return self.faint
        if self.whole:
            return fit.letters >= self._enough or self.near >= Near.FUNCTION or self.faint
        return self.partial if not fit.complete else fit.letters >= INSIDE

    @property
    def _enough(self) -> int:
        """Letters from which a wording that is there as a whole tells an error by itself."""
        fit = self.fit
        if fit is None:
            return TELLING
        longest = max(sum(map(str.isalpha, literal)) for literal in fit.text.literals)
        loose = (not fit.text.literals[0]) + (not fit.at_end) + (longest < PHRASE)
        return TELLING + LOOSE * loose

    @property
    def faint(self) -> bool:
        """Whether little speaks for the site: an exception and a text that others can raise, or its beginning."""
        fit = self.fit
        if fit is None or self.near is Near.LINE:
            return False
        if self.exception is Agreement.DIFFERS:
            return self.whole and fit.letters >= INSIDE
        if self.near is Near.FUNCTION or self.exception is Agreement.UNKNOWN:
            return False
        if self.partial:
            return not self.marked and fit.letters < INSIDE and fit.rest > 0
        return self.whole and FAINT <= fit.letters < self._enough

    @property
    def partial(self) -> bool:
        """Whether the paste shows a part of the wording, the rest of which was cut off or out."""
        fit = self.fit
        if fit is None or fit.complete or fit.letters < PARTIAL or not fit.anchored:
            return False
        if fit.cut:
            return self.open_end or fit.shown > 0 or fit.rest == 0
        return fit.elided and (fit.letters >= INSIDE or 2 * fit.matched >= fit.text.length)
