"""A study on a Ray cluster of this machine, for a test to run in a process of its own: Ray stays in
the process that has started it, and warns of much.

The program is given two folders: of a study that threads have run, and of the one to be run. In the
middle it kills the process that has sent the fourth job's outcome, and prints what came of it.
"""

import logging
import os
import signal
import sys
from pathlib import Path
from unittest import mock

import joblib
from studies import for_clusters as study
from studies import values

import rai_sim as rai
import rai_sim.study.job as job
from rai_sim.simulation import elsewhere, parcels


def main(expected: Path, folder: Path) -> None:
    """Run it."""
    # here, as doctests of all modules are looked for where Ray is not
    import ray
    from ray.util.joblib import register_ray

    job.JOB_SECONDS = 0.02
    answers, killed = [0], list[int]()

    def struck(answer: parcels.Answer) -> object:
        answers[0] += 1
        if answers[0] == 4:
            pid = int(answer.worker.split(":")[1])
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return parcels.outcome_of(answer)

    ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.WARNING)
    try:
        register_ray()
        with joblib.parallel_config("ray"):
            with mock.patch.object(elsewhere, "outcome_of", struck):
                results = study().run(folder, n_jobs=-1)
            found = rai.simulate(
                rai.table_problem(task=2), rai.Vanilla(), replications=3000, seed=0, n_jobs=2
            )
    finally:
        ray.shutdown()
    wanted = study().results(expected)
    assert len(killed) == 1
    assert killed[0] != os.getpid()
    assert values(folder) == values(expected)
    assert results.summary().equals(wanted.summary())
    record = results.runs()[-1]
    assert (record["replications_added"], record["workers"]) == (6000, 2)
    assert found == wanted.result(study().tasks[1])
    print(f"identical; {answers[0]} jobs")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
