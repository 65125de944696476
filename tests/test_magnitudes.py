"""How large and how small rewards may be: refused where they enter, or a run that ends with finite
numbers, whatever the law gives.

Nothing may crash or hang here, so what did is run in a process of its own with a limit of time.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unchecked import unchecked

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import LARGEST, Arms

ALGORITHMS: list[Algorithm] = [rai.Vanilla(), rai.Butterscotch(), rai.LUCB()]
ONES = np.ones((3, 400))


@pytest.mark.parametrize(
    ("law", "arguments", "message"),
    [
        (
            "Gaussian",
            {"means": [0, 1, 2], "sd": 1.7e308},
            r"sd is 1\.7e\+308; beyond 1e\+50 .*: rescale",
        ),
        (
            "Gaussian",
            {"means": [0, 1], "sd": np.nextafter(1e50, 2e50)},
            r"sd is 1\.0+\de\+50; beyond 1e\+50",
        ),
        ("Gaussian", {"means": [0, -1e51]}, r"means\[1\] is -1e\+51; beyond 1e\+50"),
        (
            "Gaussian",
            {"means": [0, sys.float_info.max]},
            r"means\[1\] is 1\.79\d+e\+308; beyond 1e\+50",
        ),
        ("Gaussian", {"means": [10**51]}, r"means\[0\] is 1e\+51; beyond 1e\+50"),
        (
            "Categorical",
            {"values": [-1e308, 0, 1], "probabilities": [[0.2, 0.3, 0.5]]},
            r"values\[0\] is -1e\+308; beyond 1e\+50",
        ),
        (
            "Categorical",
            {"values": [0, 1e60], "probabilities": [[0.5, 0.5]]},
            r"values\[1\] is 1e\+60; beyond 1e\+50",
        ),
        (
            "Recorded",
            {"rewards": [[0, 1], [-1e200, 0]]},
            r"rewards\[1, 0\] is -1e\+200; beyond 1e\+50",
        ),
        (
            "Recorded",
            {"rewards": [[0, 1]], "means": [1e154]},
            r"means\[0\] is 1e\+154; beyond 1e\+50",
        ),
    ],
)
def test_what_sums_cannot_hold_is_refused(
    law: str, arguments: dict[str, Any], message: str
) -> None:
    """2^62 pulls, and squares of what they differ by, stay within doubles; the message names the
    argument, its value and the remedy."""
    with pytest.raises(ValueError, match=f"^{message}"):
        getattr(rai, law)(**arguments)


def test_the_bound_is_kept_by_what_kernels_compute() -> None:
    """The largest sum, the square of a difference, and its quotient by the least variance proxy are
    finite doubles."""
    pulls = 2.0**62
    difference = 2.0 * (LARGEST * pulls + 40.0 * LARGEST * math.sqrt(pulls))
    assert math.isfinite(4.0 * difference**2)
    assert math.isfinite(4.0 * difference**2 / 1e-100)
    for arms in (
        rai.Gaussian([LARGEST, -LARGEST], sd=LARGEST),
        rai.Gaussian([LARGEST, 0.0], sd=5e-324),
    ):
        problem = rai.Problem(arms, (1, 1), (1, 1), strict=False)
        result = rai.simulate(problem, rai.Vanilla(), replications=20, seed=0, max_pulls=2**62)
        assert result.finished.all()
        if arms.sd < 1.0:
            assert result.rounds.tolist() == [1] * 20  # the means differ by far more than any width
            assert result.correct.all()


EDGES = st.sampled_from(
    [
        0.0,
        5e-324,
        -5e-324,
        1e-310,
        1e-200,
        1e-17,
        0.5,
        1.0,
        1e16,
        1e50,
        -1e50,
        1.1e50,
        1e154,
        1.7e308,
        -1.7e308,
    ]
)
REWARDS = EDGES | st.floats(-2.0, 2.0) | st.floats(allow_nan=False, allow_infinity=False)
DEVIATIONS = st.sampled_from(
    [5e-324, 1e-200, 1e-160, 1e-20, 0.5, 1e20, 1e50, 1.1e50, 1e300]
) | st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)
PROBABILITIES = st.sampled_from(
    [0.0, 5e-324, 1e-310, 1e-200, 2.0**-11, 0.5, 1 - 2.0**-53, 1.0]
) | st.floats(0.0, 1.0)


@st.composite
def laws(draw: st.DrawFn, names: Sequence[str]) -> tuple[str, dict[str, Any], list[float]]:
    """Return a law's name, arguments of two or three arms, and those numbers of them that are in
    units of reward."""
    name = draw(st.sampled_from(names))
    n = draw(st.integers(2, 3))
    if name == "Gaussian":
        means, sd = draw(st.lists(REWARDS, min_size=n, max_size=n)), draw(DEVIATIONS)
        return name, {"means": means, "sd": sd}, [*means, sd]
    if name == "Categorical":
        values = draw(st.lists(REWARDS, min_size=1, max_size=4, unique=True))
        weights = draw(
            st.lists(
                st.lists(
                    st.sampled_from([1e-300, 0.01, 1.0]), min_size=len(values), max_size=len(values)
                ),
                min_size=n,
                max_size=n,
            )
        )
        table = np.array(weights)
        return name, {"values": values, "probabilities": table / table.sum(axis=1)[:, None]}, values
    few = draw(st.lists(st.lists(REWARDS, min_size=4, max_size=4), min_size=n, max_size=n))
    return name, {"rewards": np.tile(few, (1, 250))}, [reward for row in few for reward in row]


def check_a_run(arms: Arms, algorithm: Algorithm, skip_error: float) -> None:
    """Run a few replications of at most 1000 pulls, and look at every number that comes out."""
    order = np.argsort(-arms.means, kind="stable")
    sizes = (1, arms.n_arms - 1)
    if (
        arms.means[order[0]] - arms.means[order[1]]
        <= arms.means_rounding * abs(arms.means[order[:2]]).max()
    ):
        with pytest.raises(ValueError, match="tie at mean"):
            rai.Problem(arms, sizes, (1, 0), strict=False)
        return
    problem = rai.Problem(arms, sizes, (1, 0), strict=False)
    options: dict[str, Any] = {"seed": 3, "max_pulls": 1000, "skip_error": skip_error}
    result = rai.simulate(problem, algorithm, delta=0.3, replications=3, **options)
    assert (result.pulls <= 1000).all()
    assert (result.pulls >= 0).all()
    assert (result.rounds >= 0).all()
    assert (result.rounds <= result.pulls).all()
    assert ((result.representatives >= 0).all(axis=1) == result.finished).all()
    assert (result.representatives < arms.n_arms).all()
    assert str(result.summary())
    traced = rai.trace(problem, algorithm, 0.3, **options)
    assert np.isfinite(traced.means).all()
    assert (traced.arm_pulls.sum(axis=1) <= 1000).all()
    spread = max(1.0, abs(arms.means).max()) + 100.0 * float(getattr(arms, "sd", 0.0))
    if not isinstance(arms, rai.Recorded):
        assert abs(traced.means).max(initial=0.0) <= 1.001 * max(
            spread, abs(np.asarray(getattr(arms, "values", 0.0))).max()
        )


def make_and_run(
    law: tuple[str, dict[str, Any], list[float]], algorithm: Algorithm, skip_error: float
) -> None:
    """Refuse a law by the name of one of its arguments exactly if a number is beyond the bound;
    else run it."""
    name, arguments, numbers = law
    if any(abs(number) > LARGEST for number in numbers):
        with pytest.raises(
            ValueError,
            match=rf"^({'|'.join(arguments)})(\[[\d, ]+\])? is .*; beyond 1e\+50 .*: rescale",
        ):
            getattr(rai, name)(**arguments)
        return
    check_a_run(getattr(rai, name)(**arguments), algorithm, skip_error)


DRAWN = ["Gaussian", "Recorded"]
CHANCE = st.sampled_from([0.0, 1e-12])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(laws([*DRAWN, "Categorical"]), CHANCE)
def test_any_law_is_refused_or_runs_under_vanilla(law: Any, skip_error: float) -> None:
    """Subnormal and huge rewards, values and deviations."""
    make_and_run(law, rai.Vanilla(), skip_error)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(laws(DRAWN), CHANCE)
def test_any_law_is_refused_or_runs_under_butterscotch(law: Any, skip_error: float) -> None:
    """The same, where a round is several pulls an arm."""
    make_and_run(law, rai.Butterscotch(), skip_error)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(laws(DRAWN), st.booleans(), CHANCE)
def test_any_law_is_refused_or_runs_under_lucb(
    law: Any, as_printed: bool, skip_error: float
) -> None:
    """The same, where rounds pull few arms."""
    make_and_run(law, rai.LUCB(as_printed=as_printed), skip_error)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(laws(["Categorical"]), st.sampled_from(ALGORITHMS), CHANCE)
def test_any_categorical_law_is_refused_or_runs(
    law: Any, algorithm: Algorithm, skip_error: float
) -> None:
    """The same of kernels that slow tests alone compile."""
    make_and_run(law, algorithm, skip_error)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(PROBABILITIES, min_size=2, max_size=3), st.sampled_from(ALGORITHMS))
def test_any_probabilities_run(means: list[float], algorithm: Algorithm) -> None:
    """Bernoulli arms down to the least double."""
    check_a_run(rai.Bernoulli(means), algorithm, 1e-12)


#: What no constructor accepts, as a law from outside may have it: its name, what it overflows in,
#: and the arms at fault.
WILD: list[tuple[str, Arms, set[int]]] = [
    ("an infinite deviation", unchecked(rai.Gaussian([0, 1, 2]), sd=math.inf), {0, 1, 2}),
    ("no deviation", unchecked(rai.Gaussian([0, 1, 2]), sd=math.nan), {0, 1, 2}),
    ("the largest deviation", unchecked(rai.Gaussian([0, 1e-3, 2e-3]), sd=1.7e308), {0, 1, 2}),
    (
        "a NaN on tape",
        unchecked(
            rai.Recorded(ONES, means=[1, 0.5, 0.2]),
            rewards=np.where(np.arange(400) == 57, np.nan, ONES),
        ),
        {0, 1, 2},
    ),
    (
        "one arm's infinity on tape",
        unchecked(
            rai.Recorded(ONES, means=[1, 0.5, 0.2]),
            rewards=np.array([[1.0] * 400, [1.0] * 400, [1.0] * 100 + [math.inf] + [1.0] * 299]),
        ),
        {2},
    ),
]


REPORT = r"arms: the sum of arm (\d)'s rewards is not finite at pull (\d+); a law must give finite rewards .*: mend or rescale it"


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=["vanilla", "butterscotch", "lucb"])
@pytest.mark.parametrize(
    ("arms", "at_fault"), [case[1:] for case in WILD], ids=[case[0] for case in WILD]
)
@pytest.mark.parametrize("sizes", [(1, 2), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("skip_error", [0.0, 1e-12])
def test_a_sum_that_is_not_finite_is_reported(
    algorithm: Algorithm, arms: Arms, at_fault: set[int], sizes: tuple[int, ...], skip_error: float
) -> None:
    """Not judged, not jumped by, not followed to the cap: an error that names the arm and the pull,
    or an end before it comes to that."""
    problem = rai.Problem(
        arms, sizes, (1,) + (0,) * (len(sizes) - 1) if len(sizes) == 2 else sizes, strict=False
    )
    with pytest.raises(ValueError, match=rf"^{REPORT}") as refusal:
        rai.simulate(
            problem,
            algorithm,
            delta=0.5,
            replications=300,
            seed=0,
            max_pulls=1200,
            skip_error=skip_error,
        )
    found = re.match(REPORT, str(refusal.value))
    assert found
    arm, pull = int(found[1]), int(found[2])
    assert arm in at_fault
    if isinstance(arms, rai.Recorded):
        sums = np.cumsum(arms.rewards[arm])
        assert not math.isfinite(sums[pull - 1])


CRASHES = """
import sys
import rai_sim as rai
sys.path.insert(0, {tests!r})
from unchecked import unchecked
arms = unchecked(rai.Gaussian([0, 1, 2][:{n}]), sd=1.7e308)
problem = rai.Problem(arms, {sizes}, (0, 1), strict=False)
try:
    result = rai.simulate(problem, rai.{algorithm}(), delta=0.5, replications=3000, seed=0, max_pulls={cap})
    print("ended", int(result.pulls.max()))
except ValueError as error:
    print(error)
"""


@pytest.mark.landing
@pytest.mark.parametrize(
    ("n", "sizes", "algorithm", "cap"),
    [
        (3, (1, 2), "Vanilla", None),
        (2, (1, 1), "LUCB", 1000),
        pytest.param(2, (1, 1), "Vanilla", None, marks=pytest.mark.slow),
        pytest.param(3, (1, 2), "LUCB", 1000, marks=pytest.mark.slow),
    ],
)
def test_what_crashed_or_hung_ends_with_an_error(
    n: int, sizes: tuple[int, ...], algorithm: str, cap: int | None
) -> None:
    """Behind the constructor's check, the kernels' own: no crash, no loop that a cap does not
    end."""
    script = CRASHES.format(
        tests=str(Path(__file__).parent), n=n, sizes=sizes, algorithm=algorithm, cap=cap
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "is not finite at pull" in done.stdout
