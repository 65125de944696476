"""Results built by hand: what they refuse, how they merge, and statistics against independent
ones."""

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rai_sim
from rai_sim import LUCB, Bernoulli, Vanilla, simulate
from rai_sim.problem import table_problem, top
from rai_sim.simulation.result import Experiment, Result

EXPERIMENT = Experiment(table_problem(task=3), Vanilla(), 0.01, 7, 1e-12, 5_000)
ARRAYS = ("pulls", "rounds", "correct", "finished", "representatives")


def made(*ranges: tuple[int, int], experiment: Experiment = EXPERIMENT, **changes: Any) -> Result:
    """Return a result whose every row is a function of its replication alone."""
    index = np.concatenate([np.arange(start, stop) for start, stop in ranges]).astype(np.int64)
    width = sum(experiment.problem.required)
    finished = index % 5 != 3
    columns: dict[str, Any] = {
        "pulls": 1_000 + (index * 7_919) % 4_001,
        "rounds": index + 1,
        "correct": finished & (index % 7 != 1),
        "finished": finished,
        "representatives": np.where(finished[:, None], index[:, None] + np.arange(width), -1),
    }
    return Result(experiment, ranges, **(columns | {"seconds": 0.5} | changes))


def test_properties_come_from_the_experiment_and_the_ranges() -> None:
    """Adjacent ranges are joined; the index is ascending; parts of the experiment are at hand."""
    result = made((2, 4), (4, 9), (20, 21))
    assert result.ranges == ((2, 9), (20, 21))
    assert result.replications == 8
    assert result.replication_index.tolist() == [2, 3, 4, 5, 6, 7, 8, 20]
    assert result.replication_index.dtype == np.int64
    assert (result.problem, result.algorithm) == (EXPERIMENT.problem, Vanilla())
    assert (result.delta, result.seed) == (0.01, 7)
    assert (
        repr(result)
        == "Result(Vanilla(merging=True), delta=0.01, seed=7, replications=8, finished=6)"
    )


def test_arrays_are_read_only_but_the_callers_stay_writable() -> None:
    """A result protects its rows without taking the caller's array away."""
    pulls = np.array([3, 4], np.int64)
    result = made((0, 2), pulls=pulls)
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(result, name)[0] = 0
    pulls[0] = 5


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_the_wrong_length_is_refused(name: str) -> None:
    """The message names the array and both shapes."""
    short = getattr(made((0, 3)), name)
    with pytest.raises(ValueError, match=rf"{name} has shape \(3.*need \(4.*one row a replication"):
        made((0, 4), **{name: short})


def test_representatives_need_one_column_for_each_that_is_required() -> None:
    """The problem asks for four; three columns are refused."""
    with pytest.raises(ValueError, match=r"representatives has shape \(2, 3\).*need \(2, 4\)"):
        made((0, 2), representatives=np.zeros((2, 3), np.int32))


@pytest.mark.parametrize("ranges", [((0, 3), (2, 5)), ((4, 5), (0, 2)), ((3, 3),), ((-1, 2),)])
def test_ranges_must_be_ascending_disjoint_and_not_empty(
    ranges: tuple[tuple[int, int], ...],
) -> None:
    """The message shows the range at fault and says what to give."""
    with pytest.raises(
        ValueError, match=r"ranges holds .* give ascending, disjoint, non-empty ranges"
    ):
        Result(EXPERIMENT, ranges, *(getattr(made((0, 2)), name) for name in ARRAYS))


def test_a_result_without_replications_is_refused() -> None:
    """There is nothing to summarise."""
    with pytest.raises(ValueError, match="ranges is empty; a result has at least one replication"):
        Result(EXPERIMENT, (), *(getattr(made((0, 2)), name) for name in ARRAYS))


@given(
    ends=st.lists(st.integers(1, 60), min_size=1, max_size=12, unique=True),
    owners=st.lists(st.integers(0, 3), min_size=12, max_size=12),
)
def test_pieces_in_any_order_merge_to_the_whole(ends: list[int], owners: list[int]) -> None:
    """Cut 0..n into ranges, hand them to up to four results, merge: the rows of the whole, in
    order."""
    ends = sorted(ends)
    pieces: dict[int, list[tuple[int, int]]] = {}
    for start, stop, owner in zip([0, *ends], ends, owners, strict=False):
        pieces.setdefault(owner, []).append((start, stop))
    parts = [made(*ranges) for ranges in pieces.values()]
    whole = made((0, ends[-1]))
    assert Result.merge(parts) == whole
    assert sum(reversed(parts)) == whole


def test_adding_keeps_gaps_and_adds_up_the_time() -> None:
    """The union of ranges with a hole in it; either order."""
    left, right = made((0, 3), (10, 12)), made((5, 8))
    merged = right + left
    assert merged == left + right == made((0, 3), (5, 8), (10, 12))
    assert merged.seconds == 1.0
    assert [getattr(merged, name).dtype for name in ARRAYS] == [
        np.int64,
        np.int64,
        bool,
        bool,
        np.int32,
    ]


def test_overlapping_replications_are_named() -> None:
    """The message tells which replications are in both."""
    with pytest.raises(
        ValueError, match=r"replications 7 to 8 are in two results.*first_replication"
    ):
        made((0, 9)) + made((7, 12))
    with pytest.raises(ValueError, match=r"replications 3 to 3 are in two results"):
        made((0, 9)) + made((3, 4), (20, 30))


OTHERS: dict[str, tuple[Any, str]] = {
    "problem": (table_problem(task=3, instance="printed"), r"problem"),
    "algorithm": (LUCB(), r"algorithm \(Vanilla\(merging=True\) and LUCB\(as_printed=False\)\)"),
    "delta": (0.02, r"delta \(0\.01 and 0\.02\)"),
    "seed": (8, r"seed \(7 and 8\)"),
    "skip_error": (0.0, r"skip_error \(1e-12 and 0\.0\)"),
    "max_pulls": (None, r"max_pulls \(5000 and None\)"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_results_of_another_experiment_are_refused_naming_the_difference(name: str) -> None:
    """Every part of an experiment counts, and the message says which one differs, and how."""
    value, words = OTHERS[name]
    other = replace(EXPERIMENT, **{name: value})
    assert other != EXPERIMENT
    assert other.identity() != EXPERIMENT.identity()
    assert EXPERIMENT.differences(other) == (name,)
    with pytest.raises(ValueError, match=f"cannot merge.*they differ in {words};"):
        made((0, 2)) + made((2, 4), experiment=other)


def test_all_differences_are_named_at_once() -> None:
    """Whoever merges the wrong files wants to know everything that is wrong with them."""
    other = replace(EXPERIMENT, seed=8, delta=0.5)
    with pytest.raises(ValueError, match=r"differ in delta \(0\.01 and 0\.5\), seed \(7 and 8\);"):
        made((0, 2)) + made((2, 4), experiment=other)


def test_merging_nothing_and_adding_other_things_is_refused() -> None:
    """Only sum's starting 0 may be added."""
    with pytest.raises(ValueError, match="results is empty"):
        Result.merge([])
    with pytest.raises(TypeError, match="results holds 3; every entry must be a Result"):
        Result.merge([made((0, 2)), 3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"results is Result.*; give a list of results"):
        Result.merge(made((0, 2)))  # type: ignore[arg-type]
    for other in (1, None, "a"):
        with pytest.raises(TypeError):
            made((0, 2)) + other  # type: ignore[operator]
        with pytest.raises(TypeError):
            other + made((0, 2))  # type: ignore[operator]


def test_results_are_equal_by_content() -> None:
    """A changed row, other replications or another experiment make a difference, time spent does
    not."""
    result = made((0, 6))
    assert result == made((0, 6), seconds=99.0)
    assert result != made((1, 7))
    assert result != made((0, 6), pulls=result.pulls + 1)
    assert result != made((0, 6), experiment=replace(EXPERIMENT, seed=8))
    assert result != "result"
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
    assert pickle.loads(pickle.dumps(result)) == result


def test_frames_have_one_typed_row_a_replication() -> None:
    """Columns, types and values."""
    result = made((0, 2), (8, 10))
    frame = result.to_frame()
    assert frame.schema == {
        "replication": pl.Int64,
        "pulls": pl.Int64,
        "rounds": pl.Int64,
        "correct": pl.Boolean,
        "finished": pl.Boolean,
        "representatives": pl.List(pl.Int32),
    }
    assert frame["replication"].to_list() == [0, 1, 8, 9]
    for name in ARRAYS:
        assert frame[name].to_list() == getattr(result, name).tolist()


@pytest.mark.landing
def test_importing_loads_neither_frames_nor_distributions() -> None:
    """What only some results need is loaded where it is used: the import stays about as fast as
    Numba's."""
    slow = ("polars", "scipy.special", "scipy.stats", "typer", "tqdm")
    code = f"import rai_sim, sys; print(*[name for name in {slow} if name in sys.modules])"
    root = str(Path(rai_sim.__file__).parents[1])
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert found.stdout.strip() == ""


def test_arms_are_named_where_they_have_names() -> None:
    """In the frame of outputs, in the summary and its text; names change neither numbers nor
    identity."""
    arms = Bernoulli([0.2, 0.9, 0.5, 0.85])
    named = arms.with_names(["A", "B", "C", "D"], ids=[11, 12, 13, 14])
    assert named == arms
    plain, result = (
        simulate(top(one, 2), Vanilla(), delta=0.2, replications=60, seed=1)
        for one in (arms, named)
    )
    assert result == plain
    frame = result.named()
    assert frame.columns == ["cluster", "arm", "id", "name", "mean", "times", "share"]
    assert frame["times"].sum() == 2 * np.count_nonzero(result.finished)
    assert frame.filter(frame["name"] == "B").row(0) == (
        1,
        1,
        12,
        "B",
        0.9,
        np.count_nonzero(result.representatives == 1),
        1.0,
    )
    assert plain.named()["name"].to_list()[0] == "arm 1"
    assert plain.named()["id"].null_count() == len(plain.named())
    assert plain.summary().named is None
    assert result.summary().named == {1: ["B", "D"]}
    assert "named most often" not in str(plain.summary())
    assert "named most often  cluster 1: B, D\n" in str(result.summary())
    assert result.summary().to_dict()["named"] == {"1": ["B", "D"]}
    again = pickle.loads(pickle.dumps(named))
    assert (again.names, again.ids, again) == (named.names, named.ids, named)
    bad: list[tuple[Any, Any, str]] = [
        (["A"], None, "names has 1 entries for 4 arms; give one an arm"),
        (["A"] * 4, [1], "ids has 1 entries for 4 arms"),
        ([1] * 4, None, "names holds 1; every entry must be a text"),
    ]
    for names, ids, message in bad:
        with pytest.raises((TypeError, ValueError), match=message):
            arms.with_names(names, ids)


def test_recommendations() -> None:
    """Those that are kept are a column of frames, merge, and are judged by the problem's clusters;
    one result without them equals one with them, and a merge has none then."""
    asked = np.repeat(np.arange(EXPERIMENT.problem.n_clusters), EXPERIMENT.problem.required)
    right = np.array([np.flatnonzero(EXPERIMENT.problem.cluster_of == i)[0] for i in asked])
    wrong = right[::-1].copy() if len(set(asked)) > 1 else (right + 1) % 10

    def kept(*ranges: tuple[int, int]) -> Result:
        bare = made(*ranges)
        named = np.where(bare.replication_index[:, None] % 2 == 0, right, wrong)
        return made(*ranges, recommended=named)

    result = kept((0, 6))
    assert result.recommended_correct.tolist() == (
        (EXPERIMENT.problem.cluster_of[result.recommended] == asked).all(axis=1).tolist()
    )
    assert result.recommended_correct[::2].all()
    assert result.to_frame()["recommended"].to_list()[0] == right.tolist()
    merged = kept((4, 6)) + kept((0, 4))
    assert merged.recommended is not None
    assert np.array_equal(merged.recommended, np.asarray(result.recommended))
    assert kept((4, 6)) != made((4, 6), recommended=np.tile(wrong + 1, (2, 1)))
    without = made((4, 6)) + kept((0, 4))
    assert without.recommended is None
    assert without == result
    assert "recommended" not in without.to_frame().columns
    with pytest.raises(ValueError, match=r"^recommended was not kept in this result; simulate it"):
        without.recommended_correct  # noqa: B018
    with pytest.raises(ValueError, match="recommended has shape"):
        made((0, 2), recommended=np.tile(right, (3, 1)))


def test_without_a_cap_what_was_named_is_recommended() -> None:
    """And no column of its own."""
    result = made((0, 4), experiment=replace(EXPERIMENT, max_pulls=None))
    assert result.recommended is not None
    assert np.array_equal(result.recommended, result.representatives)
    assert "recommended" not in result.to_frame().columns
