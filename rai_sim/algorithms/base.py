"""What every algorithm has in common on the Python side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.options import options_of
from rai_sim.engine.blocks import Block, Setting
from rai_sim.support.checks import check_class_name

if TYPE_CHECKING:
    from rai_sim.problem import Problem

#: Every subclass of Algorithm by its lower-case name; the command line offers them.
ALGORITHMS: dict[str, type[Algorithm]] = {}


#: In the metadata of a field: an option is told of only where it is not the default.
_TOLD_IF_SET = "told_if_set"


def option(default: Any) -> Any:
    """Return the default of an option that is named only where it is set: in labels, texts, and the
    identity of experiments.

    So an option can be added to an algorithm without a change of what its experiments are called,
    and stored studies stay theirs.
    """
    return field(default=default, metadata={_TOLD_IF_SET: True})


class Algorithm(ABC):
    """An identification algorithm with its options; subclasses are frozen dataclasses.

    An option is a field that is annotated as bool, int (of 64 bits), float (finite), str or
    Literal[...], or as one of these or None; it is checked by its annotation
    (`rai_sim.algorithms.options`), stored with a study, and written as in `name:option=value` in
    files and on the command line. A class that asks for more, such as a positive number, calls
    `super().__post_init__()` first. One that is added to an algorithm later has `option(default)` for
    its default.

    An algorithm is added by one file or folder in this one (options, guarantee, kernel) and one
    import in `rai_sim/__init__.py`.
    """

    #: Which function of rai_sim.bounds bounds its pulls from above with probability 1 - delta, and
    #: the theorem's name.
    upper_bound: ClassVar[tuple[str, str] | None] = None
    #: Options of variants that are not the paper's, for tables of what the field can do.
    sharper: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    #: Whether it is one of the paper's, whose kernels `rai-sim warmup` compiles.
    of_the_paper: ClassVar[bool] = False
    #: Whether a run costs time by its rounds, most of which are looked at; else hardly more for a
    #: longer run.
    looks_at_most_rounds: ClassVar[bool] = False

    def __init_subclass__(cls, known: bool = True) -> None:
        """Make the algorithm known by its name, which none of the package's may have, unless it is but
        a base of others."""
        super().__init_subclass__()
        check_class_name("algorithm", ALGORITHMS, cls)
        if known:
            ALGORITHMS[cls.__name__.lower()] = cls
        # what is inherited, or `dataclass` makes one, which names every option
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return the call that makes the algorithm."""
        told = ", ".join(
            f"{one.name}={getattr(self, one.name)!r}" for one in self._fields_told() if one.repr
        )
        return f"{type(self).__qualname__}({told})"

    def options_told(self) -> dict[str, Any]:
        """Return the options by name that tell the algorithm from others: all but those, among the
        ones that came later, that are the default.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Vanilla(width="stitched").options_told()
        {'merging': True, 'width': 'stitched'}
        """
        return {one.name: getattr(self, one.name) for one in self._fields_told() if one.init}

    def _fields_told(self) -> list[Field[Any]]:
        return [
            one
            for one in fields(self)  # type: ignore[arg-type]  # all are dataclasses
            if _TOLD_IF_SET not in one.metadata or getattr(self, one.name) != one.default
        ]

    def __post_init__(self) -> None:
        """Refuse options that are not what they are annotated as; numbers and texts become plain
        ones."""
        for name, option in options_of(type(self)).items():
            object.__setattr__(self, name, option.checked(getattr(self, name)))

    @property
    def theorem(self) -> tuple[str, str] | None:
        """The class's `upper_bound`, None where its proof does not cover the options."""
        return self.upper_bound

    @property
    def label(self) -> str:
        """Name with options, for tables."""
        return repr(self)

    def radius(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], problem: Problem, delta: float
    ) -> NDArray[np.float64]:
        """Return the confidence radius of an arm's empirical mean in the check of a round, for
        traces; in rewards, or in units of 2 sigma where the arms have sigma.

        Parameters
        ----------
        rounds, pulls : int64 arrays that broadcast
            The round, from 1 on, and the arm's pulls by then, at least 1.
        problem : Problem
            What is asked: its N, c and r.
        delta : float
            Error probability.

        Returns
        -------
        float64 array of the broadcast shape
            Two arms are told apart when their intervals, mean -+ radius, do not meet. NaN for an
            algorithm without intervals.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Butterscotch().radius(np.array([1, 2]), np.array([1037, 4147]), rai.table_problem(), 0.01)
        array([0.0625 , 0.03125])
        """
        return np.full(np.broadcast(rounds, pulls).shape, np.nan)

    def check_problem(self, problem: Problem, delta: float) -> None:  # noqa: B027  # most have nothing to refuse
        """Refuse a problem for which the algorithm, with its options, is not defined; whatever runs
        problems asks before it runs any.

        Raises
        ------
        ValueError
            If it is not, with the remedy.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.LUCB(picks="lucb++").check_problem(rai.table_problem(task=1), 0.1)
        Traceback (most recent call last):
        ...
        rai_sim.support.errors.ArgumentValueError: algorithm is LUCB(as_printed=False, picks='lucb++'), and ...
        """

    @abstractmethod
    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run replications and write them into a block; `rai_sim.simulate` calls it.

        Parameters
        ----------
        law : NamedTuple
            The arms, as `Arms.kernel_law()` has them.
        setting : Setting
            Problem, delta, seed and limits, as kernels take them.
        first : int
            Index of the first replication; there are len(block.pulls).
        block : Block
            Where pulls, rounds and representatives are written.
        """


def sharper_algorithms(problem: Problem, delta: float) -> list[Algorithm]:
    """Return the ready-made variants that are not the paper's and are made for a problem.

    Examples
    --------
    >>> import rai_sim as rai
    >>> [one.label for one in sharper_algorithms(rai.table_problem(), 0.01)][:1]
    ["Butterscotch(merging=True, width='pairwise')"]
    """
    found = []
    # the paper's first
    for cls in sorted(ALGORITHMS.values(), key=lambda cls: not cls.of_the_paper):
        for options in cls.sharper:
            algorithm = cls(**options)
            try:
                algorithm.check_problem(problem, delta)
            except ValueError:
                continue
            found.append(algorithm)
    return found
