"""What time-uniform boundaries of walks have in common, whoever uses them: constants of stitching, and
the tuning of normal mixtures (Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric,
nonasymptotic confidence sequences", Annals of Statistics 2021).

Legend. v variance process of a walk, alpha the probability with which it may pass u(v) at any time.

Stitched: u(v) = STITCHES sqrt(v l(v)), l(v) = S ln ln(ETA v / m) + ln(ZETA / (alpha (ln ETA)^S)), m the
variance of one step.

Mixture: (v + rho) in the place of v, any rho > 0; `tuned`'s is about the one that makes u(v0) least.
"""

from __future__ import annotations

import math

#: eta, s, and Riemann's zeta(s).
ETA, S, ZETA = 2.0, 1.4, 3.105547277977581
STITCHES = (ETA**0.25 + ETA**-0.25) / math.sqrt(2.0)
#: The least ln(1 / (2 alpha)) for which a mixture is tuned: the formula knows none below 0.
_LEAST_LOG = 0.5


def tuned(log: float, v0: float) -> float:
    """Return rho = v0 / (2 L + ln(1 + 2 L)) for L = ln(1 / (2 alpha)), in units of v0.

    Examples
    --------
    >>> round(tuned(math.log(1 / 0.02), 30.0), 3)
    3.0
    >>> tuned(-5.0, 1.0) == tuned(0.5, 1.0)  # should alpha not be small
    True
    """
    L = max(log, _LEAST_LOG)
    return v0 / (2.0 * L + math.log1p(2.0 * L))
