"""Errors about arguments: which one, in whose words, and the same after a trip through a pickle."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rai_sim
from rai_sim.arms.movielens import MovieLensError
from rai_sim.support.errors import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    Named,
    OrNone,
    Passing,
    Speech,
    TruthValues,
    WordedError,
    WordedOverflowError,
    told,
)

#: Without types: it is given what it is not meant for.
rai: Any = rai_sim
TWO = rai.Bernoulli([0.75, 0.25])
PAIR = rai.Problem(TWO, (1, 1), (1, 0))


class Shouted(Speech):
    """Another front end."""

    def argument(self, name: str) -> str:
        """Return it in capitals."""
        return name.upper()

    def passing(self, name: str, value: object) -> str:
        """Return it as words."""
        return f"let {name.upper()} be {value}"

    def none(self, words: str) -> str:
        """Return nothing."""
        return ""

    def truth_values(self) -> str:
        """Return them as switches."""
        return "on or off"


PARTS = (
    "x is 3; it must be ",
    TruthValues(),
    "; ",
    Passing("y", 2),
    ", cap ",
    Named("z"),
    OrNone(", or None"),
)


@pytest.mark.parametrize(
    ("kind", "base"), [(ArgumentTypeError, TypeError), (ArgumentValueError, ValueError)]
)
def test_an_error_is_told_in_the_words_of_the_front_end(
    kind: type[ArgumentError], base: type[Exception]
) -> None:
    """Python's by itself; every part in another's; and `told` takes any error."""
    error = kind("x", *PARTS)
    assert isinstance(error, base)
    assert error.argument == "x"
    assert str(error) == "x is 3; it must be True or False; pass y=2, cap z, or None"
    assert told(error, Shouted()) == "x is 3; it must be on or off; let Y be 2, cap Z"
    assert told(base("as it is"), Shouted()) == "as it is"


@pytest.mark.parametrize(
    "error",
    [
        ArgumentTypeError("x", *PARTS),
        ArgumentValueError("x", "x is 3"),
        MovieLensError("path", "x.csv is empty"),
        WordedOverflowError("too large; cap it with ", Named("y")),
    ],
)
def test_errors_come_back_from_other_processes_as_they_were(error: WordedError) -> None:
    """With the argument and all parts."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.parts, vars(again)) == (str(error), error.parts, vars(error))


REFUSED: dict[str, list[Callable[[], object]]] = {
    # problems and laws
    "arms": [
        lambda: rai.Problem([0.5, 0.25], (1, 1), (1, 0)),
        lambda: rai.best_arm(rai.Gaussian([1.0, 0.0], sd=2.0)),
    ],
    "clusters": [
        lambda: rai.Problem(TWO, 2, (1, 0)),
        lambda: rai.Problem(TWO, (1, 1.0), (1, 0)),
        lambda: rai.Problem(TWO, (2, 0), (1, 0)),
        lambda: rai.Problem(TWO, (1, 2), (1, 0)),
        lambda: rai.best_arm(rai.Bernoulli([0.5, 0.5])),
    ],
    "required": [
        lambda: rai.Problem(TWO, (1, 1), (1, "0")),
        lambda: rai.Problem(TWO, (1, 1), (1,)),
        lambda: rai.Problem(TWO, (1, 1), (2, 0)),
        lambda: rai.Problem(TWO, (1, 1), (0, 0)),
    ],
    "strict": [lambda: rai.Problem(TWO, (1, 1), (1, 0), strict=1)],
    "k": [lambda: rai.top(TWO, 0), lambda: rai.top(TWO, 1.0)],
    "m": [lambda: rai.m_of_top(TWO, 3, 2)],
    "task": [lambda: rai.table_problem(task=9)],
    "instance": [lambda: rai.table_problem(instance="x"), lambda: rai.table_problem(instance=1)],
    "means": [
        lambda: rai.Bernoulli(["a"]),
        lambda: rai.Bernoulli([2.0]),
        lambda: rai.Bernoulli([]),
        lambda: rai.Bernoulli([0.5, np.nan]),
        lambda: rai.Gaussian([1e60]),
        lambda: rai.Recorded([[1.0], [0.0]], means=[0.5]),
        lambda: rai.Bernoulli(np.ma.array([0.5, 0.2], mask=[False, True])),
    ],
    "sd": [
        lambda: rai.Gaussian([0.5], sd="a"),
        lambda: rai.Gaussian([0.5], sd=0.0),
        lambda: rai.Gaussian([0.5], sd=1e60),
    ],
    "values": [lambda: rai.Categorical([0.5, 0.5], [[0.5, 0.5]])],
    "probabilities": [
        lambda: rai.Categorical([0.0, 1.0], [[1.0]]),
        lambda: rai.Categorical([0.0, 1.0], [[1.5, -0.5]]),
        lambda: rai.Categorical([0.0, 1.0], [[0.5, 0.4]]),
    ],
    "names": [
        lambda: TWO.with_names("ab"),
        lambda: TWO.with_names(["a"]),
        lambda: TWO.with_names(["a", "\ud800"]),
    ],
    "ids": [lambda: TWO.with_names(["a", "b"], [1, 2**70])],
    # families, bounds
    "n": [lambda: rai.instances.evenly_spaced(1), lambda: rai.instances.evenly_spaced(10**12)],
    "ratio": [
        lambda: rai.instances.geometric_gaps(3, ratio=-1),
        lambda: rai.instances.geometric_gaps(3000, ratio=9),
    ],
    "high": [lambda: rai.instances.evenly_spaced(3, high=np.inf)],
    "low": [lambda: rai.instances.evenly_spaced(3, high=0.1, low=0.2)],
    "gap": [
        lambda: rai.instances.evenly_spaced(3, gap=0.1, low=0.2),
        lambda: rai.instances.evenly_spaced(3, gap=-1),
    ],
    "middle": [lambda: rai.instances.evenly_spaced(3, middle=0.5)],
    "proportions": [
        lambda: rai.instances.shares(3, (1, 0)),
        lambda: rai.instances.shares(3, (1, 9)),
    ],
    "problem": [lambda: rai.bounds.vanilla(TWO, 0.1), lambda: rai.simulate(TWO, rai.Vanilla())],
    # simulations, traces
    "algorithm": [lambda: rai.simulate(PAIR, "vanilla"), lambda: rai.simulate(PAIR, rai.Vanilla)],
    "delta": [
        lambda: rai.simulate(PAIR, rai.Vanilla(), delta=2),
        lambda: rai.simulate(PAIR, rai.Vanilla(), delta="x"),
    ],
    "replications": [lambda: rai.simulate(PAIR, rai.Vanilla(), replications=0)],
    "seed": [
        lambda: rai.simulate(PAIR, rai.Vanilla(), seed=-1),
        lambda: rai.simulate(PAIR, rai.Vanilla(), seed=1 << 4096),
    ],
    "n_jobs": [
        lambda: rai.simulate(PAIR, rai.Vanilla(), n_jobs=0),
        lambda: rai.simulate(PAIR, rai.Vanilla(), n_jobs=1 << 40),
    ],
    "progress": [lambda: rai.simulate(PAIR, rai.Vanilla(), progress=3)],
    "skip_error": [lambda: rai.simulate(PAIR, rai.Vanilla(), skip_error=0.5)],
    "max_pulls": [lambda: rai.simulate(PAIR, rai.Vanilla(), max_pulls=0)],
    "replication": [lambda: rai.trace(PAIR, rai.Vanilla(), replication=-1)],
    "rounds": [
        lambda: rai.trace(PAIR, rai.Vanilla(), rounds=[0]),
        lambda: rai.trace(PAIR, rai.Vanilla(), rounds="x"),
    ],
    "results": [lambda: rai.Result.merge([])],
    "merging": [lambda: rai.Vanilla(merging=1)],
    # studies
    "tasks": [lambda: rai.Study([]), lambda: rai.Study([PAIR])],
    "precision": [lambda: rai.Study.grid([PAIR], [rai.Vanilla()], [0.1], precision=7)],
    "until": [lambda: rai.Study.grid([PAIR], [rai.Vanilla()], [0.1], until="errors")],
    "alpha": [lambda: rai.Study.grid([PAIR], [rai.Vanilla()], [0.1], alpha=1.0)],
    "keep": [lambda: rai.Study.grid([PAIR], [rai.Vanilla()], [0.1], keep="all")],
    "most_replications": [
        lambda: rai.Study.grid([PAIR], [rai.Vanilla()], [0.1], precision=0.1, most_replications=1)
    ],
}


@pytest.mark.parametrize(
    ("argument", "call"), [(name, call) for name, calls in REFUSED.items() for call in calls]
)
def test_the_argument_at_fault_is_carried(argument: str, call: Callable[[], object]) -> None:
    """Whatever the message begins with; and it is a TypeError or a ValueError as ever."""
    with pytest.raises(ArgumentError) as caught:
        call()
    assert caught.value.argument == argument
    assert isinstance(caught.value, TypeError | ValueError)


def test_a_recording_that_ends_names_the_rewards() -> None:
    """What kernels report, too, is about an argument."""
    with pytest.raises(
        ArgumentValueError, match=r"ran out: pull 2 .* cap the replications with max_pulls$"
    ) as caught:
        rai.simulate(
            rai.best_arm(rai.Recorded([[1.0], [0.0]])), rai.Vanilla(), replications=1, seed=0
        )
    assert caught.value.argument == "rewards"
    assert caught.value.said(Shouted()).endswith("cap the replications with MAX_PULLS")
