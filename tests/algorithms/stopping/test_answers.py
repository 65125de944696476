"""Who is named: whoever costs most to make wrong."""

from __future__ import annotations

import numpy as np
import pytest
from adaptive import ALL, setting_of

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.stopping import answers
from rai_sim.algorithms.stopping.run import new_run
from rai_sim.engine.blocks import new_block
from rai_sim.engine.jit import exposed

choose = exposed(answers.choose)


def test_the_dearest_of_every_cluster_are_chosen() -> None:
    """Of equal ones the first; clusters of which nothing is asked have no rows. 200 draws."""
    sizes, required = (2, 4, 1, 3), (1, 2, 0, 3)
    problem = rai.Problem(rai.Bernoulli(np.linspace(0.9, 0.1, 10)), sizes, required)
    run = new_run(problem.arms.kernel_law(), "pairs", setting_of(problem), new_block(1, 6))
    rng, chosen = np.random.default_rng(1), run.answer.chosen
    for _ in range(200):
        values = run.answer.moves.values
        values[:] = rng.integers(0, 4, 9)
        least, first, wanted = choose(run, chosen), 0, []
        for c, r in ((2, 1), (4, 2), (3, 3)):
            rows = sorted(range(first, first + c), key=lambda j: (-values[j], j))
            wanted += sorted(rows[:r])
            first += c
        assert np.flatnonzero(chosen).tolist() == wanted
        assert least == values[wanted].min()


@pytest.mark.landing
@pytest.mark.parametrize("algorithm", [one for one in ALL if one.threshold == "pairs"], ids=str)
@pytest.mark.parametrize(("second", "named"), [(0.42, 2), (0.35, 1)])
def test_the_leader_is_recommended(algorithm: Algorithm, second: float, named: int) -> None:
    """Of a middle cluster the arm that is farther from those of both others, be it the better one or
    not; one of the four, if no pull is paid for."""
    means = [0.9, 0.6 if named == 2 else 0.5, second, 0.0]
    arms = rai.Recorded(np.tile(np.array(means)[:, None], 80), means=means)
    problem = rai.Problem(arms, (1, 2, 1), (0, 1, 0))
    first = 4 if isinstance(algorithm, rai.TopTwo) else 64
    run = rai.simulate(problem, algorithm, replications=8, seed=1, max_pulls=first)
    assert (run.pulls == first).all()
    assert run.recommended is not None
    assert (run.recommended == named).all()
    run = rai.simulate(problem, algorithm, replications=8, seed=1, max_pulls=first - 1)
    assert not run.pulls.any()
    assert run.recommended is not None
    assert np.unique(run.recommended).size > 1
