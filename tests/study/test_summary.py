"""A study's summary: one row a task, with the numbers of `Result.summary`."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from studies import grid, simulated

import rai_sim as rai
from rai_sim.study import Study
from rai_sim.study.ledger import Pieces
from rai_sim.study.stopping import Verdict
from rai_sim.study.summary import SUMMARY_SCHEMA, known_of, more_than_asked, summary_frame


def test_summaries_are_those_of_results(tmp_path: Path) -> None:
    """The frame's numbers are Result.summary()'s; quantiles to within a bin."""
    results = grid(replications=400).run(tmp_path)
    for row, task in zip(results.summary().iter_rows(named=True), results.tasks, strict=True):
        summary = simulated(task, 400).summary()
        assert (row["task"], row["instance"], row["algorithm"]) == (
            task.key,
            task.instance,
            task.experiment.algorithm.label,
        )
        assert (row["replications"], row["finished"], row["errors"], row["complete"]) == (
            400,
            400,
            summary.errors,
            True,
        )
        assert row["pulls_mean"] == pytest.approx(summary.mean, rel=1e-14)
        assert (row["pulls_mean_low_95"], row["pulls_mean_high_95"]) == pytest.approx(
            summary.interval, rel=1e-12
        )
        assert (row["error_rate_low_95"], row["error_rate_high_95"]) == summary.error_interval
        assert (row["lower_bound_pulls"], row["upper_bound_pulls"]) == (
            summary.lower_bound,
            summary.upper_bound,
        )
        assert row["rounds_mean"] == pytest.approx(summary.mean_rounds, rel=1e-14)
        for share, name in ((0.05, "pulls_q05"), (0.5, "pulls_q50"), (1.0, "pulls_most")):
            assert row[name] == pytest.approx(summary.quantiles[share], rel=1 / 512, abs=1)


def test_aggregates_are_those_of_the_rows(tmp_path: Path) -> None:
    """With sums alone the same summary, in steps and over workers; rows are refused."""
    rows = grid(replications=900).run(tmp_path / "rows")
    for n, n_jobs in ((10, 1), (700, 2), (900, 1)):
        sums = grid(replications=n, keep="aggregates").run(tmp_path / "sums", n_jobs=n_jobs)
    assert sums.summary().equals(rows.summary())
    assert not list((tmp_path / "sums").glob("replications-*"))
    with pytest.raises(
        ValueError,
        match=r"keeps aggregates only; run the study with keep='replications' to have rows",
    ):
        sums.rows()


def test_caps_and_errors_are_counted(tmp_path: Path) -> None:
    """Replications at the cap are not finished, whatever is kept."""
    for keep in ("replications", "aggregates"):
        options: dict[str, Any] = {"replications": 300, "max_pulls": 200, "keep": keep}
        # without guarantees, so that it errs
        wide = rai.best_arm(rai.Gaussian([0.7, 0.4], sd=3.0), strict=False)
        study = Study.grid({"x": wide}, [rai.Vanilla()], [0.5], **options)
        row = study.run(tmp_path / keep).summary().row(0, named=True)
        plain = simulated(study.tasks[0], 300).summary()
        assert (row["finished"], row["errors"]) == (plain.finished, plain.errors)
        assert 0 < plain.finished < 300
        assert plain.errors > 0
        assert row["error_exceeds_delta"] == plain.error_exceeds_delta
        assert row["max_pulls"] == 200


def test_the_summary_begins_with_what_one_looks_for(tmp_path: Path) -> None:
    """Instance, algorithm, delta, mean pulls, interval, errors; the hash is last, of rows too."""
    results = grid(replications=40).run(tmp_path)
    columns = results.summary().columns
    assert columns == list(SUMMARY_SCHEMA)
    assert columns[:6] == [
        "instance",
        "algorithm",
        "delta",
        "pulls_mean",
        "pulls_mean_low_95",
        "pulls_mean_high_95",
    ]
    assert columns[6:10] == ["errors", "error_rate", "error_rate_low_95", "error_rate_high_95"]
    assert columns[-1] == "task"
    assert len(set(columns)) == 44
    assert results.rows().collect_schema().names() == [
        "instance",
        "algorithm",
        "delta",
        "replication",
        "pulls",
        "rounds",
        "correct",
        "finished",
        "representatives",
        "task",
    ]
    head = str(results.summary()).splitlines()[2]
    assert [
        name for name in ("instance", "algorithm", "delta", "pulls_mean", "task") if name in head
    ][:4] == columns[:4]


def test_of_a_task_without_replications_nothing_is_known() -> None:
    """Its row is there, and what follows from numbers is null, never NaN; whether a precision was
    reached is null where none was asked for."""
    task = grid(replications=10).tasks[0]
    for precise, reached in ((True, False), (False, None)):
        one = known_of(task, Pieces(), Verdict(10, False, False), 0.05, precise)
        row = summary_frame([one]).row(0, named=True)
        assert (row["task"], row["instance"], row["complete"]) == (task.key, "easy", False)
        assert (row["replications"], row["errors"], row["error_verdict"]) == (0, 0, "open")
        assert (row["pulls_mean"], row["pulls_q50"], row["error_rate"]) == (None, None, None)
        assert row["precision_reached"] is reached


def test_more_replications_than_asked_for_are_said() -> None:
    """How many tasks, and how many replications the first of them has."""
    frame = pl.DataFrame({"replications": [100, 256, 9000]})
    wanted = [Verdict(n, True, False) for n in (100, 200, 5000)]
    said = more_than_asked(Path("a.study"), frame, wanted)
    assert said == (
        "store a.study has sums of more replications than were asked for, which cannot be cut: of "
        "2 tasks all of them count, 256 of the first one"
    )
    enough = [Verdict(n, True, False) for n in (100, 256, 9001)]
    assert more_than_asked(Path("a.study"), frame, enough) is None
