"""Rankings against `sorted`."""

from __future__ import annotations

import numpy as np
import pytest

from rai_sim.engine import ranking
from rai_sim.engine.jit import exposed
from rai_sim.engine.ranking import Standings, new_standings

SORTS = {"repair": exposed(ranking.repair), "merge sort": exposed(ranking.merge_sort)}


def by(sort: str, keys: list[float], n: int, labels: list[int] | None = None) -> Standings:
    """Return the standings after the first n arms were sorted."""
    standings = new_standings(len(keys))
    standings.order[:] = range(len(keys)) if labels is None else labels
    standings.total[:] = keys
    SORTS[sort](standings.order, standings.total, n, standings.spare_order, standings.spare_total)
    return standings


def ranked(keys: list[float], labels: list[int]) -> list[tuple[float, int]]:
    """Return the arms by falling key, ties by label."""
    return sorted(zip(keys, labels, strict=True), key=lambda arm: (-arm[0], arm[1]))


def pairs(standings: Standings) -> list[tuple[float, int]]:
    """Return keys and labels by rank."""
    return list(zip(standings.total.tolist(), standings.order.tolist(), strict=True))


@pytest.mark.parametrize("sort", SORTS)
def test_arms_stand_by_falling_key_and_rising_label(sort: str) -> None:
    """500 rankings with many ties, up to 40 arms; what stands after the first n stays."""
    rng = np.random.default_rng(1)
    for _ in range(500):
        size = int(rng.integers(1, 41))
        n = int(rng.integers(0, size + 1))
        keys = rng.integers(0, 1 + size // 2, size).astype(float).tolist()
        labels = rng.permutation(size).tolist()
        found = pairs(by(sort, keys, n, labels))
        assert found[:n] == ranked(keys[:n], labels[:n])
        assert found[n:] == list(zip(keys[n:], labels[n:], strict=True))


@pytest.mark.parametrize("n", [33, 34, 100, 1000])
def test_a_ranking_upside_down_is_sorted_too(n: int) -> None:
    """By insertion up to n (n - 1) / 2 = 16 n moves, by merging in the middle of it from there."""
    keys = [float(x) for x in range(n)]
    assert pairs(by("repair", keys, n)) == ranked(keys, list(range(n)))


def test_infinite_keys_have_their_places() -> None:
    """Infinities are ordered as numbers are, with ties."""
    keys = [0.0, np.inf, -np.inf, np.inf, 1e308]
    for sort in SORTS:
        assert by(sort, keys, 5).order.tolist() == [1, 3, 4, 0, 2]


def test_ties_are_broken_by_label_not_by_what_was_before() -> None:
    """Negative control: a stable sort by key alone leaves equal arms as they stood."""
    keys, labels = [1.0, 2.0, 1.0, 2.0], [3, 2, 1, 0]
    stable = sorted(zip(keys, labels, strict=True), key=lambda arm: -arm[0])
    assert stable != ranked(keys, labels)
    assert all(pairs(by(sort, keys, 4, labels)) == ranked(keys, labels) for sort in SORTS)
