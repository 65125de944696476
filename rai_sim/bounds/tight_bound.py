"""What is returned as the tight lower bound: its value, and the game that it is the value of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Family = Literal["gaussian", "bernoulli"]
#: A gap at which 1/D counts as known.
PRECISE = 1e-6
#: Arms are listed by name up to so many.
_MOST_NAMED = 6


@dataclass(frozen=True)
class Alternative:
    """Another instance on which an answer is wrong, and which the weights hardly tell from the true
    one.

    Attributes
    ----------
    arm : int
        The named arm that is in another cluster there.
    direction : {"down", "up"}
        Whether that cluster comes after its own, or before.
    moved : tuple of int
        The arms that have passed it, or that it has passed: their means are `theta` too.
    theta : float
        The mean of all of these arms there, in units of reward.
    share : float
        How often the opponent plays this alternative, in (0, 1].

    Examples
    --------
    >>> import rai_sim as rai
    >>> other = rai.bounds.degenne_koolen(rai.table_problem(task=2)).binding
    >>> other.arm, other.direction, other.moved, round(other.theta, 3)  # it falls in with arm 3
    (2, 'down', (3,), 0.625)
    """

    arm: int
    direction: Literal["down", "up"]
    moved: tuple[int, ...]
    theta: float
    share: float


@dataclass(frozen=True, eq=False)
class TightBound:
    """The bound 1/D of a problem, and the game that it is the value of.

    Attributes
    ----------
    value : float
        1/D, pulls per nat, as far as it is certain: no less than this times ln(1/delta) pulls, as
        delta goes to 0. 0.0 where there is one cluster only, inf beyond the double range.
    gap : float
        1/D is at most `value` (1 + gap).
    weights : (N,) float64
        Shares of pulls, in the caller's order, with which an algorithm that knew the means would
        meet the bound; read-only.
    answer : tuple of tuple of int
        The answer that is the cheapest to prove right: for every cluster the arms it names.
    binding : Alternative or None
        Of the alternatives that the weights leave equally likely, the one that the opponent plays
        most often. None where there is one cluster only.
    family : {"gaussian", "bernoulli"}
        The laws that the arms are among.

    Examples
    --------
    >>> import rai_sim as rai
    >>> bound = rai.bounds.degenne_koolen(rai.table_problem(task=2))
    >>> round(bound.value), bound.complete, bound.answer
    (849, True, ((0, 1, 2), (), ()))
    """

    value: float
    gap: float
    weights: NDArray[np.float64]
    answer: tuple[tuple[int, ...], ...]
    binding: Alternative | None
    family: Family

    @property
    def complete(self) -> bool:
        """Whether 1/D is known to 1e-6."""
        return self.gap <= PRECISE

    def __repr__(self) -> str:
        """Return the value, what binds and what is named; of many arms the first ones."""
        named = ", ".join(_listed(arms) for arms in self.answer)
        return (
            f"TightBound(value={self.value:.6g}, gap={self.gap:.1g}, answer=({named}), "
            f"binding={self.binding if self.binding is None else _told(self.binding)})"
        )


def _listed(arms: tuple[int, ...]) -> str:
    more = ", ..." if len(arms) > _MOST_NAMED else ""
    return f"({', '.join(map(str, arms[:_MOST_NAMED]))}{more})"


def _told(one: Alternative) -> str:
    return f"arm {one.arm} {one.direction} to {one.theta:.4g} past {_listed(one.moved)}"
