"""Statistics of results built by hand, against independent computations; what is said out loud."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rai_sim import LUCB, Bernoulli, Butterscotch, Gaussian, Vanilla, bounds
from rai_sim.problem import Problem, best_arm, table_problem
from rai_sim.simulation.result import Experiment, Result

EXPERIMENT = Experiment(table_problem(task=3), Vanilla(), 0.01, 7, 1e-12, 5_000)


def with_pulls(pulls: list[int], wrong: int = 0, capped: int = 0, **changes: Any) -> Result:
    """Return a result of given pulls, the last `capped` not finished, the first `wrong` with wrong
    output."""
    n = len(pulls)
    finished = np.arange(n) < n - capped
    experiment = replace(EXPERIMENT, **changes)
    return Result(
        experiment,
        ((0, n),),
        np.array(pulls, np.int64),
        np.arange(n),
        finished & (np.arange(n) >= wrong),
        finished,
        np.zeros((n, sum(experiment.problem.required)), np.int32),
        1.25,
    )


@pytest.mark.parametrize("n", [2, 3, 17, 400])
def test_statistics_of_pulls_against_scipy(n: int) -> None:
    """Mean, standard error and Student interval as scipy.stats has them; quantiles by their
    definition."""
    pulls = np.random.default_rng(n).integers(1, 10**6, n).tolist()
    summary = with_pulls(pulls).summary()
    assert summary.mean == pytest.approx(np.mean(pulls), rel=1e-14)
    assert summary.standard_error == pytest.approx(stats.sem(pulls), rel=1e-12)
    expected = stats.t.interval(0.95, n - 1, loc=np.mean(pulls), scale=stats.sem(pulls))
    assert summary.interval == pytest.approx(expected, rel=1e-12)
    for share, value in summary.quantiles.items():
        reached = [x for x in sorted(pulls) if sum(y <= x for y in pulls) >= share * n - 1e-9]
        assert value == reached[0]
    assert list(summary.quantiles) == [0.05, 0.25, 0.5, 0.75, 0.95, 1.0]


@pytest.mark.parametrize(
    ("errors", "n"), [(0, 1), (1, 1), (0, 50), (3, 50), (49, 50), (50, 50), (70, 9_000)]
)
def test_error_interval_against_scipy(errors: int, n: int) -> None:
    """The Clopper-Pearson interval is scipy's exact binomial one."""
    summary = with_pulls([10] * n, wrong=errors).summary()
    exact = stats.binomtest(errors, n).proportion_ci(0.95, method="exact")
    assert (summary.errors, summary.error_rate) == (errors, errors / n)
    assert summary.error_interval == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("errors", "said"), [(0, False), (5, False), (8, True), (100, True)])
def test_an_error_rate_above_delta_is_said_out_loud(errors: int, said: bool) -> None:
    """With delta = 1 % and 300 runs, 7 errors have an interval from 0.94 %, 8 from 1.16 %."""
    summary = with_pulls([10] * 300, wrong=errors).summary()
    low = stats.binomtest(errors, 300).proportion_ci(0.95, method="exact").low
    assert summary.error_exceeds_delta is said is bool(low > 0.01)
    assert ("WARNING: the error rate lies above delta = 0.01" in str(summary)) is said
    assert bool(summary.warnings) is said


def test_capped_replications_are_left_out_and_said_to_bias_the_mean() -> None:
    """Capped ones count neither as right nor as wrong, and pull no statistic."""
    pulls = [100, 200, 300, 5_000, 5_000]
    summary = with_pulls(pulls, wrong=1, capped=2).summary()
    assert (summary.replications, summary.finished) == (5, 3)
    assert (summary.mean, summary.mean_rounds, summary.quantiles[1.0]) == (200.0, 1.0, 300)
    assert (summary.errors, summary.error_rate) == (1, 1 / 3)
    text = str(summary)
    assert "5 replications, 3 finished" in text
    assert "WARNING: 2 of 5 replications stopped at the cap of 5,000 pulls" in text
    assert "over the finished ones only, so the mean is biased low" in text


def test_one_replication_has_no_interval() -> None:
    """Undefined numbers are NaN in Python, n/a in text and null in JSON."""
    summary = with_pulls([1_234]).summary()
    assert summary.mean == 1_234.0
    assert math.isnan(summary.standard_error)
    assert all(map(math.isnan, summary.interval))
    text = str(summary)
    assert "1 replication, all finished" in text
    assert "1,234  (95 % interval n/a, standard error n/a)" in text
    values = summary.to_dict()
    assert values["interval"] == [None, None]
    assert json.loads(json.dumps(values, allow_nan=False)) == values


def test_none_finished() -> None:
    """There is no statistic at all, and no error on the way."""
    summary = with_pulls([5_000, 5_000], capped=2).summary()
    assert summary.finished == summary.errors == 0
    numbers = [
        summary.mean,
        summary.standard_error,
        summary.error_rate,
        *summary.interval,
        *summary.error_interval,
        *summary.quantiles.values(),
        summary.mean_rounds,
    ]
    assert all(map(math.isnan, numbers))
    assert summary.error_exceeds_delta is False
    assert summary.share_above_upper_bound is not None
    assert math.isnan(summary.share_above_upper_bound)
    values = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert values["mean"] is None
    assert set(values["quantiles"].values()) == {None}
    assert "0 of 0: n/a" in str(summary)


UPPER: list[tuple[Any, Callable[[Problem, float], float] | None, str | None]] = [
    (Vanilla(), bounds.vanilla, "Theorem 2"),
    (Butterscotch(merging=False), bounds.butterscotch, "Theorem 3"),
    (LUCB(), None, None),
]


@pytest.mark.parametrize(("algorithm", "upper", "theorem"), UPPER)
def test_bounds_stand_beside_the_numbers(
    algorithm: Any, upper: Callable[[Problem, float], float] | None, theorem: str | None
) -> None:
    """Theorem 1 always; the algorithm's own bound with its name if it has one."""
    summary = with_pulls([10], algorithm=algorithm).summary()
    assert summary.lower_bound == bounds.lower(EXPERIMENT.problem, 0.01)
    assert summary.upper_bound == (None if upper is None else upper(EXPERIMENT.problem, 0.01))
    assert summary.upper_bound_theorem == theorem
    assert "Theorem 1: of the mean, asymptotic" in str(summary)
    tight = bounds.at_delta(EXPERIMENT.problem, 0.01)
    assert (summary.tight_bound, summary.tight_bound_conditions) == (tight.pulls, tight.conditions)
    assert f"(of the mean, {tight.conditions})" in str(summary)
    assert ("upper bound" in str(summary)) is (upper is not None)


def test_share_above_the_upper_bound_allows_one_pull_an_arm() -> None:
    """Rounding may carry Butterscotch past its bound by up to a pull an arm; more is counted."""
    bound = bounds.butterscotch(EXPERIMENT.problem, 0.01)
    pulls = [int(bound), int(bound) + 10, int(bound) + 12, 10 * int(bound)]
    assert with_pulls(pulls, algorithm=Butterscotch()).summary().share_above_upper_bound == 0.5


def test_the_allowance_for_rounding_is_said_where_it_counts() -> None:
    """Of runs that stayed below the bound there is none; of others it stands beside the share."""
    bound, told = bounds.butterscotch(EXPERIMENT.problem, 0.01), []
    for above in (0, 10, 12):
        pulls = [int(bound) + above, int(bound)]
        told.append(str(with_pulls(pulls, algorithm=Butterscotch()).summary()))
    assert "with probability 0.99; 0 % took more)" in told[0]
    assert "0 % took more by over a pull an arm, which rounding may add)" in told[1]
    assert "50 % took more by over a pull an arm, which rounding may add)" in told[2]


def test_words_of_one_and_of_nearly_one() -> None:
    """A cap of one pull, and a delta that rounding would make nothing."""
    text = str(with_pulls([1, 1], capped=1, max_pulls=1, delta=1e-10).summary())
    assert "stopped at the cap of 1 pull; the statistics" in text
    assert "(Theorem 2: with probability 1 - 1e-10; 0 % took more)" in text


def test_theorem_1_says_of_which_laws_it_is() -> None:
    """Gaussian ones whatever the arms are, as sharp as these are said to be."""
    summary = with_pulls([10, 12]).summary()
    assert (
        summary.lower_bound_conditions == "asymptotic (delta -> 0), as for Gaussian arms of sd 1/2"
    )
    assert f"(Theorem 1: of the mean, {summary.lower_bound_conditions})" in str(summary)
    wide = best_arm(Gaussian([3.0, 1.0], sd=2.0, sigma=2.0))
    conditions = with_pulls([10], problem=wide).summary().lower_bound_conditions
    assert conditions == "asymptotic (delta -> 0), Gaussian arms of sd 2"
    loud = Problem(Gaussian([1.0, 0.0], sd=2.0), (1, 1), (1, 0), strict=False)
    assert with_pulls([10], problem=loud).summary().lower_bound_conditions is None


def test_the_tight_bound_of_many_arms_is_left_out() -> None:
    """It would take longer than the run; Theorem 1 stays."""
    problem = best_arm(Bernoulli(np.linspace(0.1, 0.9, 3000)))
    summary = with_pulls([10, 12], problem=problem).summary()
    assert summary.tight_bound is None
    assert summary.tight_bound_conditions is None
    assert "tight" not in str(summary)
    assert summary.lower_bound == bounds.lower(problem, 0.01)


def test_arms_without_guarantee_are_said_out_loud() -> None:
    """A problem built with strict=False tells so, and shows no bound that does not hold."""
    problem = Problem(Gaussian([1.0, 0.0], sd=2.0), (1, 1), (1, 0), strict=False)
    summary = with_pulls([10, 12], problem=problem).summary()
    assert summary.unguarded == "sd is 2.0, more than 0.5"
    assert "WARNING: guarantees and bounds do not hold for these arms: sd is 2.0" in str(summary)
    assert math.isnan(summary.lower_bound)
    assert (summary.tight_bound, summary.upper_bound) == (None, None)
    assert "Theorem" not in str(summary)
    told = Problem(Gaussian([1.0, 0.0], sd=2.0, sigma=2.0), (1, 1), (1, 0))
    summary = with_pulls([10, 12], problem=told).summary()
    rescaled = Problem(Gaussian([0.25, 0.0]), (1, 1), (1, 0))
    assert summary.lower_bound == bounds.lower(rescaled, 0.01)
    assert summary.upper_bound == bounds.vanilla(rescaled, 0.01)
    assert summary.unguarded is None


def test_an_infinite_gap_gives_finite_bounds_and_json() -> None:
    """One cluster: every gap is infinite, one pull an arm is enough."""
    problem = Problem(Bernoulli([0.5, 0.25]), (2,), (1,))
    values = with_pulls([2, 2], problem=problem).summary().to_dict()
    assert (values["lower_bound"], values["upper_bound"]) == (0.0, 2.0)


def test_pulls_near_the_end_of_the_counters_do_not_overflow() -> None:
    """Sums of counters near 2^62 would wrap in int64."""
    pulls = [2**62 - 1, 2**62 - 3, 2**62 - 2]
    summary = with_pulls(pulls).summary()
    assert summary.mean == pytest.approx(2.0**62)
    assert summary.quantiles[0.5] == 2**62 - 2


def test_text_is_aligned() -> None:
    """Labels and values start in the same columns."""
    lines = str(with_pulls([1_000, 2_000]).summary()).splitlines()
    assert lines[0] == "Vanilla(merging=True), delta 0.01, seed 7: 2 replications, all finished"
    for line in lines[1:]:
        assert line[:2] == line[18:20] == "  "
        assert " " not in (line[2], line[20])
    assert lines[1].startswith("  pulls, mean       1,500  (95 % interval ")
    assert "max: 2,000" in lines[2]
