"""LUCB's view of many arms: every number of a run against the literal twin, and which levels are
used; see also `view_guards`."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import replay
from numpy.typing import NDArray
from replay import KINDS, Instance, Run, mismatches, run_kernel, run_twin

import rai_sim as rai
from rai_sim import LUCB
from rai_sim.algorithms.lucb import loop
from rai_sim.algorithms.lucb.strides import VIEW
from rai_sim.algorithms.lucb.view import NoView, new_view
from rai_sim.algorithms.lucb.view_guards import CHOSEN, FULL_ROUNDS, View
from rai_sim.engine.strides import without

RULES = [LUCB(as_printed=False), LUCB(as_printed=True)]


def instances(seed: int, count: int, least_arms: int, most_arms: int) -> list[Instance]:
    """Draw instances in two to four clusters, most of them capped."""
    rng = np.random.default_rng(seed)
    drawn: list[Instance] = []
    while len(drawn) < count:
        instance = _draw(rng, int(rng.integers(least_arms, most_arms + 1)), int(rng.integers(2, 5)))
        # otherwise there is no view
        if 2 * sum(min(c, 20) for c in instance.clusters) < instance.n_arms:
            drawn.append(instance)
    return drawn


def _draw(rng: np.random.Generator, N: int, m: int) -> Instance:
    cuts = (
        np.sort(rng.choice(np.arange(1, N), m - 1, replace=False))
        if rng.random() < 0.6
        else np.cumsum(rng.integers(1, 4, m - 1))
    )
    clusters = np.diff([0, *cuts, N])[:: int(rng.choice([-1, 1]))]
    required = np.zeros(m, np.int64)
    while not required.any():
        required = np.where(
            rng.random(m) < 0.6,
            rng.integers(np.where(rng.random(m) < 0.5, clusters, np.minimum(clusters, 3)) + 1),
            0,
        )
    gap = rng.uniform(0.5, 1.0)
    means = np.repeat(-gap * np.arange(m), clusters) - rng.uniform(
        0.0, gap * float(rng.choice([0.0, 0.02, 0.2])), N
    )
    means -= means.min()
    span = 1.0
    while means.max() > 0.9 * span:
        span *= 2.0
    means += rng.uniform(0.0, span - means.max())
    rewards = (
        replay._record(rng, str(rng.choice(KINDS)), means / span, int(rng.integers(500, 4_000)))
        * span
    )
    order = rng.permutation(N)
    return Instance(
        rewards[order],
        means[order],
        tuple(clusters.tolist()),
        tuple(required.tolist()),
        float(rng.choice([0.3, 0.01])),
        int(N + rng.integers(1, 12 * N)) if rng.random() < 0.7 else None,
        span,
        int(rng.integers(1 << 32)),
        int(rng.integers(1 << 32)),
    )


@pytest.mark.slow
def test_levels_are_chosen_seldom(views: list[View]) -> None:
    """Thirds of 30,000 arms, 14,000 rounds: guards are carried on, so that all arms are looked at
    a few times only, and a view lasts for ten rounds."""
    arms = rai.Bernoulli(np.linspace(0.95, 0.05, 30_000))
    problem = rai.Problem(arms, (10_000, 10_000, 10_000), (10, 10, 10))
    result = rai.simulate(problem, LUCB(), delta=0.01, replications=1, seed=1, max_pulls=130_000)
    state = np.sum([view.state for view in views], axis=0)
    chosen = state[CHOSEN:][state[CHOSEN:] > 0]
    assert result.rounds[0] > 10_000
    assert chosen[0] + state[FULL_ROUNDS] < 40
    assert chosen[-1] < result.rounds[0] / 10


@pytest.fixture
def views(monkeypatch: pytest.MonkeyPatch) -> list[View]:
    """The views that are used from now on."""
    used: list[View] = []

    def noted(N: int, sizes: NDArray[np.int64]) -> View | NoView:
        view = new_view(N, sizes)
        if isinstance(view, View):
            used.append(view)
        return view

    monkeypatch.setattr(loop, "new_view", noted)
    return used


def run_without_view(algorithm: LUCB, instance: Instance) -> Run:
    """Replay with all active arms in the ranking."""
    return run_kernel(algorithm, instance, strides=without(VIEW))


@pytest.mark.slow  # the kernel with a view is compiled for this test alone
@pytest.mark.parametrize(
    "algorithm",
    [pytest.param(LUCB(), marks=pytest.mark.boundscheck), LUCB(as_printed=True)],
    ids=str,
)
def test_replay(algorithm: LUCB) -> None:
    """40 runs each agree with the twin's in all numbers.

    The seeds are such that no two gaps of unlike arms are equal but for rounding, which the twin's
    formula for the radius does otherwise.
    """
    drawn = instances(41 + algorithm.as_printed, 40, 45, 150)
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay_with_and_without_view(algorithm: LUCB, views: list[View]) -> None:
    """210 runs each agree in all numbers; views and the level above are chosen often, and all
    active arms are needed at times."""
    drawn = instances(51 + algorithm.as_printed, 100, 45, 200) + instances(
        53 + algorithm.as_printed, 110, 200, 1_000
    )
    assert (
        mismatches(drawn, partial(run_kernel, algorithm), partial(run_without_view, algorithm))
        == []
    )
    state = np.sum([view.state for view in views], axis=0)
    assert min(state[CHOSEN + 1 : CHOSEN + 3]) > 1_000  # the levels below S_0
    assert state[FULL_ROUNDS] > 3


@pytest.mark.slow
def test_a_round_looks_at_few_arms(views: list[View]) -> None:
    """10,000 arms, 100,000 rounds: all arms are looked at once in 100 rounds, a view lasts for
    five."""
    problem = rai.best_arm(rai.Bernoulli([0.65, *[0.35] * 9_999]))
    result = rai.simulate(problem, LUCB(), delta=0.01, replications=1, seed=1, max_pulls=210_000)
    state = np.sum([view.state for view in views], axis=0)
    chosen = state[CHOSEN:][state[CHOSEN:] > 0]
    assert result.rounds[0] > 90_000
    assert chosen[0] + state[FULL_ROUNDS] < 1_000
    assert chosen[-1] < 20_000


#: Prints a run's memory an arm, above what is resident once kernels are loaded.
_PROGRAM = """
import sys
import numpy as np
import rai_sim as rai
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
def run(N, seed):
    third = N // 3
    arms = rai.Bernoulli(np.linspace(0.95, 0.05, N))
    problem = rai.Problem(arms, (third, third, N - 2 * third), (10, 10, 10))
    result = rai.simulate(problem, rai.LUCB(), replications=1, seed=seed, n_jobs=1, max_pulls=2 * N)
    assert result.rounds[0] > N // 30
run(1_000, 1)
before, N = peak(), int(sys.argv[1])
run(N, 1)
print((peak() - before) / N)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="only Linux tells the peak of a process's own memory",
)
@pytest.mark.parametrize("N", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_memory_an_arm(N: int) -> None:
    """Below 300 bytes, problem and result included; but some, or the peak was that of compiling."""
    for arms in (1_000, N):  # the first process compiles what is missing
        found = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(arms)], capture_output=True, text=True, check=True
        )
    assert 50.0 < float(found.stdout) < 300.0
