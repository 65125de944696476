"""Whom a round of LUCB pulls, of arms that lie in lanes, one a lane of a vector.

Legend as in `rai_sim.algorithms.lucb.rule`; `rai_sim.algorithms.lucb.lanes` makes the rounds.

`find_picks` takes bounds by the operations of the definition, and among equals the first in the
ranking. Their divisions and roots are what a round would wait for. `sure_picks` takes bounds that
are nearly those, of roots that each arm keeps from pull to pull, and is sure if each role has one
arm alone within `NEAR` of the extreme, and no gap comes near 0: then the definition's bounds give
each role to the same arm, and settle nobody (Lemma 9 of the README). Of a table's 3,700 rounds in
lanes some forty were not sure (measured); they are judged once more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.arm_vectors import (
    NEAR,
    Doubles,
    either,
    everywhere,
    gaps,
    greater,
    greatest_in,
    lanes_at_least,
    lanes_at_most,
    least_in,
    lesser,
    number_of,
    plus,
)
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.ranking import ranks_before
from rai_sim.engine.vectors import first_lane

_0, _1 = np.uint64(0), np.uint64(1)


class Lanes(NamedTuple):
    """Memory of a block. A vector begins at a multiple of 64 bytes, so the arrays are a little
    longer."""

    values: NDArray[np.float64]  # by lane: the rows of `lanes`
    words: NDArray[np.uint64]  # by lane: rewards to come, lowest first, and a 1 behind the last
    label: NDArray[np.int64]  # by lane
    # by round: ln(pi^2 R^3 N / (3 delta)), 0 where not yet computed; a block has but one N / delta
    logs: NDArray[np.float64]
    # By open cluster, best first:
    members: NDArray[np.uint64]  # lanes
    wants: NDArray[np.bool_]
    border: NDArray[np.float64]  # between its means and those of the next one
    greatest_at: NDArray[np.uint64]  # lanes that attain its greatest UCB
    beyond_at: NDArray[np.uint64]  # lanes that attain U_i


@inlined
def _first_of(lanes: Lanes, tied: np.uint64, at_mean: int) -> np.uint64:
    """Return the one of some lanes that is first in the ranking."""
    return tied if tied & (tied - _1) == _0 else outermost(lanes, tied, at_mean, True)


@kernel
def outermost(lanes: Lanes, tied: np.uint64, at_mean: int, first: bool) -> np.uint64:
    """Return the one of some lanes, at least one, that is first or last in the ranking."""
    found = first_lane(tied)
    rest = tied & (tied - _1)
    while rest != _0:
        x = first_lane(rest)
        if first == ranks_before(
            lanes.values[at_mean + x],
            lanes.label[x],
            lanes.values[at_mean + found],
            lanes.label[found],
        ):
            found = x
        rest &= rest - _1
    return _1 << np.uint64(found)


@inlined
def _more_than_one(lanes: np.uint64) -> np.uint64:
    """Return all of some lanes but the lowest."""
    return lanes & (lanes - _1)


@inlined
def sure_picks(lanes: Lanes, clusters: int, low: Doubles, high: Doubles) -> tuple[np.uint64, bool]:
    """Return the lanes to pull, of `near_bounds`, and whether the definition's bounds would have
    the same pulled and nobody settled."""
    picks, doubt, others = _0, _0, _0
    U, L = everywhere(-np.inf), everywhere(np.inf)
    facing_U, facing_L = U, L  # U_i and L_i of each lane's own cluster
    for i in range(clusters - 1, -1, -1):
        own, wants = lanes.members[i], lanes.wants[i]
        facing_U = either(own, U, facing_U)
        if wants:
            near = lanes_at_least(high, others, plus(U, -NEAR))
            picks |= near
            doubt |= _more_than_one(near)
        if i > 0:
            greatest = greatest_in(high, own)
            if wants:
                near = lanes_at_least(high, own, plus(greatest, -NEAR))
                picks |= near
                doubt |= _more_than_one(near)
            U = greatest if i == clusters - 1 else greater(U, greatest)
        others |= own
    everyone, others = others, _0
    for i in range(clusters):
        own, wants = lanes.members[i], lanes.wants[i]
        facing_L = either(own, L, facing_L)
        if wants:
            near = lanes_at_most(low, others, plus(L, NEAR))
            picks |= near
            doubt |= _more_than_one(near)
        if i < clusters - 1:
            least = least_in(low, own)
            if wants:
                near = lanes_at_most(low, own, plus(least, NEAR))
                picks |= near
                doubt |= _more_than_one(near)
            L = least if i == 0 else lesser(L, least)
        others |= own
    gap = gaps(low, high, facing_L, facing_U)
    doubt |= lanes_at_most(gap, everyone, everywhere(NEAR))
    for i in range(clusters):
        if lanes.wants[i]:
            own = lanes.members[i]
            near = lanes_at_most(gap, own, plus(least_in(gap, own), NEAR))
            picks |= near
            doubt |= _more_than_one(near)
    return picks, doubt == _0


@kernel
def find_picks(lanes: Lanes, clusters: int, low: Doubles, high: Doubles, at_mean: int) -> np.uint64:
    """Return the lanes to pull, none if an arm may be settled.

    That is `rule.find_opponents` and `rule.settle_and_choose`, minus the settling, with a vector
    for each of the latter's loops: `L` and `before` are its L_i and who attains it, `U` and
    `beyond` U_i; the least gap is its nearest arm's. An arm may be settled if its gap is 0 or less.
    Its exceptions, that the first and the last cluster have no strongest and weakest arm of their
    own, are the tests for i; that its picks leave out settled arms does not matter, as there are
    none.
    """
    U, L, beyond, before, picks, everyone = -np.inf, np.inf, _0, _0, _0, _0
    facing_U, facing_L = everywhere(U), everywhere(L)  # of each lane's own cluster
    for i in range(clusters - 1, -1, -1):
        own = lanes.members[i]
        facing_U = either(own, everywhere(U), facing_U)
        lanes.beyond_at[i] = beyond
        if i > 0:
            greatest = greatest_in(high, own)
            lanes.greatest_at[i] = lanes_at_least(high, own, greatest)
            if number_of(greatest) >= U:
                U, beyond = number_of(greatest), lanes.greatest_at[i]
    for i in range(clusters):
        own = lanes.members[i]
        everyone |= own
        facing_L = either(own, everywhere(L), facing_L)
        least = least_in(low, own)
        least_at = lanes_at_most(low, own, least)
        if lanes.wants[i]:
            if i > 0:
                picks |= _first_of(lanes, before, at_mean) | _first_of(
                    lanes, lanes.greatest_at[i], at_mean
                )
            if i < clusters - 1:
                picks |= _first_of(lanes, lanes.beyond_at[i], at_mean) | _first_of(
                    lanes, least_at, at_mean
                )
        if number_of(least) < L:
            L, before = number_of(least), least_at
    gap = gaps(low, high, facing_L, facing_U)
    if lanes_at_most(gap, everyone, everywhere(0.0)) != _0:
        return _0
    for i in range(clusters):
        if lanes.wants[i]:
            own = lanes.members[i]
            picks |= _first_of(lanes, lanes_at_most(gap, own, least_in(gap, own)), at_mean)
    return picks
