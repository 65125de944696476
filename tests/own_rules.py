"""A user's own rules, widths and laws for tests; none is known by its name."""

import math
from collections.abc import Callable
from typing import Any

import numba

import rai_sim as rai
from rai_sim.samplers import normal, uniform


class EachOften(rai.OwnRule, known=False):
    """Pull every arm so often, name the best."""

    each: int = 20

    @staticmethod
    def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
        """Return how many to pull."""
        if counts[0] == task.each:
            arms[0] = 0
            for arm in range(task.n_arms):
                if sums[arm] > sums[arms[0]]:
                    arms[0] = arm
            return 0
        for arm in range(task.n_arms):
            arms[arm] = arm
        return int(task.n_arms)


class Elimination(rai.OwnRule, known=False):
    """Vanilla with merging for the best arm, written down once more."""

    factor: float = 1.0

    @staticmethod
    def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
        """Return how many to pull."""
        rounds = 0
        for arm in range(task.n_arms):
            rounds = max(rounds, counts[arm])
        width, best = math.inf, -math.inf
        if rounds > 0:
            scale = math.pi**2 * task.n_arms / (3.0 * task.delta)
            width = task.factor * math.sqrt(2.0 * rounds * math.log(scale * rounds * rounds))
        for arm in range(task.n_arms):
            if counts[arm] == rounds:
                best = max(best, sums[arm])
        left = 0
        for arm in range(task.n_arms):
            if counts[arm] == rounds and best - sums[arm] <= width:
                arms[left] = arm
                left += 1
        return 0 if left == 1 else left


class Wander(rai.OwnRule, known=False):
    """Pull an arm at random, or two; name the arm pulled most often after so many steps: for what a
    rule is given."""

    steps: int = 30
    uniforms = 2

    @staticmethod
    def scratch_for(n_arms: int) -> int:
        """Return 2: steps made, and the uniforms' sum."""
        return 2

    @staticmethod
    def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
        """Return how many to pull."""
        if scratch[0] == task.steps:
            place = 0
            for i in range(task.clusters.size):
                for _ in range(task.required[i]):
                    arms[place] = task.n_arms - 1 - place
                    place += 1
            return 0
        scratch[0] += 1.0
        scratch[1] += task.uniforms[0]
        arms[0] = int(task.uniforms[0] * task.n_arms)
        arms[1] = int(task.uniforms[1] * task.n_arms)
        return 1 if scratch[1] % 1.0 < 0.5 else 2


class Wrong(rai.OwnRule, known=False):
    """Answers what it is told, right or wrong."""

    returned: int = 1
    arm: int = 0

    @staticmethod
    def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
        """Return a number with an arm at the first place."""
        arms[0] = task.arm
        return int(task.returned)


def wrong(returned: int, arm: int) -> rai.OwnRule:
    """Return a rule that returns a number with an arm at the first place."""

    return Wrong(returned=returned, arm=arm)


class PapersWidth(rai.OwnRoundRobin, known=False):
    """Vanilla's width."""

    @staticmethod
    def width(R: float, n_arms: int, delta: float, pairs: int) -> float:
        """Return W(R)."""
        return math.sqrt(2.0 * R * math.log(math.pi**2 * n_arms / (3.0 * delta) * R * R))


class OwnMixture(rai.OwnRoundRobin, known=False):
    """Vanilla's mixture, with its tuning."""

    tuned: float = 30.0

    @staticmethod
    def width(R: float, n_arms: int, delta: float, pairs: int, tuned: float) -> float:
        """Return W(R)."""
        alpha = delta / pairs
        L = math.log(1.0 / (2.0 * alpha))
        v, rho = R / 2.0, tuned / 2.0 / (2.0 * L + math.log(1.0 + 2.0 * L))
        return math.sqrt(
            2.0 * (v + rho) * math.log(math.sqrt((v + rho) / rho) / (2.0 * alpha) + 1.0)
        )


def width_of(function: Callable[[float], float]) -> rai.OwnRoundRobin:
    """Return a round robin whose width depends on R alone."""
    compiled = numba.njit(function)

    class Given(rai.OwnRoundRobin, known=False):
        @staticmethod
        def width(R: float, n_arms: int, delta: float, pairs: int) -> float:
            return float(compiled(R))

    return Given()


class Coin(rai.OwnArms, known=False):
    """Bernoulli arms, one uniform a pull as the package's draw it."""

    bounds = (0.0, 1.0)

    @staticmethod
    def pull(law: Any, arm: Any, random: Any) -> Any:
        """Return a reward and the state."""
        u, random = uniform(random)
        return (1.0 if u < law.means[arm] else 0.0), random


class Bell(rai.OwnArms, known=False):
    """Gaussian arms, as the package's draw them."""

    sd: float = 0.5

    @property
    def variance_proxy(self) -> float:  # type: ignore[override]
        """Return the variance."""
        return self.sd**2

    @staticmethod
    def pull(law: Any, arm: Any, random: Any) -> Any:
        """Return a reward and the state."""
        z, random = normal(random)
        return law.means[arm] + law.sd * z, random

    @staticmethod
    def pulls(law: Any, arm: Any, k: Any, random: Any) -> Any:
        """Return a sum and the state."""
        z, random = normal(random)
        return k * law.means[arm] + law.sd * math.sqrt(k) * z, random


class Noisy(Bell, known=False):
    """Gaussian arms of which algorithms may be told a sigma."""

    sigma: float | None = None
