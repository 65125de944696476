"""Statistics of a result: pulls, errors, their intervals, and the bounds beside them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rai_sim.simulation.at_cap import right_at_cap
from rai_sim.simulation.columns import Found
from rai_sim.simulation.statistics import Sums, of_finished, quantiles_of
from rai_sim.simulation.theorems import allowed_pulls
from rai_sim.support.wording import all_but, count, ends, json_safe, listed, number, percent

if TYPE_CHECKING:
    from rai_sim.simulation.result import Result

#: Metadata of a field that is a statistic: its column's key.
_KEY = "column"


@dataclass(frozen=True)
class Summary:
    """Statistics of a `Result`; every number about pulls, rounds and errors is over finished
    replications.

    Attributes
    ----------
    algorithm : str
        Label of the algorithm.
    delta, seed, max_pulls
        As given to the simulation; the seed is the drawn one if None was given.
    replications, finished : int
        Replications run, and those that max_pulls did not end.
    mean, standard_error : float
        Of pulls; NaN where the number of finished replications leaves them undefined.
    interval : (float, float)
        95 % Student interval of the mean number of pulls; NaN with fewer than two finished
        replications.
    quantiles : dict of float to float
        Of pulls: for each share of 0.05, 0.25, 0.5, 0.75, 0.95 and 1 the smallest number seen that
        at least this share of replications did not exceed (the inverted distribution function, so
        always a number that occurred); NaN if none finished.
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
    lower_bound, lower_bound_conditions
        Pulls by Theorem 1, for the mean, and when it holds: asymptotically (delta -> 0), of
        Gaussian arms of standard deviation 1/2, or sigma; NaN and None where it does not hold for
        the arms.
    tight_bound, tight_bound_conditions
        Pulls of the tight lower bound of the mean, which holds at this delta, and when it does (see
        `rai_sim.bounds.at_delta`); None where it is not to be had in passing, as of many arms,
        or does not hold.
    upper_bound, upper_bound_theorem
        The algorithm's own bound in pulls, which holds with probability 1 - delta, and the
        theorem's name; None for an algorithm without one, and where it does not hold for the arms.
    share_above_upper_bound : float or None
        Share of finished replications that took more, by over one pull an arm: rounding may add
        that much.
    named : dict of int to list of str, or None
        Where the arms have names: for each cluster of which something is asked, 1 being the best,
        the names of as many arms as are asked for, those that were named most often; None without
        names.
    unguarded : str or None
        Why neither guarantees nor bounds hold for these arms; None if they do.
    errors_at_cap, error_rate_at_cap, error_interval_at_cap
        With a cap: replications, finished or not, whose recommendation there is wrong
        (`Result.recommended`), their share, and the 95 % Clopper-Pearson interval of its
        probability; None without a cap, or if recommendations were not kept.
    seconds, compile_seconds : float
        Wall time spent on replications, and before them on compiling kernels that were not on disk.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.table_problem(task=1)
    >>> found = rai.simulate(problem, rai.Butterscotch(), replications=100, seed=0).summary()
    >>> found.mean, found.errors, found.upper_bound_theorem
    (10370.0, 0, 'Theorem 3')
    """

    algorithm: str = field(metadata={_KEY: "algorithm"})
    delta: float = field(metadata={_KEY: "delta"})
    seed: int
    max_pulls: int | None = field(metadata={_KEY: "max_pulls"})
    replications: int = field(metadata={_KEY: "replications"})
    finished: int = field(metadata={_KEY: "finished"})
    mean: float = field(metadata={_KEY: "pulls_mean"})
    standard_error: float = field(metadata={_KEY: "pulls_standard_error"})
    interval: tuple[float, float] = field(metadata={_KEY: "pulls_interval"})
    quantiles: dict[float, float] = field(metadata={_KEY: "pulls_quantiles"})
    mean_rounds: float = field(metadata={_KEY: "rounds_mean"})
    errors: int = field(metadata={_KEY: "errors"})
    error_rate: float = field(metadata={_KEY: "error_rate"})
    error_interval: tuple[float, float] = field(metadata={_KEY: "error_interval"})
    error_exceeds_delta: bool = field(metadata={_KEY: "error_exceeds_delta"})
    lower_bound: float = field(metadata={_KEY: "lower_bound_pulls"})
    lower_bound_conditions: str | None = field(metadata={_KEY: "lower_bound_conditions"})
    tight_bound: float | None = field(metadata={_KEY: "tight_bound_pulls"})
    tight_bound_conditions: str | None = field(metadata={_KEY: "tight_bound_conditions"})
    upper_bound: float | None = field(metadata={_KEY: "upper_bound_pulls"})
    upper_bound_theorem: str | None = field(metadata={_KEY: "upper_bound_theorem"})
    share_above_upper_bound: float | None
    named: dict[int, list[str]] | None
    unguarded: str | None
    seconds: float = field(metadata={_KEY: "seconds"})
    errors_at_cap: int | None = field(metadata={_KEY: "errors_at_cap"})
    error_rate_at_cap: float | None = field(metadata={_KEY: "error_rate_at_cap"})
    error_interval_at_cap: tuple[float, float] | None
    compile_seconds: float = 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before using the numbers, one sentence each; usually nothing."""
        said = []
        if self.error_exceeds_delta:
            low, high = map(percent, self.error_interval)
            said.append(
                f"the error rate lies above delta = {self.delta:g}: {self.errors:,} of "
                f"{self.finished:,} outputs are wrong, 95 % interval {low} to {high}"
            )
        if self.finished < self.replications:
            capped = self.replications - self.finished
            what, bias = (
                ("did not finish though no cap was set", "may be biased")
                if self.max_pulls is None
                else (f"stopped at the cap of {count(self.max_pulls, 'pull')}", "is biased low")
            )
            said.append(
                f"{capped:,} of {count(self.replications, 'replication')} {what}; the statistics "
                "are over the finished ones only, "
                f"so the mean {bias}"
            )
        if self.unguarded is not None:
            said.append(f"guarantees and bounds do not hold for these arms: {self.unguarded}")
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON can hold them: text for shares, lists for tuples, None for NaN
        and inf.

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
        done = (
            "all finished" if self.finished == self.replications else f"{self.finished:,} finished"
        )
        return f"{self.algorithm}, delta {self.delta:g}, seed {self.seed}: {count(self.replications, 'replication')}, {done}"

    @property
    def named_words(self) -> str | None:
        """What `named` holds, in words; of many arms of a cluster the first ones."""
        if self.named is None:
            return None
        return "; ".join(
            f"cluster {cluster}: {listed(names, 5, more=f' and {len(names) - 5} more')}"
            for cluster, names in self.named.items()
        )

    def _rows(self) -> dict[str, str]:
        """Return what is said of the replications, by name."""
        pulls = ends(*map(number, self.interval))
        errors = ends(*map(percent, self.error_interval))
        quantiles = [
            f"{'max' if share == 1.0 else percent(share)}: {number(value)}"
            for share, value in self.quantiles.items()
        ]
        rows = {
            "pulls, mean": f"{number(self.mean)}  (95 % interval {pulls}, "
            f"standard error {number(self.standard_error)})",
            "pulls, quantiles": "   ".join(quantiles),
            "rounds, mean": number(self.mean_rounds),
            "errors": f"{self.errors:,} of {self.finished:,}: {percent(self.error_rate)}  "
            f"(95 % interval {errors}; delta {percent(self.delta)})",
        }
        if self.errors_at_cap is not None and self.error_interval_at_cap is not None:
            at_cap = ends(*map(percent, self.error_interval_at_cap))
            rows["errors at the cap"] = (
                f"{self.errors_at_cap:,} of {self.replications:,}: "
                f"{percent(self.error_rate_at_cap)}  (95 % interval {at_cap}; what is "
                "recommended there)"
            )
        if self.tight_bound is not None:
            rows["tight bound"] = (
                f"{number(self.tight_bound)}  (of the mean, {self.tight_bound_conditions})"
            )
        if not math.isnan(self.lower_bound):
            rows["lower bound"] = (
                f"{number(self.lower_bound)}  (Theorem 1: of the mean, "
                f"{self.lower_bound_conditions})"
            )
        if self.upper_bound is not None and self.share_above_upper_bound is not None:
            above = f"{percent(self.share_above_upper_bound)} took more"
            if self.quantiles[1.0] > self.upper_bound:
                above += " by over a pull an arm, which rounding may add"
            rows["upper bound"] = (
                f"{number(self.upper_bound)}  ({self.upper_bound_theorem}: with "
                f"probability {all_but(self.delta)}; {above})"
            )
        if self.named_words is not None:
            rows["named most often"] = self.named_words
        compiled = f", and {self.compile_seconds:.3g} s compiling" if self.compile_seconds else ""
        return rows | {"time": f"{self.seconds:.3g} s{compiled}"}

    def _repr_html_(self) -> str:
        """Return the summary as a table, for notebooks."""
        from rai_sim.support import html_tables

        rows = html_tables.table(("", ""), self._rows().items(), left=2)
        return html_tables.block(self.headline, html_tables.warnings(self.warnings), rows)


def found_in(result: Result) -> Found:
    """Return what was found in a result: the row that its statistics are picked from."""
    right = right_at_cap(result.experiment, result.recommended)
    sums = Sums.of(result.pulls, result.rounds, result.correct, result.finished, right)
    quantiles = quantiles_of(of_finished(result.pulls, result.finished))
    return Found(result.experiment, sums, quantiles, facts={"seconds": result.seconds})


def summarise(result: Result, found: Found | None = None) -> Summary:
    """Return the statistics of a result (see `Result.summary`); `found` may have been made
    before."""
    found = found or found_in(result)
    problem = result.problem
    statistics = {
        one.name: found[one.metadata[_KEY]] for one in fields(Summary) if _KEY in one.metadata
    }
    return Summary(
        **statistics,
        error_interval_at_cap=found.error_interval_at_cap,
        seed=result.seed,
        share_above_upper_bound=_share_above(result, found),
        named=_most_named(result) if problem.arms.names is not None else None,
        unguarded=problem.arms.why_not_sub_gaussian(),
        compile_seconds=result.compile_seconds,
    )


def _share_above(result: Result, found: Found) -> float | None:
    """Return the share of finished replications beyond the upper bound, which no sum tells."""
    upper, finished = found["upper_bound_pulls"], found.sums.finished
    if upper is None:
        return None
    above = of_finished(result.pulls, result.finished) > allowed_pulls(upper, result.problem)
    return int(np.count_nonzero(above)) / finished if finished else math.nan


def outputs_by_cluster(result: Result) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return, for each cluster of which something is asked, the arms named for it with how often,
    most often first, ties by index."""
    found, start = [], 0
    for cluster, required in enumerate(result.problem.required):
        if required:
            arms, times = np.unique(
                result.representatives[result.finished, start : start + required],
                return_counts=True,
            )
            order = np.argsort(-times, kind="stable")
            found.append(
                (cluster, list(zip(arms[order].tolist(), times[order].tolist(), strict=True)))
            )
        start += required
    return found


def _most_named(result: Result) -> dict[int, list[str]]:
    problem = result.problem
    return {
        cluster + 1: [problem.arms.name(arm) for arm, _ in outputs[: problem.required[cluster]]]
        for cluster, outputs in outputs_by_cluster(result)
    }
