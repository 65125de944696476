"""LUCB's pulls by arm: noted when arms are settled, and at the end also those of arms outside of a
view.

That they are the literal loop's is compared wherever tests/pathwise.py and tests/replay.py compare
runs; here are caps on recordings, and the faults that comparing must find.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from mutants import Changed, Trial, pathwise_findings_of_mutant
from pathwise import Task
from replay import draw_instance, lucb_length, mismatches, run_kernel, run_twin

from rai_sim import LUCB


@pytest.mark.parametrize("cap", [1, 9, 40, 400])
def test_they_are_the_twins_at_a_cap(cap: int) -> None:
    """Also at one that does not pay for a pull of each arm, after runs that it did pay for."""
    rng = np.random.default_rng(cap)
    drawn = [
        replace(draw_instance(rng, lucb_length, (0.25, 0.8)), max_pulls=cap) for _ in range(30)
    ]
    runs = [run_kernel(LUCB(), instance) for instance in drawn]
    assert mismatches(drawn, partial(run_kernel, LUCB()), partial(run_twin, LUCB())) == []
    assert [sum(run.counts) for run in runs] == [run.pulls for run in runs]
    if cap == 1:  # which pays for a pull of each arm where there is one alone
        pulled = [any(run.counts) for run in runs]
        assert pulled == [instance.n_arms == 1 for instance in drawn]


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        Changed("algorithms/lucb/loop.py", "_judge_round", "note_ranked(run, n)", "pass"),
        Changed(
            "algorithms/lucb/arm_pulls.py",
            "record_arm_pulls",
            "note_ranked(run, run.clock[RANKED])",
            "pass",
        ),
    ],
)
def test_what_is_not_noted_is_seen(fault: Changed, tmp_path: Path) -> None:
    """Negative controls: arms that are settled, and those left at the end."""
    task = Task("words", (0.7, 0.6, 0.5, 0.35), (1, 3), (1, 1), 0.1)
    cap = 600 if fault.function == "record_arm_pulls" else 20_000  # where some, or all, are settled
    trial: Trial = (LUCB(), task, 1, 50, {"max_pulls": cap})
    (missed,), _ = pathwise_findings_of_mutant(tmp_path, [fault], [trial])
    assert missed > 5
