"""`sigma`: runs, traces and bounds of arms with sigma are those of rescaled rewards, number for
number."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import Arms
from rai_sim.study.task import arms_from_json, arms_to_json

STARS = [[0.1, 0.2, 0.2, 0.2, 0.3], [0.2, 0.2, 0.2, 0.2, 0.2], [0.6, 0.1, 0.1, 0.1, 0.1]]
REWARDS = np.random.default_rng(3).normal([[5.0], [1.0], [0.0]], 0.8, (3, 4000))

#: By law: arms with sigma, and those whose rewards are theirs over 2 sigma.
PAIRS: dict[str, Callable[[], tuple[Arms, Arms]]] = {
    "gaussian": lambda: (
        rai.Gaussian([1.2, 1.0, 0.1], sd=1.5, sigma=1.7),
        rai.Gaussian(np.array([1.2, 1.0, 0.1]) / 3.4, sd=1.5 / 3.4),
    ),
    "categorical": lambda: (
        rai.Categorical([1, 2, 3, 4, 5], STARS, sigma=2.5),
        rai.Categorical(np.array([1, 2, 3, 4, 5]) / 5.0, STARS),
    ),
    "recorded": lambda: (
        rai.Recorded(REWARDS, [5.0, 1.0, 0.0], sigma=5.5),
        rai.Recorded(REWARDS / 11.0, np.array([5.0, 1.0, 0.0]) / 11.0),
    ),
}
ALGORITHMS = [rai.Vanilla(), rai.Butterscotch(), rai.LUCB()]


def problems(law: str) -> tuple[rai.Problem, rai.Problem]:
    """Return both problems of a law."""
    ours, theirs = (rai.best_arm(arms, strict=False) for arms in PAIRS[law]())
    return ours, theirs


def same(ours: rai.Problem, theirs: rai.Problem, algorithm: Algorithm, count: int) -> bool:
    """Whether runs have the same numbers."""
    runs = [
        rai.simulate(problem, algorithm, delta=0.1, replications=count, seed=5)
        for problem in (ours, theirs)
    ]
    one, two = (
        np.column_stack([run.pulls, run.rounds, run.representatives]).tolist() for run in runs
    )
    return bool(one == two)


@pytest.mark.parametrize(
    ("law", "algorithm"),
    # a round of Butterscotch is longer than the recording
    [
        pytest.param(
            law,
            one,
            # kernels that no other quick test needs
            marks=[pytest.mark.slow] if law == "categorical" and one != ALGORITHMS[0] else [],
        )
        for law in PAIRS
        for one in ALGORITHMS
        if (law, one) != ("recorded", ALGORITHMS[1])
    ],
    ids=str,
)
def test_a_run_with_sigma_is_one_of_rescaled_rewards(law: str, algorithm: Algorithm) -> None:
    """Pulls, rounds and outputs; rewards that are not rescaled give others."""
    ours, theirs = problems(law)
    assert same(ours, theirs, algorithm, 20)
    plain = type(ours.arms)(**({"sd": 1.5} if law == "gaussian" else {}), **arguments(ours.arms))
    assert not same(rai.best_arm(plain, strict=False), theirs, algorithm, 20)


def arguments(arms: Any) -> dict[str, Any]:
    """Return what arms are made from, but for sigma and sd."""
    names = {"Categorical": ("values", "probabilities"), "Recorded": ("rewards", "means")}
    return {name: getattr(arms, name) for name in names.get(type(arms).__name__, ("means",))}


@pytest.mark.parametrize("law", PAIRS)
def test_a_trace_is_in_rewards(law: str) -> None:
    """Means and radii are those of the rescaled run, times 2 sigma."""
    ours, theirs = (rai.trace(one, rai.Vanilla(), 0.1, seed=5) for one in problems(law))
    unit = ours.problem.arms.two_sigma
    assert unit > 1.0
    assert np.allclose(ours.means, unit * theirs.means, rtol=1e-12)
    assert np.allclose(ours.radii, unit * theirs.radii, rtol=1e-12)
    assert ours.arm_pulls.tolist() == theirs.arm_pulls.tolist()
    for event, other in zip(ours.events, theirs.events, strict=True):
        assert (event.round, event.arm) == (other.round, other.arm)
        assert np.isclose(event.mean, unit * other.mean)
        assert np.isclose(event.radius, unit * other.radius)
    # near the truth after hundreds of pulls, in units of reward
    best = int(np.argmax(ours.problem.arms.means))
    assert abs(ours.means[-1, best] - ours.problem.arms.means[best]) < ours.radii[-1, best]


@pytest.mark.filterwarnings("ignore:no bound holds for these arms")
@pytest.mark.parametrize("law", PAIRS)
def test_bounds_are_those_of_rescaled_rewards(law: str) -> None:
    """All of the paper's, the tight one, at this delta, and what oracles pay; where the hardest
    alternative lies is told in rewards."""
    ours, theirs = problems(law)
    unit = ours.arms.two_sigma
    for name in ("lower", "vanilla", "butterscotch", "practical"):
        bound = getattr(rai.bounds, name)
        assert bound(ours, 0.01) == bound(theirs, 0.01)
        plain = type(ours.arms)(**arguments(ours.arms))
        assert bound(rai.best_arm(plain, strict=False), 0.01) < bound(ours, 0.01)
    for threshold in ("paper", "gk16-unproven"):
        bounds = [rai.bounds.practical(one, 0.01, threshold) for one in (ours, theirs)]
        assert bounds[0] == bounds[1]
    at_delta = [rai.bounds.at_delta(one, 0.01) for one in (ours, theirs)]
    assert at_delta[0].pulls == at_delta[1].pulls
    one, two = (found.tight for found in at_delta)
    assert (one.value, one.weights.tolist()) == (two.value, two.weights.tolist())
    assert one.binding is not None
    assert two.binding is not None
    assert one.binding.theta == unit * two.binding.theta
    assert min(ours.arms.means) < one.binding.theta < max(ours.arms.means)
    assert f"sd {ours.arms.sigma:g}," in at_delta[0].conditions


def test_whose_bound_it_is() -> None:
    """That of Gaussian arms of sd sigma is their own; that of narrower ones, or of unequal ones, is
    one of others."""
    for sd, sigma, own in (
        (2.0, 2.0, True),
        (1.0, 2.0, False),
        ([2.0, 1.0], 2.0, False),
        (0.5, None, True),
    ):
        arms = rai.Gaussian([3.0, 1.0], sd=sd, sigma=sigma)
        assert rai.bounds.at_delta(rai.best_arm(arms), 0.1).own is own
    with pytest.raises(ValueError, match="family is 'bernoulli' but the arms have sigma 2"):
        rai.bounds.at_delta(rai.best_arm(rai.Gaussian([0.9, 0.1], sigma=2.0)), 0.1, "bernoulli")


@pytest.mark.parametrize("law", PAIRS)
def test_identity_and_stores(law: str) -> None:
    """Sigma is part of the identity where it is set, and nowhere else; arms survive pickles and
    JSON."""
    ours, _ = PAIRS[law]()
    plain = type(ours)(**({"sd": 1.5} if law == "gaussian" else {}), **arguments(ours))
    assert ours != plain
    assert "sigma" not in arms_to_json(plain)
    assert "sigma" not in repr(plain)
    assert f"sigma {ours.sigma}" in repr(ours)
    for again in (pickle.loads(pickle.dumps(ours)), arms_from_json(law, arms_to_json(ours))):
        assert again == ours
        assert again.rescaled == ours.rescaled
    assert plain.rescaled is plain
    assert ours.with_names(["a", "b", "c"]).rescaled == ours.rescaled
    named = plain.with_names(["a", "b", "c"])
    assert named.rescaled is named


@pytest.mark.parametrize(
    ("arms", "flaw"),
    [
        (rai.Gaussian([1.0, 0.0], sd=2.0, sigma=2.0), None),
        (rai.Gaussian([1.0, 0.0], sd=2.5, sigma=2.0), "sd is 2.5, more than sigma, 2.0"),
        (rai.Gaussian([1.0, 0.0], sd=[0.1, 0.6]), "sd[1] is 0.6, more than 0.5"),
        (rai.Gaussian([1.0, 0.0], sd=[1.0, 2.0], sigma=2.0), None),
        (rai.Categorical([1, 2, 3, 4, 5], STARS, sigma=2.0), None),
        (
            rai.Categorical([0, 1], [[0.5, 0.5], [0.4, 0.6]], sigma=0.4),
            "sigma is 0.4, but rewards are known to be 0.5-sub-Gaussian only",
        ),
        # a rare reward: by its best proxy, not by its range
        (rai.Categorical([0, 1], [[0.99, 0.01], [0.98, 0.02]], sigma=0.36), None),
        (rai.Recorded([[3.0, 4.0], [2.0, 1.0]], sigma=1.5), None),
        (
            rai.Recorded([[3.0, 4.0], [2.0, 1.0]], sigma=1.25),
            "sigma is 1.25, but rewards are up to 3.0 apart",
        ),
    ],
)
def test_sigma_is_judged(arms: Arms, flaw: str | None) -> None:
    """Arms that are known not to be sigma-sub-Gaussian are refused, unless strict is False."""
    assert arms.why_not_sub_gaussian() == flaw
    assert rai.best_arm(arms, strict=False).arms is arms
    if flaw is None:
        assert rai.best_arm(arms).arms is arms
    else:
        parameter = "1/2" if arms.sigma is None else f"{arms.sigma:g}"
        with pytest.raises(ValueError, match=f"arms are not known to be {parameter}-sub-Gaussian"):
            rai.best_arm(arms)


@pytest.mark.parametrize(
    ("sigma", "message"),
    [
        (0.0, "sigma is 0.0; it must be a positive finite number, .* or None for 1/2"),
        (-1, "sigma is -1"),
        (float("nan"), "sigma is nan"),
        (1e60, "sigma is 1e\\+60; beyond 1e\\+50"),
        (1e-60, "beyond 1e\\+50"),  # of the means over 2 sigma
    ],
)
def test_what_is_no_sigma(sigma: float, message: str) -> None:
    """Is refused when arms are made, of every law."""
    for make in (
        lambda: rai.Gaussian([1.0, 0.5], sigma=sigma),
        lambda: rai.Categorical([0.0, 1.0], [[0.5, 0.5]], sigma=sigma),
        lambda: rai.Recorded([[1.0, 1.0]], sigma=sigma),
        lambda: rai.Uniform([0.5], [1.0], sigma=sigma),
        lambda: rai.Poisson([1.0, 0.5], sigma=sigma),
        lambda: rai.StudentT([1.0, 0.5], sigma=sigma),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(TypeError, match="sigma must be a positive number"):
        rai.Gaussian([1.0, 0.5], sigma="1")  # type: ignore[arg-type]


def test_means_that_meet_once_they_are_divided() -> None:
    """Are a tie, of which clusters cannot be cut."""
    arms = rai.Gaussian([5e-324, 0.0], sigma=2.0)
    with pytest.raises(ValueError, match="arms 0 and 1 tie"):
        rai.best_arm(arms)


def test_theory_and_gaps() -> None:
    """The sum of gap^-2 counts gaps in units of 2 sigma; gaps that are shown are in rewards; a study
    over the gap keeps sigma."""
    from rai_sim.simulation.theory import theory_of

    ours, theirs = problems("gaussian")
    one, two = theory_of(ours, 0.1), theory_of(theirs, 0.1)
    assert (one.bound, one.complexity, one.asymptotic) == (
        two.bound,
        two.complexity,
        two.asymptotic,
    )
    assert one.practical("pairs") == two.practical("pairs")
    assert ours.bottleneck_gap == pytest.approx(0.2)
    study = rai.scaling.over_gap(ours, gaps=[0.5], algorithms=[rai.Vanilla()], replications=10)
    assert study.tasks[0].experiment.problem.bottleneck_gap == pytest.approx(0.5)
    assert study.tasks[0].experiment.problem.arms.sigma == 1.7


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm",
    [
        rai.BatchedTrackAndStop(),
        rai.TopTwo(),
        rai.LUCB(radius="mixture"),
        rai.Vanilla(width="mixture"),
        rai.Butterscotch(width="pairwise"),
    ],
    ids=repr,
)
def test_sharper_algorithms(algorithm: Algorithm) -> None:
    """See rescaled rewards too, in whatever units they count evidence."""
    for law in ("gaussian", "categorical"):
        assert same(*problems(law), algorithm, 10)


@pytest.mark.slow
def test_a_rule_of_a_users_own() -> None:
    """Is shown sums over 2 sigma, of laws with a lattice too, by Python as by the kernel."""

    class Widest(rai.OwnRule):
        """Pull all until the best two means are 0.03 apart."""

        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> Any:
            """Return how many arms are pulled."""
            for arm in range(counts.size):
                arms[arm] = arm
            if counts[0] < 20:
                return counts.size
            best, second = -1e300, -1e300
            for arm in range(counts.size):
                mean = sums[arm] / counts[arm]
                if mean > best:
                    best, second, arms[0] = mean, best, arm
                elif mean > second:
                    second = mean
            return 0 if best - second > 0.03 else counts.size

    for law in ("gaussian", "categorical"):
        ours, theirs = problems(law)
        assert same(ours, theirs, Widest(), 10)
        assert same(ours, theirs, Widest().in_python(), 5)
