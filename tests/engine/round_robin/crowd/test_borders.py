"""The sums beside the borders, in every round of a word."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import beside, moment

from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin.crowd import borders
from rai_sim.engine.round_robin.crowd.borders import widen
from rai_sim.engine.round_robin.crowd.places import (
    AWAKE,
    BORDERS,
    GONE,
    MARGIN,
    MOST_LEVELS,
    STALE,
    WINDOWS,
    allocate_crowd,
)
from rai_sim.engine.round_robin.run import ACTIVE
from rai_sim.engine.streams import new_generators, replication_stream
from rai_sim.engine.vectors import LANES

place_borders, find_borders = exposed(borders.place_borders), exposed(borders.find_borders)
lay_windows = exposed(borders.lay_windows)
count, level_held = exposed(borders.count), exposed(borders.level_held)
widened, narrowed = exposed(widen), exposed(borders.narrow_in_time)
opened = exposed(replication_stream)


@pytest.mark.parametrize(
    ("sizes", "ranks", "clusters"),
    [
        ([3, 4], [3], [0, 1]),
        ([0, 3, 0, 0, 2, 4, 0], [3, 5], [1, 4, 5]),
        ([0, 7, 0], [], [1]),
        ([1] * 9, [1, 2, 3, 4, 5, 6, 7, 8], list(range(9))),
    ],
)
def test_borders_lie_between_clusters_with_active_arms(
    sizes: list[int], ranks: list[int], clusters: list[int]
) -> None:
    """Empty ones have none."""
    made = moment(np.random.default_rng(1), sum(sizes), sizes, R=100, scale=100.0)
    place_borders(made.run.crowd, made.run.part)
    crowd = made.run.crowd
    assert crowd.cells[BORDERS] == len(ranks)
    assert crowd.ranks[: len(ranks)].tolist() == ranks
    assert crowd.cluster_above[: len(clusters)].tolist() == clusters


@pytest.mark.parametrize("over", [0, 1, 17, 63, 64])
def test_sums_beside_borders_are_found_anew(over: int) -> None:
    """After the rounds that are over, without the arms that are gone."""
    rng = np.random.default_rng(over)
    for _ in range(20):
        made = moment(rng, 50, [10, 0, 15, 25], R=300, scale=100.0, over=over)
        gone = np.zeros(50, bool)
        gone[rng.choice(50, 5, replace=False)] = True
        made.run.race.standings.total[:50][gone] = GONE
        made.run.clock[ACTIVE] = made.run.crowd.cells[AWAKE] = 45
        made.run.crowd.cells[STALE] = 1
        place_borders(made.run.crowd, made.run.part)
        find_borders(made.run)
        now = made.sums[~gone, over]
        found = [
            (int(made.run.crowd.upper_now[b]), int(made.run.crowd.lower_now[b])) for b in range(2)
        ]
        assert found == [beside(now, 10), beside(now, 25)]
        assert made.run.crowd.cells[STALE] == 0


@pytest.mark.parametrize(
    ("spread", "over"),
    [
        pytest.param(spread, over, marks=[] if over == quick else [pytest.mark.slow])
        for spread, quick in ((0.5, 0), (8.0, 5), (60.0, 40))
        for over in (0, 5, 40)
    ],
)
def test_every_round_inside_of_the_windows_is_known(over: int, spread: float) -> None:
    """Levels counted say the sums beside each border of every lane, or that a window was left;
    never of the first lane. 100 crowds; with margins of 1 to 8, and windows of one or of two."""
    rng, known, unknown, windows = np.random.default_rng(over), 0, 0, set()
    for _ in range(100):
        made = moment(rng, 60, [10, 30, 20], R=400, scale=100.0, over=over, spread=spread)
        run, crowd = made.run, made.run.crowd
        place_borders(crowd, run.part)
        find_borders(run)
        for _ in range(int(rng.integers(4))):
            widened(crowd)
        lay_windows(run)
        windows.add(int(crowd.cells[WINDOWS]))
        count(run, False, opened(run.setting.key, 0, new_generators()))
        for j in range(over, LANES):
            for b, cut in enumerate(made.cuts):
                upper, lower = beside(made.sums[:, j + 1], cut)
                found = (
                    level_held(crowd, int(crowd.window_of[0, b]), j, cut),
                    level_held(crowd, int(crowd.window_of[1, b]), j, cut + 1),
                )
                for truth, level in zip((upper, lower), found, strict=True):
                    assert level in (truth, -1)
                    known, unknown = known + (level >= 0), unknown + (level < 0)
                    assert j > over or level == truth
    assert known > 1000
    assert unknown > 100  # control: windows are left
    assert len(windows) > 1 or spread < 1.0


def test_settled_arms_are_taken_out_and_words_drawn() -> None:
    """Places close ranks in the order of the arms; sums move on by the word before; the new words
    are the law's."""
    made = moment(np.random.default_rng(4), 40, [10, 30], R=64, scale=100.0, over=64)
    run, crowd, standings = made.run, made.run.crowd, made.run.race.standings
    standings.total[[0, 3, 39]] = GONE
    run.clock[ACTIVE], crowd.cells[AWAKE], crowd.cells[WINDOWS] = 37, 37, 0
    before = crowd.words.copy()
    state = opened(run.setting.key, 0, run.generators)
    count(run, True, state)
    left = [arm for arm in range(40) if arm not in (0, 3, 39)]
    assert standings.order[:37].tolist() == left
    assert standings.total[:37].tolist() == made.sums[left, 64].tolist()
    assert not np.array_equal(crowd.words[:37], before[left])
    shares = [int(word).bit_count() / 64 for word in crowd.words[:37]]
    assert np.corrcoef(shares, run.race.law.p[left])[0, 1] > 0.8


def test_sums_that_are_all_the_same() -> None:
    """Are those beside each border."""
    made = moment(np.random.default_rng(6), 30, [10, 10, 10], R=100, scale=100.0)
    made.run.race.standings.total[:30], made.run.crowd.cells[STALE] = 41.0, 1
    place_borders(made.run.crowd, made.run.part)
    find_borders(made.run)
    assert made.run.crowd.upper_now[:2].tolist() == [41, 41]
    assert made.run.crowd.lower_now[:2].tolist() == [41, 41]


def test_tallies_do_not_overflow() -> None:
    """700 arms that reach every level are counted as 700."""
    made = moment(np.random.default_rng(5), 701, [700, 1], R=400, scale=100.0, spread=0.0)
    run, crowd = made.run, made.run.crowd
    run.race.standings.total[:701], crowd.words[:] = 200.0, 0
    place_borders(crowd, run.part)
    find_borders(run)
    lay_windows(run)
    count(run, False, opened(run.setting.key, 0, new_generators()))
    # pulled down by rising levels, nobody reaches those of later rounds
    assert crowd.reached[0, 0] + crowd.whole[0] == 701
    assert crowd.tally.sum() == 0


def test_margins_double_up_to_what_there_is_room_for() -> None:
    """And no further."""
    crowd, margins = allocate_crowd(1), []
    crowd.cells[MARGIN] = 1
    for _ in range(5):
        widened(crowd)
        margins.append(int(crowd.cells[MARGIN]))
    assert margins[:3] == [2, 4, 8]
    assert 2 * margins[-1] + 2 + 6 <= MOST_LEVELS


def test_margins_shrink_after_whole_words() -> None:
    """Of those in a row that sufficed; never below 1."""
    crowd = allocate_crowd(1)
    crowd.cells[MARGIN] = 8
    for _ in range(3):
        narrowed(crowd)
    widened(crowd)
    margins = []
    for _ in range(60):
        narrowed(crowd)
        margins.append(int(crowd.cells[MARGIN]))
    assert margins[:4] == [12, 12, 12, 9]
    assert margins[-1] == 1
    assert sorted(margins, reverse=True) == margins
