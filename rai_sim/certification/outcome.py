"""What came of a certification: a verdict, and what was seen on each instance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.certification.claims import Claim
from rai_sim.certification.verdicts import Seen as Seen
from rai_sim.certification.verdicts import level_of_each
from rai_sim.problem import Problem
from rai_sim.simulation.statistics import ABOVE as ABOVE
from rai_sim.simulation.statistics import BELOW as BELOW
from rai_sim.simulation.statistics import OPEN as OPEN
from rai_sim.support.columns import Catalogue, Column, cells, first_key, titles
from rai_sim.support.text_tables import text_table
from rai_sim.support.wording import count, ends, json_safe, percent

if TYPE_CHECKING:
    import polars as pl

#: The verdict where nothing was found against a claim.
NO_VIOLATION = "no violation above delta found"


@dataclass(frozen=True)
class Tried:
    """What was seen on an instance.

    Attributes
    ----------
    instance : str
        Its name.
    problem : Problem
        The instance.
    max_pulls : int
        Pulls at which a replication was given up.
    replications : int
        Replications run; 0 where an instance before it decided.
    errors : int
        Replications that count against the claim: wrong outputs, or more pulls than the bound.
    capped : int
        Replications that the cap ended, of which it is not known whether they would have erred.
    low, high : float
        Ends of the confidence sequence of the probability of an error. The lower end takes capped
        replications for right, the upper one for wrong.
    log_e_value : float
        Natural logarithm of the e-value against a probability of at most delta, capped replications
        taken for right.
    finding : {"above delta", "below delta", "open"}
        On which side of delta the interval lies.
    """

    instance: str
    problem: Problem
    max_pulls: int
    replications: int
    errors: int
    capped: int
    low: float
    high: float
    log_e_value: float
    finding: str

    @property
    def rate(self) -> float:
        """Errors over replications; NaN without replications."""
        return self.errors / self.replications if self.replications else math.nan

    @property
    def e_value(self) -> float:
        """The e-value; infinite beyond the double range."""
        return math.exp(self.log_e_value) if self.log_e_value < 700.0 else math.inf

    @classmethod
    def of(
        cls, instance: tuple[str, Problem, int], seen: Seen, delta: float, level: float
    ) -> Tried:
        """Return what follows from what was seen, at a level for this instance alone."""
        least, most = seen.readings(delta)
        return cls(
            *instance,
            *seen,
            low=least.interval(level)[0],
            high=most.interval(level)[1],
            log_e_value=least.log_e_value,
            finding=seen.finding(delta, level),
        )


def _e_value(log_e_value: float) -> str:
    return (
        f"1e{log_e_value / math.log(10.0):.0f}"
        if log_e_value > 15.0
        else f"{math.exp(log_e_value):,.3g}"
    )


#: What tables show of `Tried`.
COLUMNS: Catalogue[Column] = Catalogue(
    [
        Column(key="instance", title="instance", get=lambda one: one.instance),
        Column(
            key="replications",
            title="replications",
            unit="replications",
            form="{:,}".format,
            get=lambda one: one.replications,
        ),
        Column(
            key="errors",
            title="errors",
            unit="replications",
            form="{:,}".format,
            get=lambda one: one.errors,
        ),
        Column(
            key="capped",
            title="capped",
            unit="replications",
            form="{:,}".format,
            get=lambda one: one.capped,
        ),
        Column(
            key="rate", title="error rate", unit="share", form=percent, get=lambda one: one.rate
        ),
        Column(
            key="interval",
            title="interval",
            unit="share",
            form=lambda pair: ends(*map(percent, pair)),
            get=lambda one: (one.low, one.high),
            sort=first_key,
        ),
        Column(key="e_value", title="e-value", form=_e_value, get=lambda one: one.log_e_value),
        Column(
            key="finding",
            title="finding",
            get=lambda one: one.finding,
            warns=lambda one: one.finding == ABOVE,
        ),
    ]
)


def columns_for(claim: Claim) -> tuple[Column, ...]:
    """Return the columns, in the words of a claim.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from rai_sim.certification.claims import claim_called
    >>> titles(columns_for(claim_called("pulls", rai.Vanilla(), None)))[2:5]
    ['above bound', 'capped', 'rate above the bound']
    """
    words = {"errors": claim.title, "rate": claim.rate}
    return tuple(one.shown(words.get(one.key, one.title)) for one in COLUMNS)


@dataclass(frozen=True, eq=False, repr=False)
class Certification:
    """What `certify` found.

    Attributes
    ----------
    algorithm : Algorithm
        What was tested.
    claim : Claim
        What was claimed of it.
    delta : float
        The error probability it was run with.
    alpha : float
        What the probability of each wrong verdict is at most.
    seed : int
        Of all replications.
    skip_error : float
        As in `simulate`.
    most_replications : int
        How many an instance may have had.
    rows : tuple of Tried
        One an instance, in the order in which they were run.
    interrupted : bool
        Whether it was ended by Ctrl-C.

    Examples
    --------
    >>> import rai_sim as rai
    >>> found = rai.certify(rai.Vanilla(), 0.1, problems={"table": rai.table_problem()}, seed=0)
    >>> found.passed, found.headline
    (True, 'Vanilla(merging=True), delta 0.1, seed 0: no violation above delta found')
    >>> [(row.instance, row.errors, row.replications) for row in found.tried]
    [('table', 0, 63)]
    """

    algorithm: Algorithm
    claim: Claim
    delta: float
    alpha: float
    seed: int
    skip_error: float
    most_replications: int
    rows: tuple[Tried, ...]
    interrupted: bool = False

    @property
    def violations(self) -> tuple[Tried, ...]:
        """The instances on which the probability is above delta."""
        return tuple(row for row in self.rows if row.finding == ABOVE)

    @property
    def tried(self) -> tuple[Tried, ...]:
        """The instances that were run: a violation ends the test, unless it was to go on."""
        return tuple(row for row in self.rows if row.replications)

    @property
    def verdict(self) -> str:
        """Either "no violation above delta found", or that the claim does not hold: "not delta-PC",
        "Theorem 2 is violated"."""
        return self.claim.refuted if self.violations else NO_VIOLATION

    @property
    def passed(self) -> bool:
        """Whether the probability is shown to be below delta on every instance."""
        return all(row.finding == BELOW for row in self.rows)

    @property
    def level(self) -> float:
        """What each end of each interval may miss: alpha over the number of instances."""
        return level_of_each(self.alpha, len(self.rows))

    @property
    def limit(self) -> float:
        """The greatest upper end of all intervals."""
        return max(row.high for row in self.rows)

    @property
    def statements(self) -> tuple[str, ...]:
        """The verdict with its reasons, and how sure it is, in sentences."""
        said = [*map(self._accusation, self.violations)] or [self._acquittal()]
        capped = sum(row.capped for row in self.rows)
        if capped:
            said.append(
                f"{count(capped, 'replication')} stopped at the cap: no errors where a violation "
                "is to be shown, errors where it is to be excluded"
            )
        left_out = len(self.rows) - len(self.tried)
        if left_out:
            why = "interrupted" if self.interrupted else "the verdict was clear before"
            said.append(f"{count(left_out, 'instance')} not run: {why}")
        return (*said, self._how_sure())

    def _accusation(self, row: Tried) -> str:
        low, high = percent(row.low), percent(row.high)
        return (
            f"{self.claim.refuted}: on {row.instance!r} {row.errors:,} of {row.replications:,} "
            f"{self.claim.event}, {percent(row.rate)}; {self.claim.rate} {low} to {high}, delta "
            f"{percent(self.delta)}"
        )

    def _acquittal(self) -> str:
        n = count(len(self.rows), "instance")
        which = "the" if len(self.rows) == 1 else "every"
        sure = f"with confidence {percent(1.0 - self.alpha)} {which} {self.claim.rate}"
        if self.passed:
            return (
                f"{NO_VIOLATION}: {sure} on {n} is below delta = {percent(self.delta)}, at most "
                f"{percent(self.limit)}"
            )
        unsure = [row for row in self.rows if row.finding == OPEN]
        worst = max(unsure, key=lambda row: row.high)
        return (
            f"{NO_VIOLATION}, nor excluded on {len(unsure):,} of {n}: {sure} is at most "
            f"{percent(self.limit)} (that of {worst.instance!r} after "
            f"{count(worst.replications, 'replication')}); more replications may decide"
        )

    def _how_sure(self) -> str:
        return (
            "error rates of this test: where the claim holds on all instances a violation is found "
            f"with probability at most alpha = {percent(self.alpha)}; where it does not, all are "
            "said to be below delta with probability at most alpha; wherever the test stops (an "
            f"instance needs an e-value of {1.0 / self.level:,.0f})"
        )

    @property
    def headline(self) -> str:
        """Algorithm, what is claimed, and verdict, in a line."""
        stopped = "INTERRUPTED, so far " if self.interrupted else ""
        return (
            f"{self.algorithm.label}, delta {self.delta:g}, seed {self.seed}: "
            f"{stopped}{self.verdict}"
        )

    def __str__(self) -> str:
        """Return the verdict with a table of the instances."""
        columns = columns_for(self.claim)
        table = [titles(columns), *([c.text for c in cells(columns, row)] for row in self.tried)]
        return "\n".join([self.headline, "", *text_table(table), "", *self.statements])

    def __repr__(self) -> str:
        """Say what was tested, and the verdict."""
        return (
            f"Certification({self.algorithm.label}, claim={self.claim.name!r}, delta={self.delta}, "
            f"verdict={self.verdict!r})"
        )

    def _repr_html_(self) -> str:
        """Return the table and the verdict, for notebooks."""
        from rai_sim.support import html_tables

        columns = columns_for(self.claim)
        table = html_tables.table(titles(columns), [cells(columns, row) for row in self.tried])
        said = "".join(map(html_tables.line, self.statements))
        return html_tables.block(self.headline, table, said)

    def _values(self) -> list[Mapping[str, Any]]:
        return [
            {
                "instance": row.instance,
                "law": type(row.problem.arms).__name__,
                "n_arms": row.problem.n_arms,
                "clusters": list(row.problem.clusters),
                "required": list(row.problem.required),
                "bottleneck_gap_reward": row.problem.bottleneck_gap,
                "max_pulls": row.max_pulls,
                "replications": row.replications,
                "errors": row.errors,
                "capped": row.capped,
                "error_rate": row.rate,
                "error_rate_low": row.low,
                "error_rate_high": row.high,
                "log_e_value": row.log_e_value,
                "finding": row.finding,
            }
            for row in self.rows
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return one row an instance, as a polars frame.

        Returns
        -------
        polars.DataFrame
            instance, law, n_arms, clusters, required, bottleneck_gap_reward, max_pulls,
            replications, errors, capped, error_rate (NaN without replications), error_rate_low,
            error_rate_high, log_e_value, finding.

        Examples
        --------
        >>> import rai_sim as rai
        >>> found = rai.certify(rai.Vanilla(), 0.1, problems={"table": rai.table_problem()}, seed=0)
        >>> found.to_frame().select("instance", "errors", "finding").rows()
        [('table', 0, 'below delta')]
        """
        import polars as pl  # slow to load, and most runs never ask for a frame

        lists = {"clusters": pl.List(pl.Int64), "required": pl.List(pl.Int64)}
        return pl.DataFrame(self._values(), schema_overrides=lists)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as JSON can hold it, None for NaN and infinities.

        Examples
        --------
        >>> import rai_sim as rai
        >>> found = rai.certify(rai.Vanilla(), 0.1, problems={"table": rai.table_problem()}, seed=0)
        >>> found.to_dict()["verdict"], found.to_dict()["instances"][0]["errors"]
        ('no violation above delta found', 0)
        """
        found: dict[str, Any] = json_safe(
            {
                "algorithm": self.algorithm.label,
                "claim": self.claim.name,
                "delta": self.delta,
                "alpha": self.alpha,
                "seed": self.seed,
                "skip_error": self.skip_error,
                "most_replications": self.most_replications,
                "verdict": self.verdict,
                "passed": self.passed,
                "interrupted": self.interrupted,
                "statements": self.statements,
                "instances": self._values(),
            }
        )
        return found
