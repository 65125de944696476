"""Broken copies of the package: negative controls for tests that must notice a wrong kernel."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pathwise import Task, two_arms

import rai_sim
from rai_sim import LUCB
from rai_sim.algorithms.base import Algorithm

_PROGRAM = """
import sys
import numpy as np
import rai_sim as rai
np.save(sys.argv[1], [
    rai.simulate(problem, {algorithm}, delta={delta}, replications={replications}, seed={seed}).pulls
    for problem in ({problems},)
])
"""


def pulls_of_mutant(
    folder: Path,
    edits: Sequence[tuple[str, str, str]],
    problems: Sequence[str],
    algorithm: str,
    *,
    delta: float,
    replications: int,
    seed: int,
) -> NDArray[np.int64]:
    """Run `simulate` in a copy of the package with some lines changed; return the pulls, one row a
    problem.

    Parameters
    ----------
    folder : Path
        Empty folder for the copy and its compiled kernels.
    edits : sequence of (file, old, new)
        In rai_sim/`file`, `old`, which must stand there once, becomes `new`.
    problems, algorithm : str
        Python expressions in which the package is called `rai`; one row of pulls a problem is
        returned.
    """
    environment = mutant(folder, edits)
    program = _PROGRAM.format(
        problems=", ".join(problems),
        algorithm=algorithm,
        delta=delta,
        replications=replications,
        seed=seed,
    )
    subprocess.run(
        [sys.executable, "-c", program, str(folder / "pulls.npy")],
        check=True,
        env=environment,
        cwd=folder,
        timeout=300,
    )
    pulls: NDArray[np.int64] = np.load(folder / "pulls.npy")
    return pulls


def mutant(folder: Path, edits: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Copy the package and change it; return the environment in which Python imports the copy."""
    package = Path(rai_sim.__file__).parent
    shutil.copytree(package, folder / "rai_sim", ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in edits:
        path = folder / "rai_sim" / file
        text = path.read_text()
        assert text.count(old) == 1, (
            f"{file} holds {old!r} {text.count(old)} times: bring the negative control up to date"
        )
        path.write_text(text.replace(old, new))
    return dict(os.environ, PYTHONPATH=str(folder), NUMBA_CACHE_DIR=str(folder / "cache"))


#: Skips one round longer than certified, one in each of the places where the round-robin loop
#: decides how far it goes.
LENGTHENED_SKIP = (
    ("engine/round_robin.py", "k, stride = quiet + 1, SUMS", "k, stride = quiet + 2, SUMS"),
    ("engine/round_robin.py", "k = 1 + sure_rounds(", "k = 2 + sure_rounds("),
    (
        "engine/round_robin.py",
        "                    1\n                    + first_suspect(",
        "                    2\n                    + first_suspect(",
    ),
    (
        "engine/duel.py",
        "            return rounds\n",
        "            return min(rounds + 1, LANES)\n",
    ),
    ("engine/duel.py", "k = sure_rounds(D, spread)", "k = 1 + sure_rounds(D, spread)"),
)

_EXIT = "if at >= up or at <= -down:\n            break\n    return "
#: LUCB's jumps too long: a line or a corridor left a pull ago, a sure bound 16 times as long, a
#: budget of a thousandth, a round too many in step.
LENGTHENED_LUCB = (
    (
        "algorithms/lucb/challenge.py",
        "return min(first_lane(suspects) + 1, J)",
        "return min(first_lane(suspects) + 2, J)",
    ),
    ("algorithms/lucb/corridors.py", _EXIT + "j", _EXIT + "min(j + 1, most)"),
    (
        "algorithms/lucb/corridors.py",
        "step = int(min(max(0.0, H * _CAUTION / laws",
        "step = int(min(max(0.0, 16.0 * H / laws",
    ),
    (
        "algorithms/lucb/corridors.py",
        "return 2.0 * laws.proxy(law)",
        "return 0.002 * laws.proxy(law)",
    ),
    (
        "algorithms/lucb/in_step.py",
        "k = min(sure + 1, rounds - made)",
        "k = min(sure + 2, rounds - made)",
    ),
)

#: The chord's slope kept for the line from W itself; and a look at the last of 64 rewards, of which
#: half are then thrown away.
STALE_SLOPE = (
    "engine/duel.py",
    "            slope = (schedules.threshold(schedule, np.float64(R + LANES)) / unit - W) / "
    "LANES\n",
    "",
)
LOOK_AHEAD = (
    "engine/duel.py",
    "slope), last - R)",
    "slope), last - R, LANES if bits_set(A) % 2 else LANES // 2)",
)

#: For `pathwise.misses`: algorithm, task, seed, replications, options.
Trial = tuple[Algorithm, Task, int, int, dict[str, float]]
_BEST = (0.7, 0.55, 0.5, 0.45), (1, 3), (1, 0), 0.1
#: For each change of `LENGTHENED_LUCB` a trial that shows it.
SHOWN_BY: tuple[Trial, ...] = (
    (LUCB(), Task("words", *_BEST), 1, 300, {}),
    (LUCB(as_printed=True), Task("words", *_BEST), 1, 300, {"max_pulls": 20_000}),
    (LUCB(), Task("bits", *_BEST), 1, 300, {"skip_error": 0.0}),
    (LUCB(), Task("bits", *_BEST), 1, 300, {}),
    (LUCB(), two_arms("bits", 0.5, 0.25, 0.1), 1, 300, {"skip_error": 0.0}),
)

_PATHWISE = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from pathwise import Task, decisions_use_used_rewards, misses, two_arms
from rai_sim import LUCB, Vanilla
missed = [misses(rule, task, seed, count, workers={workers}, **options).number for rule, task, seed, count, options in {trials}]
hung = len(decisions_use_used_rewards(Vanilla(), two_arms("words", 0.5, 0.14, 0.1), 11, 0, 40)[0]) if {reuse} else 0
np.save(sys.argv[1], [*missed, hung])
"""


def pathwise_findings_of_mutant(
    folder: Path,
    edits: Sequence[tuple[str, str, str]],
    trials: Sequence[Trial],
    workers: int = 1,
    reuse: bool = False,
) -> tuple[list[int], int]:
    """Return how many replications of each trial differ from the literal loop in a copy of the
    package with some lines changed.

    Parameters
    ----------
    folder, edits
        As in `pulls_of_mutant`.
    trials : sequence of (algorithm, task, seed, count, options)
        What `pathwise.misses` is given.
    workers : int
        Threads.
    reuse : bool
        Return as well in how many of 40 replications a decision hangs on rewards that are then
        thrown away; else 0.
    """
    environment = mutant(folder, edits)
    program = _PATHWISE.format(trials=list(trials), workers=workers, reuse=reuse)
    arguments = [
        sys.executable,
        "-c",
        program,
        str(folder / "found.npy"),
        str(Path(__file__).parent),
    ]
    subprocess.run(arguments, check=True, env=environment, cwd=folder, timeout=600)
    *missed, hung = np.load(folder / "found.npy").tolist()
    return missed, hung
