"""LUCB at caps on its pulls: whether the next ones may be made, and what is recommended where they may
not."""

from __future__ import annotations

from rai_sim.algorithms.lucb.rule import see_ranked
from rai_sim.algorithms.lucb.run import COLD, MOST, PULLS, RANKED, Run, affordable
from rai_sim.algorithms.lucb.view import note_cold, see_cold
from rai_sim.engine.history import traced
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.recommendations import cap_of, count_open, left, note_arm, recommend


@kernel
def within_caps(run: Run) -> bool:
    """Whether the round that was judged may make its pulls: within the last cap at least. At those
    before it recommendations are made, if the caller asks for them."""
    while not affordable(run):
        if not _pass_cap(run, False):
            see_active(run)
            return False
    return True


@inlined
def see_active(run: Run) -> None:
    """Note the active arms' states for a trace, which ends with those of the last round judged."""
    s, clock = run.ranking, run.clock
    if traced(run.history):
        if clock[COLD] > 0:
            see_cold(run.views, run.history, s, clock[PULLS])
        see_ranked(run.history, s, clock[RANKED], clock[PULLS])


@kernel
def begins(run: Run) -> bool:
    """The same for the first pulls, one an arm."""
    while run.ranking.order.size > run.clock[MOST]:
        if not _pass_cap(run, True):
            run.clock[PULLS] = 0
            return False
    return True


@kernel
def _pass_cap(run: Run, before_all: bool) -> bool:
    """Recommend, if the caller asks for it, by the means of all active arms, which before all pulls
    are alike; return whether there is a later cap."""
    s, clock, budgets = run.ranking, run.clock, run.budgets
    if left(budgets) == 0:
        return False
    n = s.order.size if before_all else clock[RANKED]
    for x in range(n):
        if before_all:
            note_arm(budgets, x, x, 0.0)
        else:
            note_arm(budgets, x, s.order[x], s.mean[x])
    if not before_all and clock[COLD] > 0:
        n = note_cold(run.views, budgets, n)
    count_open(budgets, run.part, run.setting.sizes)  # the partition's own may be a view's
    recommend(budgets, run.part, budgets.open_sizes, s.arm_of, n)
    clock[MOST] = cap_of(budgets, run.setting.max_pulls)
    return left(budgets) > 0
