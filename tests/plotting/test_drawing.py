"""Figures as files."""

from functools import partial

import matplotlib
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import distribution, paper
from rai_sim.plotting.drawing import (
    Drawing,
    draw_titled,
    figure_bytes,
    render,
    render_or_say_why,
)
from rai_sim.plotting.inputs import cases_of
from rai_sim.support.errors import ArgumentValueError


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


def test_what_cannot_be_drawn_is_put_into_words(runs: list[rai.Result]) -> None:
    """Refusals alone: other errors are defects."""

    def refuses(ax: Axes) -> Axes:
        raise ArgumentValueError("results", "results has two experiments")

    def fails(ax: Axes) -> Axes:
        raise ZeroDivisionError

    refused = Drawing("pulls", "Pulls.", refuses)
    assert render_or_say_why(refused, "svg") == "not drawn: results has two experiments"
    assert isinstance(render_or_say_why(drawing_of(runs), "svg"), bytes)
    with pytest.raises(ZeroDivisionError):
        render_or_say_why(Drawing("pulls", "Pulls.", fails), "svg")


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
