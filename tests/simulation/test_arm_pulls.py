"""Pulls of each arm that simulations keep: what they are, what they add up to, and where they are
refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.simulation.arm_pulls import (
    added,
    arm_rows,
    check_keep,
    check_written,
    most_in_part,
    sums_of,
    total_of,
)

PROBLEM = rai.table_problem(task=2)
NAMES = ("pulls", "rounds", "correct", "finished", "representatives")


def run(keep: str | None = None, **changes: Any) -> rai.Result:
    """Return some replications, of which the cap ends a few."""
    options = {"delta": 0.1, "replications": 40, "max_pulls": 42_000} | changes
    algorithm = options.pop("algorithm", rai.Vanilla())
    return rai.simulate(PROBLEM, algorithm, keep=keep, **options)


def pulls_of(result: rai.Result) -> np.ndarray[Any, Any]:
    """Return what must have been kept."""
    assert result.arm_pulls is not None
    return result.arm_pulls


@pytest.mark.parametrize("algorithm", [rai.Vanilla(), rai.Butterscotch()])
@pytest.mark.parametrize("max_pulls", [None, 42_000, 5])
def test_they_are_those_of_traced_replications(algorithm: Algorithm, max_pulls: int | None) -> None:
    """Row sums are the pulls, capped ones included; where a replication finished the arms' pulls are
    what running it again tells; nothing else is another number."""
    kept = run("arm_pulls", algorithm=algorithm, max_pulls=max_pulls)
    plain = run(algorithm=algorithm, max_pulls=max_pulls)
    assert all(np.array_equal(getattr(kept, name), getattr(plain, name)) for name in NAMES)
    assert np.array_equal(pulls_of(kept).sum(axis=1), kept.pulls)
    again = rai.arm_pulls(plain, 40)
    assert np.array_equal(pulls_of(kept)[kept.finished], again)
    assert np.array_equal(rai.arm_pulls(kept, 40), again)
    assert kept != plain  # they hold other things


@pytest.mark.parametrize(
    "how", [{}, {"n_jobs": 2}, {"block_size": 7}, {"n_jobs": 2, "block_size": 3}]
)
def test_they_do_not_depend_on_how_it_is_run(how: dict[str, Any]) -> None:
    """Nor do their sums, which are of the finished replications."""
    rows = run("arm_pulls")
    assert 0 < np.count_nonzero(rows.finished) < 40
    assert run("arm_pulls", **how) == rows
    assert run("arm_pulls_sum", **how) == run("arm_pulls_sum")
    sums = run("arm_pulls_sum", **how).arm_pulls_sum
    assert sums is not None
    assert np.array_equal(sums, pulls_of(rows)[rows.finished].sum(axis=0))


def test_sums_are_made_in_parts_that_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many replications there are, and whatever block is asked for."""
    whole = run("arm_pulls_sum")
    monkeypatch.setattr("rai_sim.simulation.arm_pulls._MOST_IN_PART", 30)
    parts: list[int] = []

    def noting(*given: Any) -> Any:
        parts.append(given[-1] - given[-2])
        return run_part(*given)

    from rai_sim.simulation.parts import run_part

    monkeypatch.setattr("rai_sim.simulation.simulate.run_part", noting)
    assert run("arm_pulls_sum", block_size=40) == whole
    assert max(parts) == 3
    assert sum(parts) == 40


@pytest.mark.slow
def test_processes_send_them_back() -> None:
    """By replication and as sums."""
    import joblib

    with joblib.parallel_config("loky"):
        for keep in ("arm_pulls", "arm_pulls_sum"):
            assert run(keep, n_jobs=2, block_size=5) == run(keep)


def test_results_with_them_are_merged() -> None:
    """Rows to rows; rows and sums to sums; those without to none but their like."""
    whole, sums = run("arm_pulls"), run("arm_pulls_sum")
    halves = [run("arm_pulls", replications=20, first_replication=at) for at in (20, 0)]
    assert rai.Result.merge(halves) == whole
    second = run("arm_pulls_sum", replications=20, first_replication=20)
    assert halves[1] + second == sums
    with pytest.raises(ValueError, match="1 of 2 results keep pulls by arm and the others do not"):
        halves[1] + run(replications=20, first_replication=20)


@pytest.mark.parametrize("keep", ["arm_pulls", "arm_pulls_sum"])
def test_they_are_saved_and_read(keep: str, tmp_path: Path) -> None:
    """With the result."""
    result = run(keep)
    result.save(tmp_path / "a.parquet")
    assert rai.load_result(tmp_path / "a.parquet") == result


def test_frames_have_them() -> None:
    """As lists, there and back; what does not add up is no column of pulls by arm."""
    result = run("arm_pulls")
    frame = result.to_frame()
    assert frame["arm_pulls"].dtype == pl.List(pl.Int64)
    again = rai.Result.from_frame(
        frame.reverse(), PROBLEM, rai.Vanilla(), delta=0.1, max_pulls=42_000
    )
    assert again == result
    for wrong in ([1] * 10, [1, 2]):
        torn = frame.with_columns(arm_pulls=pl.Series([wrong] * 40))
        with pytest.raises(ValueError, match="column 'arm_pulls' must hold 10 numbers a row"):
            rai.Result.from_frame(torn, PROBLEM, rai.Vanilla(), delta=0.1, max_pulls=42_000)


def test_by_arm_tells_of_each_arm() -> None:
    """Sums, means, shares and standard errors of the finished replications; of sums no errors."""
    result = run("arm_pulls")
    rows = pulls_of(result)[result.finished]
    frame = result.by_arm()
    assert frame["pulls_sum"].to_list() == rows.sum(axis=0).tolist()
    assert frame["pulls_mean"].to_list() == pytest.approx(rows.mean(axis=0).tolist())
    assert frame["pulls_standard_error"].to_list() == pytest.approx(
        (rows.std(axis=0, ddof=1) / np.sqrt(len(rows))).tolist()
    )
    assert frame["share"].sum() == pytest.approx(1.0)
    assert frame["cluster"].to_list() == (PROBLEM.cluster_of + 1).tolist()
    summed = run("arm_pulls_sum").by_arm()
    assert summed.drop("pulls_standard_error").equals(frame.drop("pulls_standard_error"))
    assert summed["pulls_standard_error"].null_count() == 10
    idle = arm_rows(PROBLEM, np.zeros(10, np.int64), 5, None)
    assert (idle["share"].null_count(), idle["pulls_mean"].sum()) == (10, 0.0)
    nothing = arm_rows(PROBLEM, np.zeros(10, np.int64), 0, None)
    assert nothing["share"].null_count() == nothing["pulls_mean"].null_count() == 10
    with pytest.raises(ValueError, match="the result keeps no pulls by arm; run it with keep="):
        run().by_arm()


def test_shapes_are_checked() -> None:
    """One row a replication, one number an arm."""
    result = run("arm_pulls")
    with pytest.raises(ValueError, match=r"^arm_pulls has shape \(39, 10\) but"):
        replace(result, arm_pulls=pulls_of(result)[1:])
    with pytest.raises(ValueError, match=r"^arm_pulls_sum has shape \(9,\) but"):
        replace(result, arm_pulls_sum=np.zeros(9, np.int64))
    assert not pulls_of(result).flags.writeable


def test_what_to_keep_is_checked() -> None:
    """An unknown word, and more numbers than are kept by replication, of which the message says how
    many there may be."""
    assert check_keep(None, 10**9, 10**6) is None
    assert check_keep("arm_pulls_sum", 10**9, 10**6) == "arm_pulls_sum"
    with pytest.raises(ValueError, match=r"^keep is 'rows'; choose None, 'arm_pulls'"):
        check_keep("rows", 1, 1)
    with pytest.raises(ValueError, match=r"^keep is \['arm_pulls'\]"):
        check_keep(["arm_pulls"], 1, 1)
    million = rai.best_arm(rai.Bernoulli(np.linspace(0.1, 0.9, 10**6)))
    with pytest.raises(ValueError, match="take 'arm_pulls_sum', or at most 268 as replications"):
        rai.simulate(million, rai.Vanilla(), keep="arm_pulls")
    assert most_in_part("arm_pulls_sum", 10**6) == 4
    assert most_in_part("arm_pulls_sum", 10**9) == 1


def test_sums_beyond_64_bits_are_refused() -> None:
    """Not written down wrong: neither as parts nor together."""
    yes = np.array([True, True])
    large = np.full((2, 1), 1 << 61)
    assert added(None, large, yes).tolist() == [1 << 62]
    with pytest.raises(OverflowError, match="keep is 'arm_pulls_sum', but the pulls of all"):
        added(added(None, large, yes), large, yes)
    with pytest.raises(OverflowError, match="2\\^63 or more"):
        added(None, 2 * large, yes)
    with pytest.raises(OverflowError, match="2\\^63 or more"):
        total_of([np.array([1 << 62]), np.array([1 << 62])])
    assert sums_of(run()) is None


def test_an_algorithm_that_does_not_write_them_is_told_of() -> None:
    """Not filled with zeros."""

    class Mute(rai.Vanilla):
        def run_block(self, law: Any, setting: Any, first: int, block: Any) -> None:
            super().run_block(law, setting, first, block)
            block.arm_pulls[:] = 0

    try:
        with pytest.raises(ValueError, match="keeps no pulls by arm: its run_block does not write"):
            run("arm_pulls", algorithm=Mute())
        with pytest.raises(ValueError, match=r"^algorithm .*Mute"):
            check_written("Mute", np.zeros((1, 2), np.int64), np.ones(1, np.int64))
        check_written("Mute", np.ones((1, 2), np.int64), np.array([2]))
    finally:
        ALGORITHMS.pop("mute", None)
