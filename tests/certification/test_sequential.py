"""The test: what it says of algorithms of known error, of ours, and that nothing but the seed
decides."""

from typing import Any

import joblib
import pytest
from coins import Coin, decided

import rai_sim as rai
from rai_sim.certification import sequential
from rai_sim.certification.outcome import ABOVE, BELOW, OPEN, Certification, Seen
from rai_sim.certification.sequential import CertificationInterrupted

TABLE = {"table": rai.table_problem()}
SEVERAL = {f"task {task}": rai.table_problem(task) for task in range(1, 6)}


def counts(found: Certification) -> list[tuple[int, int, int, str]]:
    """Return what was seen on each instance."""
    return [(row.replications, row.errors, row.capped, row.finding) for row in found.rows]


# Of known error
# --------------------------------------------------------------------------------------------------


def test_no_errors_pass_soon() -> None:
    """Every instance is clear after the same number of replications, of which nothing is said."""
    found = rai.certify(Coin(), 0.1, problems=SEVERAL, seed=0)
    assert (found.verdict, found.passed) == ("no violation above delta found", True)
    assert {row.finding for row in found.rows} == {BELOW}
    assert len({row.replications for row in found.rows}) == 1
    assert max(row.high for row in found.rows) == found.limit < 0.1
    assert found.rows[0].replications < 110


def test_far_too_many_errors_are_found_at_once() -> None:
    """After the first look at the first instance; with keep_going at all of them."""
    found = rai.certify(Coin(error=0.5), 0.1, problems=SEVERAL, seed=0)
    assert found.verdict == "not delta-PC"
    assert not found.passed
    assert [row.finding for row in found.rows] == [ABOVE] + [OPEN] * 4
    assert [row.replications for row in found.rows] == [32, 0, 0, 0, 0]
    assert found.rows[0].low > 0.1
    every = rai.certify(Coin(error=0.5), 0.1, problems=SEVERAL, seed=0, keep_going=True)
    assert [row.finding for row in every.rows] == [ABOVE] * 5
    assert len(every.violations) == 5


@pytest.mark.parametrize(("delta", "found"), [(0.1, 0.98), (0.01, 0.96)])
def test_what_one_of_27_instances_does(delta: float, found: float) -> None:
    """With the looks, the budget and the level that they have, exactly: at delta an alarm is so
    rare that of 27 it is rarer than alpha by far; of half as much again nearly all are found."""
    level, looks = 0.01 / 27, list(sequential._looks(round(200 / delta)))

    def above(ones: int, tosses: int) -> bool:
        return Seen(tosses, ones).finding(delta, level) == ABOVE

    def below(ones: int, tosses: int) -> bool:
        return Seen(tosses, ones).finding(delta, level) == BELOW

    assert 27 * decided(delta, looks, above, below)[0] < 0.0008
    assert decided(1.5 * delta, looks, above, below)[0] > found
    assert decided(1.5 * delta, looks, above, below)[1] < 1e-6
    assert decided(0.5 * delta, looks, above, below)[1] > 0.999


@pytest.mark.slow
def test_false_alarms_at_exactly_delta_are_rarer_than_alpha() -> None:
    """Of 200 tests at alpha = 20 %: more than 56 alarms have probability 0.003 if it were so many;
    half as much error again is found in nearly all: the control."""
    alarms, found = (
        sum(
            bool(
                rai.certify(
                    Coin(error=error), 0.1, problems=TABLE, seed=seed, alpha=0.2, replications=1000
                ).violations
            )
            for seed in range(200)
        )
        for error in (0.1, 0.15)
    )
    assert alarms <= 56
    assert found >= 180


def test_the_budget_ends_what_is_not_clear() -> None:
    """At exactly delta nothing can be said; the limit reached is above delta."""
    found = rai.certify(Coin(error=0.1), 0.1, problems=TABLE, seed=1, replications=777)
    assert counts(found) == [(777, found.rows[0].errors, 0, OPEN)]
    assert found.verdict == "no violation above delta found"
    assert not found.passed
    assert found.rows[0].low < 0.1 < found.limit


def test_capped_replications_are_read_both_ways() -> None:
    """As right where a violation is to be shown, as wrong where it is to be excluded: neither is,
    though nobody was seen to err."""
    found = rai.certify(Coin(capped=0.3), 0.1, problems=TABLE, seed=0, replications=500)
    (row,) = found.rows
    assert row.errors == 0
    assert row.capped > 100
    assert (row.low, row.finding) == (0.0, OPEN)
    assert row.high > 0.3
    assert found.verdict == "no violation above delta found"
    both = rai.certify(Coin(error=0.4, capped=0.3), 0.1, problems=TABLE, seed=0)
    assert both.violations[0].errors / both.violations[0].replications == pytest.approx(
        0.4, abs=0.3
    )


def test_of_the_pulls_those_above_the_bound_count() -> None:
    """The same test of another claim: a coin that is capped has passed the bound."""
    found = rai.certify(Coin(capped=0.4), 0.1, problems=TABLE, claim="pulls", seed=0)
    assert found.verdict == "Theorem 2 is violated"
    assert found.rows[0].errors > 0
    assert found.rows[0].capped == 0
    assert found.rows[0].max_pulls == int(rai.bounds.vanilla(rai.table_problem(), 0.1)) + 10
    assert rai.certify(Coin(error=0.4), 0.1, problems=TABLE, claim="pulls", seed=0).passed


# Of ours
# --------------------------------------------------------------------------------------------------

#: The kinds that are tried in seconds.
QUICK = ("clusters of one", "equal means: top pair", "opening: best of five", "drawn")


def quick(delta: float) -> dict[str, rai.Problem]:
    """Return some of the ready-made instances, at wider gaps."""
    found = rai.hard_problems(delta, pulls=20_000)
    return {name: problem for name, problem in found.items() if name.startswith(QUICK)}


@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_lucb_as_printed_is_caught(delta: float) -> None:
    """On the first instance, from the first look on."""
    found = rai.certify(rai.LUCB(as_printed=True), delta, seed=0)
    (row,) = found.violations
    assert found.verdict == "not delta-PC"
    assert (row.instance, row.replications) == ("clusters of one: second of five", 32)
    assert row.low > delta


@pytest.mark.parametrize("algorithm", [rai.Vanilla(), rai.Butterscotch(), rai.LUCB()])
def test_ours_pass(algorithm: rai.Vanilla) -> None:
    """At wide gaps; `scripts/verify.py --only certify` has all instances."""
    found = rai.certify(algorithm, 0.1, problems=quick(0.1), seed=0)
    assert found.passed
    assert sum(row.capped for row in found.rows) == 0


@pytest.mark.parametrize("algorithm", [rai.Vanilla(), rai.Butterscotch()])
def test_theorems_2_and_3_hold(algorithm: rai.Vanilla) -> None:
    """On the same instances."""
    assert rai.certify(algorithm, 0.1, problems=quick(0.1), claim="pulls", seed=0).passed


# Of nothing but the seed
# --------------------------------------------------------------------------------------------------


@pytest.mark.landing
def test_workers_and_backends_change_nothing() -> None:
    """The looks are fixed beforehand."""
    problems = {"a": rai.table_problem(1), "b": rai.table_problem(3)}
    options: dict[str, Any] = {"problems": problems, "seed": 5, "keep_going": True}
    one = rai.certify(rai.LUCB(as_printed=True), 0.1, **options)
    assert counts(one) == counts(rai.certify(rai.LUCB(as_printed=True), 0.1, n_jobs=2, **options))
    with joblib.parallel_config("threading"):
        many = rai.certify(rai.LUCB(as_printed=True), 0.1, n_jobs=None, **options)
    assert counts(one) == counts(many)
    other = rai.certify(Coin(error=0.1), 0.1, problems=TABLE, seed=6, replications=200)
    assert counts(other) != counts(
        rai.certify(Coin(error=0.1), 0.1, problems=TABLE, seed=7, replications=200)
    )


def test_what_is_counted_is_what_simulate_gives() -> None:
    """With the seed, all replications from the first on, and the cap that is told."""
    problem = rai.table_problem(2)
    found = rai.certify(rai.LUCB(as_printed=True), 0.1, problems={"x": problem}, seed=3)
    (row,) = found.rows
    result = rai.simulate(
        problem,
        rai.LUCB(as_printed=True),
        delta=0.1,
        replications=row.replications,
        seed=3,
        max_pulls=row.max_pulls,
    )
    assert row.errors == int((result.finished & ~result.correct).sum()) > 0
    assert row.capped == int((~result.finished).sum())


def test_a_seed_that_is_drawn_is_told() -> None:
    """And gives the same again."""
    found = rai.certify(Coin(error=0.05), 0.1, problems=TABLE, replications=100)
    again = rai.certify(Coin(error=0.05), 0.1, problems=TABLE, replications=100, seed=found.seed)
    assert counts(found) == counts(again)


@pytest.mark.parametrize("most", [1, 31, 32, 33, 100, 12_345])
def test_looks_rise_to_the_budget(most: int) -> None:
    """Each a quarter later, the last one at the budget."""
    looks = list(sequential._looks(most))
    assert looks == sorted(set(looks))
    assert looks[-1] == most
    assert looks[0] == min(most, 32)


# Ctrl-C and slips
# --------------------------------------------------------------------------------------------------


def test_ctrl_c_leaves_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The statements hold whenever one stops."""
    calls = []

    def interrupted(*arguments: Any, **options: Any) -> rai.Result:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return rai.simulate(*arguments, **options)

    monkeypatch.setattr(sequential, "simulate", interrupted)
    with pytest.raises(CertificationInterrupted) as caught:
        rai.certify(Coin(), 0.1, problems=SEVERAL, seed=0)
    found = caught.value.result
    assert found.interrupted
    assert [row.replications for row in found.rows] == [32, 32, 0, 0, 0]
    assert "INTERRUPTED" in str(found)


def test_progress_ends_where_the_test_does(capsys: pytest.CaptureFixture[str]) -> None:
    """Replications that were run, and how many instances are clear; on the error stream."""
    found = rai.certify(Coin(), 0.1, problems=SEVERAL, seed=0, progress=True)
    done = sum(row.replications for row in found.rows)
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"100 %, {done}/{done} replications, 5 of 5 instances are clear" in last


STRICT = rai.Problem(rai.Gaussian([0.5, 0.1], sd=0.6), (1, 1), (1, 0), strict=False)
RECORDED = rai.best_arm(rai.Recorded([[1, 0, 1, 1], [0, 0, 1, 0]]))
WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"problems": [rai.table_problem()]}, TypeError, "problems is .* give instances by name"),
    ({"problems": {}}, ValueError, "problems is empty"),
    ({"problems": {"x": 3}}, TypeError, r"problems\['x'\] is 3"),
    ({"problems": {3: rai.table_problem()}}, TypeError, r"problems\[3\] has no name"),
    ({"problems": {"x": STRICT}}, ValueError, r"problems\['x'\] .* sd is 0\.6"),
    ({"problems": {"x": RECORDED}}, ValueError, "Recorded arms, the same rewards in every"),
    ({"claim": "rounds"}, ValueError, "claim is 'rounds'"),
    ({"alpha": 0.0}, ValueError, "alpha is 0.0; it must be a probability"),
    ({"alpha": "1"}, TypeError, "alpha"),
    ({"replications": 0}, ValueError, "replications is 0"),
    ({"max_pulls": 0}, ValueError, "max_pulls is 0"),
    ({"keep_going": 1}, TypeError, "keep_going is 1"),
    ({"seed": -1}, ValueError, "seed is -1"),
    ({"n_jobs": 0}, ValueError, "n_jobs is 0"),
    ({"progress": 1}, TypeError, "progress must be"),
    ({"skip_error": 1.0}, ValueError, "skip_error is 1.0"),
    ({"delta": 1.0}, ValueError, "delta is 1.0"),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG)
def test_slips(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """Before anything is run."""
    given: dict[str, Any] = {"problems": TABLE, "seed": 0}
    with pytest.raises(error, match=message):
        rai.certify(Coin(), **(given | options))


def test_an_algorithm_that_is_none() -> None:
    """As in `simulate`."""
    with pytest.raises(TypeError, match="algorithm must be an algorithm"):
        rai.certify(rai.Vanilla)  # type: ignore[arg-type]
