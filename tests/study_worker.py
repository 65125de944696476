"""A study for tests to run in processes of their own, in small blocks that are written often.

The program reads lines of folder, replications, what to keep and seconds between parts. For each it
forks a process that runs the study, so that not every run pays for imports, and prints "pid N"; the
process prints "ready" when it is about to run and "done" at the end; the program prints "ended"
when the process is no more.
"""

import os
import sys

import rai_sim as rai
import rai_sim.study.backlog as backlog
import rai_sim.study.job as job
import rai_sim.study.run as running
import rai_sim.study.work as work
from rai_sim.study import Study


def study(
    replications: int | None = 400, keep: str = "replications", precision: float | None = None
) -> Study:
    """Return a study of 24 tasks."""
    instances = {f"task {k}": rai.table_problem(task=k) for k in range(1, 5)}
    algorithms = [rai.Vanilla(), rai.Vanilla(merging=False)]
    return Study.grid(
        instances,
        algorithms,
        [0.2, 0.1, 0.05],
        replications=replications,
        precision=precision,
        keep=keep,
    )


def run(folder: str, replications: int, keep: str, patience: float) -> None:
    """Run the study with blocks of 5 ms and parts after `patience` seconds."""
    job.JOB_SECONDS = 0.005
    backlog._LEAST = backlog._MOST = patience
    work._LEAST = 0.02
    plain = running.StudyRun.run

    def announced(this: running.StudyRun) -> None:
        print("ready", flush=True)
        plain(this)

    # so that a reader of this program's output knows when
    setattr(running.StudyRun, "run", announced)  # noqa: B010
    study(replications, keep).run(folder)
    print("done", flush=True)


def main() -> None:
    """Serve."""
    rai.simulate(rai.table_problem(), rai.Vanilla(), replications=1)  # loads the kernel
    for line in sys.stdin:
        folder, replications, keep, patience = line.split()
        pid = os.fork()
        if not pid:
            try:
                run(folder, int(replications), keep, float(patience))
            finally:
                os._exit(0)
        print("pid", pid, flush=True)
        os.waitpid(pid, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main()
