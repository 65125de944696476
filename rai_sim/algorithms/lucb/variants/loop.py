"""LUCB with a choice of radius and picks: round by round, and by stretches in corridors where the
picks have them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb import corridor_walk
from rai_sim.algorithms.lucb.ahead import AheadLaw, forget, new_pieces
from rai_sim.algorithms.lucb.arm_pulls import keeps_arm_pulls, note_ranked
from rai_sim.algorithms.lucb.caps import begins, within_caps
from rai_sim.algorithms.lucb.corridors import Corridors, new_corridors
from rai_sim.algorithms.lucb.plain import pull_all_once, pull_picks
from rai_sim.algorithms.lucb.replications import begin, end
from rai_sim.algorithms.lucb.rule import (
    close_ranks,
    find_opponents,
    mend,
    see_ranked,
    settle_and_choose,
)
from rai_sim.algorithms.lucb.run import (
    CERTIFIED,
    MISSING,
    PICKS,
    PULLS,
    RANKED,
    ROUND,
    SAME,
    Rule,
    Run,
    allocate_run,
    count_same,
    goes_on,
    start_clock,
)
from rai_sim.algorithms.lucb.strides import CORRIDORS, LEVELS, PLAIN
from rai_sim.algorithms.lucb.variants.corridors import open_own_corridors
from rai_sim.algorithms.lucb.variants.judge import Sorted, judge_borders, judge_within, new_sorted
from rai_sim.algorithms.lucb.variants.levels import (
    MOST_ARMS,
    Levels,
    new_levels,
    start_levels,
    try_levels,
)
from rai_sim.algorithms.lucb.variants.picks import ALL, BORDERS, WITHIN, Choice
from rai_sim.algorithms.lucb.variants.radii import PAPER, log_of_round, radius_of
from rai_sim.algorithms.lucb.view import NoView
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import NONE
from rai_sim.engine.history import keep_state, next_asked, traced
from rai_sim.engine.jit import driver, inlined, kernel, may_give_bridges, may_give_words
from rai_sim.engine.partition import open_partition
from rai_sim.engine.references import by_reference
from rai_sim.engine.streams import State, shuffle
from rai_sim.engine.strides import allowed

#: Rounds that must have had the same picks before a longer stretch of them is worth looking for
#: (measured).
_SAME_BEFORE_A_TRY = 3
#: Radii after fewer pulls than this are computed once: a logarithm takes as long as all else of a
#: pull.
_KEPT = 4096


class Sides(NamedTuple):
    """How far LCBs and UCBs are from the mean, in law units, by label; (N,) each."""

    down: NDArray[np.float64]
    up: NDArray[np.float64]


class Variant(NamedTuple):
    """What there is beside a `Run`."""

    choice: Choice
    sides: Sides
    # (2, _KEPT) down and up after n pulls, in rewards, 0 where not yet asked for; for all replications
    kept: NDArray[np.float64]
    by: Sorted
    walls: Corridors
    levels: Levels


def new_variant_run(law: Any, setting: Setting, block: Block) -> Run:
    """Allocate for a block of replications; `Run.rule` is the paper's and unused."""
    return allocate_run(law, Rule(0.0, False), NoView(setting.cluster_of.size), setting, block)


def new_variant(choice: Choice, N: int, levels: bool = False) -> Variant:
    """Allocate for a task; with room for levels, where they suit it."""
    return Variant(
        choice=choice,
        sides=Sides(np.empty(N), np.empty(N)),
        kept=np.zeros((2, _KEPT)),
        by=new_sorted(N),
        walls=new_corridors(N),
        levels=new_levels(N if levels else 0),
    )


def have_levels(law: Any, setting: Setting, choice: Choice) -> bool:
    """Whether rounds can be made by levels: best arm, a radius of the arm's own pulls, and a law that
    gives words and sums between known ones."""
    return (
        setting.required.tolist() == [1, 0]
        and setting.sizes[0] == 1
        and 3 <= setting.cluster_of.size <= MOST_ARMS
        and choice.picks != WITHIN
        and choice.down.kind != PAPER
        and may_give_words(law)
        and may_give_bridges(law)
    )


def with_pieces(law: Any, setting: Setting) -> AheadLaw:
    """Return the law with room for rewards that are known ahead."""
    return AheadLaw(law, new_pieces(setting.cluster_of.size))


@driver
def run_variant_block(given: Run, beside: Variant, first: int, block: Block) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    run, variant = by_reference(given), by_reference(beside)
    for b in range(block.pulls.size):
        state = begin(run, first + b)
        if not end(run, block, b, _run_one(run, variant, block.rounds_by_stride, state)):
            return


@kernel
def _run_one(run: Run, variant: Variant, made: NDArray[np.int64], state: State) -> bool:
    """Run one replication; return whether it finished."""
    clock, s, n = run.clock, run.ranking, run.ranking.order.size
    picks = variant.choice.picks
    state = shuffle(s.arm_of, state)
    start_clock(run, open_partition(run.part, run.setting.sizes))
    if not begins(run):
        return False
    forget(run.law)
    start_levels(variant.levels)
    state = pull_all_once(run, state)
    for x in range(n):
        s.settled[x] = False  # those of the end of the last replication
        variant.by.by_lcb[x] = variant.by.by_ucb[x] = x
    _set_sides(run, variant, n, True)
    while goes_on(run):
        settled = _judge_round(run, variant)
        if picks == ALL and settled > 0:
            clock[RANKED] = close_ranks(s, clock[RANKED], clock[PICKS])
        if clock[MISSING] == 0 or not within_caps(run):
            made[PLAIN] += 1
            return clock[MISSING] == 0
        R, rounds = clock[ROUND], 0
        if settled == 0 and allowed(run.setting.strides, LEVELS):
            rounds, state = try_levels(run.law, run, variant.levels, variant.choice, state)
            made[LEVELS] += rounds
        if rounds > 0:
            _set_sides(run, variant, clock[RANKED], True)
            mend(s, clock[RANKED])
            continue
        stride = _choose_stride(run, variant, settled)
        if stride == CORRIDORS:
            state = corridor_walk.advance(run, variant.walls, state)
            made[CORRIDORS] += clock[ROUND] - R + 1
        else:
            state = pull_picks(run, state)
            made[PLAIN] += 1
        if run.fault[0] == NONE:
            _set_sides(run, variant, clock[PICKS], False)
            if picks != WITHIN:  # which asks for no ranking
                mend(s, clock[RANKED])
    return False


@inlined
def _choose_stride(run: Run, variant: Variant, settled: int) -> int:
    """Choose the stride that begins with the round that was judged."""
    clock, choice = run.clock, variant.choice
    if choice.picks == WITHIN or choice.down.kind == PAPER:
        return PLAIN
    count_same(run, settled)
    if clock[SAME] >= _SAME_BEFORE_A_TRY and allowed(run.setting.strides, CORRIDORS):
        clock[CERTIFIED] = open_own_corridors(run, choice, variant.walls)
        if clock[CERTIFIED] > 1:
            return CORRIDORS
    return PLAIN


@inlined
def _set_sides(run: Run, variant: Variant, count: int, all_arms: bool) -> None:
    """Set the sides of the picks, or of all arms; of the paper's radius they are set when rounds are
    judged."""
    s, choice, sides, unit = run.ranking, variant.choice, variant.sides, laws.unit(run.law)
    if choice.down.kind == PAPER:
        return
    for j in range(count):
        x = j if all_arms else s.picks[j]
        label, n = s.order[x], s.taken[x]
        down, up = _radii_after(variant, n)
        sides.down[label], sides.up[label] = down / unit, up / unit


@inlined
def _radii_after(variant: Variant, n: float) -> tuple[float, float]:
    """Return how far LCB and UCB are from the mean after n pulls, in rewards."""
    choice, kept = variant.choice, variant.kept
    if n < _KEPT and kept[0, int(n)] > 0.0:
        return kept[0, int(n)], kept[1, int(n)]
    down = radius_of(choice.down, 0.0, n)
    up = down if choice.alike else radius_of(choice.up, 0.0, n)
    if n < _KEPT:
        kept[0, int(n)], kept[1, int(n)] = down, up
    return down, up


@inlined
def _compute_bounds(run: Run, variant: Variant, n: int, R: int) -> None:
    """Compute every active arm's LCB and UCB, by the operations of the definition."""
    s, choice, sides, unit = run.ranking, variant.choice, variant.sides, laws.unit(run.law)
    if choice.down.kind == PAPER:
        down, up = log_of_round(choice.down, R), log_of_round(choice.up, R)
        for x in range(n):
            s.lcb[x] = s.mean[x] - radius_of(choice.down, down, s.taken[x]) / unit
            s.ucb[x] = s.mean[x] + radius_of(choice.up, up, s.taken[x]) / unit
        return
    for x in range(n):
        label = s.order[x]
        s.lcb[x], s.ucb[x] = s.mean[x] - sides.down[label], s.mean[x] + sides.up[label]


@inlined
def _judge_round(run: Run, variant: Variant) -> int:
    """Judge the next round; return how many arms are settled."""
    s, part, clock, history = run.ranking, run.part, run.clock, run.history
    clock[ROUND] += 1
    R, n, settled = clock[ROUND], clock[RANKED], 0
    _compute_bounds(run, variant, n, R)
    if variant.choice.picks == ALL:
        find_opponents(s, part.open_sizes, False)
        settled, supplied, picks = settle_and_choose(s, part, n, R, False)
    elif variant.choice.picks == BORDERS:
        supplied, picks = judge_borders(s, part, n, R)
        settled = supplied
    else:
        supplied, picks = judge_within(s, variant.by, part, n, R)
        settled = supplied
    clock[PICKS] = picks
    clock[MISSING] -= supplied
    if settled > 0 and keeps_arm_pulls(run):
        note_ranked(run, n)
    if traced(history) and (settled > 0 or next_asked(history) <= R):
        see_ranked(history, s, n, clock[PULLS])
        keep_state(history, R)
    return settled
