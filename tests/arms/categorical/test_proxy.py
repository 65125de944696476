"""Variance proxies of categorical arms."""

from __future__ import annotations

import numpy as np
import pytest
from laws import Floats, facts_of, quotients

from rai_sim import Categorical
from rai_sim.arms.bernoulli import kearns_saul
from rai_sim.arms.categorical.proxy import best_variance_proxy


def supremum(values: Floats, p: Floats) -> float:
    """Return the smallest variance proxy, to 1e-6, from a dense grid and its limit at 0, the
    variance."""
    width = float(np.ptp(values[p > 0.0]))
    centred = values - p @ values
    t = np.geomspace(1e-2, 1e5, 8_000) / width
    return max(
        float(p @ centred**2), *(float(quotients(centred, p, s * t).max()) for s in (1.0, -1.0))
    )


def test_best_variance_proxy_of_random_laws() -> None:
    """At least the supremum, at most 2.2 % above it, never above Hoeffding's bound."""
    generator = np.random.default_rng(4)
    for i in range(60):
        levels = int(generator.integers(2, 8))
        values = (
            generator.uniform(-1.0, 3.0, levels) if i % 2 else np.arange(levels, dtype=np.float64)
        )
        p = generator.dirichlet(np.full(levels, (0.05, 0.5, 5.0)[i % 3]))
        p[p < 1e-300] = 0.0
        if np.count_nonzero(p) > 1:
            best, proxy = supremum(values, p), best_variance_proxy(values, p)
            assert best * (1.0 - 1e-9) <= proxy <= 1.022 * best
            assert proxy <= np.ptp(values[p > 0.0]) ** 2 / 4.0


@pytest.mark.parametrize("rare", [1e-3, 1e-9, 1e-30, 1e-300, 5e-324])
@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_best_variance_proxy_of_rare_extremes(rare: float, scale: float) -> None:
    """Two possible levels, one ever so rare, in any unit: at most 2.2 % above Kearns and Saul's
    formula."""
    exact, most = kearns_saul(rare) * scale**2, 1.0 - rare
    for values, p in (
        ([0.0, 1.0], [most, rare]),
        ([1.0, 0.0], [most, rare]),
        ([0.0, 9.0, 1.0], [most, 0.0, rare]),
    ):
        proxy = best_variance_proxy(scale * np.array(values), np.array(p))
        assert exact * (1.0 - 1e-9) <= proxy <= 1.022 * exact


def test_best_variance_proxy_without_variance() -> None:
    """One possible value: as good as nothing, but positive, for kernels divide by it."""
    assert 0.0 < best_variance_proxy(np.array([0.0, 1.0]), np.array([0.0, 1.0])) <= 1e-300


def test_proxies_cover_every_arm() -> None:
    """The law's proxy is its worst arm's; with many categorical arms, Hoeffding's bound."""
    table = [[0.99, 0.01, 0.0], [0.4, 0.2, 0.4], [0.0, 0.0, 1.0]]
    values = np.array([0.0, 1.0, 2.0])
    best = max(best_variance_proxy(values, np.array(row)) for row in table)
    assert facts_of(Categorical(values, table).kernel_law(), 0)[4] == best < 1.0
    assert facts_of(Categorical(values, table * 400).kernel_law(), 0)[4] == 1.0
