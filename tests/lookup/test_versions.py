"""The version that a paste states: what is installed, not what an event or a bound names."""

from __future__ import annotations

import pytest

from tracker.lookup.versions import stated


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("jax 0.4.30", ["0.4.30"]),
        ("jax==0.4.30\njaxlib==0.4.29", ["0.4.30"]),
        ("jax: 0.4.30", ["0.4.30"]),
        ("jax version: v0.4.30", ["0.4.30"]),
        ("jax.__version__ is '0.4.30'", ["0.4.30"]),
        ("jax                0.4.30      pypi_0", ["0.4.30"]),
        ("| jax | 0.4.30 |", ["0.4.30"]),
        ("site-packages/jax-0.4.30.dist-info/METADATA", ["0.4.30"]),
        ("jaxlib version 0.3.20 is newer than and incompatible with jax version 0.3.15.", ["0.3.15"]),
        ("jax 0.4.36.dev20241125", ["0.4.36.dev20241125"]),
        ("jax 0.4.30 works, jax 0.4.31 does not", ["0.4.30", "0.4.31"]),
        ("jaxlib 0.4.30", []),
        ("flax==0.8.1, my-jax 0.4.30", []),
        ("jax>=0.4.30", []),
        ("was removed in JAX v0.6.0", []),
        ("use jax.tree.map (jax v0.4.25 or newer)", []),
        ("requires jax 0.4.1", []),
        ("jax", []),
    ],
)
def test_stated(text, versions):
    assert stated(text, "jax") == versions
