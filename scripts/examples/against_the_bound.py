"""Holding an algorithm against the lower bound: how many times the least possible number of pulls it
takes, and where they go. Run it: python scripts/examples/against_the_bound.py"""

import rai_sim as rai


def main(replications: int = 2000, delta: float = 0.01) -> dict[str, float]:
    """Print bounds, ratios, and shares of pulls; return mean pulls over the bound at delta."""
    problem = rai.table_problem(task=2)
    bound = rai.bounds.at_delta(problem, delta)
    limit = rai.bounds.degenne_koolen(problem)
    print(f"Theorem 1, delta -> 0: {rai.bounds.lower(problem, delta):,.0f} pulls")
    print(f"tight, {bound.conditions}: {bound.pulls:,.0f} pulls")

    found = {}
    for algorithm in (rai.Vanilla(), rai.Butterscotch(), rai.LUCB()):
        result = rai.simulate(problem, algorithm, delta=delta, replications=replications, seed=0)
        found[type(algorithm).__name__] = result.pulls.mean() / bound.pulls
    for name, ratio in found.items():
        print(f"{name:<13} takes {ratio:5.1f} times the bound")

    # What is lost, and where: an oracle that shares its pulls best still stops by a threshold.
    for threshold in ("gk16-unproven", "pairs", "paper"):
        oracle = rai.bounds.practical(problem, delta, threshold)
        print(f"an oracle that stops by {threshold!r:<16} {oracle / bound.pulls:5.1f} times")
    print("best shares of pulls, arm by arm:", limit.weights.round(3).tolist())
    pulls = rai.arm_pulls(
        rai.simulate(problem, rai.Vanilla(), delta=delta, replications=100, seed=0)
    )
    shares = pulls.sum(axis=0) / pulls.sum()
    print("Vanilla's shares:                ", shares.round(3).tolist())
    return found


if __name__ == "__main__":
    main()
