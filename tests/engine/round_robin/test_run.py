"""What a replication is given, and the rounds that it can pay for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutants import Changed, Trial, pathwise_findings_of_mutant
from pathwise import Task
from races import widths

import rai_sim as rai
from rai_sim.algorithms.butterscotch import paper as butterscotch
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin import run as runs
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    LAST_PAID,
    LAST_RECORDED,
    MISSING,
    OVER,
    PER_ROUND,
    PULLS,
    QUIET,
    ROUND,
    TAKEN,
    Run,
    new_run,
)
from rai_sim.engine.streams import stream_key
from rai_sim.engine.strides import ALL, WORDS, without
from rai_sim.support.limits import MOST_PULLS

start_clock, count_rounds = exposed(runs.start_clock), exposed(runs.count_rounds)
last_round, by_words, width = exposed(runs.last_round), exposed(runs.by_words), exposed(runs.width)

SCALE = 1000.0
COINS = rai.Bernoulli([0.75, 0.5, 0.25])
TAPE = rai.Recorded(np.zeros((3, 5000)))
VANILLA, BUTTERSCOTCH = paper(SCALE), butterscotch(3, 0.01)


def new(schedule: Any = VANILLA, max_pulls: int = -1, arms: Any = TAPE, strides: int = ALL) -> Run:
    """Return a run of three arms, and a clock that was never started."""
    setting = Setting(
        sizes=np.array([1, 2]),
        required=np.array([1, 0]),
        cluster_of=np.array([0, 1, 1]),
        delta=0.01,
        skip_error=0.0,
        max_pulls=max_pulls,
        key=stream_key(1),
        strides=strides,
    )
    run = new_run(arms.kernel_law(), schedule, True, setting, new_block(2, 1))
    run.clock[:] = 77
    return run


def rounds_paid_for(run: Run, pulls: Any, available: int) -> tuple[int, int]:
    """Return how many rounds the cap and the recording suffice for, one by one, if each has as many
    pulls as the next."""
    clock, cap = run.clock, run.setting.max_pulls
    per_round = pulls(clock[ROUND] + 1) - clock[TAKEN]
    paid = recorded = int(clock[ROUND])
    while clock[PULLS] + (paid + 1 - clock[ROUND]) * clock[ACTIVE] * per_round <= cap:
        paid += 1
    while clock[TAKEN] + (recorded + 1 - clock[ROUND]) * per_round <= available:
        recorded += 1
    return paid, recorded


def test_a_clock_starts_before_round_1() -> None:
    """All arms active, nothing pulled, no words left; what holds for all replications stays."""
    run = new(max_pulls=14_000)
    start_clock(run, 1)
    assert run.clock[[ROUND, PULLS, TAKEN]].tolist() == [0, 0, 0]
    assert run.clock[[ACTIVE, MISSING, OVER, PER_ROUND]].tolist() == [3, 1, 64, 1]
    assert run.clock[QUIET] == 77
    assert run.clock[[LAST_PAID, LAST_RECORDED]].tolist() == [4666, 5000]
    assert last_round(run) == 4666


@pytest.mark.parametrize("cap", [0, 2, 3, 299, 300, 301, 14_999, 15_000, 40_000])
def test_rounds_that_cap_and_recording_suffice_for(cap: int) -> None:
    """Counted one by one: from the start, and in the middle with two arms left."""
    for schedule, pulls in (
        (VANILLA, lambda R: R),
        (BUTTERSCOTCH, lambda R: int(BUTTERSCOTCH.pulls[R - 1])),
    ):
        run = new(schedule, cap)
        for R, active in ((0, 3), (1, 2)):
            taken = pulls(R) if R else 0
            if 3 * taken <= cap:
                run.clock[[ROUND, TAKEN, ACTIVE, PULLS]] = R, taken, active, 3 * taken
                count_rounds(run)
                found = rounds_paid_for(run, pulls, 5000)
                assert (run.clock[LAST_PAID], run.clock[LAST_RECORDED]) == found


def test_without_a_cap_rounds_are_paid_for_up_to_2_to_the_62_pulls() -> None:
    """Butterscotch's last rounds would take more pulls an arm than integers hold."""
    run = new()
    run.clock[[ROUND, TAKEN, ACTIVE, PULLS]] = 0, 0, 3, 0
    count_rounds(run)
    assert run.clock[LAST_PAID] == MOST_PULLS // 3
    run = new(BUTTERSCOTCH)
    taken = int(BUTTERSCOTCH.pulls[20])
    run.clock[[ROUND, TAKEN, ACTIVE, PULLS]] = 31, taken, 2, 3 * taken
    count_rounds(run)
    assert BUTTERSCOTCH.pulls[31] > 2 * MOST_PULLS
    assert run.clock[PER_ROUND] == 2 * MOST_PULLS - 1024 - taken
    assert run.clock[LAST_PAID] == 31


def test_widths_are_looked_up_where_they_were_asked_for() -> None:
    """In law units; beyond the table they are computed each time."""
    run = new(arms=rai.Categorical([0.0, 0.25, 0.5], [[0.2, 0.3, 0.5]] * 3))
    for R in (1, 9, run.widths.size - 1, run.widths.size, 10**9):
        assert width(run, R) == pytest.approx(4.0 * float(widths(SCALE, R)), rel=1e-14)
    assert np.flatnonzero(~np.isnan(run.widths)).tolist() == [1, 9, run.widths.size - 1]
    run.widths[9] = 1.5
    assert width(run, 9) == 1.5


def test_words_are_used_where_the_law_has_them_and_the_mask_allows() -> None:
    """Recordings have none."""
    assert by_words(new(arms=COINS))
    assert not by_words(new(arms=COINS, strides=without(WORDS)))
    assert not by_words(new())


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        Changed("engine/round_robin/run.py", "record_arm_pulls", "R > 0", "R < 0"),
        Changed(
            "engine/round_robin/caps.py",
            "_pass_last",
            "clock[TAKEN] += (last - R) * clock[PER_ROUND]",
            "pass",
        ),
    ],
)
def test_wrong_pulls_by_arm_are_seen(fault: Changed, tmp_path: Path) -> None:
    """Negative controls: settled arms said to have been pulled to the end, and the last rounds
    before a cap forgotten."""
    # the last rounds are made without a look where the cap cuts a long jump
    means, cap = ((0.7, 0.6, 0.5, 0.2), 1_500)
    if fault.function == "_pass_last":
        means, cap = (0.52, 0.5, 0.48, 0.2), 40_000
    task = Task("words", means, (1, 3), (1, 1), 0.1)
    trial: Trial = (rai.Vanilla(), task, 1, 50, {"max_pulls": cap})
    (missed,), _ = pathwise_findings_of_mutant(tmp_path, [fault], [trial])
    assert missed > 5
