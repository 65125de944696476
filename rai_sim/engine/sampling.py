"""Exact samplers of sums: normal, binomial and its 64-lane word form, and hypergeometric (a sum
given a later sum).

Exact means: up to the rounding of doubles and the 2^-53 grain of uniforms; no normal approximation
anywhere. Sources:

normal          ziggurat with 256 layers: Marsaglia and Tsang (2000) in the form of Doornik (2005)
binomial        sequential inversion below a mean of 10; then transformed rejection BTRS of Hormann
                (1993); from a variance of 72 on
                rejection from the normal density, with exponential tails
bernoulli_word  64 lanes decided at once by comparing random bytes with the binary expansion of p
hypergeometric  ratio of uniforms HRUA of Stadlober (1989)

Acceptance tests use log probabilities in Loader's saddle-point form (2000), whose terms are small
numbers, so that they stay accurate where log-gamma differences would have lost all digits (k =
10^14 and more).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.streams import State, next_word, uniform
from rai_sim.engine.vectors import compare_random_bytes

_0, _1, _8, _11, _55, _56 = (np.uint64(v) for v in (0, 1, 8, 11, 55, 56))
_LAYER = np.uint64(0xFF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TO_UNIT = 2.0**-53
_ZIGGURAT_TAIL = 3.6541528853610088
_ZIGGURAT_AREA = 0.00492867323399
#: From this variance on binomials are drawn from the normal density; its edge in standard
#: deviations; the share of tries beyond it, and the area under each tail's density, over that of
#: exp(B), in standard deviations.
_NEARLY_NORMAL = 72.0
_EDGE = 3.0
_TAILS = 1.0 / 160.0
_TAIL_AREA = 0.5 * _TAILS / (1.0 - _TAILS) * math.sqrt(2.0 * math.pi)
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def _ziggurat_edges() -> NDArray[np.float64]:
    edges = np.zeros(257)
    density = math.exp(-0.5 * _ZIGGURAT_TAIL**2)
    edges[0], edges[1] = _ZIGGURAT_AREA / density, _ZIGGURAT_TAIL
    for i in range(2, 256):
        edges[i] = math.sqrt(-2.0 * math.log(_ZIGGURAT_AREA / edges[i - 1] + density))
        density = math.exp(-0.5 * edges[i] ** 2)
    return edges


_EDGES = _ziggurat_edges()
_HEIGHTS = np.exp(-0.5 * _EDGES**2)
#: log(n!) minus Stirling's formula, n = 0..15 (Loader 2000); from 16 on a series is exact to a
#: double.
_STIRLING = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - _HALF_LOG_2PI for n in range(1, 16)]
)


@inlined
def normal(state: State) -> tuple[float, State]:
    """Return a standard normal."""
    word, state = next_word(state)
    layer = word & _LAYER
    x = ((word >> _11) * _TO_UNIT) * _EDGES[layer]
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
        x = ((word >> _11) * _TO_UNIT) * _EDGES[layer]


@kernel
def _normal_tail(state: State) -> tuple[float, State]:
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        x = -math.log(1.0 - u) / _ZIGGURAT_TAIL
        if -2.0 * math.log(1.0 - v) > x * x:
            return _ZIGGURAT_TAIL + x, state


@intrinsic  # type: ignore[untyped-decorator]  # to mypy, Numba is untyped
def _bits_set(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


#: Return the number of ones in a uint64: the processor's own instruction.
bits_set = cast(Callable[[np.uint64], int], _bits_set)


@kernel
def lanes(first: int, count: int) -> np.uint64:
    """Return the mask of lanes first..first+count-1, 1 <= count <= 64."""
    return (_ALL >> np.uint64(64 - count)) << np.uint64(first)


@kernel
def bernoulli_word(expansion: np.uint64, state: State) -> tuple[np.uint64, State]:
    """Return 64 independent Bernoulli(p) bits, p = expansion / 2^64.

    Lane by lane a uniform's first eight binary digits are compared with p's. In one lane of 256
    they agree, and the digits that follow decide.
    """
    ones, ties = compare_random_bytes(state[4], expansion >> _56)
    while ties != _0:
        rest, state = next_word(state)
        if rest < expansion << _8:
            ones |= ties & (~ties + _1)
        ties &= ties - _1
    return ones, state


@inlined
def binomial(k: int, p: float, state: State) -> tuple[int, State]:
    """Return the number of successes in k trials of probability p."""
    rarer = min(p, 1.0 - p)
    if k * rarer * (1.0 - rarer) >= _NEARLY_NORMAL:
        x, state = _binomial_normal(k, rarer, state)
    elif k * rarer < 10.0:
        x, state = _binomial_inversion(k, rarer, state)
    else:
        x, state = _binomial_rejection(k, rarer, state)
    return (x if rarer == p else k - x), state


@kernel
def _binomial_inversion(k: int, p: float, state: State) -> tuple[int, State]:
    """Walk up the distribution function from zero; the mean is below 10."""
    if p <= 0.0:
        return 0, state
    odds = p / (1.0 - p)
    at_zero = math.exp(k * math.log1p(-p))
    while True:
        u, state = uniform(state)
        mass, x = at_zero, 0
        # Beyond 110 the mass is below 1e-70: only rounding of the distribution function leads
        # there.
        while u >= mass and x < 110:
            u -= mass
            x += 1
            mass *= odds * (k - x + 1) / x
        if x < 110 and x <= k:
            return x, state


@kernel
def _binomial_rejection(k: int, p: float, state: State) -> tuple[int, State]:
    """BTRS; k p >= 10, p <= 1/2. In seven of eight tries the squeeze accepts without a
    logarithm."""
    sd = math.sqrt(k * p * (1.0 - p))
    b = 1.15 + 2.53 * sd
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = k * p + 0.5
    squeeze = 0.92 - 4.2 / b
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        u -= 0.5
        us = 0.5 - abs(u)
        x = np.floor((2.0 * a / us + b) * u + centre)
        if us >= 0.07 and v <= squeeze:
            return int(x), state
        if x < 0.0 or x > k or us <= 0.0:
            continue
        v *= (2.83 + 5.1 / b) * sd / (a / (us * us) + b)
        if _below_pmf_ratio(v, x, np.float64(k), p):
            return int(x), state


@inlined
def _binomial_normal(k: int, p: float, state: State) -> tuple[int, State]:
    """Rejection from a skewed normal density; k p (1 - p) >= 72, p <= 1/2.

    Let s be the standard deviation and f the probabilities times s sqrt(2 pi), each spread over a
    cell of length 1. A normal z stands for the point k p + s (z + g (z^2 - 1)), g = (1 - 2 p) / (6
    s), whose law has the binomial's skewness (Cornish and Fisher), so that f exp(z^2/2) (1 + 2 g
    z), which has to be bounded, is 1 up to terms in 1/s^2 and up to the difference between a cell's
    middle and its outer end, 1/2 z/s. For |z| <= 3 (`_EDGE`) it is at most exp(B) with B = 1.5/s +
    2/s^2; the tests find less than 1.5/s + 0.7/s^2 wherever they look. Beyond the edges
    probabilities fall at least as fast as at the edge, f being log-concave, and exponential tails
    lie above them (`_tail`); one try in 160 (`_TAILS`) is made there, which suffices for that.

    Most tries are decided by the bounds of `_log_height`.
    """
    u, state = uniform(state)
    z, state = normal(state)
    x, lower, _width = _log_height(k, p, z)
    if _TAILS <= u < 1.0 + lower and abs(z) <= _EDGE:
        return int(x), state
    return _binomial_undecided(k, p, u, z, state)


@inlined
def _log_height(k: int, p: float, z: float) -> tuple[float, float, float]:
    """Return z's place, a lower bound of log(f exp(z^2/2 - B) (1 + 2 g z)) there, |z| <= 3, and how
    far above it the truth may be.

    By Stirling's formula log f = -a h(d/a) - b h(-d/b) - log(x/a (k - x)/b)/2 - (1/x + 1/(k - x) -
    1/k)/12 and less than 0.02/s^4, where d is the distance of x from the mean a = k p, b = k - a,
    and h(z) = (1 + z) log(1 + z) - z = z^2/2 - z^3/6 + z^4/12 - ..; |d| <= 0.4 a. Of each part the
    terms up to 1/s^2 are taken; with d in units of s from here on, the next ones of h are at most
    0.08 |d|^5 / s^3, those of the second part 0.52 |d|^3 / s^3, of the third 0.28 |d| / s^3, and of
    log(1 + 2 g z) 0.4 |2 g z|^3.
    """
    q = 1.0 - p
    pq, mean = p * q, k * p
    variance = k * pq
    inverse, sd = 1.0 / variance, math.sqrt(variance)
    each = sd * inverse
    tilt = (q - p) * each
    x = np.floor(mean + sd * (z + (1.0 / 6.0) * tilt * (z * z - 1.0)) + 0.5)
    d = (x - mean) * each
    d2, v, size = d * d, (1.0 / 3.0) * tilt * z, abs(d)
    second = d2 * (0.5 * pq - (1.0 / 12.0 - 0.25 * pq) * d2) - (1.0 / 12.0) * (1.0 - pq) - 2.0
    middle = (
        0.5 * (z * z - d2)
        + tilt * d * ((1.0 / 6.0) * d2 - 0.5)
        + 0.25 * tilt * tilt * d2
        + v
        - 0.5 * v * v
    )
    error = (
        inverse * each * (size * (d2 * (0.08 * d2 + 0.55) + 0.3) + 0.3)
        + 0.4 * abs(v) * v * v
        + 1e-9
    )
    return x, middle - 1.5 * each + inverse * second - error, 2.0 * error


@kernel
def _binomial_undecided(k: int, p: float, u: float, z: float, state: State) -> tuple[int, State]:
    """Decide about a try of `_binomial_normal`, and make others until one is accepted."""
    while True:
        if u < _TAILS:
            x, accepted, state = _tail(np.float64(k), p, state)
            if accepted:
                return int(x), state
        elif abs(z) <= _EDGE:
            x, lower, width = _log_height(k, p, z)
            level = (u - _TAILS) * (1.0 / (1.0 - _TAILS))
            least = math.exp(lower)
            # exp(w) <= 1 + 1.2 w for w <= 0.3, and the widest band is narrower
            if level <= least or (
                level < least * (1.0 + 1.2 * width)
                and math.log(level) <= _exact_log_height(x, np.float64(k), p, z)
            ):
                return int(x), state
        u, state = uniform(state)
        z, state = normal(state)


@inlined
def _log_envelope(sd: float) -> float:
    """Return B of `_binomial_normal`."""
    return (1.5 + 2.0 / sd) / sd


@kernel
def _exact_log_height(x: float, k: float, p: float, z: float) -> float:
    """Return what `_log_height` bounds."""
    sd = math.sqrt(k * (p * (1.0 - p)))
    return (
        scaled_log_binomial(x, k, p)
        + 0.5 * z * z
        + math.log1p((1.0 - 2.0 * p) / (3.0 * sd) * z)
        - _log_envelope(sd)
    )


@kernel
def _tail(k: float, p: float, state: State) -> tuple[float, bool, State]:
    """Try a place beyond the edge, on either side, from an exponential density; return it and
    whether it is accepted."""
    u, state = uniform(state)
    v, state = uniform(state)
    w, state = uniform(state)
    side = 1.0 if u < 0.5 else -1.0
    far, rate, height = tail_envelope(k, p, side)
    beyond = -math.log(1.0 - v) / rate
    x = np.floor(k * p + side * (far + beyond) + 0.5)
    if x < 0.0 or x > k:
        return x, False, state
    return x, math.log(w) + height - rate * beyond <= scaled_log_binomial(x, k, p), state


@kernel
def tail_envelope(k: float, p: float, side: float) -> tuple[float, float, float]:
    """Return where the right (side 1) or left (-1) tail begins, from the mean; the rate at which
    its density falls; its log at the edge."""
    mean, sd = k * p, math.sqrt(k * (p * (1.0 - p)))
    far = sd * _EDGE + side * (1.0 - 2.0 * p) * ((_EDGE * _EDGE - 1.0) / 6.0)
    # the rate is that from the edge's own cell to the next one out
    edge = np.floor(mean + side * far + 0.5)
    odds = p / (1.0 - p)
    rate = (
        -math.log((k - edge) / (edge + 1.0) * odds)
        if side > 0.0
        else -math.log(edge / (k - edge + 1.0) / odds)
    )
    return far, rate, math.log(rate * sd * _TAIL_AREA) + _log_envelope(sd)


@kernel
def scaled_log_binomial(x: float, k: float, p: float) -> float:
    """Return log P(Binomial(k, p) = x) and log(s sqrt(2 pi)), s the standard deviation."""
    return log_binomial(x, k, p) + 0.5 * math.log(k * (p * (1.0 - p))) + _HALF_LOG_2PI


@kernel
def _below_pmf_ratio(v: float, x: float, k: float, p: float) -> bool:
    """Whether v <= f(x) / f(mode), f the probabilities of Binomial(k, p), k p >= 10, p <= 1/2."""
    mode = np.floor((k + 1.0) * p)
    if x == 0.0 or x == k:
        return math.log(v) <= log_binomial(x, k, p) - log_binomial(mode, k, p)
    level = 0.5 * math.log(v * v * (x / mode) * ((k - x) / (k - mode)))
    middle, slack = _rough_height(x - k * p, mode - k * p, k * p, k * (1.0 - p))
    if abs(level - middle) > slack:
        return level < middle
    return level <= _smooth_part(x, k, p) - _smooth_part(mode, k, p)


@kernel
def _rough_height(d: float, e: float, a: float, b: float) -> tuple[float, float]:
    """Return an approximation to _smooth_part(x) - _smooth_part(mode) and a bound of its error.

    d and e are the distances of x and the mode from the mean a = k p, b = k - a >= a >= 10. With
    h(z) = (1 + z) log(1 + z) - z = z^2/2 - z^3/6 + z^4/12 - .., the deviances of x are a h(d/a) + b
    h(-d/b). For |z| <= 1/4 the terms after the cube add up to something between 0 and z^4/12 (1 +
    |z|), so to at most 5/48 z^4. For the mode, |e| <= 1, all terms after the square are within
    |e|^3 / (5 a^2). Stirling's errors lie between 1/(12 n + 1) and 1/(12 n), so those of x and the
    mode differ by at most |x - mode| / (12 m^2) + 1 / (144 m^2), m the least of them, likewise on
    the other side, where the numbers are larger except that k - x >= 3/4 b.
    """
    ia, ib = 1.0 / a, 1.0 / b
    if abs(d) > 0.25 * a:
        return 0.0, np.inf
    d2 = d * d
    square = 0.5 * (ia + ib)
    fourth = (5.0 / 48.0) * d2 * d2 * (ia * ia * ia + ib * ib * ib)
    middle = square * (e * e - d2) + d * d2 * (ia * ia - ib * ib) * (1.0 / 6.0) - 0.5 * fourth
    least = 0.7 * a  # at least 3/4 a for x, and a - 1 for the mode
    return middle, 0.5 * fourth + 0.4 * ia * ia + 2.0 * (abs(d) + 1.1) / (
        12.0 * least * least
    ) + 1e-9


@kernel
def _smooth_part(x: float, k: float, p: float) -> float:
    """Return log P(Binomial(k, p) = x) less log sqrt(k / (2 pi x (k - x))) and less a term in k
    alone, 0 < x < k."""
    y = k - x
    return -stirling_error(x) - stirling_error(y) - deviance(x, k * p) - deviance(y, k * (1.0 - p))


@kernel
def stirling_error(n: float) -> float:
    """Return log(n!) - log(sqrt(2 pi n) (n/e)^n)."""
    if n < 16.0:
        return _STIRLING[int(n)]
    r = 1.0 / n
    m = r * r
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - m * (1 / 1188)) * m) * m) * m) * r


@kernel
def deviance(x: float, mean: float) -> float:
    """Return x log(x / mean) + mean - x, without cancellation near x = mean."""
    difference = x - mean
    v = difference / (x + mean)
    if abs(v) >= 0.1:
        return x * math.log(x / mean) - difference
    # difference v + 2 x (v^3/3 + v^5/5 + ..): for |v| < 0.1 the first omitted term is below 1e-18
    # of the sum
    s = v * v
    series = 1 / 3 + s * (
        1 / 5
        + s * (1 / 7 + s * (1 / 9 + s * (1 / 11 + s * (1 / 13 + s * (1 / 15 + s * (1 / 17))))))
    )
    return difference * v + 2.0 * x * v * s * series


@kernel
def log_binomial(x: float, k: float, p: float) -> float:
    """Return log P(Binomial(k, p) = x), 0 < p < 1, accurate for every k."""
    if k == 0.0:
        return 0.0
    if x == 0.0:
        return k * math.log1p(-p)
    if x == k:
        return k * math.log(p)
    return (
        stirling_error(k) + _smooth_part(x, k, p) + 0.5 * math.log(k / x / (k - x)) - _HALF_LOG_2PI
    )


@kernel
def hypergeometric(k: int, successes: int, h: int, state: State) -> tuple[int, State]:
    """Return how many of the successes among k exchangeable trials fall into the first h."""
    s, n = min(successes, k - successes), min(h, k - h)
    x, state = (
        _hypergeometric_small(k, s, n, state)
        if min(s, n) <= 8
        else _hypergeometric_rejection(k, s, n, state)
    )
    if n != h:
        x = s - x
    if s != successes:
        x = h - x
    return x, state


@kernel
def _hypergeometric_small(k: int, s: int, n: int, state: State) -> tuple[int, State]:
    """Place the few successes (or fill the few places) one at a time; s and n are exchangeable."""
    few, other = min(s, n), max(s, n)
    x = 0
    for i in range(few):
        u, state = uniform(state)
        x += u * (k - i) < other - x
    return x, state


@kernel
def _hypergeometric_rejection(k: int, s: int, n: int, state: State) -> tuple[int, State]:
    """HRUA; s, n <= k / 2."""
    share = n / k
    centre = s * share + 0.5
    sd = math.sqrt((k - n) / (k - 1.0) * s * share * (1.0 - s / k) + 0.5)
    width = 1.7155277699214135 * sd + 0.8989161620588988
    mode = np.floor((n + 1.0) * (s + 1.0) / (k + 2.0))
    peak = log_binomial(mode, s, share) + log_binomial(n - mode, k - s, share)
    limit = min(min(s, n) + 1.0, np.floor(centre + 16.0 * sd))
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        if u <= 0.0:
            continue
        position = centre + width * (v - 0.5) / u
        if position < 0.0 or position >= limit:
            continue
        x = np.floor(position)
        height = log_binomial(x, s, share) + log_binomial(n - x, k - s, share) - peak
        if 2.0 * math.log(u) <= height:
            return int(x), state
