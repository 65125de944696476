"""How far an arm's mean may be from what was seen of it: LUCB's radii.

Legend. n pulls of an arm, R round; S sum of n rewards of mean mu, which are 1/2-sub-Gaussian, so
that S - n mu is a walk with variance process v = n / 4; N arms, delta error probability. An interval
has two sides: LCB = mean - down, UCB = mean + up. A side of level alpha is passed by mu at any time
at all with probability at most alpha, for one arm, whatever rule decides when it is pulled. A rule
that is right whenever all of its sides hold is therefore delta-PC if the levels of the sides it
leans on add up to delta. Who shares delta how is up to the picks (`picks`); by default each of 2 N
sides has alpha = delta / (2 N).

`paper`: sqrt(ln(pi^2 R^3 / (6 alpha)) / (2 n)). *Proof.* An arm is pulled at most once a round, after
a first pull, so n <= R. By Hoeffding n pulls are off by that, on one side, with probability at most
6 alpha / (pi^2 R^3); a union over n <= R leaves 6 alpha / (pi^2 R^2) a round, and over rounds alpha.
[] With alpha = delta / (2 N) it is the paper's.

The others are u(n / 4) / n, a function of the arm's own pulls: arms that are not pulled do not move.
Here u is a boundary that a walk with variance process v passes at any time with probability at most
alpha (Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
sequences", Annals of Statistics 2021).

Why the sampling rule does not matter. Let X_1, X_2, .. be the rewards of one arm in the order in
which it gives them, drawn in advance, as they may be: independent of each other and of whatever
else a rule looks at. What the rule sees of the arm after n pulls is X_1 .. X_n. The event that |X_1 +
.. + X_n - n mu| < u(n / 4) for all n is one of the X alone. On it the arm's interval holds at every
time, since at every time it is that of some n. []

`mixture`, two-sided (their two-sided normal mixture, of Robbins 1970): for both sides together at
2 alpha
    u(v) = sqrt((v + rho) ln((v + rho) / (rho (2 alpha)^2)))
         = sqrt(2 (v + rho) ln(sqrt((v + rho) / rho) / (2 alpha))).
*Proof.* exp(l M_n - l^2 n / 8), M_n = S - n mu, is a supermartingale from 1 on for every l. So is its mean over l
of the law N(0, 1 / rho), sqrt(rho / (v + rho)) exp(M_n^2 / (2 (v + rho))). By Ville it reaches 1 / (2
alpha) with probability at most 2 alpha, and that is |M_n| >= u(v). []

`mixture`, one-sided, where sides have different levels: u(v) = sqrt(2 (v + rho) ln(sqrt((v + rho) /
rho) / (2 alpha) + 1)). *Proof.* As above, over l > 0 alone, with twice the density: the mean is 2
sqrt(rho / (v + rho)) exp(x^2 / 2) Phi(x), x = M_n / sqrt(v + rho), Phi the normal law's. For x >= 0, 2
exp(x^2 / 2) Phi(x) >= 2 exp(x^2 / 2) - 1, as 1 - Phi(x) <= exp(-x^2 / 2) / 2. At M_n >= u this is at
least 2 (sqrt((v + rho) / rho) / (2 alpha) + 1) - 1 >= sqrt((v + rho) / rho) / alpha, and Ville's
inequality at 1 / alpha ends it. []

rho = v0 / (2 L + ln(1 + 2 L)), L = ln(1 / (2 alpha)), is about the one that makes u(v0) least; v0 is the
variance of `TUNED_PULLS` pulls. Any rho > 0 is valid: L is taken as 1/2 at least, should alpha not be
small. *Why 300 pulls*: the arms on which a run of the table tasks hangs are pulled some 100 to 5,000
times. Of tunings for 10, 30, 100, 300, 1,000 and 3,000 pulls the first and the last take up to 33 and
81 % more pulls than the best one of a task, at delta 0.01 and 0.1, and 300 takes 8 % at most.

`stitched` (their polynomial stitching), one-sided:
    u(v) = (eta^(1/4) + eta^(-1/4)) / sqrt 2 * sqrt(v l(v)),
    l(v) = s ln ln(eta v / m) + ln(zeta(s) / (alpha (ln eta)^s)),
eta = 2, s = 1.4, m = 1/4 the variance of one pull, so that eta v / m = 2 n.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.boundaries import ETA, STITCHES, ZETA, S, tuned
from rai_sim.engine.jit import inlined

RadiusName = Literal["paper", "mixture", "stitched"]
PAPER, MIXTURE, STITCHED = range(3)

#: The pulls for which the mixture is tuned.
TUNED_PULLS = 300


class Side(NamedTuple):
    """What kernels know of one side of intervals."""

    kind: int
    # paper: pi^2 / (6 alpha); mixture: L = ln(1 / (2 alpha)); stitched: ln(zeta(s) / (alpha (ln
    # eta)^s))
    constant: float
    tuning: float  # of the mixture: rho in pulls, 4 rho
    extra: float  # of the mixture: 2 alpha if it is one-sided, 0 if it is two-sided


def side_of(radius: RadiusName, level: float, alone: bool) -> Side:
    """Return a side of level alpha; `alone` says that the other side has a level of its own."""
    if radius == "paper":
        return Side(PAPER, math.pi**2 / (6.0 * level), 0.0, 0.0)
    if radius == "stitched":
        return Side(STITCHED, math.log(ZETA / math.log(ETA) ** S / level), 0.0, 0.0)
    L = -math.log(2.0 * level)
    return Side(MIXTURE, L, tuned(L, TUNED_PULLS), 2.0 * level if alone else 0.0)


def radii_of(
    side: Side, rounds: NDArray[np.float64], pulls: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far a side is from the mean, in rewards, for traces."""
    if side.kind == PAPER:
        return np.asarray(np.sqrt(np.log(side.constant * rounds**3) / (2.0 * pulls)))
    pulls = pulls + 0.0 * rounds
    if side.kind == STITCHED:
        logs = S * np.log(np.log(ETA * pulls)) + side.constant
        return np.asarray(STITCHES * np.sqrt(0.25 * pulls * logs) / pulls)
    X = pulls + side.tuning
    logs = side.constant + np.log(np.sqrt(X / side.tuning) + side.extra)
    return np.asarray(np.sqrt(0.5 * X * logs) / pulls)


@inlined
def log_of_round(side: Side, R: int) -> float:
    """Return ln(pi^2 R^3 / (6 alpha)) of the paper's radius; 0 of others, which ask for no round."""
    if side.kind == PAPER:
        return math.log(side.constant * R * R * R)
    return 0.0


@inlined
def radius_of(side: Side, log_term: float, n: float) -> float:
    """Return how far a side is from the mean after n pulls, in rewards, given the round's
    logarithm."""
    if side.kind == PAPER:
        return math.sqrt(log_term / (2.0 * n))
    if side.kind == STITCHED:
        logs = S * math.log(math.log(ETA * n)) + side.constant
        return STITCHES * math.sqrt(0.25 * n * logs) / n
    X = n + side.tuning
    return (
        math.sqrt(0.5 * X * (side.constant + math.log(math.sqrt(X / side.tuning) + side.extra))) / n
    )
