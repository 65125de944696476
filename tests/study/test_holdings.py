"""What a store holds of tasks: how far they are, their rows, results and distributions."""

from pathlib import Path

import pytest
from studies import pairs, simulated

import rai_sim as rai
from rai_sim.simulation.workers import block_for, run_into
from rai_sim.study import Study, StudyResults
from rai_sim.study.data import Rows, StudyData
from rai_sim.study.holdings import Holdings, check_task
from rai_sim.study.task import Task

ABOUT = {"run": "r", "rai_sim": "0", "stream_version": "1"}


def with_a_gap(folder: Path, task: Task) -> None:
    """Store replications 0 to 9 and 20 to 49 of a task."""
    data = StudyData(folder, "replications")
    data.add_tasks([task], ABOUT)
    for first, count in ((0, 10), (20, 30)):
        block = block_for(task.experiment, count)
        run_into(task.experiment, first, block)
        data.write_rows([Rows([(task.key, first, first + count)], block)], ABOUT)


def test_the_distribution_is_of_the_summarys_replications(tmp_path: Path) -> None:
    """What lies behind a gap is in neither: shares of the summary's replications add up to one."""
    task = Study.grid({"x": rai.table_problem()}, [rai.Vanilla()], [0.1], replications=10).tasks[0]
    with_a_gap(tmp_path, task)
    results = rai.open_study(tmp_path)
    assert results.summary()["replications"].to_list() == [10]
    values, counts = results.pulls_distribution(task)
    assert counts.sum() == 10
    assert values.tolist() == sorted(set(simulated(task, 10).pulls.tolist()))


@pytest.mark.parametrize(
    ("wanted", "progress", "not_counted"), [(5, (5, 5), 35), (30, (20, 30), 20), (50, (40, 50), 0)]
)
def test_a_gap_counts_for_nothing(
    tmp_path: Path, wanted: int, progress: tuple[int, int], not_counted: int
) -> None:
    """Of what was asked for it is missing, and what lies behind is there as far as it was asked
    for."""
    study = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1], replications=wanted)
    with_a_gap(tmp_path, study.tasks[0])
    held = Holdings(StudyData(tmp_path, None, study.limit), study)
    assert held.progress() == progress
    assert held.not_counted() == not_counted
    assert held.unfinished() == (list(study.tasks) if wanted > 10 else [])
    assert held.result(study.tasks[0]).replications == progress[0]


def test_what_is_no_task() -> None:
    """A task's number, say: refused by name."""
    check_task(Study.grid(pairs(0.4), [rai.Vanilla()], [0.1]).tasks[0])
    with pytest.raises(TypeError, match="task is 3; give a Task, one of the results' `tasks`"):
        check_task(3)


def test_a_choice_of_tasks_is_of_the_same_kind(tmp_path: Path) -> None:
    """Results stay results, and keep what verdicts need; of the tasks left out nothing counts."""
    study = Study.grid(pairs(0.4, 0.3), [rai.Vanilla()], [0.1], replications=5)
    with_a_gap(tmp_path, study.tasks[0])
    results = study.results(tmp_path)
    some = results.select(instance="gap 0.4")
    assert type(some) is StudyResults
    assert (some.progress(), results.progress()) == ((5, 5), (5, 10))
    assert (some.alpha, some.judged, some.folder) == (results.alpha, 2, tmp_path)
    with pytest.raises(ValueError, match=r"gap 0\.3, .* has no replication; run the study first"):
        results.result(study.tasks[1])
