"""A study on a cluster: an array of jobs, each with its share, and one that unites them. Run it:
python scripts/examples/cluster_array.py

On SLURM, scripts/study_array.sh does this with a study's TOML file, one job a part:

    sbatch --array=1-16 scripts/study_array.sh gaps.toml
    sbatch --dependency=afterok:JOB scripts/study_array.sh --merge gaps.toml

Here the parts run one after the other in this process. They need not know of each other: a part
that was killed goes on by the same call.
"""

import tempfile
from pathlib import Path

import rai_sim as rai


def main(folder: Path, parts: int = 3, replications: int = 1000) -> rai.StudyResults:
    """Run each part into a folder of its own, unite them, and compare with a single run."""
    study = rai.Study.grid(
        {f"top {k}": rai.top(rai.Bernoulli([0.9, 0.7, 0.5, 0.3]), k) for k in (1, 2)},
        [rai.Vanilla(), rai.Butterscotch()],
        [0.1],
        replications=replications,
    )
    stores = []
    for number in range(1, parts + 1):  # on a cluster: part="slurm", which reads the array's task
        store = folder / f"part-{number}"
        share = study.run(store, part=f"{number}/{parts}")
        print(f"part {number}: {share.progress()[0]:,} of {len(study.tasks) * replications:,}")
        stores.append(store)

    merged = rai.merge_studies(stores, folder / "whole.study")
    print(merged.summary().select("instance", "algorithm", "pulls_mean", "replications"))
    alone = study.run(folder / "alone.study")
    assert all(merged.result(task) == alone.result(task) for task in study.tasks)
    print("the same numbers as those of one process")
    return merged


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
