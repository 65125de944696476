"""The sums beside each border after each of a word's rounds, by sorting: where few arms are awake.

An order statistic that is `now` is from `now` to `now` + 64 in the rounds of a word, as sums grow
by 0 or 1. So arms whose sums reach `now` in no round are below it, those beyond `now` + 64 at the
word's beginning are above it, and only the others are sorted, lane by lane: each is put into the
sorted ones by exchanges from the top.
"""

from __future__ import annotations

import numpy as np

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.round_robin.crowd.places import AWAKE, BORDERS, GONE, MOST_SORTED, SORTED
from rai_sim.engine.round_robin.run import Run
from rai_sim.engine.sampling import bits_set
from rai_sim.engine.vectors import LANES, address_of, exchange, set_to, store_counts

_VECTOR = np.uint64(LANES)


@kernel
def sort_beside_borders(run: Run) -> None:
    """Find the sums beside all borders in all lanes; note whether the arms to be sorted were few
    enough for that."""
    crowd = run.crowd
    crowd.cells[SORTED] = 1
    for b in range(crowd.cells[BORDERS]):
        rank = crowd.ranks[b] - crowd.asleep_above[b]
        for side in range(2):
            if not _sort_beside(run, b, side, rank - 1 + side):
                crowd.cells[SORTED] = 0
                return


@inlined
def _sort_beside(run: Run, b: int, side: int, rank: int) -> bool:
    """Find the sums of a rank, 0 the first, of those awake; return whether that was possible."""
    crowd = run.crowd
    now = crowd.upper_now[b] if side == 0 else crowd.lower_now[b]
    into = crowd.upper if side == 0 else crowd.lower
    above, among = _sort_near(run, now)
    if among < 0:
        return False
    row = rank - above
    for j in range(LANES):
        into[b, j] = now - LANES + int(crowd.sorted_sums[row, j])
    return True


@kernel
def _sort_near(run: Run, now: int) -> tuple[int, int]:
    """Sort the arms that may be at an order statistic; return how many are above all of these, and
    how many these are, -1 if too many."""
    crowd, total = run.crowd, run.race.standings.total
    counts, rows = address_of(crowd.counts), address_of(crowd.sorted_sums)
    above, among, x, left = 0, 0, 0, crowd.cells[AWAKE]
    while left > 0:
        if total[x] != GONE:
            left -= 1
            sum_ = int(total[x])
            if sum_ > now + LANES:
                above += 1
            elif sum_ + bits_set(crowd.words[x]) >= now:
                if among == MOST_SORTED:
                    return 0, -1
                store_counts(counts, crowd.words[x])
                last = rows + np.uint64(among) * _VECTOR
                set_to(last, counts, sum_ - now + LANES)
                for row in range(among):
                    exchange(rows + np.uint64(row) * _VECTOR, last)
                among += 1
        x += 1
    return above, among
