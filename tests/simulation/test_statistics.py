"""The statistics of a run against plain NumPy and scipy, and exactly where doubles lose digits."""

import math
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import rai_sim as rai
from rai_sim.simulation.columns import COLUMNS, Found, Statistic, quantile_key
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.intervals import student_interval
from rai_sim.simulation.statistics import NOTHING, QUANTILES, Aggregate, Sums, quantiles_of, rank_of

PROBLEM = rai.table_problem(task=3)
EXPERIMENT = Experiment(PROBLEM, rai.Vanilla(), 0.01, 7, 1e-12, 5_000)


def columns_of(pulls: list[int], wrong: int = 0, capped: int = 0) -> tuple[NDArray[Any], ...]:
    """Return columns of given pulls, the last `capped` not finished, the first `wrong` wrong."""
    many, place = np.array(pulls, np.int64), np.arange(len(pulls))
    finished = place < len(pulls) - capped
    return many, many // 2, finished & (place >= wrong), finished


def found_of(pulls: list[int], wrong: int = 0, capped: int = 0, **more: Any) -> Found:
    """Return the row of replications."""
    some = columns_of(pulls, wrong, capped)
    return Found(EXPERIMENT, Sums.of(*some), quantiles_of(some[0][some[3]]), **more)


def test_the_deviation_of_nothing_is_no_share_of_it() -> None:
    """0 over 0 is 0 here, as all replications are alike; NaN of a single one."""
    some, none, one = (Sums.of(*columns_of(pulls)) for pulls in ([1, 3], [0, 0], [5]))
    assert some.relative_deviation == pytest.approx(math.sqrt(2.0) / 2.0)
    assert none.relative_deviation == 0.0
    assert math.isnan(one.relative_deviation)


# On known data -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "wrong", "capped"), [(2, 0, 0), (3, 1, 0), (40, 3, 7), (5_000, 90, 1)]
)
def test_statistics_are_those_of_numpy_and_scipy(n: int, wrong: int, capped: int) -> None:
    """Everything that sums tell, over the finished replications."""
    pulls = np.random.default_rng(n).lognormal(7.0, 1.0, n).astype(np.int64) + 1
    found, seen = found_of(pulls.tolist(), wrong, capped), pulls[: n - capped]
    k = len(seen)
    exact = stats.binomtest(wrong, k).proportion_ci(0.95, method="exact")
    low, high = stats.t.interval(0.95, k - 1, loc=seen.mean(), scale=stats.sem(seen))
    expected = {
        "replications": n,
        "finished": k,
        "pulls_mean": seen.mean(),
        "pulls_standard_deviation": seen.std(ddof=1),
        "pulls_standard_error": stats.sem(seen),
        "pulls_mean_low_95": low,
        "pulls_mean_high_95": high,
        "relative_half_width_95": (high - low) / 2 / seen.mean(),
        "rounds_mean": (seen // 2).mean(),
        "errors": wrong,
        "error_rate": wrong / k,
        "error_rate_low_95": exact.low,
        "error_rate_high_95": exact.high,
        "error_exceeds_delta": exact.low > 0.01,
        **{
            quantile_key(share): np.quantile(seen, share, method="inverted_cdf")
            for share in QUANTILES
        },
    }
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-11, abs=1e-15), key
    assert found["pulls_interval"] == (found["pulls_mean_low_95"], found["pulls_mean_high_95"])
    assert found["error_interval"] == (found["error_rate_low_95"], found["error_rate_high_95"])


def test_bounds_and_what_was_run_stand_beside_them() -> None:
    """Theorem 1 always, the algorithm's own bound if it has one, and the experiment's arguments."""
    found = found_of([10, 20])
    assert found["lower_bound_pulls"] == rai.bounds.lower(PROBLEM, 0.01)
    tight = rai.bounds.at_delta(PROBLEM, 0.01)
    assert found["tight_bound_pulls"] == found["lower_bound"] == tight.pulls
    assert found["tight_bound_conditions"] == tight.conditions
    assert found["upper_bound"] == (found["upper_bound_theorem"], found["upper_bound_pulls"])
    assert found["upper_bound"] == ("Theorem 2", rai.bounds.vanilla(PROBLEM, 0.01))
    lucb = replace(found, experiment=replace(EXPERIMENT, algorithm=rai.LUCB()))
    assert (lucb["upper_bound_theorem"], lucb["upper_bound_pulls"]) == (None, None)
    expected = {
        "algorithm": "Vanilla(merging=True)",
        "delta": 0.01,
        "seed": "7",
        "skip_error": 1e-12,
        "max_pulls": 5_000,
        "law": "Bernoulli",
        "n_arms": 10,
        "clusters": [3, 5, 2],
        "required": list(PROBLEM.required),
        "bottleneck_gap_reward": PROBLEM.bottleneck_gap,
    }
    assert {key: found[key] for key in expected} == expected


def test_an_interval_that_is_given_takes_the_place_of_students() -> None:
    """Where the number of replications followed from what was seen."""
    found = found_of([90, 100, 110], stopped_interval=(80.0, 120.0))
    assert found["pulls_interval"] == (80.0, 120.0)
    assert found["relative_half_width_95"] == 0.2
    assert found_of([90, 100, 110])["pulls_interval"] == student_interval(
        100.0, 10 / math.sqrt(3), 3
    )


def test_facts_are_those_that_are_given() -> None:
    """What nobody gave is missing; of a key that no column has the error names those there are."""
    assert found_of([1], facts={"instance": "two arms"})["instance"] == "two arms"
    with pytest.raises(KeyError, match="instance"):
        found_of([1])["instance"]
    with pytest.raises(
        ValueError,
        match=r"^there is no column 'mean'; choose among instance, algorithm, delta, pulls_mean",
    ):
        found_of([1])["mean"]


def test_summaries_and_frames_of_studies_say_the_same(tmp_path: Path) -> None:
    """To the bit, whatever a field and a column are called; quantiles to within a bin."""
    grid = rai.Study.grid(
        [PROBLEM], [rai.Vanilla(), rai.Butterscotch()], [0.1], replications=50, max_pulls=60_000
    )
    results = grid.run(tmp_path / "store")
    for task, row in zip(results.tasks, results.summary().iter_rows(named=True), strict=True):
        e = task.experiment
        summary = rai.simulate(
            e.problem, e.algorithm, delta=e.delta, replications=50, seed=e.seed, max_pulls=60_000
        ).summary()
        keys = {
            field.name: field.metadata["column"]
            for field in fields(summary)
            if "column" in field.metadata
        }
        shared = {name: key for name, key in keys.items() if key in row}
        assert {
            "mean",
            "standard_error",
            "mean_rounds",
            "errors",
            "error_rate",
            "finished",
            "lower_bound",
            "tight_bound",
        } <= set(shared)
        assert {name: getattr(summary, name) for name in shared} == {
            name: row[key] for name, key in shared.items()
        }
        for name in ("interval", "error_interval"):
            assert getattr(summary, name) == COLUMNS[keys[name]].value(row)
        for share, value in summary.quantiles.items():
            assert row[quantile_key(share)] == pytest.approx(value, rel=1 / 512)
        assert summary.quantiles[1.0] == row["pulls_most"]


# Exactness ---------------------------------------------------------------------------------------


def exact_variance(pulls: list[int]) -> Fraction:
    """Return the variance with n - 1, in fractions."""
    mean = Fraction(sum(pulls), len(pulls))
    return sum(((pull - mean) ** 2 for pull in pulls), Fraction(0)) / (len(pulls) - 1)


large = st.lists(st.integers(2**62 - 2_000, 2**62), min_size=2, max_size=50)


@given(large)
def test_nothing_is_lost_near_the_end_of_the_counters(pulls: list[int]) -> None:
    """The mean is the double nearest to the true one, the deviation right to a rounding or two."""
    found = found_of(pulls)
    assert found["pulls_mean"] == float(Fraction(sum(pulls), len(pulls)))
    assert found["rounds_mean"] == float(Fraction(sum(pull // 2 for pull in pulls), len(pulls)))
    variance = exact_variance(pulls)
    assert found["pulls_standard_deviation"] == pytest.approx(
        math.sqrt(variance), rel=4e-16, abs=0.0
    )
    assert found["pulls_standard_error"] == pytest.approx(
        math.sqrt(variance / len(pulls)), rel=1e-15, abs=0.0
    )
    assert found["pulls_most"] == max(pulls)


def test_negative_control_doubles_lose_that_deviation() -> None:
    """NumPy's, of numbers one apart near 2^62, is 0; the exact one is 1."""
    pulls = [2**62 - 3, 2**62 - 2, 2**62 - 1]
    assert np.std(pulls, ddof=1) == 0.0
    assert found_of(pulls)["pulls_standard_deviation"] == 1.0
    some = columns_of(pulls)
    assert (Aggregate.of(*some) + Aggregate.of(*some)).standard_deviation == math.sqrt(12 / 15)


def test_aggregates_are_sums_with_a_histogram() -> None:
    """Of the same columns all sums are the same, and so is every statistic of both."""
    some = columns_of([5, 600, 2**40, 2**61, 9], wrong=1, capped=1)
    sums, aggregate = Sums.of(*some), Aggregate.of(*some)
    assert all(
        getattr(aggregate, field.name) == getattr(sums, field.name) for field in fields(Sums)
    )
    found = Found(EXPERIMENT, sums, {})
    again = replace(found, sums=aggregate)
    for key in (
        "pulls_mean",
        "pulls_standard_error",
        "rounds_mean",
        "error_rate",
        "error_interval",
        "pulls_interval",
    ):
        assert found[key] == again[key]
    assert aggregate.counts.sum() == sums.finished == 4


@given(st.lists(st.integers(1, 10**6) | st.integers(2**61, 2**62), min_size=1, max_size=80))
def test_quantiles_are_numpys_inverted_distribution_function(pulls: list[int]) -> None:
    """The same numbers, as the integers they are."""
    many = np.array(pulls)
    found = quantiles_of(many)
    assert list(found) == list(QUANTILES)
    assert list(found.values()) == np.quantile(many, QUANTILES, method="inverted_cdf").tolist()
    assert many.tolist() == pulls  # nothing was sorted in place


@given(st.integers(1, 10_000), st.floats(0.0, 1.0))
def test_a_quantile_is_the_first_number_that_enough_do_not_exceed(n: int, share: float) -> None:
    """Enough is n times the share, as doubles have it, and one at least."""
    rank = rank_of(share, n)
    assert 1 <= rank <= n
    assert rank >= share * n
    assert rank == 1 or rank - 1 < share * n


# Too little --------------------------------------------------------------------------------------

#: What needs one finished replication, and what needs two.
NEEDS_ONE = (
    "pulls_mean",
    "rounds_mean",
    "error_rate",
    "error_rate_low_95",
    "error_rate_high_95",
    *map(quantile_key, QUANTILES),
)
NEEDS_TWO = (
    "pulls_standard_error",
    "pulls_standard_deviation",
    "pulls_mean_low_95",
    "pulls_mean_high_95",
    "relative_half_width_95",
)


@pytest.mark.parametrize("capped", [0, 3])
def test_of_no_finished_replication_nothing_is_known(capped: int) -> None:
    """Without any, and where all were capped: counts are 0, all else is NaN, nothing is above
    delta."""
    found = found_of([5_000] * capped, capped=capped)
    assert (found["replications"], found["finished"], found["errors"]) == (capped, 0, 0)
    assert all(math.isnan(found[key]) for key in NEEDS_ONE + NEEDS_TWO)
    assert found["error_exceeds_delta"] is False
    assert Sums.of(*columns_of([])) == Sums(0, 0, 0, 0, 0, 0, 0, 0)
    assert Aggregate.of(*columns_of([])) == NOTHING


def test_of_one_replication_there_is_no_spread() -> None:
    """A mean, quantiles and a rate; no standard error, no interval of the mean."""
    found = found_of([1_234], wrong=1)
    assert all(math.isnan(found[key]) for key in NEEDS_TWO)
    assert not any(math.isnan(found[key]) for key in NEEDS_ONE)
    assert found["pulls_mean"] == 1_234.0
    assert set(found.quantiles.values()) == {1_234}
    assert found["error_interval"] == pytest.approx((0.025, 1.0))


@pytest.mark.parametrize(("n", "shown"), [(0, "n/a"), (1, "n/a"), (2, "-543.6 to 1,744")])
def test_what_is_not_known_is_shown_as_such(n: int, shown: str) -> None:
    """In every format of numbers and shares, by the columns that are shown."""
    found = found_of([510, 690][:n])
    assert COLUMNS["pulls_interval"].cell(found).text == shown
    assert {COLUMNS[key].cell(found).text == "n/a" for key in NEEDS_ONE} == {n == 0}
    assert {COLUMNS[key].cell(found).text == "n/a" for key in NEEDS_TWO} == {n < 2}


# Single rules ------------------------------------------------------------------------------------


def test_each_statistic_has_one_rule() -> None:
    """A column is computed, or made of columns that are; none has two ways."""
    for column in COLUMNS:
        assert isinstance(column, Statistic) is (column.get is None), column.key
