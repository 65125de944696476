"""Traces: simulate's numbers, events and states that fit together, clear errors. The algorithms'
own tests compare them with the twin."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import Arms
from rai_sim.tracing.trace import Trace

ALL = [
    kind(switch) for kind in (rai.Vanilla, rai.Butterscotch, rai.LUCB) for switch in (False, True)
]


def random_case(
    rng: np.random.Generator, kind: type[Algorithm]
) -> tuple[rai.Problem, Algorithm, dict[str, Any]]:
    """Return a problem of any kind, an algorithm's options and simulate's arguments, at random."""
    n = int(rng.integers(1, 12))
    means = rng.choice(np.arange(1, 20), n, replace=False) / 20.0
    law = rng.integers(3)
    arms: Arms = rai.Bernoulli(means) if law < 2 else rai.Gaussian(means)
    borders = np.flatnonzero(rng.random(n - 1) < rng.choice([0.2, 0.5, 1.0])) + 1
    clusters = np.diff([0, *borders.tolist(), n])
    required = [int(rng.integers(0, c + 1)) for c in clusters]
    if not any(required):
        required[0] = 1
    # each of the three has one switch
    algorithm = kind(bool(rng.integers(2)))  # type: ignore[call-arg]
    options = {
        "delta": float(rng.choice([0.2, 0.05, 0.01])),
        "seed": int(rng.integers(1 << 40)),
        "skip_error": float(rng.choice([0.0, 1e-12])),
        "max_pulls": int(rng.integers(1, 5000)) if rng.random() < 0.2 else None,
    }
    return rai.Problem(arms, clusters.tolist(), required), algorithm, options


@pytest.mark.parametrize("kind", [rai.Vanilla, rai.Butterscotch, rai.LUCB])
def test_a_trace_is_simulates_replication(kind: type[Algorithm]) -> None:
    """200 random cases of each algorithm: pulls, rounds, representatives, whatever states are asked
    for; a few of them capped."""
    rng = np.random.default_rng(len(kind.__name__))
    capped = 0
    for case in range(200):
        problem, algorithm, options = random_case(rng, kind)
        index = int(rng.integers(1 << 40))
        rounds = [None, [1], np.arange(1, 300), rng.integers(1, 10**6, 50)][case % 4]
        trace = rai.trace(problem, algorithm, replication=index, rounds=rounds, **options)
        result = rai.simulate(
            problem, algorithm, replications=1, first_replication=index, **options
        )
        assert trace.result == result
        check(trace)
        assert not result.finished[0] or trace.representatives == tuple(
            result.representatives[0].tolist()
        )
        capped += not result.finished[0]
    assert 10 < capped < 60


def check(trace: Trace) -> None:
    """What must hold of every trace."""
    run, problem = trace.result, trace.problem
    N, S = problem.n_arms, len(trace.rounds)
    assert (
        trace.means.shape
        == trace.radii.shape
        == trace.arm_pulls.shape
        == trace.active.shape
        == (S, N)
    )
    assert (np.diff(trace.rounds) > 0).all()
    assert (np.diff(trace.pulls) >= 0).all()
    assert (trace.arm_pulls.sum(axis=1) == trace.pulls).all()
    assert (np.diff(trace.arm_pulls, axis=0) >= 0).all()
    settled = {event.arm: event for event in trace.events if event.arm is not None}
    rounds = [event.round for event in trace.events]
    assert rounds == sorted(rounds)
    for k, R in enumerate(trace.rounds.tolist()):
        for arm in range(N):
            assert trace.active[k, arm] == (arm not in settled or settled[arm].round >= R)
            if not trace.active[k, arm]:  # frozen as it was settled
                event = settled[arm]
                assert (trace.means[k, arm], trace.arm_pulls[k, arm]) == (
                    event.mean,
                    event.arm_pulls,
                )
                assert trace.radii[k, arm] == pytest.approx(event.radius, rel=1e-14)
    if run.rounds[0] > 0:  # at a cap, too
        assert (trace.rounds[-1], trace.pulls[-1]) == (run.rounds[0], run.pulls[0])
    if run.finished[0]:
        assert trace.events[-1].round == run.rounds[0]
        assert trace.events[-1].pulls == run.pulls[0]
    if isinstance(problem.arms, rai.Bernoulli):
        ones = trace.means * trace.arm_pulls
        assert np.allclose(ones, ones.round(), atol=1e-6)


@pytest.mark.parametrize("algorithm", ALL, ids=str)
def test_radii_are_the_definitions(algorithm: Algorithm) -> None:
    """Of every state, by the formula of the paper written anew."""
    trace = rai.trace(rai.table_problem(4), algorithm, 0.05, 3, 1)
    N, delta = 10, 0.05
    for k, R in enumerate(trace.rounds.tolist()):
        for arm in np.flatnonzero(trace.active[k]).tolist():
            n = int(trace.arm_pulls[k, arm])
            expected = {
                "Vanilla": math.sqrt(math.log(math.pi**2 * R**2 * N / (3 * delta)) / (2 * R)),
                "Butterscotch": 2.0 ** -(R + 2) / 2,
                "LUCB": math.sqrt(math.log(math.pi**2 * R**3 * N / (3 * delta)) / (2 * n)),
            }[type(algorithm).__name__]
            assert trace.radii[k, arm] == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_states_in_the_middle_of_words_have_the_right_law() -> None:
    """Bernoulli rewards at round 37, inside the first word of 64: binomial, chi-square at
    false-alarm rate 1e-6; another p is noticed."""
    problem = rai.best_arm(rai.Bernoulli([0.7, 0.3]))
    p = {0: 0.7, 1: 0.3}
    ones = np.empty((3000, 2))
    for index in range(3000):
        trace = rai.trace(problem, rai.Vanilla(), 0.01, 1, index, rounds=[37])
        assert trace.rounds[0] == 37
        ones[index] = trace.means[0] * 37
    for arm, mean in p.items():
        assert _chi_square(ones[:, arm], 37, mean) > 1e-6
        assert _chi_square(ones[:, arm], 37, mean + 0.03) < 1e-6
    assert abs(float(np.asarray(np.corrcoef(ones.T))[0, 1])) < 5.0 / math.sqrt(3000)


def _chi_square(ones: np.ndarray[Any, Any], n: int, p: float) -> float:
    law = stats.binom(n, p)
    low, high = int(law.ppf(0.01)), int(law.ppf(0.99))
    cells = np.clip(ones.round(), low, high)
    observed = [int((cells == x).sum()) for x in range(low, high + 1)]
    expected = [law.cdf(low), *(law.pmf(x) for x in range(low + 1, high)), law.sf(high - 1)]
    return float(stats.chisquare(observed, np.array(expected) * len(ones)).pvalue)


@pytest.mark.parametrize(
    "algorithm", [rai.Vanilla(), pytest.param(rai.LUCB(), marks=pytest.mark.slow)], ids=str
)
def test_categorical_means_are_rewards(algorithm: Algorithm) -> None:
    """Kernels see lattice steps; a trace tells rewards, close to the true means after many
    pulls."""
    arms = rai.Categorical(
        [0.1, 0.4, 0.7, 1.0], [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]]
    )
    trace = rai.trace(rai.full_ranking(arms), algorithm, 0.01, 0)
    assert abs(trace.means[-1] - arms.means).max() < 0.06
    check(trace)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [rai.Vanilla(), rai.Butterscotch(), rai.LUCB()], ids=str)
def test_a_thousand_arms(algorithm: Algorithm) -> None:
    """All arms' pulls add up, also where a kernel looks at few of them."""
    problem = rai.top(
        rai.Bernoulli(np.concatenate([np.linspace(0.8, 0.95, 10), np.linspace(0.05, 0.4, 990)])), 3
    )
    trace = rai.trace(problem, algorithm, 0.1, 0)
    assert (trace.arm_pulls.sum(axis=1) == trace.pulls).all()
    assert trace.pulls[-1] == trace.result.pulls[0]
    assert abs(trace.means[-1, :3] - problem.arms.means[:3]).max() < 0.2


def test_states_are_dense() -> None:
    """Of the first 1,000 rounds of Bernoulli arms, every one that is asked for is there."""
    for algorithm in (rai.Vanilla(), rai.LUCB()):
        trace = rai.trace(rai.table_problem(2), algorithm, 0.01, 0, rounds=np.arange(1, 1001))
        assert np.isin(np.arange(1, 400), trace.rounds).mean() > (
            0.99 if algorithm == rai.Vanilla() else 0.5
        )


def test_a_capped_run_tells_what_it_saw() -> None:
    """Finished False, no representatives in the result, but those that had been found in the
    trace."""
    full = rai.trace(rai.table_problem(2), rai.Vanilla(), 0.01, 0, 3)
    capped = rai.trace(rai.table_problem(2), rai.Vanilla(), 0.01, 0, 3, max_pulls=7000)
    assert not capped.result.finished[0]
    assert capped.representatives == full.representatives[:2]
    assert capped.events == tuple(event for event in full.events if event.pulls <= 7000)
    none = rai.trace(rai.table_problem(2), rai.LUCB(), 0.01, 0, 3, max_pulls=9)
    assert (len(none.rounds), none.events, none.means.shape) == (0, (), (0, 10))


def test_a_capped_run_ends_with_the_state_that_it_recommends_by() -> None:
    """Also where it was stopped in the middle of rounds that are made without a look, and only later
    rounds were asked for; without a round there is no state."""
    problem = rai.best_arm(rai.Gaussian([0.59, 0.5, 0.48, 0.04], sd=0.001))
    for cap in (7, 48, 49, 400):
        for rounds in (None, [12], [10**6]):
            trace = rai.trace(problem, rai.Vanilla(), 1e-5, max_pulls=cap, rounds=rounds)
            assert (trace.rounds[-1], trace.pulls[-1]) == (cap // 4, cap // 4 * 4)
            assert (trace.arm_pulls[-1] == cap // 4).all()
            assert trace.result.recommended is not None
            assert trace.result.recommended[0, 0] == np.argmax(trace.means[-1])
    assert abs(trace.means[-1] - problem.arms.means).max() < 0.001
    for algorithm in (rai.Vanilla(), rai.Butterscotch(), rai.LUCB()):
        assert len(rai.trace(problem, algorithm, max_pulls=3).rounds) == 0


def test_caps_near_the_largest_count_are_kept() -> None:
    """LUCB's rounds are counted in integers: two arms stop at 2^61 or just before, not beyond."""
    result = rai.simulate(
        rai.best_arm(rai.Bernoulli([0.5 + 1e-8, 0.5])),
        rai.LUCB(),
        replications=2,
        seed=0,
        max_pulls=2**61,
    )
    assert (result.pulls <= 2**61).all()


def test_frames_and_words() -> None:
    """Frames have every event and every state; the texts name arms."""
    trace = rai.trace(rai.table_problem(2), rai.Vanilla(), 0.01, 0, 3)
    events, states = trace.events_frame(), trace.to_frame()
    assert len(events) == len(trace.events)
    assert states.shape == (trace.means.size, 7)
    assert events["representative"].sum() == 3
    assert str(trace.events[0]) == "clusters 2+3 merged"
    assert "WRONG" not in trace.headline()
    assert repr(trace).startswith(
        "Trace(Vanilla(merging=True), delta 0.01, seed 0, replication 3: 45,612 pulls"
    )
    many = rai.trace(rai.top(rai.Bernoulli(np.linspace(0.1, 0.9, 6)), 2), rai.Vanilla(), 0.1, 0)
    assert {event.where for event in many.events} >= {"cluster 1"}
    ranks = rai.Problem(rai.Bernoulli(np.linspace(0.9, 0.1, 5)), (1,) * 5, (1, 0, 0, 0, 0))
    assert rai.trace(ranks, rai.Vanilla(), 0.1, 0).events[2].where == "clusters 2-5"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rounds": [0, 5]}, ValueError, r"rounds is \[0, 5\]; give rounds from 1 on"),
        ({"rounds": []}, ValueError, "rounds is"),
        ({"rounds": [[1], [2]]}, ValueError, "rounds is"),
        ({"rounds": [2**63]}, ValueError, r"up to 2\^62"),
        ({"rounds": [2**62 + 1]}, ValueError, r"up to 2\^62"),
        ({"rounds": [1.5]}, TypeError, "rounds is"),
        ({"rounds": "many"}, TypeError, "rounds is 'many'"),
        ({"replication": -1}, ValueError, "replication is -1"),
        ({"replication": 1.0}, TypeError, "replication"),
        ({"delta": 2.0}, ValueError, "delta is 2.0"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"max_pulls": 0}, ValueError, "max_pulls"),
    ],
)
def test_bad_arguments(options: dict[str, Any], error: type[Exception], words: str) -> None:
    """Name, value, remedy."""
    with pytest.raises(error, match=words):
        rai.trace(rai.table_problem(), rai.Vanilla(), **options)


def test_a_trace_that_changed_the_numbers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard itself can fail."""
    names = rai.trace.__globals__
    real = names["run_with_history"]
    monkeypatch.setitem(
        names,
        "run_with_history",
        lambda experiment, replication, rounds: real(experiment, replication + 1, rounds),
    )
    with pytest.raises(RuntimeError, match="tracing changed the replication"):
        rai.trace(rai.table_problem(), rai.Vanilla())


def test_html_of_many_events_is_cut() -> None:
    """A notebook shows 200."""
    page = rai.trace(
        rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, 300))), rai.Butterscotch(), 0.5
    )._repr_html_()
    assert page.count("<tr>") == 201
    assert "... and 100 more events" in page


def test_html_of_a_trace_escapes_names() -> None:
    """A movie's name is text."""
    arms = rai.Bernoulli([0.9, 0.1]).with_names(["<b>Heat</b>", "Alien & co"])
    page = rai.trace(rai.best_arm(arms), rai.Vanilla(), 0.1)._repr_html_()
    assert "&lt;b&gt;Heat&lt;/b&gt; settled in cluster 1, representative" in page
    assert "<b>Heat" not in page


@pytest.mark.slow
def test_traces_of_many_arms_keep_few_states() -> None:
    """Unasked, that is: ten of 64 rounds of 400,000 arms; as many as are asked for, and the end."""
    problem = rai.top(rai.Bernoulli(np.repeat([0.8, 0.2], 200_000)), 200_000)
    options: dict[str, Any] = {"seed": 1, "max_pulls": 64 * 400_000}
    trace = rai.trace(problem, rai.Vanilla(), 0.01, **options)
    assert trace.rounds.tolist() == [1, 2, 3, 4, 6, 10, 16, 25, 40, 64]
    assert trace.means.shape == trace.arm_pulls.shape == (10, 400_000)
    assert len(repr(trace)) < 200
    assert len(trace._repr_html_()) < 2000
    asked = rai.trace(problem, rai.Vanilla(), 0.01, rounds=[1, 2, 3, 5, 8, 13, 21], **options)
    assert asked.rounds.tolist() == [1, 2, 3, 5, 8, 13, 21, 64]


def test_events_of_many_arms_are_those_of_their_states() -> None:
    """10,000 arms, 2,000 settled in a round: each once, by round, representatives first; means,
    radii and pulls are those of its last check."""
    problem = rai.top(rai.Bernoulli(np.repeat([0.9, 0.5, 0.1], [3000, 4000, 3000])), 3000)
    trace = rai.trace(problem, rai.Butterscotch(), 0.01, seed=3)
    settled = [event for event in trace.events if event.arm is not None]
    arms = [event.arm for event in settled if event.arm is not None]
    assert len(set(arms)) == len(arms) > 6000
    assert [event.round for event in trace.events] == sorted(event.round for event in trace.events)
    assert sum(event.representative for event in settled) == 3000
    assert [event.mean for event in settled] == trace.means[-1, arms].tolist()
    assert [event.radius for event in settled] == trace.radii[-1, arms].tolist()
    assert [event.arm_pulls for event in settled] == trace.arm_pulls[-1, arms].tolist()
