"""What commands share."""

from __future__ import annotations

import os

import pytest

from tracker.commands.options import workers


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux lets a process have fewer cores")
@pytest.mark.parametrize("cores", [1, 2])
def test_no_more_workers_than_cores_that_may_be_used(cores):
    allowed = os.sched_getaffinity(0)
    if len(allowed) < cores:
        pytest.skip(f"this machine has no {cores} cores")
    os.sched_setaffinity(0, sorted(allowed)[:cores])
    try:
        with workers() as executor:
            assert (executor is None) == (cores == 1)
    finally:
        os.sched_setaffinity(0, allowed)
