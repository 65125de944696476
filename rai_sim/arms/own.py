"""Arms with a reward law of a user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from types import FunctionType
from typing import Any, ClassVar, dataclass_transform

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from rai_sim.arms.base import LAWS, Arms, RescaledArms, checked_sigma, frozen_array
from rai_sim.arms.own_kernels import announce, draw, draw_sums
from rai_sim.engine.jit import REAL, in_words, returned
from rai_sim.engine.streams import new_generators, stream_key
from rai_sim.engine.tags import seen, tag
from rai_sim.support import sources
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import integer, real

#: Fields of what kernels know, after the law's own; the last one if rewards are divided by it.
_TOLD = ("least_reward", "greatest_reward", "used_proxy", "used_unit")
#: What a user's functions are given.
_PARAMETERS = {"pull": ("law", "arm", "random"), "pulls": ("law", "arm", "k", "random")}
#: A law is looked at before it is first run: so many arms, pulls, sums, and pulls of a sum.
_ARMS, _PULLS, _SUMS, _OF_A_SUM = 8, 4096, 1024, 64
#: Standard errors by which what is drawn may be off: one in 10^10; and relative, what rounding may do
#: to a mean or a sum, besides.
_OFF, _ROUNDING = 6.5, 1e-9


@dataclass_transform(frozen_default=True, eq_default=False)
@dataclass(frozen=True, eq=False, repr=False)
class OwnArms(Arms, known=False):
    """Arms with a reward law of a user's own: derive from this class and write `pull`.

    `pull(law, arm, random)`, a static method, returns a reward and the state of the stream after it.
    It draws by `rai_sim.samplers`, whose functions take the state and give it back; `law` has the
    class's fields by their names: `means`, and further numbers or arrays of N numbers. It is compiled
    by Numba. If sums of many rewards can be drawn at once, write `pulls(law, arm, k, random)` as well,
    which returns the sum of k >= 1 rewards and the state; without it, jumps cost time by their
    length.

    `bounds`, if the rewards are bounded, and `variance_proxy`, if every arm is sub-Gaussian with one
    that is known, let stretches of rounds be jumped over, as long as they are true: both may be
    attributes of the class or properties. From bounds a proxy follows. Rewards that are not
    1/2-sub-Gaussian need a field `sigma: float = ...`, which algorithms and bounds are then told:
    those whose proxy is at most sigma^2 are sigma-sub-Gaussian.

    Before it is first run a law is looked at: rewards must be finite and within the bounds, their
    means those that were given, their variances at most the proxy; sums must have the mean and
    variance of the pulls'. (In thousands of draws of eight arms: gross mistakes are seen.)

    Two are one law if names, fields and code are the same. To open a study, import the class first.

    Parameters
    ----------
    means : array_like, shape (N,)
        Expectations, in any order.

    Raises
    ------
    TypeError
        If there is no `pull`, or a field is neither a number nor an array of them; where the class is
        defined, if `pull` or `pulls` takes other parameters.
    ValueError
        If a field's array is not of length N, or, when it is first run, the law is not as it says.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from rai_sim.samplers import uniform
    >>> class Triangular(rai.OwnArms):
    ...     width: float = 0.2  # rewards are within the mean -+ width
    ...     bounds = (0.0, 1.0)
    ...
    ...     @staticmethod
    ...     def pull(law, arm, random):
    ...         u, random = uniform(random)
    ...         v, random = uniform(random)
    ...         return law.means[arm] + law.width * (u - v), random
    >>> arms = Triangular([0.7, 0.5, 0.3])
    >>> arms
    Triangular(3 arms, means [0.7, 0.5, 0.3], width 0.2)
    >>> result = rai.simulate(rai.best_arm(arms), rai.Butterscotch(), replications=50, seed=1)
    >>> bool(result.correct.all())
    True
    >>> bool(abs(arms.sample(0, 10_000, seed=1).std() - 0.2 / 6**0.5) < 0.002)
    True
    """

    means: Any  # (N,) float64 once it is made

    #: The least and the greatest reward there is.
    bounds: ClassVar[tuple[float, float] | None] = None
    #: A sigma^2 of which every arm's reward is sub-Gaussian.
    variance_proxy: ClassVar[float | None] = None

    def __init_subclass__(cls, known: bool = True) -> None:
        """Take the annotated names for fields; refuse functions that take other parameters than they
        will be given."""
        super().__init_subclass__(known=False)
        dataclass(frozen=True, eq=False, repr=False)(cls)
        for name, parameters in _PARAMETERS.items():
            function = _function(cls, name)
            if function is not None:
                sources.check_parameters("arms", f"{cls.__name__}.{name}", function, parameters)
        if known:
            LAWS[cls.__name__.lower()] = cls

    def __post_init__(self) -> None:
        """Check and freeze what defines the law."""
        pull = self._function("pull")
        if pull is None:
            raise ArgumentTypeError(
                "arms",
                f"{type(self).__name__} has no function pull(law, arm, random); write one, as a "
                "static method",
            )
        for field in fields(self):
            if field.name in _TOLD or field.name.startswith("_"):
                raise ArgumentTypeError(
                    field.name,
                    f"{type(self).__name__}: {field.name} is a name that the package uses, or begins "
                    "with an underscore; call the field otherwise",
                )
            object.__setattr__(self, field.name, self._field(field.name))
        if self.sigma is not None and "sigma" not in (field.name for field in fields(self)):
            raise ArgumentTypeError(
                "sigma",
                f"{type(self).__name__}: sigma is {self.sigma!r}, but no field, and would not be "
                f"stored with studies; write `sigma: float = {self.sigma!r}`",
            )
        object.__setattr__(self, "_code", sources.code_of(*self._functions()))
        _ = self.rescaled  # which may leave the range of doubles

    def _field(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "means" or np.ndim(value) > 0:
            array = frozen_array(name, value, 1)
            if name != "means" and len(array) != self.n_arms:
                raise ArgumentValueError(
                    name, f"{name} has {len(array)} entries for {self.n_arms} arms; give one an arm"
                )
            return array
        return checked_sigma(value) if name == "sigma" else real(name, value)

    @property
    def _digest(self) -> str:
        code: sources.Code = getattr(self, "_code")  # noqa: B009
        return code.digest

    def _functions(self) -> tuple[FunctionType, ...]:
        given = self._function("pull"), self._function("pulls")
        return tuple(one for one in given if one is not None)

    def _function(self, name: str) -> FunctionType | None:
        return _function(type(self), name)

    def _over(self, scale: float) -> Arms:
        return RescaledArms.over(self)

    def _law_units(self) -> tuple[float, float]:
        return 0.0, self.two_sigma  # kernels divide rewards by it

    def kernel_law(self) -> Any:
        """Return the kernels' view of the law."""
        law = self._law(None if self.sigma is None else self.two_sigma)
        _look_at(self)
        return law

    def _law(self, unit: float | None = None) -> Any:
        """Return what kernels know, of rewards over a unit if there is one."""
        told = _TOLD[: 3 + (unit is not None)]
        # a sigma of None is no number that kernels could be told
        names = [field.name for field in fields(self) if getattr(self, field.name) is not None]
        sources.confirm("arms", type(self).__name__, getattr(self, "_code"), self._functions())  # noqa: B009
        pull = self._function("pull")
        assert pull is not None  # it was looked at when the arms were made
        cls: Any = tag(type(self).__name__, self._digest, [*names, *told], pull.__module__)
        announce(cls, pull, self._function("pulls"), unit is not None)
        values = (getattr(self, name) for name in names)
        low, high = self._range()
        return cls(
            *(seen(value) if isinstance(value, np.ndarray) else value for value in values),
            *(low, high, self._proxy(), unit)[: len(told)],
        )

    def _range(self) -> tuple[float, float]:
        if self.bounds is None:
            return -math.inf, math.inf
        try:
            low, high = self.bounds
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(
                "bounds", f"bounds is {self.bounds!r}; give the least and the greatest reward"
            ) from error
        low, high = real("bounds", low), real("bounds", high)
        if not low <= high:
            raise ArgumentValueError(
                "bounds", f"bounds are {low} and {high}; give the least reward, then the greatest"
            )
        return low, high

    def _proxy(self) -> float:
        low, high = self._range()
        known = (
            math.inf if self.variance_proxy is None else real("variance_proxy", self.variance_proxy)
        )
        if not known >= 0.0:
            raise ArgumentValueError(
                "variance_proxy", f"variance_proxy is {known}; give a number of 0 or more"
            )
        # squares of distances are divided by it
        return max(min(known, (high - low) ** 2 / 4.0), 1e-200)

    def sample(self, arm: int, count: int, seed: int = 0) -> NDArray[np.float64]:
        """Return rewards of an arm, drawn one after another: for histograms and tests.

        Parameters
        ----------
        arm : int
            From 0 on.
        count : int
            How many, 0 or more.
        seed : int
            Of the stream, which is none of a simulation's.

        Returns
        -------
        (count,) float64
            In units of reward.

        Raises
        ------
        TypeError
            If `arm` or `count` is no integer.
        ValueError
            If there is no such arm, `count` is negative, or `pull` cannot be compiled.
        """
        return self._compiled(draw, arm, 1, seed, count)

    def sample_sums(self, arm: int, k: int, count: int, seed: int = 0) -> NDArray[np.float64]:
        """Return sums of k rewards of an arm, as jumps draw them.

        Parameters
        ----------
        arm : int
            From 0 on.
        k : int
            Rewards a sum, 1 or more.
        count : int
            How many sums, 0 or more.
        seed : int
            Of the stream, which is none of a simulation's.

        Returns
        -------
        (count,) float64
            In units of reward.

        Raises
        ------
        TypeError
            If `arm`, `k` or `count` is no integer.
        ValueError
            If there is no such arm, `k` is below 1, `count` is negative, or `pull` or `pulls` cannot
            be compiled.
        """
        return self._compiled(draw_sums, arm, k, seed, count)

    def _compiled(
        self, draw: Callable[..., None], arm: int, k: int, seed: int, count: int
    ) -> NDArray[np.float64]:
        least_most = {
            "arm": (arm, 0, self.n_arms - 1),
            "k": (k, 1, None),
            "count": (count, 0, None),
        }
        for name, (value, least, most) in least_most.items():
            if not least <= integer(name, value) <= (value if most is None else most):
                raise ArgumentValueError(
                    name,
                    f"{name} is {value}; give an integer from {least} "
                    + ("on" if most is None else f"to {most}"),
                )
        out = np.empty(count)
        try:
            draw(self._law(), arm, k, stream_key(seed), new_generators(), out)
        except NumbaError as error:
            raise self._not_compiled(error) from error
        return out

    def _not_compiled(self, error: NumbaError) -> ArgumentValueError:
        """Return what is to be said of a law that cannot be compiled."""
        state, law = (np.uint64(0),) * 5, self._law()
        for name, k in (("pull", []), ("pulls", [1])):
            function = self._function(name)
            given = None if function is None else returned(function, (law, 0, *k, state))
            parts: tuple[Any, ...] = getattr(given, "types", ())
            if given is not None and not (len(parts) == 2 and isinstance(parts[0], REAL)):
                return ArgumentValueError(
                    "arms",
                    f"arms: {type(self).__name__}.{name} returned {in_words(given)}; return a number "
                    "and the state of the stream after it, in every case",
                )
        return ArgumentValueError(
            "arms",
            f"arms: pull or pulls of {type(self).__name__} cannot be compiled: "
            f"{sources.why_not_compiled(error)}; use what Numba knows, and rai_sim.samplers",
        )

    def why_not_sub_gaussian(self) -> str | None:
        """Return None if bounds at most 1 apart, or a proxy of at most 1/4, are given; with sigma,
        bounds at most 2 sigma apart, or a proxy of at most sigma^2."""
        # 2 sigma squared over 4 is a bounded law's proxy to the bit
        most = self.two_sigma**2 / 4.0
        if self._proxy() <= most:
            return None
        if self.bounds is None and self.variance_proxy is None:
            return f"{type(self).__name__} has neither bounds nor a variance_proxy"
        than = f"{most:g}" if self.sigma is None else f"sigma^2, {most:g}"
        return f"the variance proxy of {type(self).__name__} is {self._proxy():g}, more than {than}"

    def _identity_parts(self) -> tuple[object, ...]:
        parts = [getattr(self, field.name) for field in fields(self)]
        return (*parts, *self._range(), self._proxy(), self._digest)


def _function(cls: type, name: str) -> FunctionType | None:
    found = (vars(base)[name] for base in cls.__mro__ if name in vars(base))
    return sources.plain(next(found, None))


@lru_cache(maxsize=256)
def _look_at(arms: OwnArms) -> None:
    """Raise ValueError if rewards that are drawn are not as the law says."""
    low, high = arms._range()
    chosen = np.unique(np.linspace(0, arms.n_arms - 1, min(_ARMS, arms.n_arms)).astype(int))
    for arm in chosen.tolist():
        mean, rewards = float(arms.means[arm]), arms.sample(arm, _PULLS)
        name = f"{type(arms).__name__}: of {_PULLS:,} rewards of arm {arm}"
        if not np.isfinite(rewards).all():
            raise ArgumentValueError("arms", f"{name} one is {_first_odd(rewards)}; mend pull")
        if rewards.min() < low or rewards.max() > high:
            odd = rewards.min() if rewards.min() < low else rewards.max()
            raise ArgumentValueError(
                "bounds",
                f"{name} one is {odd:.6g}, outside its bounds {low:g} and {high:g}; mend them",
            )
        spread = float(rewards.std())
        rounding = _ROUNDING * max(1.0, abs(mean))
        if abs(rewards.mean() - mean) > _OFF * spread / math.sqrt(_PULLS) + rounding:
            raise ArgumentValueError(
                "means",
                f"{name} the mean is {rewards.mean():.6g}, but means[{arm}] is {mean:.6g}; "
                "mend one or the other",
            )
        _look_at_proxy(arms, name, rewards)
        if arms._function("pulls") is not None:
            _look_at_sums(arms, arm, mean, spread)


def _look_at_proxy(arms: OwnArms, name: str, rewards: NDArray[np.float64]) -> None:
    """Raise ValueError if rewards vary by more than their variance proxy, which no variance
    exceeds."""
    squares, proxy = (rewards - rewards.mean()) ** 2, arms._proxy()
    if squares.mean() - _OFF * squares.std() / math.sqrt(_PULLS) > proxy * (1.0 + 1e-9) + 1e-18:
        raise ArgumentValueError(
            "variance_proxy",
            f"{name} the variance is {squares.mean():.6g}, but its variance proxy is said to be "
            f"{proxy:.6g}, which is no less than the variance of any sub-Gaussian law; mend it",
        )


def _look_at_sums(arms: OwnArms, arm: int, mean: float, spread: float) -> None:
    """Raise ValueError if sums that are drawn at once have another mean or variance than pulls."""
    sums = arms.sample_sums(arm, _OF_A_SUM, _SUMS)
    wanted, deviation = _OF_A_SUM * mean, spread * math.sqrt(_OF_A_SUM)
    rounding = _ROUNDING * max(1.0, abs(wanted))
    off = abs(sums.mean() - wanted) > _OFF * deviation / math.sqrt(_SUMS) + rounding
    # of 1,024 sums and 4,096 pulls the standard error of what both deviate by is some 3 % for light
    # tails
    alike = 0.7 * deviation - rounding < sums.std() < 1.4 * deviation + rounding
    if not np.isfinite(sums).all() or off or not alike:
        raise ArgumentValueError(
            "arms",
            f"{type(arms).__name__}: of {_SUMS:,} sums of {_OF_A_SUM} rewards of arm {arm} mean and "
            f"deviation are {sums.mean():.6g} and {sums.std():.6g}, but pulls have {wanted:.6g} and "
            f"{deviation:.6g}; mend pulls",
        )


def _first_odd(rewards: NDArray[np.float64]) -> float:
    return float(rewards[~np.isfinite(rewards)][0])
