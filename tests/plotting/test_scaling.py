"""Which figures a scaling study gets."""

from pathlib import Path

import pytest

import rai_sim as rai
from rai_sim.plotting.drawing import render
from rai_sim.plotting.scaling import choose_along
from rai_sim.scaling import over_m, over_n
from rai_sim.study import StudyResults


@pytest.mark.landing
def test_figures_of_deltas(deltas: StudyResults) -> None:
    """Means, slopes and efficiency of all points, the law and the shares at the last one, which are
    drawn."""
    drawings = choose_along(deltas, "delta")
    names = [
        "pulls-against-delta",
        "normalised-pulls",
        "exponents-against-delta",
        "efficiency",
        "law",
        "allocation",
    ]
    assert [drawing.name for drawing in drawings] == names
    assert all("At delta = 1e-100" in drawing.caption for drawing in drawings[4:])
    for drawing in drawings[4:]:
        assert render(drawing, "png", 40).startswith(b"\x89PNG")


@pytest.mark.slow
def test_figures_of_deltas_are_drawn(deltas: StudyResults) -> None:
    """Each of them."""
    for drawing in choose_along(deltas, "delta"):
        assert render(drawing, "png", 40).startswith(b"\x89PNG")


def test_figures_of_many_arms(tmp_path: Path) -> None:
    """The law at the largest number for which an oracle is known, shares where they can be told
    apart."""
    study = over_n([10, 90, 300], algorithms=[rai.Butterscotch()], replications=5)
    drawings = choose_along(study.run(tmp_path / "store"), "n")
    names = ["pulls-against-n", "efficiency", "moderate-confidence", "law"]
    assert [drawing.name for drawing in drawings] == names
    assert "At n = 90:" in drawings[-1].caption
    many = over_n([300, 400], algorithms=[rai.Butterscotch()], replications=5)
    drawings = choose_along(many.run(tmp_path / "many"), "n")
    assert [drawing.name for drawing in drawings] == ["pulls-against-n", "moderate-confidence"]


def test_sums_alone_have_no_shares(tmp_path: Path) -> None:
    """Which replications finished is not known; where no bound is known there is no efficiency."""
    study = over_m(
        ms=[1, 2], delta=0.1, algorithms=[rai.Butterscotch()], replications=5, keep="aggregates"
    )
    drawings = choose_along(study.run(tmp_path / "store"), "m")
    assert [drawing.name for drawing in drawings] == ["pulls-against-m", "law"]
