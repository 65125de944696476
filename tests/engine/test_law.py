"""What a law offers to kernels is found by its type, and by kernels only."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from rai_sim import Bernoulli, Beta, Categorical, Gaussian, Poisson, Recorded, Uniform
from rai_sim.arms.base import Arms
from rai_sim.engine import law as laws
from rai_sim.engine.jit import driver, implements, may_give_words
from rai_sim.support.limits import MOST_PULLS

#: All operations, by their names.
OPERATIONS = {
    name: one
    for name, one in vars(laws).items()
    if inspect.isfunction(one) and one.__module__ == laws.__name__ and not name.startswith("_")
}


class Certain(NamedTuple):
    """A law of one reward, whatever the arm."""

    reward: float


class Falling(NamedTuple):
    """A law whose arms have the means 0, -1, -2, .."""


class Nothing(NamedTuple):
    """A tuple that implements nothing."""

    reward: float


@implements(laws.mean_of, Certain)
def _mean_of_certain(law: Certain, arm: int) -> float:
    return law.reward


@implements(laws.mean_of, Falling)
def _mean_of_falling(law: Falling, arm: int) -> float:
    return -1.0 * arm


@driver
def mean(law: Any, arm: int) -> float:
    """Return what a kernel is told."""
    return laws.mean_of(law, arm)


@driver
def has_words(law: Any) -> bool:
    """Return what a kernel is told."""
    return laws.has_words(law)


def test_the_type_of_a_law_decides() -> None:
    """One kernel, two laws."""
    assert mean(Certain(0.25), 3) == 0.25
    assert mean(Falling(), 3) == -3.0


def test_a_tuple_that_is_no_law_does_not_compile() -> None:
    """Of the same fields as a law, but of another class."""
    with pytest.raises(TypingError, match="mean_of"):
        mean(Nothing(0.25), 3)


ARMS: list[Arms] = [
    Bernoulli([0.5, 0.25]),
    Gaussian([0.5, 0.25]),
    Categorical([0.0, 1.0], [[0.5, 0.5]]),
    Recorded([[0, 1]]),
]


@pytest.mark.parametrize("arms", ARMS, ids=lambda arms: type(arms).__name__)
@pytest.mark.parametrize("name", OPERATIONS)
def test_python_alone_cannot_call_operations(name: str, arms: Arms) -> None:
    """Each refuses, and says by what it can be called."""
    law = arms.kernel_law()
    others: list[Any] = [0] * (len(inspect.signature(OPERATIONS[name]).parameters) - 1)
    with pytest.raises(
        TypeError,
        match=rf"^{name} was given {type(law).__name__}, .*arms\.kernel_law\(\) returns$",
    ):
        OPERATIONS[name](law, *others)


@pytest.mark.parametrize(
    "arms",
    [
        *ARMS,
        Gaussian([0.5, 0.25], sd=[1.0, 2.0]),
        Poisson([0.5]),
        Uniform([0.0], [1.0]),
        Beta([0.5]),
    ],
    ids=lambda arms: type(arms.kernel_law()).__name__,
)
def test_who_says_that_there_are_words_has_declared_it(arms: Arms) -> None:
    """Of other laws no words are compiled: what stands in their place would be a wrong number."""
    law = arms.kernel_law()
    assert has_words(law) == may_give_words(law) == isinstance(arms, Bernoulli)


def test_these_are_the_operations() -> None:
    """That laws are asked for: a law that lacks one does not compile where it is needed."""
    assert len(OPERATIONS) == 13
    assert {"one_pull", "more_pulls", "word", "spread", "proxy"} <= set(OPERATIONS)
    assert np.int64(laws.ENDLESS) == laws.ENDLESS >= MOST_PULLS
