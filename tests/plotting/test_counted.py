"""Pulls by arm for figures: what is kept is taken, and only what is not is run again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figures import legend_of

import rai_sim as rai
from rai_sim.plotting import allocation, arm_map, by_arm, pulls_by_gap
from rai_sim.plotting.choice import choose
from rai_sim.plotting.counted import ArmPulls, counted, interval_words
from rai_sim.plotting.inputs import cases_of
from rai_sim.plotting.style import own_axes

PROBLEM = rai.best_arm(rai.Bernoulli([0.2, 0.8, 0.3, 0.6]))
FIGURES = [allocation, arm_map, pulls_by_gap]


def run(keep: str | None, replications: int = 60) -> rai.Result:
    """Return some replications."""
    return rai.simulate(PROBLEM, rai.Vanilla(), replications=replications, keep=keep)


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is run again."""
    from rai_sim.tracing import history

    seen: list[object] = []
    run = history.run_with_history

    def noting(*given: Any) -> Any:
        seen.append(given)
        return run(*given)

    monkeypatch.setattr(history, "run_with_history", noting)
    return seen


@pytest.mark.parametrize("keep", ["arm_pulls", "arm_pulls_sum"])
def test_what_is_kept_is_not_run_again(keep: str, again: list[object]) -> None:
    """And it is all finished replications', whatever number is asked for."""
    arms = np.array([3, 0])
    (kept,) = counted(cases_of(run(keep)), 10, arms)
    assert not again
    rows = run("arm_pulls").arm_pulls
    assert rows is not None
    assert kept.number == 60
    assert kept.mean == pytest.approx(rows[:, arms].mean(axis=0))
    assert kept.share == pytest.approx(rows[:, arms].sum(axis=0) / rows.sum())
    (few,) = counted(cases_of(run(None)), 10, np.arange(4))
    assert len(again) == few.number == 10
    assert few.rows is not None
    assert np.array_equal(few.rows, rows[:10])


def test_intervals_are_of_rows_alone() -> None:
    """Of sums there are none, and the legend says why; of few replications none either."""
    rows, sums, few = (
        counted(cases_of(one), 60, np.arange(4))[0]
        for one in (run("arm_pulls"), run("arm_pulls_sum"), run("arm_pulls", 20))
    )
    assert rows.has_interval
    assert rows.error_of_mean() == pytest.approx(
        2.001 * np.asarray(rows.rows).std(axis=0, ddof=1) / np.sqrt(60), rel=1e-3
    )
    assert (rows.error_of_share() < 0.1).all()
    for none in (sums, few):
        assert np.isnan(none.error_of_mean()).all()
        assert np.isnan(none.error_of_share()).all()
    assert [words for words, _ in interval_words([rows, sums, few], "mean")] == [
        "bar: 95 % interval of the mean",
        "no interval: sums of pulls alone are kept",
        "no interval: fewer than 30 replications",
    ]
    assert interval_words([ArmPulls(40, np.ones(1), 2.0)], "mean")[0][1] == ""


def test_no_arm_has_a_share_of_nothing() -> None:
    """NaN, without a warning; the means are 0."""
    none = ArmPulls(40, np.zeros(2), 0.0, np.zeros((40, 2)), np.zeros(40))
    assert np.isnan(none.share).all()
    assert np.isnan(none.error_of_share()).all()
    assert none.mean.tolist() == none.error_of_mean().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.parametrize("keep", ["arm_pulls", "arm_pulls_sum"])
def test_figures_use_what_is_kept(draw: Any, keep: str, again: list[object]) -> None:
    """All three."""
    axes = draw(run(keep), own_axes())
    assert not again
    if draw is not arm_map:
        assert "Vanilla (60 replications)" in legend_of(axes)
        assert ("no interval: sums of pulls alone are kept" in legend_of(axes)) == (
            keep == "arm_pulls_sum"
        )


@pytest.mark.parametrize("keep", ["arm_pulls", "arm_pulls_sum"])
def test_a_studys_figures_use_what_it_keeps(
    keep: str, again: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Captions speak of no runs, and no algorithm is too dear; with sums alone, too."""
    monkeypatch.setattr(by_arm, "_MOST_PULLS", 1.0)
    monkeypatch.setattr(by_arm, "_PULLS", 1.0)
    algorithms = [rai.Vanilla(), rai.Butterscotch()]
    study = rai.Study.grid({"x": PROBLEM}, algorithms, [0.1], replications=40, keep=keep)
    drawn = {one.name: one for one in choose(study.run(tmp_path / "a"))}
    for name in ("pulls-by-gap", "arm-map", "allocation"):
        drawn[name].draw(own_axes())
        assert "run again" not in drawn[name].caption
    assert not again
