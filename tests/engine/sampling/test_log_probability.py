"""Logarithms of probabilities against 60-digit arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from samples import binomial_sd

from rai_sim.engine.jit import exposed
from rai_sim.engine.sampling import (
    log_binomial,
)
from rai_sim.engine.sampling.log_probability import deviance, stirling_error

log_binomial = exposed(log_binomial)

deviance = exposed(deviance)
stirling_error = exposed(stirling_error)


def half_log_2pi() -> Decimal:
    """Return log(2 pi) / 2 to the context's precision."""
    return (
        2
        * Decimal(
            "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"
        )
    ).ln() / 2


def log_factorial(n: int) -> Decimal:
    """Return log n! to some 50 digits: up to 2000 exactly, then by ten terms of Stirling's
    series."""
    if n <= 2000:
        return Decimal(math.factorial(n)).ln()
    pairs = (
        (1, 6),
        (-1, 30),
        (1, 42),
        (-1, 30),
        (5, 66),
        (-691, 2730),
        (7, 6),
        (-3617, 510),
        (43867, 798),
    )
    bernoulli = [*(Fraction(*pair) for pair in pairs), Fraction(-174611, 330)]
    series = (
        number / (2 * j * (2 * j - 1)) / Fraction(n) ** (2 * j - 1)
        for j, number in enumerate(bernoulli, 1)
    )
    tail = sum((Decimal(term.numerator) / term.denominator for term in series), Decimal(0))
    return (n + Decimal(1) / 2) * Decimal(n).ln() - n + half_log_2pi() + tail


def log_pmf(x: int, k: int, p: float) -> Decimal:
    """Return log P(Binomial(k, p) = x) for exactly the double p."""
    chance = Decimal(p)
    return (
        log_factorial(k)
        - log_factorial(x)
        - log_factorial(k - x)
        + x * chance.ln()
        + (k - x) * (1 - chance).ln()
    )


def test_stirling_error_against_60_digits() -> None:
    """Error below 1e-14, log-gamma's rounding, where a table serves; beyond, below 1e-13 of the
    value."""
    with localcontext(prec=60):
        for n in [*range(1, 40), 100, 1999, 2000, 2001, 10**6, 10**9, 10**12, 10**14]:
            exact = float(
                log_factorial(n) - (n + Decimal(1) / 2) * Decimal(n).ln() + n - half_log_2pi()
            )
            assert stirling_error(float(n)) == pytest.approx(
                exact, rel=1e-13 if n >= 16 else 0.0, abs=0.0 if n >= 16 else 1e-14
            )
    assert stirling_error(0.0) == 0.0


def test_deviance_against_60_digits() -> None:
    """Relative error below 3e-14, near the mean as well as far from it."""
    with localcontext(prec=60):
        for mean in (1e-6, 0.3, 10.0, 12345.678, 1e9 / 3, 3e13):
            for ratio in (
                1 + 1e-12,
                1 - 1e-6,
                1.001,
                0.9,
                1.1,
                0.8181,
                1.2222,
                1.2223,
                0.5,
                2.0,
                100.0,
                1e-3,
            ):
                x = mean * ratio
                a, b = Decimal(x), Decimal(mean)
                assert deviance(x, mean) == pytest.approx(
                    float(a * (a / b).ln() + b - a), rel=3e-14, abs=0.0
                )
        assert deviance(7.0, 7.0) == 0.0


@pytest.mark.parametrize("k", [1, 2, 15, 16, 33, 1000, 10**6, 10**9, 10**12, 10**14])
def test_log_binomial_against_60_digits(k: int) -> None:
    """Error below 1e-13 and 2e-13 of the value, plus 3e-16 |x - k p| for rounding k p and k (1 -
    p).

    A shift of p by its own rounding would cost as much. Log-gammas would have lost 0.3 at k =
    10^14.
    """
    with localcontext(prec=60):
        for p in (1e-12, 1e-6, 0.01, 0.3, 0.5, 0.85, 1 - 1e-6):
            mean, sd = k * p, binomial_sd(k, p)
            near = {math.floor(mean + z * sd) for z in (-8.0, -3.0, -1.0, 0.0, 0.5, 2.0, 6.0, 12.0)}
            for x in {x for x in near if 0 < x < k} | {0, 1, k // 2, k - 1, k}:
                error = abs(log_binomial(float(x), float(k), p) - float(log_pmf(x, k, p)))
                assert error <= 1e-13 + 2e-13 * abs(float(log_pmf(x, k, p))) + 3e-16 * abs(x - mean)
    assert log_binomial(0.0, 0.0, 0.3) == 0.0
