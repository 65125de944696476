"""Problems of which several clusters ask, drawn at random."""

from __future__ import annotations

import numpy as np

import rai_sim as rai
from rai_sim.bounds.asymptotic import _board_means, _others
from rai_sim.bounds.game import Board
from rai_sim.bounds.tight_bound import Family
from rai_sim.problem import Problem

BOTH: list[Family] = ["gaussian", "bernoulli"]
#: Of two of the first three arms and the last three of the others.
NO_WINDOW = Problem(
    rai.Bernoulli([0.95, 0.5298, 0.5234, 0.2104, 0.1856, 0.18, 0.1771]), (3, 4), (2, 3)
)


def draw(rng: np.random.Generator, most: int = 7) -> Problem:
    """Draw a problem of two to four clusters, of which several ask and one does not name all it
    has; near ties, and equal means in clusters, are frequent."""
    while True:
        n = int(rng.integers(4, most + 1))
        m = int(rng.integers(2, 5))
        cuts = np.sort(rng.choice(np.arange(1, n), min(m, n) - 1, replace=False))
        sizes = np.diff([0, *cuts, n]).tolist()
        asked = [int(rng.integers(0, c + 1)) for c in sizes]
        falls = 10.0 ** rng.uniform(-3.0, 0.0, n) * (rng.random(n) < 0.7)
        falls[cuts] += 0.02
        x = 0.95 - 0.9 * np.cumsum(falls) / falls.sum()
        if sum(r > 0 for r in asked) > 1 and any(
            0 < r < c for r, c in zip(asked, sizes, strict=True)
        ):
            return Problem(rai.Bernoulli(x), sizes, asked)


def board_of(problem: Problem, family: Family) -> tuple[Board, float]:
    """Return the board of a problem, and the unit of its means."""
    means, unit = _board_means(problem, family)
    return Board(BOTH.index(family), means, _others(problem)), unit
