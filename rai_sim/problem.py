"""The problem of representative arm identification: arms, their clusters, what to name (arXiv
2408.14195)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.arms.base import Arms
from rai_sim.arms.bernoulli import Bernoulli
from rai_sim.arms.remedies import sub_gaussian_remedy
from rai_sim.support.checks import check_borders, check_number, check_sizes, short
from rai_sim.support.checks import check_delta as check_delta
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError, Passing, TruthValues
from rai_sim.support.values import integers

#: The ten means of the paper's table: "printed" in it, and "mirrored", from which its numbers come.
TABLE_MEANS = {
    "mirrored": (0.85, 0.8, 0.65, 0.6, 0.4, 0.36, 0.35, 0.3, 0.15, 0.1),
    "printed": (0.9, 0.85, 0.7, 0.66, 0.65, 0.6, 0.4, 0.35, 0.2, 0.15),
}
#: The table's cluster sizes, and what its tasks 1 to 5 ask for.
TABLE_CLUSTERS = (3, 5, 2)
TABLE_REQUIRED = ((1, 0, 0), (3, 0, 0), (2, 2, 0), (0, 5, 0), (0, 0, 1))


@dataclass(frozen=True)
class Problem:
    """Arms, the sizes of their clusters, and how many representatives to name from each cluster.

    The arms, sorted by mean, best first, are cut into clusters of the given sizes. Arms come in any
    order. Ties inside a cluster are fine; across a border they leave the clusters undefined.

    Parameters
    ----------
    arms : Arms
        N reward laws, such as `Bernoulli`.
    clusters : sequence of int, length m
        Cluster sizes c_1..c_m, best cluster first, positive, of sum N. Kept as a tuple.
    required : sequence of int, length m
        Representatives r_i to name from each cluster, 0 <= r_i <= c_i, not all 0. Kept as a tuple.
    strict : bool, default True
        Refuse arms not known to be sub-Gaussian with the parameter that algorithms are told, the
        arms' `sigma` or 1/2, for which the algorithms' guarantees do not hold.

    Raises
    ------
    TypeError
        If an argument has the wrong type; True and 3.0 are no sizes.
    ValueError
        If the sizes or requirements do not fit, two arms tie across a border, or `strict` refuses
        the arms.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.Problem(rai.Bernoulli([0.25, 0.875, 0.5]), clusters=(1, 2), required=(1, 0))
    >>> problem.arm_gaps, problem.bottleneck_gap
    (array([0.625, 0.375, 0.375]), 0.375)
    """

    arms: Arms
    clusters: Sequence[int]
    required: Sequence[int]
    strict: bool = field(default=True, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        """Turn sizes into tuples and refuse what is no problem."""
        n = check_arms(self.arms)
        clusters = integers("clusters", self.clusters)
        required = integers("required", self.required)
        object.__setattr__(self, "clusters", clusters)
        object.__setattr__(self, "required", required)
        if not isinstance(self.strict, bool):
            raise ArgumentTypeError(
                "strict", f"strict is {short.repr(self.strict)}; it must be ", TruthValues()
            )
        check_sizes(n, clusters, required)
        flaw = self.arms.why_not_sub_gaussian() if self.strict else None
        if flaw is not None:
            remedy = sub_gaussian_remedy(self.arms)
            raise ArgumentValueError(
                "arms",
                f"arms are not known to be {self._parameter()}-sub-Gaussian, as the guarantees "
                f"need: {flaw}; ",
                *remedy,
                ", or " if remedy else "",
                Passing("strict", False),
                " to go without the guarantees",
            )
        check_borders(
            self.arms.means, clusters, self._order, self._starts, self.arms.means_rounding
        )
        _ = self.rescaled  # means that differ may tie once they are divided

    def _parameter(self) -> str:
        return "1/2" if self.arms.sigma is None else f"{self.arms.sigma:g}"

    @property
    def rescaled(self) -> Problem:
        """The problem of the arms' rewards over 2 sigma, for which algorithms and bounds are made
        (see `Arms.rescaled`); the problem itself where sigma is not set.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.best_arm(rai.Gaussian([3.0, 1.0], sd=2.0, sigma=2.0)).rescaled.bottleneck_gap
        0.5
        """
        return self if self.arms.sigma is None else self._rescaled

    @cached_property
    def _rescaled(self) -> Problem:
        return Problem(self.arms.rescaled, self.clusters, self.required, strict=False)

    @property
    def n_arms(self) -> int:
        """Number of arms N."""
        return self.arms.n_arms

    @property
    def n_clusters(self) -> int:
        """Number of clusters m."""
        return len(self.clusters)

    @property
    def _order(self) -> NDArray[np.int64]:
        """The arms, best first; not kept, as it is asked for once or twice and a million arms have 8
        MB of it."""
        order = np.argsort(-self.arms.means, kind="stable")
        return _read_only(order.astype(np.int64, copy=False))

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The place in the order at which each cluster starts, (m,)."""
        return _read_only(np.cumsum((0, *self.clusters[:-1]), dtype=np.int64))

    @cached_property
    def cluster_of(self) -> NDArray[np.int64]:
        """The cluster of each arm, 0 for the best one; (N,) int64, in the caller's order,
        read-only."""
        clusters = np.empty(self.n_arms, dtype=np.int64)
        clusters[self._order] = np.repeat(np.arange(self.n_clusters), self.clusters)
        return _read_only(clusters)

    @cached_property
    def arm_gaps(self) -> NDArray[np.float64]:
        """Each arm's distance to the nearest arm of a neighbouring cluster, inf without one.

        (N,) float64, in units of reward, in the caller's order, read-only: for an arm of cluster i,
        min(mu^{i-1}_{c_{i-1}} - mu, mu - mu^{i+1}_1).
        """
        means, order, starts = self.arms.means, self._order, self._starts
        worst_above = np.append(np.inf, means[order[starts[1:] - 1]])
        best_below = np.append(means[order[starts[1:]]], -np.inf)
        # means at the two ends of the double range differ by infinity
        with np.errstate(over="ignore"):
            gaps = np.minimum(
                worst_above[self.cluster_of] - means, means - best_below[self.cluster_of]
            )
        return _read_only(gaps)

    @cached_property
    def bottleneck_gap(self) -> float:
        """The gap that decides how hard the problem is, in units of reward.

        The minimum over clusters with r_i > 0 of the r_i-th largest arm gap in cluster i; inf if m
        = 1.
        """
        falling = self.arm_gaps[np.lexsort((-self.arm_gaps, self.cluster_of))]
        required = np.array(self.required)
        return float(falling[(self._starts + required - 1)[required > 0]].min())

    def __repr__(self) -> str:
        """Return arms, clusters and what is asked, in one line."""
        return f"Problem({self.arms!r}, clusters={short.repr(self.clusters)}, required={short.repr(self.required)})"

    def _repr_html_(self) -> str:
        """Return the arms as a table, best first, with cluster and gap, for notebooks; of many arms
        the first ones."""
        from rai_sim.arms.tables import arms_table  # here: only notebooks need it
        from rai_sim.support import html_tables

        columns = ("cluster", "required of it", "arm gap")
        return html_tables.block(
            f"{self!r}, bottleneck gap {self.bottleneck_gap:.4g}",
            arms_table(self.arms, self._order.tolist(), columns, self._cluster_cells),
        )

    def _cluster_cells(self, arm: int) -> tuple[str, str, str]:
        """Return an arm's cluster, 1 for the best one, how many of how many arms of it are asked
        for, and the arm's gap."""
        cluster = int(self.cluster_of[arm])
        return (
            str(cluster + 1),
            f"{self.required[cluster]:,} of {self.clusters[cluster]:,}",
            f"{self.arm_gaps[arm]:.6g}",
        )

    def identity(self) -> str:
        """Return a text shared exactly by problems that agree in arms, clusters, required; a
        SHA-256 ends it.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.table_problem().identity()
        'Problem:Bernoulli:10:clusters=(3, 5, 2):required=(1, 0, 0):...'
        """
        return self._identity

    @cached_property
    def _identity(self) -> str:
        whole = repr((self.arms.identity(), self.clusters, self.required))
        digest = hashlib.sha256(whole.encode()).hexdigest()
        head = f"Problem:{type(self.arms).__name__}:{self.n_arms}"
        return f"{head}:clusters={short.repr(self.clusters)}:required={short.repr(self.required)}:{digest}"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the arguments alone: cached arrays are cheap to make again and would come back
        writable."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def best_arm(arms: Arms, *, strict: bool = True) -> Problem:
    """Ask for the best of N arms: clusters (1, N - 1), required (1, 0) (paper's Table 1).

    With N = 1 there is one cluster, clusters (1,) and required (1,).

    Parameters
    ----------
    arms, strict
        As in `Problem`, whose errors are raised.

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.best_arm(rai.Bernoulli([0.5, 0.75, 0.25])).clusters
    (1, 2)
    """
    return m_of_top(arms, 1, 1, strict=strict)


def one_of_top(arms: Arms, k: int, *, strict: bool = True) -> Problem:
    """Ask for any one of the best `k` of N arms: clusters (k, N - k), required (1, 0) (paper's
    Table 1).

    Parameters
    ----------
    arms, strict
        As in `Problem`, whose errors are raised.
    k : int
        From 1 to N, else ValueError. With k = N there is one cluster, clusters (N,).

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.one_of_top(rai.Bernoulli([0.5, 0.75, 0.25]), 2).required
    (1, 0)
    """
    return m_of_top(arms, 1, k, strict=strict)


def top(arms: Arms, k: int, *, strict: bool = True) -> Problem:
    """Ask for all of the best `k` of N arms: clusters (k, N - k), required (k, 0) (paper's Table
    1).

    Parameters
    ----------
    arms, strict
        As in `Problem`, whose errors are raised.
    k : int
        From 1 to N, else ValueError. With k = N there is one cluster, clusters (N,).

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.top(rai.Bernoulli([0.5, 0.75, 0.25]), 2).required
    (2, 0)
    """
    return m_of_top(arms, k, k, strict=strict)


def m_of_top(arms: Arms, m: int, k: int, *, strict: bool = True) -> Problem:
    """Ask for any `m` of the best `k` of N arms: clusters (k, N - k), required (m, 0) (paper's
    Table 1).

    Parameters
    ----------
    arms, strict
        As in `Problem`, whose errors are raised.
    m, k : int
        1 <= m <= k <= N, else ValueError. With k = N there is one cluster, clusters (N,).

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.m_of_top(rai.Bernoulli([0.5, 0.75, 0.25, 0.125]), 2, 3).required
    (2, 0)
    """
    n = check_arms(arms)
    k = check_number("k", k, n, "the number of arms")
    m = check_number("m", m, k, "the number k of top arms")
    return Problem(arms, (k, n - k)[: 1 + (k < n)], (m, 0)[: 1 + (k < n)], strict=strict)


def coarse_ranking(arms: Arms, clusters: Sequence[int], *, strict: bool = True) -> Problem:
    """Ask for every arm of every cluster: required = `clusters` (paper's Table 1).

    Parameters
    ----------
    arms, clusters, strict
        As in `Problem`, whose errors are raised.

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.coarse_ranking(rai.Bernoulli([0.5, 0.75, 0.25]), (2, 1)).required
    (2, 1)
    """
    return Problem(arms, clusters, clusters, strict=strict)


def full_ranking(arms: Arms, *, strict: bool = True) -> Problem:
    """Ask for the order of all N arms: clusters = required = (1,) * N (paper's Table 1).

    Parameters
    ----------
    arms, strict
        As in `Problem`, whose errors are raised; here any two equal means are a tie across a
        border.

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.full_ranking(rai.Bernoulli([0.5, 0.75, 0.25])).clusters
    (1, 1, 1)
    """
    return coarse_ranking(arms, (1,) * check_arms(arms), strict=strict)


def table_problem(task: int = 1, instance: str = "mirrored") -> Problem:
    """Return a problem of the paper's table: ten Bernoulli arms in clusters (3, 5, 2) (its Table
    2).

    Parameters
    ----------
    task : int, default 1
        1 to 5 for required (1, 0, 0), (3, 0, 0), (2, 2, 0), (0, 5, 0) and (0, 0, 1).
    instance : {"mirrored", "printed"}, default "mirrored"
        The means `TABLE_MEANS[instance]`: those from which the paper's numbers come, or those that
        it prints.

    Raises
    ------
    TypeError, ValueError
        If `task` is no integer from 1 to 5, or `instance` no string or unknown.

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.table_problem(task=4).required
    (0, 5, 0)
    """
    task = check_number("task", task, len(TABLE_REQUIRED), "a row of the table")
    if not isinstance(instance, str) or instance not in TABLE_MEANS:
        error = ArgumentValueError if isinstance(instance, str) else ArgumentTypeError
        known = " or ".join(map(repr, TABLE_MEANS))
        raise error("instance", f"instance is {short.repr(instance)}; choose {known}")
    return Problem(Bernoulli(TABLE_MEANS[instance]), TABLE_CLUSTERS, TABLE_REQUIRED[task - 1])


def check_arms(arms: Arms) -> int:
    """Return the number of arms."""
    if not isinstance(arms, Arms):
        raise ArgumentTypeError(
            "arms",
            f"arms is {short.repr(arms)} of type {type(arms).__name__}, which has no reward law; "
            "wrap them: rai.Bernoulli([...])",
        )
    means = np.asarray(arms.means)
    fine = means.dtype == np.float64 and means.ndim == 1 and np.isfinite(means).all()
    if arms.means_known and not fine:  # of a law from outside; ours have checked theirs
        raise ArgumentValueError(
            "arms",
            f"arms.means is {short.repr(means)}; means are a one-dimensional array of finite "
            f"doubles: mend the law {type(arms).__name__}",
        )
    return arms.n_arms
