"""Named tuples by reference: what is read of them, and how."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError
from numpy.typing import NDArray

from rai_sim.engine.jit import exposed, for_type, kernel
from rai_sim.engine.references import by_reference


class Small(NamedTuple):
    """Handed on as it is."""

    scale: float
    array: NDArray[np.float64]


class Inner(NamedTuple):
    """Handed on by reference."""

    flag: bool
    number: int
    matrix: NDArray[np.int64]
    flags: NDArray[np.bool_]
    byte: np.uint8
    small: Small
    words: tuple[int, int, int, int, int]  # without names: handed on as it is


class Outer(NamedTuple):
    """With tuples inside of tuples."""

    first: float
    inner: Inner
    last: NDArray[np.int64]


class Alike(NamedTuple):
    """Numba has a type of its own for tuples of one type."""

    a: int
    b: int
    c: int
    d: int
    e: int


def outer() -> Outer:
    """Return one."""
    inner = Inner(
        flag=True,
        number=-7,
        matrix=np.arange(6).reshape(2, 3),
        flags=np.array([True, False]),
        byte=np.uint8(200),
        small=Small(0.25, np.array([1.0, 2.0])),
        words=(1, 2, 3, 4, 10**6),
    )
    return Outer(1.5, inner, np.zeros(2, np.int64))


@kernel
def weigh(inner: Inner) -> float:
    """Read every field."""
    if not inner.flag:
        return -1.0
    small = inner.small
    ones = 0
    for flag in inner.flags:
        ones += flag
    whole = inner.number + 10 * inner.matrix[1, 2] + 100 * ones + 1000 * int(inner.byte)
    return float(whole + small.scale * small.array[1] + inner.words[4])


@kernel
def write(run: Outer, value: int) -> None:
    """Write into an array."""
    run.last[1] = value


@exposed
@kernel
def all_fields(given: Outer) -> float:
    """Hand on by reference, from function to function."""
    run = by_reference(given)
    write(run, 5)
    return run.first + weigh(run.inner)


def test_fields_are_those_of_the_tuple() -> None:
    """Numbers, truth values, bytes, arrays, tuples in tuples; arrays are written in place."""
    run = outer()
    assert all_fields(run) == 1.5 - 7 + 50 + 100 + 200_000 + 0.5 + 10**6
    assert run.last.tolist() == [0, 5]
    assert all_fields(run._replace(inner=run.inner._replace(flag=False))) == 0.5


def test_tuples_of_one_type() -> None:
    """By name, too."""

    @exposed
    @kernel
    def difference(given: Alike) -> int:
        alike = by_reference(given)
        return alike.e - alike.b

    assert difference(Alike(1, 20, 3, 4, 500)) == 480


def test_variants_know_a_tuple_by_its_reference() -> None:
    """`for_type` looks at the class of what is referred to."""

    def nothing(inner: Any) -> int:
        return 0

    @for_type(Inner, nothing)
    def number(inner: Inner) -> int:
        return inner.number

    @exposed
    @kernel
    def numbers(given: Outer, alike: Alike) -> int:
        other = number(by_reference(alike))  # type: ignore[arg-type]
        return other + number(by_reference(given).inner) + number(given.inner)

    assert numbers(outer(), Alike(1, 2, 3, 4, 5)) == -14


def test_an_unknown_field_does_not_compile() -> None:
    """As of the tuple itself."""

    @exposed
    @kernel
    def wrong(given: Outer) -> Any:
        return by_reference(given).second  # type: ignore[attr-defined]

    with pytest.raises(TypingError, match="second"):
        wrong(outer())
