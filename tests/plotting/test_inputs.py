"""What figures take: a label for each experiment, and refusals by name, value and remedy."""

from typing import Any

import numpy as np
import pytest
from figures import legend_of

import rai_sim as rai
from rai_sim.plotting import distribution, mean_pulls, pulls_by_gap, ratios
from rai_sim.plotting import trace as draw_trace


def test_labels_tell_experiments_apart() -> None:
    """Two deltas of one algorithm."""
    results = [
        rai.simulate(rai.table_problem(), rai.Vanilla(), delta=delta, replications=20, seed=0)
        for delta in (0.1, 0.01)
    ]
    assert {"Vanilla, δ = 0.1", "Vanilla, δ = 0.01"} <= set(legend_of(distribution(results)))
    named = dict(zip(["loose", "tight"], results, strict=True))
    assert {"loose", "tight"} <= set(legend_of(distribution(named)))


def test_every_experiment_has_a_label_of_its_own() -> None:
    """Other tasks, seeds, caps; in the end a number."""
    one = rai.simulate(rai.table_problem(task=1), rai.Vanilla(), replications=9, seed=0)
    other = rai.simulate(rai.table_problem(task=2), rai.Vanilla(), replications=9, seed=0)
    capped = rai.simulate(
        rai.table_problem(task=1), rai.Vanilla(), replications=9, seed=0, max_pulls=10**6
    )
    assert legend_of(distribution([one, other]))[:2] == ["Vanilla, r = 1,0,0", "Vanilla, r = 3,0,0"]
    assert legend_of(distribution([one, capped]))[:2] == [
        "Vanilla, no cap",
        "Vanilla, cap 1,000,000",
    ]
    ax = distribution([one, one])
    assert legend_of(ax)[:2] == ["Vanilla, no. 1", "Vanilla, no. 2"]
    assert len({str(line.get_color()) for line in ax.get_lines()}) == 2


def untyped(draw: Any, *arguments: Any, **options: Any) -> Any:
    """Call a function with what its types forbid."""
    return draw(*arguments, **options)


def small(max_pulls: int | None = None) -> rai.Result:
    """Two replications of another problem."""
    return rai.simulate(
        rai.table_problem(), rai.Vanilla(), replications=2, seed=0, max_pulls=max_pulls
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda runs: distribution([]), ValueError, "results is empty; give a Result"),
        (lambda runs: untyped(distribution, 3), TypeError, "results is of type int; give a Result"),
        (lambda runs: untyped(distribution, [3]), TypeError, "results holds something of type int"),
        (
            lambda runs: distribution(runs, kind="pie"),
            ValueError,
            "kind is 'pie'; choose 'ecdf' or 'histogram'",
        ),
        (
            lambda runs: distribution(runs * 3),
            ValueError,
            "results holds 12 experiments; a figure shows at most 10",
        ),
        (
            lambda runs: untyped(mean_pulls, runs, against=np.array(["n", "gap"])),
            TypeError,
            r"against is array\(.*; give 'delta', 'n', 'gap' or a parameter's name",
        ),
        (
            lambda runs: untyped(distribution, runs, kind=np.array(["ecdf", "histogram"])),
            ValueError,
            r"kind is array\(.*; choose 'ecdf' or 'histogram'",
        ),
        (
            lambda runs: untyped(ratios, runs, baseline=np.array(["Vanilla", "LUCB"])),
            ValueError,
            r"baseline is array\(.*; choose one of 'Vanilla'",
        ),
        (
            lambda runs: mean_pulls(runs, against="luck"),
            ValueError,
            "against is 'luck', which a result has no number for",
        ),
        (
            lambda runs: mean_pulls([runs[0], runs[0]]),
            ValueError,
            "two experiments of Vanilla at delta = 0.01",
        ),
        (
            lambda runs: untyped(mean_pulls, runs, bounds=1),
            TypeError,
            "bounds is 1; it must be True or False",
        ),
        (lambda runs: ratios(runs[0]), ValueError, "results has nothing to compare"),
        (
            lambda runs: ratios(runs, baseline="mine"),
            ValueError,
            "baseline is 'mine'; choose one of 'Vanilla'",
        ),
        (lambda runs: pulls_by_gap(runs, replications=0), ValueError, "replications is 0"),
        (lambda runs: pulls_by_gap([runs[0], small()]), ValueError, "several problems"),
        (
            lambda runs: draw_trace(runs[0]),
            TypeError,
            "trace is of type Result; make one with rai.trace",
        ),
        (
            lambda runs: draw_trace(rai.trace(rai.table_problem(), rai.LUCB(), max_pulls=3)),
            ValueError,
            "max_pulls = 3 does not pay for the first round",
        ),
        (
            lambda runs: draw_trace(rai.trace(rai.table_problem(), rai.LUCB()), most_arms=0),
            ValueError,
            "most_arms is 0",
        ),
        (lambda runs: distribution(small(max_pulls=3)), ValueError, "raise max_pulls"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], words: str, runs: list[rai.Result]) -> None:
    """Name, value, remedy; and no figure is left behind."""
    from matplotlib import pyplot

    with pytest.raises(error, match=words):
        call(runs)
    assert pyplot.get_fignums() == []
