"""Bridges that keep above a line: against all orders of few rewards, and against exact probabilities."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb import bridges
from rai_sim.algorithms.lucb.run import JUMPS, UNTIL, new_clock, new_terms
from rai_sim.engine import certificates
from rai_sim.engine.jit import exposed

surely_above, keeps_above = exposed(bridges.surely_above), exposed(bridges.keeps_above)
keeps_below, likely_length = exposed(bridges.keeps_below), exposed(bridges.likely_length)
nats, log_over_share = exposed(bridges.nats), exposed(certificates.log_over_share)


class Budget(NamedTuple):
    """What certificates know of the setting."""

    skip_error: float


class Jumps(NamedTuple):
    """What they know of a run."""

    clock: NDArray[np.int64]
    terms: NDArray[np.float64]
    setting: Budget


def beginning(skip_error: float) -> Any:
    """Return a run in which no jump has been made."""
    run = Jumps(new_clock(), new_terms(), Budget(skip_error))
    run.terms[UNTIL] = -1.0
    return run


def least_of_all_orders(k: int, slope: float) -> NDArray[np.float64]:
    """Return by the number of ones the least that the sum of k rewards is above a line through 0,
    over all orders."""
    bits = (np.arange(1 << k)[:, None] >> np.arange(k)) & 1
    lowest = (np.cumsum(bits, axis=1) - slope * np.arange(1, k + 1)).min(axis=1)
    least = np.full(k + 1, np.inf)
    np.minimum.at(least, bits.sum(axis=1), lowest)
    return least


def test_sure_is_what_no_order_of_rewards_contradicts() -> None:
    """All orders of 1 to 12 rewards, slopes in eighths, distances in sixteenths, so that sums are exact:
    certified if and only if none leads to the line."""
    seen = np.zeros(2, np.int64)
    for k in range(1, 13):
        for slope in np.arange(0.0, 17.0, 4.0 if k > 8 else 2.0) / 16.0:
            least = least_of_all_orders(k, slope)
            for ones in range(k + 1):
                for d1 in (1 / 16, 0.25, 0.5, 1.0, 1.5, 3.0):
                    d2 = d1 + ones - k * slope
                    if d2 > 0.0:
                        sure = surely_above(d1, d2, float(k), slope)
                        assert sure == (d1 + least[ones] > 0.0)
                        seen[int(sure)] += 1
    assert seen.min() > 500


def meets(d1: float, k: int, ones: int, slope: float) -> float:
    """Return the exact probability that the sum of k rewards, so many of which are 1, in random
    order, comes to a line of a slope, which is d1 below it at first."""
    s, alive = np.arange(ones + 1), np.zeros(ones + 1)
    alive[0], met = 1.0, 0.0
    for j in range(k):
        one = (ones - s) / (k - j)
        after = alive * np.maximum(1.0 - one, 0.0)  # where fewer are left nobody comes
        after[1:] += (alive * one)[:-1]
        at = d1 + s - (j + 1) * slope <= 0.0
        met += after[at].sum()
        alive = np.where(at, 0.0, after)
    return float(met)


def exponent(d1: float, d2: float, k: float) -> float:
    """Return that of statement 2."""
    d = max(d1, d2)
    return 8.0 * d1 * d2 / k * (d / (d + 1.0))


def test_a_bridge_errs_no_more_than_is_said() -> None:
    """Bridges of 5 to 200 rewards, all sorts of slopes and ends: the bound is never less than the
    exact probability. Control: with 16 instead of 8 it is."""
    rng, doubled, tried, tight = np.random.default_rng(1), 0, 0, 0
    while tried < 400:
        k, slope = int(rng.integers(5, 201)), float(rng.choice([0.5, rng.uniform(0.02, 0.98)]))
        d1 = float(rng.uniform(0.1, 1.5) * math.sqrt(k))
        ones = int(np.clip(round(k * slope + 0.5 * math.sqrt(k) * rng.normal()), 0, k))
        d2 = d1 + ones - k * slope
        if d2 <= 0.0:
            continue
        tried += 1
        exact, power = meets(d1, k, ones, slope), exponent(d1, d2, k)
        assert exact <= math.exp(-power)
        doubled += exact > math.exp(-2.0 * power)
        tight += exact > math.exp(-1.25 * power)
    assert doubled > 100
    assert tight > 10


def test_jumps_are_taken_where_nothing_is_sure() -> None:
    """Of 5,000 lines: no jump where it is sure, or where it is not certified; a jump where the
    bound suffices; nothing without a budget. Below a line is above its mirror image."""
    rng, seen = np.random.default_rng(2), {"sure": 0, "jump": 0, "neither": 0}
    run, none, mirror = beginning(1e-6), beginning(0.0), beginning(1e-6)
    for _ in range(5_000):
        k, slope = float(rng.integers(1, 3_000)), float(rng.random())
        d1, d2 = (rng.uniform(0.0, 3.0, 2) * math.sqrt(4.0 * k)).tolist()
        sure = surely_above(d1, d2, k, slope)
        before, share = int(run.clock[JUMPS]), nats(run)
        kept = keeps_above(run, d1, d2, k, slope)
        if sure:
            assert (kept, run.clock[JUMPS]) == (True, before)
        else:
            assert kept == (exponent(d1, d2, k) >= share)
            assert run.clock[JUMPS] == before + kept
        seen["sure" if sure else "jump" if kept else "neither"] += 1
        assert keeps_above(none, d1, d2, k, slope) == sure
        assert keeps_below(mirror, d1, d2, k, 1.0 - slope) == kept or abs(slope) < 1e-9
    assert none.clock[JUMPS] == 0
    assert min(seen.values()) > 200


def test_nobody_is_certified_who_is_at_a_line() -> None:
    """Nor where the slope is none of rewards."""
    for d1, d2, slope in (
        (0.0, 9e9, 0.5),
        (9e9, 0.0, 0.5),
        (-1.0, -9e9, 0.5),
        (9e9, 9e9, -0.1),
        (9e9, 9e9, 1.1),
        (math.nan, 9e9, 0.5),
        (9e9, 9e9, math.nan),
    ):
        for skip_error in (0.0, 1e-6):
            assert not keeps_above(beginning(skip_error), d1, d2, 4.0, slope)
    assert keeps_above(beginning(0.0), 9e9, 9e9, 4.0, 0.5)


def test_no_jump_takes_more_than_its_share() -> None:
    """Jumps 1 to 100,000: the error is that of a later one, and not much less."""
    run = beginning(1e-12)
    for jump in [*range(1, 5_000), *range(5_000, 100_000, 997)]:
        run.clock[JUMPS] = jump - 1
        own = log_over_share(1e-12, jump)
        assert own <= nats(run) <= own + 4.0 * math.log(2.0)


def test_likely_lengths() -> None:
    """As long as is sure at least; and certified if the distance stays."""
    run = beginning(1e-12)
    for d in (0.5, 3.0, 40.0, 1e4):
        k = likely_length(run, d)
        assert k >= d == likely_length(beginning(0.0), d)
        assert k == d or exponent(d, d, k) >= 0.5 * nats(run)
    assert exponent(1e4, 1e4, likely_length(run, 1e4)) >= nats(run)
