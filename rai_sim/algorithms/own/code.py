"""What rules and widths of a user's own share: their code, its digest, and what is said of code that
Numba cannot compile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any

from numba.core.errors import NumbaError

from rai_sim.engine.jit import implements
from rai_sim.support import sources
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError


def function_of(cls: type, name: str, parameters: str) -> FunctionType:
    """Return a class's static method as Python has it.

    Raises
    ------
    TypeError
        If it has none.
    """
    for base in cls.__mro__:
        if name in vars(base):
            function = sources.plain(vars(base)[name])
            if function is not None:
                return function
    raise ArgumentTypeError(
        "algorithm",
        f"{cls.__name__} has no function {name}({parameters}); write one, as a static method",
    )


def confirm(
    name: str, code: sources.Code, functions: tuple[Callable[..., Any], ...], facts: object = ()
) -> None:
    """Make sure that what is compiled is what an algorithm was made of.

    Raises
    ------
    ValueError
        If it is not.
    """
    if not sources.is_still(code, functions, facts):
        raise ArgumentValueError(
            "algorithm",
            f"algorithm: the code of {name}, or a global that it reads, is not what it was when "
            f"{name} was made, or is another one in a worker process; make it after all of this is "
            "set, and set globals outside of `if __name__ == '__main__'`",
        )


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
