"""What a round settles, ranked arms judged one by one; and which clusters are merged then."""

from __future__ import annotations

import numpy as np
from races import draw_races, ranked_race, setting_of, settled_ranks

from rai_sim.engine.blocks import new_block
from rai_sim.engine.jit import exposed
from rai_sim.engine.partition import open_partition
from rai_sim.engine.round_robin import rule
from rai_sim.engine.round_robin.run import ACTIVE, MISSING, ROUND, WIDTH, Run, new_run

settle_round, opened = exposed(rule.settle_round), exposed(open_partition)


def judged(sums: list[int], sizes: list[int], required: list[int], W: float, merging: bool) -> Run:
    """Return a run after round 7 was judged."""
    setting = setting_of(sizes, required)
    race, _ = ranked_race(sums, sizes)
    run = new_run(race.law, race.schedule, merging, setting, new_block(1, sum(required)))
    run = run._replace(race=race)
    run.clock[[ROUND, ACTIVE, MISSING]] = 7, len(sums), opened(run.part, setting.sizes)
    run.terms[WIDTH] = W
    settle_round(run)
    return run


def test_a_round_settles_who_is_apart_from_all_other_clusters() -> None:
    """400 rankings, each with a width: who is settled, who is named, who goes on in which order,
    and how large clusters are then."""
    rng, settled = np.random.default_rng(2), 0
    for sums, sizes in draw_races(3, 400):
        N, required = len(sums), [int(rng.integers(size + 1)) for size in sizes]
        W = float(rng.integers(0, 6)) + 0.5
        ranks = settled_ranks(sums, sizes, W)
        run = judged(sums, sizes, required, W, merging=False)
        left = [x for x in range(N) if x not in ranks]
        standings, n = run.race.standings, len(left)
        assert run.clock[ACTIVE] == n
        assert standings.order[:n].tolist() == left
        assert standings.total[:n].tolist() == [sums[x] for x in left]
        assert np.flatnonzero(run.part.settled[0]).tolist() == sorted(N - 1 - x for x in ranks)
        cluster_of = np.repeat(np.arange(len(sizes)), sizes)
        of = [[N - 1 - x for x in ranks if cluster_of[x] == i] for i in range(len(sizes))]
        assert run.part.open_sizes.tolist() == [
            size - len(out) for size, out in zip(sizes, of, strict=True)
        ]
        named = [out[:r] for out, r in zip(of, required, strict=True)]
        assert run.clock[MISSING] == sum(required) - sum(map(len, named))
        assert [arm for arm in run.part.outputs if arm >= 0] == [a for out in named for a in out]
        settled += len(ranks)
    assert settled > 300


def test_clusters_of_which_nothing_is_asked_are_merged() -> None:
    """The border between the last two is of no interest any more, that after the first is."""
    sums, sizes, required = [30, 10, 9, 8], [1, 1, 2], [1, 0, 0]
    kept = judged(sums, sizes, required, 100.0, merging=False)
    assert kept.part.open_sizes.tolist() == [1, 1, 2]
    merged = judged(sums, sizes, required, 100.0, merging=True)
    assert merged.part.open_sizes.tolist() == [1, 0, 3]
