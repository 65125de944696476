"""The lines of LUCB's last arm: while all picks are between them, the plain twin picks the same
arms, round by round, and settles nobody."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from standings import Standing, Twin, draw, run_of

from rai_sim.algorithms.lucb import challenge_lines
from rai_sim.algorithms.lucb.challenge_lines import (
    DOWN,
    DOWN_END,
    UP,
    UP_END,
    Lines,
    draw_lines,
    find_clusters,
    new_lines,
)
from rai_sim.algorithms.lucb.rule import compute_bounds
from rai_sim.algorithms.lucb.run import LOG_TERM, RANKED, ROUND, Run
from rai_sim.engine.jit import exposed, kernel

narrowest = exposed(challenge_lines.narrowest)
clusters_of = exposed(find_clusters)


@exposed
@kernel
def draw_for(run: Run, lines: Lines, v: int, J: int) -> bool:
    """Judge the next round and draw the lines of J rounds."""
    clusters, home = find_clusters(lines, run.part, v)
    R = run.clock[ROUND] + 1
    run.terms[LOG_TERM] = math.log(run.rule.scale * R * R * R)
    compute_bounds(run.ranking, run.clock[RANKED], run.terms[LOG_TERM], 1.0)
    return draw_lines(run, lines, v, home, clusters, J)


class Drawn(NamedTuple):
    """Lines of a standing, of picks by arm."""

    arms: list[int]
    limits: np.ndarray[tuple[int, int], np.dtype[np.float64]]


def lines_of(standing: Standing, J: int) -> Drawn | None:
    """Return the lines of J rounds, None if there are none."""
    run, lines = run_of(standing), new_lines(len(standing.places))
    rank = sum(standing.places[: standing.wants.index(1)])
    if not draw_for(run, lines, rank, J):
        return None
    number = 1 + (rank > 0) + (rank < sum(standing.places) - 1)
    ranks = lines.pick[:number]
    sums, limits = run.ranking.total[ranks], lines.limits[:, :number].copy()
    assert narrowest(lines, run.ranking, number) == min(
        (limits[UP] - sums).min(), (sums - limits[DOWN]).min()
    )
    return Drawn(run.ranking.order[ranks].tolist(), limits)


def between(drawn: Drawn, sums: list[float], j: float, J: int, slack: float) -> bool:
    """Whether all picks' sums, j pulls later, are between their lines, moved apart by a slack."""
    up, up_end, down, down_end = drawn.limits[[UP, UP_END, DOWN, DOWN_END]]
    S = np.array([sums[arm] for arm in drawn.arms])
    high, low = up + (up_end - up) * j / J + slack, down + (down_end - down) * j / J - slack
    return bool((high - 1e-9 > S).all() and (low + 1e-9 < S).all())


def wrong_rounds(standing: Standing, J: int, slack: float) -> tuple[int, int]:
    """Return how many rounds the lines promise, and how many of those the twin denies."""
    drawn, twin = lines_of(standing, J), Twin(standing)
    if drawn is None:
        return 0, 0
    promised, wrong, j = 0, 0, 0
    while j < J and between(drawn, twin.run.sums, j, J, slack):
        judged = twin.judge()
        promised, j = promised + 1, j + 1
        if judged.settled or judged.picks != frozenset(drawn.arms):
            return promised, wrong + 1
        twin.pull(judged.picks)
    return promised, wrong


def standings(count: int) -> list[Standing]:
    """Draw late rounds with a last arm in the first, a middle or the last cluster."""
    rng = np.random.default_rng(1)
    tasks = [
        ((1, 5), (1, 0)),
        ((3, 1), (0, 1)),
        ((3, 1, 4), (0, 1, 0)),
        ((2, 3, 1, 1, 2), (0, 0, 1, 0, 0)),
    ]
    return [draw(rng, *tasks[k % 4], pulls=(30, 250), more=64) for k in range(count)]


@pytest.mark.landing
def test_between_the_lines_nothing_changes() -> None:
    """300 standings, up to 40 rounds each; negative control: lines two rewards farther apart
    promise rounds that the twin denies."""
    found = np.array([wrong_rounds(one, 40, 0.0) for one in standings(300)])
    assert found[:, 0].sum() > 1_000
    assert found[:, 1].sum() == 0
    assert sum(wrong_rounds(one, 40, 2.0)[1] for one in standings(300)) > 10


def test_no_lines_where_the_round_settles_an_arm() -> None:
    """Of v or of others, or where two arms are equally extreme: such rounds are judged by the
    rule."""
    settling = [one for one in standings(300) if Twin(one).judge().settled]
    assert len(settling) > 30
    assert all(lines_of(one, 10) is None for one in settling)
    tied = np.repeat([[1.0], [0.0], [0.0]], 20, axis=1)
    assert lines_of(Standing((1, 2), (1, 0), tied, np.full(3, 4), 4), 10) is None
    tied[1, 2] = 1.0
    assert lines_of(Standing((1, 2), (1, 0), tied, np.full(3, 4), 4), 10) is not None


def test_clusters_that_are_open() -> None:
    """Where each ends in the ranking, empty ones left out, and which holds an arm."""
    standing = Standing((2, 0, 1, 3), (0, 0, 1, 0), np.ones((6, 1)), np.ones(6, np.int64), 1)
    lines = new_lines(4)
    assert clusters_of(lines, run_of(standing).part, 2) == (3, 1)
    assert lines.end[:3].tolist() == [2, 3, 6]
