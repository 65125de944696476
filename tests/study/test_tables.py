"""What is said of studies in tables and lines."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Capture, printed
from studies import pairs, unsorted

import rai_sim as rai
from rai_sim.study import Study, Task, open_study
from rai_sim.study.tables import (
    INSTANCE_COLUMNS,
    distinct,
    grid_words,
    how_far,
    instance_rows,
    wanted_words,
    warnings_of,
)


@pytest.mark.parametrize("keep", ["replications", "aggregates"])
def test_what_is_stored_beyond_what_is_asked_for_is_said(tmp_path: Path, keep: str) -> None:
    """Of 12 replications a study of 5 counts 5, where rows are kept; sums that cannot be cut count
    whole, so nothing is left."""
    large, small = (
        Study.grid(pairs(0.4), [rai.Butterscotch()], [0.1], replications=n, keep=keep)
        for n in (12, 5)
    )
    assert how_far(large.run(tmp_path)) == f"12 of 12 replications of 1 task are in {tmp_path}"
    results = small.results(tmp_path)
    if keep == "replications":
        assert (
            how_far(results)
            == f"5 of 5 replications of 1 task are in {tmp_path}; 7 more are stored, not counted"
        )
        assert results.not_counted() == 7
    else:
        assert results.not_counted() == 0
    assert open_study(tmp_path).not_counted() == 0


def test_a_coarser_precision_after_a_finer_one(tmp_path: Path, capsys: Capture) -> None:
    """The command line says how many are stored and not counted: those of the finer study that the
    coarser one did not need."""
    file = tmp_path / "a.toml"
    file.write_text(
        'algorithms = ["vanilla"]\nprecision = 0.01\n[[instances]]\nname = "pair"\nmeans = [0.7, '
        '0.3]\nproblem = "best_arm"\n'
    )
    fine = printed(capsys, f"study {file} --no-progress").splitlines()[-1]
    coarse = printed(capsys, f"study {file} --precision 0.03 --no-progress").splitlines()[-1]
    stored = int(re.fullmatch(r"([\d,]+) of .* are in .*study", fine)[1].replace(",", ""))  # type: ignore[index]
    found = re.fullmatch(
        r"([\d,]+) of ([\d,]+) replications .*; ([\d,]+) more are stored, not counted", coarse
    )
    assert found
    done, wanted, more = (int(text.replace(",", "")) for text in found.groups())
    assert done == wanted < stored
    assert done + more == stored


def test_what_does_not_finish_without_a_cap_is_not_said_to_be_capped(tmp_path: Path) -> None:
    """In results, traces' words, and studies; with a cap the cap is named."""
    problem = pairs(0.4)["gap 0.4"]
    capped = rai.simulate(problem, rai.Vanilla(), replications=4, seed=0, max_pulls=4)
    (said,) = capped.summary().warnings
    assert said.startswith("4 of 4 replications stopped at the cap of 4 pulls; ")
    assert said.endswith("so the mean is biased low")
    full = rai.simulate(problem, rai.Vanilla(), replications=4, seed=0)
    given_up = rai.Result(
        full.experiment,
        full.ranges,
        full.pulls,
        full.rounds,
        full.correct & False,
        np.array([True, False, True, True]),
        full.representatives,
    )
    said = next(text for text in given_up.summary().warnings if "finish" in text)
    assert said.startswith("1 of 4 replications did not finish though no cap was set; ")
    assert said.endswith("so the mean may be biased")
    assert (capped.unfinished, given_up.unfinished) == ("stopped at the cap", "not finished")
    results = unsorted(0.4).run(tmp_path)
    frame = results.summary()
    assert warnings_of(results, frame) == []
    (said,) = warnings_of(results, frame.with_columns(finished=pl.col("finished") - 1))
    assert (
        said == "4 replications did not finish though no cap was set; the statistics are over the "
        "finished ones, so means may be biased"
    )


def test_a_grid_in_words() -> None:
    """A whole one is a product; of one with holes the kinds are counted alone."""
    study = unsorted(0.4, 0.05)
    assert grid_words(study.tasks) == "8 tasks: 2 instances x 2 algorithms x 2 deltas"
    assert grid_words(study.tasks[:3]) == "3 tasks: 1 instance, 2 algorithms, 2 deltas"
    assert grid_words(study.tasks[:1]) == "1 task: 1 instance x 1 algorithm x 1 delta"


def test_what_is_wanted_in_words() -> None:
    """A number of replications, or a precision and its limit."""
    assert wanted_words(unsorted(0.4, replications=1200)) == "1,200 replications each"
    precise = Study(unsorted(0.4).tasks, precision=0.02, most_replications=5000)
    assert wanted_words(precise) == (
        "to a precision of 2 % of the mean, at most 5,000 replications each"
    )
    known = Study(unsorted(0.4).tasks, until="error rate")
    assert wanted_words(known) == (
        "until the error rate is known to lie above or below delta, at most some 200 / delta "
        "replications each"
    )


def test_instances_of_tasks_and_their_rows() -> None:
    """One a name and problem, in the tasks' order, with all that is run on it."""
    tasks = unsorted(0.4, 0.05).tasks
    rows = instance_rows([*tasks[4:], *tasks[:2]])
    assert [(row.name, len(row.tasks)) for row in rows] == [("gap 0.05", 4), ("gap 0.4", 2)]
    shown = [INSTANCE_COLUMNS[key].cell(rows[0]).text for key in ("means", "algorithms", "deltas")]
    assert shown == [
        "0.525, 0.475",
        "Vanilla(merging=True), Butterscotch(merging=True)",
        "0.01, 0.1",
    ]
    assert INSTANCE_COLUMNS["tasks"].cell(rows[1]).text == "2"
    renamed = [Task("gap 0.05", task.experiment) for task in tasks[:4]]
    assert len(instance_rows([*tasks[4:], *renamed])) == 2  # one name, two problems


def test_instances_say_in_what_tasks_differ_beside() -> None:
    """Seed, cap and skip_error, where there is more than one; else the frame is as it was."""
    frame = pl.DataFrame(
        {
            "instance": ["x", "x"],
            "seed": ["1", "2"],
            "max_pulls": [None, 7],
            "skip_error": [0.5, 0.5],
        }
    )
    assert distinct(frame)["instance"].to_list() == ["x, seed 1, no cap", "x, seed 2, cap 7"]
    assert distinct(frame.head(1)).equals(frame.head(1))
    other = frame.with_columns(
        seed=pl.lit("1"), max_pulls=pl.lit(7), skip_error=pl.Series([0.0, 0.5])
    )
    assert distinct(other)["instance"].to_list() == ["x, skip_error 0.0", "x, skip_error 0.5"]


def test_what_a_reader_must_know(tmp_path: Path) -> None:
    """An error rate above delta, a precision that was not reached, and arms without guarantee."""
    wide = rai.best_arm(rai.Gaussian([0.7, 0.4], sd=3.0), strict=False)
    study = Study.grid(
        {"wide": wide}, [rai.Vanilla()], [0.01], precision=0.001, most_replications=60
    )
    results = study.run(tmp_path)
    frame = results.summary()
    wrong, short, law = warnings_of(results, frame)
    errors = frame["errors"].item()
    assert errors > 1
    assert wrong.startswith(
        "wide, Vanilla(merging=True), delta 0.01: the error rate lies above delta: "
        f"{errors} of 60 outputs are wrong, 95 % interval "
    )
    assert short.startswith("1 task stopped short of the precision, the first is wide, Vanilla")
    assert law.startswith("guarantees and bounds do not hold for the arms of 1 instance: ")
