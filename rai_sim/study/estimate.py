"""What a study will cost, before it is run: seconds, pulls and bytes on the disk, of each task and
in all, as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rai_sim.study.task import Task
from rai_sim.support import html_tables
from rai_sim.support.columns import Catalogue, Column, cells, first_key, titles
from rai_sim.support.durations import duration, size_on_disk
from rai_sim.support.text_tables import text_table
from rai_sim.support.wording import and_more, count, json_safe, rough

if TYPE_CHECKING:
    import polars as pl

#: A text lists so many tasks.
_MOST_ROWS = 200


@dataclass(frozen=True)
class TaskEstimate:
    """What is left of a task, and what it will take.

    Attributes
    ----------
    task : Task
        Which one.
    replications : int
        Wanted in all, as far as is known: of a precision or an error rate as many as it will
        probably take.
    left : int
        Those of them that are missing.
    pilot : int
        Replications that were run to know.
    seconds : float
        Work of one core (processor time), without compilation.
    pulls : float
        Of all arms.
    disk_bytes : float
        Of the task's rows.
    at_least : bool
        Whether these are lower bounds: a replication of the pilot did not end in time, or nothing
        is known of how many there will be.
    flaw : str or None
        Why the task cannot be run.
    """

    task: Task
    replications: int
    left: int
    pilot: int = 0
    seconds: float = 0.0
    pulls: float = 0.0
    disk_bytes: float = 0.0
    at_least: bool = False
    flaw: str | None = None


def _bounded(
    key: str,
    title: str,
    unit: str,
    form: Callable[[float], str],
    get: Callable[[TaskEstimate], float],
) -> Column:
    """Return a column of numbers that may be lower bounds."""
    return Column(
        key=key,
        title=title,
        unit=unit,
        get=lambda row: (get(row), row.at_least, row.flaw),
        form=lambda told: "fails" if told[2] else (">= " if told[1] else "") + form(told[0]),
        sort=first_key,
        warns=lambda row: row.flaw is not None,
    )


#: What tables show of `TaskEstimate`.
COLUMNS: Catalogue[Column] = Catalogue(
    [
        Column(key="instance", title="instance", get=lambda row: row.task.instance),
        Column(
            key="algorithm",
            title="algorithm",
            get=lambda row: row.task.experiment.algorithm.label,
        ),
        Column(
            key="delta",
            title="delta",
            unit="probability",
            form="{:g}".format,
            get=lambda row: row.task.experiment.delta,
        ),
        Column(
            key="pilot",
            title="pilot",
            unit="replications",
            form="{:,}".format,
            get=lambda row: row.pilot,
        ),
        _bounded("left", "left", "replications", "{:,}".format, lambda row: row.left),
        _bounded("pulls", "pulls", "pulls", lambda x: rough(round(x)), lambda row: row.pulls),
        _bounded("seconds", "work", "s", duration, lambda row: row.seconds),
        _bounded("disk_bytes", "disk", "bytes", size_on_disk, lambda row: row.disk_bytes),
    ]
)
#: Names among them, and which a narrow terminal goes without, the first one first.
NAMES, LEAST = 2, ("pilot", "disk_bytes")


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """What a study will cost: print it for a table.

    Attributes
    ----------
    rows : tuple of TaskEstimate
        In the study's order.
    workers : int
        Over how many the work is spread.
    pilot_time : float
        Seconds that the pilot of a task had at most.
    other_bytes : float
        Of what is written besides the tasks' rows.
    """

    rows: tuple[TaskEstimate, ...]
    workers: int
    pilot_time: float
    other_bytes: float = 0.0

    @property
    def replications(self) -> int:
        """Replications that are missing."""
        return sum(row.left for row in self.rows)

    @property
    def seconds(self) -> float:
        """Work of one core."""
        return sum(row.seconds for row in self.rows)

    @property
    def wall_seconds(self) -> float:
        """The same spread over the workers."""
        return self.seconds / self.workers

    @property
    def pulls(self) -> float:
        """Pulls of all tasks."""
        return sum(row.pulls for row in self.rows)

    @property
    def disk_bytes(self) -> float:
        """Bytes that will be written."""
        return sum(row.disk_bytes for row in self.rows) + self.other_bytes

    @property
    def at_least(self) -> bool:
        """Whether these are lower bounds, as those of some task are."""
        return any(row.at_least for row in self.rows)

    @property
    def statements(self) -> tuple[str, ...]:
        """What it comes to in all, and what a reader must know of it, in sentences."""
        left = sum(1 for row in self.rows if row.left)
        about = "at least " if self.at_least else "some "
        spread = (
            f", {duration(self.wall_seconds)} on {self.workers:,} workers"
            if self.workers > 1
            else ""
        )
        said = [
            f"in all {about}{count(self.replications, 'replication')} of {count(left, 'task')} are left: "
            f"{about}{duration(self.seconds)} of work{spread}, {rough(round(self.pulls))} pulls, "
            f"{size_on_disk(self.disk_bytes)} on the disk; compilation does not count"
            if left
            else "nothing is left to run"
        ]
        bounded = sum(1 for row in self.rows if row.at_least)
        if bounded:
            said.append(
                f"what is said of {count(bounded, 'task')} is a lower bound, as a replication did "
                f"not end, or too few did, within the {duration(self.pilot_time)} of a pilot: it "
                "may have more, pilot_time says how much"
            )
        failing = [row for row in self.rows if row.flaw is not None]
        if failing:
            said.append(
                f"{count(len(failing), 'task')} will fail, the first is {failing[0].task.label}: "
                f"{failing[0].flaw}"
            )
        return tuple(said)

    def __str__(self) -> str:
        """Return what it comes to, with a table of the tasks."""
        columns = tuple(COLUMNS)
        shown = self.rows[:_MOST_ROWS]
        table = [titles(columns), *([c.text for c in cells(columns, row)] for row in shown)]
        more = len(self.rows) - len(shown)
        rest = [and_more(more, "task", "to_frame() has all")] if more else []
        return "\n".join([*text_table(table, NAMES), *rest, "", *self.statements])

    def __repr__(self) -> str:
        """Say what it comes to."""
        return f"Estimate({self.statements[0]})"

    def _repr_html_(self) -> str:
        """Return the table, for notebooks."""
        columns, most = tuple(COLUMNS), html_tables.MOST_ROWS
        rows = [cells(columns, row) for row in self.rows[:most]]
        more = len(self.rows) - len(rows)
        return html_tables.block(
            self.statements[0],
            html_tables.table(titles(columns), rows, left=NAMES),
            html_tables.line(and_more(more, "task", "to_frame() has all")),
            *map(html_tables.line, self.statements[1:]),
        )

    def _values(self) -> list[dict[str, Any]]:
        return [
            {
                "instance": row.task.instance,
                "algorithm": row.task.experiment.algorithm.label,
                "delta": row.task.experiment.delta,
                "replications": row.replications,
                "left": row.left,
                "pilot": row.pilot,
                "pulls": row.pulls,
                "seconds": row.seconds,
                "disk_bytes": row.disk_bytes,
                "at_least": row.at_least,
                "flaw": row.flaw,
                "task": row.task.key,
            }
            for row in self.rows
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return one row a task, as a polars frame.

        Returns
        -------
        polars.DataFrame
            instance, algorithm, delta, replications, left, pilot, pulls, seconds, disk_bytes,
            at_least, flaw, task.

        Examples
        --------
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1], replications=50)
        >>> study.estimate().to_frame().select("left", "pilot", "pulls", "at_least").rows()
        [(50, 50, 371000.0, False)]
        """
        import polars as pl  # slow to load

        return pl.DataFrame(self._values(), schema_overrides={"flaw": pl.String})

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it.

        Examples
        --------
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1], replications=50)
        >>> study.estimate().to_dict()["pulls"]
        371000.0
        """
        found: dict[str, Any] = json_safe(
            {
                "replications": self.replications,
                "pulls": self.pulls,
                "seconds": self.seconds,
                "wall_seconds": self.wall_seconds,
                "workers": self.workers,
                "disk_bytes": self.disk_bytes,
                "at_least": self.at_least,
                "pilot_time": self.pilot_time,
                "statements": self.statements,
                "tasks": self._values(),
            }
        )
        return found
