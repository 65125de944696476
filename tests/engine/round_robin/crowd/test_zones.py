"""Who is settled in which round of a word."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import Moment, beside, moment, settled_in

from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin.crowd import borders, zones
from rai_sim.engine.round_robin.crowd.places import BORDERS
from rai_sim.engine.round_robin.run import width
from rai_sim.engine.streams import new_generators, replication_stream
from rai_sim.engine.vectors import LANES

place_borders, find_borders = exposed(borders.place_borders), exposed(borders.find_borders)
lay_windows, count, widened = (
    exposed(borders.lay_windows),
    exposed(borders.count),
    exposed(borders.widen),
)
follow_borders, find_events = exposed(zones.follow_borders), exposed(zones.find_events)
sort_by_lane, stays_clear = exposed(zones.sort_by_lane), exposed(zones.stays_clear)
opened, width_of = exposed(replication_stream), exposed(width)
SCALE = 1.001


def followed(made: Moment) -> int:
    """Lay windows, count, and follow the borders; return the end."""
    run = made.run
    place_borders(run.crowd, run.part)
    find_borders(run)
    for _ in range(3):
        widened(run.crowd)
    lay_windows(run)
    count(run, False, opened(run.setting.key, 0, new_generators()))
    return int(follow_borders(run, LANES))


def crowds(seed: int, number: int, steady: bool = True) -> list[Moment]:
    """Return crowds of two to four clusters, in which arms are settled sooner or later."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(number):
        n = int(rng.integers(8, 80))
        m = int(rng.integers(2, 5))
        cuts = np.sort(rng.choice(n - 1, m - 1, replace=False)) + 1
        sizes = np.diff([0, *cuts.tolist(), n]).tolist()
        # widths are small early, so that who is settled may come back
        R = int(rng.integers(70, 400) if steady else rng.integers(16, 40))
        over = int(rng.choice([0, 0, 9, 50])) if steady else 0
        made.append(moment(rng, n, sizes, R=R, scale=SCALE, over=over, spread=4.0, steady=steady))
    return made


def test_the_width_is_that_of_these_tests() -> None:
    """So that events are where they are looked for."""
    made = crowds(1, 1)[0]
    assert width_of(made.run, 100) == pytest.approx(np.sqrt(200 * np.log(SCALE * 100**2)))


@pytest.mark.slow
@pytest.mark.boundscheck
def test_every_arm_is_settled_in_its_round() -> None:
    """300 crowds: in each lane up to the end, who is settled by looking at all arms in all rounds
    is found, in that lane; the end comes before a lane of which the borders are not known, and
    after one that settles an arm beside a border."""
    found_at_all, ends = 0, set()
    for made in crowds(2, 300):
        end = followed(made)
        assert end > made.over
        ends.add(end)
        expected: dict[int, int] = {}
        for j in range(made.over, end):
            for place in np.flatnonzero(settled_in(made, SCALE, j)).tolist():
                expected.setdefault(place, j)
        crowd = made.run.crowd
        for j in range(made.over, end):
            for b, cut in enumerate(made.cuts):
                assert (crowd.upper[b, j], crowd.lower[b, j]) == beside(made.sums[:, j + 1], cut)
                # who stands beside a border is settled in the last lane at most
                for value in beside(made.sums[:, j + 1], cut):
                    own = settled_in(made, SCALE, j)[made.sums[:, j + 1] == value]
                    assert j == end - 1 or not own.any()
        found = find_events(made.run, end)
        events = dict(
            zip(crowd.event_place[:found].tolist(), crowd.event_lane[:found].tolist(), strict=True)
        )
        assert events == expected
        assert list(events) == sorted(events)
        found_at_all += found
    assert found_at_all > 500
    assert LANES in ends
    assert len(ends) > 10


def test_a_lone_cluster_settles_at_once() -> None:
    """Without borders nothing is in the way."""
    made = moment(np.random.default_rng(3), 10, [0, 10], R=100, scale=SCALE)
    assert followed(made) == LANES
    assert made.run.crowd.cells[BORDERS] == 0
    assert find_events(made.run, LANES) == 10
    assert set(made.run.crowd.event_lane[:10].tolist()) == {0}


def test_events_are_sorted_by_lane() -> None:
    """200 lists: beginnings of lanes, places in their order, the first lane that has any."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        found = int(rng.integers(0, 60))
        crowd = moment(rng, 60, [10, 50], R=100, scale=SCALE).run.crowd
        lanes = rng.integers(0, LANES, found)
        crowd.event_place[:found], crowd.event_lane[:found] = np.arange(found), lanes
        earliest = sort_by_lane(crowd, found)
        assert earliest == (lanes.min() if found else LANES)
        for j in range(LANES):
            first, last = crowd.first_of_lane[j : j + 2]
            assert crowd.sorted_place[first:last].tolist() == np.flatnonzero(lanes == j).tolist()


@pytest.mark.slow
def test_settled_arms_may_be_counted_while_they_stay_clear() -> None:
    """1,600 crowds: where it is said so, borders without the settled arms are as counted with them;
    negative control: elsewhere some are not."""
    same = different = 0
    for made in crowds(5, 1600, steady=False):
        end = followed(made)
        found = find_events(made.run, end)
        if not found or (earliest := sort_by_lane(made.run.crowd, found)) >= end - 1:
            continue
        crowd, right = made.run.crowd, True
        lanes = dict(zip(crowd.event_place[:found], crowd.event_lane[:found], strict=True))
        for j in range(earliest + 1, end):
            gone = [place for place, lane in lanes.items() if lane < j]
            left = np.delete(made.sums[:, j + 1], gone)
            for b, cut in enumerate(made.cuts):
                above = sum(
                    int(made.sums[place, lanes[place] + 1] > crowd.lower[b, lanes[place]])
                    for place in gone
                )
                right &= beside(left, cut - above) == (crowd.upper[b, j], crowd.lower[b, j])
        if stays_clear(crowd, made.over, end):
            assert right
            same += 1
        else:
            different += not right
    assert same > 10
    assert different >= 3
