"""A round robin with a width of a user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from rai_sim.algorithms.own.code import (
    Coded,
    announce,
    check_options,
    function_of,
    not_compiled,
    what_returned,
)
from rai_sim.engine import schedule as operations
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.jit import REAL, driver, kernel, of_types
from rai_sim.engine.pairs import pairs_to_order
from rai_sim.engine.round_robin.loop import run_block
from rai_sim.engine.tags import tag
from rai_sim.support import sources
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from rai_sim.problem import Problem

_TOLD = ("n_arms", "delta", "pairs")
#: Rounds at which a width is looked at before it is used, up to those that are never reached.
_LOOKED_AT = np.unique(
    np.concatenate([np.arange(1.0, 2049.0), np.floor(np.geomspace(2049.0, 2.0**60, 4000))])
)
#: Relative: so much may rounding do to a width.
_ROUNDING = 1e-12
#: Relative: by so much may compiled code differ from Python's, by another order of operations.
_COMPILED = 1e-9


class OwnRoundRobin(Coded, known=False):
    """A round robin as `Vanilla` is one, with a width of a user's own: derive from this class and write
    `width`.

    `width(R, n_arms, delta, pairs)`, a static method, is given the round R as a float, N, delta, and
    P, the number of pairs of arms that must not be judged the wrong way round
    (`rai_sim.engine.pairs.pairs_to_order`); and after these the class's options, if it has any.
    It returns W(R): an arm beats another in round R, when each has R pulls, if its sum of rewards is
    larger by more than W(R). It is compiled by Numba: arithmetic and `math`.

    W must be positive, must not fall, and must be concave, with W(R) / R not growing: that is looked
    at for rounds up to 2^60 before anything runs, and is what certified jumps rely on. They find
    stretches of rounds without an event as they do for `Vanilla`. Whether the rule is delta-PC is
    the width's affair: `rai_sim.certify` tests it.

    Two are one experiment if their names, options and code are the same. To open a study, import
    the class first.

    Parameters
    ----------
    merging : bool, default True
        Whether neighbouring clusters of which nothing more is asked are merged.

    Raises
    ------
    TypeError
        If there is no `width`, or an option is no number; where the class is defined, if `width` takes
        other parameters.
    ValueError
        When it is run: if W is not as it must be.

    Examples
    --------
    >>> import math
    >>> import rai_sim as rai
    >>> class Narrow(rai.OwnRoundRobin):
    ...     @staticmethod
    ...     def width(R, n_arms, delta, pairs):
    ...         return math.sqrt(R * math.log(math.pi**2 * R * R * pairs / (6 * delta)))
    >>> problem = rai.best_arm(rai.Gaussian([0.8, 0.5, 0.4]))
    >>> result = rai.simulate(problem, Narrow(), replications=100, seed=1)
    >>> bool(result.pulls.mean() < 700)  # Vanilla: 1,060
    True
    """

    merging: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        super().__post_init__()
        object.__setattr__(self, "_code", sources.code_of(self._function()))
        check_options(type(self).__name__, "width", self._own_options(), _TOLD)

    def check_problem(self, problem: Problem, delta: float) -> None:
        """Refuse a width that certified jumps cannot rely on."""
        pairs = pairs_to_order(problem.clusters, problem.required, self.merging)
        _look_at(self, self._digest, problem.n_arms, delta, pairs)

    def radius(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], problem: Problem, delta: float
    ) -> NDArray[np.float64]:
        """Return W(R) / (2 R)."""
        R = np.asarray(rounds, float)
        pairs = pairs_to_order(problem.clusters, problem.required, self.merging)
        W = self._widths(R.ravel(), problem.n_arms, delta, pairs)
        return np.asarray(W.reshape(R.shape) / (2.0 * R) + 0.0 * pulls)

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        pairs = pairs_to_order(setting.sizes.tolist(), setting.required.tolist(), self.merging)
        schedule = self._schedule(setting.cluster_of.size, setting.delta, pairs)
        try:
            run_block(law, schedule, self.merging, setting, first, block, crowds=True)
        except (NumbaError, TypeError) as error:
            raise self._flaw(schedule, error) from error

    def _function(self) -> FunctionType:
        return function_of(type(self), "width", ", ".join(("R", *_TOLD)))

    @classmethod
    def _parameters(cls) -> Mapping[str, Sequence[str]]:
        more = [one.name for one in fields(cls) if one.init and one.name != "merging"]
        return {"width": ("R", *_TOLD, *more)}

    def _own_options(self) -> dict[str, Any]:
        """Return the options that `width` is told."""
        return {name: value for name, value in self.options_told().items() if name != "merging"}

    def _schedule(self, n_arms: int, delta: float, pairs: int) -> Any:
        """Return what kernels know of the width."""
        options, function = self._own_options(), self._function()
        sources.confirm("algorithm", type(self).__name__, getattr(self, "_code"), (function,))  # noqa: B009
        cls = tag(type(self).__name__, self._digest, [*_TOLD, *options], function.__module__)
        _announce(cls, function)
        return cls(n_arms, delta, pairs, *map(float, options.values()))

    def _widths(
        self, rounds: NDArray[np.float64], n_arms: int, delta: float, pairs: int
    ) -> NDArray[np.float64]:
        """Return W as kernels find it."""
        W, schedule = np.empty(rounds.size), self._schedule(n_arms, delta, pairs)
        try:
            _tabulate(schedule, np.ascontiguousarray(rounds), W)
        except (NumbaError, TypeError) as error:
            raise self._flaw(schedule, error) from error
        return W

    def _flaw(self, schedule: Any, error: Exception) -> Exception:
        """Return what is to be said of a width that cannot be compiled, or gives no number."""
        where = f"{type(self).__name__}.width"
        given = what_returned(error, self._function(), (1.0, *schedule), REAL)
        if given is not None:
            return ArgumentValueError(
                "algorithm",
                f"algorithm: {where} returned {given}; return W(R): a number, in every case",
            )
        return not_compiled(where, error) if isinstance(error, NumbaError) else error

    def _in_python(self, R: float, n_arms: int, delta: float, pairs: int) -> float:
        """Return W as Python finds it, NaN where it raises what compiled code does not."""
        options = map(float, self._own_options().values())
        try:
            return float(self._function()(float(R), n_arms, delta, pairs, *options))
        except (ArithmeticError, ValueError):
            return np.nan


@driver
def _tabulate(schedule: Any, rounds: NDArray[np.float64], W: NDArray[np.float64]) -> None:
    for j in range(rounds.size):
        W[j] = operations.threshold(schedule, rounds[j])


@lru_cache(maxsize=1024)
def _look_at(algorithm: OwnRoundRobin, digest: str, n_arms: int, delta: float, pairs: int) -> None:
    """Raise ValueError, with the rounds, if W is not as certified jumps ask."""
    R = _LOOKED_AT
    W = algorithm._widths(R, n_arms, delta, pairs)
    with np.errstate(all="ignore"):
        wanted = np.array([algorithm._in_python(one, n_arms, delta, pairs) for one in R])
        same = abs(W - wanted) <= _COMPILED * abs(wanted)
    other = np.flatnonzero(np.isfinite(wanted) & ~same)
    if other.size > 0:
        at = other[0]
        raise ArgumentValueError(
            "algorithm",
            f"algorithm: the width of {algorithm.label} at round {R[at]:.0f} is {W[at]:.6g} when it is "
            f"compiled, but {wanted[at]:.6g} in Python, for {n_arms} arms, {pairs} pairs and delta "
            f"{delta:g}; whole numbers of compiled code have 64 bits: take float(pairs), "
            "float(n_arms)",
        )
    flaws = _flaws(R, W)
    for flaw, where in flaws.items():
        if where.any():
            at = int(np.argmax(where))
            raise ArgumentValueError(
                "algorithm",
                f"algorithm: the width of {algorithm.label} {flaw} at round {R[at]:.0f}, where it is "
                f"{W[at]:.6g}, for {n_arms} arms, {pairs} pairs and delta {delta:g}; certified jumps "
                "need one that grows and is concave, as a multiple of sqrt(R) is",
            )


def _flaws(R: NDArray[np.float64], W: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
    """Return at which rounds W is not as certified jumps ask, by what is wrong there."""
    with np.errstate(all="ignore"):  # a width that divides by zero is told of, not warned of
        slopes = np.diff(W) / np.diff(R)
        rounding = _ROUNDING * W[1:] / np.diff(R)
        bent = np.diff(slopes) > rounding[:-1] + rounding[1:]
        return {
            "is not a positive number": ~((W > 0.0) & (np.inf > W)),
            "falls": np.append(slopes < -rounding, False),
            "is not concave": np.append(bent, [False, False]),
            "divided by R grows": np.append(np.diff(W / R) > _ROUNDING * (W / R)[1:], False),
        }


def _announce(cls: Any, function: FunctionType) -> None:
    """Let kernels know the schedule that a width makes."""
    announce(operations.threshold, cls, _threshold_by(cls, function))
    announce(operations.every_round, cls, _every_round)
    announce(operations.pulls_after, cls, _pulls_after)
    announce(operations.threshold_after, cls, _threshold_after)
    announce(operations.shift, cls, _shift)
    announce(operations.leaps, cls, _leaps)


@cache
def _threshold_by(cls: Any, function: FunctionType) -> Any:
    """Return W(R) as kernels ask for it: the user's function, told what the schedule holds."""
    own = kernel(function)
    names = ", ".join(f"schedule.{name}" for name in cls._fields)
    space: dict[str, Any] = {"own": own, "number": _number}
    exec(f"def threshold(schedule, R):\n    return number(own(R, {names}))\n", space)
    return space["threshold"]


@of_types(*REAL)
def _number(W: Any) -> float:
    """Return what `width` returned, a number of any kind, as a float."""
    return float(W)


def _every_round(schedule: Any) -> bool:
    return True


def _pulls_after(schedule: Any, R: float) -> float:
    return R


def _threshold_after(schedule: Any, R0: float, W0: float, R: float) -> float:
    return operations.threshold(schedule, R)


def _shift(schedule: Any) -> float:
    return np.inf


def _leaps(schedule: Any) -> bool:
    return True
