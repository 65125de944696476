"""The tight asymptotic lower bound on the number of pulls (Degenne and Koolen, "Pure exploration
with multiple correct answers", 2019)."""

from __future__ import annotations

import math
import warnings
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from rai_sim.bounds.answers import windows_of
from rai_sim.bounds.tight_bound import Alternative, Family, TightBound
from rai_sim.problem import Problem
from rai_sim.support.checks import short
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import is_choice

if TYPE_CHECKING:  # kernels of its own, which most programs never ask for
    from rai_sim.bounds.game import Solution

#: A game takes some 50 N^2 bytes.
MOST_ARMS = 4_000
#: So many results are kept: those of a study's instances, which several tables ask for.
_KEPT = 4_096
#: Distances between neighbouring means count up to so many bottleneck gaps: an arm so far away gets
#: a share of 1e-12 of the pulls.
_FAR = 1e6
#: Relative, an arm: what rounding, and far arms brought nearer, may have done to a certificate.
#: (With so much over the least gap squared as further pulls of every arm, alternatives that part
#: arms by 1e6 least gaps are excluded, however far they part them.)
_ROUNDING = 4e-12


def degenne_koolen(problem: Problem, family: Family = "gaussian") -> TightBound:
    """Return the tight lower bound on the pulls of any delta-PC algorithm, as delta goes to 0.

    liminf E[pulls] / ln(1/delta) >= 1 / D (Degenne and Koolen 2019, Theorem 1), and some algorithms
    attain it. It is about arms known to be Gaussian with standard deviation 1/2, d(a, b) =
    2 (a - b)^2, or known to be Bernoulli, d = kl; other 1/2-sub-Gaussian laws may be easier.

    **What D is.** An answer a names r_i arms in every cluster i. Let C_i = c_1 + .. + c_i. Named
    arm k of cluster i is wrong on an instance on which at least C_i other arms are as good, or at
    least N - C_{i-1} others as bad. What k pulls tell against such an instance is sum_j n_j d(mu_j,
    lambda_j), so with shares w of the pulls the alternative that is the hardest to exclude has

        g_k(w) = min over theta of w_k d(mu_k, theta) + the cheapest C_i (or N - C_{i-1}) of
                 w_j d(mu_j, theta), 0 for arms that are beyond theta anyway;
        D = max over answers a, max over shares w, of min over k in a of g_k(w).

    *Proof of the bound*, with one answer: let a delta-PC algorithm make N_j pulls of arm j. On an
    alternative it gives the answer with probability at most delta, on the problem with 1 - delta,
    so sum_j E[N_j] d(mu_j, lambda_j) >= kl(1 - delta, delta) for all alternatives (change of
    measure), hence E[pulls] D >= kl(1 - delta, delta), which is ln(1/delta) in the limit. With
    several answers see `at_delta`.

    **How it is found.** For a fixed answer D is the value of a concave game, solved between two
    certificates (`rai_sim.bounds.game`): weights guarantee their worst alternative, found exactly
    by a scan; a mixture of alternatives bounds D from above. `value` is the side that is certain.
    Where a cluster has over a hundred arms that are not asked for, there are so many alternatives
    that the two may be left apart: they agree for any of the best 80 of 160 (in 30 s), are 0.1 %
    apart for the best 120 of 240 and 0.3 % for the best 150 of 300 (in two minutes).

    **Which answers are looked at.** *Where one cluster alone asks for arms, the best answer is a
    window*, arms of consecutive ranks, the first ones of the first cluster, the last of the last.
    Proof. Let p, q, s be ranks of the cluster in this order, p
    and s named, q not, and w_s >= w_p (else mirror all). Name q instead of s, and let q and s
    exchange their weights. No g becomes smaller than D was. *Down*, a named k meets others at
    theta: for theta < mu_s both q and s are beyond theta whatever their weights, and k costs as
    much as before, q at least what s did. For theta >= mu_s, s was wrong at theta = mu_s for less:
    it is not moved itself, k is beyond it, and the others need not move as far. *Up*: for theta >=
    mu_q neither q nor s hinders, so a k that was named costs as much as before; q costs w_s d(mu_q,
    theta), no less than what p did, w_p d(mu_p, theta), if theta > mu_p. For a theta below mu_q (of
    q itself: up to mu_p), p was wrong at theta = mu_p for less. If q lies before (or behind) all
    that are named, and only *down* (or *up*) exists, the first half of the argument is all.

    *Where several do, it need not be one*: the exchange changes what names of other clusters cost.
    Two of (.95 .5298 .5234) and the last three of (.2104 .1856 .1800 .1771) are named the cheapest
    as .95, .5234 and the last three, by 0.04 %. So up to 32 answers are all looked at. Of more, the
    best one is searched for by branch and bound (`rai_sim.bounds.boxes`): windows first, by steps
    of one rank, then boxes of answers, of which a game bounds D from above in which the opponent
    settles what to do about each name before knowing who is named (`rai_sim.bounds.policies`). All
    answers are excluded that are better by more than 5e-7, unless there are more than 20 boxes for
    every arm to look at (as where many answers differ by 0.01 %), or too many arms (of 150, if
    tens of them may be named in several clusters). Then `value` is what is proved up to there, or
    what one cluster's question costs alone, if that is more: an answer to the whole is one to each
    cluster's question. `gap` tells how close the best answer found comes.

    **How long it takes.** The best of 1,000 arms some 4 s; 50 arms well below a second, at most 15 s
    (full ranking). By branch and bound 20 arms take mostly half a second (4 s at most), 50 arms in
    five clusters of ten (100,000 answers to one of each, 184 million to two) 3 to 27 s. Of 21,600
    random instances of up to 7 arms 3 had a better answer than all windows, by up to 0.08 %.

    Parameters
    ----------
    problem : Problem
        The instance.
    family : {"gaussian", "bernoulli"}, default "gaussian"
        Gaussian with standard deviation 1/2 (sigma, of arms with sigma), or Bernoulli, whatever the
        laws of the problem's arms: only their means count.

    Returns
    -------
    TightBound
        Value (pulls per nat), gap, weights, answer and binding alternative.

    Raises
    ------
    TypeError
        If `problem` is not a `Problem`.
    ValueError
        If `family` is neither, or the means are not in [0, 1] and it is "bernoulli"; if there are
        more than 4,000 arms.

    Examples
    --------
    >>> import rai_sim as rai
    >>> bound = rai.bounds.degenne_koolen(rai.best_arm(rai.Bernoulli([0.75, 0.25])))
    >>> round(bound.value, 6), bound.weights.round(6).tolist()  # 2 / gap^2
    (8.0, [0.5, 0.5])
    >>> bound = rai.bounds.degenne_koolen(rai.table_problem(task=2))
    >>> round(bound.value, 1), bound.binding.arm, bound.binding.direction, bound.binding.moved
    (848.7, 2, 'down', (3,))
    >>> round(rai.bounds.lower(rai.table_problem(task=2), 0.01) / math.log(100), 1)
    200.0
    """
    check_problem(problem)
    _check_family(problem, family)
    if problem.n_arms > MOST_ARMS:
        raise ArgumentValueError(
            "problem",
            f"problem has {problem.n_arms:,} arms; the tight bound is computed for {MOST_ARMS:,} at "
            "most: take rai.bounds.lower",
        )
    told = problem.rescaled
    key = (told.identity(), family)
    if key not in _known:
        _known[key] = _find(told, family)
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    found = _known[key]
    if told is problem or found.binding is None:
        return found
    theta = problem.arms.two_sigma * found.binding.theta
    return replace(found, binding=replace(found.binding, theta=theta))


#: Results by a problem's identity and the family.
_known: OrderedDict[tuple[str, str], TightBound] = OrderedDict()


def check_problem(problem: Problem) -> Problem:
    """Return a problem, or raise TypeError."""
    if not isinstance(problem, Problem):
        raise ArgumentTypeError(
            "problem",
            f"problem is {short.repr(problem)} of type {type(problem).__name__}; build one: "
            "rai.Problem(arms, clusters, required)",
        )
    return problem


def warn_of_arms_without_bounds(problem: Problem) -> Problem:
    """Return a problem, and warn if no bound holds for its arms: those that are not known to be
    sub-Gaussian with the parameter that algorithms are told. Where the law itself is not known, nothing
    is said."""
    arms = check_problem(problem).arms
    flaw = arms.why_not_sub_gaussian() if arms.means_known else None
    if flaw is not None:
        told = "1/2" if arms.sigma is None else f"{arms.sigma:g}"
        warnings.warn(
            f"no bound holds for these arms: {flaw}; what is returned is the bound for {told}-sub-Gaussian "
            "arms with their means",
            UserWarning,
            stacklevel=3,
        )
    return problem


def _check_family(problem: Problem, family: Family) -> None:
    if not is_choice(family, get_args(Family)):
        raise ArgumentValueError(
            "family", f"family is {short.repr(family)}; choose 'gaussian' or 'bernoulli'"
        )
    means = problem.arms.means
    if family == "bernoulli" and problem.arms.sigma is not None:
        raise ArgumentValueError(
            "family",
            f"family is 'bernoulli' but the arms have sigma {problem.arms.sigma:g}, of which "
            "Bernoulli arms have none: take 'gaussian'",
        )
    if family == "bernoulli" and not ((means >= 0.0) & (means <= 1.0)).all():
        arm = int(np.flatnonzero(~((means >= 0.0) & (means <= 1.0)))[0])
        raise ArgumentValueError(
            "family",
            f"family is 'bernoulli' but the mean of arm {arm} is {means[arm]}; Bernoulli means are "
            "in [0, 1]: take 'gaussian'",
        )


def _find(problem: Problem, family: Family) -> TightBound:
    """Solve the games of a problem."""
    if not math.isfinite(problem.bottleneck_gap):
        even = np.full(problem.n_arms, 1.0 / problem.n_arms)
        answer = _by_cluster(problem, windows_of(problem)[0])
        return TightBound(0.0, 0.0, _frozen(even), answer, None, family)
    from rai_sim.bounds.game import FAMILIES, Board
    from rai_sim.bounds.search import Search, look_at_answers

    means, unit = _board_means(problem, family)
    search = Search(Board(FAMILIES[family], means, _others(problem)))
    high = look_at_answers(problem, search)
    best, sure = search.best, 1.0 - _ROUNDING * problem.n_arms
    high /= sure
    gap = max(high / (best.low * sure) - 1.0, 0.0) if best.low > 0.0 else math.inf
    with np.errstate(over="ignore", divide="ignore"):
        value = float(np.float64(1.0) / high / unit / unit)
    return TightBound(
        value=value,
        gap=gap,
        weights=_by_arm(problem, best.weights),
        answer=_by_cluster(problem, search.named),
        binding=_binding(problem, means, unit, best),
        family=family,
    )


def _board_means(problem: Problem, family: Family) -> tuple[NDArray[np.float64], float]:
    """Return the means by rank, falling, and in how many units of reward they are.

    Gaussian means may be scaled: to a power of 2, so exactly, near the bottleneck gap.
    """
    means = problem.arms.means[problem._order]
    if family == "bernoulli":
        return means, 1.0
    exponent = math.frexp(problem.bottleneck_gap)[1]
    with np.errstate(over="ignore"):
        falls = np.ldexp(-np.diff(means), -exponent)
        if falls.max() > _FAR:
            falls = np.minimum(falls, _FAR)
            return np.concatenate([[0.0], -np.cumsum(falls)]), math.ldexp(1.0, exponent)
    return np.ldexp(means, -exponent), math.ldexp(1.0, exponent)


def _others(problem: Problem) -> NDArray[np.int64]:
    """Return for every rank how many others make it wrong by being as good, and as bad."""
    sizes = np.array(problem.clusters)
    ends = np.cumsum(sizes)
    as_good, as_bad = ends.copy(), problem.n_arms - (ends - sizes)
    as_good[-1] = as_bad[0] = 0  # there is no cluster beyond
    return np.repeat(np.stack([as_good, as_bad], axis=1), sizes, axis=0).astype(np.int64)


def _by_arm(problem: Problem, by_rank: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.empty_like(by_rank)
    found[problem._order] = by_rank
    return _frozen(found)


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array


def _by_cluster(problem: Problem, named: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    """Return the arms named in each cluster."""
    parts = np.split(problem._order[named], np.cumsum(problem.required)[:-1])
    return tuple(tuple(part.tolist()) for part in parts)


def _binding(
    problem: Problem, ranked: NDArray[np.float64], unit: float, found: Solution
) -> Alternative:
    """Return the alternative that is played most often; `ranked` are the means in units."""
    row = int(np.argmax(found.mixture))
    moves, means = found.moves, problem.arms.means[problem._order]
    k, sign = int(moves.arms[row]), float(moves.signs[row])
    distance = float(moves.distances[row])
    moved = np.flatnonzero(moves.sets[row] & (sign * (ranked[k] - ranked) > distance))
    return Alternative(
        arm=int(problem._order[k]),
        direction="down" if sign > 0.0 else "up",
        moved=tuple(problem._order[moved].tolist()),
        theta=float(means[k]) - sign * distance * unit,
        share=float(found.mixture[row]),
    )
