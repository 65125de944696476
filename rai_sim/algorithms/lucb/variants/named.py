"""The name of LUCB's radius, which can be called: `LUCB(radius="mixture")` names one, and
`LUCB().radius(rounds, pulls, problem, delta)` computes it, as `Algorithm.radius` of all algorithms
does."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.variants.picks import PicksName, choice_of
from rai_sim.algorithms.lucb.variants.radii import RadiusName, radii_of

if TYPE_CHECKING:
    from rai_sim.problem import Problem


class NamedRadius(str):
    """A radius's name, a text like any other, that computes radii when it is called.

    Parameters
    ----------
    name : {"paper", "mixture", "stitched"}
        The radius.
    picks : str
        LUCB's picks, which decide the levels of its sides.

    Examples
    --------
    >>> import rai_sim as rai
    >>> radius = NamedRadius("mixture", "all")
    >>> radius == "mixture", radius
    (True, 'mixture')
    >>> radius(np.array([1, 9]), np.array([1, 100]), rai.table_problem(), 0.01).round(3)
    array([8.153, 0.215])
    """

    picks: PicksName

    def __new__(cls, name: str, picks: PicksName) -> NamedRadius:
        """Make a text that knows the picks."""
        text = super().__new__(cls, name)
        text.picks = picks
        return text

    @property
    def name(self) -> RadiusName:
        """The plain text."""
        return cast("RadiusName", str.__str__(self))

    def __getnewargs__(self) -> tuple[str, PicksName]:  # type: ignore[override]
        """Return what makes a copy."""
        return str.__str__(self), self.picks

    def __call__(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], problem: Problem, delta: float
    ) -> NDArray[np.float64]:
        """Return half the length of an arm's interval: its radius, but for `lucb++`, whose intervals
        are longer on one side. See `Algorithm.radius`."""
        choice = choice_of(self.name, self.picks, problem.clusters, problem.required, delta)
        R, n = np.asarray(rounds, float), np.asarray(pulls, float)
        return np.asarray((radii_of(choice.down, R, n) + radii_of(choice.up, R, n)) / 2.0)


if TYPE_CHECKING:

    class RadiusField:
        """What type checkers know of the option: it is given a name, and is one that can be
        called."""

        def __get__(self, owner: object, kind: type | None = None) -> NamedRadius:
            """Return the name."""

        def __set__(self, owner: object, name: RadiusName | NamedRadius) -> None:
            """Take a name."""
