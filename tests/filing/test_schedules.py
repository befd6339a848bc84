"""Some of the random years in every run of the tests; `python -m tests.filing.schedules 1000` plays more."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.filing.schedules import play


@given(seed=st.integers(min_value=0, max_value=10**9))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_happens_each_drift_is_told_once_and_nothing_is_closed_wrongly(seed: int) -> None:
    assert play(seed) == []
