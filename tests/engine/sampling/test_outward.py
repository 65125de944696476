"""Binomial sums by inversion outward from the mode, with a table and without.

Probabilities in use are compared with exact ones; the bound is that of the module. False alarms of
the comparisons of draws: 20 at the level of `statistics_checks`.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from samples import KEY, Floats, Words, check_both, shifted
from scipy import stats
from statistics_checks import bin_edges, counts_in

from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.sampling import log_binomial as log_probability
from rai_sim.engine.sampling.outward import (
    BEYOND,
    GUIDE,
    binomial_outward,
    entries,
    look_up,
    mode_of,
    tabulate,
)
from rai_sim.engine.streams import replication_stream, uniform

fill, found_in, mode = exposed(tabulate), exposed(look_up), exposed(mode_of)
log_binomial = exposed(log_probability)

CASES = [
    (1037, 0.5),
    (1037, 0.85),
    (1037, 0.01),
    (1037, 0.99),
    (41, 0.5),
    (10**6, 1.0001e-5),
    (3823, 0.36),
    (16_300, 0.1),
    (70_001, 0.8),
    (2**20, 0.5),
]


@driver
def draw_outward(k: int, p: float, key: Words, stream: int, out: Floats) -> None:
    """Fill `out` with sums found by walking."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        u, state = uniform(state)
        out[i], state = binomial_outward(np.float64(k), p, u, state)


@driver
def place_outward(k: int, p: float, key: Words, u: Floats, out: Floats) -> None:
    """Say what uniforms stand for."""
    state = replication_stream(key, 0, key[2:])
    for i in range(out.size):
        out[i], state = binomial_outward(np.float64(k), p, u[i], state)


@driver
def place_by_table(u: Floats, F: Floats, guide: np.ndarray, out: Floats) -> None:
    """Say how far from the mode the values are that uniforms stand for."""
    for i in range(out.size):
        out[i] = look_up(u[i], F, 3, guide, 5)


def walk(k: int, p: float) -> tuple[list[int], list[float]]:
    """Return values in the order in which they are numbered, and F, in plain Python."""
    m = math.floor((k + 1.0) * p)
    odds, above, below = p / (1.0 - p), 0.0, 0.0
    above = below = F = math.exp(log_binomial(float(m), float(k), p))
    values, sums, step = [m], [F], 0
    while above + below > 2.0**-60:
        step += 1
        above *= odds * (k - m - step + 1.0) / (m + step)
        F += above
        values.append(m + step)
        sums.append(F)
        below *= (m - step + 1.0) / (odds * (k - m + step))
        F += below
        values.append(m - step)
        sums.append(F)
    return values, sums


def table(k: int, p: float) -> tuple[Floats, np.ndarray]:
    """Return a filled table, entries from 3 on, its guide from 5 on."""
    F, guide = np.full(3 + entries(k) + 1, np.nan), np.full(5 + GUIDE + 1, 60_000, np.uint16)
    fill(float(k), p, F, 3, guide, 5)
    assert np.isnan(F[[0, 1, 2, -1]]).all()
    assert (guide[[0, 1, 2, 3, 4, -1]] == 60_000).all()
    return F, guide


def distance(k: int, p: float, exact_p: float) -> float:
    """Return the distance in total variation of the probabilities in use for p from those of
    exact_p."""
    values, sums = walk(k, p)
    grains = [min(math.ceil(Fraction(F) * 2**53), 2**53) for F in sums]
    used = np.diff(grains, prepend=0)
    off = Decimal(0)
    with localcontext() as context:
        context.prec = 50
        q, whole = Decimal(exact_p), Decimal(0)
        odds = q / (1 - q)
        first = Decimal(math.comb(k, values[0])) * q ** values[0] * (1 - q) ** (k - values[0])
        above = below = first
        for j, (value, grain) in enumerate(zip(values, used.tolist(), strict=True)):
            if j % 2 == 1:
                above *= odds * (k - value + 1) / value if value <= k else 0
            elif j > 0:
                below *= (value + 1) / (odds * (k - value)) if value >= 0 else 0
            mass = first if j == 0 else (above if j % 2 else below)
            whole += mass
            off += abs(mass - Decimal(grain) / 2**53)
        return float(off + (1 - whole)) / 2.0


def bound(k: int, p: float) -> float:
    """Return the module's bound."""
    return 2.0**-46 + 18.0 * math.sqrt(k * p * (1.0 - p)) * 2.0**-53


@pytest.mark.parametrize(("k", "p"), [case for case in CASES if case[0] < 10**5])
def test_probabilities_in_use_are_exact_up_to_rounding(k: int, p: float) -> None:
    """Within the bound that the module proves; negative control: a probability of success that is
    3e-11 of a deviation off, or more, is noticed."""
    assert distance(k, p, p) < bound(k, p)
    other = p + math.copysign(200.0 * bound(k, p) * math.sqrt(p * (1.0 - p) / k), 0.5 - p)
    assert distance(k, other, p) > 10.0 * bound(k, p)


@pytest.mark.boundscheck
@pytest.mark.parametrize(("k", "p"), CASES)
def test_a_table_is_what_a_walk_adds_up(k: int, p: float) -> None:
    """Bit for bit, as far as it reaches: a draw in a million is beyond."""
    values, sums = walk(k, p)
    F, _ = table(k, p)
    used = int(np.flatnonzero(F == 2.0)[0])
    assert F[3:used].tolist() == sums[: used - 3]
    assert 1.0 - F[used - 1] < 2e-5  # skewed laws of few successes; 6e-7 of normal ones
    assert values[0] == mode(float(k), p)


@pytest.mark.boundscheck
@pytest.mark.parametrize(("k", "p"), CASES)
def test_a_uniform_stands_for_the_same_value_with_a_table_and_without(k: int, p: float) -> None:
    """20,000 uniforms, and those at and just below each step of F and each cell of the guide."""
    values, sums = walk(k, p)
    F, guide = table(k, p)
    steps = np.concatenate([sums, np.arange(1, GUIDE) / GUIDE])
    u = np.concatenate([steps, np.nextafter(steps, 0.0), np.random.default_rng(1).random(20_000)])
    u = np.floor(u[u < min(1.0, sums[-1])] * 2.0**53) / 2.0**53
    right = np.array(values)[np.searchsorted(sums, u, side="right")]
    walked, looked_up = np.empty(u.size), np.empty(u.size)
    place_outward(k, p, KEY, u, walked)
    place_by_table(u, F, guide, looked_up)
    beyond = looked_up == BEYOND
    reach = F[np.flatnonzero(F == 2.0)[0] - 1]
    assert np.array_equal(walked, right)
    assert np.array_equal(looked_up[~beyond] + values[0], right[~beyond])
    assert np.array_equal(beyond, u >= reach)
    assert beyond.any()


def test_what_rounding_leaves_without_a_value_is_drawn_anew() -> None:
    """The greatest uniforms, where probabilities add up to less."""
    k, p = next((k, p) for k, p in CASES if walk(k, p)[1][-1] < 1.0 - 2.0**-53)
    drawn = np.empty(50)
    place_outward(k, p, KEY, np.full(50, 1.0 - 2.0**-53), drawn)
    assert np.unique(drawn).size > 5
    assert (abs(drawn - k * p) < 6.0 * math.sqrt(k * p * (1.0 - p)) + 20.0).all()


@pytest.mark.parametrize(("k", "p"), CASES)
def test_walked_sums_have_their_law(k: int, p: float) -> None:
    """Chi-square, and a control."""
    out = np.empty(100_000)
    draw_outward(k, p, KEY, CASES.index((k, p)), out)
    law = stats.binom(k, p)
    edges = bin_edges(law, out.size)
    check_both(law, stats.binom(k, shifted(p, k)), counts_in(edges, out), edges)
