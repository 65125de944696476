"""How one comes by a study's results: a folder is opened, or what ended a run carries them.

A name belongs here if it gives results back, or is raised in their place.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rai_sim.study.data import StudyData
from rai_sim.study.interrupts import Interrupts
from rai_sim.study.results import StudyResults
from rai_sim.study.task import Task
from rai_sim.support.values import path_of
from rai_sim.support.wording import count

if TYPE_CHECKING:
    from rai_sim.study.grid import Study


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM during `Study.run`; `.results` holds what is in the store, which is all
    that was finished.

    Ctrl-C while a store is opened is one too, in `Study.results` and `open_study` as well.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1], replications=5)
    >>> results = study.run(tempfile.mkdtemp())
    >>> try:
    ...     raise rai.StudyInterrupted(results.folder, results, study)  # as Ctrl-C does
    ... except rai.StudyInterrupted as stopped:
    ...     stopped.results.progress()
    (5, 5)
    """

    def __init__(self, folder: Path, results: StudyResults | None, study: Study | None) -> None:
        """Keep the results; None if the store was still being opened."""
        if results is None:
            said = f"interrupted while {folder} was opened; nothing in it has changed: do the same again"
        else:
            done, wanted = results.progress()
            said = (
                f"interrupted with {done:,} of {count(wanted, 'replication')} in {folder}; the same "
                "study run into the "
                "same folder goes on from there"
            )
        super().__init__(said)
        self.opened, self._folder, self._results, self._study = (
            results is not None,
            folder,
            results,
            study,
        )

    @property
    def results(self) -> StudyResults:
        """What is in the store, which is opened now if it was not."""
        if self._results is None:
            self._results = (
                open_study(self._folder)
                if self._study is None
                else self._study.results(self._folder)
            )
        return self._results


class StudyFailed(RuntimeError):
    """Some tasks of a study could not be run; `.failures` maps them to errors, `.results` holds all
    the others.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> problems = {
    ...     "short": rai.best_arm(rai.Recorded([[1.0], [0.0]])),
    ...     "coins": rai.best_arm(rai.Bernoulli([0.9, 0.1])),
    ... }
    >>> study = rai.Study.grid(problems, [rai.Vanilla()], [0.1], replications=1)
    >>> try:
    ...     study.run(tempfile.mkdtemp())
    ... except rai.StudyFailed as failed:
    ...     [task.instance for task in failed.failures], failed.results.progress()
    (['short'], (1, 2))
    """

    def __init__(self, results: StudyResults, failures: Mapping[Task, Exception]) -> None:
        """Keep results and errors."""
        task, error = next(iter(failures.items()))
        super().__init__(
            f"{len(failures):,} of {count(len(results.tasks), 'task')} failed, what could be run is in "
            f"{results.folder}; "
            f"the first is {task.label}: {error}"
        )
        self.results, self.failures = results, failures


def open_study(folder: str | os.PathLike[str]) -> StudyResults:
    """Return everything that a study's folder holds, without the study's definition; nothing is run
    or written.

    Tasks come in the order of the study that was run; those that a later run has added stand after
    all earlier ones. Of an algorithm or a reward law that this process does not know, such as one
    of a module of yours that is not imported, everything stored can be read; a StoreWarning says
    what to import for it to be run again, which is refused.

    Raises
    ------
    StoreError
        If the folder is no store.
    StudyInterrupted
        On Ctrl-C.
    RuntimeError
        In a process forked from one that has used polars, which cannot be used then.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla(), rai.Butterscotch()], [0.01], replications=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = study.run(folder)
    ...     print(rai.open_study(folder).summary().select("algorithm", "replications").rows())
    [('Vanilla(merging=True)', 10), ('Butterscotch(merging=True)', 10)]
    """
    return open_results(path_of("folder", folder), None)


def open_results(
    folder: Path, study: Study | None, cut: int | None = None, looks: bool = False
) -> StudyResults:
    """Return what a folder holds of a study, or all of it; `cut` and `looks` as in `StudyData`.
    Ctrl-C is StudyInterrupted."""
    # held: polars would turn it into errors of other kinds
    with (
        Interrupts(signal.SIGINT) as interrupts,
        interrupts.held(),
    ):
        try:
            results = StudyResults(StudyData(folder, None, cut, looks, interrupts.heed), study)
            interrupts.heed()
        except KeyboardInterrupt:
            raise StudyInterrupted(folder, None, study) from None
    return results
