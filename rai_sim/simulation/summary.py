"""Statistics of a result: pulls, errors, their intervals, and the bounds beside them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rai_sim import bounds

if TYPE_CHECKING:
    from rai_sim.algorithms.base import Algorithm
    from rai_sim.problem import Problem
    from rai_sim.simulation.result import Result

#: Shares of finished replications whose pulls a summary names; 1 is the largest number of pulls seen.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Summary:
    """Statistics of a `Result`; every number about pulls, rounds and errors is over finished replications.

    Attributes
    ----------
    algorithm : str
        Label of the algorithm.
    delta, seed, max_pulls
        As given to the simulation; the seed is the drawn one if none was given.
    replications, finished : int
        Replications run, and those that max_pulls did not end.
    mean, standard_error : float
        Of pulls; NaN where the number of finished replications leaves them undefined.
    interval : (float, float)
        95 % Student interval of the mean number of pulls; NaN with fewer than two finished replications.
    quantiles : dict of float to float
        Of pulls: for each share of 0.05, 0.25, 0.5, 0.75, 0.95 and 1 the smallest number seen that at least
        this share of replications did not exceed (the inverted distribution function, so always a number that
        occurred); NaN if none finished.
    mean_rounds : float
        Mean number of rounds.
    errors : int
        Finished replications with a wrong representative.
    error_rate : float
        errors / finished.
    error_interval : (float, float)
        95 % Clopper-Pearson interval of the error probability.
    error_exceeds_delta : bool
        Whether that whole interval lies above delta.
    lower_bound : float
        Pulls by Theorem 1, for the mean: asymptotic (delta -> 0), Gaussian arms of standard deviation 1/2.
    upper_bound, upper_bound_theorem
        The algorithm's own bound in pulls, which holds with probability 1 - delta, and the theorem's name;
        None for an algorithm without one.
    share_above_upper_bound : float or None
        Share of finished replications that took more, by over one pull an arm: rounding may add that much.
    named : dict of int to list of str, or None
        Where the arms have names: for each cluster of which something is asked, 1 being the best, the names of as many arms as are asked
        for, those that were named most often; None without names.
    unguarded : str or None
        Why neither guarantees nor bounds hold for these arms; None if they do.
    seconds, compile_seconds : float
        Wall time spent on replications, and before them on compiling kernels that were not on disk.
    """

    algorithm: str
    delta: float
    seed: int
    max_pulls: int | None
    replications: int
    finished: int
    mean: float
    standard_error: float
    interval: tuple[float, float]
    quantiles: dict[float, float]
    mean_rounds: float
    errors: int
    error_rate: float
    error_interval: tuple[float, float]
    error_exceeds_delta: bool
    lower_bound: float
    upper_bound: float | None
    upper_bound_theorem: str | None
    share_above_upper_bound: float | None
    named: dict[int, list[str]] | None
    unguarded: str | None
    seconds: float
    compile_seconds: float = 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before using the numbers, one sentence each; usually nothing."""
        said = []
        if self.error_exceeds_delta:
            low, high = map(percent, self.error_interval)
            said.append(f"the error rate lies above delta = {self.delta:g}: {self.errors:,} of "
                        f"{self.finished:,} outputs are wrong, 95 % interval {low} to {high}")
        if self.finished < self.replications:
            capped = self.replications - self.finished
            what, bias = (("did not finish though no cap was set", "may be biased") if self.max_pulls is None
                          else (f"stopped at the cap of {number(self.max_pulls)} pulls", "is biased low"))
            said.append(f"{capped:,} of {count(self.replications, 'replication')} {what}; the statistics are over the finished ones only, "
                        f"so the mean {bias}")
        if self.unguarded is not None:
            said.append(f"guarantees and bounds do not hold for these arms: {self.unguarded}")
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON can hold them: text for shares, lists for tuples, None for NaN and inf.

        Examples
        --------
        >>> import rai_sim as rai
        >>> problem = rai.table_problem(task=1)
        >>> one = rai.simulate(problem, rai.Butterscotch(), delta=0.01, replications=1, seed=0)
        >>> values = one.summary().to_dict()
        >>> values["mean"], values["standard_error"], values["interval"], values["quantiles"]["0.95"]
        (10370.0, None, [None, None], 10370)
        """
        values = asdict(self)
        values["quantiles"] = {f"{share:g}": value for share, value in self.quantiles.items()}
        return {name: json_safe(value) for name, value in values.items()}

    def __str__(self) -> str:
        """Return the summary as aligned text."""
        lines = [self.headline, *(f"  {name:<18}{text}" for name, text in self._rows().items())]
        return "\n".join(lines + [f"  WARNING: {sentence}" for sentence in self.warnings])

    @property
    def headline(self) -> str:
        """What was run, and how much of it finished, in words."""
        done = "all finished" if self.finished == self.replications else f"{self.finished:,} finished"
        return f"{self.algorithm}, delta {self.delta:g}, seed {self.seed}: {count(self.replications, 'replication')}, {done}"

    def _rows(self) -> dict[str, str]:
        """Return what is said of the replications, by name."""
        low, high = map(number, self.interval)
        error_low, error_high = map(percent, self.error_interval)
        quantiles = [f"{'max' if share == 1.0 else percent(share)}: {number(value)}"
                     for share, value in self.quantiles.items()]
        rows = {
            "pulls, mean": f"{number(self.mean)}  (95 % interval {low} to {high}, "
                           f"standard error {number(self.standard_error)})",
            "pulls, quantiles": "   ".join(quantiles),
            "rounds, mean": number(self.mean_rounds),
            "errors": f"{self.errors:,} of {self.finished:,}: {percent(self.error_rate)}  "
                      f"(95 % interval {error_low} to {error_high}; delta {percent(self.delta)})",
            "lower bound": f"{number(self.lower_bound)}  (Theorem 1: of the mean, asymptotic, delta -> 0)",
        }  # fmt: skip
        if self.upper_bound is not None and self.share_above_upper_bound is not None:
            above = percent(self.share_above_upper_bound)
            rows["upper bound"] = (f"{number(self.upper_bound)}  ({self.upper_bound_theorem}: with "
                                   f"probability {1 - self.delta:g}; {above} took more)")
        if self.named is not None:
            rows["named most often"] = "; ".join(f"cluster {cluster}: {_few_names(names)}" for cluster, names in self.named.items())
        compiled = f", and {self.compile_seconds:.3g} s compiling" if self.compile_seconds else ""
        return rows | {"time": f"{self.seconds:.3g} s{compiled}"}

    def _repr_html_(self) -> str:
        """Return the summary as a table, for notebooks."""
        from rai_sim.support import html_tables

        rows = html_tables.table(("", ""), self._rows().items(), left=2)
        return html_tables.block(self.headline, html_tables.warnings(self.warnings), rows)


def summarise(result: Result) -> Summary:
    """Return the statistics of a result (see `Result.summary`)."""
    problem, algorithm, delta = result.problem, result.algorithm, result.delta
    finished = int(np.count_nonzero(result.finished))
    everything = finished == result.replications
    pulls = result.pulls if everything else result.pulls[result.finished]
    rounds = result.rounds if everything else result.rounds[result.finished]
    errors = finished - int(np.count_nonzero(result.correct))
    mean, standard_error = mean_and_error(pulls)
    error_interval = clopper_pearson(errors, finished)
    theorem, upper = upper_bound(problem, algorithm, delta)
    above = None
    if upper is not None:
        # Butterscotch's theorem counts fractional pulls, which the algorithm rounds up.
        above = int(np.count_nonzero(pulls > upper + problem.n_arms)) / finished if finished else math.nan
    return Summary(
        algorithm=algorithm.label,
        delta=delta,
        seed=result.seed,
        max_pulls=result.experiment.max_pulls,
        replications=result.replications,
        finished=finished,
        mean=mean,
        standard_error=standard_error,
        interval=student_interval(mean, standard_error, finished),
        quantiles=_quantiles(pulls),
        mean_rounds=float(rounds.mean()) if finished else math.nan,
        errors=errors,
        error_rate=errors / finished if finished else math.nan,
        error_interval=error_interval,
        error_exceeds_delta=error_interval[0] > delta,
        lower_bound=float(bounds.lower(problem, delta)),
        upper_bound=upper,
        upper_bound_theorem=theorem,
        share_above_upper_bound=above,
        named=_most_named(result) if problem.arms.names is not None else None,
        unguarded=problem.arms.why_not_sub_gaussian(),
        seconds=result.seconds,
        compile_seconds=result.compile_seconds,
    )


def upper_bound(problem: Problem, algorithm: Algorithm, delta: float) -> tuple[str | None, float | None]:
    """Return the theorem that bounds an algorithm's pulls with probability 1 - delta, and the bound in pulls; None without one.

    There is none either where the means are not known, as in a study of a reward law that is not known here.
    """
    if algorithm.upper_bound is None or np.isnan(problem.arms.means).any():
        return None, None
    function, theorem = algorithm.upper_bound
    return theorem, float(getattr(bounds, function)(problem, delta))


def outputs_by_cluster(result: Result) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return, for each cluster of which something is asked, the arms named for it with how often, most often first, ties by index."""
    found, start = [], 0
    for cluster, required in enumerate(result.problem.required):
        if required:
            arms, times = np.unique(result.representatives[result.finished, start : start + required], return_counts=True)
            order = np.argsort(-times, kind="stable")
            found.append((cluster, list(zip(arms[order].tolist(), times[order].tolist(), strict=True))))
        start += required
    return found


def _most_named(result: Result) -> dict[int, list[str]]:
    problem = result.problem
    return {cluster + 1: [problem.arms.name(arm) for arm, _ in outputs[: problem.required[cluster]]]
            for cluster, outputs in outputs_by_cluster(result)}


def _few_names(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def mean_and_error(pulls: NDArray[np.int64]) -> tuple[float, float]:
    """Return mean and standard error; NaN where there are too few numbers."""
    n = len(pulls)
    mean = float(pulls.mean()) if n else math.nan
    return mean, float(pulls.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan


def student_interval(mean: float, standard_error: float, n: int) -> tuple[float, float]:
    """Return the 95 % Student interval of a mean of n numbers; NaN for fewer than two."""
    if n < 2:
        return math.nan, math.nan
    margin = student_quantile(n) * standard_error
    return mean - margin, mean + margin


def student_quantile(n: int) -> float:
    """Return by how many standard errors the 95 % interval of a mean of n >= 2 numbers reaches to either side."""
    # Here, not above: it is slow to load, and only summaries need it.
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1.0 + _CONFIDENCE) / 2.0))


def clopper_pearson(errors: int, n: int) -> tuple[float, float]:
    """Return the 95 % Clopper-Pearson interval of a probability, from `errors` cases in n; NaN for n = 0."""
    if n == 0:
        return math.nan, math.nan
    from scipy.special import betaincinv

    tail = (1.0 - _CONFIDENCE) / 2.0
    low = float(betaincinv(errors, n - errors + 1, tail)) if errors else 0.0
    high = float(betaincinv(errors + 1, n - errors, 1.0 - tail)) if errors < n else 1.0
    return low, high


def _quantiles(pulls: NDArray[np.int64]) -> dict[float, float]:
    if not len(pulls):
        return dict.fromkeys(QUANTILES, math.nan)
    return dict(zip(QUANTILES, np.quantile(pulls, QUANTILES, method="inverted_cdf").tolist(), strict=True))


def number(value: float | None) -> str:
    """Return a number of pulls or rounds with thousands separators, one decimal below 1,000, or n/a."""
    if value is None or math.isnan(value):
        return "n/a"
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000.0 else f"{value:,.1f}"


def count(n: int, thing: str) -> str:
    """Return n things in words, such as 1,000 replications."""
    return f"{n:,} {thing}" + ("" if n == 1 else "s")


def percent(share: float) -> str:
    """Return a share in percent with three significant digits, or n/a."""
    return "n/a" if math.isnan(share) else f"{100.0 * share:.3g} %"


def json_safe(value: Any) -> Any:
    """Return a value of numbers, texts, lists and dicts as JSON can hold it: None for NaN and infinities."""
    if isinstance(value, dict):
        return {str(key): json_safe(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
