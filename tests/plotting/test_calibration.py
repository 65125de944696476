"""Error rates against delta."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.certification.verdicts import Seen
from rai_sim.plotting import calibration
from rai_sim.plotting.inputs import cases_of
from rai_sim.simulation.intervals import clopper_pearson

DELTAS = (0.3, 0.1, 0.03, 0.01)


@pytest.fixture(scope="module")
def rates() -> list[rai.Result]:
    """The printed LUCB, which errs too often, and Vanilla, which hardly does."""
    return [
        rai.simulate(rai.table_problem(task=2), algorithm, delta=delta, replications=200, seed=0)
        for algorithm in (rai.LUCB(as_printed=True), rai.Vanilla())
        for delta in DELTAS
    ]


@pytest.mark.landing
@picture
def test_picture_of_calibration(rates: list[rai.Result]) -> Figure:
    """Rings about what lies above the line, open marks where nothing was wrong."""
    return figure_of(calibration(rates))


def test_marks_are_rates_and_bars_are_intervals(rates: list[rai.Result]) -> None:
    """Of every point; where none was wrong the upper end alone."""
    ax = calibration(rates)
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    drawn = np.asarray(lines["LUCB (as_printed=True)"].get_ydata(), float)
    wrong = [int((~run.correct).sum()) for run in rates[:4]]
    assert min(wrong) > 0
    assert drawn.tolist() == [number / 200 for number in reversed(wrong)]  # delta grows
    bars = ax.collections[0].get_segments()  # type: ignore[attr-defined]
    for segment, number in zip(bars, reversed(wrong), strict=True):
        assert segment[:, 1].tolist() == pytest.approx(clopper_pearson(number, 200))
    assert not any(int((~run.correct).sum()) for run in rates[4:])
    assert np.isnan(np.asarray(lines["Vanilla"].get_ydata(), float)).all()
    ends = [line for line in ax.get_lines() if line.get_markerfacecolor() == "white"]
    assert np.asarray(ends[0].get_ydata(), float) == pytest.approx([clopper_pearson(0, 200)[1]] * 4)
    same = lines["error rate = δ"]
    assert np.array_equal(np.asarray(same.get_xdata()), np.asarray(same.get_ydata()))


@pytest.mark.landing
def test_rings_mark_what_lies_above(rates: list[rai.Result]) -> None:
    """For certain, of eight points at once, and no others; the legend tells of rings where there
    are some."""
    ax = calibration(rates)
    wrong = [int((~run.correct).sum()) for run in rates]
    above = [
        run.delta
        for run, number in zip(rates, wrong, strict=True)
        if Seen(200, number).finding(run.delta, 0.05 / 8) == "above delta"
    ]
    assert 0 < len(above) < 4
    rings = [line for line in ax.get_lines() if line.get_markeredgecolor() == "#B00020"]
    assert sorted(np.asarray(rings[0].get_xdata(), float).tolist()) == sorted(above)
    assert "above δ (all at once: 95 %)" in legend_of(ax)
    assert not [words for words in legend_of(calibration(rates[4:])) if "above δ" in words]
    assert "open: no error, upper end" not in legend_of(calibration(rates[:4]))


def test_rings_are_a_studys_verdicts() -> None:
    """What a study of many tasks leaves open has no ring, though the same number of points alone
    would have one."""
    case = cases_of(
        rai.simulate(rai.table_problem(), rai.Vanilla(), delta=0.1, replications=60, seed=0)
    )[0]
    wrong = replace(case, errors=20)
    assert "above δ (all at once: 95 %)" in legend_of(calibration([wrong]))
    judged = replace(wrong, verdict="open")
    assert not [words for words in legend_of(calibration([judged])) if "above δ" in words]
    known = replace(case, errors=7, verdict="above delta")
    assert "above δ (all at once: 95 %)" in legend_of(calibration([known]))


def test_marks_of_one_delta_stand_apart(rates: list[rai.Result]) -> None:
    """Each line is moved aside, by as much on both sides."""
    ax = calibration(rates)
    moved: list[Any] = [line.get_transform() for line in ax.get_lines()]
    figure = figure_of(ax)
    figure.canvas.draw()
    origin = ax.transData.transform((0.1, 0.1))
    shifts = {round(float((one.transform((0.1, 0.1)) - origin)[0]), 3) for one in moved}
    assert min(shifts) == -max(shifts) < 0.0


def test_capped_runs_are_named() -> None:
    """Rates are of those that finished."""
    runs = rai.simulate(
        rai.table_problem(), rai.LUCB(), delta=0.1, replications=100, seed=0, max_pulls=4000
    )
    assert 0 < runs.finished.sum() < 100
    ax = calibration(runs)
    assert legend_of(ax)[0] == "LUCB, finished runs only"
    end = clopper_pearson(0, int(runs.finished.sum()))[1]
    assert any(np.asarray(line.get_ydata(), float).tolist() == [end] for line in ax.get_lines())
