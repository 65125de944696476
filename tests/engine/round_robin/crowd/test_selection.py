"""The sums beside borders, by sorting those near them."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import beside, moment

from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin.crowd import borders, selection
from rai_sim.engine.round_robin.crowd.places import AWAKE, GONE, MOST_SORTED, SORTED
from rai_sim.engine.vectors import LANES

place_borders, find_borders = exposed(borders.place_borders), exposed(borders.find_borders)
sort_beside_borders = exposed(selection.sort_beside_borders)


@pytest.mark.boundscheck
@pytest.mark.parametrize("over", [0, 5, 40])
@pytest.mark.parametrize("spread", [0.5, 8.0, 200.0])
def test_sums_are_those_of_a_ranking(over: int, spread: float) -> None:
    """60 crowds of up to 40 arms in two to four clusters: in every lane that is not over, wherever
    those to be sorted are few enough; and they are so in many."""
    rng, found = np.random.default_rng(int(over + 10 * spread)), 0
    for _ in range(60):
        n = int(rng.integers(4, 41))
        cuts = np.sort(rng.choice(n - 1, int(rng.integers(1, 4)), replace=False)) + 1
        sizes = np.diff([0, *cuts.tolist(), n]).tolist()
        made = moment(rng, n, sizes, R=2000, scale=1.001, over=over, spread=spread, steady=False)
        crowd = made.run.crowd
        place_borders(crowd, made.run.part)
        find_borders(made.run)
        sort_beside_borders(made.run)
        found += int(crowd.cells[SORTED])
        for b, cut in enumerate(made.cuts if crowd.cells[SORTED] else ()):
            for j in range(over, LANES):
                expected = beside(made.sums[:, j + 1], cut)
                assert (crowd.upper[b, j], crowd.lower[b, j]) == expected
    assert found > 30


def test_too_many_near_a_border_are_not_sorted() -> None:
    """One more than there is room for; and as many."""
    rng = np.random.default_rng(1)
    for n, sorted_ in ((MOST_SORTED, 1), (MOST_SORTED + 1, 0)):
        made = moment(rng, n, [n // 2, n - n // 2], R=100, scale=1.001, spread=0.0)
        made.run.race.standings.total[:n] = 50.0
        place_borders(made.run.crowd, made.run.part)
        find_borders(made.run)
        sort_beside_borders(made.run)
        assert made.run.crowd.cells[SORTED] == sorted_


def test_sleepers_and_the_settled_do_not_count() -> None:
    """Arms that are gone are passed over; those asleep above a border move its rank."""
    rng = np.random.default_rng(2)
    made = moment(rng, 12, [6, 6], R=300, scale=1.001, over=3, spread=3.0)
    crowd, total = made.run.crowd, made.run.race.standings.total
    ranked = np.argsort(-made.sums[:, 4], kind="stable")
    place_borders(crowd, made.run.part)
    find_borders(made.run)
    gone = ranked[[0, 1]]
    total[gone] = GONE
    crowd.cells[AWAKE], crowd.asleep_above[0] = 10, 2
    sort_beside_borders(made.run)
    left = np.setdiff1d(np.arange(12), gone)
    assert crowd.cells[SORTED] == 1
    for j in range(3, LANES):
        expected = beside(made.sums[left, j + 1], 4)
        assert (crowd.upper[0, j], crowd.lower[0, j]) == expected
