"""Error rates of what is recommended, against the cap."""

from pathlib import Path

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import budgets
from rai_sim.plotting.choice import choose
from rai_sim.simulation.intervals import clopper_pearson

CAPS = (30, 300, 3_000, 30_000)


@pytest.fixture(scope="module")
def capped() -> list[rai.Result]:
    """Two algorithms at four caps, at the last of which some replications stop, and none errs."""
    return [
        rai.simulate(
            rai.table_problem(task=2), algorithm, delta=0.1, replications=200, max_pulls=cap
        )
        for algorithm in (rai.Vanilla(), rai.LUCB())
        for cap in CAPS
    ]


@pytest.mark.landing
@picture
def test_picture_of_budgets(capped: list[rai.Result]) -> Figure:
    """Falling rates with bars, an open mark where nothing was wrong."""
    return figure_of(budgets(capped))


def test_marks_are_rates_of_all_replications(capped: list[rai.Result]) -> None:
    """Finished or not, in whatever order runs come; bars are intervals."""
    ax = budgets([*reversed(capped)])
    line = {str(one.get_label()): one for one in ax.get_lines()}["Vanilla"]
    wrong = [int((~run.recommended_correct).sum()) for run in capped[:4]]
    assert [run.finished.any() for run in capped[:4]] == [False, False, False, True]
    assert np.asarray(line.get_xdata()).tolist() == list(CAPS)
    assert wrong[3] == 0
    assert np.asarray(line.get_ydata()).tolist()[:3] == [number / 200 for number in wrong[:3]]
    assert np.isnan(np.asarray(line.get_ydata(), float)[3])
    bars = ax.collections[1].get_segments()  # type: ignore[attr-defined]
    for segment, number in zip(bars[:3], wrong[:3], strict=True):
        assert segment[:, 1].tolist() == pytest.approx(clopper_pearson(number, 200))


def test_intervals_stand_side_by_side(capped: list[rai.Result]) -> None:
    """At a cap no algorithm's bar or mark lies upon another's, and none beyond the axes."""
    ax = budgets(capped)
    bars = ax.collections
    for cap in CAPS:
        at = [bar.get_transform().transform((cap, 0.1))[0] for bar in bars]
        lines = [line for line in ax.get_lines() if line.get_label() in ("Vanilla", "LUCB")]
        assert at == [line.get_transform().transform((cap, 0.1))[0] for line in lines]
        assert at[0] + 5.0 < at[1]
        assert ax.bbox.x0 < at[0] < at[1] < ax.bbox.x1


def test_where_nothing_was_wrong_the_upper_end_is_shown(capped: list[rai.Result]) -> None:
    """By an open mark, which the legend explains."""
    assert capped[7].recommended_correct.all()
    ax = budgets(capped[4:])
    (open_,) = [one for one in ax.get_lines() if one.get_markerfacecolor() == "white"]
    assert np.asarray(open_.get_ydata(), float) == pytest.approx([clopper_pearson(0, 200)[1]])
    assert "open: no error, upper end" in legend_of(ax)
    assert "open: no error, upper end" not in legend_of(budgets(capped[:3]))


def test_runs_without_a_cap_are_left_out(capped: list[rai.Result]) -> None:
    """And refused where there are no others; so are two at one cap."""
    free = rai.simulate(rai.table_problem(task=2), rai.Vanilla(), delta=0.1, replications=3)
    both = budgets([free, *capped[:4]])
    line = {str(one.get_label()): one for one in both.get_lines()}["Vanilla"]
    assert len(np.asarray(line.get_xdata())) == 4
    with pytest.raises(ValueError, match="has no run with a cap of which it is known"):
        budgets(free)
    with pytest.raises(ValueError, match="two experiments of Vanilla at max_pulls = 30"):
        budgets([capped[0], capped[0]])


def test_a_study_over_budgets_gets_the_figure(tmp_path: Path) -> None:
    """One an instance and delta, whether replications finish or not; other figures are of what has
    finished."""
    problem = rai.table_problem(task=2)
    study = rai.Study.grid(
        {"one": problem}, [rai.Vanilla()], [0.2, 0.1], max_pulls=CAPS[:3], replications=20
    )
    results = study.run(tmp_path)
    drawings = choose(results, everything=True)
    assert [drawing.name for drawing in drawings] == [
        "error-against-budget",
        "error-against-budget-2",
    ]
    assert drawings[0].caption == (
        "one, δ = 0.2: error rates of what is recommended at a cap, against the cap."
    )
    free = rai.Study.grid(
        {"one": problem}, [rai.Vanilla()], [0.1], max_pulls=[*CAPS, None], replications=20
    )
    names = [drawing.name for drawing in choose(free.run(tmp_path))]
    assert names[0] == "error-against-budget"
    assert "distribution" in names


def test_one_cap_that_nobody_stops_before_has_no_figure(tmp_path: Path) -> None:
    """Which is said; beside a study's cap there must be another one."""
    study = rai.Study.grid(
        {"one": rai.table_problem(task=2)}, [rai.Vanilla()], [0.1], max_pulls=30, replications=20
    )
    with pytest.raises(ValueError, match=r"no finished replication, and no two caps .*max_pulls"):
        choose(study.run(tmp_path))
