"""The schedule of looks, and the coverage of the interval under stopping."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rai_sim as rai
from rai_sim.simulation.statistics import Aggregate
from rai_sim.study.stopping import FIRST_LOOK, follow, looks_within, next_look, stein_interval


def prefixes(pulls: Any) -> Any:
    """Return a function that aggregates the first n."""
    many = np.asarray(pulls, np.int64)
    yes = np.ones(len(many), bool)
    return lambda n: Aggregate.of(many[:n], many[:n], yes[:n], yes[:n]) if n <= len(many) else None


@given(st.integers(0, 10**12))
def test_looks_are_a_fixed_sequence(n: int) -> None:
    """The next look is at least n, at most a fifth above it, a fixed point, and the previous one
    lies below n."""
    look = next_look(n)
    assert look >= max(n, FIRST_LOOK)
    assert look <= max(1.19 * n + 1, FIRST_LOOK)
    assert next_look(look) == look
    assert next_look(look + 1) > look
    if look > FIRST_LOOK:
        assert look in looks_within(n // 2, look + 1)


def test_looks_double_in_four_steps() -> None:
    """256 times powers of the fourth root of two."""
    assert looks_within(0, 5000) == [math.ceil(256 * 2 ** (k / 4)) for k in range(18)]


def test_what_follows_depends_on_the_first_replications_alone() -> None:
    """With fewer replications the verdict asks for more; with more of them than needed it is the
    same one."""
    pulls = np.random.default_rng(3).gamma(9.0, 1000.0, 50_000).astype(np.int64)
    final = follow(0.01, 10**6, prefixes(pulls))
    assert final.final
    assert final.reached
    assert final == follow(0.01, 10**6, prefixes(pulls[: final.replications]))
    n, steps = 0, 0
    while True:
        verdict = follow(0.01, 10**6, prefixes(pulls[:n]))
        if verdict.final:
            break
        assert verdict.replications > n
        n, steps = verdict.replications, steps + 1
    assert verdict == final
    assert 2 <= steps <= 5


def test_the_interval_has_an_earlier_looks_standard_deviation() -> None:
    """Stein's interval by hand: mean of all, t quantile and standard deviation of the look that
    decided."""
    pulls = np.random.default_rng(4).normal(10_000, 2_000, 20_000).astype(np.int64)
    low, high = stein_interval(prefixes(pulls)(1000), prefixes(pulls)(256))
    half = stats.t.ppf(0.975, 255) * pulls[:256].std(ddof=1) / math.sqrt(1000)
    assert (low, high) == pytest.approx(
        (pulls[:1000].mean() - half, pulls[:1000].mean() + half), rel=1e-12
    )


def test_constant_pulls_stop_at_the_first_look_and_the_limit_holds() -> None:
    """No variance: 256 replications. A precision out of reach: the limit, not reached."""
    assert follow(1e-9, 10**6, prefixes([7] * 256)).replications == 256
    pulls = np.random.default_rng(5).integers(1, 10_000, 3000)
    limited = follow(1e-4, 3000, prefixes(pulls))
    assert (limited.replications, limited.final, limited.reached) == (3000, True, False)
    assert limited.relative_half_width > 1e-4
    assert follow(0.5, 100, prefixes(pulls[:100])).replications == 100


@pytest.mark.parametrize("seed", range(8))
def test_rarely_finished_replications_are_doubled_until_something_is_known(seed: int) -> None:
    """One in a hundred finishes: some 2.5e5 replications are needed, and no plan is made on two or
    three numbers."""
    rng = np.random.default_rng(seed)
    finished = rng.random(2**20) < 0.01
    finished[100] = True  # else nothing may be finished at the first look
    pulls = rng.integers(500, 1500, 2**20)

    def prefix(n: int) -> Aggregate | None:
        return (
            Aggregate.of(pulls[:n], pulls[:n], finished[:n], finished[:n])
            if n <= len(pulls)
            else None
        )

    verdict = follow(0.02, 2**20, prefix)
    assert verdict.reached
    needed = 100 * (1.96 * 288.7 / (0.02 * 1000)) ** 2
    assert 0.5 * needed < verdict.replications < 2.0 * needed


def test_unfinished_replications_stop_at_the_first_look() -> None:
    """Nothing can be learned about a mean of which no value is seen."""
    capped, no = np.full(256, 9), np.zeros(256, bool)
    verdict = follow(0.1, 10**6, lambda n: Aggregate.of(capped[:n], capped[:n], no[:n], no[:n]))
    assert (verdict.final, verdict.reached) == (True, False)
    assert math.isnan(verdict.relative_half_width)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "precision"), [(9.0, 0.02), (1.0, 0.06), (100.0, 0.003)])
def test_coverage_on_gamma_pulls(shape: float, precision: float) -> None:
    """4,000 studies of gamma numbers: at least 94 %, which 95 % misses with probability 2e-3; and
    the precision is always kept."""
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(4000):
        pulls = 1e6 * rng.gamma(shape, size=20_000)
        verdict = follow(precision, 20_000, lambda n, pulls=pulls: Moments(pulls[:n]))  # type: ignore[arg-type, misc]
        assert verdict.reached
        assert verdict.relative_half_width <= precision
        covered += verdict.interval[0] <= 1e6 * shape <= verdict.interval[1]
    assert covered / 4000 >= 0.94


def test_negative_control_stopping_on_the_last_standard_deviation_covers_less() -> None:
    """The naive rule (look after every replication from the tenth on, Student's interval) misses
    the 94 % that ours is held to."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(2000):
        pulls = rng.gamma(1.0, size=3000)
        n = np.arange(1, 3001)
        mean = np.cumsum(pulls) / n
        half = 1.96 * np.sqrt(np.maximum(np.cumsum(pulls**2) / n - mean**2, 0.0) / n)
        stop = int(np.flatnonzero((half <= 0.3 * mean) & (n >= 10))[0])
        covered += abs(mean[stop] - 1.0) <= half[stop]
    assert covered / 2000 < 0.94


class Moments:
    """Of real numbers, what `follow` asks an Aggregate for."""

    def __init__(self, values: Any) -> None:
        """Take the moments."""
        self.finished = len(values)
        self.mean = float(values.mean())
        self.standard_deviation = float(values.std(ddof=1))


@pytest.mark.slow
def test_coverage_of_simulated_studies() -> None:
    """2,000 small studies to 2 %, each with its own seed: the interval covers the truth, known to
    0.02 %, in at least 94 %."""
    problem, algorithm = rai.table_problem(task=1), rai.Vanilla()
    truth = rai.simulate(
        problem, algorithm, delta=0.1, replications=400_000, seed=10**6
    ).pulls.mean()
    covered = 0
    for seed in range(2000):
        pulls = np.empty(0, np.int64)
        while not (verdict := follow(0.02, 10**6, prefixes(pulls))).final:
            first, wanted = len(pulls), verdict.replications
            more = rai.simulate(
                problem,
                algorithm,
                delta=0.1,
                replications=wanted - first,
                seed=seed,
                first_replication=first,
            )
            pulls = np.concatenate([pulls, more.pulls])
        covered += verdict.interval[0] <= truth <= verdict.interval[1]
    assert covered / 2000 >= 0.94
