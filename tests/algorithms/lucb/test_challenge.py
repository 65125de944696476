"""LUCB with one arm in question against the plain twin, and how far a word of rewards is taken."""

import numpy as np
import pytest
from stack import BITS
from standings import Standing, Twin, draw, draw_any, run_of, state_of

from rai_sim.algorithms.lucb import challenge
from rai_sim.algorithms.lucb.challenge import Challenge, new_challenge
from rai_sim.algorithms.lucb.challenge_lines import DOWN, DOWN_END, UP, UP_END, new_lines
from rai_sim.algorithms.lucb.run import PICKS, ROUND, SAME, WORTH, Run
from rai_sim.engine.jit import exposed, kernel
from rai_sim.engine.streams import State

arm_in_question = exposed(challenge.arm_in_question)
steps_inside = exposed(challenge._steps_inside)


@exposed
@kernel
def advance(run: Run, room: Challenge, same_if_wide: int, state: State) -> State:
    """Judge the rounds that follow."""
    return challenge.advance(run, room, same_if_wide, state)


@pytest.mark.slow
def test_rounds_are_the_twins() -> None:
    """80 walks from late rounds on, of the last arm of one cluster among up to 13: all rounds on
    the way settle nobody and lead to the same sums."""
    rng, rounds, settling = np.random.default_rng(1), 0, 0
    for _ in range(80):
        places = [int(rng.integers(6)), 1, int(rng.integers(1, 6)), int(rng.integers(3))]
        standing = draw(rng, places, (0, 1, 0, 0), pulls=(20, 300), more=1_500)
        run, twin = run_of(standing), Twin(standing)
        run.clock[PICKS] = 3
        advance(run, new_challenge(sum(places), 4), 5, state_of(run))
        settling += bool(twin.follow(run).settled)
        rounds += run.clock[ROUND] - standing.R
    assert settling > 20
    assert rounds > 1_500


def test_the_arm_in_question() -> None:
    """300 standings: that of the one cluster that wants an arm and has one left, if only one
    wants."""
    rng, found = np.random.default_rng(2), 0
    for _ in range(300):
        standing = draw_any(rng, most_open=2)
        wanting = [i for i, r in enumerate(standing.wants) if r]
        rank = sum(standing.places[: wanting[0]])
        alone = len(wanting) == 1 and standing.places[wanting[0]] == 1 and sum(standing.places) > 1
        run = run_of(standing)
        assert arm_in_question(run) == (rank if alone else -1)
        found += alone
        without = run._replace(law=run.law._replace(kind=BITS))
        assert arm_in_question(without) == -1
        assert arm_in_question(run._replace(rule=run.rule._replace(as_printed=True))) == -1
    assert found > 30


@pytest.mark.slow
def test_wide_lines_are_left_to_corridors() -> None:
    """Where the picks' sums are far from their lines nothing is pulled, and the picks count as
    having been the same."""
    rewards = np.repeat([[0.5], [0.49]], 10_100, axis=1)
    standing = Standing((1, 1), (1, 0), rewards, np.array([10_000, 10_000]), 10_000)
    run = run_of(standing, skip_error=1e-12)
    run.clock[PICKS], run.terms[WORTH] = 2, 0.0
    advance(run, new_challenge(2, 2), 5, state_of(run))
    assert (run.clock[ROUND], run.clock[SAME]) == (10_000, 5)


def inside(word: int, S: float, limits: list[float], J: int) -> int:
    """Return after how many of J pulls a sum is first off its lines, bit by bit."""
    up, up_end, down, down_end = limits
    for j in range(1, J + 1):
        S += word >> (j - 1) & 1
        if up + (up_end - up) * j / J <= S or down + (down_end - down) * j / J >= S:
            return j
    return J


def test_a_word_is_taken_up_to_the_lines() -> None:
    """3,000 words and lines: never past the first pull that is off them, mostly as far; negative
    control: past those that are a reward nearer."""
    rng, lines = np.random.default_rng(3), new_lines(1)
    reached, past = 0, 0
    for _ in range(3_000):
        word, J, S = int(rng.integers(1 << 64, dtype=np.uint64)), int(rng.integers(1, 65)), 100.0
        up, down = S + rng.uniform(0.1, 12.0), S - rng.uniform(0.1, 12.0)
        limits = [up, up + J * rng.uniform(-0.2, 1.0), down, down + J * rng.uniform(0.0, 1.0)]
        lines.limits[[UP, UP_END, DOWN, DOWN_END], 0] = limits
        found, exact = steps_inside(lines, 0, np.uint64(word), S, J), inside(word, S, limits, J)
        assert 1 <= found <= exact
        reached += found == exact
        past += found > inside(word, S, [up - 1.0, limits[1] - 1.0, down + 1.0, limits[3] + 1.0], J)
    assert reached > 2_000
    assert past > 1_000
