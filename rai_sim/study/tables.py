"""A study's tasks, and its summary, as tables: for terminals, notebooks and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rai_sim.certification.verdicts import how_sure
from rai_sim.simulation.columns import COLUMNS, Found
from rai_sim.simulation.statistics import ABOVE, NOTHING, OPEN
from rai_sim.support import html_tables
from rai_sim.support.columns import Catalogue, Column, cells, titles
from rai_sim.support.wording import and_more, count, listed, percent

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.problem import Problem
    from rai_sim.study.grid import Study
    from rai_sim.study.results import StudyResults
    from rai_sim.study.task import Task

#: What tables of a study's summary show (see `rai_sim.simulation.columns.COLUMNS`).
SHOWN = COLUMNS.pick(
    "instance",
    "algorithm",
    "delta",
    "replications",
    "pulls_mean",
    "pulls_interval",
    "relative_half_width_95",
    "error_rate",
    "error_interval",
    "tight_bound_pulls",
    "lower_bound_pulls",
    "upper_bound_pulls",
)
_VERDICT = COLUMNS.pick("error_verdict")
#: What they show, and reports, too, where some task has a cap: of what is recommended there.
AT_CAP = COLUMNS.pick("error_rate_at_cap", "error_interval_at_cap")
#: How many of the columns are names.
NAMES = 2
#: Which of them a narrow terminal goes without, the first one first.
LEAST = (
    "lower_bound_pulls",
    "upper_bound_pulls",
    "tight_bound_pulls",
    "error_interval",
    "pulls_interval",
    "replications",
)
LEGEND = (
    "+- of mean: half-width of the interval over the mean; tight: lower bound of the mean at this "
    "delta, as for Gaussian arms of sd 1/2, or sigma, unless arms are Bernoulli (n/a: takes long, see "
    "rai.bounds.at_delta, or no bound holds), lower: Theorem 1 (asymptotic, as for such Gaussian "
    "arms), upper: with probability 1 - delta"
)


@dataclass(frozen=True)
class Instance:
    """An instance, and the tasks that are run on it: a row, shown by `INSTANCE_COLUMNS`."""

    name: str
    problem: Problem
    tasks: Sequence[Task]

    def __getitem__(self, key: str) -> Any:
        """Return what `COLUMNS` knows of the problem."""
        return Found(self.tasks[0].experiment, NOTHING, {})[key]


def _distinct_words(words: Iterable[str]) -> str:
    return listed(list(dict.fromkeys(words)))


def _best_first(instance: Instance) -> list[float]:
    means: list[float] = np.sort(instance.problem.arms.means)[::-1].tolist()
    return means


#: What is said of an instance in a notebook's table of a study, and in a report.
INSTANCE_COLUMNS: Catalogue[Column] = Catalogue(
    [
        Column(key="instance", title="instance", get=lambda row: row.name),
        *COLUMNS.pick("law", "n_arms", "clusters", "required", "bottleneck_gap_reward"),
        Column(
            key="means",
            title="means, best first",
            unit="reward",
            get=_best_first,
            form=lambda means: listed([f"{x:.4g}" for x in means]),
        ),
        Column(
            key="algorithms",
            title="algorithms",
            get=lambda row: _distinct_words(task.experiment.algorithm.label for task in row.tasks),
        ),
        Column(
            key="deltas",
            title="delta",
            get=lambda row: _distinct_words(f"{task.experiment.delta:g}" for task in row.tasks),
        ),
        Column(
            key="tasks",
            title="tasks",
            unit="tasks",
            form="{:,}".format,
            get=lambda row: len(row.tasks),
        ),
    ]
)


def instance_rows(tasks: Sequence[Task]) -> list[Instance]:
    """Return the instances of tasks, in the tasks' order."""
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.instance, task.experiment.problem.identity()), []).append(task)
    return [
        Instance(name, group[0].experiment.problem, group) for (name, _), group in groups.items()
    ]


def grid_words(tasks: Sequence[Task]) -> str:
    """Return how many tasks there are, and of how many instances, algorithms and deltas."""
    kinds: dict[str, set[Any]] = {
        "instance": {(task.instance, task.experiment.problem.identity()) for task in tasks},
        "algorithm": {task.experiment.algorithm.label for task in tasks},
        "delta": {task.experiment.delta for task in tasks},
    }
    sizes = [len(values) for values in kinds.values()]
    whole = sizes[0] * sizes[1] * sizes[2] == len(tasks)
    return f"{count(len(tasks), 'task')}: " + (" x " if whole else ", ").join(
        count(len(values), name) for name, values in kinds.items()
    )


def wanted_words(study: Study) -> str:
    """Return how many replications of each task a study wants, in words."""
    if study.replications is not None:
        return f"{count(study.replications, 'replication')} each"
    wanted = []
    if study.precision is not None:
        wanted.append(f"to a precision of {percent(study.precision)} of the mean")
    if study.until is not None:
        wanted.append("until the error rate is known to lie above or below delta")
    own = study.precision is None and study.most_replications is None
    most = "some 200 / delta replications" if own else count(study.most, "replication")
    return f"{' and '.join(wanted)}, at most {most} each"


def shown_of(results: StudyResults) -> tuple[Column, ...]:
    """Return the columns that a table of a study's summary shows: the verdict, too, where the study
    was to run until it is known, and the error rate at the cap where some task has one."""
    return (*SHOWN, *(_VERDICT if _waited(results) else ()), *at_cap_of(results))


def at_cap_of(results: StudyResults) -> tuple[Column, ...]:
    """Return the columns of what is recommended at the cap, where some task has one."""
    capped = any(task.experiment.max_pulls is not None for task in results.tasks)
    return AT_CAP if capped else ()


def least_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the keys of the columns of a summary that a narrow terminal goes without, the first
    one first."""
    shown = {column.key for column in columns}
    return tuple(key for key in (*LEAST, "error_interval_at_cap") if key in shown)


def _waited(results: StudyResults) -> bool:
    """Whether tasks were to run until verdicts on their error rates are known."""
    return results.study is not None and results.study.until is not None


def legend_of(results: StudyResults) -> str:
    """Return what stands below a study's summary: what its columns are, and how sure verdicts on
    error rates are, where they are among them."""
    return f"{LEGEND}; {how_sure(results.alpha, results.judged)}" if _waited(results) else LEGEND


def distinct(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a summary whose instances say seed, cap and skip_error too, where the tasks differ in
    them."""
    import polars as pl

    words = {
        "seed": pl.format(", seed {}", pl.col("seed")),
        "max_pulls": pl.when(pl.col("max_pulls").is_null())
        .then(pl.lit(", no cap"))
        .otherwise(pl.format(", cap {}", pl.col("max_pulls"))),
        "skip_error": pl.format(", skip_error {}", pl.col("skip_error")),
    }
    more = [text for name, text in words.items() if frame[name].n_unique() > 1]
    return frame.with_columns(pl.concat_str([pl.col("instance"), *more])) if more else frame


def warnings_of(results: StudyResults, frame: pl.DataFrame) -> list[str]:
    """Return what a reader of a study's summary must know before using it, one sentence each;
    usually nothing."""
    import polars as pl

    said = [
        f"{row['instance']}, {row['algorithm']}, delta {row['delta']:g}: the error rate lies "
        f"above delta: {row['errors']:,} of "
        f"{row['finished']:,} outputs are wrong, 95 % interval "
        f"{percent(row['error_rate_low_95'])} to "
        f"{percent(row['error_rate_high_95'])}"
        for row in frame.filter(pl.col("error_verdict") == ABOVE).iter_rows(named=True)
    ]
    unknown = frame.filter(pl.col("complete") & (pl.col("error_verdict") == OPEN))
    if _waited(results) and len(unknown):
        said.append(
            f"of {count(len(unknown), 'task')} it is not known on which side of delta the error rate "
            f"lies, the first is {_task_words(unknown)}: most_replications were run"
        )
    short = frame.filter(pl.col("complete") & ~pl.col("precision_reached"))
    if len(short):
        said.append(
            f"{count(len(short), 'task')} stopped short of the precision, the first is "
            f"{_task_words(short)}: at most_replications, or as no replication finished"
        )
    for capped, what, bias in (
        (True, "stopped at their cap of pulls", "are biased low"),
        (False, "did not finish though no cap was set", "may be biased"),
    ):
        rows = frame.filter(pl.col("max_pulls").is_not_null() == capped)
        unfinished = int((rows["replications"] - rows["finished"]).sum())
        if unfinished:
            said.append(
                f"{count(unfinished, 'replication')} {what}; the statistics are over the finished ones, "
                f"so means {bias}"
            )
    problems = {
        task.experiment.problem.identity(): task.experiment.problem for task in results.tasks
    }
    flaws = [
        flaw
        for problem in problems.values()
        if (flaw := problem.arms.why_not_sub_gaussian()) is not None
    ]
    if flaws:
        said.append(
            f"guarantees and bounds do not hold for the arms of {count(len(flaws), 'instance')}: "
            f"{flaws[0]}"
        )
    return said


def _task_words(frame: pl.DataFrame) -> str:
    """Return which task the first row of a summary is about."""
    return f"{frame['instance'][0]}, {frame['algorithm'][0]}, delta {frame['delta'][0]:g}"


def how_far(results: StudyResults) -> str:
    """Return in words how much of what was wanted is there."""
    done, wanted = results.progress()
    more = results.not_counted()
    beside = f"; {more:,} more are stored, not counted" if more else ""
    tasks = count(len(results.tasks), "task")
    return f"{done:,} of {count(wanted, 'replication')} of {tasks} are in {results.folder}{beside}"


def study_html(study: Study) -> str:
    """Return the instances of a study with what is run on them as a table, for notebooks; of many
    instances the first ones."""
    instances, most = instance_rows(study.tasks), html_tables.MOST_ROWS
    columns = INSTANCE_COLUMNS.pick(
        "instance",
        "law",
        "n_arms",
        "clusters",
        "required",
        "bottleneck_gap_reward",
        "algorithms",
        "deltas",
        "tasks",
    )
    rows = [cells(columns, instance) for instance in instances[:most]]
    more = and_more(len(instances) - most, "instance", "tasks has all")
    return html_tables.block(
        repr(study), html_tables.table(titles(columns), rows, left=2), html_tables.line(more)
    )


def results_html(results: StudyResults) -> str:
    """Return the summary of a study's results as a table, for notebooks; of many tasks the first
    ones."""
    frame = distinct(results.summary())
    most = html_tables.MOST_ROWS
    columns = shown_of(results)
    rows = [cells(columns, row) for row in frame.head(most).iter_rows(named=True)]
    more = and_more(len(frame) - most, "task", "summary() has all")
    return html_tables.block(
        how_far(results),
        html_tables.warnings(warnings_of(results, frame)),
        html_tables.table(titles(columns), rows, left=NAMES),
        html_tables.line(more),
        html_tables.line(legend_of(results)),
    )
