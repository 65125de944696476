"""An algorithm of one's own: successive elimination (Even-Dar, Mannor and Mansour 2006) for the best
arm. Run it: python scripts/examples/successive_elimination.py"""

import math

import rai_sim as rai


class SuccessiveElimination(rai.OwnRule):
    """Pull every arm that is left, then drop those that are surely not the best, until one is left."""

    @staticmethod
    def step(task, counts, sums, scratch, arms):
        """Return how many arms to pull, written into `arms`; 0 if it holds the answer."""
        rounds = 0  # arms that are left have equally many pulls, the most of all
        for arm in range(task.n_arms):
            rounds = max(rounds, counts[arm])
        best = -math.inf
        for arm in range(task.n_arms):
            if counts[arm] == rounds:
                best = max(best, sums[arm])
        width = math.inf  # by how much sums must differ
        if rounds > 0:
            log = math.log(math.pi**2 * rounds**2 * task.n_arms / (3.0 * task.delta))
            width = math.sqrt(2.0 * rounds * log)
        left = 0
        for arm in range(task.n_arms):
            if counts[arm] == rounds and best - sums[arm] <= width:
                arms[left] = arm
                left += 1
        return 0 if left == 1 else left


def main() -> None:
    """Compare it with Vanilla, and look whether it errs more often than it may."""
    problem = rai.best_arm(rai.Bernoulli([0.7, 0.5, 0.45, 0.3]))
    for algorithm in (SuccessiveElimination(), rai.Vanilla()):
        print(rai.simulate(problem, algorithm, delta=0.01, replications=1000, seed=0).summary())
    print(rai.certify(SuccessiveElimination(), delta=0.1, problems={"four": problem}, seed=0))


if __name__ == "__main__":
    main()
