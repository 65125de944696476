"""The script for SLURM's arrays, in an environment as SLURM makes it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rai_sim as rai

SCRIPT = Path(__file__).parents[2] / "scripts/study_array.sh"
STUDY = """
algorithms = ["vanilla", "butterscotch"]
delta = [0.1, 0.01]
{amount}
[[instances]]
table_task = [1, 2]
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="SLURM's jobs need a shell")


def job(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script as SLURM does: a copy of it, in the folder that it was submitted from."""
    copy = folder / "slurm_script"
    shutil.copy(SCRIPT, copy)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    root = str(SCRIPT.parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        ["bash", str(copy), *words],
        cwd=folder,
        env=clean | {"PYTHONPATH": path} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def array(number: int, count: int) -> dict[str, str]:
    """Return SLURM's variables of an array's job."""
    return {
        "SLURM_ARRAY_JOB_ID": "4711",
        "SLURM_ARRAY_TASK_ID": str(number),
        "SLURM_ARRAY_TASK_COUNT": str(count),
        "SLURM_ARRAY_TASK_MIN": "1",
        "SLURM_ARRAY_TASK_MAX": str(count),
    }


def test_what_is_run(tmp_path: Path) -> None:
    """Each job in a folder of its own or in the study's, with as many workers as it has
    processors; in the end all is merged."""
    (tmp_path / "gaps.toml").write_text(STUDY.format(amount=""))
    echo = {"RAI_SIM": "echo rai-sim"}
    said = job(tmp_path, "gaps.toml", "--replications", "20", **array(3, 16), **echo).stdout
    assert said == (
        "rai-sim study gaps.toml --part slurm --store gaps.parts/3 --no-progress --jobs 1 "
        "--replications 20\n"
    )
    shared = {"RAI_SIM_SHARED": "1", "SLURM_CPUS_PER_TASK": "4"}
    said = job(tmp_path, "gaps.toml", **array(3, 16), **echo, **shared).stdout
    assert said.endswith("slurm --store gaps.study --no-progress --jobs 4\n")
    for number in ("1", "2"):
        (tmp_path / "gaps.parts" / number).mkdir(parents=True)
    said = job(tmp_path, "--merge", "gaps.toml", **echo).stdout
    assert said == "rai-sim merge gaps.parts/1 gaps.parts/2 --output gaps.study\n"


def test_what_cannot_be_run(tmp_path: Path) -> None:
    """Outside of an array, or without a file: an error that says how to submit it."""
    (tmp_path / "gaps.toml").write_text(STUDY.format(amount=""))
    outside = job(tmp_path, "gaps.toml")
    assert outside.returncode != 0
    assert "SLURM_ARRAY_TASK_ID: is not set: submit this by sbatch --array=1-16" in outside.stderr
    for words in ((), ("nothing.toml",)):
        without = job(tmp_path, *words, **array(1, 2))
        assert without.returncode == 2
        assert "is no study's TOML file; usage: sbatch --array=1-16" in without.stderr


@pytest.mark.slow
@pytest.mark.parametrize("amount", ["replications = 300", "precision = 0.02"])
def test_an_array_is_one_process(tmp_path: Path, amount: str) -> None:
    """Run, and merged, it comes to what one process alone does."""
    (tmp_path / "gaps.toml").write_text(STUDY.format(amount=amount))
    program = {"RAI_SIM": f"{sys.executable} -m rai_sim"}
    for number in (2, 1, 3):
        ran = job(tmp_path, "gaps.toml", **array(number, 3), **program)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert f"part {number}/3 is done; gaps.parts/{number} holds" in ran.stdout
    merged = job(tmp_path, "--merge", "gaps.toml", **program)
    assert merged.returncode == 0
    study = rai.Study.from_toml(tmp_path / "gaps.toml")
    alone, done = study.run(tmp_path / "alone"), study.results(tmp_path / "gaps.study")
    assert done.summary().equals(alone.summary())
    tasks, replications = len(study.tasks), alone.progress()[0]
    assert merged.stdout == f"{tasks} tasks, {replications:,} replications in gaps.study\n"
