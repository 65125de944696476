"""Crowds in the middle of a run, for tests of the crowd's modules, and what is true of them by
looking at every arm in every round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.round_robin.crowd.places import AWAKE, INSIDE, MARGIN, allocate_crowd
from rai_sim.engine.round_robin.run import ACTIVE, MISSING, OVER, ROUND, TAKEN, Run, new_run
from rai_sim.engine.streams import stream_key
from rai_sim.engine.vectors import LANES


class Moment(NamedTuple):
    """A crowd of n arms when some rounds of their words are over."""

    run: Run
    sums: NDArray[np.int64]  # (n, 65) by place: before the word, and after each of its rounds
    over: int
    cuts: tuple[int, ...]  # how many arms stand above each border
    R: int  # rounds that are over


def moment(
    rng: np.random.Generator,
    n: int,
    sizes: list[int],
    *,
    R: int,
    scale: float,
    over: int = 0,
    spread: float = 8.0,
    steady: bool = True,
) -> Moment:
    """Return a crowd with random sums and words; R rounds are over, those of the words included. If
    it is not steady, arms go on at other rates than they came."""
    required = [1] * len(sizes)
    setting = Setting(
        sizes=np.array(sizes),
        required=np.array(required),
        cluster_of=np.repeat(np.arange(len(sizes)), sizes),
        delta=0.1,
        skip_error=1e-12,
        max_pulls=-1,
        key=stream_key(1),
    )
    law = rai.Bernoulli(rng.random(n)).kernel_law()
    run = new_run(law, paper(scale), True, setting, new_block(1, sum(required)))
    run = run._replace(crowd=allocate_crowd(n))
    means = rng.random(n)
    rates = means if steady else rng.random(n)
    bits = rng.random((n, LANES)) < rates[:, None]
    start = R - over
    before = np.clip(np.round(start * means + spread * rng.standard_normal(n)), 0, start)
    sums = np.cumsum(np.hstack([before[:, None], bits]), axis=1).astype(np.int64)
    run.crowd.words[:] = bits @ (np.uint64(1) << np.arange(LANES, dtype=np.uint64))
    run.race.standings.order[:n] = np.arange(n)
    run.race.standings.arm_of[:] = rng.permutation(n)
    run.crowd.label_of[run.race.standings.arm_of] = np.arange(n)
    run.race.standings.total[:n] = before
    run.part.open_sizes[:], run.part.found[:] = sizes, 0
    run.part.offset[:] = np.concatenate([[0], np.cumsum(required)[:-1]])
    run.part.settled[:] = 0
    run.clock[[ACTIVE, OVER, ROUND, TAKEN, MISSING]] = n, over, R, R, sum(required)
    run.crowd.cells[INSIDE], run.crowd.cells[MARGIN], run.crowd.cells[AWAKE] = 1, 1, n
    run.crowd.known_at[0] = -1
    cuts = tuple(int(c) for c in np.cumsum([size for size in sizes if size])[:-1])
    return Moment(run, sums, over, cuts, R)


def beside(sums: NDArray[np.int64], cut: int) -> tuple[int, int]:
    """Return the sums of the last arm above a border and of the first below."""
    ranked = np.sort(sums)[::-1]
    return int(ranked[cut - 1]), int(ranked[cut])


def width_at(scale: float, R: int) -> float:
    """Return W(R)."""
    return float(np.sqrt(2.0 * R * np.log(scale * R * R)))


def settled_in(moment: Moment, scale: float, j: int) -> NDArray[np.bool_]:
    """Return by place who is settled in lane j, if nobody was before."""
    sums, W = moment.sums[:, j + 1], width_at(scale, moment.R + 1 + j - moment.over)
    edges = [beside(sums, cut) for cut in moment.cuts]
    wrong = np.zeros(len(sums), bool)
    above: Any = np.inf
    for upper, lower in [*edges, (np.inf, -np.inf)]:
        wrong |= (above - sums > W) & (sums - lower > W)
        above = upper
    return wrong
