"""Broken copies of the package: negative controls for tests that must notice a wrong kernel."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rai_sim

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
    """Run `simulate` in a copy of the package with some lines changed; return the pulls, one row a problem.

    Parameters
    ----------
    folder : Path
        Empty folder for the copy and its compiled kernels.
    edits : sequence of (file, old, new)
        In rai_sim/`file`, `old`, which must stand there once, becomes `new`.
    problems, algorithm : str
        Python expressions in which the package is called `rai`; one row of pulls a problem is returned.
    """
    environment = mutant(folder, edits)
    program = _PROGRAM.format(problems=", ".join(problems), algorithm=algorithm, delta=delta, replications=replications, seed=seed)
    subprocess.run([sys.executable, "-c", program, str(folder / "pulls.npy")], check=True, env=environment, cwd=folder, timeout=300)
    pulls: NDArray[np.int64] = np.load(folder / "pulls.npy")
    return pulls


def mutant(folder: Path, edits: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Copy the package and change it; return the environment in which Python imports the copy."""
    package = Path(rai_sim.__file__).parent
    shutil.copytree(package, folder / "rai_sim", ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in edits:
        path = folder / "rai_sim" / file
        text = path.read_text()
        assert text.count(old) == 1, f"{file} holds {old!r} {text.count(old)} times: bring the negative control up to date"
        path.write_text(text.replace(old, new))
    return dict(os.environ, PYTHONPATH=str(folder), NUMBA_CACHE_DIR=str(folder / "cache"))


#: Skips one round longer than certified, one in each of the places where the round-robin loop decides how far it goes.
LENGTHENED_SKIP = (
    ("engine/round_robin.py", "k, mode = quiet + 1, SUMS", "k, mode = quiet + 2, SUMS"),
    ("engine/round_robin.py", "k = 1 + sure_rounds(", "k = 2 + sure_rounds("),
    ("engine/round_robin.py", "until = min(1 + first_suspect(", "until = min(2 + first_suspect("),
    ("engine/duel.py", "            return rounds\n", "            return min(rounds + 1, LANES)\n"),
    ("engine/duel.py", "k = sure_rounds(D, spread)", "k = 1 + sure_rounds(D, spread)"),
)

_COMPARISON = """
import sys
from functools import partial
sys.path.insert(0, sys.argv[2])
import numpy as np
from replay import draw_instance, lucb_length, run_kernel, run_known, run_twin
from rai_sim import LUCB
found = []
for skips, bits, as_printed, seed, count, gaps, most_arms in {runs}:
    rng = np.random.default_rng(seed)
    drawn = [draw_instance(rng, lucb_length, gaps, kinds=("bernoulli",), most_arms=most_arms) for _ in range(count)]
    rule = LUCB(as_printed=as_printed)
    ours = partial(dict(sure=run_kernel, known=run_known)[skips], rule, bits=bits)
    found.append(sum(ours(i) != run_twin(rule, i) for i in drawn if i.span == 1))
np.save(sys.argv[1], found)
"""


def mismatches_of_mutant(
    folder: Path, edits: Sequence[tuple[str, str, str]], runs: Sequence[tuple[str, bool, bool, int, int, tuple[float, float], int]]
) -> list[int]:
    """Replay recordings of rewards 0 and 1 with LUCB in a copy of the package with some lines changed; count runs unlike the twin's.

    Parameters
    ----------
    folder, edits
        As in `pulls_of_mutant`.
    runs : sequence of (skips, bits, as_printed, seed, count, gaps, most_arms)
        For each a number is returned. skips is "sure" (`replay.run_kernel`) or "known" (`replay.run_known`), bits as there, as_printed as
        in `LUCB`, and the others are for `replay.draw_instance`.
    """
    environment = mutant(folder, edits)
    program = _COMPARISON.format(runs=list(runs))
    arguments = [sys.executable, "-c", program, str(folder / "found.npy"), str(Path(__file__).parent)]
    subprocess.run(arguments, check=True, env=environment, cwd=folder, timeout=300)
    found: list[int] = np.load(folder / "found.npy").tolist()
    return found


_EXIT = "if at >= up or at <= -down:\n            break\n    return "
#: LUCB's jumps too long: a line or a corridor left a pull ago, a sure bound 16 times as long, a budget of a thousandth, a round too many in
#: step.
LENGTHENED_LUCB = (
    ("engine/lucb_challenge.py", "return min(first_lane(suspects) + 1, J)", "return min(first_lane(suspects) + 2, J)"),
    ("engine/lucb_corridors.py", _EXIT + "j", _EXIT + "min(j + 1, most)"),
    ("engine/lucb_corridors.py", "step = int(min(max(0.0, H * _CAUTION / laws", "step = int(min(max(0.0, 16.0 * H / laws"),
    ("engine/lucb_corridors.py", "return 2.0 * laws.proxy(law)", "return 0.002 * laws.proxy(law)"),
    ("engine/lucb_in_step.py", "k = min(sure + 1, rounds - made)", "k = min(sure + 2, rounds - made)"),
)

#: The chord's slope kept for the line from W itself; and a look at the last of 64 rewards, of which half are then thrown away.
STALE_SLOPE = ("engine/duel.py", "            slope = (schedules.threshold(schedule, np.float64(R + LANES)) / unit - W) / LANES\n", "")
LOOK_AHEAD = ("engine/duel.py", "slope), last - R)", "slope), last - R, LANES if bits_set(A) % 2 else LANES // 2)")

_PATHWISE = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from pathwise import decisions_use_used_rewards, misses, two_arms
from rai_sim import Vanilla
missed = sum(misses(Vanilla(), two_arms("words", *pair), seed, {count}, workers={workers}).number for seed, pair in enumerate({pairs}))
hung = len(decisions_use_used_rewards(Vanilla(), two_arms("words", 0.5, 0.14, 0.1), 11, 0, 40)[0])
np.save(sys.argv[1], [missed, hung])
"""


def pathwise_findings_of_mutant(
    folder: Path, edits: Sequence[tuple[str, str, str]], pairs: Sequence[tuple[float, float, float]], count: int, workers: int = 1
) -> tuple[int, int]:
    """Return what the two harnesses of `pathwise` find in a copy of the package with some lines changed.

    Parameters
    ----------
    folder, edits
        As in `pulls_of_mutant`.
    pairs : sequence of (middle, gap, delta)
        Tasks of two arms, of each of which `count` replications are compared with the literal loop, on `workers` threads.
    """
    environment = mutant(folder, edits)
    program = _PATHWISE.format(pairs=list(pairs), count=count, workers=workers)
    arguments = [sys.executable, "-c", program, str(folder / "found.npy"), str(Path(__file__).parent)]
    subprocess.run(arguments, check=True, env=environment, cwd=folder, timeout=600)
    missed, hung = np.load(folder / "found.npy").tolist()
    return missed, hung
