"""Arms of Student's t.

False alarms: three statistical comparisons, each at the level of `statistics_checks`; the seeds are
fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from laws import sums
from scipy import stats
from statistics_checks import LEVEL, bin_edges, chi_square, counts_in, masses

from rai_sim import Butterscotch, StudentT, best_arm, bounds, simulate


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"df": 1.0}, "df is 1.0; it must be above 1"),
        ({"df": np.inf}, "df is inf"),
        ({"df": np.nan}, "df is nan"),
        ({"scale": 0.0}, "scale is 0.0; it must be what a t is multiplied by, positive"),
        ({"sigma": -1.0}, "sigma is -1.0; it must be a positive finite number"),
        ({"means": []}, "means must be"),
    ],
)
def test_what_is_no_student_t(arguments: dict[str, object], message: str) -> None:
    """Is refused by its name."""
    with pytest.raises(ValueError, match=message):
        StudentT(**({"means": [1.0, 0.0]} | arguments))  # type: ignore[arg-type]


def test_no_guarantee_whatever_sigma_is() -> None:
    """Nor bounds: no moment generating function is finite."""
    for arms in (StudentT([1.0, 0.0]), StudentT([1.0, 0.0], df=30, sigma=100.0)):
        with pytest.raises(ValueError, match=r"Student's t, df .* are sub-Gaussian for no sigma"):
            best_arm(arms)
        assert bounds.shown(best_arm(arms, strict=False), 0.1) is None


def test_what_is_rescaled() -> None:
    """Means and scale."""
    told = StudentT([4.0, 1.0], df=5, scale=2.0, sigma=2.0).rescaled
    assert told == StudentT([1.0, 0.25], df=5, scale=0.5)


@pytest.mark.slow
def test_pulls() -> None:
    """Chi-square against t laws, down to those without a variance; the controls are moved by a
    twentieth of their scale."""
    for df in (1.1, 3.0, 40.0):
        draws = sums(StudentT([0.0, 2.0], df, scale=0.25), 1, 1)
        law, wrong = (stats.t(df, loc, 0.25) for loc in (2.0, 2.0 + 0.05 * 0.25))
        edges = bin_edges(law, draws.size, whole=False)
        assert chi_square(counts_in(edges, draws), masses(law, edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(wrong, edges)) < LEVEL


@pytest.mark.slow
def test_a_run() -> None:
    """Goes through without guarantees, and with sigma as one of rescaled rewards."""
    ours, theirs = (
        simulate(best_arm(arms, strict=False), Butterscotch(), delta=0.1, replications=30, seed=2)
        for arms in (
            StudentT([4.0, 1.0, 0.0], df=4, scale=1.0, sigma=1.25),
            StudentT([1.6, 0.4, 0.0], df=4, scale=0.4),
        )
    )
    assert ours.pulls.tolist() == theirs.pulls.tolist()
    assert ours.correct.all()
