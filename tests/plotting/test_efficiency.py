"""Mean pulls over the lower bound."""

from pathlib import Path

import numpy as np
import pytest
from figures import band, figure_of, legend_of, picture
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import efficiency
from rai_sim.scaling import over_gap, over_m
from rai_sim.study import StudyResults


def drawn(ax: Axes, label: str) -> tuple[list[float], list[float]]:
    """Return the places and heights of a line."""
    (line,) = (line for line in ax.get_lines() if str(line.get_label()) == label)
    return np.asarray(line.get_xdata(), float).tolist(), np.asarray(
        line.get_ydata(), float
    ).tolist()


@pytest.mark.slow
@picture
def test_picture_of_efficiency(deltas: StudyResults) -> Figure:
    """From delta 0.1 to 1e-100: the README shows it."""
    return figure_of(efficiency(deltas))


@pytest.mark.landing
@picture
def test_picture_of_efficiency_against_gap(tmp_path: Path) -> Figure:
    """Smaller gaps to the right."""
    study = over_gap(gaps=[0.3, 0.1, 0.01, 1e-3, 1e-5], replications=60)
    return figure_of(efficiency(study.run(tmp_path / "store"), against="gap"))


@pytest.mark.slow
def test_ratios_are_those_of_the_table(deltas: StudyResults) -> None:
    """Points, bands, oracles; harder to the right."""
    ax, frame = efficiency(deltas), rai.scaling.efficiency(deltas)
    for number, name in enumerate(["Vanilla", "Butterscotch", "LUCB"]):
        own = frame.filter(frame["algorithm"].str.starts_with(name)).sort("at")
        x, y = drawn(ax, name)
        assert sorted(zip(x, y, strict=True)) == list(
            zip(own["at"], own["over_bound"], strict=True)
        )
        _, heights = band(ax, number)
        assert set(own["over_bound_low_95"].to_list()) <= set(heights.tolist())
        assert set(own["over_bound_high_95"].to_list()) <= set(heights.tolist())
    for label, key in (
        ("oracle, the paper's width", "paper"),
        ("oracle, pairs of arms", "pairs"),
        ("oracle, GK16 (unproven)", "gk16_unproven"),
    ):
        own = frame.filter(frame["algorithm"].str.starts_with("LUCB")).sort("at")
        expected = own[f"practical_pulls_{key}"] / own["lower_bound_pulls"]
        x, y = drawn(ax, label)
        assert sorted(x) == own["at"].to_list()
        assert sorted(y) == pytest.approx(sorted(expected.to_list()))
    assert drawn(ax, "1: lower bound")[1] == [1.0, 1.0]
    assert ax.xaxis_inverted()
    assert ax.get_yscale() == "log"
    assert "band: 95 % interval" in legend_of(ax)
    assert not [label for label in legend_of(efficiency(deltas, practical=())) if "oracle" in label]


@pytest.mark.landing
def test_deltas_are_spaced_by_the_logarithm_of_their_nats(deltas: StudyResults) -> None:
    """1e-1, 1e-10 and 1e-100 at equal distances, all inside, ticks at some of the powers of ten
    that are among the deltas."""
    ax = efficiency(deltas)
    places = [ax.transData.transform((10.0**-n, 1.0))[0] for n in (1, 10, 100)]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], rel=1e-6)
    hardest, easiest = sorted(ax.get_xlim())
    assert 0.0 < hardest < 1e-100
    assert 0.1 < easiest < 1.0
    figure_of(ax).canvas.draw()
    ticks = [tick for tick in ax.get_xticks() if hardest <= tick <= easiest]
    assert len(ticks) >= 4
    assert {0.1, 1e-100} <= set(ticks)
    narrow = Figure(figsize=(1.6, 1.6)).subplots()
    efficiency(deltas, narrow)
    assert 1 <= len(narrow.get_xticks()) < len(ticks)


def test_a_few_deltas_have_their_own_ticks() -> None:
    """One, and two that are no powers of ten."""
    runs = [
        rai.simulate(rai.table_problem(task=2), rai.Vanilla(), delta=delta, replications=40, seed=0)
        for delta in (0.07, 0.02)
    ]
    ax = efficiency(runs)
    assert sorted(ax.get_xticks()) == [0.02, 0.07]
    assert efficiency(runs[0]).get_xticks() == [0.07]


def test_points_without_a_bound_are_left_out(tmp_path: Path) -> None:
    """Where one of ten answers can be guessed there is nothing to divide by; the legend says so."""
    study = over_m(ms=[1, 9, 10], delta=0.1, algorithms=[rai.Butterscotch()], replications=30)
    results = study.run(tmp_path / "store")
    ax = efficiency(results, against="m")
    assert drawn(ax, "Butterscotch")[0] == [9.0, 10.0]
    assert "no bound known at other points" in legend_of(ax)
    with pytest.raises(ValueError, match="results has no problem whose tight lower bound is known"):
        efficiency(results.select(instance="*m = 1"), against="m")


def test_means_that_are_biased_are_not_drawn(tmp_path: Path) -> None:
    """Of replications of which some were given up."""
    study = over_gap(
        gaps=[0.3, 0.1, 0.05], algorithms=[rai.Vanilla()], replications=40, max_pulls=9000
    )
    results = study.run(tmp_path / "store")
    finished = results.summary()["finished"].to_list()
    assert finished[0] == 40 > finished[1] > 0
    ax = efficiency(results, against="gap")
    assert len(drawn(ax, "Vanilla, finished points only")[0]) == 1


def test_few_replications_have_no_interval() -> None:
    """And the legend says so."""
    run = rai.simulate(rai.table_problem(task=2), rai.Vanilla(), replications=20, seed=0)
    ax = efficiency(run)
    assert "no interval: fewer than 30 replications" in legend_of(ax)
    assert "band: 95 % interval" not in legend_of(ax)
    assert ax.get_title(loc="left") == "Efficiency"


@pytest.mark.parametrize(
    ("practical", "message"),
    [
        ("pairs", r"practical is 'pairs'; give a list such as \['pairs'\]"),
        (3, "practical is 3; give a list of thresholds"),
        (["gk16"], "practical holds 'gk16'; choose among 'pairs', 'paper', 'gk16-unproven'"),
    ],
)
def test_unknown_thresholds_are_refused(
    deltas: StudyResults, practical: list[str], message: str
) -> None:
    """The argument, its value and what would do."""
    with pytest.raises((TypeError, ValueError), match=message):
        efficiency(deltas, practical=practical)
