"""A study that resumes: what its folder holds is not run again, and more replications are the same
numbers as at once. Run it: python scripts/examples/resuming_study.py [folder]"""

import sys
import tempfile
from pathlib import Path

import rai_sim as rai


def grid(replications: int) -> rai.Study:
    """Two gaps, two algorithms, two deltas: eight tasks."""
    gaps = {f"gap {gap}": rai.best_arm(rai.Bernoulli([0.5 + gap, 0.5])) for gap in (0.2, 0.1)}
    algorithms = [rai.Vanilla(), rai.Butterscotch()]
    return rai.Study.grid(gaps, algorithms, [0.1, 0.01], replications=replications)


def main(folder: str, replications: int = 1000) -> rai.StudyResults:
    """Run a fifth of the work, and then the rest, as after an interruption or a second thought."""
    results = grid(replications // 5).run(folder)
    print("first:", *results.progress(), "replications")

    # The same call again, here with more: after Ctrl-C, SIGTERM or a crash likewise.
    results = grid(replications).run(folder)
    print("then:", *results.progress(), "replications;", len(results.runs()), "runs of the study")
    print("added by each run:", [run["replications_added"] for run in results.runs()])

    # Another program, or another day: the folder says what it holds.
    again = rai.open_study(folder)
    print(again.summary().select("instance", "algorithm", "delta", "pulls_mean", "replications"))
    one = results.tasks[0].experiment
    at_once = rai.simulate(
        one.problem, one.algorithm, delta=one.delta, replications=replications, seed=0
    )
    assert results.result(results.tasks[0]) == at_once
    print("rows run again and compared:", again.verify(20))
    return again


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(str(Path(temporary) / "two-arms.study"))
