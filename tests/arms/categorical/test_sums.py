"""Sums of categorical pulls by tables: against exact convolutions, and against multinomial counts.

False alarms: fewer than 60 comparisons at the level of `statistics_checks`, 1e-8 each; the seeds
are fixed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from replay import roomy_key
from statistics_checks import LEVEL, convolved_law, fit, same_law

from rai_sim import Categorical
from rai_sim.arms.categorical import law as categorical_law
from rai_sim.arms.categorical.lattice import lattice_of
from rai_sim.arms.categorical.sums import sum_tables
from rai_sim.engine import law as operations
from rai_sim.engine.jit import driver
from rai_sim.engine.streams import replication_stream

Floats = NDArray[np.float64]
KEY = roomy_key(41)
more_pulls, handy = operations.more_pulls, operations.handy
by_tables, by_counts = categorical_law._by_tables, categorical_law._by_counts

TEN = Categorical(
    np.linspace(0.1, 1.0, 10),
    [
        [0.1] * 10,
        [0.3, 0.1, 0.02, 0.2, 0.05, 0.03, 0.2, 0.04, 0.05, 0.01],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
    ],
)
GAPPED = Categorical([0.0, 0.1, 1.0], [[0.5, 0.3, 0.2], [0.0, 1.0, 0.0]])


@driver
def draw(law: Any, way: int, arm: int, k: int, key: NDArray[np.uint64], out: Floats) -> None:
    """Fill `out` with sums of k pulls: 0 as kernels do, 1 by tables, 2 by counts."""
    state = replication_stream(key, 10 * k + way, key[2:])
    block = arm * (2 + 4 * law.n_levels + 3 * law.n_tables)
    for i in range(out.size):
        if way == 0:
            out[i], state = more_pulls(law, arm, 0.0, 0, k, state)
        elif way == 1:
            out[i], state = by_tables(
                law.memory, block + 2 + 4 * law.n_levels, law.n_tables - 1, 0.0, k, state
            )
        else:
            out[i], state = by_counts(law.memory, block + 2, 0.0, k, state)


@driver
def handy_number(law: Any, k: int) -> int:
    """Return the law's convenient number of pulls up to k."""
    return handy(law, k)


def sums(arms: Categorical, way: int, arm: int, k: int, size: int = 100_000) -> Floats:
    """Return independent sums of k pulls in law units."""
    out = np.empty(size)
    draw(arms.kernel_law(), way, arm, k, KEY, out)
    return out


def masses_of(arms: Categorical, arm: int) -> Floats:
    """Return the probabilities of 0, 1, .. law units."""
    steps = lattice_of(arms.values)[2].astype(np.int64)
    masses: Floats = np.bincount(steps, weights=arms.probabilities[arm]).astype(np.float64)
    return masses


@pytest.mark.parametrize("arms", [TEN, GAPPED], ids=["ten", "gapped"])
@pytest.mark.parametrize("arm", [0, 1])
@pytest.mark.parametrize(
    "k",
    [1, 2, 3, 7, 64, 100, 1023, *(pytest.param(k, marks=pytest.mark.slow) for k in (2048, 3001))],
)
def test_sums_against_the_exact_law(arms: Categorical, arm: int, k: int) -> None:
    """The tables' sums, whatever the cheapest way would be, have the law of k convolutions."""
    drawn = sums(arms, 1, arm, k)
    if arms is GAPPED and arm == 1:
        assert (drawn == k).all()
    else:
        assert fit(convolved_law(masses_of(arms, arm), k), drawn) > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("k", [300, 4096, 4097, 50_000, 300_000])
@pytest.mark.parametrize("arm", [0, 1, 2])
def test_tables_against_counts(arm: int, k: int) -> None:
    """Both ways of drawing give one law, for k on either side of where kernels change over."""
    counted = sums(TEN, 2, arm, k)
    assert same_law(sums(TEN, 1, arm, k), counted) > LEVEL
    assert same_law(sums(TEN, 0, arm, k), counted) > LEVEL


def test_masses_that_the_tables_stand_for() -> None:
    """Every table of up to 2^8 pulls, added up column by column, has the exact masses to 1e-13, in
    the tails absolutely."""
    arms = Categorical(TEN.values, TEN.probabilities[1:2])
    steps = lattice_of(arms.values)[2]
    plan, cells = sum_tables(steps, arms.probabilities)
    assert plan.shape == (1, 12, 3)
    exact = masses_of(arms, 0)
    for start, digits, first in plan[0, :9].astype(np.int64):
        size = 1 << digits
        share, other = (
            cells[start : start + 2 * size : 2],
            cells[start + 1 : start + 2 * size : 2].astype(np.int64),
        )
        mass = (share + np.bincount(other, weights=1.0 - share, minlength=size)) / size
        wanted = np.concatenate([exact[first : first + size], np.zeros(size)])[:size]
        assert mass == pytest.approx(wanted, rel=1e-12, abs=1e-17)
        assert exact[:first].sum() + exact[first + size :].sum() < 1e-20
        exact = np.convolve(exact, exact)


def test_a_table_that_is_off_is_noticed() -> None:
    """One part in a hundred moved by a step in the law of a pull shows in the sums."""
    wrong = TEN.probabilities.copy()
    wrong[0, :2] += (-0.01, 0.01)
    drawn = sums(Categorical(TEN.values, wrong), 1, 0, 64, 400_000)
    assert fit(convolved_law(masses_of(TEN, 0), 64), drawn) < LEVEL


def test_where_there_are_no_tables() -> None:
    """Values off a lattice or far apart, and many arms, go without; memory stays below two
    megabytes."""
    assert Categorical([0.0, 0.5**0.5, 1.0], [[0.2, 0.3, 0.5]]).kernel_law().n_tables == 0
    assert Categorical([0.0, 0.0001, 1.0], [[0.2, 0.3, 0.5]]).kernel_law().n_tables == 0
    many = Categorical(
        TEN.values, np.random.default_rng(1).dirichlet(np.ones(10), 20_000)
    ).kernel_law()
    assert many.n_tables == 0
    fifty = Categorical(
        TEN.values, np.random.default_rng(1).dirichlet(np.ones(10), 50)
    ).kernel_law()
    assert fifty.n_tables > 4
    assert fifty.memory.nbytes < 2.2e6


def test_handy_numbers() -> None:
    """More than 4/5 k and at most k, with at most three binary digits 1; all of k without
    tables."""
    law, bare = TEN.kernel_law(), Categorical([0.0, 0.5**0.5, 1.0], [[0.2, 0.3, 0.5]]).kernel_law()
    for k in [*range(1, 300), 12_345_678, 2**61 + 5]:
        convenient = handy_number(law, k)
        assert 4 * k < 5 * convenient <= 5 * k
        assert convenient.bit_count() <= 3
        assert handy_number(bare, k) == k
