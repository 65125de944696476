"""Thresholds at which a rule that pulls the arms as it likes may stop: stated once, for kernels and
for arrays.

**Pairs**, proved. Rewards are 1/2-sub-Gaussian; arm a has n_a pulls of mean x_a, v = n / 4, and
A = n^2 / (v + rho), rho > 0. Arm a *beats* b if x_a > x_b and

    A_a A_b / (2 (A_a + A_b)) (x_a - x_b)^2 >= ln(P / delta) + 1/2 sum over both of ln((v + rho) / rho),

P the pairs of arms in different clusters, neighbours of which no arm is asked counted as one
cluster. An answer may be given when each of its arms k, named for cluster i, beats N - C_i arms and
is beaten by C_{i-1}, C_i = c_1 + .. + c_i. It is right with probability 1 - delta, whatever rule
pulled the arms and whenever it is looked at.

*Proof.* For every y the product over an arm's pulls of exp(y (reward - mu) - y^2 / 8) is a
supermartingale, whenever it is pulled. Its mean over a normal y of variance 1 / rho, sqrt(rho /
(v + rho)) exp((S - n mu)^2 / (2 (v + rho))), is one, too, and so is the product of those of two
arms, as only one of them is pulled at a time. By Ville it ever reaches P / delta with probability
delta / P at most. Where mu_a <= mu_b its logarithm plus 1/2 sum ln((v + rho) / rho), which is A_a
(x_a - mu_a)^2 / 2 + A_b (x_b - mu_b)^2 / 2, is at least A_a A_b / (2 (A_a + A_b)) (x_a - x_b)^2 if
x_a > x_b: its least value over such mu. So with probability 1 - delta none of the P pairs is ever
judged against its order. Then let k be named for i, but lie in the (joined) cluster of the clusters
f to l, f > i. It beats none of the C_{f-1} arms before these, nor itself, so fewer than N - C_i. If
l < i it is beaten by none of the N - C_l arms after these, nor by itself, so by fewer than C_{i-1}.
[]

rho = v0 / (2 L + ln(1 + 2 L)), L = ln(P / (2 delta)), or 1/2 if that is less, makes a single mixture
tightest at v0, 30 pulls; any rho would do.

**GK16**, t pulls: ln((1 + ln t) / delta) (Garivier and Kaufmann 2016), against what it costs to make
the best answer wrong (`rai_sim.engine.best_response`), 2 (a - b)^2 nats a pull. What experiments in
the literature use; nobody has proved that it keeps the error below delta.
"""

from __future__ import annotations

import math
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.boundaries import tuned
from rai_sim.engine.jit import kernel

#: The thresholds that algorithms may stop by.
Threshold = Literal["pairs", "gk16-unproven"]
#: A number, or an array of them.
X = TypeVar("X", float, NDArray[np.float64])

#: Variance process at which a mixture of `pairs` is tightest: 30 pulls of an arm.
_TUNED = 30.0 / 4.0


def tuned_rho(level: float) -> float:
    """Return rho for the level ln(P / delta).

    Examples
    --------
    >>> round(tuned_rho(math.log(9 / 0.01)), 3)
    0.507
    """
    return tuned(level - math.log(2.0), _TUNED)


def precision(n: X, rho: float) -> X:
    """Return A = n^2 / (n / 4 + rho) for n pulls; 0 for none."""
    return n * (n / (n / 4.0 + rho))


def growth(n: X, rho: float) -> X:
    """Return 1/2 ln((v + rho) / rho), v = n / 4."""
    return 0.5 * np.log1p(n / (4.0 * rho))


def evidence(gap: X, one: X, other: X) -> X:
    """Return A_a A_b / (2 (A_a + A_b)) gap^2, in nats."""
    return 0.5 * gap * gap / (1.0 / one + 1.0 / other)


def gk16_level(log: float, t: float) -> float:
    """Return ln((1 + ln t) / delta) for t >= 1 pulls, log = ln(1 / delta)."""
    return log + np.log1p(np.log(t))


#: The same for kernels.
precision_of, growth_of = kernel(precision), kernel(growth)
evidence_of, gk16_level_of = kernel(evidence), kernel(gk16_level)
