"""What every reward law has in common on the Python side."""

from __future__ import annotations

import copy
import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.support.checks import check_class_name
from rai_sim.support.errors import ArgumentValueError, OrNone
from rai_sim.support.values import doubles, integers, real, short, texts

#: The largest magnitude of a reward, a mean or a standard deviation. A sum of 2^62 such pulls stays
#: below 1e69, so that no sum, no square of a difference of sums and no quotient of such a square
#: and a variance proxy leaves the range of doubles.
LARGEST = 1e50
TOO_LARGE = f"beyond {LARGEST:g} sums of 2^62 pulls and their squares might leave the range of doubles: rescale the rewards"

#: Every subclass of Arms by its lower-case name; the command line offers them.
LAWS: dict[str, type[Arms]] = {}
#: A text of arms lists so many numbers.
_MOST_LISTED = 6


class Arms(ABC):
    """N stochastic arms with one kind of reward law; subclasses are frozen dataclasses.

    A law is added by one file or folder in this one (a subclass, its NamedTuple for kernels, its kernel
    operations) and one import in `rai_sim/__init__.py`.
    """

    means: NDArray[np.float64]
    #: What the arms are called, such as titles of movies, and their ids where they come from; None
    #: if nobody said.
    names: tuple[str, ...] | None = None
    ids: tuple[int, ...] | None = None
    #: The sub-Gaussian parameter that algorithms and bounds are told; None for 1/2. Laws that take
    #: it have a field of this name.
    sigma: float | None = None
    #: How far a mean may be off by rounding, as a share of itself: means nearer than that tie.
    means_rounding: ClassVar[float] = 0.0
    #: Whether `means` are the law's; those of a stand-in for a law that is not known here may be
    #: NaN.
    means_known: ClassVar[bool] = True

    def __init_subclass__(cls, known: bool = True) -> None:
        """Make the law known by its name, which none of the package's may have, unless it is but a
        base of others."""
        super().__init_subclass__()
        check_class_name("arms", LAWS, cls)
        if known:
            LAWS[cls.__name__.lower()] = cls
        # or `dataclass` makes one, which prints every entry of every array
        if "__repr__" not in vars(cls):
            cls.__repr__ = Arms.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return law, number of arms and the first means, and what else defines the law, in one
        line."""
        parts = [
            f"{self.n_arms:,} arm{'' if self.n_arms == 1 else 's'}",
            f"means {_listing(self.means)}",
        ]
        others: list[str] = (
            [
                field.name
                for field in fields(self)
                if field.name != "means" and getattr(self, field.name) is not None
            ]
            if is_dataclass(self)
            else []
        )
        parts += [f"{name} {_listing(getattr(self, name))}" for name in others]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """Return the arms as a table, for notebooks; of many arms the first ones."""
        from rai_sim.arms.tables import arms_table  # here: only notebooks need it
        from rai_sim.support import html_tables

        return html_tables.block(repr(self), arms_table(self, range(self.n_arms)))

    @property
    def n_arms(self) -> int:
        """Number of arms N."""
        return len(self.means)

    def with_names(self, names: Sequence[str], ids: Sequence[int] | None = None) -> Self:
        """Return the same arms with names, and ids, for results and tables to show; they change
        neither numbers nor identity.

        Parameters
        ----------
        names : sequence of str, length N
            One name an arm; any text but half of a surrogate pair, which no file can hold.
        ids : sequence of int, length N, optional
            One number an arm, such as a movie's id, in 64 bits.

        Raises
        ------
        TypeError, ValueError
            If there is not one text, or integer, an arm, or one that cannot be stored.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Bernoulli([0.9, 0.5]).with_names(["A", "B"]).names
        ('A', 'B')
        """
        labels = texts("names", names)
        numbers = None if ids is None else integers("ids", ids, "one integer an arm")
        for name, given in (("names", labels), ("ids", numbers)):
            if given is not None and len(given) != self.n_arms:
                raise ArgumentValueError(
                    name,
                    f"{name} has {len(given)} entries for {self.n_arms} arms; give one an arm",
                )
        for arm, number in enumerate(numbers or ()):
            if not -(2**63) <= number < 2**63:
                raise ArgumentValueError(
                    "ids",
                    f"ids[{arm}] is {short.repr(number)}; an id is kept in 64 bits: give one from "
                    "-2^63 to 2^63 - 1",
                )
        named = copy.copy(self)
        object.__setattr__(named, "names", labels)
        object.__setattr__(named, "ids", numbers)
        return named

    def name(self, arm: int) -> str:
        """Return an arm's name, or "arm 3".

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Bernoulli([0.9, 0.5]).name(1)
        'arm 1'
        """
        return f"arm {arm}" if self.names is None else self.names[arm]

    @property
    def two_sigma(self) -> float:
        """2 sigma, or 1.0 where sigma is not set: a reward over it is what algorithms are shown."""
        return 1.0 if self.sigma is None else 2.0 * self.sigma

    @property
    def rescaled(self) -> Arms:
        """The arms whose rewards are these over 2 sigma; the arms themselves where sigma is not set.

        Algorithms, their kernels and the bounds are made for 1/2-sub-Gaussian rewards. So they are
        given these arms, and what they say in units of reward is multiplied by `two_sigma`: a run of
        arms with sigma is one of arms with rescaled rewards, number for number.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Gaussian([3.0, 1.0], sd=2.0, sigma=2.0).rescaled
        Gaussian(2 arms, means [0.75, 0.25], sd 0.5)
        """
        return self if self.sigma is None else self._rescaled

    @cached_property
    def _rescaled(self) -> Arms:
        return self._over(self.two_sigma)

    def _over(self, scale: float) -> Arms:
        """Return the arms whose rewards are these over a positive number, without sigma."""
        raise NotImplementedError(f"{type(self).__name__} arms take no sigma")

    @abstractmethod
    def kernel_law(self) -> Any:
        """Return the NamedTuple of arrays that kernels take (see `rai_sim.engine.law`); of arms with
        sigma that of the `rescaled` ones.

        Examples
        --------
        >>> import rai_sim as rai
        >>> type(rai.Bernoulli([0.9, 0.5]).kernel_law()).__name__
        'BernoulliLaw'
        """

    def law_units(self) -> tuple[float, float]:
        """Return origin and unit: a reward is origin + unit times what kernels see
        (`rai_sim.engine.law`, Law units).

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Bernoulli([0.9, 0.5]).law_units(), rai.Uniform([0.0], [4.0], sigma=2.0).law_units()
        ((0.0, 1.0), (0.0, 4.0))
        """
        if self.sigma is None:
            return self._law_units()
        origin, unit = self.rescaled.law_units()
        return self.two_sigma * origin, self.two_sigma * unit

    def _law_units(self) -> tuple[float, float]:
        """Return `law_units` of arms without sigma; of arms with sigma that are told kernels by
        themselves (`RescaledArms`) what they are in rewards."""
        return 0.0, 1.0

    @abstractmethod
    def why_not_sub_gaussian(self) -> str | None:
        """Return None if every arm is sigma-sub-Gaussian, sigma 1/2 where it is not set, else words
        naming the argument and value at fault.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Gaussian([0.5], sd=1.0).why_not_sub_gaussian()
        'sd is 1.0, more than 0.5'
        >>> rai.Gaussian([0.5], sd=1.0, sigma=1.0).why_not_sub_gaussian() is None
        True
        """

    @abstractmethod
    def _identity_parts(self) -> tuple[object, ...]:
        """Return what defines the law: numbers, strings and arrays."""

    def identity(self) -> str:
        """Return a text that two laws share exactly when they draw the same rewards: name, number of
        arms and SHA-256.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Bernoulli([0.9, 0.5]).identity()[:14]
        'Bernoulli:2:8e'
        >>> rai.Bernoulli([0.9, 0.5]).identity() == rai.Bernoulli([0.5, 0.9]).identity()
        False
        """
        return self._identity

    @cached_property
    def _identity(self) -> str:
        digest = hashlib.sha256()
        told = () if self.sigma is None else ("sigma", self.sigma)
        for part in (*self._identity_parts(), *told):
            digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
            digest.update(b"|")
        return f"{type(self).__name__}:{self.n_arms}:{digest.hexdigest()}"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the fields of a pickle or a deep copy, whose arrays may be writable, and freeze them
        again."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)

    def __eq__(self, other: object) -> bool:
        """Compare by `identity`."""
        return isinstance(other, Arms) and self.identity() == other.identity()

    def __hash__(self) -> int:
        """Hash the identity."""
        return hash(self.identity())


@dataclass(frozen=True, eq=False)
class RescaledArms(Arms, known=False):
    """Arms whose rewards are those of others over 2 sigma, where these have no law of their own for
    that; kernels are told by the others.

    Parameters
    ----------
    means : (N,) float64
        Means over 2 sigma.
    of : Arms
        Arms with sigma.
    """

    means: NDArray[np.float64]
    of: Arms

    @classmethod
    def over(cls, arms: Arms) -> RescaledArms:
        """Return what arms with sigma look like to algorithms."""
        return cls(frozen_array("means", arms.means / arms.two_sigma, 1), arms)

    def kernel_law(self) -> Any:
        """Return the kernels' view of the law, which is that of the arms with sigma."""
        return self.of.kernel_law()

    def _law_units(self) -> tuple[float, float]:
        origin, unit = self.of._law_units()
        return origin / self.of.two_sigma, unit / self.of.two_sigma

    def why_not_sub_gaussian(self) -> str | None:
        """Return what the arms with sigma say."""
        return self.of.why_not_sub_gaussian()

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.of.identity(),)


def one_or_by_arm(
    name: str, value: float | ArrayLike, n_arms: int, check: Callable[[str, object], float]
) -> float | NDArray[np.float64]:
    """Return a checked number for all arms, or (N,) read-only numbers by arm; N equal ones are one,
    as one law has one identity. `check` is given the entry's name and the number.

    Raises
    ------
    TypeError, ValueError
        What `check` raises, or if an array has not one entry an arm.
    """
    if np.ndim(value) == 0:
        return check(name, value)
    array = frozen_array(name, value, 1)
    if len(array) != n_arms:
        raise ArgumentValueError(
            name,
            f"{name} has {len(array)} entries for {n_arms} arms; give one an arm, or one number "
            "for all",
        )
    for arm, number in enumerate(array.tolist()):
        check(f"{name}[{arm}]", number)
    return array if (array != array[0]).any() else float(array[0])


def _listing(value: Any) -> str:
    """Return a number, the first numbers of a row, or the shape of a table, in words."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim != 1:
        return " x ".join(f"{size:,}" for size in value.shape)
    return f"[{', '.join(f'{entry:.6g}' for entry in value[:_MOST_LISTED].tolist())}{', ...' if len(value) > _MOST_LISTED else ''}]"


def checked_sigma(sigma: float | None) -> float | None:
    """Return the sub-Gaussian parameter that algorithms are told, as a float, or None.

    Raises
    ------
    TypeError
        If it is no number.
    ValueError
        If it is not positive and finite, or beyond `LARGEST`.
    """
    if sigma is None:
        return None
    told = real("sigma", sigma, "a positive number")
    if not 0.0 < told < math.inf:
        raise ArgumentValueError(
            "sigma",
            f"sigma is {short.repr(sigma)}; it must be a positive finite number, for which every "
            "arm's rewards are sub-Gaussian",
            OrNone(", or None for 1/2"),
        )
    if told > LARGEST:
        raise ArgumentValueError("sigma", f"sigma is {told}; {TOO_LARGE}")
    return told


def frozen_array(name: str, value: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    """Return `value` as a new read-only, C-contiguous float64 array, -0.0 as 0.0.

    Raises
    ------
    TypeError
        If it does not hold real numbers.
    ValueError
        If it has another number of dimensions, is ragged or empty, or holds a masked entry, NaN, or
        a number beyond `LARGEST`.
    """
    words = "a one-dimensional sequence" if dimensions == 1 else "a two-dimensional table"
    # Laws that are equal must have the same bytes: no -0.0.
    array = doubles(name, value, words) + 0.0
    if array.ndim != dimensions or array.size == 0:
        raise ArgumentValueError(
            name,
            f"{name} must be {words} with at least one entry; got shape {array.shape}",
        )
    if not (abs(array) <= LARGEST).all():
        where = tuple(int(i) for i in np.argwhere(~(abs(array) <= LARGEST))[0])
        entry = f"{name}[{', '.join(map(str, where))}] is {array[where]}"
        if not np.isfinite(array[where]):
            raise ArgumentValueError(
                name,
                f"{entry}; every entry must be a finite number: remove or mend that arm",
            )
        raise ArgumentValueError(name, f"{entry}; {TOO_LARGE}")
    array.setflags(write=False)
    return array
