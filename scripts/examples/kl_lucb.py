"""An algorithm of one's own: KL-LUCB (Kaufmann and Kalyanakrishnan 2013) for the top K of Bernoulli
arms. Run it: python scripts/examples/kl_lucb.py"""

import math

import numba

import rai_sim as rai


@numba.njit
def bound(p, n, level, up):
    """Return the mean farthest from p, upwards or downwards, with n kl(p, mean) <= level."""
    near, far = p, 1.0 if up else 0.0
    for _ in range(40):
        q = 0.5 * (near + far)
        kl = 0.0 if p <= 0.0 else p * math.log(p / q)
        kl += 0.0 if p >= 1.0 else (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
        near, far = (q, far) if n * kl <= level else (near, q)
    return near


class KLLUCB(rai.OwnRule):
    """Pull the weakest of the K best arms and the strongest of the others, until they are apart."""

    @staticmethod
    def step(task, counts, sums, scratch, arms):
        """Return how many arms to pull, written into `arms`; 0 if it holds the answer."""
        N, K, pulls = task.n_arms, task.required[0], counts.sum()
        for arm in range(N):
            arms[arm] = arm
        if pulls < N:
            return N
        for x in range(1, N):  # by empirical mean, the best first
            y = x
            while (
                y > 0 and sums[arms[y]] * counts[arms[y - 1]] > sums[arms[y - 1]] * counts[arms[y]]
            ):
                arms[y], arms[y - 1] = arms[y - 1], arms[y]
                y -= 1
        log = math.log(405.5 * N * (1 + (pulls - N) // 2) ** 1.1 / task.delta)
        weakest, strongest, low, high = -1, -1, math.inf, -math.inf
        for x in range(N):
            n = counts[arms[x]]
            end = bound(sums[arms[x]] / n, n, log + math.log(log), x >= K)
            if x < K and end < low:
                weakest, low = arms[x], end
            if x >= K and end > high:
                strongest, high = arms[x], end
        if high < low:
            return 0  # `arms` begins with the K best
        arms[0], arms[1] = weakest, strongest
        return 2


if __name__ == "__main__":
    problem = rai.top(rai.Bernoulli([0.9, 0.85, 0.6, 0.5, 0.4]), 2)
    for algorithm in (KLLUCB(), rai.LUCB()):
        print(rai.simulate(problem, algorithm, delta=0.01, replications=200, seed=0).summary())
