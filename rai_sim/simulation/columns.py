"""What is shown of a run, by key: each statistic's name, title, unit and format, and how it is had.

`Found` is an experiment with what its replications add up to: a row. `COLUMNS` lists what summaries
of results, frames of studies, and the tables of terminals, notebooks and reports pick from; a new
statistic needs an entry there, and its key where a table is to show it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rai_sim.simulation.intervals import clopper_pearson, relative_half_width, student_interval
from rai_sim.simulation.statistics import ABOVE, QUANTILES, Sums
from rai_sim.simulation.theorems import lower_bound, lower_bound_conditions, upper_bound
from rai_sim.support.columns import Catalogue, Column, first_key, sort_key
from rai_sim.support.wording import ends, listed, number, percent

if TYPE_CHECKING:
    from rai_sim.bounds import FiniteBound
    from rai_sim.simulation.experiment import Experiment


@dataclass(frozen=True, eq=False)
class Found:
    """What was found of an experiment: a row, whose entries are the statistics in `COLUMNS`.

    Attributes
    ----------
    experiment : Experiment
        What was run.
    sums : Sums
        Of its replications.
    quantiles : mapping of float to float
        Pulls at the shares `QUANTILES`.
    stopped_interval : (float, float) or None
        95 % interval of the mean where the number of replications followed from what was seen;
        None where it did not, for Student's.
    facts : mapping
        What else is known, such as the name of the instance; without its fact a column has no
        entry.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from rai_sim.simulation.statistics import quantiles_of
    >>> run = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=5, seed=0)
    >>> sums = Sums.of(run.pulls, run.rounds, run.correct, run.finished)
    >>> found = Found(run.experiment, sums, quantiles_of(run.pulls))
    >>> found["pulls_mean"], found["pulls_interval"], found["upper_bound_theorem"]
    (10370.0, (10370.0, 10370.0), 'Theorem 3')
    """

    experiment: Experiment
    sums: Sums
    quantiles: Mapping[float, float]
    stopped_interval: tuple[float, float] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        """Return a statistic by its column's key."""
        column = COLUMNS[key]
        return column.rule(self) if isinstance(column, Statistic) else column.value(self)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean number of pulls."""
        sums = self.sums
        return self.stopped_interval or student_interval(
            sums.mean, sums.standard_error, sums.finished
        )

    @cached_property
    def error_interval(self) -> tuple[float, float]:
        """95 % interval of the error probability."""
        return clopper_pearson(self.sums.errors, self.sums.finished)

    @cached_property
    def error_interval_at_cap(self) -> tuple[float, float] | None:
        """95 % interval of the probability that what is recommended at the cap is wrong; None where
        that is not known."""
        errors, n = self.sums.errors_at_cap, self.sums.replications
        return None if errors is None or not n else clopper_pearson(errors, n)

    @cached_property
    def upper(self) -> tuple[str | None, float | None]:
        """Theorem and value of the algorithm's own bound."""
        return upper_bound(
            self.experiment.problem, self.experiment.algorithm, self.experiment.delta
        )

    @cached_property
    def tight(self) -> FiniteBound | None:
        """The lower bound at this delta; None where it is not to be had in passing."""
        from rai_sim import bounds  # here: most programs ask for runs alone

        return bounds.shown(self.experiment.problem, self.experiment.delta)


#: How numbers are shown, by their unit.
_FORMS: dict[str, Callable[[Any], str]] = {
    "pulls": number,
    "rounds": number,
    "share": percent,
    "probability": "{:g}".format,
    "replications": "{:,}".format,
    "arms": "{:,}".format,
    "reward": "{:.4g}".format,
    "s": "{:.2f}".format,
}


@dataclass(frozen=True, kw_only=True)
class Statistic(Column):
    """A column that is computed from what was found; frames of studies hold those of some `kind`.

    Attributes
    ----------
    rule : callable
        From `Found` to the value; NaN or None where there is none.
    kind : type or None
        What a frame's column holds: int, float, bool, str, or list for lists of integers; None for
        what frames do not hold.
    """

    rule: Callable[[Found], Any]
    kind: type | None


def _statistic(
    key: str,
    kind: type | None,
    rule: Callable[[Found], Any],
    unit: str = "",
    title: str | None = None,
    **more: Any,
) -> Statistic:
    """Return a column that shows numbers as its unit has it, its key where it has no title."""
    form = more.pop("form", _FORMS.get(unit, str))
    return Statistic(
        key=key,
        title=key if title is None else title,
        unit=unit,
        form=form,
        rule=rule,
        kind=kind,
        **more,
    )


def _fact(key: str, kind: type | None, unit: str = "") -> Statistic:
    """Return a column of what no sum tells."""
    return _statistic(key, kind, lambda found: found.facts[key], unit)


def _interval(key: str, low: str, high: str, unit: str, **more: Any) -> Column:
    """Return a column that shows two others as an interval."""
    one = _FORMS[unit]
    return Column(
        key=key,
        title="95 % interval",
        unit=unit,
        form=lambda pair: ends(*map(one, pair)),
        get=lambda row: (row[low], row[high]),
        sort=first_key,
        **more,
    )


def quantile_key(share: float) -> str:
    """Return the key of the column of a quantile of pulls."""
    return f"pulls_q{round(100 * share):02d}" if share < 1.0 else "pulls_most"


def _quantile(share: float) -> Statistic:
    return _statistic(quantile_key(share), float, lambda found: found.quantiles[share], "pulls")


def _exceeds(row: Any) -> bool:
    """Return whether an error rate is known to lie above delta: of a study's task by the verdict,
    which is corrected for the number of tasks, of a single result by its own interval."""
    verdict = row["error_verdict"]
    return bool(row["error_exceeds_delta"] if verdict is None else verdict == ABOVE)


#: Every statistic that is shown anywhere, by key. Those of some `kind` are the columns of
#: `StudyResults.summary`, in its order: first what one looks for, last the hash. A new one needs an
#: entry here, and its key where a table is to show it.
COLUMNS: Catalogue[Column] = Catalogue(
    [
        _fact("instance", str),
        _statistic("algorithm", str, lambda found: found.experiment.algorithm.label),
        _statistic("delta", float, lambda found: found.experiment.delta, "probability"),
        _statistic("pulls_mean", float, lambda found: found.sums.mean, "pulls", "mean pulls"),
        _statistic("pulls_mean_low_95", float, lambda found: found.interval[0], "pulls"),
        _statistic("pulls_mean_high_95", float, lambda found: found.interval[1], "pulls"),
        _statistic("errors", int, lambda found: found.sums.errors, "replications", "wrong"),
        _statistic(
            "error_rate",
            float,
            lambda found: found.sums.error_rate,
            "share",
            "errors",
            warns=_exceeds,
        ),
        _statistic("error_rate_low_95", float, lambda found: found.error_interval[0], "share"),
        _statistic("error_rate_high_95", float, lambda found: found.error_interval[1], "share"),
        _statistic(
            "error_exceeds_delta",
            bool,
            lambda found: found.error_interval[0] > found.experiment.delta,
        ),
        _statistic(
            "error_verdict",
            str,
            lambda found: found.facts.get("error_verdict"),
            title="verdict",
            warns=_exceeds,
        ),
        _statistic("replications", int, lambda found: found.sums.replications, "replications"),
        _statistic("finished", int, lambda found: found.sums.finished, "replications"),
        _fact("complete", bool),
        _fact("precision_reached", bool),
        _statistic(
            "relative_half_width_95",
            float,
            lambda found: relative_half_width(found.interval, found.sums.mean),
            "share",
            "+- of mean",
        ),
        _statistic("pulls_standard_error", float, lambda found: found.sums.standard_error, "pulls"),
        _statistic(
            "pulls_standard_deviation", float, lambda found: found.sums.standard_deviation, "pulls"
        ),
        *map(_quantile, QUANTILES),
        _statistic("rounds_mean", float, lambda found: found.sums.mean_rounds, "rounds"),
        _statistic(
            "lower_bound_pulls",
            float,
            lambda found: lower_bound(found.experiment.problem, found.experiment.delta),
            "pulls",
            "lower",
        ),
        _statistic(
            "tight_bound_pulls",
            float,
            lambda found: None if found.tight is None else found.tight.pulls,
            "pulls",
            "tight",
        ),
        _statistic("upper_bound_pulls", float, lambda found: found.upper[1], "pulls", "upper"),
        _statistic("upper_bound_theorem", str, lambda found: found.upper[0]),
        _statistic("n_arms", int, lambda found: found.experiment.problem.n_arms, "arms", "arms"),
        _statistic(
            "bottleneck_gap_reward",
            float,
            lambda found: found.experiment.problem.bottleneck_gap,
            "reward",
            "bottleneck gap",
        ),
        _statistic("law", str, lambda found: type(found.experiment.problem.arms).__name__),
        _statistic(
            "clusters",
            list,
            lambda found: list(found.experiment.problem.clusters),
            "arms",
            form=listed,
        ),
        _statistic(
            "required",
            list,
            lambda found: list(found.experiment.problem.required),
            "arms",
            form=listed,
        ),
        _fact("parameters", str),
        _statistic("seed", str, lambda found: str(found.experiment.seed)),
        _statistic("skip_error", float, lambda found: found.experiment.skip_error, "probability"),
        _statistic("max_pulls", int, lambda found: found.experiment.max_pulls, "pulls"),
        _statistic("errors_at_cap", int, lambda found: found.sums.errors_at_cap, "replications"),
        _statistic(
            "error_rate_at_cap",
            float,
            lambda found: (
                None if found.error_interval_at_cap is None else found.sums.error_rate_at_cap
            ),
            "share",
            "errors at cap",
        ),
        _statistic(
            "error_rate_at_cap_low_95",
            float,
            lambda found: found.error_interval_at_cap and found.error_interval_at_cap[0],
            "share",
        ),
        _statistic(
            "error_rate_at_cap_high_95",
            float,
            lambda found: found.error_interval_at_cap and found.error_interval_at_cap[1],
            "share",
        ),
        _fact("task", str),
        # Shown, but not in frames.
        _interval("pulls_interval", "pulls_mean_low_95", "pulls_mean_high_95", "pulls"),
        _interval(
            "error_interval", "error_rate_low_95", "error_rate_high_95", "share", warns=_exceeds
        ),
        _interval(
            "error_interval_at_cap",
            "error_rate_at_cap_low_95",
            "error_rate_at_cap_high_95",
            "share",
        ),
        _statistic(
            "upper_bound",
            None,
            lambda found: found.upper,
            "pulls",
            form=lambda bound: number(bound[1]),
            sort=lambda bound: sort_key(bound[1]),
        ),
        _statistic(
            "lower_bound",
            None,
            lambda found: (
                found["tight_bound_pulls"]
                if found.tight is not None
                else found["lower_bound_pulls"]
            ),
            "pulls",
            "lower",
        ),
        _statistic(
            "tight_bound_conditions",
            None,
            lambda found: None if found.tight is None else found.tight.conditions,
        ),
        _statistic(
            "lower_bound_conditions",
            None,
            lambda found: lower_bound_conditions(found.experiment.problem),
        ),
        _statistic("pulls_quantiles", None, lambda found: dict(found.quantiles), "pulls", form=str),
        _fact("seconds", None, "s"),
    ]
)


def frame_columns() -> list[Statistic]:
    """Return the columns of `StudyResults.summary`, in order."""
    return [
        column for column in COLUMNS if isinstance(column, Statistic) and column.kind is not None
    ]
