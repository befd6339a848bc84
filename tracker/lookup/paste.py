"""Reading a paste: what a person copied from a terminal, a notebook or an issue -> the errors in it.

It knows how tracebacks look and what is wrapped around them. It does not know any message, and decides nothing. Every
pattern here goes forward only: the time is linear in the length of the paste.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tracker.lookup.frames import Frame, context_line, frame_of, permalinks, pytest_end
from tracker.lookup.names import any_name, is_summary, named
from tracker.lookup.squeeze import squeeze
from tracker.lookup.unwrap import bare_line, is_fence, unwrapped, without_notes

MOST_ERRORS = 40
"""Distinct errors of one paste that are looked at; a log of more is read from its end."""
MOST_FRAMES = 200
"""Frames of one traceback that are kept, the innermost; an endless recursion shows no more than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """One error of a paste."""

    exception: str | None
    """As pasted, dotted; of several stacked names the last. None: the paste shows none."""
    message: str
    """The text after the name, as lines, without the signs that were wrapped around them."""
    frames: tuple[Frame, ...] = ()
    """Outermost first."""
    adjacent: bool = False
    """Whether the last frame stands directly above the error: then it raised it, unless frames are hidden."""
    whole: bool = False
    """Whether the message surely ends where it seems to: more of the traceback follows, or it ends a traceback."""

    @property
    def name(self) -> str | None:
        """The exception's name without its modules."""
        return self.exception.rpartition(".")[2] if self.exception else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paste:
    """What a paste holds."""

    errors: tuple[Raised, ...]
    """Each once, in the order in which they were pasted."""
    text: str
    """The whole, without colours and wrappers."""


_TRACEBACK = "Traceback (most recent call last)"
_TOP_NAME = re.compile(r"([A-Za-z_][\w.]*)\s+$")
_CHAINED = (
    "During handling of the above exception",
    "The above exception was the direct cause",
    "The above exception was raised",
)
_CARETS = re.compile(r"[\s~^]+$")
_GROUP_RULE = re.compile(r"\+[-+]+(?: \d+ -+)?$|\+-+$")
_BOX_RULE = re.compile(r"[╭╰┌└╔╚─━═┏┗+*]+[─━═\-]{3,}.*$")


def read(text: str) -> Paste:
    """The errors of a paste; without any name of an exception, its loose lines are one error without a name."""
    clean = unwrapped(text)
    reader = _Reader()
    for line in clean.split("\n"):
        reader.take(line)
    errors = reader.finish()
    links = permalinks(clean)[:MOST_FRAMES]
    if links:
        errors = [replace(error, frames=(*error.frames, *links)) for error in errors]
    return Paste(errors=tuple(_once(errors)), text=clean)


@dataclass(slots=True)
class _Open:
    """An error whose message is still being read."""

    exception: str | None
    lines: list[str]
    frames: list[Frame]
    adjacent: bool
    before: str
    """What stood on the line before the name; log prefixes are repeated on the next lines."""
    line: str
    """The line that names it."""


@dataclass(slots=True)
class _Reader:
    """Line by line: frames, then a name with a message, then lines of the message until something else begins."""

    errors: list[Raised] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    open: _Open | None = None
    top: str | None = None
    source_due: bool = False
    in_context: bool = False
    gap: bool = False
    """Whether something unknown stands between the last frame and here."""

    def take(self, line: str) -> None:
        bare = bare_line(line)
        if is_fence(bare):
            self._close(followed=False)
            return
        if not bare:
            if self.open is not None:
                self.open.lines.append("")
            return
        if _TRACEBACK in bare:
            self._close()
            self.frames, self.gap = [], False
            if (name := _TOP_NAME.match(bare[: bare.index(_TRACEBACK)] or "-")) is not None:
                self.top = name[1]
            return
        if bare.startswith(_CHAINED):
            self._close()
            self.frames, self.gap = [], False
            return
        if _GROUP_RULE.match(bare) or _BOX_RULE.match(bare):
            return
        if (end := pytest_end(bare)) is not None:
            self._ended(end)
            return
        if (frame := frame_of(bare)) is not None:
            self._close()
            self.frames.append(frame)
            self.source_due = frame.source_follows
            self.in_context = not frame.source_follows or frame.line is None
            self.gap = False
            return
        if self.open is None and self.frames and not self.gap and self._context(bare):
            return
        if self._header(line, bare):
            return
        if self.open is not None:
            prefix = self.open.before
            self.open.lines.append(bare.removeprefix(prefix) if prefix else bare)
            return
        if self.source_due:
            self.source_due = False
            self.frames[-1] = replace(self.frames[-1], source=bare)
            return
        if _CARETS.match(bare):
            return
        self.gap = self.gap or bool(self.frames)
        self.loose.append(bare)

    def finish(self) -> list[Raised]:
        self._close(followed=False)
        if not self.errors and any(self.loose):
            text = without_notes("\n".join(self.loose))
            self.errors.append(Raised(exception=None, message=text, frames=tuple(self.frames[-MOST_FRAMES:])))
        elif not self.errors and self.frames:
            self.errors.append(
                Raised(exception=self.top, message="", frames=tuple(self.frames[-MOST_FRAMES:]), adjacent=True)
            )
        return self.errors

    def _context(self, bare: str) -> bool:
        """Numbered source lines of a notebook; the marked one belongs to the frame."""
        found = context_line(bare)
        if found is None:
            return False
        number, source, marked = found
        last = self.frames[-1]
        if last.line == number or (marked and last.line is None):
            self.frames[-1] = replace(last, line=number, source=source)
        self.source_due = False
        return True

    def _header(self, line: str, bare: str) -> bool:
        """Whether the line names an exception; then a new error begins."""
        if self.open is not None and bare == self.open.line:
            return True  # a log that says the same again and again
        found = named(bare) or (any_name(bare) if self._under_frames(line) else None)
        if found is None:
            return False
        new = _Open(found.name, [bare[found.message :]], [], False, bare[: found.start], bare)
        if self.open is not None:
            self.open.lines.append(bare)
            if found.start > 0 and not is_summary(bare):
                # A name in the middle of a message: an error that the message tells of, besides.
                self.errors.append(self._raised(new, whole=False))
                return True
        else:
            new.frames, new.adjacent = list(self.frames), bool(self.frames) and not self.gap
        self._close()
        self.open = new
        self.frames, self.source_due, self.gap = [], False, False
        return True

    def _under_frames(self, line: str) -> bool:
        if not self.frames or self.gap or self.open is not None or self.source_due:
            return False
        return not line[:1].isspace()

    def _ended(self, frame: Frame) -> None:
        """pytest names the raising line below the error."""
        self._close()
        if self.errors:
            last = self.errors[-1]
            self.errors[-1] = replace(last, frames=(*last.frames, *self.frames, frame), adjacent=True)
        self.frames = []

    def _close(self, followed: bool = True) -> None:
        if self.open is not None:
            self.errors.append(self._raised(self.open, followed or self.open.adjacent))
            self.open = None

    def _raised(self, one: _Open, whole: bool) -> Raised:
        pasted = "\n".join(one.lines).strip()
        message = without_notes(pasted)
        quote = one.before[-1:]
        if quote == "`":
            message = message.partition("`")[0]  # inline code ends with the next one
        elif quote and quote in "\"'*" and message.endswith(quote):
            message = message.rstrip(quote)
        return Raised(
            exception=one.exception,
            message=message.rstrip("*"),
            frames=tuple(one.frames[-MOST_FRAMES:]),
            adjacent=one.adjacent,
            whole=whole or message != pasted,
        )


def _once(errors: Sequence[Raised]) -> list[Raised]:
    """Errors that were pasted several times, as JAX prints them, once, with the fullest of their tracebacks."""
    kept: list[Raised] = []
    keys: dict[tuple[str | None, str], int] = {}
    for error in errors:
        key = (error.name, squeeze(error.message)[:200])
        if key in keys:
            n = keys[key]
            fullest = max((kept[n], error), key=lambda one: len(one.frames))
            kept[n] = replace(
                kept[n],
                frames=fullest.frames,
                adjacent=fullest.adjacent,
                message=max(kept[n].message, error.message, key=len),
                whole=kept[n].whole or error.whole,
            )
            continue
        keys[key] = len(kept)
        kept.append(error)
    return kept[-MOST_ERRORS:]
