"""What rules and widths of a user's own share: their code, its digest, and what is said of code that
Numba cannot compile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, dataclass_transform

from numba import types
from numba.core.errors import NumbaError

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.jit import implements, in_words, returned
from rai_sim.support import sources
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True, repr=False)
class Coded(Algorithm, known=False):
    """An algorithm that is told from others by the code of its functions, besides name and options."""

    def __init_subclass__(cls, known: bool = True) -> None:
        """Take the annotated names for options; refuse functions that take other parameters than they
        will be given."""
        super().__init_subclass__(known=False)
        dataclass(frozen=True)(cls)
        for name, parameters in cls._parameters().items():
            function = _found(cls, name)
            if function is not None:
                sources.check_parameters(
                    "algorithm", f"{cls.__name__}.{name}", function, parameters
                )
        if known:
            ALGORITHMS[cls.__name__.lower()] = cls

    @classmethod
    def _parameters(cls) -> Mapping[str, Sequence[str]]:
        """Return the parameters of the functions that a user writes, by name."""
        return {}

    @property
    def label(self) -> str:
        """Name with options, for tables."""
        return f"{type(self).__name__}({', '.join(self._told())})"

    def __repr__(self) -> str:
        """Return name, options, and the first digits of the code's digest."""
        told = [*self._told(), f"code={self._digest[:16]}"]
        return f"{type(self).__qualname__}({', '.join(told)})"

    def _told(self) -> list[str]:
        return [f"{name}={value!r}" for name, value in self.options_told().items()]

    @property
    def _digest(self) -> str:
        code: sources.Code | None = getattr(self, "_code", None)  # none while it is being made
        return "" if code is None else code.digest


def function_of(cls: type, name: str, parameters: str) -> FunctionType:
    """Return a class's static method as Python has it.

    Raises
    ------
    TypeError
        If it has none.
    """
    function = _found(cls, name)
    if function is None:
        raise ArgumentTypeError(
            "algorithm",
            f"{cls.__name__} has no function {name}({parameters}); write one, as a static method",
        )
    return function


def _found(cls: type, name: str) -> FunctionType | None:
    for base in cls.__mro__:
        if name in vars(base):
            function = sources.plain(vars(base)[name])
            if function is not None:
                return function
    return None


@cache
def announce(operation: Callable[..., Any], cls: Any, function: Callable[..., Any]) -> None:
    """Let kernels take a function for an operation on a class of named tuples, once."""
    implements(operation, cls)(function)


def not_compiled(where: str, error: NumbaError) -> ArgumentValueError:
    """Return what is to be said where Numba cannot compile a user's function."""
    return ArgumentValueError(
        "algorithm",
        f"algorithm: {where} cannot be compiled: {sources.why_not_compiled(error)}; use what Numba "
        "knows: no new arrays, and functions decorated with numba.njit",
    )


def what_returned(
    error: Exception, function: Callable[..., Any], told: Iterable[Any], kinds: tuple[type, ...]
) -> str | None:
    """Return in words what a user's function gave back, if it is that which is wrong; None if not.

    Parameters
    ----------
    error : NumbaError or TypeError
        What was raised by a kernel that calls the function, while it was compiled or while it ran:
        then the function came to its end without a `return`.
    function, told
        The function and what it is given.
    kinds : tuple of type
        Numba's types of what it should give back.
    """
    if isinstance(error, TypeError):
        return "nothing" if "got None" in str(error) else None
    given = returned(function, told)
    value = given.type if isinstance(given, types.Optional) else given
    return None if given is None or isinstance(value, kinds) else in_words(given)


def check_options(name: str, function: str, options: dict[str, Any], told: Sequence[str]) -> None:
    """Make sure that a function can be told options, besides what it is told anyway.

    Raises
    ------
    TypeError
        If one is no number, or has a name that it cannot have.
    """
    for option, value in options.items():
        if option in told or option.startswith("_"):
            why = f"told to {function} anyway" if option in told else "no name that it can have"
            raise ArgumentTypeError(option, f"{name}: {option} is {why}; call the option otherwise")
        if not isinstance(value, (bool, int, float)):
            raise ArgumentTypeError(
                option, f"{name}: {option} is {value!r}; {function} can be told numbers alone"
            )
