"""What outcomes seen one after the other say of a probability: a confidence sequence and e-values.

Outcomes are independent and 1 with an unknown probability p. The mixture martingale of a prior on
[0, 1] is

    M_n(q) = (the mean over the prior of t^s (1 - t)^(n - s)) / (q^s (1 - q)^(n - s)),

s the ones among n outcomes: the likelihood of the outcomes averaged over the prior, over their
likelihood under q. For a Beta(a, b) prior the mean is B(a + s, b + n - s) / B(a, b).

*Time-uniform.* Under p = q the likelihood ratio of any fixed t against q is a martingale of mean 1,
hence so is the average M_n(q). By Ville's inequality P(M_n(q) >= 1/level for some n)
<= level. So the probability that any of the sets C_n = {q : M_n(q) < 1/level}, n = 1, 2, ..,
leaves out p is at most level, and one may look whenever one likes and stop for whatever reason.

*C_n is an interval.* ln M_n(q) is a constant - s ln q - (n - s) ln(1 - q): convex in q, least at
q = s / n. So C_n lies around s / n, and each end is one root.

*E-value of the hypothesis p <= q.* inf over q' <= q of M_n(q'), that is M_n(min(q, s / n)): at most
M_n(p) whichever such p holds, so Ville's inequality bounds the probability that it ever reaches
1/level by level. It reaches 1/level exactly when C_n lies above q.

The prior decides how fast, never whether the statements hold. Nine tenths of it are Beta(1/2, (1 -
q) / (2 q)), of mean q, the probability in question: without errors q = 0.01 is excluded after
a fifth fewer outcomes than by Jeffreys' prior and three eighths fewer than by the uniform one (at
the level of one of 27 instances). The rest is Jeffreys', Beta(1/2, 1/2), for rates far above q,
whose intervals would else be wide.

Sources: Ville (1939); Robbins, Ann. Math. Stat. 41 (1970), whose mixtures these are; Howard,
Ramdas, McAuliffe and Sekhon, Ann. Stat. 49 (2021); Waudby-Smith and Ramdas, JRSS B 86 (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

#: Where the search for an interval's ends begins: as near to 0 and 1 as doubles are of use.
_LEAST, _MOST = 1e-300, 1.0 - 2.0**-53
#: Share of the prior that is Jeffreys'.
_FAR = 0.1


@dataclass(frozen=True)
class Evidence:
    """What is known of a probability after some outcomes.

    Parameters
    ----------
    ones, outcomes : int
        Outcomes that were 1, and all of them.
    scale : float
        The probability in question, in (0, 1), at which the prior has its mean.

    Examples
    --------
    >>> seen = Evidence(14, 40, scale=0.01)
    >>> [round(end, 3) for end in seen.interval(0.01)]
    [0.101, 0.678]
    >>> seen.log_e_value > 20.0
    True
    """

    ones: int
    outcomes: int
    scale: float

    def _log_martingale(self, q: float) -> float:
        """Return ln M_n(q); infinite where q makes what was seen impossible."""
        zeros = self.outcomes - self.ones
        if (q <= 0.0 and self.ones) or (q >= 1.0 and zeros):
            return math.inf
        likelihood = (self.ones * math.log(q) if self.ones else 0.0) + (
            zeros * math.log1p(-q) if zeros else 0.0
        )
        return self._log_mixture - likelihood

    @cached_property
    def _log_mixture(self) -> float:
        """Logarithm of the outcomes' likelihood averaged over the prior."""
        from scipy.special import betaln  # here, not above: it is slow to load

        zeros, near = self.outcomes - self.ones, 0.5 * (1.0 - self.scale) / self.scale
        parts = [
            math.log(share) + float(betaln(0.5 + self.ones, b + zeros) - betaln(0.5, b))
            for share, b in ((1.0 - _FAR, near), (_FAR, 0.5))
        ]
        return max(parts) + math.log1p(math.exp(min(parts) - max(parts)))

    @property
    def log_e_value(self) -> float:
        """Natural logarithm of the e-value of the hypothesis that the probability is at most
        `scale`; 0 without outcomes."""
        if not self.outcomes:
            return 0.0
        return self._log_martingale(min(self.scale, self.ones / self.outcomes))

    def is_above(self, level: float) -> bool:
        """Return whether the confidence sequence of this level lies above `scale`."""
        return self.log_e_value >= -math.log(level)

    def is_below(self, level: float) -> bool:
        """Return whether the confidence sequence of this level lies below `scale`."""
        return self.ones < self.scale * self.outcomes and self._log_martingale(
            self.scale
        ) >= -math.log(level)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ends of the confidence sequence.

        Parameters
        ----------
        level : float
            Probability, in (0, 1), that any interval of the sequence leaves the truth out.

        Returns
        -------
        (float, float)
            0 and 1 without outcomes.
        """
        if not self.outcomes:
            return 0.0, 1.0
        from scipy.optimize import brentq  # here, not above: it is slow to load

        seen = self.ones / self.outcomes

        def beyond(q: float) -> float:
            return self._log_martingale(q) + math.log(level)

        def end(extreme: float, without: float) -> float:
            if beyond(extreme) < 0.0:  # nothing is excluded on this side
                return without
            return float(brentq(beyond, *sorted((extreme, seen)), xtol=1e-15, rtol=1e-12))

        low = 0.0 if self.ones == 0 else end(_LEAST, 0.0)
        high = 1.0 if self.ones == self.outcomes else end(_MOST, 1.0)
        return low, high
