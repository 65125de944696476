"""Figures as files."""

from functools import partial

import matplotlib
import pytest
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import distribution, paper
from rai_sim.plotting.drawing import Drawing, draw_titled, figure_bytes, render
from rai_sim.plotting.inputs import cases_of


def drawing_of(runs: list[rai.Result]) -> Drawing:
    """Return a small figure."""
    draw = partial(draw_titled, distribution, cases_of(runs[:1]), "mine")
    return Drawing("distribution", "Distribution of pulls.", draw)


@pytest.mark.slow
def test_equal_input_gives_equal_bytes(runs: list[rai.Result]) -> None:
    """Of every kind, whatever the user's settings are."""
    drawing = drawing_of(runs)
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for kind, begin in begins.items():
        found = render(drawing, kind, 50)
        assert found.startswith(begin)
        with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30}):
            assert render(drawing, kind, 50) == found


def test_titles_are_its_own(runs: list[rai.Result]) -> None:
    """Not those of the function that draws."""
    assert drawing_of(runs).draw(Figure().subplots()).get_title(loc="left") == "mine"


def test_files_for_a_paper(runs: list[rai.Result]) -> None:
    """As wide as its column, without a title; at 100 dots an inch."""
    with paper(columns=1):
        found = render(drawing_of(runs), "png", 100)
    assert int.from_bytes(found[16:20], "big") == 325
    with paper(columns=1):
        assert drawing_of(runs).draw(Figure().subplots()).get_title(loc="left") == ""


def test_bytes_are_of_the_whole_figure() -> None:
    """Not of the axes alone; dots an inch are as asked."""
    ax = Figure(figsize=(2, 1)).subplots()
    assert int.from_bytes(figure_bytes(ax, "png", 60)[16:20], "big") == 120
