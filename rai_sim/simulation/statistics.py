"""What replications add up to, exactly, and quantiles of their pulls.

`Sums` are the sums, `Aggregate` adds a histogram that merges exactly. Intervals of what they tell
are in `rai_sim.simulation.intervals`, what theorems say beside them in
`rai_sim.simulation.theorems`, and what is shown of all that in `rai_sim.simulation.columns`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.at_cap import NO_CAP
from rai_sim.simulation.sums import bin_edges, bin_of, exact_sum, exact_sum_of_squares

#: Shares of finished replications whose pulls are named; 1 is the largest number of pulls seen.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
#: What is known of an error rate: that it is above delta, or at most delta, or neither.
ABOVE, BELOW, OPEN = "above delta", "below delta", "open"


# Sums --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sums:
    """What replications add up to.

    Everything about pulls and rounds is over finished replications. Sums are Python integers, so
    nothing is rounded or overflows.

    Attributes
    ----------
    replications, finished, errors : int
        Replications, those that max_pulls did not end, and how many of these are wrong.
    pulls_sum, pulls_squares, rounds_sum : int
        Sums of pulls, of their squares, and of rounds.
    pulls_least, pulls_most : int
        Smallest and largest number of pulls; 0 if none finished.
    errors_at_cap : int or None
        Replications, finished or not, whose recommendation at the cap is wrong
        (`rai_sim.simulation.at_cap`); None without a cap, or if that was not kept.
    """

    replications: int
    finished: int
    errors: int
    pulls_sum: int
    pulls_squares: int
    rounds_sum: int
    pulls_least: int
    pulls_most: int
    errors_at_cap: int | None = field(default=None, kw_only=True)

    @classmethod
    def of(
        cls,
        pulls: NDArray[np.int64],
        rounds: NDArray[np.int64],
        correct: NDArray[np.bool_],
        finished: NDArray[np.bool_],
        right_at_cap: NDArray[np.bool_] | None = None,
    ) -> Sums:
        """Add up replications given as columns; without the last one `errors_at_cap` is None.

        Examples
        --------
        >>> pulls, yes = np.array([2**62, 2**62 - 2]), np.ones(2, bool)
        >>> Sums.of(pulls, pulls, yes, yes).pulls_squares == 2**124 + (2**62 - 2) ** 2
        True
        """
        pulls, rounds = of_finished(pulls, finished), of_finished(rounds, finished)
        done, at_cap = len(pulls), None
        if right_at_cap is not None:
            at_cap = len(finished) - int(np.count_nonzero(right_at_cap))
        if not done:
            return Sums(len(finished), 0, 0, 0, 0, 0, 0, 0, errors_at_cap=at_cap)
        most = int(pulls.max())
        return Sums(
            replications=len(finished),
            finished=done,
            errors=done - int(np.count_nonzero(correct)),
            pulls_sum=exact_sum(pulls, most),
            pulls_squares=exact_sum_of_squares(pulls, most),
            rounds_sum=exact_sum(rounds, int(rounds.max())),
            pulls_least=int(pulls.min()),
            pulls_most=most,
            errors_at_cap=at_cap,
        )

    @property
    def mean(self) -> float:
        """Mean pulls, correctly rounded; NaN if none finished."""
        return self.pulls_sum / self.finished if self.finished else math.nan

    @property
    def mean_rounds(self) -> float:
        """Mean rounds; NaN if none finished."""
        return self.rounds_sum / self.finished if self.finished else math.nan

    @property
    def error_rate(self) -> float:
        """Share of finished replications with a wrong representative; NaN if none finished."""
        return self.errors / self.finished if self.finished else math.nan

    @property
    def error_rate_at_cap(self) -> float:
        """Share of replications whose recommendation at the cap is wrong; NaN where that is not
        known."""
        if self.errors_at_cap is None or not self.replications:
            return math.nan
        return self.errors_at_cap / self.replications

    @cached_property
    def standard_deviation(self) -> float:
        """Of pulls, with n - 1; NaN for fewer than two finished replications."""
        n = self.finished
        # Exact before the division: no digits cancel.
        return (
            math.sqrt((n * self.pulls_squares - self.pulls_sum**2) / (n * (n - 1)))
            if n > 1
            else math.nan
        )

    @property
    def relative_deviation(self) -> float:
        """The standard deviation over the mean: 0 where no replication pulled anything, all being
        alike; NaN for fewer than two finished replications."""
        deviation = self.standard_deviation
        return deviation / self.mean if deviation else deviation

    @property
    def standard_error(self) -> float:
        """Of the mean number of pulls; NaN for fewer than two finished replications."""
        return self.standard_deviation / math.sqrt(self.finished) if self.finished > 1 else math.nan


@dataclass(frozen=True, eq=False)
class Aggregate(Sums):
    """Sums with a histogram, from which quantiles follow closely; `a + b` is that of a disjoint
    union.

    In whatever pieces replications come, the total is the same to the bit.

    Attributes
    ----------
    bins, counts : (B,) int64
        Histogram of pulls: ascending bin numbers (see `bin_of`) and how many replications each has.
    """

    bins: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        pulls: NDArray[np.int64],
        rounds: NDArray[np.int64],
        correct: NDArray[np.bool_],
        finished: NDArray[np.bool_],
        right_at_cap: NDArray[np.bool_] | None = None,
    ) -> Aggregate:
        """Aggregate replications given as columns, as `Sums.of` takes them.

        Examples
        --------
        >>> import rai_sim as rai
        >>> r = rai.simulate(rai.table_problem(), rai.Vanilla(), replications=100, seed=0)
        >>> a = Aggregate.of(r.pulls, r.rounds, r.correct, r.finished)
        >>> b = Aggregate.of(r.pulls[:30], r.rounds[:30], r.correct[:30], r.finished[:30])
        >>> c = Aggregate.of(r.pulls[30:], r.rounds[30:], r.correct[30:], r.finished[30:])
        >>> b + c == a, a.mean == float(r.pulls.mean())
        (True, True)
        """
        sums = Sums.of(pulls, rounds, correct, finished, right_at_cap)
        bins, counts = np.unique(bin_of(of_finished(pulls, finished)), return_counts=True)
        return cls(**vars(sums), bins=bins, counts=counts.astype(np.int64))

    def __add__(self, other: Aggregate) -> Aggregate:
        """Aggregate the union of disjoint sets."""
        if not self.finished or not other.finished:
            least, most = self.pulls_least + other.pulls_least, self.pulls_most + other.pulls_most
        else:
            least, most = (
                min(self.pulls_least, other.pulls_least),
                max(self.pulls_most, other.pulls_most),
            )
        bins, place = np.unique(np.concatenate([self.bins, other.bins]), return_inverse=True)
        counts = np.zeros(len(bins), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return Aggregate(
            replications=self.replications + other.replications,
            finished=self.finished + other.finished,
            errors=self.errors + other.errors,
            pulls_sum=self.pulls_sum + other.pulls_sum,
            pulls_squares=self.pulls_squares + other.pulls_squares,
            rounds_sum=self.rounds_sum + other.rounds_sum,
            pulls_least=least,
            pulls_most=most,
            errors_at_cap=errors_at_cap([self, other]),
            bins=bins,
            counts=counts,
        )

    def __eq__(self, other: object) -> bool:
        """Compare all sums and the histogram."""
        return isinstance(other, Aggregate) and self._content == other._content

    __hash__ = None  # type: ignore[assignment]

    @property
    def _content(self) -> tuple[object, ...]:
        sums = tuple(getattr(self, one.name) for one in fields(Sums))
        return (*sums, self.bins.tolist(), self.counts.tolist())

    def quantile(self, share: float) -> float:
        """Return the pulls that a share of finished replications did not exceed; NaN if none
        finished.

        They are known to within 1/512 of themselves.

        Examples
        --------
        >>> pulls, yes = np.arange(1, 1001), np.ones(1000, bool)
        >>> Aggregate.of(pulls, pulls, yes, yes).quantile(0.5)
        500.0
        """
        if not self.finished:
            return math.nan
        if share >= 1.0:
            return float(self.pulls_most)
        rank = rank_of(share, self.finished)
        number = int(self.bins[bisect_left(np.cumsum(self.counts).tolist(), rank)])
        low, high = bin_edges(number)
        return float(min(max((low + high) // 2, self.pulls_least), self.pulls_most))


def errors_at_cap(parts: Sequence[Sums]) -> int | None:
    """Return `errors_at_cap` of a disjoint union: None if it is of any part."""
    known = [part.errors_at_cap for part in parts if part.replications]
    return None if not known or None in known else sum(one for one in known if one is not None)


#: The fields of sums but `errors_at_cap`, in their order.
summed = attrgetter(*(one.name for one in fields(Sums) if not one.kw_only))
#: What no replications add up to.
NOTHING = Aggregate(0, 0, 0, 0, 0, 0, 0, 0, np.empty(0, np.int64), np.empty(0, np.int64))


class Stretches(NamedTuple):
    """What stretches of replications add up to: `Aggregate` for many short ones.

    Attributes
    ----------
    sums : list of S sequences of int
        The fields of `Sums` in their order, without `errors_at_cap`.
    errors_at_cap : list of S int or None
        The last of these fields.
    bins, counts : (C,) int64
        The histograms of all stretches, one after the other.
    borders : list of S + 1 int
        Where in them that of each stretch begins, and the last one ends.
    """

    sums: list[Sequence[Any]]
    errors_at_cap: list[int | None]
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]
    borders: list[int]

    def aggregates(self) -> list[Aggregate]:
        """Return each by itself."""
        return [
            Aggregate(
                **vars(Sums(*sums, errors_at_cap=wrong)),
                bins=self.bins[a:b],
                counts=self.counts[a:b],
            )
            for sums, wrong, (a, b) in zip(
                self.sums, self.errors_at_cap, pairwise(self.borders), strict=True
            )
        ]


def stretches_of(
    pulls: NDArray[np.int64],
    rounds: NDArray[np.int64],
    correct: NDArray[np.bool_],
    finished: NDArray[np.bool_],
    starts: NDArray[np.int64],
    at_cap: NDArray[np.int8] | None = None,
) -> Stretches:
    """Add up consecutive stretches of columns.

    Parameters
    ----------
    pulls, rounds, correct, finished : (R,) arrays
        The columns; `correct` is False where not finished.
    starts : (S,) int64
        First row of each stretch, ascending from 0, no stretch empty.
    at_cap : (R,) int8, optional
        Whether recommendations at the cap are right: 1 or 0, `NO_CAP` where that is not known; it
        is known of all of a stretch, or counts as known of none. Without it of none.

    Examples
    --------
    >>> pulls, yes = np.arange(1, 11), np.ones(10, bool)
    >>> [a.pulls_sum for a in stretches_of(pulls, pulls, yes, yes, np.array([0, 4])).aggregates()]
    [10, 45]
    """
    ends = np.append(starts[1:], len(pulls))
    right = _right_at_cap(at_cap, starts, ends)
    wrong = [None if one is None else len(one) - int(np.count_nonzero(one)) for one in right]
    most, longest = int(pulls.max()), int((ends - starts).max())
    if most * most * longest >= 2**63 or longest > 4096:
        found = [
            Aggregate.of(pulls[a:b], rounds[a:b], correct[a:b], finished[a:b])
            for a, b in zip(starts, ends, strict=True)
        ]
        return Stretches(
            sums=[summed(one) for one in found],
            errors_at_cap=wrong,
            bins=np.concatenate([one.bins for one in found]),
            counts=np.concatenate([one.counts for one in found]),
            borders=[0, *accumulate(len(one.bins) for one in found)],
        )
    done = np.add.reduceat(finished, starts, dtype=np.int64)
    seen = np.where(finished, pulls, 0)
    least = np.where(done > 0, np.minimum.reduceat(np.where(finished, pulls, most), starts), 0)
    # One sort makes all histograms: no bin number needs more than 14 bits.
    owner = np.repeat(np.arange(len(starts)), ends - starts)[finished]
    cells, counts = np.unique((owner << 14) + bin_of(pulls[finished]), return_counts=True)
    sums = np.column_stack(
        [
            ends - starts,
            done,
            done - np.add.reduceat(correct, starts, dtype=np.int64),
            np.add.reduceat(seen, starts),
            np.add.reduceat(seen * seen, starts),
            np.add.reduceat(np.where(finished, rounds, 0), starts),
            least,
            np.maximum.reduceat(seen, starts),
        ]
    )
    return Stretches(
        sums=sums.tolist(),
        errors_at_cap=wrong,
        bins=cells & 0x3FFF,
        counts=counts.astype(np.int64),
        borders=np.searchsorted(cells, np.arange(len(starts) + 1) << 14).tolist(),
    )


def _right_at_cap(
    at_cap: NDArray[np.int8] | None, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> Sequence[NDArray[np.bool_] | None]:
    """Return the column of each stretch, None where it is not known of all of it."""
    if at_cap is None or (at_cap == NO_CAP).all():
        return [None] * len(starts)
    stretches = [at_cap[a:b] for a, b in zip(starts, ends, strict=True)]
    return [None if (one == NO_CAP).any() else one == 1 for one in stretches]


# Rules -------------------------------------------------------------------------------------------


def of_finished(column: NDArray[np.int64], finished: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the entries of finished replications; the column itself if all are."""
    return column if finished.all() else column[finished]


def rank_of(share: float, n: int) -> int:
    """Return which of n ascending numbers is a quantile: the first that enough do not exceed.

    Enough is this share of them. That is the inverted distribution function, so a quantile is
    always a number that occurred.

    Examples
    --------
    >>> rank_of(0.5, 4), rank_of(0.51, 4), rank_of(0.0, 4), rank_of(1.0, 4)
    (2, 3, 1, 4)
    """
    return max(1, math.ceil(share * n))


def quantiles_of(pulls: NDArray[np.int64]) -> dict[float, float]:
    """Return the numbers of pulls at the shares `QUANTILES`, exactly; NaN if there are none.

    Examples
    --------
    >>> quantiles_of(np.arange(100, 0, -1))
    {0.05: 5, 0.25: 25, 0.5: 50, 0.75: 75, 0.95: 95, 1.0: 100}
    """
    if not len(pulls):
        return dict.fromkeys(QUANTILES, math.nan)
    places = {share: rank_of(share, len(pulls)) - 1 for share in QUANTILES}
    ordered = np.partition(pulls, sorted(set(places.values())))
    return {share: int(ordered[place]) for share, place in places.items()}
