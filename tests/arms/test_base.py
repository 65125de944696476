"""Reward laws: what they refuse, what they promise to kernels, and the distributions of their
pulls.

False alarms: fewer than 100 statistical comparisons, each at the level of `statistics_checks`; with
fresh seeds the whole file would raise one with probability at most 1e-5.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from laws import KEY, add_up, facts_of

from rai_sim import Bernoulli, Categorical, Gaussian, Recorded
from rai_sim.arms.base import LAWS, Arms

EXAMPLES: list[Arms] = [
    Bernoulli([0.9, 0.5, 0.1]),
    Gaussian([0.9, -0.5], sd=0.25),
    Categorical([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]),
    Recorded([[1, 0, 1, 1], [0, 0, 1, 0]]),
    Recorded([[1, 0, 1, 1], [0, 0, 1, 0]], means=[0.5, 0.25]),
]


# What the Python side promises.


@pytest.mark.parametrize(
    ("arms", "means"),
    [
        (Bernoulli((0.25, 1, 0)), [0.25, 1.0, 0.0]),
        (Bernoulli(cast(Any, [Fraction(1, 4), Decimal("0.5")])), [0.25, 0.5]),
        (Gaussian(np.array([3, -4], dtype=np.int32)), [3.0, -4.0]),
        (Categorical([1, 0], [[0.25, 0.75], [1.0, 0.0]]), [0.25, 1.0]),
        (Categorical([0.2, 0.4, 0.6], [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]), [0.4, 0.4]),
        (Recorded(np.array([[True, False], [True, True]])), [0.5, 1.0]),
        (Recorded([[1, 0], [1, 1]], means=(0, 2)), [0.0, 2.0]),
    ],
)
def test_means(arms: Arms, means: list[float]) -> None:
    """Exactly, in the caller's order, as float64."""
    assert arms.means.dtype == np.float64
    assert arms.means.tolist() == means
    assert arms.n_arms == len(means)


def test_means_that_are_equal_on_paper_are_equal() -> None:
    """Sums do not depend on the order of the rewards, so that a tie across a border is noticed."""
    rewards = np.random.default_rng(1).integers(0, 6, 1000) / 5
    generator = np.random.default_rng(2)
    assert np.unique(Recorded([generator.permutation(rewards) for _ in range(20)]).means).size == 1
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    orders = [[0, 3, 1, 2], [3, 0, 2, 1]]
    laws = [Categorical((np.arange(4) / 5)[order], [shares[order]]) for order in orders]
    assert laws[0].means.tolist() == laws[1].means.tolist()


def test_arguments_are_copied_and_frozen() -> None:
    """Later changes of the caller's arrays do not reach the law, and the law's own cannot be
    made."""
    values, table = np.array([0.0, 1.0]), np.array([[0.5, 0.5]])
    arms = Categorical(values, table)
    values[0], table[0, 0] = 7.0, 7.0
    assert arms.values.tolist() == [0.0, 1.0]
    assert arms.probabilities.tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="read-only"):
        arms.means[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        arms.means = np.zeros(1)  # type: ignore[misc]
    strided = np.arange(8.0).reshape(2, 4)[:, ::2]
    assert Recorded(strided).rewards.flags.c_contiguous


Copy = Callable[[Arms], Arms]
COPIES: list[Copy] = [copy.copy, copy.deepcopy]
COPIES += [
    lambda arms, protocol=protocol: pickle.loads(pickle.dumps(arms, protocol))  # type: ignore[misc]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
]


@pytest.mark.parametrize("arms", EXAMPLES)
@pytest.mark.parametrize("duplicate", COPIES)
def test_copies_are_equal_and_frozen(arms: Arms, duplicate: Copy) -> None:
    """Copies, deep copies and pickles of every protocol: same law, same hash, still read-only."""
    other = duplicate(arms)
    assert other == arms
    assert other is not arms
    assert hash(other) == hash(arms)
    assert other.identity() == arms.identity()
    arrays = [value for value in vars(other).values() if isinstance(value, np.ndarray)]
    assert len(arrays) >= 1
    assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(FrozenInstanceError):
        other.means = np.zeros(1)  # a pickle must not lose what the class forbids
    facts = [facts_of(law.kernel_law(), 0) for law in (arms, other)]
    assert facts[0] == facts[1]


def test_identity_tells_laws_apart() -> None:
    """Equal arguments make equal laws whatever their type; anything that changes the draws makes
    another."""
    same = [
        Bernoulli([0.5, 0.0]),
        Bernoulli((0.5, -0.0)),
        Bernoulli(np.array([0.5, 0.0], dtype=np.float32)),
    ]
    assert len(set(same)) == 1
    different: list[Arms] = [
        *EXAMPLES,
        Bernoulli([0.5, 0.9, 0.1]),
        Bernoulli([0.9, 0.5]),
        Gaussian([0.9, 0.5, 0.1]),
        Gaussian([0.9, -0.5], sd=0.5),
        Gaussian([-0.5, 0.9], sd=0.25),
        Categorical([0.0, 0.5, 0.9], [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]),
        Categorical([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]),
        Recorded([[1, 0, 1, 1], [0, 1, 0, 0]]),
        Recorded([[1, 0, 1], [0, 0, 1]]),
    ]
    assert len({arms.identity() for arms in different}) == len(different)
    assert len(set(different)) == len(different)
    assert Bernoulli([0.5]) != "Bernoulli([0.5])"


def test_laws_are_known_by_name() -> None:
    """The registry that the command line offers."""
    assert {name: LAWS[name] for name in ("bernoulli", "gaussian", "categorical", "recorded")} == {
        "bernoulli": Bernoulli,
        "gaussian": Gaussian,
        "categorical": Categorical,
        "recorded": Recorded,
    }


WRONG: list[tuple[Callable[[], Arms], type[Exception], list[str]]] = [
    (lambda: Bernoulli("0.5"), TypeError, ["means", "numbers", "'0.5'"]),
    (
        lambda: Bernoulli(["0.5", "0.25"]),
        TypeError,
        ["means", "one-dimensional", "['0.5', '0.25']"],
    ),
    (lambda: Bernoulli([0.5, 1j]), TypeError, ["means", "numbers", "1j"]),
    (lambda: Bernoulli(np.array([1j])), TypeError, ["means", "numbers"]),
    (lambda: Bernoulli(cast(Any, {0.5})), TypeError, ["means", "numbers", "{0.5}"]),
    (lambda: Bernoulli(np.array(["2020-01-01"], "M8[D]")), TypeError, ["means", "numbers"]),
    (lambda: Gaussian(cast(Any, [object()])), TypeError, ["means", "numbers", "object"]),
    (lambda: Gaussian([0.5], sd=cast(Any, "0.5")), TypeError, ["sd", "positive number", "'0.5'"]),
    (lambda: Gaussian([0.5], sd=True), TypeError, ["sd", "positive number", "True"]),
    (lambda: Gaussian([0.5], sd=cast(Any, None)), TypeError, ["sd", "positive number", "None"]),
    (lambda: Categorical("ab", [[0.5, 0.5]]), TypeError, ["values", "numbers", "'ab'"]),
    (lambda: Recorded([["a"]]), TypeError, ["rewards", "numbers", "two-dimensional"]),
    (lambda: Recorded([[1.0]], means="1"), TypeError, ["means", "numbers", "'1'"]),
    (lambda: Bernoulli([]), ValueError, ["means", "at least one entry", "(0,)"]),
    (lambda: Bernoulli(0.5), ValueError, ["means", "one-dimensional", "()"]),
    (lambda: Bernoulli([[0.5]]), ValueError, ["means", "one-dimensional", "(1, 1)"]),
    (
        lambda: Bernoulli([0.5, math.nan]),
        ValueError,
        ["means[1] is nan", "finite", "remove or mend"],
    ),
    (
        lambda: Bernoulli([math.inf, 0.5]),
        ValueError,
        ["means[0] is inf", "finite", "remove or mend"],
    ),
    (lambda: Bernoulli([0.5, -0.25]), ValueError, ["means[1] is -0.25", "[0, 1]", "rescale"]),
    (lambda: Bernoulli([0.5, 0.5, 1.25]), ValueError, ["means[2] is 1.25", "[0, 1]", "rescale"]),
    (
        lambda: Gaussian([0.0, -math.inf]),
        ValueError,
        ["means[1] is -inf", "finite", "remove or mend"],
    ),
    (lambda: Gaussian([10**400]), ValueError, ["means", "range of doubles", "remove or mend"]),
    (lambda: Gaussian([0.5], sd=0.0), ValueError, ["sd is 0.0", "positive finite", "at most 0.5"]),
    (lambda: Gaussian([0.5], sd=-1), ValueError, ["sd is -1", "positive finite", "at most 0.5"]),
    (
        lambda: Gaussian([0.5], sd=math.nan),
        ValueError,
        ["sd is nan", "positive finite", "at most 0.5"],
    ),
    (
        lambda: Gaussian([0.5], sd=math.inf),
        ValueError,
        ["sd is inf", "positive finite", "at most 0.5"],
    ),
    (
        lambda: Gaussian([0.5], sd=10**400),
        ValueError,
        ["sd is 1000", "positive finite", "at most 0.5"],
    ),
    (
        lambda: Categorical([0, 1], [0.5, 0.5]),
        ValueError,
        ["probabilities", "two-dimensional", "(2,)"],
    ),
    (
        lambda: Categorical([0, 1], [[0.5, 0.5], [1.0]]),
        ValueError,
        ["probabilities", "differ in length"],
    ),
    (
        lambda: Categorical([0, 1], [[1.0]]),
        ValueError,
        ["1 columns", "2 entries", "one column a value"],
    ),
    (
        lambda: Categorical([0, 1, 0], [[0.5, 0.25, 0.25]]),
        ValueError,
        ["values repeats", "[0.0, 1.0, 0.0]", "give each value once"],
    ),
    (
        lambda: Categorical([0, 1], [[0.5, 0.5], [1.5, -0.5]]),
        ValueError,
        ["probabilities[1, 1] is -0.5", "negative"],
    ),
    (
        lambda: Categorical([0, 1], [[0.5, 0.5], [0.5, math.nan]]),
        ValueError,
        ["probabilities[1, 1] is nan", "finite"],
    ),
    (lambda: Categorical([0, math.inf], [[0.5, 0.5]]), ValueError, ["values[1] is inf", "finite"]),
    (
        lambda: Categorical([0, 1], [[0.5, 0.5], [0.5, 0.4]]),
        ValueError,
        ["probabilities[1] sums to 0.9", "not 1", "divide the row"],
    ),
    (
        lambda: Categorical([0, 1], [[0.5, 0.500000002]]),
        ValueError,
        ["probabilities[0] sums to 1.000000002"],
    ),
    (lambda: Recorded([1.0, 0.0]), ValueError, ["rewards", "two-dimensional", "(2,)"]),
    (lambda: Recorded([[1.0, 0.0], [1.0]]), ValueError, ["rewards", "rows differ in length"]),
    (lambda: Recorded([[], []]), ValueError, ["rewards", "at least one entry", "(2, 0)"]),
    (
        lambda: Recorded([[0.0, math.nan]]),
        ValueError,
        ["rewards[0, 1] is nan", "finite", "remove or mend"],
    ),
    (lambda: Recorded([[0.0], [1.0]], means=[0.5]), ValueError, ["means has 1 entries", "2 rows"]),
    (lambda: Recorded([[0.0]], means=[math.nan]), ValueError, ["means[0] is nan", "finite"]),
    (
        lambda: Recorded([[1e308, 1e308]]),
        ValueError,
        ["rewards[0, 0] is 1e+308", "beyond 1e+50", "rescale"],
    ),
]


@pytest.mark.parametrize(("make", "error", "words"), WRONG)
def test_refusals_name_argument_value_and_remedy(
    make: Callable[[], Arms], error: type[Exception], words: list[str]
) -> None:
    """Each message holds all of its words."""
    with pytest.raises(error) as refusal:
        make()
    assert [word for word in words if word not in str(refusal.value)] == []


def test_messages_stay_short() -> None:
    """A long argument of a wrong type is abridged."""
    with pytest.raises(TypeError) as refusal:
        Bernoulli(["0.5"] * 10_000)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("arms", "flaw"),
    [
        (Bernoulli([0.0, 1.0]), None),
        (Gaussian([5.0]), None),
        (Gaussian([5.0], sd=math.nextafter(0.5, 1.0)), "sd is 0.5000000000000001"),
        (Categorical([0.0, 1.0], [[0.5, 0.5]]), None),
        (Categorical([0.5, 1.25], [[0.5, 0.5]]), "values[1] is 1.25"),
        (Categorical([-0.25, 1.0], [[0.0, 1.0]]), "values[0] is -0.25"),
        (Recorded([[0.0, 1.0]], means=[7.0]), None),
        (Recorded([[0.0, 1.0], [0.5, -1.0]]), "rewards[1, 1] is -1.0"),
    ],
)
def test_laws_know_whether_they_are_sub_gaussian(arms: Arms, flaw: str | None) -> None:
    """None, or words that name the argument and the value at fault."""
    reason = arms.why_not_sub_gaussian()
    assert (reason is None) if flaw is None else (reason is not None and flaw in reason)


@pytest.mark.parametrize(
    ("arms", "facts"),
    [
        (Bernoulli([0.25, 0.75]), (2**62, 1.0, 0.75, 1.0, 0.5 / (2 * math.log(3)))),
        (Bernoulli([0.0, 1.0]), (2**62, 1.0, 1.0, 1.0, 0.0)),
        (Bernoulli([0.1, 0.5]), (2**62, 1.0, 0.5, 1.0, 0.25)),
        (Gaussian([0.5, -2.0], sd=0.25), (2**62, math.inf, -2.0, 1.0, 0.0625)),
        (Categorical([1, 3, 5], [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]]), (2**62, 2.0, 1.0, 2.0, 1.0)),
        (Recorded([[1, 0, 4], [0, 1, 1]], means=[0.5, 0.25]), (3, 4.0, 0.25, 1.0, math.inf)),
    ],
)
def test_facts_for_kernels(arms: Arms, facts: tuple[float, ...]) -> None:
    """Pulls available, spread, mean of arm 1, unit, variance proxy."""
    assert facts_of(arms.kernel_law(), 1) == pytest.approx(facts, rel=1e-12)


@pytest.mark.parametrize(
    "arms", [Bernoulli([0.4]), Categorical([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5]])]
)
def test_sums_go_on_from_the_total(arms: Arms) -> None:
    """Jumps add whole law units to what there is, no more than the spread a pull."""
    jumps = np.array([1, 1, 5, 64, 1, 1000, 100_000, 1])
    out = np.empty(jumps.size)
    law = arms.kernel_law()
    add_up(law, 0, jumps, KEY, out)
    gains = np.diff(out, prepend=0.0)
    assert (gains == np.floor(gains)).all()
    assert (gains >= 0.0).all()
    assert (gains <= jumps * facts_of(law, 0)[1]).all()
    assert out[-1] == pytest.approx(jumps.sum() * facts_of(law, 0)[2], rel=0.02)
