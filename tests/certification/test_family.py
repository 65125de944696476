"""The ready-made instances: near ties that end in time, each of the kinds that are promised."""

import itertools

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.certification import family


@pytest.mark.parametrize("delta", [0.1, 0.001])
@pytest.mark.parametrize("pulls", [20_000, 200_000])
def test_gaps_are_the_least_that_end_in_time(delta: float, pulls: float) -> None:
    """By Theorem 2; a gap of two digits is up to a tenth more than needed, so the bound is some
    fifth less."""
    for name, problem in rai.hard_problems(delta, pulls=pulls).items():
        bound, widest = rai.bounds.vanilla(problem, delta), problem.bottleneck_gap > 0.1499
        widest |= bool(abs(problem.arms.means - 0.5).max() > 0.499)
        assert bound <= pulls or widest, name
        assert bound > 0.75 * pulls, name
        assert problem.arms.why_not_sub_gaussian() is None


def test_every_kind_is_there() -> None:
    """Clusters of one, equal means in a cluster, the laws of the paper's experiments, openings that
    mislead."""
    found = rai.hard_problems()
    kinds = {name.partition(":")[0] for name in found}
    assert kinds == {
        "clusters of one", "near ties", "equal means", "opening", "drawn", "Categorical", "Gaussian"
    }  # fmt: skip
    laws = {type(problem.arms).__name__.lower() for problem in found.values()}
    assert laws == {"bernoulli", "categorical", "gaussian"}
    for name, problem in found.items():
        equal = len(np.unique(problem.arms.means)) < problem.n_arms
        assert equal or not name.startswith("equal means")
        assert set(problem.clusters) == {1} or not name.startswith("clusters of one")


def test_openings_mislead() -> None:
    """After one pull of each arm the truth is more likely to be upside down than not."""
    for name, problem in rai.hard_problems(0.01).items():
        if not name.startswith("opening") or not isinstance(problem.arms, rai.Categorical):
            continue
        wanted = next(i for i, required in enumerate(problem.required) if required)
        arms, table = problem.arms, problem.arms.probabilities
        (right,) = np.flatnonzero(problem.cluster_of == wanted)
        sign = 1.0 if wanted == 0 else -1.0
        misled = 0.0
        for levels in itertools.product(range(len(arms.values)), repeat=arms.n_arms):
            seen = sign * arms.values[list(levels)]
            if seen[right] < np.delete(seen, right).max():
                misled += float(np.prod(table[np.arange(arms.n_arms), levels]))
        assert misled > 0.5, name


def test_they_are_a_function_of_their_arguments() -> None:
    """The seed draws some of them."""
    one, same, other = (rai.hard_problems(0.1, seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert {name for name in one if one[name] != other[name]} <= {
        f"drawn: {k}" for k in range(1, 5)
    }
    assert one != other


def test_whatever_is_drawn_is_a_problem() -> None:
    """Of many seeds, at narrow gaps and the widest one."""
    sizes = set()
    for seed in range(200):
        make = family._drawn(np.random.default_rng(seed))
        for gap in (1e-6, 0.15):
            problem = make(gap)
            sizes.add((problem.n_clusters, problem.n_arms))
            assert 0.0 <= problem.arms.means.min() <= problem.arms.means.max() <= 1.0
    assert {clusters for clusters, _ in sizes} == {2, 3, 4}
    assert max(arms for _, arms in sizes) >= 10


@pytest.mark.parametrize("pulls", [999, float("nan"), float("inf"), 1e26, "many"])
def test_pulls_that_make_no_near_tie_are_refused(pulls: float) -> None:
    """The message names them."""
    with pytest.raises((TypeError, ValueError), match="pulls"):
        rai.hard_problems(pulls=pulls)
