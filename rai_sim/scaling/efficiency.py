"""How far mean pulls are from the lower bound, and what theory has beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rai_sim.scaling.lines import Line, Point, lines_of
from rai_sim.simulation.theory import THRESHOLDS, theory_of

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.study import StudyResults


def efficiency(results: StudyResults, against: str | None = None) -> pl.DataFrame:
    """Return each task's mean pulls over the tight lower bound at its delta, with what lies
    between.

    No delta-PC algorithm has a ratio below 1, whatever delta is. What an algorithm loses has two
    parts: from the bound to an oracle that knows how to share its pulls and stops by the
    algorithm's threshold (the practical columns), and from there to its own mean.

    Parameters
    ----------
    results : StudyResults
        Those of `over_delta` and its like, or any study's.
    against : str, optional
        "delta", "n", "gap", or a numeric parameter of the instances; what varies when None.

    Returns
    -------
    polars.DataFrame
        A row a task, by lines and then along the axis: instance, algorithm, against, at (value on
        the axis), delta, n_arms, replications, finished, pulls_mean with pulls_mean_low_95 and
        pulls_mean_high_95; lower_bound_pulls (`rai_sim.bounds.at_delta`) with
        lower_bound_conditions; over_bound (the ratio of the two) with over_bound_low_95 and
        over_bound_high_95; practical_pulls_paper, practical_pulls_pairs and
        practical_pulls_gk16_unproven (`rai_sim.bounds.practical`); asymptotic_pulls, ln(1/delta) /
        D; theorem_1_pulls (which `StudyResults.summary` calls lower_bound_pulls, and
        lower_bound_pulls tight_bound_pulls); complexity (the sum of gap^-2) and over_complexity.
        Null is what is not known: the bound, and all that hangs on it, where it is not had in
        passing (`rai_sim.bounds.shown`) or arms are not 1/2-sub-Gaussian; bounds of 0; means
        without finished replications; means of which some replications were given up are biased,
        and have no ratios.

    Raises
    ------
    TypeError, ValueError
        If `results` is no study's, or it is not clear along which axis.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.scaling.over_delta(deltas=[0.1, 1e-100], algorithms=[rai.Vanilla()], replications=50)
    >>> frame = rai.scaling.efficiency(study.run(tempfile.mkdtemp()))
    >>> [round(ratio, 1) for ratio in frame["over_bound"]]
    [31.1, 2.5]
    """
    import polars as pl

    rows = [_row(line, point) for line in lines_of(results, against) for point in line.points]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )


#: Columns, and what they hold.
_SCHEMA: dict[str, Any] = {
    "instance": str,
    "algorithm": str,
    "against": str,
    "at": float,
    "delta": float,
    "n_arms": int,
    "replications": int,
    "finished": int,
    "pulls_mean": float,
    "pulls_mean_low_95": float,
    "pulls_mean_high_95": float,
    "lower_bound_pulls": float,
    "lower_bound_conditions": str,
    "over_bound": float,
    "over_bound_low_95": float,
    "over_bound_high_95": float,
    **{f"practical_pulls_{one.replace('-', '_')}": float for one in sorted(THRESHOLDS)[::-1]},
    "asymptotic_pulls": float,
    "theorem_1_pulls": float,
    "complexity": float,
    "over_complexity": float,
}
_MEANS = ("pulls_mean", "pulls_mean_low_95", "pulls_mean_high_95")


def _row(line: Line, point: Point) -> dict[str, Any]:
    experiment, row = point.task.experiment, point.row
    theory = theory_of(experiment.problem, experiment.delta)
    means = [math.nan if row[key] is None else row[key] for key in _MEANS]
    ratios = means if point.whole else [math.nan] * len(means)
    return {
        "instance": line.instance,
        "algorithm": line.algorithm,
        "against": line.against,
        "at": point.at,
        "delta": experiment.delta,
        "n_arms": experiment.problem.n_arms,
        "replications": row["replications"],
        "finished": row["finished"],
        **dict(zip(_MEANS, means, strict=True)),
        "lower_bound_pulls": theory.bound,
        "lower_bound_conditions": theory.conditions or None,
        **{
            key.replace("pulls_mean", "over_bound"): mean / theory.bound
            for key, mean in zip(_MEANS, ratios, strict=True)
        },
        **{f"practical_pulls_{one.replace('-', '_')}": theory.practical(one) for one in THRESHOLDS},
        "asymptotic_pulls": theory.asymptotic,
        "theorem_1_pulls": row["lower_bound_pulls"],
        "complexity": theory.complexity,
        "over_complexity": ratios[0] / theory.complexity if theory.complexity else math.nan,
    }
