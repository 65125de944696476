"""Round robin's loop: where it may begin, what a round settles, and how a block ends."""

from __future__ import annotations

import numpy as np
import pytest
from races import draw_races, ranked_race, settled_ranks, widths

import rai_sim as rai
from rai_sim.algorithms.butterscotch import paper as butterscotch
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.faults import NONE, NOT_FINITE, STOPPED
from rai_sim.engine.jit import exposed
from rai_sim.engine.partition import open_partition
from rai_sim.engine.round_robin import loop
from rai_sim.engine.round_robin.run import ACTIVE, MISSING, ROUND, WIDTH, Run, new_run
from rai_sim.engine.streams import stream_key

quiet_start, settle_round = exposed(loop.quiet_start), exposed(loop.settle_round)
opened = exposed(open_partition)
SCALE = 1000.0


def setting_of(sizes: list[int], required: list[int], max_pulls: int = -1) -> Setting:
    """Return what kernels take; arms are numbered cluster by cluster."""
    return Setting(
        sizes=np.array(sizes),
        required=np.array(required),
        cluster_of=np.repeat(np.arange(len(sizes)), sizes),
        delta=0.1,
        skip_error=0.0,
        max_pulls=max_pulls,
        key=stream_key(1),
    )


@pytest.mark.parametrize(("unit", "spread"), [(1.0, 1.0), (0.25, 2.0)])
def test_no_gap_can_exceed_the_width_at_the_start(unit: float, spread: float) -> None:
    """For as many rounds as the extreme gap R times the spread stays within W; negative control: in
    the next round it does not."""
    values = [0.0, 1.0] if unit == 1.0 else [0.0, 0.25, 0.5]
    law = rai.Categorical(values, [[1.0 / len(values)] * len(values)] * 2).kernel_law()
    for scale in (10.0, 1e3, 1e9):
        quiet = quiet_start(law, paper(scale))
        rounds = np.arange(1, 1000)
        within = unit * spread * rounds <= widths(scale, rounds)
        assert within[:quiet].all()
        assert not within[quiet]
    assert quiet_start(law, butterscotch(2, 0.1)) == 0
    gaussians = rai.Gaussian([0.5, 0.0]).kernel_law()
    assert quiet_start(gaussians, paper(SCALE)) == 0


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


def run_block(count: int, first: int = 0, max_pulls: int = -1, stop: bool = False) -> Block:
    """Run replications of Vanilla on three coins."""
    block = new_block(count, 1, arms_with_settle_rounds=3)
    block.history.stop[0] = stop
    setting = setting_of([1, 2], [1, 0], max_pulls)
    rai.Vanilla().run_block(rai.Bernoulli([0.9, 0.5, 0.4]).kernel_law(), setting, first, block)
    return block


def test_rows_belong_to_replications_wherever_a_block_begins() -> None:
    """Rows 3.. of a block are those of a block from replication 3 on."""
    whole, rest = run_block(8), run_block(5, first=3)
    assert whole.fault[0] == NONE
    assert whole.finished.all()
    assert np.unique(whole.pulls).size > 3
    for column in ("pulls", "rounds", "correct", "finished", "representatives", "settled"):
        assert np.array_equal(getattr(whole, column)[3:], getattr(rest, column))


def test_a_cap_ends_after_the_last_round_that_it_pays_for() -> None:
    """50 pulls are 16 rounds of three arms, with nobody settled yet."""
    block = run_block(4, max_pulls=50)
    assert (block.pulls.tolist(), block.rounds.tolist()) == ([48] * 4, [16] * 4)
    assert not block.finished.any()
    assert not block.settled[:, 0].any()


def test_a_raised_flag_ends_a_block() -> None:
    """Of which no replication was finished."""
    block = run_block(4, stop=True)
    assert block.fault[:2].tolist() == [STOPPED, 0]
    assert not block.pulls.any()


def test_a_sum_at_the_cap_that_is_not_finite_is_reported() -> None:
    """Ten rounds for which the cap pays are drawn for what is recommended alone: nobody is ranked by a
    NaN among them. One pull later it is of no interest."""
    law = rai.Recorded(np.array([[1.0] * 30, [0.5] * 30, [0.25] * 30])).kernel_law()
    for first_nan, fault in ((10, [NOT_FINITE, 2, 10]), (11, [NONE, 0, 0])):
        prefix = law.prefix.copy()
        prefix[2, first_nan:] = np.nan
        block = new_block(1, 1, budgets=[32])
        setting = setting_of([1, 2], [1, 0], max_pulls=32)
        rai.Vanilla().run_block(law._replace(prefix=prefix), setting, 0, block)
        assert block.fault.tolist() == fault
    assert (block.pulls[0], block.rounds[0], block.recommended[0, 0, 0]) == (30, 10, 0)
