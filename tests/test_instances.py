"""Families of means and cluster sizes from proportions."""

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai_sim import instances


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_ends_are_met_and_gaps_have_their_proportions(n: int) -> None:
    """Evenly spaced, linear and geometric gaps between 0.9 and 0.1."""
    for means, proportions in (
        (instances.evenly_spaced(n), np.ones(n - 1)),
        (instances.linear_gaps(n), np.arange(1.0, n)),
        (instances.geometric_gaps(n, ratio=1.01), 1.01 ** np.arange(n - 1.0)),
    ):
        assert means.dtype == np.float64
        assert (means[0], means[-1]) == (0.9, 0.1)
        gaps = -np.diff(means)
        assert np.allclose(gaps / gaps[0], proportions, rtol=1e-9 * n)


def test_the_smallest_gap_and_an_anchor_fix_a_family() -> None:
    """`gap` is the smallest gap, also where gaps shrink; `middle` is the centre of the range."""
    assert instances.linear_gaps(3, high=0.8, gap=0.1).tolist() == [0.8, 0.7, 0.5]
    assert instances.geometric_gaps(3, ratio=0.5, high=0.8, gap=0.1).tolist() == [0.8, 0.6, 0.5]
    assert instances.evenly_spaced(2, middle=0.5, gap=1e-3).tolist() == [0.5005, 0.4995]
    assert instances.evenly_spaced(3, gap=0.25).tolist() == [0.9, 0.65, 0.4]
    tiny = instances.evenly_spaced(2, middle=0.5, gap=3e-16)
    assert tiny[0] > tiny[1]  # rounding to 15 digits would make them tie


def test_one_arm_apart() -> None:
    """The first mean is the best one, all others are equal."""
    assert instances.one_apart(3).tolist() == [0.9, 0.1, 0.1]
    assert instances.one_apart(4, high=0.7, low=-2.0).tolist() == [0.7, -2.0, -2.0, -2.0]


def test_random_means_are_a_function_of_their_seed() -> None:
    """Uniform on the range, best first; other seeds and numbers give other means."""
    means = instances.random_means(5000, seed=3, high=0.75, low=0.25)
    assert np.array_equal(means, instances.random_means(5000, seed=3, high=0.75, low=0.25))
    assert not np.array_equal(means, instances.random_means(5000, seed=4, high=0.75, low=0.25))
    assert (np.diff(means) < 0.0).all()
    assert 0.25 <= means[-1] < 0.2505
    assert 0.7495 < means[0] < 0.75
    assert abs(means.mean() - 0.5) < 5 * 0.5 / np.sqrt(12 * 5000)


@given(st.integers(1, 400), st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_shares_sum_to_n_and_miss_their_proportions_by_less_than_one(
    n: int, proportions: list[int]
) -> None:
    """Largest remainders: every size is the exact share rounded down or up."""
    exact = [n * part / sum(proportions) for part in proportions]
    if min(exact) < 1.0:
        with contextlib.suppress(ValueError):  # a cluster may be left empty, and need not be
            assert min(instances.shares(n, proportions)) == 1
        return
    sizes = instances.shares(n, proportions)
    assert sum(sizes) == n
    assert all(abs(size - share) < 1.0 for size, share in zip(sizes, exact, strict=True))


@pytest.mark.parametrize(
    ("family", "arguments", "message"),
    [
        ("evenly_spaced", {"n": 1}, "n is 1; it must be at least 2"),
        ("evenly_spaced", {"n": 2.0}, "n must be an integer; got 2.0"),
        (
            "evenly_spaced",
            {"n": 3, "high": 0.1, "low": 0.2},
            "low is 0.2 but high is 0.1; low must be the smaller one",
        ),
        ("evenly_spaced", {"n": 3, "gap": 0.0}, "gap is 0.0; it must be positive"),
        (
            "evenly_spaced",
            {"n": 3, "gap": 0.1, "low": 0.1},
            "gap is 0.1 and low is 0.1; give one of the two",
        ),
        ("linear_gaps", {"n": 3, "middle": 0.5}, "middle is 0.5; give it with gap"),
        (
            "linear_gaps",
            {"n": 3, "middle": 0.5, "gap": 0.1, "high": 0.9},
            "middle is 0.5; give it with gap, and without high",
        ),
        ("linear_gaps", {"n": 3, "high": "0.5"}, "high must be a number; got '0.5'"),
        ("linear_gaps", {"n": 3, "high": float("nan")}, "high is nan; it must be finite"),
        ("geometric_gaps", {"n": 3, "ratio": 0}, "ratio is 0.0; it must be positive"),
        (
            "geometric_gaps",
            {"n": 2000, "ratio": 2.0},
            "ratio is 2.0 with n = 2000; its powers leave the range of doubles",
        ),
        (
            "geometric_gaps",
            {"n": 2000, "ratio": 0.5},
            "ratio is 0.5 with n = 2000; its powers leave the range of doubles",
        ),
        ("random_means", {"n": 3, "seed": -1}, "seed is -1; it must be at least 0"),
        (
            "random_means",
            {"n": 3, "seed": 1, "low": 0.9},
            "low is 0.9 but high is 0.9; low must be the smaller one",
        ),
        ("one_apart", {"n": 1}, "n is 1; it must be at least 2"),
        (
            "one_apart",
            {"n": 3, "low": 0.9},
            "low is 0.9 but high is 0.9; low must be the smaller one",
        ),
        (
            "shares",
            {"n": 3, "proportions": (1, 0)},
            r"proportions is \(1, 0\); every entry must be a positive integer",
        ),
        (
            "shares",
            {"n": 2, "proportions": (9, 1)},
            r"proportions is \(9, 1\) for n = 2, which leaves a cluster empty",
        ),
    ],
)
def test_bad_arguments_are_named(family: str, arguments: dict[str, Any], message: str) -> None:
    """The argument, its value and what would do."""
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(instances, family)(**arguments)
