"""Tables of sums: how many rounds have them, whose they are, and the law of what is drawn.

False alarms: 18 comparisons at the level of `statistics_checks`.
"""

from __future__ import annotations

import functools
import math
import threading

import naive
import numpy as np
import pytest
from samples import KEY, Floats, Words, check_both, shifted
from scipy import stats
from statistics_checks import bin_edges, counts_in

import rai_sim as rai
from rai_sim.algorithms.butterscotch import paper, tables
from rai_sim.algorithms.butterscotch.tables import NoTables, Tables, new_tables, pull, tables_of
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.jit import driver
from rai_sim.engine.references import by_reference
from rai_sim.engine.round_robin.run import ACTIVE, PER_ROUND, ROUND, TAKEN, Run, new_run
from rai_sim.engine.streams import replication_stream, shuffle, stream_key, uniform


@driver
def draw_round(given: Tables, run: Run, key: Words, out: Floats) -> None:
    """Fill `out`, replications by arms, with the sums of a round."""
    table, within = by_reference(given), by_reference(run)
    standings = within.race.standings
    state = replication_stream(key, 0, key[2:])
    for b in range(out.shape[0]):
        for x in range(out.shape[1]):
            standings.total[x] = 0.0
        state = pull(table, within, state)
        for x in range(out.shape[1]):
            out[b, standings.order[x]] = standings.total[x]


def made_for(run: Run) -> Tables:
    """Return new tables of a run."""
    made = new_tables(run.race.law, run.race.schedule.pulls, run.race.standings.order.size)
    assert isinstance(made, Tables)
    return made


def run_of(means: list[float], R: int) -> Run:
    """Return a run of Bernoulli arms that has made R - 1 rounds; the arms stand in another order."""
    N = len(means)
    setting = Setting(
        sizes=np.array([1, N - 1]),
        required=np.array([1, 0]),
        cluster_of=np.arange(N).clip(0, 1),
        delta=0.01,
        skip_error=0.0,
        max_pulls=-1,
        key=stream_key(1),
    )
    schedule = paper(N, 0.01)
    law = rai.Bernoulli(means).kernel_law()
    run = new_run(law, schedule, True, setting, new_block(1, 1))
    before = int(schedule.pulls[R - 2]) if R > 1 else 0
    run.clock[[ROUND, TAKEN, ACTIVE]] = R - 1, before, N
    run.clock[PER_ROUND] = int(schedule.pulls[R - 1]) - before
    run.race.standings.order[:] = np.arange(N)[::-1]
    return run


@pytest.mark.parametrize("R", [1, 2])
def test_sums_through_tables_have_their_law(R: int) -> None:
    """Seven arms, 60,000 times a round, one without a table; certain ones are certain. Chi-square,
    with a control."""
    means = [0.5, 0.85, 0.02, 0.98, 0.36, 0.35, 2e-3, 1.0, 0.0]
    run = run_of(means, R)
    made = made_for(run)
    out = np.empty((60_000, len(means)))
    draw_round(made, run, KEY, out)
    k = int(run.clock[PER_ROUND])
    assert (out[:, 7] == k).all()
    assert (out[:, 8] == 0).all()
    filled = made.uses.reshape(made.rounds, -1)
    has_one = k * np.array(means) * (1.0 - np.array(means)) >= 10.0
    assert has_one.sum() == 6
    assert np.array_equal(filled[R - 1], np.where(has_one, tables._OFTEN, 0))
    assert not np.delete(filled, R - 1, axis=0).any()
    for arm, p in enumerate(means[:7]):
        law = stats.binom(k, p)
        edges = bin_edges(law, len(out))
        check_both(law, stats.binom(k, shifted(p, k)), counts_in(edges, out[:, arm]), edges)


def test_what_is_drawn_hangs_on_the_uniforms_alone() -> None:
    """Tables that are filled give the sums that new ones give."""
    run = run_of([0.7, 0.5, 0.3], 1)
    made = made_for(run)
    first, second, third = (np.empty((200, 3)) for _ in range(3))
    draw_round(made, run, KEY, first)
    draw_round(made, run, KEY, second)
    draw_round(made._replace(uses=np.zeros_like(made.uses)), run, KEY, third)
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert np.unique(first).size > 100


def test_tables_take_little_room() -> None:
    """A megabyte at most: several rounds of few arms, the first of some hundred, none of more."""
    rounds = []
    for N in (2, 10, 100, 300, 1000, 10**6):
        law = rai.Bernoulli(np.linspace(0.9, 0.1, N)).kernel_law()
        made = new_tables(law, paper(N, 0.01).pulls, N)
        assert isinstance(made, Tables)
        assert made.F.nbytes + made.guide.nbytes <= 1 << 20
        rounds.append(made.rounds)
    assert rounds == sorted(rounds, reverse=True)
    assert rounds[1] >= 4
    assert rounds[2] >= 1
    assert rounds[-2:] == [0, 0]


def test_other_laws_have_no_tables() -> None:
    """Whose sums are not binomial."""
    for arms in (rai.Gaussian([0.5, 0.1]), rai.Recorded(np.zeros((2, 9)))):
        assert new_tables(arms.kernel_law(), paper(2, 0.01).pulls, 2) == NoTables(0)


def test_a_thread_keeps_its_last_tables() -> None:
    """For the very law and numbers; another thread has others."""
    law, other = (rai.Bernoulli([0.9, 0.1]).kernel_law() for _ in range(2))
    pulls = paper(2, 0.01).pulls
    assert paper(2, 0.01).pulls is pulls
    kept = tables_of(law, pulls, 2)
    assert tables_of(law, pulls, 2) is kept
    elsewhere: list[Tables | NoTables] = []
    thread = threading.Thread(target=lambda: elsewhere.append(tables_of(law, pulls, 2)))
    thread.start()
    thread.join()
    assert elsewhere[0] is not kept
    assert tables_of(law, pulls, 2) is kept
    assert tables_of(law, paper(2, 0.02).pulls, 2) is not kept
    again = tables_of(law, pulls, 2)
    assert again is not kept
    assert tables_of(other, pulls, 2) is not again


@driver
def draw_uniforms(key: Words, replication: int, order: np.ndarray, out: Floats) -> None:
    """Fill `order` with a replication's opening permutation, and `out` with what follows."""
    state = shuffle(order, replication_stream(key, replication, key[2:]))
    for x in range(out.size):
        out[x], state = uniform(state)


@functools.cache
def outward(k: int, p: float) -> tuple[Floats, Floats]:
    """Return the numbers of successes from the mode outward, and their distribution function."""
    mode, far = math.floor((k + 1) * p), np.arange(1, int(9 * math.sqrt(k * p * (1 - p))) + 60)
    numbers = np.empty(2 * far.size + 1)
    numbers[0], numbers[1::2], numbers[2::2] = mode, mode + far, mode - far
    return numbers, np.cumsum(stats.binom.pmf(numbers, k, p))


def replayed(problem: rai.Problem, delta: float, seed: int, b: int) -> tuple[int, int, list[int]]:
    """Return pulls, rounds and outputs of a replication by the literal rule, with sums by inversion
    of its uniforms, an arm each: in the order of the means first, of the sums then."""
    means, N = problem.arms.kernel_law().p.tolist(), len(problem.cluster_of)
    order, uniforms = np.empty(N, np.int64), np.empty(20 * N)
    draw_uniforms(np.append(stream_key(seed), np.zeros(64, np.uint64)), b, order, uniforms)
    drawn, last = iter(uniforms.tolist()), 0
    run = naive._Run(lambda arm: 0.0, N, problem.clusters, problem.required, order.tolist(), None)
    ranked = sorted(range(N), key=lambda arm: -means[arm])
    while not run.done():
        run.rounds += 1
        R = run.rounds
        t = math.ceil(2 ** (2 * R + 5) * math.log(math.pi**2 * R**2 * N / (3 * delta)))
        for arm in ranked:
            numbers, F = outward(t - last, means[arm])
            run.sums[arm] += int(numbers[np.searchsorted(F, next(drawn), side="right")])
            run.counts[arm] = t
        last = t
        label = order.tolist().index
        ranked = sorted(run.active, key=lambda arm: (-run.sums[arm], label(arm)))
        settled = naive._settled_by_width(run, t * 2.0 ** -(R + 2))
        naive._remove_and_merge(run, settled, True)
        ranked = [arm for arm in ranked if arm not in run.settled]
    outcome = run.outcome(True)
    return outcome.pulls, outcome.rounds, list(outcome.representatives)


def test_replications_are_those_of_their_uniforms() -> None:
    """240 replications through tables, in blocks of 7: pulls, rounds and outputs, in their order."""
    means = [0.85, 0.2, 0.8, 0.5, 0.65, 0.6, 0.4, 0.45, 0.3, 0.1]
    rounds = set()
    for clusters, required in (((3, 5, 2), (3, 0, 0)), ((1, 8, 1), (1, 8, 1)), ((5, 5), (2, 5))):
        problem = rai.Problem(rai.Bernoulli(means), clusters, required)
        found = rai.simulate(
            problem, rai.Butterscotch(), delta=0.1, replications=80, seed=3, block_size=7
        )
        for b in range(80):
            expected = replayed(problem, 0.1, 3, b)
            assert (found.pulls[b], found.rounds[b], found.representatives[b].tolist()) == expected
            rounds.add(expected[1])
    assert rounds == {2, 3}
