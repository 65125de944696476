"""How far a study is, and how much is still to come: what a display shows while it runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.experiment import Experiment
from rai_sim.study.data import Rows, ranges_of
from rai_sim.study.ledger import Pieces
from rai_sim.study.stopping import NORMAL, looks_for

if TYPE_CHECKING:
    from rai_sim.study.grid import Study

#: Of fewer replications nothing is estimated; where progress is shown so many of each task come
#: first.
PILOT = 16


class State:
    """How far each task is, and what is still to come: for the display alone, without influence on
    what is run.

    Parameters
    ----------
    study : Study
        What is wanted.
    there : mapping of str to Pieces
        What is there of each task, by its key, in the study's order.
    """

    def __init__(self, study: Study, there: Mapping[str, Pieces]) -> None:
        """Start from what is there."""
        self._place = {key: at for at, key in enumerate(there)}
        self._precision, self._most, self._decides = study.precision, study.most, study.decides
        #: Replications needed as far as is known, and whether they are all.
        self.wanted = np.zeros(len(there), np.int64)
        self.final = np.zeros(len(there), np.bool_)
        #: Seconds a replication took at last, NaN where none was run.
        self.seconds = np.full(len(there), np.nan)
        # Seconds spent, and on how many replications.
        self._spent = np.zeros((2, len(there)))
        # Replications, finished ones, and sums of their pulls and squares, as doubles: good enough
        # for a display.
        self._moments = np.zeros((4, len(there)))
        for at, pieces in enumerate(there.values()):
            self._count(at, pieces)
        self._tasks = study.tasks

    def _count(self, at: int, pieces: Pieces) -> None:
        seen = pieces.all_sums()  # those behind a gap too
        if seen is not None:
            self._moments[:, at] = (
                seen.replications,
                seen.finished,
                float(seen.pulls_sum),
                float(seen.pulls_squares),
            )

    def set(self, task: int, pieces: Pieces, wanted: int, final: bool) -> None:
        """Write down what is there of a task, others' replications included, how many are wanted as
        far as is known, and whether these are all."""
        self._count(task, pieces)
        self.wanted[task], self.final[task] = wanted, final

    @cached_property
    def _groups(self) -> list[NDArray[np.int64]]:
        """By what tasks are like each other, the nearest first; made when it is first shown, as of
        many tasks it takes a while."""
        runs = [task.experiment for task in self._tasks]
        kinds: tuple[Callable[[Experiment], object], ...] = (
            _same_but_delta,
            likeness,
            lambda run: run.algorithm,
            lambda run: 0,
        )
        return [_numbered([kind(run) for run in runs]) for kind in kinds]

    def note(self, rows: Sequence[Rows]) -> None:
        """Count replications that were run."""
        if not rows:
            return
        tasks, starts, stops = zip(*ranges_of(rows), strict=True)
        lengths = np.subtract(stops, starts)
        finished = np.concatenate([one.block.finished for one in rows])
        pulls = np.concatenate([one.block.pulls for one in rows]) * finished.astype(np.float64)
        sums = np.add.reduceat(
            np.stack([finished, pulls, pulls * pulls]), np.cumsum(lengths) - lengths, axis=1
        )
        places = np.array([self._place[task] for task in tasks])
        for moment, added in zip(self._moments, (lengths, *sums), strict=True):
            np.add.at(moment, places, added)

    def note_time(self, task: int, took: float, timed: int) -> None:
        """Count the seconds that replications of a task took."""
        self._spent[0, task] += took
        self._spent[1, task] += timed

    @property
    def total(self) -> int:
        """Replications wanted: those of tasks that are not finished are estimated from the
        variances seen so far."""
        return int(self._estimated().sum())

    @property
    def done(self) -> int:
        """Replications that are there, of those wanted."""
        return int(np.minimum(self._moments[0], self._estimated()).sum())

    @property
    def tasks_done(self) -> int:
        """Number of tasks of which nothing more is wanted, as far as is known."""
        return int(
            np.count_nonzero(self.final if self._decides else self._moments[0] >= self.wanted)
        )

    def seconds_left(self) -> float:
        """Return the work left in seconds, each task at its own time a replication; those never run
        are taken to be like others."""
        left = np.maximum(self._estimated() - self._moments[0], 0.0)
        if not left.any():
            return 0.0
        each = self._like_others(self._ratio(*self._spent))
        return float((left * each).sum())  # NaN if nothing was run

    def _estimated(self) -> NDArray[np.float64]:
        """Return the replications of each task that will have been run in the end."""
        wanted = self.wanted.astype(np.float64)
        if self._precision is None:
            return wanted
        there, n, total, squares = self._moments
        enough = n >= PILOT
        mean = self._ratio(total, n * enough)
        # Of few replications the variance is divided by n - 1; without a pull all are alike.
        spread = (self._ratio(squares, n * enough * mean**2) - 1.0) * n / np.maximum(n - 1.0, 1.0)
        spread = self._like_others(np.where(mean == 0.0, 0.0, spread))
        finished = self._like_others(self._ratio(n, there * enough))
        looks = looks_for(self._precision, spread, finished, self._most)
        return np.where(self.final | np.isnan(looks), wanted, np.maximum(wanted, looks))

    @staticmethod
    def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a ratio, NaN where nothing is below."""
        found = np.full(len(above), np.nan)
        np.divide(above, below, out=found, where=below > 0.0)
        return found

    def _like_others(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values with those missing replaced by the mean of tasks like them, the nearest of
        which something is known."""
        filled = values.copy()
        known = ~np.isnan(values)
        for group in self._groups:
            missing = np.isnan(filled)
            if not missing.any():
                break
            sums, counts = (
                np.bincount(group[known], weights, group.max() + 1)
                for weights in (values[known], known[known].astype(float))
            )
            means = self._ratio(sums.astype(np.float64), counts.astype(np.float64))
            filled[missing] = means[group[missing]]
        return filled

    def worst_error(self) -> float:
        """Return the largest half-width of a 95 % interval of mean pulls, as a share of the mean;
        NaN if none is known: nothing is a share of no pulls."""
        known = (self._moments[1] > 1) & (self._moments[2] > 0.0)
        _, n, total, squares = self._moments[:, known]
        if not len(n):
            return math.nan
        mean = total / n
        return float(
            (NORMAL * np.sqrt(np.maximum(squares / n - mean**2, 0.0) / (n - 1)) / mean).max()
        )


def _numbered(keys: Sequence[object]) -> NDArray[np.int64]:
    """Return a number for each key, the same for equal ones."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _same_but_delta(run: Experiment) -> tuple[object, ...]:
    return run.problem.identity(), run.algorithm, run.max_pulls, run.skip_error == 0.0


def likeness(run: Experiment) -> tuple[object, ...]:
    """Return what experiments share that take about as long a replication."""
    problem = run.problem
    gap = math.frexp(min(problem.rescaled.bottleneck_gap, 1.0))[1] // 2
    return (
        type(problem.arms),
        run.algorithm,
        problem.n_arms.bit_length(),
        problem.n_clusters.bit_length(),
        gap,
        run.skip_error == 0.0,
    )
