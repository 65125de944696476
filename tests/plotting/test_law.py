"""Pulls over an oracle's."""

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import law
from rai_sim.simulation.intervals import clopper_pearson
from rai_sim.study import StudyResults
from rai_sim.support.wording import percent


@pytest.mark.landing
@picture
def test_picture_of_law(runs: list[rai.Result]) -> Figure:
    """Four variants."""
    return figure_of(law(runs))


def test_curves_are_the_distributions(runs: list[rai.Result]) -> None:
    """Pulls over the oracle's under each threshold; 1 is marked."""
    for threshold in ("pairs", "paper"):
        pulls = rai.bounds.practical(rai.table_problem(task=2), 0.01, threshold)
        ax = law(runs[0], threshold=threshold)
        curve, oracle = ax.get_lines()[:2]
        x, y = np.asarray(curve.get_xdata(), float), np.asarray(curve.get_ydata(), float)
        assert x[-1] == runs[0].pulls.max() / pulls
        assert x[0] == runs[0].pulls.min() / pulls
        median = float(np.median(runs[0].pulls)) / pulls
        assert np.interp(median, x, y) == pytest.approx(0.5, abs=0.01)
        assert np.asarray(oracle.get_xdata(), float).tolist() == [1.0, 1.0]
        assert ax.get_xlabel() == f"pulls over an oracle's ({threshold}: {pulls:,.0f})"


def test_names_have_the_intervals_of_errors() -> None:
    """Clopper-Pearson's, of an algorithm that errs."""
    run = rai.simulate(
        rai.table_problem(task=2), rai.LUCB(as_printed=True), replications=200, seed=0
    )
    wrong = int((~run.correct).sum())
    assert wrong > 10
    low, high = clopper_pearson(wrong, 200)
    assert legend_of(law(run))[0] == (
        f"LUCB (as_printed=True), wrong {100.0 * low:.3g} to {percent(high)}"
    )


def test_several_oracles_are_not_numbered(deltas: StudyResults) -> None:
    """Each curve is over its own."""
    some = deltas.select(algorithm="butterscotch", delta=[1e-10, 1e-100])
    ax = law(some)
    assert ax.get_xlabel() == "pulls over an oracle's (pairs)"
    assert len([label for label in legend_of(ax) if "wrong" in label]) == 2


def test_what_has_no_oracle_is_refused() -> None:
    """Of many arms none is known, and no other threshold."""
    problem = rai.best_arm(rai.Bernoulli(rai.instances.one_apart(200)))
    run = rai.simulate(problem, rai.Butterscotch(), replications=5, seed=0)
    with pytest.raises(ValueError, match="results has problems for which no oracle is known"):
        law(run)
    with pytest.raises(ValueError, match="threshold is 'gk16'; choose one of 'pairs', 'paper'"):
        law(run, threshold="gk16")  # type: ignore[arg-type]
