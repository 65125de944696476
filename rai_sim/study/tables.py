"""A study's tasks, and its summary, as tables: for terminals, notebooks and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rai_sim.simulation.summary import count, number, percent
from rai_sim.support.html_tables import Cell

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.problem import Problem
    from rai_sim.study.grid import Study
    from rai_sim.study.results import StudyResults
    from rai_sim.study.task import Task

COLUMNS = (
    "instance", "algorithm", "delta", "replications", "mean pulls", "95 % interval", "+- of mean", "errors", "95 % interval", "lower",
    "upper",
)  # fmt: skip
#: How many of the columns are names.
NAMES = 2
#: Which of them a narrow terminal goes without, the first one first: upper, lower, the intervals, the number of replications.
LEAST = (10, 9, 8, 5, 3)
LEGEND = "+- of mean: half-width of the interval over the mean; lower: Theorem 1 (asymptotic), upper: with probability 1 - delta"


#: Columns of `instance_rows`.
INSTANCE_COLUMNS = ("instance", "law", "arms", "clusters", "required", "bottleneck gap", "algorithms", "delta", "tasks")
#: Clusters, algorithms or deltas that a cell lists.
_MOST_LISTED = 8


def listed(values: Sequence[object]) -> str:
    """Return values in words, of many the first ones.

    Examples
    --------
    >>> listed((3, 5, 2)), listed(range(100))
    ('3, 5, 2', '0, 1, 2, 3, 4, 5, 6, 7, ...')
    """
    return ", ".join(map(str, values[:_MOST_LISTED])) + (", ..." if len(values) > _MOST_LISTED else "")


def instance_rows(tasks: Sequence[Task]) -> list[list[str]]:
    """Return a row an instance: what it is, and what is run on it, in the tasks' order."""
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.instance, task.experiment.problem.identity()), []).append(task)
    return [_instance_row(group) for group in groups.values()]


def _instance_row(group: Sequence[Task]) -> list[str]:
    problem: Problem = group[0].experiment.problem
    algorithms = list(dict.fromkeys(task.experiment.algorithm.label for task in group))
    deltas = list(dict.fromkeys(f"{task.experiment.delta:g}" for task in group))
    return [
        group[0].instance, type(problem.arms).__name__, f"{problem.n_arms:,}", listed(problem.clusters), listed(problem.required),
        f"{problem.bottleneck_gap:.4g}", listed(algorithms), listed(deltas), f"{len(group):,}",
    ]  # fmt: skip


def grid_words(tasks: Sequence[Task]) -> str:
    """Return how many tasks there are, and of how many instances, algorithms and deltas."""
    kinds: dict[str, set[Any]] = {
        "instance": {(task.instance, task.experiment.problem.identity()) for task in tasks},
        "algorithm": {task.experiment.algorithm.label for task in tasks}, "delta": {task.experiment.delta for task in tasks},
    }  # fmt: skip
    sizes = [len(values) for values in kinds.values()]
    whole = sizes[0] * sizes[1] * sizes[2] == len(tasks)
    return f"{count(len(tasks), 'task')}: " + (" x " if whole else ", ").join(count(len(values), name) for name, values in kinds.items())


def wanted_words(study: Study) -> str:
    """Return how many replications of each task a study wants, in words."""
    if study.precision is None:
        return f"{count(study.replications or 0, 'replication')} each"
    return f"to a precision of {percent(study.precision)} of the mean, at most {count(study.most_replications, 'replication')} each"


def distinct(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a summary whose instances say seed, cap and skip_error too, where the tasks differ in them."""
    import polars as pl

    words = {
        "seed": pl.format(", seed {}", pl.col("seed")),
        "max_pulls": pl.when(pl.col("max_pulls").is_null()).then(pl.lit(", no cap")).otherwise(pl.format(", cap {}", pl.col("max_pulls"))),
        "skip_error": pl.format(", skip_error {}", pl.col("skip_error")),
    }
    more = [text for name, text in words.items() if frame[name].n_unique() > 1]
    return frame.with_columns(pl.concat_str([pl.col("instance"), *more])) if more else frame


def cells(row: dict[str, Any]) -> list[Cell]:
    """Return the cells of a row of `StudyResults.summary`; of one whose error rate lies above delta, the rate warns."""
    def some(name: str, form: Callable[[float], str]) -> Cell:
        value = row[name]
        return Cell("n/a", "") if value is None else Cell(str(form(value)), value)

    def interval(low: str, high: str, form: Callable[[float], str], warn: bool = False) -> Cell:
        ends = [some(name, form).text for name in (low, high)]
        return Cell(" to ".join(ends), "" if row[low] is None else row[low], warn)

    exceeds = bool(row["error_exceeds_delta"])
    rate = some("error_rate", percent)
    return [
        Cell(row["instance"]), Cell(row["algorithm"]), Cell(f"{row['delta']:g}", row["delta"]),
        Cell(f"{row['replications']:,}", row["replications"]), some("pulls_mean", number),
        interval("pulls_mean_low_95", "pulls_mean_high_95", number), some("relative_half_width_95", percent),
        Cell(rate.text, rate.key, exceeds), interval("error_rate_low_95", "error_rate_high_95", percent, exceeds),
        some("lower_bound_pulls", number), some("upper_bound_pulls", number),
    ]  # fmt: skip


def warnings_of(results: StudyResults, frame: pl.DataFrame) -> list[str]:
    """Return what a reader of a study's summary must know before using it, one sentence each; usually nothing."""
    import polars as pl

    said = [f"{row['instance']}, {row['algorithm']}, delta {row['delta']:g}: the error rate lies above delta: {row['errors']:,} of "
            f"{row['finished']:,} outputs are wrong, 95 % interval {percent(row['error_rate_low_95'])} to "
            f"{percent(row['error_rate_high_95'])}"
            for row in frame.filter("error_exceeds_delta").iter_rows(named=True)]
    short = frame.filter(pl.col("complete") & ~pl.col("precision_reached"))
    if len(short):
        said.append(f"{len(short)} tasks stopped short of the precision, the first is {short['instance'][0]}, {short['algorithm'][0]}, "
                    f"delta {short['delta'][0]:g}: at most_replications, or as no replication finished")
    for capped, what, bias in ((True, "stopped at their cap of pulls", "are biased low"),
                               (False, "did not finish though no cap was set", "may be biased")):
        rows = frame.filter(pl.col("max_pulls").is_not_null() == capped)
        unfinished = int((rows["replications"] - rows["finished"]).sum())
        if unfinished:
            said.append(f"{unfinished:,} replications {what}; the statistics are over the finished ones, so means {bias}")
    problems = {task.experiment.problem.identity(): task.experiment.problem for task in results.tasks}
    flaws = [flaw for problem in problems.values() if (flaw := problem.arms.why_not_sub_gaussian()) is not None]
    if flaws:
        said.append(f"guarantees and bounds do not hold for the arms of {count(len(flaws), 'instance')}: {flaws[0]}")
    return said


def how_far(results: StudyResults) -> str:
    """Return in words how much of what was wanted is there."""
    done, wanted = results.progress()
    more = results.not_counted()
    beside = f"; {more:,} more are stored, not counted" if more else ""
    return f"{done:,} of {wanted:,} replications of {len(results.tasks)} tasks are in {results.folder}{beside}"
