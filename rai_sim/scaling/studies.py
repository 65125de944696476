"""Ready-made studies along one axis: delta to 0, the gap to 0, the number of arms, K and M.

Every one is a grid of points along the axis and algorithms, a `rai_sim.Study` like any other: run
it into a folder, again to resume or extend it. A point's name ends in its value, `gap = 0.01`, so
that figures and fits know what lies on one line. All points share the seed: results are a function
of (seed, replication), and algorithms can be compared in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Unpack

from rai_sim import instances
from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import Arms
from rai_sim.arms.bernoulli import Bernoulli
from rai_sim.problem import Problem, best_arm, check_delta, m_of_top, table_problem, top
from rai_sim.scaling.points import (
    LIMITS,
    Point,
    Wanted,
    as_argument,
    at_gap,
    checked_limits,
    checked_problem,
    name_of,
    several,
    study_of,
)
from rai_sim.study import Study
from rai_sim.support.checks import check_count, check_number
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import real, short
from rai_sim.support.wording import count

#: Error probabilities: from those that are used to those at which the asymptotics show.
DELTAS = (1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-10, 1e-15, 1e-20, 1e-30, 1e-50, 1e-70, 1e-100)
#: Bottleneck gaps; at the last one Vanilla makes 3e14 pulls.
GAPS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
#: Numbers of arms.
NUMBERS = (10, 20, 50, 100, 200, 500, 1000, 3000, 10_000, 30_000, 100_000)
#: Of how many arms K and M are varied, and their values.
_ARMS, KS, MS = 20, (1, 2, 3, 4, 5, 6, 8, 10), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
#: Of how many top arms M are asked for by default.
_K = 10
#: Replications if neither their number nor a precision is given; fewer where one takes long.
_REPLICATIONS, _FEW = 1000, 100


def over_delta(
    problem: Problem | None = None,
    *,
    deltas: Iterable[float] = DELTAS,
    algorithms: Iterable[Algorithm] | None = None,
    **wanted: Unpack[Wanted],
) -> Study:
    """Return the study of one problem at ever smaller error probabilities.

    As delta goes to 0 mean pulls grow as ln(1/delta): the exponent that `fit` finds goes to 1 from
    below, and `efficiency` to what an algorithm pays in the limit.

    Parameters
    ----------
    problem : Problem, optional
        The instance; the top three of the paper's table when None.
    deltas : iterable of float
        Error probabilities, in (0, 1); 1e-1 to 1e-100.
    algorithms : iterable of Algorithm, optional
        Vanilla, Butterscotch and LUCB when None.
    **wanted
        `replications` (1000), `precision`, `most_replications`, `seed` (0), `skip_error`,
        `max_pulls` and `keep`, as in `Study.grid`.

    Returns
    -------
    Study
        To be run into a folder.

    Raises
    ------
    TypeError, ValueError
        As `Study.grid`.

    Examples
    --------
    >>> over_delta(replications=10)
    Study(36 tasks: 1 instance x 3 algorithms x 12 deltas; 10 replications each)
    """
    problem = checked_problem(table_problem(task=2) if problem is None else problem)
    with as_argument("deltas", of="delta"):
        points: list[Point] = [
            ("", problem, delta, {}) for delta in several("deltas", deltas, check_delta)
        ]
        return study_of(name_of(problem), points, algorithms, _REPLICATIONS, wanted)


def over_gap(
    problem: Problem | None = None,
    *,
    gaps: Iterable[float] = GAPS,
    delta: float = 0.01,
    algorithms: Iterable[Algorithm] | None = None,
    **wanted: Unpack[Wanted],
) -> Study:
    """Return the study of one problem whose means are drawn together until its bottleneck gap is
    each of some values.

    Means keep their proportions about the middle of their range. As the gap goes to 0 mean pulls
    grow as gap^-2, but for the logarithms that an algorithm's union over rounds costs.

    Parameters
    ----------
    problem : Problem, optional
        The instance, of arms that are given by means, as Bernoulli and Gaussian ones are, in at
        least two clusters; the better of two Bernoulli arms about 1/2 when None. LUCB takes long
        where many arms are near each other.
    gaps : iterable of float
        Bottleneck gaps, in units of reward; 0.3 to 1e-6.
    delta : float, default 0.01
        Error probability.
    algorithms, **wanted
        As in `over_delta`.

    Returns
    -------
    Study
        To be run into a folder.

    Raises
    ------
    TypeError, ValueError
        As `Study.grid`; if the arms' law has no means to be set, or a gap needs means that the law
        or that doubles have not.

    Examples
    --------
    >>> study = over_gap(gaps=[0.1, 0.01], replications=10)
    >>> study.tasks[0].label
    '2 Bernoulli arms, clusters 1,1, required 1,0, gap = 0.1, Vanilla(merging=True), delta 0.01'
    >>> study.tasks[-1].experiment.problem.arms.means
    array([0.505, 0.495])
    """
    problem = checked_problem(best_arm(Bernoulli([0.65, 0.35])) if problem is None else problem)
    delta = check_delta(delta)
    points = [
        (f", gap = {gap}", at_gap(problem, gap), delta, {"gap": gap})
        for gap in several("gaps", gaps, lambda value: real("gaps", value))
    ]
    return study_of(name_of(problem), points, algorithms, _REPLICATIONS, wanted)


def over_n(
    numbers: Iterable[int] = NUMBERS,
    *,
    instance: Callable[[int], Problem] | None = None,
    delta: float = 0.1,
    algorithms: Iterable[Algorithm] | None = None,
    limits: Mapping[str, int] = LIMITS,
    **wanted: Unpack[Wanted],
) -> Study:
    """Return the study of ever more arms at moderate confidence.

    At a delta that is not small what counts is the price of many arms: pulls over the sum of
    gap^-2, which grow as ln N where an algorithm's radius has ln(N / delta).

    Parameters
    ----------
    numbers : iterable of int
        Numbers of arms; 10 to 100,000.
    instance : callable, optional
        From a number of arms to a Problem with so many; when None the best of N Bernoulli arms, one
        of mean 0.7, all others of 0.3 (`rai_sim.instances.one_apart`).
    delta : float, default 0.1
        Error probability.
    algorithms
        As in `over_delta`.
    limits : mapping of str to int
        Beyond so many arms an algorithm, by its name, is left out: LUCB beyond 1,000, where a
        replication takes some 0.2 s.
    **wanted
        As in `over_delta`, but for `replications` (100).

    Returns
    -------
    Study
        To be run into a folder.

    Raises
    ------
    TypeError, ValueError
        As `Study.grid`; if `instance` returns another number of arms, or `limits` leave nothing.

    Examples
    --------
    >>> study = over_n([10, 10_000], replications=10)
    >>> [task.experiment.algorithm.label for task in study.tasks if task.parameters["n"] == 10_000]
    ['Vanilla(merging=True)', 'Butterscotch(merging=True)']
    """
    delta = check_delta(delta)
    build = _one_apart if instance is None else instance
    if not callable(build):
        raise ArgumentTypeError(
            "instance",
            f"instance is {short.repr(instance)}; give a function from a number of arms to a Problem",
        )
    points = []
    for n in several("numbers", numbers, lambda value: check_count("numbers", value, 2)):
        problem = checked_problem(build(n), "instance")
        if problem.n_arms != n:
            raise ArgumentValueError(
                "instance",
                f"instance returned {problem.n_arms} arms for {n}; it must return a Problem with "
                "as many arms as it is asked for",
            )
        points.append((f", n = {n}", problem, delta, {"n": n}))
    problem = points[0][1]
    clusters = len(problem.clusters)
    name = f"{type(problem.arms).__name__} arms, {count(clusters, 'cluster')}"
    name = "one arm apart from equal ones" if instance is None else name
    return study_of(name, points, algorithms, _FEW, wanted, checked_limits(limits))


def over_k(
    arms: Arms | None = None,
    *,
    ks: Iterable[int] | None = None,
    delta: float = 0.01,
    algorithms: Iterable[Algorithm] | None = None,
    strict: bool = True,
    **wanted: Unpack[Wanted],
) -> Study:
    """Return the study of the top K of the same arms, for some K.

    Parameters
    ----------
    arms : Arms, optional
        The arms; 20 Bernoulli arms of means evenly spaced from 0.9 to 0.1 when None.
    ks : iterable of int, optional
        How many of the best arms are asked for, from 1 to N - 1; 1 to 10, of fewer arms as far as
        that goes, when None.
    delta : float, default 0.01
        Error probability.
    strict : bool, default True
        As in `rai_sim.Problem`.
    algorithms, **wanted
        As in `over_delta`.

    Returns
    -------
    Study
        To be run into a folder.

    Raises
    ------
    TypeError, ValueError
        As `Study.grid`.

    Examples
    --------
    >>> [task.experiment.problem.required for task in over_k(ks=[1, 5]).tasks[::3]]
    [(1, 0), (5, 0)]
    """
    chosen, delta = _default_arms(arms), check_delta(delta)
    most = chosen.n_arms - 1  # of all arms nothing is to be found out
    points = [
        (f", k = {k}", top(chosen, k, strict=strict), delta, {"k": k})
        for k in several(
            "ks",
            _up_to(most, KS) if ks is None else ks,
            lambda value: check_number("ks", value, most, "N - 1"),
        )
    ]
    name = f"top K of {chosen.n_arms} {type(chosen).__name__} arms"
    return study_of(name, points, algorithms, _REPLICATIONS, wanted)


def over_m(
    arms: Arms | None = None,
    *,
    k: int | None = None,
    ms: Iterable[int] | None = None,
    delta: float = 0.01,
    algorithms: Iterable[Algorithm] | None = None,
    strict: bool = True,
    **wanted: Unpack[Wanted],
) -> Study:
    """Return the study of any M of the top K of the same arms, for some M.

    Fewer are easier to name: with M < K the arms nearest to the border need not be told apart.

    Parameters
    ----------
    arms : Arms, optional
        As in `over_k`.
    k : int, optional
        How many arms are the top ones, from 1 to N - 1; when None 10, of fewer arms N - 1.
    ms : iterable of int, optional
        How many of them are asked for, from 1 to `k`; 1 to 10, as far as `k` goes, when None.
    delta : float, default 0.01
        Error probability.
    strict : bool, default True
        As in `rai_sim.Problem`.
    algorithms, **wanted
        As in `over_delta`.

    Returns
    -------
    Study
        To be run into a folder.

    Raises
    ------
    TypeError, ValueError
        As `Study.grid`.

    Examples
    --------
    >>> over_m(ms=[1, 2]).tasks[-1].instance
    'M of the top 10 of 20 Bernoulli arms, m = 2'
    """
    chosen, delta = _default_arms(arms), check_delta(delta)
    most = chosen.n_arms - 1
    k = check_number("k", min(_K, most) if k is None else k, most, "N - 1")
    points = [
        (f", m = {m}", m_of_top(chosen, m, k, strict=strict), delta, {"m": m})
        for m in several(
            "ms",
            _up_to(k, MS) if ms is None else ms,
            lambda value: check_number("ms", value, k, "k"),
        )
    ]
    name = f"M of the top {k} of {chosen.n_arms} {type(chosen).__name__} arms"
    return study_of(name, points, algorithms, _REPLICATIONS, wanted)


def _up_to(most: int, values: Iterable[int]) -> list[int]:
    """Return the default values that there are for so many arms."""
    return [value for value in values if value <= most]


def _default_arms(arms: Arms | None) -> Arms:
    if arms is None:
        return Bernoulli(instances.evenly_spaced(_ARMS))
    if not isinstance(arms, Arms):
        raise ArgumentTypeError(
            "arms", f"arms is {short.repr(arms)}; give arms such as rai.Bernoulli([0.9, 0.5])"
        )
    return arms


def _one_apart(n: int) -> Problem:
    return best_arm(Bernoulli(instances.one_apart(n, high=0.7, low=0.3)))
