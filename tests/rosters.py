"""Rosters in the middle of a run, for tests of the roster's modules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.arms.base import Arms
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.history import History
from rai_sim.engine.round_robin.crowd.places import BORDERS
from rai_sim.engine.round_robin.roster.lists import (
    FENCED,
    INSIDE,
    JUMP,
    MEMBERS,
    ON,
    ON_DUTY,
    SHARERS,
    Roster,
    allocate_roster,
)
from rai_sim.engine.round_robin.run import ACTIVE, MISSING, ROUND, TAKEN, Run, new_run
from rai_sim.engine.streams import stream_key


class Watch(NamedTuple):
    """A roster of arms that are all on duty after a round."""

    run: Run
    roster: Roster
    sums: NDArray[np.float64]  # (N,) by the caller's index
    cuts: tuple[int, ...]  # how many arms stand above each border


def watch(
    rng: np.random.Generator,
    sizes: list[int],
    *,
    R: int,
    arms: Arms | None = None,
    sums: Any = None,
    scale: float = 100.0,
    skip_error: float = 1e-12,
    history: History | None = None,
) -> Watch:
    """Return a roster after round R: sums are random, or given; arms are Gaussian if not given."""
    N, required = sum(sizes), [1] * len(sizes)
    setting = Setting(
        sizes=np.array(sizes),
        required=np.array(required),
        cluster_of=np.repeat(np.arange(len(sizes)), sizes),
        delta=0.1,
        skip_error=skip_error,
        max_pulls=-1,
        key=stream_key(1),
    )
    given = rai.Gaussian(np.linspace(0.9, 0.1, N)) if arms is None else arms
    block = new_block(1, sum(required), 0, history)
    roster = allocate_roster(N)
    run = new_run(given.kernel_law(), paper(scale), True, setting, block)
    run = run._replace(crowd=roster)
    before = R * given.means + 0.5 * np.sqrt(R) * rng.standard_normal(N) if sums is None else sums
    totals = np.asarray(before, float)
    standings, cells = run.race.standings, roster.cells
    standings.order[:], standings.total[:], roster.sums[:] = np.arange(N), totals, totals
    standings.arm_of[:] = rng.permutation(N)
    roster.label_of[standings.arm_of] = np.arange(N)
    roster.members[:], roster.behind[:] = np.arange(N), ON_DUTY
    run.part.open_sizes[:], run.part.found[:], run.part.settled[:] = sizes, 0, 0
    run.part.offset[:] = np.concatenate([[0], np.cumsum(required)[:-1]])
    run.clock[[ACTIVE, ROUND, TAKEN, MISSING]] = N, R, R, sum(required)
    cells[[INSIDE, ON, MEMBERS, JUMP, SHARERS, FENCED]] = 1, N, N, 1, N, R
    filled = [i for i, size in enumerate(sizes) if size]
    cuts = np.cumsum([sizes[i] for i in filled])[:-1]
    cells[BORDERS] = len(cuts)
    roster.ranks[: len(cuts)], roster.cluster_above[: len(filled)] = cuts, filled
    return Watch(run, roster, totals, tuple(cuts.tolist()))


def beside(sums: NDArray[np.float64], cuts: tuple[int, ...]) -> list[float]:
    """Return the sums of the last arm above each border and the first below, border after border."""
    ranked = np.sort(sums)[::-1]
    return [float(ranked[cut - side]) for cut in cuts for side in (1, 0)]
