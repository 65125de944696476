"""Lower bounds at a given delta, and what an oracle pays under a stopping threshold."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rai_sim.bounds.asymptotic import (
    check_problem,
    degenne_koolen,
    warn_of_arms_without_bounds,
)
from rai_sim.bounds.laws import is_of, laws_of, natural_family, sd_of
from rai_sim.bounds.tight_bound import Family, TightBound
from rai_sim.engine import stopping
from rai_sim.engine.pairs import pairs_to_order
from rai_sim.problem import Problem, check_delta
from rai_sim.support.checks import short
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import is_choice

Threshold = Literal["pairs", "paper", "gk16-unproven"]

#: Doublings of pulls before they count as infinite.
_DOUBLINGS = 1100


@dataclass(frozen=True)
class FiniteBound:
    """A lower bound on the expected pulls that holds at the given delta.

    Attributes
    ----------
    pulls : float
        The bound, nats times `tight.value`.
    nats : float
        What an algorithm must tell from its pulls on average, at least.
    answers : float
        How many right answers there are: exact below 2^53, maybe inf.
    reason : str
        Which argument of `at_delta` gives `nats`: "one answer", "shares of answers", "long runs",
        or "nothing" for 0.
    tight : TightBound
        The pulls that a nat takes.
    own : bool
        Whether the problem's arms are of the family that the bound is about. Of others it says what
        arms of the family with these means take; those of less variance may take less.
    sd : float
        Standard deviation of the Gaussian arms that the bound is about: 1/2, or the arms' sigma.

    Examples
    --------
    >>> import rai_sim as rai
    >>> bound = rai.bounds.at_delta(rai.table_problem(task=2), 0.01)
    >>> bound.reason, bound.answers, bound.pulls == bound.nats * bound.tight.value
    ('one answer', 1.0, True)
    """

    pulls: float
    nats: float
    answers: float
    reason: str
    tight: TightBound
    own: bool
    sd: float = 0.5

    @property
    def conditions(self) -> str:
        """For whom it holds, and why, in a few words; and how much larger it may be, where `tight`
        is not known to 1e-6."""
        count = "one right answer" if self.answers == 1 else f"{self.answers:,.6g} right answers"
        known = "" if self.tight.complete else f", known to {100.0 * self.tight.gap:.3g} %"
        return f"at this delta, {self.laws}, {count}{known}"

    @property
    def laws(self) -> str:
        """The laws that it is about, in words: those of the arms, or others with their means."""
        return f"{'' if self.own else 'as for '}{laws_of(self.tight.family, self.sd)}"


def at_delta(problem: Problem, delta: float, family: Family | None = None) -> FiniteBound:
    """Return the tight lower bound on the expected pulls of a delta-PC algorithm at this delta.

    The largest of what follows times 1/D, that of `degenne_koolen`. Let L = ln(1/delta), |A| =
    prod binom(c_i, r_i) the number of right answers, and kl that of two Bernoulli laws.

    **One answer**, every r_i is 0 or c_i: kl(1 - delta, delta), about L - 1 or more. With several
    answers that is *no* bound: an algorithm that names each of them sometimes need not be sure of
    any.

    **Shares of answers**: kl(p, delta), p = (1 - delta) / (the largest c_i - r_i + 1 of clusters
    with r_i > 0), if p > delta. *Proof.* Let p_k be the probability that arm k of cluster i is
    named for it and the output is right. The output is right with probability q >= 1 - delta and
    names r_i arms of the cluster then, so the p_k of the cluster sum to r_i q. Each is at most q,
    so without the r_i - 1 largest c_i - r_i + 1 are left, of sum q or more: the r_i-th largest is
    at least p. Let a name the r_i arms of largest p_k in every cluster: a right answer. On an
    instance on which one of its arms k is in another cluster, naming k is an error, of probability
    at most delta. So by the change of measure sum_j E[N_j] d(mu_j, lambda_j) >= kl(p, delta) for
    every alternative to a. The cheapest one costs E[pulls] D_a at most, and D_a <= D. (The
    likeliest of all answers gives the same with p = (1 - delta) / |A|, which is smaller.)

    **Long runs**, for Gaussian arms, close to L as delta goes to 0: with s = sqrt(ln(2 |A| / (1 -
    delta))) < sqrt(L) it is (1 - delta) ((sqrt(L) - s)^2 - sqrt(L) / s + 1) - 2 |A| delta.
    *Proof.* For an answer a let the opponent mix alternatives so that no pull tells more than D
    (the dual certificate), and Q be the mixture of their laws. ln(dP/dQ) after t pulls is at most
    the mean over the mixture of the log-likelihood ratios (Jensen), which is a martingale plus t D
    at most; its steps are Gaussian, of variance 4 (mean of |mu_j - lambda_j|)^2 <= 2 D. As Q(a is
    named) <= delta, P(a is named within u / D pulls) <= delta e^(u + c) + e^(-c^2 / (4 u)) for every
    c > 0, and 2 e^(-(sqrt(L) - sqrt(u))^2) for the best one. With all answers, and delta for the
    wrong ones, P(stop within u / D) <= delta + 2 |A| e^(-(sqrt(L) - sqrt(u))^2). E[pulls] D is the
    integral of 1 minus that over u, as long as it is positive, in which the error function is
    bounded by e^(-s^2) / (s sqrt(pi)).

    Parameters
    ----------
    problem : Problem
        The instance.
    delta : float
        Probability of error, in (0, 1).
    family : {"gaussian", "bernoulli"}, optional
        The laws that the arms are known to be among (see `degenne_koolen`); by default Bernoulli
        for Bernoulli arms, Gaussian for all others.

    Returns
    -------
    FiniteBound
        Pulls, and what they follow from.

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type or value; see `degenne_koolen`.

    Warns
    -----
    UserWarning
        If no bound holds for the arms (see `rai_sim.bounds.lower`), and `family` is not given.

    Examples
    --------
    >>> import rai_sim as rai
    >>> bound = rai.bounds.at_delta(rai.table_problem(task=2), delta=0.01)
    >>> round(bound.pulls), round(bound.nats, 2), bound.conditions
    (3577, 4.5, 'at this delta, Bernoulli arms, one right answer')
    >>> bound = rai.bounds.at_delta(rai.table_problem(task=1), delta=0.01)
    >>> round(bound.pulls), round(bound.nats, 2), bound.conditions
    (30, 0.89, 'at this delta, Bernoulli arms, 3 right answers')
    """
    delta = check_delta(delta)
    if family is None:
        family = natural_family(warn_of_arms_without_bounds(problem))
    tight = degenne_koolen(problem, family)
    log_answers = _log_answers(problem)
    nats = {"nothing": 0.0, "shares of answers": _nats(delta, _choices(problem))}
    if log_answers == 0.0:
        nats = {"nothing": 0.0, "one answer": _nats(delta, 1)}
    if tight.family == "gaussian":
        nats["long runs"] = _nats_of_long_runs(delta, log_answers)
    reason = max(nats, key=nats.__getitem__)
    most = nats[reason]
    pulls = 0.0 if most == 0.0 or tight.value == 0.0 else most * tight.value
    answers = math.exp(log_answers) if log_answers < 709.0 else math.inf
    answers = float(round(answers)) if answers < 2.0**53 else answers
    own = is_of(problem, tight.family)
    return FiniteBound(pulls, most, answers, reason, tight, own, sd_of(problem))


def _choices(problem: Problem) -> int:
    """Return the largest c_i - r_i + 1 of clusters that are asked."""
    return max(c - r + 1 for c, r in zip(problem.clusters, problem.required, strict=True) if r)


def _nats(delta: float, choices: int) -> float:
    """Return kl((1 - delta) / choices, delta), however small delta is; 0.0 if the former is not the
    larger one."""
    p = (1.0 - delta) / choices
    if not p > delta:
        return 0.0
    if choices == 1:
        return (1.0 - 2.0 * delta) * (math.log1p(-delta) - math.log(delta))
    wrong = math.log1p(-p) - math.log1p(-delta)
    return max(p * (math.log(p) - math.log(delta)) + (1.0 - p) * wrong, 0.0)


def _log_answers(problem: Problem) -> float:
    """Return the logarithm of the number of right answers; exactly 0.0 for one."""
    return sum(
        math.lgamma(c + 1.0) - math.lgamma(r + 1.0) - math.lgamma(c - r + 1.0)
        for c, r in zip(problem.clusters, problem.required, strict=True)
        if 0 < r < c
    )


def _nats_of_long_runs(delta: float, log_answers: float) -> float:
    """Return the nats of at_delta's third argument, or less."""
    log, sure = -math.log(delta), math.log1p(-delta)
    root, s = math.sqrt(log), math.sqrt(math.log(2.0) + log_answers - sure)
    if not s < root:
        return 0.0
    lost = math.exp(math.log(2.0) + log_answers - log)
    return max(math.exp(sure) * ((root - s) ** 2 - root / s + 1.0) - lost, 0.0)


def practical(
    problem: Problem, delta: float, threshold: Threshold = "pairs", family: Family | None = None
) -> float:
    """Return the pulls of an oracle under a stopping threshold.

    It knows the optimal shares w of `degenne_koolen` and sees the true means: arm j has n_j = t w_j
    pulls, but one at least, and it stops at the least t that the threshold allows, after the sum of
    n_j pulls. So this line separates the price of a threshold (from the lower bound to it) from the
    price of not knowing w, and of chance (from it to what an algorithm needs). No bound: luck stops
    an algorithm earlier.

    Thresholds, n_j the pulls of arm j and x_j its mean reward:

    - "pairs", proved for every sampling rule: stop when every named arm of cluster i beats N - C_i
      arms and is beaten by C_{i-1}, by a mixture of likelihood ratios. What beats is, and the proof,
      stand in `rai_sim.engine.stopping`.
    - "paper": the paper's width at each arm's own count: a beats b if x_a - x_b > u_a + u_b, u =
      sqrt(ln(pi^2 n^2 N / (3 delta)) / (2 n)), which is half of Vanilla's width. Hoeffding and the
      union over arms and n (sum 6 / (pi^2 n^2) = 1) prove it.
    - "gk16-unproven": t min_k g_k(w) >= ln((1 + ln t) / delta) (Garivier and Kaufmann 2016), that
      is t = ln((1 + ln t) / delta) / D. What experiments in the literature use; nobody has proved
      that it keeps the error below delta.

    Parameters
    ----------
    problem : Problem
        The instance.
    delta : float
        Probability of error, in (0, 1).
    threshold : {"pairs", "paper", "gk16-unproven"}, default "pairs"
        What decides when to stop.
    family : {"gaussian", "bernoulli"}, optional
        Whose w and D; by default as in `at_delta` for "gk16-unproven". The other thresholds are
        about 1/2-sub-Gaussian arms: "gaussian".

    Returns
    -------
    float
        Pulls, not rounded; 0.0 where there is one cluster only, inf beyond the double range.

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type or value; see `degenne_koolen`.

    Warns
    -----
    UserWarning
        As `at_delta` does.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.table_problem(task=2)
    >>> lines = ("gk16-unproven", "pairs", "paper")
    >>> [round(rai.bounds.practical(problem, 0.01, line, "gaussian")) for line in lines]
    [5834, 13423, 47768]
    """
    delta = check_delta(delta)
    check_problem(problem)
    if not is_choice(threshold, ("pairs", "paper", "gk16-unproven")):
        raise ArgumentValueError(
            "threshold",
            f"threshold is {short.repr(threshold)}; choose 'pairs', 'paper' or 'gk16-unproven'",
        )
    if family is None:
        warn_of_arms_without_bounds(problem)
        family = natural_family(problem) if threshold == "gk16-unproven" else "gaussian"
    tight = degenne_koolen(problem, family)
    if not 0.0 < tight.value < math.inf:
        return tight.value
    problem = problem.rescaled
    log = -math.log(delta)
    if threshold == "gk16-unproven":
        return _least(lambda t: t / tight.value >= stopping.gk16_level(log, t))
    rule = _Pairs(problem, tight, log) if threshold == "pairs" else _Widths(problem, tight, log)
    most = _least(rule.stops)
    return float(rule.pulls(most).sum()) if most < math.inf else most


def _least(stops: Callable[[float], bool]) -> float:
    """Return the least t >= 1 from which on to stop."""
    high = 1.0
    for _ in range(_DOUBLINGS):
        if stops(high):
            break
        high *= 2.0
        if not math.isfinite(high):
            return math.inf
    low = high / 2.0 if high > 1.0 else 1.0
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if stops(middle):
            high = middle
        else:
            low = middle
    return high


class _Rule(ABC):
    """Stops when every named arm of cluster i beats N - C_i arms and is beaten by C_{i-1}."""

    def __init__(self, problem: Problem, tight: TightBound) -> None:
        self.means, self.weights = problem.arms.means, tight.weights
        self._named: list[tuple[int, int, int]] = []
        before, n = 0, problem.n_arms
        for size, arms in zip(problem.clusters, tight.answer, strict=True):
            self._named += [(arm, n - before - size, before) for arm in arms]
            before += size

    def pulls(self, t: float) -> NDArray[np.float64]:
        """Return the pulls of each arm: its share of t, but one at least, as an arm so far away that
        its share is a millionth takes one pull and not a million."""
        return np.maximum(t * self.weights, 1.0)

    @abstractmethod
    def beats(self, a: NDArray[np.int64], b: NDArray[np.int64], t: float) -> NDArray[np.bool_]:
        """Whether arms beat others with their shares of t."""

    def stops(self, t: float) -> bool:
        """Whether t pulls are enough."""
        everyone = np.arange(len(self.means))
        with np.errstate(all="ignore"):
            for arm, above, below in self._named:
                alone = np.full_like(everyone, arm)
                if self.beats(alone, everyone, t).sum() < above:
                    return False
                if self.beats(everyone, alone, t).sum() < below:
                    return False
        return True


class _Pairs(_Rule):
    """The threshold "pairs"."""

    def __init__(self, problem: Problem, tight: TightBound, log: float) -> None:
        super().__init__(problem, tight)
        pairs = pairs_to_order(problem.clusters, problem.required, True)
        self._level = log + math.log(pairs)
        self._rho = stopping.tuned_rho(self._level)

    def beats(self, a: NDArray[np.int64], b: NDArray[np.int64], t: float) -> NDArray[np.bool_]:
        """Compare a product of two mixtures with P / delta."""
        n = self.pulls(t)
        precision = stopping.precision(n, self._rho)
        growth = stopping.growth(n, self._rho)
        gap = self.means[a] - self.means[b]
        nats = stopping.evidence(gap, precision[a], precision[b])
        return (gap > 0.0) & (nats >= self._level + growth[a] + growth[b])


class _Widths(_Rule):
    """The threshold "paper"."""

    def __init__(self, problem: Problem, tight: TightBound, log: float) -> None:
        super().__init__(problem, tight)
        self._log = log + math.log(problem.n_arms * math.pi**2 / 3.0)

    def beats(self, a: NDArray[np.int64], b: NDArray[np.int64], t: float) -> NDArray[np.bool_]:
        """Compare two intervals."""
        n = self.pulls(t)
        radius = np.sqrt((self._log + 2.0 * np.log(n)) / (2.0 * n))
        return self.means[a] - self.means[b] > radius[a] + radius[b]
