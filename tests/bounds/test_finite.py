"""Bounds at a given delta: formulas, their limits, runs of every algorithm, and one that would
break the naive formula; practical lines against their definitions."""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np
import pytest
from scipy.integrate import quad

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.bounds import asymptotic, at_delta, degenne_koolen, practical, search
from rai_sim.bounds.finite import _choices, _log_answers, _nats, _nats_of_long_runs
from rai_sim.problem import Problem


def kl(p: float, q: float) -> float:
    """Return the divergence of two Bernoulli laws."""
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-9])
@pytest.mark.parametrize("task", [2, 4])
def test_one_right_answer(task: int, delta: float) -> None:
    """kl(delta, 1 - delta) / D."""
    problem = rai.table_problem(task=task)
    bound = at_delta(problem, delta, "gaussian")
    assert bound.nats == pytest.approx(kl(delta, 1.0 - delta), rel=1e-6)
    assert bound.pulls == pytest.approx(bound.nats * degenne_koolen(problem).value)
    assert (bound.answers, bound.reason) == (1, "one answer")


@pytest.mark.parametrize(("task", "choices", "answers"), [(1, 3, 3), (3, 4, 30), (5, 2, 2)])
def test_several_right_answers(task: int, choices: int, answers: int) -> None:
    """kl of the share that some arms of an answer must have, more than that of the likeliest of
    all answers."""
    bound = at_delta(rai.table_problem(task=task), 0.01, "gaussian")
    assert bound.nats == pytest.approx(kl(0.99 / choices, 0.01), rel=1e-9)
    assert bound.nats >= kl(0.99 / answers, 0.01) * (1.0 - 1e-12)
    assert (bound.answers, bound.reason) == (answers, "shares of answers")
    assert f"{answers} right answers" in bound.conditions


def test_guessing_may_be_enough() -> None:
    """Four arms, any of the best three: named at random one is wrong with probability 1/4."""
    problem = rai.one_of_top(rai.Bernoulli([0.5, 0.5, 0.5, 0.4]), 3)
    bound = at_delta(problem, 0.25)
    assert (bound.pulls, bound.nats, bound.reason) == (0.0, 0.0, "nothing")
    assert at_delta(problem, 0.24).pulls > 0.0
    assert at_delta(rai.table_problem(task=2), 0.5).pulls == 0.0
    assert at_delta(rai.best_arm(rai.Bernoulli([0.5])), 0.01).pulls == 0.0


def test_the_plain_formula_is_beaten_where_answers_are_several() -> None:
    """Any of the best three of four, delta a little below 1/4: guess, but for a small share of
    runs, which Vanilla decides at 0.001. That is delta-PC on every instance, and its mean is below
    kl(delta, 1 - delta) / D by far; the bound that counts answers holds."""
    problem = rai.one_of_top(rai.Bernoulli([0.55, 0.55, 0.55, 0.35]), 3)
    delta, careful = 0.2499, 0.001
    guessed = (delta - careful) / (0.25 - careful)
    assert guessed * 0.25 + (1.0 - guessed) * careful <= delta
    runs = rai.simulate(problem, rai.Vanilla(), delta=careful, replications=200, seed=1)
    mean = (1.0 - guessed) * runs.summary().mean
    plain = kl(delta, 1.0 - delta) * degenne_koolen(problem, "bernoulli").value
    assert mean < 0.5 * plain
    assert 0.0 < at_delta(problem, delta).pulls <= mean


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if ALGORITHMS[name].of_the_paper else [pytest.mark.slow])
        for name in sorted(ALGORITHMS)
    ],
)
@pytest.mark.parametrize("task", [1, 2, 3, 4, 5])
def test_no_algorithm_is_below(name: str, task: int) -> None:
    """Bernoulli arms, one right answer and several, delta 0.2 and 0.01: 40 runs; means lie so far
    above that no luck matters."""
    algorithm = ALGORITHMS[name]()
    for delta in (0.2, 0.01):
        problem = rai.table_problem(task=task)
        found = rai.simulate(problem, algorithm, delta=delta, replications=40, seed=task).summary()
        assert found.mean - 6.0 * found.standard_error > at_delta(problem, delta).pulls


@pytest.mark.parametrize("answers", [1.0, 3.0, 30.0, 1e30])
def test_long_runs_are_the_integral_and_reach_the_limit(answers: float) -> None:
    """The closed form is below the integral, close to it, and near ln(1/delta) in the end."""
    shares = []
    for delta in (1e-20, 1e-100, 1e-300):
        log = -math.log(delta)

        def sure(u: float) -> float:
            root = math.sqrt(log) - math.sqrt(u)  # noqa: B023
            return max(1.0 - delta - 2.0 * answers * math.exp(-root * root), 0.0)  # noqa: B023

        exact, _ = quad(sure, 0.0, log, limit=500)
        found = _nats_of_long_runs(delta, math.log(answers))
        assert found <= exact * (1.0 + 1e-9)
        assert found >= exact - 0.7 * math.sqrt(log) - 1.0
        assert found <= log
        shares.append(found / log)
    assert shares == sorted(shares)
    assert shares[-1] > (0.8 if answers < 100 else 0.4)
    assert _nats_of_long_runs(0.2, math.log(answers)) == 0.0


def test_tiny_delta() -> None:
    """To the least double: nats stay just below ln(1/delta); all of them are finite."""
    for task in range(1, 6):
        for delta in (1e-100, 1e-300, 5e-324):
            for family in ("gaussian", "bernoulli"):
                bound = at_delta(rai.table_problem(task=task), delta, family)
                assert 0.24 * -math.log(delta) - 2.0 < bound.nats <= -math.log(delta)
                assert math.isfinite(bound.pulls)
    assert _nats(1e-300, 1) == pytest.approx(-math.log(1e-300), rel=1e-12)


def test_a_million_arms_have_answers_that_can_be_counted() -> None:
    """In logarithms."""
    means = np.linspace(0.9, 0.1, 1_000_000)
    problem = Problem(rai.Bernoulli(means), (300_000, 700_000), (150_000, 3))
    assert _choices(problem) == 699_998
    half = 300_000 * math.log(2.0) - 0.5 * math.log(math.pi * 150_000)
    three = math.log(700_000 * 699_999 * 699_998 / 6)
    assert _log_answers(problem) == pytest.approx(half + three, rel=1e-9)
    assert _nats_of_long_runs(1e-300, _log_answers(problem)) == 0.0


def test_conditions_tell_where_a_bound_may_be_much_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of 625 answers is not searched for."""
    monkeypatch.setattr(search, "BOXES_AN_ARM", 0)
    monkeypatch.setattr(asymptotic, "_known", OrderedDict())
    means = np.linspace(0.9, 0.1, 20)
    bound = at_delta(Problem(rai.Bernoulli(means), (5,) * 4, (1,) * 4), 0.01)
    told = bound.conditions.removeprefix(
        "at this delta, Bernoulli arms, 625 right answers, known to "
    )
    assert float(told.removesuffix(" %")) == pytest.approx(100.0 * bound.tight.gap, rel=0.05)
    assert "known" not in at_delta(rai.table_problem(), 0.01).conditions


def test_the_family_is_that_of_the_arms() -> None:
    """Bernoulli arms are known to be such; others count as Gaussian."""
    means = [0.9, 0.5, 0.1]
    assert at_delta(rai.best_arm(rai.Bernoulli(means)), 0.1).tight.family == "bernoulli"
    assert at_delta(rai.best_arm(rai.Gaussian(means)), 0.1).tight.family == "gaussian"
    own = at_delta(rai.best_arm(rai.Gaussian(means)), 0.1)
    assert own.own
    assert own.conditions == "at this delta, Gaussian arms of sd 1/2, one right answer"


def test_other_laws_are_said_to_be_others() -> None:
    """Of narrower Gaussian arms, levels, or by another family: a bound as for those of the family."""
    levels = rai.Categorical([0.0, 1.0], [[0.1, 0.9], [0.5, 0.5]])
    for arms in (rai.Gaussian([0.9, 0.5], sd=0.05), levels):
        bound = at_delta(rai.best_arm(arms), 0.1)
        assert not bound.own
        assert bound.conditions.startswith("at this delta, as for Gaussian arms of sd 1/2, ")
    assert not at_delta(rai.table_problem(), 0.1, "gaussian").own


def test_the_unproven_line_solves_its_equation() -> None:
    """t D = ln((1 + ln t) / delta), with the D of the arms' laws unless another is asked for."""
    for family in ("gaussian", "bernoulli"):
        problem = rai.table_problem(task=3)
        t = practical(problem, 0.01, "gk16-unproven", family)
        d = 1.0 / degenne_koolen(problem, family).value
        assert t * d == pytest.approx(math.log((1.0 + math.log(t)) / 0.01), rel=1e-9)
    assert practical(problem, 0.01, "gk16-unproven") == t


def test_the_line_of_widths_of_two_arms() -> None:
    """The gap is twice the radius ln(2 pi^2 n^2 / (3 delta)) / (2 n) under the root, n = t / 2."""
    t = practical(rai.best_arm(rai.Bernoulli([0.6, 0.4])), 0.01, "paper")
    n = t / 2.0
    radius = math.sqrt(math.log(2.0 * math.pi**2 * n * n / 0.03) / (2.0 * n))
    assert 2.0 * radius == pytest.approx(0.2, rel=1e-6)


def test_the_line_of_pairs_of_two_arms() -> None:
    """One pair: A / 4 gap^2 = ln(1 / delta) + ln((v + rho) / rho)."""
    t = practical(rai.best_arm(rai.Bernoulli([0.6, 0.4])), 0.01, "pairs")
    log = math.log(1.0 / 0.02)
    rho = 7.5 / (2.0 * log + math.log(1.0 + 2.0 * log))
    v = t / 8.0
    left = (t / 2.0) ** 2 / (v + rho) / 4.0 * 0.2**2
    assert left == pytest.approx(math.log(100.0) + math.log((v + rho) / rho), rel=1e-6)


def test_pairs_are_those_of_clusters_that_can_be_told_apart() -> None:
    """Neighbours that are asked for nothing count as one: fewer pairs, fewer pulls."""
    means = [0.9, 0.5, 0.45, 0.1]
    one = practical(Problem(rai.Bernoulli(means), (1, 3), (1, 0)), 0.01)
    three = practical(Problem(rai.Bernoulli(means), (1, 1, 1, 1), (1, 0, 0, 0)), 0.01)
    assert one == three


@pytest.mark.parametrize("task", [1, 2, 3, 4, 5])
def test_lines_lie_above_the_bound_and_in_order(task: int) -> None:
    """The bound, the unproven threshold, the proven ones."""
    problem = rai.table_problem(task=task)
    for delta in (0.1, 0.01, 1e-100):
        lines = [
            at_delta(problem, delta, "gaussian").pulls,
            practical(problem, delta, "gk16-unproven", "gaussian"),
            practical(problem, delta, "pairs"),
            practical(problem, delta, "paper"),
        ]
        assert lines == sorted(lines)


def test_extremes_of_lines() -> None:
    """One cluster: nothing; the least gap: no end."""
    for threshold in ("pairs", "paper", "gk16-unproven"):
        assert practical(rai.best_arm(rai.Bernoulli([0.5])), 0.1, threshold) == 0.0
        tiny = rai.best_arm(rai.Gaussian([5e-324, 0.0]))
        assert practical(tiny, 0.1, threshold) == math.inf
        small = rai.best_arm(rai.Gaussian([1e-100, 0.0]))
        assert 1e200 < practical(small, 0.1, threshold) < math.inf
        assert practical(rai.best_arm(rai.Gaussian([1e40, 0.0])), 0.1, threshold) < 100.0


@pytest.mark.parametrize("delta", [0.45, 0.5, 0.6, 0.9, 0.999])
def test_the_line_of_pairs_of_one_pair_at_a_large_delta(delta: float) -> None:
    """ln(P / (2 delta)) is 0 or less there, but the mixture still needs a rho."""
    t = practical(rai.best_arm(rai.Bernoulli([0.6, 0.4])), delta, "pairs")
    rho = 7.5 / (1.0 + math.log(2.0))
    v = t / 8.0
    left = (t / 2.0) ** 2 / (v + rho) / 4.0 * 0.2**2
    assert left == pytest.approx(math.log(1.0 / delta) + math.log((v + rho) / rho), rel=1e-6)


def test_an_oracle_pulls_a_far_arm_once() -> None:
    """Not so often that its share of all pulls, a billionth, is a pull or more."""
    near, far = ([0.0, -0.1, -0.3], [0.0, -0.1, -1e4])
    for threshold in ("pairs", "paper"):
        two, three, apart = (
            practical(rai.best_arm(rai.Gaussian(means)), 0.01, threshold)
            for means in ([0.0, -0.1], near, far)
        )
        assert two < apart < three


def test_refusals() -> None:
    """Wrong arguments are named."""
    with pytest.raises(ValueError, match=r"delta is 0; it must be .* between 0 and 1"):
        at_delta(rai.table_problem(), 0)
    with pytest.raises(TypeError, match=r"problem is 3 of type int"):
        at_delta(3, 0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"problem is 3 of type int"):
        practical(3, 0.1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"threshold is 'best'; choose 'pairs', 'paper' or"):
        practical(rai.table_problem(), 0.1, "best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"threshold is array\(.*; choose 'pairs', 'paper' or"):
        practical(rai.table_problem(), 0.1, np.array(["pairs", "paper"]))  # type: ignore[arg-type]
