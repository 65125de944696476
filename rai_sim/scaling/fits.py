"""Exponents of a study's lines: of each as a whole, and between neighbouring points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.scaling.lines import Line, Point, lines_of
from rai_sim.scaling.power_law import PowerLaw, power_law
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.study import StudyResults

#: A standard error needs so many replications, and an interval of an exponent so many that the
#: error of the error hardly counts.
LEAST_REPLICATIONS = 10


def fit(results: StudyResults, against: str | None = None) -> pl.DataFrame:
    """Return the exponent of each algorithm's mean pulls along an axis, with a 95 % interval.

    Mean pulls are fitted by a power of ln(1/delta), 1/gap, N, K or M, by weighted least squares of
    logarithms. The interval accounts for the errors of the means and for pulls that follow no
    power exactly: a lack of fit is estimated beside the slope (see
    `rai_sim.scaling.power_law`, which derives it). It is about the exponent over the points at
    hand; `local_exponents` shows whether that still changes. Points of fewer than 10 replications,
    of which some were given up at `max_pulls`, or without a pull, are left out.

    All points of a study share their seed, so the errors of their means are correlated: how much is
    told by the replications, if rows are kept; else means are taken to be independent.

    Parameters
    ----------
    results : StudyResults
        Those of `over_delta` and its like, or any study's.
    against : str, optional
        "delta", "n", "gap", or a numeric parameter of the instances; what varies when None.

    Returns
    -------
    polars.DataFrame
        A row a line: instance, algorithm, against, variable (what pulls are a power of), points,
        left_out, first and last (values on the axis), exponent, exponent_low_95,
        exponent_high_95, log_factor (logarithm of the pulls where the variable is 1), lack_of_fit
        (share by which means are off the line, beyond their errors; null for two points).

    Raises
    ------
    TypeError, ValueError
        If `results` is no study's, it is not clear along which axis, or no line has two points.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.scaling.over_gap(gaps=[0.1, 0.01, 0.001, 1e-4], algorithms=[rai.Vanilla()], replications=200)
    >>> frame = rai.scaling.fit(study.run(tempfile.mkdtemp()))
    >>> frame["variable"][0], round(frame["exponent"][0], 2)
    ('1/gap', 2.12)
    """
    import polars as pl

    rows = [
        row for line in lines_of(results, against) if (row := _fitted(results, line)) is not None
    ]
    if not rows:
        raise ArgumentValueError(
            "results",
            f"results has no line with two points of {LEAST_REPLICATIONS} replications each that "
            "all finished, with pulls; run more, or more values along the axis",
        )
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )


def _fitted(results: StudyResults, line: Line) -> dict[str, Any] | None:
    used = _used(line)
    if len(used) < 2:
        return None
    law = _law(line, used, _correlation(results, used))
    return {
        "instance": line.instance,
        "algorithm": line.algorithm,
        "against": line.against,
        "variable": line.variable,
        "points": len(used),
        "left_out": len(line.points) - len(used),
        "first": used[0].at,
        "last": used[-1].at,
        "exponent": law.exponent,
        "exponent_low_95": law.low,
        "exponent_high_95": law.high,
        "log_factor": law.log_factor,
        "lack_of_fit": law.lack_of_fit,
    }


def local_exponents(results: StudyResults, against: str | None = None) -> pl.DataFrame:
    """Return the exponent between every two neighbouring points of each line.

    It is the slope of ln(mean pulls) between the two, with the errors of both means. Where it
    drifts along the axis pulls follow no power, or not yet.

    Parameters
    ----------
    results, against
        As in `fit`.

    Returns
    -------
    polars.DataFrame
        A row a pair: instance, algorithm, against, variable, first and last (values on the axis),
        exponent, exponent_low_95, exponent_high_95.

    Raises
    ------
    TypeError, ValueError
        As `fit`.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.scaling.over_delta(deltas=[0.1, 1e-10, 1e-100], algorithms=[rai.LUCB()], replications=50)
    >>> frame = rai.scaling.local_exponents(study.run(tempfile.mkdtemp()))
    >>> [round(exponent, 1) for exponent in frame["exponent"]]  # to 1, as delta goes to 0
    [0.2, 0.7]
    """
    import polars as pl

    rows = []
    for line in lines_of(results, against):
        used = _used(line)
        known = _correlation(results, used)
        for i, pair in enumerate(itertools.pairwise(used)):
            rows.append(_between(line, pair, known[i : i + 2, i : i + 2]))
    if not rows:
        fit(results, against)  # says why
    return pl.DataFrame(rows, infer_schema_length=None)


def _between(
    line: Line, pair: tuple[Point, Point], correlation: NDArray[np.float64]
) -> dict[str, Any]:
    law = _law(line, pair, correlation)
    first, last = pair
    return {
        "instance": line.instance,
        "algorithm": line.algorithm,
        "against": line.against,
        "variable": line.variable,
        "first": first.at,
        "last": last.at,
        "exponent": law.exponent,
        "exponent_low_95": law.low,
        "exponent_high_95": law.high,
    }


def _law(line: Line, points: Sequence[Point], correlation: NDArray[np.float64]) -> PowerLaw:
    return power_law(
        [line.x(point) for point in points],
        [point.row["pulls_mean"] for point in points],
        [point.row["pulls_standard_error"] for point in points],
        correlation,
    )


def _correlation(results: StudyResults, points: Sequence[Point]) -> NDArray[np.float64]:
    """Return the correlation matrix of means, of replications of equal index; without rows that of
    independent ones."""
    found = np.eye(len(points))
    if not results.keeps_rows:
        return found
    rows = []
    for point in points:
        result, n = results.result(point.task), int(point.row["replications"])
        rows.append((result.replication_index[:n], result.pulls[:n].astype(np.float64)))
    for (i, (index, one)), (j, (others, other)) in itertools.combinations(enumerate(rows), 2):
        # parts of a study may have left gaps that are others at each point
        both, here, there = np.intersect1d(index, others, assume_unique=True, return_indices=True)
        one, other = one[here], other[there]
        if len(both) > 1 and one.std() > 0.0 and other.std() > 0.0:
            # what one mean has beyond the replications of the other is independent of it
            shared = math.sqrt(len(both) / len(index) * (len(both) / len(others)))
            found[i, j] = found[j, i] = np.corrcoef(one, other)[0, 1] * shared
    return found


def _used(line: Line) -> list[Point]:
    """Return the points whose means and errors can be used."""
    return [
        point
        for point in line.points
        if point.whole
        and point.row["pulls_mean"] > 0.0  # a rule of one's own may pull nothing
        and point.row["replications"] >= LEAST_REPLICATIONS
        and math.isfinite(line.x(point))
    ]
