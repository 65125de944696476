"""Comparing algorithms: mean pulls on one problem, their ratios, and whether each errs more often
than it may. Run it: python scripts/examples/comparing_algorithms.py (figures: the extra `plot`)"""

import matplotlib.pyplot as plt
import numpy as np

import rai_sim as rai


def main(replications: int = 2000, figure: str | None = "ratios.png") -> list[rai.Result]:
    """Run the paper's algorithms on the same problem; draw their ratios into a file, if one is named."""
    problem = rai.table_problem(task=2)  # the paper's ten arms, all of the top three
    algorithms = [rai.Vanilla(), rai.Vanilla(merging=False), rai.Butterscotch(), rai.LUCB()]
    runs = [
        rai.simulate(problem, one, delta=0.01, replications=replications, seed=0)
        for one in algorithms
    ]

    first = runs[0].pulls
    print(f"{'algorithm':<30}{'mean pulls':>11}{'over the first':>24}{'errors':>16}")
    for algorithm, run in zip(algorithms, runs, strict=True):
        ratio = run.pulls.mean() / first.mean()
        # replication i of each is paired with i of the first; the ratio's 95 % interval follows
        spread = (run.pulls - ratio * first).std(ddof=1) / first.mean()
        off = 1.96 * spread / np.sqrt(replications)
        low, high = run.summary().error_interval  # Clopper and Pearson, 95 %
        print(
            f"{algorithm!s:<30}{run.pulls.mean():>11,.0f}{ratio:>15.3f} ± {off:.3f}"
            f"{low:>9.2%} to {high:.2%}"
        )
    if figure is not None:
        rai.plotting.ratios(runs)
        plt.savefig(figure)
        print("drawn:", figure)
    return runs


if __name__ == "__main__":
    main()
