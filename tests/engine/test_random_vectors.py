"""Four generators side by side against each by itself, in Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from statistics_checks import xoshiro

from rai_sim.engine import random_vectors
from rai_sim.engine.jit import driver
from rai_sim.engine.streams import new_generators
from rai_sim.engine.vectors import address_of

Words = NDArray[np.uint64]
generators_at, put_back = random_vectors.generators_at, random_vectors.put_back
compare_random_bytes, seed_four = random_vectors.compare_random_bytes, random_vectors.seed_four


@driver
def draw(room: Words, limits: Words, masks: Words) -> None:
    """Seed generators, keep their states; compare bytes with limits, keep the states again."""
    seed_four(address_of(room), np.uint64(7), np.uint64(1), np.uint64(2))
    generators = generators_at(address_of(room))
    for i in range(limits.size):
        masks[i, 0], masks[i, 1], generators = compare_random_bytes(generators, limits[i])
    put_back(generators, address_of(masks[limits.size :]))


@pytest.mark.parametrize("seed", [1, 2])
def test_bytes_are_those_of_four_generators(seed: int) -> None:
    """Masks of the bytes below a limit and equal to it, draw after draw, and the states at the end."""
    limits = np.random.default_rng(seed).integers(0, 256, 200).astype(np.uint64)
    limits[:2] = 0, 255
    room, masks = new_generators(), np.zeros((208, 2), np.uint64)
    draw(room, limits, masks)
    states = [room[lane::4].tolist() for lane in range(4)]
    for limit, (below, equal) in zip(limits.tolist(), masks[:200].tolist(), strict=True):
        words = [xoshiro(state) for _ in range(2) for state in states]
        lanes = [byte for word in words for byte in word.to_bytes(8, "little")]
        assert below == sum((byte < limit) << i for i, byte in enumerate(lanes))
        assert equal == sum((byte == limit) << i for i, byte in enumerate(lanes))
    assert masks[200:].ravel().tolist() == [state[i] for i in range(4) for state in states]
    assert len(set(room.tolist())) == 16
