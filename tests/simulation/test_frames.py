"""Results from frames: the inverse of `to_frame`, and what cannot be one, by its column."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import rai_sim as rai
from rai_sim.simulation.frames import check_rows, named_frame, rows_of

PROBLEM = rai.table_problem(task=2)
RULE = rai.Butterscotch()


@pytest.fixture(scope="module")
def result() -> rai.Result:
    """Return replications with a gap, of which none errs."""
    parts = [rai.simulate(PROBLEM, RULE, replications=4, first_replication=k) for k in (0, 9)]
    return rai.Result.merge(parts)


def test_the_inverse_of_to_frame(result: rai.Result) -> None:
    """In any order, lazily, as arrays, with other columns and of other integers; the defaults are
    those of `simulate`."""
    frame = result.to_frame()
    forms: list[Any] = [
        frame,
        frame.reverse(),
        frame.lazy(),
        frame.with_columns(pl.lit("table").alias("instance")),
        frame.cast({"pulls": pl.UInt32, "replication": pl.Int16}),
        frame.with_columns(pl.col("representatives").list.to_array(3)),
    ]
    for form in forms:
        assert rai.Result.from_frame(form, PROBLEM, RULE) == result
    assert result.ranges == ((0, 4), (9, 13))
    some = rai.Result.from_frame(frame.filter(pl.col("replication") > 2), PROBLEM, RULE)
    assert some.ranges == ((3, 4), (9, 13))
    assert some.pulls.tolist() == result.pulls[3:].tolist()


def test_wrong_and_capped_outputs() -> None:
    """The printed LUCB errs; a cap leaves replications unfinished; another delta, seed and
    skip_error."""
    options: dict[str, Any] = {"delta": 0.3, "seed": 5, "skip_error": 0.0, "max_pulls": 60_000}
    rule, problem = rai.LUCB(as_printed=True), rai.table_problem(task=2)
    result = rai.simulate(problem, rule, replications=60, **options)
    assert not result.finished.all()
    assert not result.correct[result.finished].all()
    frame = result.to_frame()
    assert rai.Result.from_frame(frame, problem, rule, **options) == result
    assert rai.Result.from_frame(frame, problem, rule, **options | {"delta": 0.2}) != result


def test_what_finished_ones_recommend_is_what_they_name() -> None:
    """Anything else in that column is refused; without the column nothing is kept."""
    result = rai.simulate(PROBLEM, RULE, replications=4, max_pulls=10**7)
    assert result.finished.all()
    frame, cap = result.to_frame(), {"max_pulls": 10**7}
    assert rai.Result.from_frame(frame, PROBLEM, RULE, **cap).recommended is not None
    bare = rai.Result.from_frame(frame.drop("recommended"), PROBLEM, RULE, **cap)
    assert bare.recommended is None
    other = frame.with_columns(pl.col("recommended").list.reverse())
    with pytest.raises(ValueError, match=r"^frame: column 'recommended' holds \[.*what it names"):
        rai.Result.from_frame(other, PROBLEM, RULE, **cap)


@pytest.mark.parametrize("wrong", [[0, 0, 5], [-1, -1, -1], [0, 1, -1]], ids=str)
def test_what_is_recommended_at_a_cap_are_arms_each_once(wrong: list[int]) -> None:
    """An arm twice, or none, is refused of replications that the cap ended, too."""
    result = rai.simulate(PROBLEM, RULE, replications=2, max_pulls=100)
    assert not result.finished.any()
    frame = result.to_frame()
    other = frame.with_columns(recommended=pl.Series([frame["recommended"][0].to_list(), wrong]))
    with pytest.raises(
        ValueError, match=r"^frame: column 'recommended' holds \[.*leave the column"
    ):
        rai.Result.from_frame(other, PROBLEM, RULE, max_pulls=100)


def test_rows_of_a_study(tmp_path: Any, result: rai.Result) -> None:
    """Of one task; of two they are refused."""
    study = rai.Study.grid([PROBLEM], [RULE], [0.1, 0.01], replications=4)
    rows = study.run(tmp_path / "study").rows()
    whole = rai.Result.from_frame(rows.filter(pl.col("delta") == 0.01), PROBLEM, RULE)
    assert whole.pulls.tolist() == result.pulls[:4].tolist()
    with pytest.raises(ValueError, match=r"'replication' holds 0 twice; .* one experiment a frame"):
        rai.Result.from_frame(rows, PROBLEM, RULE)


CHANGES: dict[str, tuple[Any, str]] = {
    "no column": (pl.exclude("rounds"), "has no column 'rounds' among replication, pulls"),
    "text": (pl.col("pulls").cast(pl.String), "column 'pulls' is of type String; .* integers"),
    "floats": (pl.col("rounds").cast(pl.Float64), "column 'rounds' is of type Float64"),
    "numbers": (pl.col("correct").cast(pl.Int8), "column 'correct' is of type Int8; .* true and"),
    "one arm": (
        pl.col("representatives").list.first(),
        "column 'representatives' is of type Int32; it must hold lists of arms",
    ),
    "null": (
        pl.when(pl.col("replication") != 9).then(pl.col("pulls")).alias("pulls"),
        "column 'pulls' has no value in row 4; fill it in",
    ),
    "null switch": (pl.lit(None, pl.Boolean).alias("finished"), "column 'finished' has no value"),
    "negative": (-pl.col("pulls"), "column 'pulls' holds -.*; it must hold integers from 0 on"),
    "twice": (pl.col("replication") % 9, "column 'replication' holds 0 twice"),
    "too few": (
        pl.col("representatives").list.head(2),
        r"'representatives' holds 2 arms at replication 0, but problem asks for 3: required=\(3, ",
    ),
    "null arm": (
        pl.col("representatives").list.eval(
            pl.when(pl.element() > 0).then(pl.element()).otherwise(None)
        ),
        "column 'representatives' holds an entry without a value; problem has arms 0 to 9",
    ),
    "no arm": (
        pl.col("representatives").list.eval(pl.element() + 9),
        "column 'representatives' holds 1[01]; problem has arms 0 to 9",
    ),
    "an arm twice": (
        pl.lit([2, 0, 2], pl.List(pl.Int32)).alias("representatives"),
        r"column 'representatives' holds \[2, 0, 2\] at replication 0, an arm twice",
    ),
    "wrong": (
        ~pl.col("correct"),
        r"column 'correct' says False of replication 0, which names arms \[.*\]; on problem that "
        "is True",
    ),
    "not finished": (
        ~pl.col("finished"),
        r"column 'finished' says False of replication 0, whose representatives are \[.*\]; those",
    ),
    "none named": (
        pl.col("representatives").list.eval(pl.element() * 0 - 1),
        "column 'finished' says True of replication 0, whose representatives are",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_no_result(result: rai.Result, change: str) -> None:
    """The message names the column."""
    expression, said = CHANGES[change]
    frame = result.to_frame()
    frame = frame.select(expression) if change == "no column" else frame.with_columns(expression)
    with pytest.raises((TypeError, ValueError), match=f"^frame.*{said}") as caught:
        rai.Result.from_frame(frame, PROBLEM, RULE)
    assert getattr(caught.value, "argument", None) == "frame"


def test_other_arguments(result: rai.Result) -> None:
    """Another problem and a cap below the pulls are found out; pandas is told how."""
    frame = result.to_frame()
    with pytest.raises(ValueError, match="beyond max_pulls=100; give the cap"):
        rai.Result.from_frame(frame, PROBLEM, RULE, max_pulls=100)
    turned = rai.Problem(rai.Bernoulli(PROBLEM.arms.means[::-1]), (3, 5, 2), (3, 0, 0))
    with pytest.raises(ValueError, match="give the problem that the frame was made of"):
        rai.Result.from_frame(frame, turned, RULE)
    with pytest.raises(TypeError, match="frame is of type dict; give a polars frame"):
        rai.Result.from_frame({}, PROBLEM, RULE)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="seed is None; give the seed"):
        rai.Result.from_frame(frame, PROBLEM, RULE, seed=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="frame has no rows"):
        rai.Result.from_frame(frame.clear(), PROBLEM, RULE)


def test_what_is_named(result: rai.Result) -> None:
    """Once a replication each; `Result.named` is that frame."""
    rows = rows_of(result.to_frame(), PROBLEM)
    check_rows(rows, PROBLEM, None)
    assert np.array_equal(rows.representatives, result.representatives)
    frame = named_frame(result)
    assert frame.equals(result.named())
    assert frame["times"].sum() == 3 * 8
