"""Standard normals: the ziggurat of Marsaglia and Tsang (2000) with 256 layers, in the form of
Doornik (2005)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.streams import GRAIN, State, next_word, uniform

_0, _1, _11, _55 = (np.uint64(v) for v in (0, 1, 11, 55))
_LAYER = np.uint64(0xFF)
#: Where the tail begins, and the area of every layer.
_TAIL, _AREA = 3.6541528853610088, 0.00492867323399


def _ziggurat_edges() -> NDArray[np.float64]:
    edges = np.zeros(257)
    density = math.exp(-0.5 * _TAIL**2)
    edges[0], edges[1] = _AREA / density, _TAIL
    for i in range(2, 256):
        edges[i] = math.sqrt(-2.0 * math.log(_AREA / edges[i - 1] + density))
        density = math.exp(-0.5 * edges[i] ** 2)
    return edges


_EDGES = _ziggurat_edges()
_HEIGHTS = np.exp(-0.5 * _EDGES**2)


@inlined
def normal(state: State) -> tuple[float, State]:
    """Return a standard normal.

    Parameters
    ----------
    state : State
        State of the replication's stream.

    Returns
    -------
    (float, State)
        The variate, and the state after it.

    Examples
    --------
    >>> from rai_sim.samplers import normal
    >>> def pull(law, arm, random):  # of a `rai_sim.OwnArms`
    ...     z, random = normal(random)
    ...     return law.means[arm] + 0.5 * z, random
    """
    word, state = next_word(state)
    layer = word & _LAYER
    x = ((word >> _11) * GRAIN) * _EDGES[layer]
    if x >= _EDGES[layer + _1]:
        x, state = _normal_undecided(x, layer, state)
    return math.copysign(x, np.float64(np.int64(word << _55))), state


@kernel
def _normal_undecided(x: float, layer: np.uint64, state: State) -> tuple[float, State]:
    """Decide about a try outside a layer's inner rectangle, and make others until one is accepted;
    return its absolute value."""
    while True:
        if x < _EDGES[layer + _1]:
            return x, state
        if layer == _0:
            return _normal_tail(state)
        u, state = uniform(state)
        low, high = _HEIGHTS[layer], _HEIGHTS[layer + _1]
        if low + u * (high - low) < math.exp(-0.5 * x * x):
            return x, state
        word, state = next_word(state)
        layer = word & _LAYER
        x = ((word >> _11) * GRAIN) * _EDGES[layer]


@kernel
def _normal_tail(state: State) -> tuple[float, State]:
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        x = -math.log(1.0 - u) / _TAIL
        if -2.0 * math.log(1.0 - v) > x * x:
            return _TAIL + x, state
