"""Pulls by arm for figures: what results keep, or some replications run again where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rai_sim.plotting.inputs import LEAST_FOR_INTERVAL, NO_INTERVAL, Case, rows_of
from rai_sim.simulation.arm_pulls import shares_of
from rai_sim.simulation.intervals import student_quantile

#: What a figure says where single replications are not known.
NO_ROWS = "no interval: sums of pulls alone are kept"


@dataclass(frozen=True, eq=False)
class ArmPulls:
    """Pulls of some arms in finished replications of an experiment.

    Attributes
    ----------
    number : int
        Replications.
    sums : (A,) float64
        Of each arm, over them.
    everything : float
        Of all arms, over them.
    rows : (number, A) float64 or None
        Of each arm, by replication; None where only sums are kept: then there is no interval.
    pulls : (number,) float64 or None
        Of all arms, by replication.
    """

    number: int
    sums: NDArray[np.float64]
    everything: float
    rows: NDArray[np.float64] | None = None
    pulls: NDArray[np.float64] | None = None

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Mean pulls, (A,)."""
        return self.sums / self.number

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """Share of all pulls, (A,); NaN where there is no pull."""
        return shares_of(self.sums, self.everything)

    @property
    def has_interval(self) -> bool:
        """Whether intervals are drawn: replications are known one by one, and enough of them."""
        return self.rows is not None and self.number >= LEAST_FOR_INTERVAL

    def error_of_mean(self) -> NDArray[np.float64]:
        """Return half of the 95 % interval of `mean`, (A,); NaN where none is drawn."""
        return self._error(self.rows)

    def error_of_share(self) -> NDArray[np.float64]:
        """Return half of the 95 % interval of `share`, (A,): of a ratio of means, by the numerator's
        distance from the share of the denominator; NaN where none is drawn."""
        if self.rows is None or self.pulls is None:
            return self._error(None)
        off = self._error(self.rows - self.share * self.pulls[:, None])
        return shares_of(off, self.everything / self.number)

    def _error(self, values: NDArray[np.float64] | None) -> NDArray[np.float64]:
        if values is None or not self.has_interval:
            return np.full(len(self.sums), np.nan)
        n = self.number
        spread: NDArray[np.float64] = values.std(axis=0, ddof=1) / np.sqrt(n)
        return student_quantile(n) * spread


def counted(cases: Sequence[Case], number: int, arms: NDArray[np.int64]) -> list[ArmPulls]:
    """Return the pulls of some arms in each case: of all replications of which they are kept, else
    of the first `number`, which are run again.

    Raises
    ------
    ValueError
        If nothing is kept, and rows are not either, so that it is not known which finished.
    """
    return [_counted(case, number, arms) for case in cases]


def _counted(case: Case, number: int, arms: NDArray[np.int64]) -> ArmPulls:
    sums = case.arm_pulls_sum()
    if sums is not None:
        found, finished = sums
        return ArmPulls(finished, found[arms].astype(np.float64), float(found.sum(dtype=float)))
    (result,) = rows_of([case])
    if result.arm_pulls is not None:
        number = result.replications
    rows = case.pulls_by_arm(result, number, arms).astype(np.float64)
    pulls = result.pulls[result.finished][:number].astype(np.float64)
    return ArmPulls(len(rows), rows.sum(axis=0), float(pulls.sum()), rows, pulls)


def interval_words(found: Sequence[ArmPulls], what: str) -> list[tuple[str, str]]:
    """Return the entries of a legend that say what a bar is, and why some have none: label and
    marker of each.

    Examples
    --------
    >>> interval_words([ArmPulls(500, np.ones(2), 2.0)], "mean")
    [('no interval: sums of pulls alone are kept', '')]
    """
    said = []
    if any(one.has_interval for one in found):
        said.append((f"bar: 95 % interval of the {what}", "|"))
    if any(one.rows is None for one in found):
        said.append((NO_ROWS, ""))
    if any(one.rows is not None and not one.has_interval for one in found):
        said.append((NO_INTERVAL, ""))
    return said
