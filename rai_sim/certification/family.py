"""Instances on which algorithms err that are not delta-PC: near ties, equal means, clusters of one,
openings that mislead, all laws, and some at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from rai_sim import bounds
from rai_sim.arms.base import Arms
from rai_sim.arms.bernoulli import Bernoulli
from rai_sim.arms.categorical import Categorical
from rai_sim.arms.gaussian import Gaussian
from rai_sim.problem import Problem, best_arm, coarse_ranking, full_ranking, m_of_top, top
from rai_sim.support.checks import check_count, check_delta
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.limits import MOST_PULLS
from rai_sim.support.values import real

#: An instance by its gap.
_Make = Callable[[float], Problem]
#: The widest gap, and the steps by which an instance's is found: Theorem 2's bound grows as 1 / gap^2
#: but for a logarithm, so that each step leaves a tenth of the error.
_WIDEST, _STEPS = 0.15, 8
#: The values of Categorical arms whose mean moves with their tilt, and how many instances are drawn.
_STARS, _DRAWN = np.linspace(0.0, 1.0, 5), 4
#: The least that Theorem 2 may be asked to allow: of fewer pulls no gap is a near tie.
_LEAST_PULLS = 1000


def hard_problems(
    delta: float = 0.01, *, pulls: float = 200_000, seed: int = 0
) -> dict[str, Problem]:
    """Return instances that an algorithm is likely to fail if it is not delta-PC.

    They are near ties: the gap of each is the least, to two digits, at which Theorem 2 lets Vanilla
    end within `pulls`, so that a replication costs about the same on all of them; the
    widest that fits into [0, 1], at most 0.15, where that is not enough. An instance's
    name says what it tries, and after a colon what is asked for:

    - *clusters of one*: a middle arm, a full ranking, the worst arm. An arm that is ranked two
      places off is not in a neighbouring cluster.
    - *near ties*: neighbouring means are one gap apart, within clusters, too.
    - *equal means*: within a cluster arms are equal, so that their order is pure noise until the
      end.
    - *opening*: the first rewards mislead. The best arm pays seldom, but much, or others seldom
      fail: for a long time the wrong arm looks best, and looks certain. A rule that acts on few
      rewards, or on the spread that it has seen, is caught here.
    - *Gaussian*, *Categorical*: the same on other laws.
    - *drawn*: sizes, requirements and means at random, a function of `seed`.

    Parameters
    ----------
    delta : float, default 0.01
        Error probability that they will be run with, in (0, 1): it is in the theorem.
    pulls : float, default 200000
        What Theorem 2 may allow, from 1,000 to 2^62. Vanilla takes a sixth of it. For an algorithm
        that looks at every pull in Python take less.
    seed : int, default 0
        Seed of the instances at random; it has nothing to do with the seed of a simulation.

    Returns
    -------
    dict of str to Problem
        By name. All have rewards in [0, 1] or Gaussian ones of standard deviation 1/2.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or value.

    Notes
    -----
    There are no `Recorded` arms: in all replications a recording has the same rewards, so how often
    an algorithm errs on it says nothing of delta.

    Examples
    --------
    >>> found = hard_problems(0.1)
    >>> len(found), next(iter(found))
    (27, 'clusters of one: second of five')
    >>> found["near ties: best of two"]
    Problem(Bernoulli(2 arms, means [0.5265, 0.4735]), clusters=(1, 1), required=(1, 0))
    """
    delta = check_delta(delta)
    most = real("pulls", pulls)
    if not _LEAST_PULLS <= most <= MOST_PULLS:
        raise ArgumentValueError(
            "pulls", f"pulls is {most:g}; it must be at least {_LEAST_PULLS:,} and at most 2^62"
        )
    rng = np.random.Generator(np.random.PCG64(check_count("seed", seed, 0)))
    return {name: make(_gap_for(make, delta, most)) for name, make in _makers(rng)}


def _gap_for(make: _Make, delta: float, pulls: float) -> float:
    """Return the least gap of two digits at which Theorem 2 allows at most so many pulls, or the
    widest."""
    gap = _WIDEST
    for _ in range(_STEPS):
        gap = min(gap * math.sqrt(bounds.vanilla(make(gap), delta) / pulls), _WIDEST)
    unit = 10.0 ** (math.floor(math.log10(gap)) - 1)
    return min(round(math.ceil(gap / unit - 1e-6) * unit, 12), _WIDEST)


# What is asked for, by the gap
# --------------------------------------------------------------------------------------------------


def _makers(rng: np.random.Generator) -> Iterator[tuple[str, _Make]]:
    """Yield names and instances; first those on which rules that neglect an arm err most often, and
    the laws whose kernels are compiled last at the end."""
    yield "clusters of one: second of five", lambda g: _one_of_five(g, 1)
    yield "clusters of one: full ranking of five", lambda g: full_ranking(Bernoulli(_stairs(5, g)))
    yield "clusters of one: worst of five", lambda g: _one_of_five(g, 4)
    yield "near ties: best of two", lambda g: best_arm(Bernoulli([0.5 + g / 2, 0.5 - g / 2]))
    yield "near ties: best of five", lambda g: best_arm(Bernoulli(_stairs(5, g)))
    yield "near ties: middle of six", lambda g: _in_pairs(Bernoulli(_stairs(6, g)), (0, 2, 0))
    yield "near ties: ends of six", lambda g: _in_pairs(Bernoulli(_stairs(6, g)), (1, 0, 1))
    yield "equal means: best of ten", lambda g: best_arm(Bernoulli([0.5 + g] + [0.5] * 9))
    yield "equal means: top three of six", lambda g: top(Bernoulli(_two_levels(g)), 3)
    yield "equal means: two of top three", lambda g: m_of_top(Bernoulli(_two_levels(g)), 2, 3)
    yield (
        "equal means: top pair of three pairs",
        lambda g: _in_pairs(Bernoulli(_pairs(g)), (2, 0, 0)),
    )
    yield "equal means: last of three pairs", lambda g: _in_pairs(Bernoulli(_pairs(g)), (0, 0, 1))
    yield (
        "equal means: coarse ranking of six",
        lambda g: _in_pairs(Bernoulli(_pairs(g)), (2, 2, 2)),
    )
    yield (
        "opening: best of five, seldom paid",
        lambda g: Problem(Bernoulli([3 * g, 2 * g, g, g, g]), (1, 1, 3), (1, 0, 0)),
    )
    yield (
        "opening: worst of five, seldom unpaid",
        lambda g: Problem(
            Bernoulli([1 - g, 1 - g, 1 - g, 1 - 2 * g, 1 - 3 * g]), (3, 1, 1), (0, 0, 1)
        ),
    )
    for number in range(_DRAWN):
        yield f"drawn: {number + 1}", _drawn(rng)
    yield "opening: best of three, seldom paid, others sure", _late_winner
    yield "opening: worst of three, seldom unpaid, others sure", _late_loser
    yield "opening: best of three is sure, others seldom unpaid", _false_start
    yield "Categorical: top three of six", lambda g: top(_stars(_two_levels(g)), 3)
    yield (
        "Categorical: coarse ranking of three pairs",
        lambda g: coarse_ranking(_stars(_pairs(g)), (2, 2, 2)),
    )
    yield "Gaussian: best of two", lambda g: best_arm(Gaussian([g / 2, -g / 2]))
    yield "Gaussian: top three of six", lambda g: top(Gaussian(_two_levels(g)), 3)
    yield (
        "Gaussian: top pair of three pairs",
        lambda g: _in_pairs(Gaussian(_pairs(g)), (2, 0, 0)),
    )


def _stairs(n: int, gap: float) -> list[float]:
    """Return n means one gap apart around 1/2."""
    return [0.5 + gap * ((n - 1) / 2 - k) for k in range(n)]


def _two_levels(gap: float) -> list[float]:
    return [0.5 + gap] * 3 + [0.5] * 3


def _pairs(gap: float) -> list[float]:
    return [0.5 + gap] * 2 + [0.5] * 2 + [0.5 - gap] * 2


def _one_of_five(gap: float, place: int) -> Problem:
    return Problem(Bernoulli(_stairs(5, gap)), (1,) * 5, tuple(int(i == place) for i in range(5)))


def _in_pairs(arms: Arms, required: tuple[int, int, int]) -> Problem:
    return Problem(arms, (2, 2, 2), required)


def _stars(means: list[float]) -> Categorical:
    """Return arms of five levels, of which the higher ones are the likelier the higher the mean."""
    tilt = 4.0 * (np.array(means) - 0.5)[:, None]
    return Categorical(_STARS, 0.2 + tilt * (np.arange(5) - 2) / 10.0)


def _late_winner(gap: float) -> Problem:
    """The best arm pays 1 with probability 3 gap, else nothing; others always the same."""
    paid = 3.0 * gap
    arms = Categorical(
        [0.0, gap, 2.0 * gap, 1.0],
        [[1.0 - paid, 0.0, 0.0, paid], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    )
    return Problem(arms, (1, 1, 1), (1, 0, 0))


def _late_loser(gap: float) -> Problem:
    """`_late_winner` seen in a mirror: who is worst fails with probability 3 gap."""
    failed = 3.0 * gap
    arms = Categorical(
        [0.0, 1.0 - 2.0 * gap, 1.0 - gap, 1.0],
        [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [failed, 0.0, 0.0, 1.0 - failed]],
    )
    return Problem(arms, (1, 1, 1), (0, 0, 1))


def _false_start(gap: float) -> Problem:
    """Those that are not best pay 1 until they fail, with probability 2 gap."""
    failed = 2.0 * gap
    other = [failed, 0.0, 1.0 - failed]
    return best_arm(Categorical([0.0, 1.0 - gap, 1.0], [[0.0, 1.0, 0.0], other, other]))


def _drawn(rng: np.random.Generator) -> _Make:
    """Draw two to four clusters of one to three arms, what is asked of them, and which neighbours
    within clusters are equal; borders are one gap wide."""
    sizes: NDArray[np.int64] = rng.integers(1, 4, rng.integers(2, 5))
    required = rng.integers(0, sizes + 1)
    if not required.any():
        required[rng.integers(len(sizes))] = 1
    steps = rng.integers(0, 2, int(sizes.sum())).astype(np.float64)
    steps[np.cumsum(sizes)[:-1]] = 1.0
    steps[0] = 0.0
    places = np.cumsum(steps)
    order = rng.permutation(len(places))
    offsets = (places.mean() - places)[order]

    def make(gap: float) -> Problem:
        # eleven steps of the widest gap would leave [0, 1]
        means = 0.5 + min(gap, 0.5 / max(abs(offsets).max(), 1.0)) * offsets
        return Problem(Bernoulli(means), tuple(sizes.tolist()), tuple(required.tolist()))

    return make
