"""Texts that upstream could write to harm the reader of a report, and reports made of them."""

from __future__ import annotations

from datetime import datetime

from hypothesis import strategies as st

from tracker.model import (
    Cause,
    Coverage,
    Drift,
    Excerpt,
    Form,
    Kind,
    Milestone,
    Report,
    Revision,
    Site,
    Summary,
    Unlocated,
)

TEXTS = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!-- -->--><b>",
    "@someone and @an-org/team, see #123, GH-7 and a/b#9",
    "0123456789abcdef0123456789abcdef01234567",
    "https://example.org/x www.example.org mail@example.org",
    "``` and ````` and ~~~",
    "`a` ``b``",
    "a\r\n# heading\n\n> quote\n\n* list\n\n::error::x",
    "::error file=a,line=1::x",
    "%0A::warning::y",
    "[link](javascript:alert(1)) ![i](x) [1]: http://x",
    "| a | b |\n|---|---|",
    "\u202eright to left\u202c\u2066\u200b\ufeff",
    "\x00\x07\x1b[31mred\x1b[0m\x7f",
    "half \ud83d a pair",
    "{0} {1} {{x}} {{% raw %}} {{{x}}}",
    "&lt;script&gt; &#64;someone &amp;",
    "x" * 5000,
    "",
    " ",
)

texts = st.one_of(
    st.sampled_from(TEXTS), st.text(max_size=30), st.lists(st.sampled_from(TEXTS), max_size=3).map("".join)
)
names = texts.filter(bool)
lines = st.integers(1, 9999)
dates = st.datetimes(datetime(2024, 1, 1), datetime(2027, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0).isoformat() + "+00:00"
) | st.sampled_from(["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1970-01-01", "1999-12-31"])
commits = st.text("0123456789abcdef", min_size=40, max_size=40)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    line = draw(lines)
    message = draw(st.none() | texts)
    return Site(
        path=draw(names),
        line=line,
        end_line=line + draw(st.integers(0, 3)),
        scope=draw(texts),
        exception=draw(st.none() | names),
        message=message,
        alternatives=tuple(draw(st.lists(texts, max_size=2))) if message is not None else (),
        form=draw(st.sampled_from(Form)),
        guard=tuple(draw(st.lists(texts, max_size=2))),
        ordinal=draw(st.integers(1, 3)),
    )


@st.composite
def drifts(draw: st.DrawFn) -> Drift:
    before, after = draw(sites()), draw(sites())
    found = draw(st.sets(st.sampled_from(sorted(set(Kind) - {Kind.NEW, Kind.REMOVED})), min_size=1))
    lone = draw(st.sampled_from([None, Kind.NEW, Kind.REMOVED]))
    excerpt = st.none() | st.builds(Excerpt, line=lines, lines=st.lists(texts, min_size=1, max_size=4).map(tuple))
    return Drift(
        entry=draw(st.none() | st.text("0123456789abcdef", min_size=16, max_size=16)),
        kinds=frozenset({lone} if lone else found),
        before=None if lone is Kind.NEW else before,
        after=None if lone is Kind.REMOVED else after,
        certain=draw(st.booleans()),
        score=draw(st.none() | st.floats(0, 1)),
        runner_up=draw(st.none() | st.floats(0, 1)),
        cause=draw(
            st.none()
            | st.builds(
                Cause, commit=commits, author=texts, date=dates, subject=texts, pull_request=st.none() | st.integers(1)
            )
        ),
        possible=draw(st.none() | sites()),
        origin="" if lone is Kind.NEW else draw(commits),
        excerpts=(draw(excerpt), draw(excerpt)),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    revision = st.builds(Revision, name=names, commit=commits, committed_at=dates)
    found = tuple(draw(st.lists(drifts(), max_size=4)))
    entries = [drift.entry for drift in found if drift.entry]
    coverage = Coverage(files=1, sites=1, with_message=1)
    return Report(
        repository=draw(names),
        base=draw(st.none() | revision),
        target=draw(revision),
        files=((), ()),
        coverage=(None, coverage),
        partial=draw(st.dictionaries(names, texts, max_size=2)),
        tracked=draw(st.sampled_from(["pages", "all"])),
        summary=Summary(
            checked=len(found),
            unchanged=0,
            differing=len(found),
            kinds={kind: sum(kind in drift.kinds for drift in found) for kind in Kind},
        ),
        drifts=found,
        unlocated=tuple(draw(st.lists(st.builds(Unlocated, entry=commits, reason=texts), max_size=2))),
        pages={entry: draw(names) for entry in entries},
        notices=tuple(draw(st.lists(texts, max_size=2))),
        web=draw(st.sampled_from(["", "https://github.com/a/b"])),
        milestones=tuple(
            draw(
                st.lists(
                    st.builds(
                        Milestone,
                        version=st.sampled_from(["0.1", "0.2", "1.0"]),
                        date=dates,
                        commit=commits,
                        upstream=st.none() | commits,
                    ),
                    max_size=3,
                )
            )
        ),
    )
