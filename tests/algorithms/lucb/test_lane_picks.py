"""Whom a round in lanes pulls: near bounds against the definition's, and these against the rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rai_sim.algorithms.lucb import arm_vectors, lane_picks
from rai_sim.algorithms.lucb.lane_picks import Lanes
from rai_sim.algorithms.lucb.lanes import new_lanes
from rai_sim.engine import vectors
from rai_sim.engine.jit import driver
from rai_sim.engine.references import by_reference

Values = NDArray[np.float64]
ARMS = arm_vectors.ARMS
#: Intrinsics, which type checkers take for their code generators.
address_of: Any = vectors.address_of
v: Any = arm_vectors


@driver
def judge(room: Lanes, clusters: int, means: Values, counts: Values, log_term: float) -> Any:
    """Return whom the near bounds would have pulled, whether that is sure, and whom the
    definition's."""
    lanes = by_reference(room)
    mean, taken = v.doubles_at(address_of(means)), v.doubles_at(address_of(counts))
    low, high = v.near_bounds(mean, v.near_roots(taken), np.sqrt(log_term))
    wanted, sure = lane_picks.sure_picks(lanes, clusters, low, high)
    low, high = v.bounds(mean, taken, log_term)
    return wanted, sure, lane_picks.find_picks(lanes, clusters, low, high, 0)


def picked(
    lanes: Lanes, sizes: list[int], means: Values, counts: Values, log_term: float
) -> set[int]:
    """Return whom a round pulls by the rule, of arms in the order of the ranking, one after the other;
    nobody if one is settled."""
    radius = np.sqrt(log_term / (2.0 * counts))
    low, high = means - radius, means + radius
    ends = np.cumsum(sizes)
    clusters = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    found = set()
    for i, own in enumerate(clusters):
        before, after = list(range(own[0])), list(range(own[-1] + 1, ends[-1]))
        L = min((low[x] for x in before), default=np.inf)
        U = max((high[x] for x in after), default=-np.inf)
        gap = {x: max(high[x] - L, U - low[x]) for x in own}
        if min(gap.values()) <= 0.0:
            return set()
        if lanes.wants[i]:
            found.add(min(own, key=gap.__getitem__))  # of equals the first, as min and max do
            if before:
                found |= {min(before, key=low.__getitem__), max(own, key=high.__getitem__)}
            if after:
                found |= {max(after, key=high.__getitem__), min(own, key=low.__getitem__)}
    return found


def lanes_of(sizes: list[int], rng: np.random.Generator) -> Lanes:
    """Return arms of clusters of these sizes, ranked by lane, of which one at least wants an arm."""
    lanes, first = new_lanes(), 0
    lanes.label[:] = rng.permutation(ARMS)
    for i, size in enumerate(sizes):
        lanes.members[i] = ((1 << size) - 1) << first
        lanes.wants[i] = rng.random() < 0.5
        first += size
    lanes.wants[rng.integers(len(sizes))] = True
    return lanes


@pytest.mark.slow
def test_sure_picks_are_those_of_the_definition() -> None:
    """1,200 standings of two to four clusters, a third of few pulls, where bounds tie, a third with
    bounds that differ by less than near ones can tell: the definition's bounds have those pulled
    whom the rule has, and near bounds the same whenever they are sure, as they mostly are."""
    rng, sure, unsure, settled, close = np.random.default_rng(1), 0, 0, 0, 0
    for number in range(1_200):
        sizes = rng.integers(1, 5, int(rng.integers(2, 5))).tolist()
        n, lanes = sum(sizes), lanes_of(sizes, rng)
        counts: Values = rng.integers(1, 4 if number % 3 == 0 else 400, ARMS).astype(np.float64)
        totals: Values = np.floor(rng.random(ARMS) * (counts + 1.0))
        if number % 3 == 1:  # of the same means and of almost as many pulls
            counts = 2.0**44 + rng.integers(0, 3, ARMS).astype(np.float64)
            totals = np.floor(counts / 2.0)
        order = np.lexsort((lanes.label[:n], -(totals / counts)[:n]))
        for each in (lanes.label, counts, totals):
            each[:n] = each[:n][order]
        means = totals / counts
        lanes.values[:ARMS] = means
        log_term = float(rng.uniform(4.0, 12.0))
        wanted, certain, exact = judge(lanes, len(sizes), means, counts, log_term)
        expected = picked(lanes, sizes, means, counts, log_term)
        assert {x for x in range(ARMS) if exact >> x & 1} == expected
        if certain:
            assert wanted == exact
        sure, unsure = sure + certain, unsure + (not certain)
        settled += not expected
        close += number % 3 == 1 and wanted != exact
    # bounds that are alike are what makes it unsure, and would have had others pulled
    assert min(sure, unsure) > 150, (sure, unsure)
    assert min(settled, close) > 50, (settled, close)
