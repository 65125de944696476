"""Walker's tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai_sim import Categorical


@pytest.mark.landing
@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(
        st.one_of(st.just(0.0), st.floats(1e-12, 1.0), st.just(1.0)), min_size=1, max_size=12
    ).filter(any)
)
def test_alias_tables_give_each_level_its_probability(weights: list[float]) -> None:
    """The columns' shares of a level add up to its probability; so does the chain of conditional
    ones."""
    p = np.array(weights) / math.fsum(weights)
    arms = Categorical(range(p.size), [p])
    law = arms.kernel_law()
    levels = law.steps[0].astype(np.int64)
    by_alias, by_chain, left = np.zeros(p.size), np.zeros(p.size), 1.0
    for column in range(p.size):
        assert 0.0 <= law.keep[0, column] <= 1.0
        by_alias[levels[column]] += law.keep[0, column] / p.size
        by_alias[levels[law.alias[0, column]]] += (1.0 - law.keep[0, column]) / p.size
        by_chain[levels[column]] = left * law.conditional[0, column]
        left *= 1.0 - law.conditional[0, column]
    assert by_alias == pytest.approx(arms.probabilities[0], abs=1e-15)
    assert by_chain == pytest.approx(arms.probabilities[0], abs=4e-15)
    assert not by_alias[arms.probabilities[0] == 0.0].any()
    assert not by_chain[arms.probabilities[0] == 0.0].any()
