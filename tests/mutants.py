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
    package = Path(rai_sim.__file__).parent
    shutil.copytree(package, folder / "rai_sim", ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in edits:
        path = folder / "rai_sim" / file
        text = path.read_text()
        assert text.count(old) == 1, f"{file} holds {old!r} {text.count(old)} times: bring the negative control up to date"
        path.write_text(text.replace(old, new))
    program = _PROGRAM.format(problems=", ".join(problems), algorithm=algorithm, delta=delta, replications=replications, seed=seed)
    environment = dict(os.environ, PYTHONPATH=str(folder), NUMBA_CACHE_DIR=str(folder / "cache"))
    subprocess.run([sys.executable, "-c", program, str(folder / "pulls.npy")], check=True, env=environment, cwd=folder, timeout=300)
    pulls: NDArray[np.int64] = np.load(folder / "pulls.npy")
    return pulls


#: Skips one round longer than certified, one in each of the places where the round-robin loop decides how far it goes.
LENGTHENED_SKIP = (
    ("engine/round_robin.py", "k, mode = quiet + 1, SUMS", "k, mode = quiet + 2, SUMS"),
    ("engine/round_robin.py", "k = 1 + sure_rounds(", "k = 2 + sure_rounds("),
    ("engine/round_robin.py", "until = min(1 + first_suspect(", "until = min(2 + first_suspect("),
    ("engine/duel.py", "            return rounds\n", "            return min(rounds + 1, LANES)\n"),
    ("engine/duel.py", "k = sure_rounds(D, spread)", "k = 1 + sure_rounds(D, spread)"),
)
