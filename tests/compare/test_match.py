"""Laws of matching that hold whatever the sites are."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from tracker.compare.match import match
from tracker.model import Form, Site

sites = st.lists(
    st.builds(
        Site,
        path=st.sampled_from(["a.py", "b.py"]),
        line=st.integers(1, 60),
        end_line=st.just(60),
        scope=st.sampled_from(["", "f", "g", "C.f"]),
        exception=st.sampled_from(["ValueError", "core.E", "E", None]),
        message=st.sampled_from([None, "bad x", "bad y", "must be a tuple, got {x}", "must be a list, got {x}"]),
        form=st.just(Form.FSTRING),
        guard=st.sampled_from([(), ("if x",), ("if x", "if not y")]),
    ),
    max_size=12,
    unique_by=lambda site: (site.path, site.line),
)


@given(sites, sites)
def test_one_to_one_and_nobody_is_lost(base, target):
    pairs = match(base, target)
    assert [pair.before for pair in pairs] == sorted(base, key=lambda site: (site.path, site.line))
    partners = [pair.after for pair in pairs if pair.after is not None]
    assert len(partners) == len(set(partners))
    assert set(partners) <= set(target)


@given(sites, sites, st.randoms())
def test_the_order_given_does_not_matter(base, target, chance: random.Random):
    shuffled = [chance.sample(some, len(some)) for some in (base, target)]
    assert match(*shuffled) == match(base, target)


@given(sites)
def test_nothing_changed_is_all_unchanged(base):
    assert all(pair.after == pair.before and pair.score in (None, 1.0) for pair in match(base, base))


@given(sites, sites)
def test_a_fuzzy_pair_tells_its_runner_up(base, target):
    for pair in match(base, target):
        assert (pair.score is None) == (pair.runner_up is None)
        if pair.score is not None:
            assert 0 <= pair.score <= 1
            assert 0 <= pair.runner_up <= 1
