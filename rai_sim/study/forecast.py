"""How a study's cost is estimated before it is run.

A pilot of a few replications of each task says what one takes (`rai_sim.study.pilot`); how many a
precision or an error rate will need follows from the pilot's mean, deviation and errors, or from
what is stored where that is more. Only what is missing counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rai_sim.simulation.progress import Bar
from rai_sim.simulation.statistics import Sums
from rai_sim.study.disk import Disk
from rai_sim.study.error_rate import expected
from rai_sim.study.estimate import Estimate, TaskEstimate
from rai_sim.study.ledger import Ledger, Pieces
from rai_sim.study.pilot import Limits, load_kernels, run_pilot
from rai_sim.study.schemas import keeps_arm_pulls
from rai_sim.study.state import PILOT
from rai_sim.study.stopping import Verdict, looks_for
from rai_sim.study.task import Task

if TYPE_CHECKING:
    from rai_sim.study.grid import Study


def forecast(
    study: Study, there: Ledger, workers: int, pilot_time: float, progress: bool | None
) -> Estimate:
    """Return what the rest of a study will cost; nothing is stored.

    Parameters
    ----------
    study : Study
        What is wanted.
    there : Ledger
        What there is.
    workers : int
        Over how many the work will be spread.
    pilot_time : float
        Seconds that the pilot of a task may take at most.
    progress : bool or None
        As in `rai_sim.simulation.simulate`.
    """
    verdicts = [study.verdict(task, there[task.key]) for task in study.tasks]
    open_tasks = [
        task for task, verdict in zip(study.tasks, verdicts, strict=True) if not verdict.final
    ]
    disk, rows = Disk(study), list[TaskEstimate]()
    with Bar(len(open_tasks), progress, "pilot", layout="{n_fmt}/{total_fmt} tasks") as bar:
        load_kernels((task.experiment for task in open_tasks), pilot_time)
        for task, verdict in zip(study.tasks, verdicts, strict=True):
            if verdict.final:
                rows.append(TaskEstimate(task, verdict.replications, 0))
                continue
            rows.append(_of_task(study, task, there[task.key], verdict, pilot_time, disk))
            bar.update(1)
    found = Estimate(tuple(rows), workers, pilot_time)
    new = [task for task in open_tasks if not there[task.key].replications]
    return replace(found, other_bytes=disk.of_the_rest(new, found.wall_seconds))


def _of_task(
    study: Study, task: Task, pieces: Pieces, verdict: Verdict, pilot_time: float, disk: Disk
) -> TaskEstimate:
    """Run a task's pilot, and conclude from it."""
    missing = _missing(pieces, verdict.replications)
    most = sum(stop - start for start, stop in missing)
    pilot = run_pilot(task.experiment, most, Limits(pilot_time), keeps_arm_pulls(study.keep))
    if pilot.flaw is not None:
        return TaskEstimate(task, verdict.replications, most, flaw=pilot.flaw)
    stored = pieces.all_sums()
    more = stored is not None and stored.replications >= pilot.replications
    seen = stored if stored is not None and more else pilot.sums
    wanted, known = _wanted(study, task, verdict, seen)
    missing = _missing(pieces, wanted)
    left = sum(stop - start for start, stop in missing)
    return TaskEstimate(
        task=task,
        replications=wanted,
        left=left,
        pilot=pilot.replications,
        seconds=left * pilot.each,
        pulls=left * (_pulls_each(task, seen) if more else pilot.pulls_each),
        disk_bytes=sum(disk.of_task(task, ends, seen, pilot) for ends in missing),
        at_least=pilot.given_up or not known,
    )


def _missing(pieces: Pieces, wanted: int) -> Sequence[tuple[int, int]]:
    return pieces.gaps(0, wanted)


def _wanted(study: Study, task: Task, verdict: Verdict, seen: Sums) -> tuple[int, bool]:
    """Return how many replications a task will have had in the end, and whether that is more than
    a guess."""
    wanted, known = verdict.replications, True
    if study.precision is not None:
        # of a few that all were capped: if the others are, too, the first look is the end
        known = seen.finished > 1 or (seen.replications >= PILOT and not seen.finished)
        if seen.finished > 1:
            spread = np.array([seen.relative_deviation**2])
            share = np.array([seen.finished / seen.replications])
            wanted = max(wanted, int(looks_for(study.precision, spread, share, study.most)[0]))
    if study.until is not None:
        delta = task.experiment.delta
        known = known and seen.replications > 0
        if seen.replications:
            most = study.most_of_errors(delta)
            wanted = max(wanted, expected(seen, delta, study.level, most, math.inf))
    return wanted, known


def _pulls_each(task: Task, seen: Sums) -> float:
    """Return mean pulls of a replication, those at their cap included."""
    capped = seen.replications - seen.finished
    return (seen.pulls_sum + capped * (task.experiment.max_pulls or 0)) / seen.replications
