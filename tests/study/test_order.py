"""The order of tasks, with and without a study's definition, and what else a store tells of studies
of more than one size."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Capture, printed

import rai_sim as rai
from rai_sim.problem import Problem
from rai_sim.study import Study, StudyResults, data, open_study
from rai_sim.study.tables import how_far, warnings_of

GAPS = (0.4, 0.05, 0.2)


def problems(*gaps: float) -> dict[str, Problem]:
    """Return pairs of arms, named so that the alphabet is not their order."""
    return {
        f"gap {gap}": rai.best_arm(rai.Bernoulli([0.5 + gap / 2, 0.5 - gap / 2])) for gap in gaps
    }


def study(*gaps: float, deltas: tuple[float, ...] = (0.01, 0.1), replications: int = 5) -> Study:
    """Return a study whose instances, algorithms and deltas stand in no sorted order."""
    return Study.grid(
        problems(*gaps), [rai.Vanilla(), rai.Butterscotch()], deltas, replications=replications
    )


def labels(results: StudyResults) -> list[str]:
    """Return the tasks in their order, and check that the summary has it too."""
    frame = results.summary()
    assert frame["task"].to_list() == [task.key for task in results.tasks]
    return [task.label for task in results.tasks]


def test_a_store_is_opened_in_the_order_of_its_study(tmp_path: Path) -> None:
    """Instances, algorithms and deltas as the study had them; a run that only adds replications
    changes nothing."""
    wanted = study(*GAPS)
    assert (
        labels(wanted.run(tmp_path))
        == labels(open_study(tmp_path))
        == [task.label for task in wanted.tasks]
    )
    study(*reversed(GAPS), replications=8).run(tmp_path)
    assert labels(open_study(tmp_path)) == [task.label for task in wanted.tasks]


def test_what_later_runs_add_stands_behind(tmp_path: Path) -> None:
    """Three runs in turn, each into the middle of the one before; the files' names, which are
    hashes, do not matter."""
    studies = [
        study(0.4, 0.2),
        study(0.4, 0.3, 0.2),
        study(0.4, 0.3, 0.2, deltas=(0.01, 0.05, 0.1)),
    ]
    expected: list[str] = []
    for one in studies:
        one.run(tmp_path)
        expected += [task.label for task in one.tasks if task.label not in expected]
    assert labels(open_study(tmp_path)) == expected
    for one in studies:  # where the definition is known, it decides
        assert labels(one.results(tmp_path)) == [task.label for task in one.tasks]


def test_stores_of_earlier_versions_have_an_order_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their parts have no time of writing; the run's name begins with one."""
    for second, gaps in ((3, (0.4,)), (1, (0.05,)), (2, (0.2,))):
        made = data.StudyData(tmp_path, "replications")
        write = made.store.write

        def without_time(
            kind: str, frame: pl.DataFrame, about: dict[str, str], write: object = write
        ) -> None:
            write(kind, frame, {name: value for name, value in about.items() if name != "written"})  # type: ignore[operator]

        monkeypatch.setattr(made.store, "write", without_time)
        made.add_tasks(
            study(*gaps).tasks,
            {"run": f"20261128T10000{second}Z-0000", "rai_sim": "0", "stream_version": "1"},
        )
    for path in tmp_path.glob("tasks-*.parquet"):
        assert "written" not in json.loads(pl.read_parquet_metadata(path)["rai_sim"])
    assert [task.instance for task in open_study(tmp_path).tasks[::4]] == [
        "gap 0.05",
        "gap 0.2",
        "gap 0.4",
    ]


@pytest.mark.parametrize("keep", ["replications", "aggregates"])
def test_what_is_stored_beyond_what_is_asked_for_is_said(tmp_path: Path, keep: str) -> None:
    """Of 12 replications a study of 5 counts 5, where rows are kept; sums that cannot be cut count
    whole, so nothing is left."""
    large, small = (
        Study.grid(problems(0.4), [rai.Butterscotch()], [0.1], replications=n, keep=keep)
        for n in (12, 5)
    )
    assert how_far(large.run(tmp_path)) == f"12 of 12 replications of 1 tasks are in {tmp_path}"
    results = small.results(tmp_path)
    if keep == "replications":
        assert (
            how_far(results)
            == f"5 of 5 replications of 1 tasks are in {tmp_path}; 7 more are stored, not counted"
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
    problem = problems(0.4)["gap 0.4"]
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
    results = study(0.4).run(tmp_path)
    frame = results.summary()
    assert warnings_of(results, frame) == []
    (said,) = warnings_of(results, frame.with_columns(finished=pl.col("finished") - 1))
    assert (
        said == "4 replications did not finish though no cap was set; the statistics are over the "
        "finished ones, so means may be biased"
    )


@pytest.mark.parametrize(
    ("value", "written"), [(1e3, "1000"), (np.float64(20.0), "20"), (3e0, "3")]
)
def test_a_whole_number_that_is_no_integer(value: object, written: str) -> None:
    """The message says how to write it; what is no whole number has no such remedy."""
    problem = problems(0.4)["gap 0.4"]
    for name in ("replications", "max_pulls", "seed", "first_replication"):
        with pytest.raises(
            TypeError, match=rf"^{name} must be an integer; got .*; write {written}$"
        ):
            rai.simulate(problem, rai.Butterscotch(), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=rf"write {written}"):
        study(0.4, replications=value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^replications must be an integer; got 2\.5$"):
        rai.simulate(problem, rai.Butterscotch(), replications=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=rf"; write {written}"):
        rai.top(rai.Bernoulli(np.linspace(0.1, 0.9, 2000)), value)  # type: ignore[arg-type]
