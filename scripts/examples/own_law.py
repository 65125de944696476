"""Arms with a reward law of one's own: two-sided triangular rewards. Run it: python
scripts/examples/own_law.py"""

import rai_sim as rai
from rai_sim.samplers import uniform


class Triangular(rai.OwnArms):
    """Rewards are the mean plus the difference of two uniforms, at most `width` from it."""

    width: float = 0.2
    bounds = (0.0, 1.0)

    @staticmethod
    def pull(law, arm, random):
        """Return a reward, and the state of the stream after it."""
        u, random = uniform(random)
        v, random = uniform(random)
        return law.means[arm] + law.width * (u - v), random


if __name__ == "__main__":
    arms = Triangular([0.75, 0.6, 0.45, 0.3])
    print(arms, "standard deviation", arms.sample(0, 100_000).std())
    print(
        rai.simulate(rai.top(arms, 2), rai.LUCB(), delta=0.01, replications=200, seed=0).summary()
    )
