"""What figures are made from: results, several of them, or a study's."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from rai_sim.plotting.style import Look, looks, plain, short_label
from rai_sim.problem import Problem
from rai_sim.simulation.columns import Found
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.result import Result
from rai_sim.simulation.summary import found_in
from rai_sim.simulation.theorems import upper_bound
from rai_sim.simulation.theory import Theory, theory_of
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError, Named
from rai_sim.support.wording import listed
from rai_sim.tracing.history import arm_pulls, pulls_of_arms

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.study import StudyResults, Task

#: Student's intervals of means, and those of ratios, are drawn of at least so many replications: of
#: fewer, numbers as skewed as pulls are have others. Where there is none a figure says so. The band
#: of a distribution (DKW) holds for any number.
LEAST_FOR_INTERVAL = 30
NO_INTERVAL = f"no interval: fewer than {LEAST_FOR_INTERVAL} replications"
#: What a message says of too much to show.
SELECT = "choose some, of a study's results with select(instance=..., algorithm=..., delta=...)"
#: What most functions take; cases are what they make of it.
Results: TypeAlias = (
    "Result | Sequence[Result] | Sequence[Case] | Mapping[str, Result] | StudyResults"
)


@dataclass(frozen=True, eq=False)
class Case:
    """One experiment with what was found: the numbers a figure is drawn from.

    Attributes
    ----------
    experiment : Experiment
        What was run.
    instance : str
        Name of the instance; empty for bare results.
    label : str
        Given by the caller, else the algorithm's name.
    parameters : mapping
        What the instance was made from.
    replications, finished : int
        Replications, and those that max_pulls did not end.
    mean, standard_error, low, high : float
        Of pulls of finished replications, with the mean's 95 % interval; NaN where there are too
        few.
    errors : int
        Finished replications with a wrong output.
    errors_at_cap : int or None
        Replications whose recommendation at the cap is wrong; None where that is not known.
    verdict : str or None
        Of a study's task: on which side of delta its error rate lies, as far as is known of all its
        tasks together (`rai_sim.certification.verdicts`).
    """

    experiment: Experiment
    instance: str
    label: str
    replications: int
    finished: int
    mean: float
    standard_error: float
    low: float
    high: float
    errors: int = 0
    errors_at_cap: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    result: Result | None = None
    study: tuple[StudyResults, Task] | None = None
    verdict: str | None = None

    @property
    def algorithm(self) -> str:
        """The algorithm's name with its unusual options."""
        return short_label(self.experiment.algorithm)

    @property
    def has_interval(self) -> bool:
        """Whether there are replications enough for an interval to be drawn."""
        return self.finished >= LEAST_FOR_INTERVAL

    @property
    def note(self) -> str:
        """What a legend must say of the numbers: how many replications they are of, where some were
        capped."""
        return (
            ""
            if self.finished == self.replications
            else f" ({self.finished:,} of {self.replications:,} finished)"
        )

    @property
    def guarded(self) -> bool:
        """Whether the theorems hold for the arms: rewards are 1/2-sub-Gaussian."""
        return self.experiment.problem.arms.why_not_sub_gaussian() is None

    @property
    def upper(self) -> tuple[str | None, float | None]:
        """The theorem that bounds the pulls from above, and its bound."""
        e = self.experiment
        return upper_bound(e.problem, e.algorithm, e.delta)

    @cached_property
    def theory(self) -> Theory:
        """What theory says of the pulls: bounds, oracles, the sum of gap^-2."""
        return theory_of(self.experiment.problem, self.experiment.delta)

    def distribution(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return numbers of pulls, ascending, and how many finished replications took them."""
        if self.result is not None:
            values, counts = np.unique(self.result.pulls[self.result.finished], return_counts=True)
            return values.astype(np.float64), counts.astype(np.int64)
        assert self.study is not None
        results, task = self.study
        return results.pulls_distribution(task)

    @property
    def keeps_rows(self) -> bool:
        """Whether single replications are known, not aggregates alone."""
        return self.study is None or self.study[0].keeps_rows

    @property
    def keeps_arm_pulls(self) -> bool:
        """Whether the pulls of each arm are kept, by replication or as sums."""
        if self.result is not None:
            return self.result.arm_pulls is not None or self.result.arm_pulls_sum is not None
        return self.study is not None and self.study[0].keeps_arm_pulls

    def arm_pulls_sum(self) -> tuple[NDArray[np.int64], int] | None:
        """Return the pulls of each arm over the finished replications, and how many these are, where
        they are kept so, and not by replication."""
        if self.result is not None:
            sums = self.result.arm_pulls_sum
            return None if sums is None else (sums, self.finished)
        if self.study is None or self.keeps_rows or not self.keeps_arm_pulls:
            return None
        results, task = self.study
        return results.arm_pulls_sum(task)

    @cached_property
    def _by_arm(self) -> dict[int, NDArray[np.int64]]:
        return {}

    def pulls_by_arm(self, rows: Result, number: int, arms: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pulls of some arms in the first finished replications; where they are not kept
        and of few arms, these are run again once for all figures of this case."""
        if rows.arm_pulls is not None or len(arms) < rows.problem.n_arms:
            return pulls_of_arms(rows, number, arms)
        if number not in self._by_arm:
            self._by_arm[number] = arm_pulls(rows, number)
        return self._by_arm[number][:, arms]

    def rows(self) -> Result | None:
        """Return the replications; None where a study keeps aggregates only."""
        if self.result is not None or self.study is None:
            return self.result
        results, task = self.study
        return results.result(task) if results.keeps_rows else None


def cases_of(
    results: Results, summary: pl.DataFrame | None = None, *, may_be_none: bool = False
) -> list[Case]:
    """Return the experiments of which some replication finished: of results, of a mapping of labels
    to results, or of a study.

    Parameters
    ----------
    results
        What a figure is asked to show.
    summary : polars.DataFrame, optional
        A study's summary, if it has been made.
    may_be_none : bool, default False
        Whether that nothing finished is no error.

    Raises
    ------
    TypeError, ValueError
        If it is something else, or empty, or nothing finished.
    """
    cases = [case for case in _all_cases(results, summary) if case.finished]
    if not cases and not may_be_none:
        raise ArgumentValueError(
            "results", "results has no finished replication; raise ", Named("max_pulls")
        )
    return cases


def cases_at_caps(results: Results, summary: pl.DataFrame | None = None) -> list[Case]:
    """Return the experiments with a cap, finished or not, of which it is known what they recommend
    there; may be none. Parameters and errors as of `cases_of`."""
    return [case for case in _all_cases(results, summary) if case.errors_at_cap is not None]


def few_cases(results: Results, most: int) -> list[tuple[Case, str, Look]]:
    """Return `cases_of`, each with a label that tells it from the others and a look; refuse more
    than a figure shows."""
    cases = cases_of(results)
    if len(cases) > most:
        raise ArgumentValueError(
            "results",
            f"results holds {len(cases)} experiments; a figure shows at most {most}: {SELECT}",
        )
    labels = labels_of(cases)
    # An algorithm keeps its look in all figures, unless it is there twice.
    keys = (
        [case.label for case in cases]
        if len({case.label for case in cases}) == len(cases)
        else labels
    )
    chosen = looks(keys)
    return [
        (case, plain(label + case.note), chosen[key])
        for case, label, key in zip(cases, labels, keys, strict=True)
    ]


def few_cases_of_one_problem(
    results: Results, most: int
) -> tuple[list[tuple[Case, str, Look]], Problem]:
    """Return `few_cases` and the problem that they are all about; refuse several, whose arms
    differ."""
    chosen = few_cases(results, most)
    problem = chosen[0][0].experiment.problem
    if any(case.experiment.problem.identity() != problem.identity() for case, _, _ in chosen):
        raise ArgumentValueError(
            "results",
            "results is of several problems, whose arms differ; choose experiments on one "
            "problem, of a study with select(instance=...)",
        )
    return chosen, problem


def rows_of(cases: Sequence[Case]) -> list[Result]:
    """Return the replications of each case; refuse aggregates, which do not tell which
    finished."""
    rows = [result for case in cases if (result := case.rows()) is not None]
    if len(rows) < len(cases):
        raise ArgumentValueError(
            "results",
            "results keeps aggregates only, and not which replications finished; run the study "
            "with keep='replications'",
        )
    return rows


def _all_cases(results: Results, summary: pl.DataFrame | None) -> list[Case]:
    remedy = "give a Result, a list of them, a dict of label to Result, or the results of a study"
    if isinstance(results, Result):
        return [_case_of_result(results, short_label(results.algorithm))]
    if _is_study(results):
        found = list(_cases_of_study(results, summary))
        if not sum(case.replications for case in found):
            raise ArgumentValueError(
                "results",
                f"results has no replication in {results.folder}; run the study first",
            )
        return found
    labelled: list[tuple[str, Result | Case]]
    if isinstance(results, Mapping):
        labelled = [(str(label), result) for label, result in results.items()]
    elif isinstance(results, Sequence) and not isinstance(results, str):
        labelled = [("", result) for result in results]
    else:
        raise ArgumentTypeError("results", f"results is of type {type(results).__name__}; {remedy}")
    if not labelled:
        raise ArgumentValueError("results", f"results is empty; {remedy}")
    cases = []
    for label, result in labelled:
        if isinstance(result, Result):
            cases.append(_case_of_result(result, label or short_label(result.algorithm)))
        elif isinstance(result, Case):
            cases.append(result)
        else:
            raise ArgumentTypeError(
                "results",
                f"results holds something of type {type(result).__name__}; {remedy}",
            )
    return cases


def _is_study(results: object) -> TypeGuard[StudyResults]:
    """Whether these are a study's results; if so, frames have been loaded already, else they need
    not be."""
    module = sys.modules.get("rai_sim.study.results")
    return module is not None and isinstance(results, module.StudyResults)


def _case(
    row: Found | Mapping[str, Any], experiment: Experiment, instance: str, label: str, **more: Any
) -> Case:
    """Return an experiment with its numbers, of a row of statistics."""

    def some(key: str) -> float:
        value = row[key]
        return math.nan if value is None else float(value)

    return Case(
        experiment,
        instance,
        label,
        row["replications"],
        row["finished"],
        some("pulls_mean"),
        some("pulls_standard_error"),
        some("pulls_mean_low_95"),
        some("pulls_mean_high_95"),
        row["errors"],
        row["errors_at_cap"],
        verdict=row["error_verdict"],
        **more,
    )


def _case_of_result(result: Result, label: str) -> Case:
    return _case(found_in(result), result.experiment, "", label, result=result)


def _cases_of_study(results: StudyResults, summary: pl.DataFrame | None) -> Iterator[Case]:
    """Yield the tasks."""
    frame = results.summary() if summary is None else summary
    for task, row in zip(results.tasks, frame.iter_rows(named=True), strict=True):
        label = short_label(task.experiment.algorithm)
        yield _case(
            row,
            task.experiment,
            task.instance,
            label,
            parameters=task.parameters,
            study=(results, task),
        )


def labels_of(cases: Sequence[Case]) -> list[str]:
    """Return a label for each case: its own, and what else tells it from the others; in the end a
    number."""
    labels = [case.label for case in cases]
    for differs in _DIFFERENCES:
        if len(set(labels)) == len(labels):
            return labels
        values = [differs(case) for case in cases]
        if len(set(values)) > 1:
            labels = [
                f"{label}, {value}" if value else label
                for label, value in zip(labels, values, strict=True)
            ]
    if len(set(labels)) < len(labels):
        labels = [f"{label}, no. {i + 1}" for i, label in enumerate(labels)]
    return labels


def setting_words(case: Case, against: str = "") -> list[str]:
    """Return what decides a case's numbers besides problem, algorithm and delta, and what is
    `against`."""
    differences = [one for one in _DIFFERENCES[-3:] if one is not _cap or against != "max_pulls"]
    return [words for differs in differences if (words := differs(case))]


def _cap(case: Case) -> str:
    cap = case.experiment.max_pulls
    return "no cap" if cap is None else f"cap {cap:,}"


def task_words(case: Case) -> str:
    """Return what is asked for, in words."""
    return f"r = {listed(case.experiment.problem.required, 6, ',')}"


#: What may tell two experiments of one label apart, in words.
_DIFFERENCES: tuple[Callable[[Case], str], ...] = (
    lambda case: case.instance,
    lambda case: f"δ = {case.experiment.delta:g}",
    task_words,
    lambda case: f"seed {case.experiment.seed}",
    _cap,
    lambda case: f"skip_error {case.experiment.skip_error:g}",
)
