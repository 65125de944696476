"""By how much the sums of two arms must differ for one to beat the other: Vanilla's widths.

Legend. R round, and pulls of an arm; W(R) width in sums of rewards; delta error probability; N
arms; P pairs of arms in different clusters (`rai_sim.engine.pairs`), alpha = delta / P; c = 2
sigma^2 = 1/2, as rewards are 1/2-sub-Gaussian: the difference of two arms' sums, less its mean, is
a walk with c as its steps' variance proxy, and v = c R as that of R steps.

`paper`: W = R w_R = sqrt(2 R ln(pi^2 R^2 N / (3 delta))), from a union over rounds and arms (arXiv
2408.14195, Algorithm 1).

The other two need no union over rounds. Their W(R) = u(c R) where a walk with variance process v
ever passes u(v) with probability at most alpha (Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform,
nonparametric, nonasymptotic confidence sequences", Annals of Statistics 2021). So no pair of P is
ever judged the wrong way round, but for probability P alpha = delta, and that is enough
(`pairs_to_order`). No bound of their pulls is claimed.

`mixture` (their one-sided normal mixture, in closed form):
    u(v) = sqrt(2 (v + rho) ln(sqrt((v + rho) / rho) / (2 alpha) + 1)),
narrowest about v0, the variance of `tuned_rounds` rounds, with rho = v0 / (2 L + ln(1 + 2 L)), L =
ln(1 / (2 alpha)). Any rho > 0 is valid: L is taken as 1/2 at least, should alpha not be small.

`stitched` (their polynomial stitching):
    u(v) = (eta^(1/4) + eta^(-1/4)) / sqrt 2 * sqrt(v l(v)),
    l(v) = s ln ln(eta v / m) + ln(zeta(s) / (alpha (ln eta)^s)),
eta = 2, s = 1.4, m the variance of one round.

What certificates ask of W (`rai_sim.engine.certificates`, `rai_sim.engine.round_robin.duel`).

1. W grows and is concave. `mixture`: let X = v + rho, t = sqrt(X / rho) / (2 alpha), h = 2 ln(t +
   1), so that W^2 = f = X h. As t' = t / (2 X), X h' = q = t / (t + 1) and q' = q / (2 X (t + 1)).
   So f' = h + q > 0 and f'' = (q / X) (1 + 1 / (2 (t + 1))), and W is concave if 2 f f'' <= f'^2,
   which is h q / (t + 1) <= h^2 + q^2. Here q / (t + 1) = t / (t + 1)^2 <= 1/4, and h >= 1/4 as t
   >= 1 / (2 alpha) > 1/2. `stitched`: with y = ln(eta v / m) >= ln 2, f = v l has f' = l + s / y
   and f'' = (s / (v y)) (1 - 1 / y), so 2 f f'' < 2 l s / y <= f'^2; l > 0 from v = m on, as there
   it is ln(zeta(s) / (alpha ln eta^s)) + s ln ln 2 > 1.1 - ln alpha. `paper`: as `stitched`, with
   f = 2 R (2 ln R + a), a = ln(pi^2 N / (3 delta)) > 1: f' = 2 (2 ln R + a + 2), f'' = 4 / R, and
   2 f f'' = 16 (2 ln R + a) <= f'^2, since x^2 + 4 >= 4 x.
2. W(R) / sqrt(R + shift) does not fall: shift is 0, and rho / c for `mixture`, where the square is c
   h. While v is small beside rho, W is flatter than sqrt(R): a shift of 0 would be wrong there.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import schedule as operations
from rai_sim.engine.boundaries import ETA, STITCHES, ZETA, S, tuned
from rai_sim.engine.jit import implements

Width = Literal["paper", "mixture", "stitched"]
PAPER, MIXTURE, STITCHED = range(3)

#: c: the variance proxy of the difference of two rewards that are 1/2-sub-Gaussian.
_STEP = 0.5


class VanillaSchedule(NamedTuple):
    """What kernels know: which width it is, and its constants."""

    width: int
    # paper: pi^2 N / (3 delta); mixture: L = ln(1 / (2 alpha)); stitched: ln(zeta(s) / (alpha (ln
    # eta)^s))
    constant: float
    shift: float  # W / sqrt(R + shift) does not fall
    twice_alpha: float  # 2 alpha, for mixture


def paper(scale: float) -> VanillaSchedule:
    """Return the paper's width of scale = pi^2 N / (3 delta)."""
    return VanillaSchedule(PAPER, scale, 0.0, 0.0)


def schedule_of(
    width: Width, n_arms: int, pairs: int, delta: float, tuned_rounds: int
) -> VanillaSchedule:
    """Return the constants of a width."""
    if width == "paper":
        return paper(math.pi**2 * n_arms / (3.0 * delta))
    log = math.log(pairs) - math.log(delta)  # ln(1 / alpha)
    if width == "stitched":
        constant = log + math.log(ZETA / math.log(ETA) ** S)
        return VanillaSchedule(STITCHED, constant, 0.0, 0.0)
    L = log - math.log(2.0)
    return VanillaSchedule(MIXTURE, L, tuned(L, tuned_rounds), math.exp(-L))


def widths_of(schedule: VanillaSchedule, rounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return W at some rounds >= 1, for traces."""
    R = np.asarray(rounds, float)
    if schedule.width == PAPER:
        return np.asarray(np.sqrt(2.0 * R * np.log(schedule.constant * R**2)))
    if schedule.width == STITCHED:
        logs = S * np.log(np.log(ETA * R)) + schedule.constant
        return np.asarray(STITCHES * np.sqrt(_STEP * R * logs))
    X = R + schedule.shift
    logs = schedule.constant + np.log(np.sqrt(X / schedule.shift) + schedule.twice_alpha)
    return np.asarray(np.sqrt(2.0 * _STEP * X * logs))


@implements(operations.every_round, VanillaSchedule)
def _every_round(schedule: VanillaSchedule) -> bool:
    return True


@implements(operations.pulls_after, VanillaSchedule)
def _pulls_after(schedule: VanillaSchedule, R: float) -> float:
    return R


@implements(operations.threshold, VanillaSchedule)
def _threshold(schedule: VanillaSchedule, R: float) -> float:
    if schedule.width == PAPER:
        return math.sqrt(2.0 * R * math.log(schedule.constant * R * R))
    if schedule.width == STITCHED:
        logs = S * math.log(math.log(ETA * R)) + schedule.constant
        return STITCHES * math.sqrt(_STEP * R * logs)
    # ln(t + 1) = L + ln(sqrt(X / rho) + 2 alpha), which is finite whatever alpha is
    X = R + schedule.shift
    root = math.sqrt(X / schedule.shift)
    return math.sqrt(2.0 * _STEP * X * (schedule.constant + math.log(root + schedule.twice_alpha)))


@implements(operations.threshold_after, VanillaSchedule)
def _threshold_after(schedule: VanillaSchedule, R0: float, W0: float, R: float) -> float:
    if schedule.width != PAPER:  # a bound that is off by 1e-5 of W costs more than a logarithm
        return operations.threshold(schedule, R)
    # W(R)^2 / (2 R) = W(R0)^2 / (2 R0) + 2 log(1 + x); the logarithm's series, cut off after a
    # negative term, lies below it.
    x = (R - R0) / R0
    logarithm = x * (1.0 - x * (1.0 / 2.0 - x * (1.0 / 3.0 - x * (1.0 / 4.0))))
    return math.sqrt(W0 * W0 * (1.0 + x) + 4.0 * R * logarithm)


@implements(operations.shift, VanillaSchedule)
def _shift(schedule: VanillaSchedule) -> float:
    return schedule.shift


@implements(operations.leaps, VanillaSchedule)
def _leaps(schedule: VanillaSchedule) -> bool:
    return schedule.width != PAPER  # its numbers are those of before there were leaps
