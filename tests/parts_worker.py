"""Parts of a study in processes of their own, which are killed at random moments and started anew.

The program is told: a folder; for each part a folder of its own in it, or one for all; the number
of parts; what is kept; replications, or a precision; how many kills; a seed. It forks a process for
each part, kills one now and then, and prints as JSON how many it has killed and which parts failed.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from study_worker import study

import rai_sim as rai
import rai_sim.study.backlog as backlog
import rai_sim.study.job as job
import rai_sim.study.work as work
from rai_sim.study import Study

#: Seconds from one kill to the next are on average so many.
_PAUSE = 0.02


def wanted(amount: str, keep: str) -> Study:
    """Return the study: to a precision where the amount is one, else of so many replications."""
    number = float(amount)
    if number < 1.0:
        return study(None, keep, precision=number)
    return study(int(number), keep)


def place(root: Path, where: str, number: int) -> Path:
    """Return the folder of a part."""
    return root / ("shared" if where == "shared" else f"part-{number}")


def _start(number: int, root: Path, where: str, count: int, keep: str, amount: str) -> int:
    """Start a part and return its process."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        job.JOB_SECONDS = 0.005
        backlog._LEAST = backlog._MOST = 0.01
        work._LEAST = 0.02
        part = None if where == "claims" else (number, count)
        folder = root / "shared" if where == "claims" else place(root, where, number)
        wanted(amount, keep).run(folder, part=part)
        code = 0
    finally:
        os._exit(code)


def main(words: list[str]) -> None:
    """Run all parts to their end."""
    root, where, count, keep, amount = Path(words[0]), words[1], int(words[2]), words[3], words[4]
    kills, rng = int(words[5]), np.random.default_rng(int(words[6]))
    rai.simulate(rai.table_problem(), rai.Vanilla(), replications=1)  # loads the kernel
    parts = {k: _start(k, root, where, count, keep, amount) for k in range(1, count + 1)}
    killed, failed = 0, list[int]()
    while parts:
        time.sleep(rng.uniform(0.0, 2.0 * _PAUSE))
        for number, pid in list(parts.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del parts[number]
                failed += [number] if status else []
        if killed < kills and parts:
            number = int(rng.choice(list(parts)))
            os.kill(parts[number], signal.SIGKILL)
            os.waitpid(parts[number], 0)
            parts[number] = _start(number, root, where, count, keep, amount)
            killed += 1
    print(json.dumps({"killed": killed, "failed": failed}))


if __name__ == "__main__":
    main(sys.argv[1:])
