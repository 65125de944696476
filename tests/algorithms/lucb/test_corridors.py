"""The exchange of roles in LUCB's corridors, Lemma 4 of rai_sim/algorithms/lucb/README.md: right as
it is, and wrong without either of its conditions."""

from functools import partial
from pathlib import Path

import pytest
from exchange import LEFT, mismatches_without, needing
from replay import mismatches, run_kernel, run_twin

from rai_sim import LUCB


@pytest.mark.landing
@pytest.mark.parametrize("condition", LEFT)
def test_replay_of_exchanges(condition: str) -> None:
    """16 recordings for each condition agree in all numbers."""
    drawn = needing(condition)
    assert len(drawn) == 16
    assert mismatches(drawn, partial(run_kernel, LUCB()), partial(run_twin, LUCB())) == []


@pytest.mark.slow
@pytest.mark.parametrize("condition", LEFT)
def test_each_condition_is_needed(condition: str, tmp_path: Path) -> None:
    """Negative control: without the condition at least three of them differ."""
    assert mismatches_without(condition, tmp_path) >= 3
