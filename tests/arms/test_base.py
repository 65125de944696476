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
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from replay import roomy_key
from scipy import special, stats
from statistics_checks import (
    LEVEL,
    bin_edges,
    chi_square,
    convolved_law,
    counts_in,
    fit,
    masses,
    same_law,
    z_test,
)

from rai_sim import Bernoulli, Categorical, Gaussian, Recorded
from rai_sim.arms.base import LAWS, Arms
from rai_sim.arms.bernoulli import kearns_saul
from rai_sim.arms.categorical.proxy import best_variance_proxy
from rai_sim.engine import law as operations
from rai_sim.engine.jit import driver
from rai_sim.engine.streams import replication_stream

Floats = NDArray[np.float64]
KEY = roomy_key(30)

# Numba reads functions from a module's globals.
one_pull, more_pulls = operations.one_pull, operations.more_pulls
pulls_available, spread, mean_of = operations.pulls_available, operations.spread, operations.mean_of
unit_of, proxy_of = operations.unit, operations.proxy


@driver
def draw_at_once(law: Any, arm: int, k: int, key: NDArray[np.uint64], out: Floats) -> None:
    """Fill `out` with sums of k pulls, each drawn at once."""
    state = replication_stream(key, k, key[2:])
    for i in range(out.size):
        out[i], state = more_pulls(law, arm, 0.0, 0, k, state)


@driver
def draw_one_by_one(law: Any, arm: int, k: int, key: NDArray[np.uint64], out: Floats) -> None:
    """Fill `out` with sums of k single pulls."""
    state = replication_stream(key, 1_000_000 + k, key[2:])
    for i in range(out.size):
        total = 0.0
        for pulls in range(k):
            total, state = one_pull(law, arm, total, pulls, state)
        out[i] = total


@driver
def add_up(
    law: Any, arm: int, jumps: NDArray[np.int64], key: NDArray[np.uint64], out: Floats
) -> None:
    """Fill `out` with one running sum after each jump, a jump of 1 being a single pull."""
    state = replication_stream(key, 0, key[2:])
    total, pulls = 0.0, 0
    for i in range(out.size):
        if jumps[i] == 1:
            total, state = one_pull(law, arm, total, pulls, state)
        else:
            total, state = more_pulls(law, arm, total, pulls, jumps[i], state)
        pulls += jumps[i]
        out[i] = total


@driver
def facts_of(law: Any, arm: int) -> tuple[int, float, float, float, float]:
    """Return what a law tells kernels besides its pulls."""
    return pulls_available(law), spread(law), mean_of(law, arm), unit_of(law), proxy_of(law)


def sums(arms: Arms, arm: int, k: int, size: int = 100_000, at_once: bool = True) -> Floats:
    """Return independent sums of k pulls, in law units."""
    out = np.empty(size)
    (draw_at_once if at_once else draw_one_by_one)(arms.kernel_law(), arm, k, KEY, out)
    return out


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


def test_probabilities_within_rounding_are_kept() -> None:
    """A table that sums to 1 within 1e-9 is divided by its sum; a law's own table is not divided
    again."""
    generator = np.random.default_rng(3)
    for levels in (2, 3, 7, 40):
        rough = np.round(generator.dirichlet(np.ones(levels), size=50), 9)
        rough[:, 0] += 1.0 - rough.sum(axis=1) + 4e-10
        arms = Categorical(np.arange(levels) / levels, rough)
        assert abs(arms.probabilities.sum(axis=1) - 1.0).max() < levels * 2.0**-52
        assert arms.probabilities == pytest.approx(rough, rel=1e-9)
        assert Categorical(arms.values, arms.probabilities) == arms
    exact = [[0.1] * 10]  # adds up to 0.9999999999999999
    assert Categorical(range(10), exact).probabilities.tolist() == exact


# What kernels are told.


@pytest.mark.parametrize(
    ("values", "unit", "steps"),
    [
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], 0.2, [0, 1, 2, 3, 4, 5]),  # stars out of five
        ([1.0, 2.0, 3.0, 4.0, 5.0], 1.0, [0, 1, 2, 3, 4]),
        ([k / 10 for k in range(1, 11)], 0.1, list(range(10))),  # half stars
        ([0.0, 1 / 3, 2 / 3, 1.0], 1 / 3, [0, 1, 2, 3]),
        ([1.0, 0.0, 1 / 3], 1 / 3, [3, 0, 1]),  # any order
        ([0.5, 0.0, 1 / 3], 1 / 6, [3, 0, 2]),
        ([0.2, 0.8], 0.6, [0, 1]),
        ([-1.5, 2.5, 0.5], 2.0, [0, 2, 1]),
        ([0.1, 0.7, 1.0], 0.3, [0, 2, 3]),
        ([0.25], 0.25, [0]),
        ([0.0, 1e6], 1e6, [0, 1]),
        ([1.1 - 1.0, 0.1 * 3, 0.0], 0.1, [1, 3, 0]),  # tenths but for rounding
    ],
)
def test_values_on_a_lattice_become_integers(
    values: list[float], unit: float, steps: list[int]
) -> None:
    """A value is the short fraction that it is within rounding; sums are then exact."""
    law = Categorical(values, np.full((1, len(values)), 1.0 / len(values))).kernel_law()
    assert law.unit == unit
    assert law.steps.tolist() == [steps]
    assert law.width == max(steps)
    assert law.mean == pytest.approx([np.mean(steps)], rel=1e-14)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, math.sqrt(0.5), 1.0],
        [0.0, 1 / math.pi],
        [0.0, 0.2 + 1e-12, 1.0],  # close to a fifth, but no rounding
        [0.0, 1e-15],  # distinct, though both within rounding of 0
        [0.0, 1 / 9973, 1 / 9967, 1.0],  # a lattice too fine
        [-1e50, 0.5, 1.0],  # the farthest from 0 that a law accepts
        [0.0, 1e-9, 1.0],
    ],
)
def test_values_off_every_short_lattice_stay(values: list[float]) -> None:
    """Unit 1, and the values themselves."""
    law = Categorical(values, np.full((1, len(values)), 1.0 / len(values))).kernel_law()
    assert law.unit == 1.0
    assert law.steps.tolist() == [values]


def test_each_arm_has_its_likeliest_levels_first() -> None:
    """Steps follow the arm's own order; levels without chance come last and are never reached."""
    law = Categorical([0, 1, 2], [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]).kernel_law()
    assert law.steps.tolist() == [[2, 1, 0], [1, 0, 2], [0, 2, 1]]
    assert law.last.tolist() == [2, 0, 1]
    assert law.conditional == pytest.approx(
        np.array([[0.5, 0.6, 1], [1, 1, 1], [0.5, 1, 1]]), rel=1e-15
    )


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(
        st.one_of(st.just(0.0), st.floats(1e-12, 1.0), st.just(1.0)), min_size=1, max_size=12
    ).filter(any)
)
def test_alias_tables_give_each_level_its_probability(weights: list[float]) -> None:
    """The columns' shares of a level add up to its probability; so does the chain of conditional
    ones."""
    p = np.array(weights) / math.fsum(weights)
    arms = Categorical(range(p.size), [p])
    law = arms.kernel_law()
    levels = law.steps[0].astype(np.int64)
    by_alias, by_chain, left = np.zeros(p.size), np.zeros(p.size), 1.0
    for column in range(p.size):
        assert 0.0 <= law.keep[0, column] <= 1.0
        by_alias[levels[column]] += law.keep[0, column] / p.size
        by_alias[levels[law.alias[0, column]]] += (1.0 - law.keep[0, column]) / p.size
        by_chain[levels[column]] = left * law.conditional[0, column]
        left *= 1.0 - law.conditional[0, column]
    assert by_alias == pytest.approx(arms.probabilities[0], abs=1e-15)
    assert by_chain == pytest.approx(arms.probabilities[0], abs=4e-15)
    assert not by_alias[arms.probabilities[0] == 0.0].any()
    assert not by_chain[arms.probabilities[0] == 0.0].any()


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
    """Pulls available, spread, mean of arm 1, unit, variance proxy; Python alone cannot call
    operations."""
    law = arms.kernel_law()
    assert facts_of(law, 1) == pytest.approx(facts, rel=1e-12)
    with pytest.raises(TypeError, match=f"one_pull was given {type(law).__name__}"):
        operations.one_pull(law, 0, 0.0, 0, (np.uint64(1),) * 5)


# Variance proxies.


def quotients(centred: Floats, p: Floats, t: Floats) -> Floats:
    """Return 2 K(t) / t^2, where K is the cumulant generating function of a centred law."""
    cumulant: Floats = special.logsumexp(np.outer(t, centred), axis=1, b=p)
    return 2.0 * cumulant / t**2


def supremum(values: Floats, p: Floats) -> float:
    """Return the smallest variance proxy, to 1e-6, from a dense grid and its limit at 0, the
    variance."""
    width = float(np.ptp(values[p > 0.0]))
    centred = values - p @ values
    t = np.geomspace(1e-2, 1e5, 8_000) / width
    return max(
        float(p @ centred**2), *(float(quotients(centred, p, s * t).max()) for s in (1.0, -1.0))
    )


def test_best_variance_proxy_of_random_laws() -> None:
    """At least the supremum, at most 2.2 % above it, never above Hoeffding's bound."""
    generator = np.random.default_rng(4)
    for i in range(60):
        levels = int(generator.integers(2, 8))
        values = (
            generator.uniform(-1.0, 3.0, levels) if i % 2 else np.arange(levels, dtype=np.float64)
        )
        p = generator.dirichlet(np.full(levels, (0.05, 0.5, 5.0)[i % 3]))
        p[p < 1e-300] = 0.0
        if np.count_nonzero(p) > 1:
            best, proxy = supremum(values, p), best_variance_proxy(values, p)
            assert best * (1.0 - 1e-9) <= proxy <= 1.022 * best
            assert proxy <= np.ptp(values[p > 0.0]) ** 2 / 4.0


@pytest.mark.parametrize("rare", [1e-3, 1e-9, 1e-30, 1e-300, 5e-324])
@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_best_variance_proxy_of_rare_extremes(rare: float, scale: float) -> None:
    """Two possible levels, one ever so rare, in any unit: at most 2.2 % above Kearns and Saul's
    formula."""
    exact, most = kearns_saul(rare) * scale**2, 1.0 - rare
    for values, p in (
        ([0.0, 1.0], [most, rare]),
        ([1.0, 0.0], [most, rare]),
        ([0.0, 9.0, 1.0], [most, 0.0, rare]),
    ):
        proxy = best_variance_proxy(scale * np.array(values), np.array(p))
        assert exact * (1.0 - 1e-9) <= proxy <= 1.022 * exact


def test_best_variance_proxy_without_variance() -> None:
    """One possible value: as good as nothing, but positive, for kernels divide by it."""
    assert 0.0 < best_variance_proxy(np.array([0.0, 1.0]), np.array([0.0, 1.0])) <= 1e-300


@pytest.mark.parametrize(
    "p", [1e-300, 1e-12, 1e-3, 0.1, 0.4, 0.499, 0.49995, 0.5, 0.50005, 0.7, 0.999, 1 - 1e-12]
)
def test_kearns_saul_is_the_supremum(p: float) -> None:
    """Never below it, and within the 2e-8 by which the plateau around 1/2 lies above it."""
    levels, chances = np.array([-p, 1.0 - p]), np.array([1.0 - p, p])
    t = np.geomspace(3e-3, 1e5, 100_000)
    largest = max(
        p * (1.0 - p), quotients(levels, chances, t).max(), quotients(levels, chances, -t).max()
    )
    assert largest * (1.0 - 1e-9) <= kearns_saul(p) <= min(0.25, largest * (1.0 + 1e-7))


def test_kearns_saul_at_the_ends() -> None:
    """Zero where nothing is random, positive as soon as anything is, symmetric, largest at 1/2."""
    assert kearns_saul(0.0) == kearns_saul(1.0) == 0.0
    assert kearns_saul(5e-324) == pytest.approx(1.0 / (2.0 * 1074.0 * math.log(2.0)), rel=1e-12)
    assert kearns_saul(0.25) == pytest.approx(kearns_saul(0.75), rel=1e-15)
    grid = [kearns_saul(p) for p in np.linspace(0.001, 0.5, 1000)]
    assert grid == sorted(grid)


def test_proxies_cover_every_arm() -> None:
    """The law's proxy is its worst arm's; with many categorical arms, Hoeffding's bound."""
    table = [[0.99, 0.01, 0.0], [0.4, 0.2, 0.4], [0.0, 0.0, 1.0]]
    values = np.array([0.0, 1.0, 2.0])
    best = max(best_variance_proxy(values, np.array(row)) for row in table)
    assert facts_of(Categorical(values, table).kernel_law(), 0)[4] == best < 1.0
    assert facts_of(Categorical(values, table * 400).kernel_law(), 0)[4] == 1.0


# What kernels draw.


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_bernoulli_arms(p: float) -> None:
    """No chance: by single pulls, by words and by binomials."""
    for arms in (Bernoulli([p, 0.5]), Bernoulli([p, 1e-5])):
        for k in (1, 64, 65):
            assert (sums(arms, 0, k, 100) == p * k).all()
        assert (sums(arms, 0, 3, 100, at_once=False) == p * 3).all()


@pytest.mark.parametrize(
    ("arms", "wordy"),
    [(Bernoulli([0.3, 0.85, 0.0]), True), (Bernoulli([0.3, 0.85, 1e-5, 1.0]), False)],
)
def test_bernoulli_sums(arms: Bernoulli, wordy: bool) -> None:
    """Chi-square against binomials, by words where every mean allows them: 15 comparisons and 14
    controls."""
    assert arms.kernel_law().wordy == wordy
    for arm, k, at_once in [
        *product((0, 1), (1, 7, 64, 65, 1000), (True,)),
        *product((0, 1), (1, 20), (False,)),
    ]:
        p = float(arms.means[arm])
        law, wrong = stats.binom(k, p), stats.binom(k, p - 0.05 * math.sqrt(p * (1.0 - p) / k))
        draws = sums(arms, arm, k, at_once=at_once)
        edges = bin_edges(law, draws.size)
        assert chi_square(counts_in(edges, draws), masses(law, edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(wrong, edges)) < LEVEL
    if not wordy:
        assert fit(stats.binom(10**6, 1e-5), sums(arms, 2, 10**6)) > LEVEL


def test_gaussian_sums() -> None:
    """Chi-square against normals: six comparisons, each with a control."""
    arms = Gaussian([0.25, -3.0], sd=0.75)
    for arm, k, at_once in [
        (0, 1, True),
        (1, 64, True),
        (1, 10**9, True),
        (0, 1, False),
        (1, 1, False),
        (1, 9, False),
    ]:
        mean, sd = k * arms.means[arm], 0.75 * math.sqrt(k)
        draws = sums(arms, arm, k, at_once=at_once)
        edges = bin_edges(stats.norm(mean, sd), draws.size, whole=False)
        assert chi_square(counts_in(edges, draws), masses(stats.norm(mean, sd), edges)) > LEVEL
        assert (
            chi_square(counts_in(edges, draws), masses(stats.norm(mean + 0.05 * sd, sd), edges))
            < LEVEL
        )


STARS = Categorical(
    np.arange(6) / 5,
    [
        [0.1, 0.0, 0.2, 0.3, 0.25, 0.15],
        [0.0, 0.9, 0.0, 0.0, 0.1, 0.0],
        [0.02, 0.03, 0.05, 0.1, 0.3, 0.5],
    ],
)


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_categorical_sums(arm: int) -> None:
    """Chi-square against convolutions, pull by pull for small k and by counts: 8 comparisons an
    arm.

    Negative control: three hundredths of the probability moved to another value.
    """
    p = STARS.probabilities[arm]
    off = p.copy()
    off[np.argmax(p)] -= 0.03
    off[5 - np.argmax(p)] += 0.03
    cases = [
        (1, True),
        (2, True),
        (5, True),
        (40, True),
        (1000, True),
        (1, False),
        (8, False),
        (40, False),
    ]
    for k, at_once in cases:
        draws = sums(STARS, arm, k, at_once=at_once)
        edges = bin_edges(convolved_law(p, k), draws.size)
        assert chi_square(counts_in(edges, draws), masses(convolved_law(p, k), edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(convolved_law(off, k), edges)) < LEVEL


def test_categorical_counts_agree_with_single_pulls() -> None:
    """Two samples of sums of 40 pulls, by multinomial counts and pull by pull: one comparison a
    law.

    Negative control: sums of 41 pulls.
    """
    off_lattice = Categorical([0.0, math.sqrt(0.5), 1.0], [[0.2, 0.3, 0.5]])
    assert off_lattice.kernel_law().unit == 1.0
    for arms in (STARS, off_lattice):
        single, counted, longer = (
            np.round(sums(arms, 0, k, at_once=at_once), 9)
            for k, at_once in ((40, False), (40, True), (41, True))
        )
        assert same_law(single, counted) > LEVEL
        assert same_law(single, longer) < LEVEL


@pytest.mark.parametrize("k", [10**6, 10**9, 10**12])
def test_categorical_sums_of_many_pulls(k: int) -> None:
    """Mean, variance and, but for a skewness below 1e-3, a normal shape: three comparisons an
    arm."""
    law = STARS.kernel_law()
    for arm in (0, 2):
        p, steps = STARS.probabilities[arm], np.arange(6)
        mean, variance = float(p @ steps), float(p @ steps**2 - (p @ steps) ** 2)
        assert law.mean[arm] == pytest.approx(mean, rel=1e-15)
        z = (sums(STARS, arm, k) - k * mean) / math.sqrt(k * variance)
        assert z_test(float(z.mean()), 0.0, 1.0 / math.sqrt(z.size)) > LEVEL
        assert z_test(float((z**2).mean()), 1.0, math.sqrt(2.0 / z.size)) > LEVEL
        assert fit(stats.norm, z, whole=False) > LEVEL
        assert z_test(float((z + 0.05).mean()), 0.0, 1.0 / math.sqrt(z.size)) < LEVEL
        assert z_test(float((1.05 * z**2).mean()), 1.0, math.sqrt(2.0 / z.size)) < LEVEL


def test_categorical_sums_off_the_lattice() -> None:
    """Three pulls of three irrational values: ten sums of multinomial probabilities; two
    comparisons."""
    values, p = np.array([0.0, 1 / math.e, 1.0]), np.array([0.5, 0.2, 0.3])
    arms = Categorical(values, [p])
    counts = [count for count in product(range(4), repeat=3) if sum(count) == 3]
    chances = stats.multinomial.pmf(counts, 3, p)
    possible = np.array(counts) @ values
    for at_once in (True, False):
        draws = sums(arms, 0, 3, at_once=at_once)
        nearest = np.argmin(abs(draws[:, None] - possible), axis=1)
        assert abs(draws - possible[nearest]).max() < 1e-12
        assert chi_square(np.bincount(nearest, minlength=10), chances) > LEVEL
        assert chi_square(np.bincount(nearest, minlength=10), chances[::-1]) < LEVEL


def test_impossible_values_never_come() -> None:
    """Levels without probability, by single pulls and by counts."""
    arms = Categorical([0.0, 1.0, 1000.0], [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    for k in (1, 30):
        assert sums(arms, 0, k).max() <= k
        assert sums(arms, 0, k, at_once=False).max() <= k
        assert (sums(arms, 1, k, 100) == 1000.0 * k).all()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(0, 2**32))
def test_recorded_sums_are_cumulative_sums(jumps: list[int], seed: int) -> None:
    """Bit for bit those of numpy.cumsum, in jumps of any sizes, whatever the rewards."""
    generator = np.random.default_rng(seed)
    pulls = sum(jumps)
    rewards = generator.standard_normal((3, pulls)) * 10.0 ** generator.integers(-8, 9, (3, pulls))
    arms = Recorded(rewards)
    out = np.empty(len(jumps))
    for arm in range(3):
        add_up(arms.kernel_law(), arm, np.array(jumps), KEY, out)
        assert out.tolist() == np.cumsum(rewards[arm])[np.cumsum(jumps) - 1].tolist()
    assert facts_of(arms.kernel_law(), 0)[0] == pulls


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
