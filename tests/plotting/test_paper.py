"""Figures for a paper: their width, type, strokes and fonts, and that nothing stays behind."""

import io
from typing import Any

import matplotlib
import pytest
from figures import figure_of, legend_of, part, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import calibration, distribution, mean_pulls, paper, ratios
from rai_sim.study import StudyResults


@pytest.mark.landing
@picture
def test_picture_in_one_column(study: StudyResults) -> Figure:
    """All entries of a legend, in 3.25 inches."""
    with paper(columns=1):
        return figure_of(mean_pulls(part(study, "top fifth, n = 10"), against="delta"))


@pytest.mark.slow
@pytest.mark.slow
@picture
def test_picture_in_two_columns(study: StudyResults) -> Figure:
    """The same in 6.75."""
    with paper(columns=2):
        return figure_of(mean_pulls(part(study, "top fifth, n = 10"), against="delta"))


@pytest.mark.landing
@pytest.mark.parametrize(
    ("columns", "width"), [(1, 3.25), pytest.param(2, 6.75, marks=pytest.mark.slow)]
)
def test_figures_are_as_wide_as_columns(columns: int, width: float, runs: list[rai.Result]) -> None:
    """Type of 8 and 7 points, no title, and everything is inside."""
    with paper(columns=columns):
        for draw in (distribution, ratios, calibration):
            ax = draw(runs)
            figure = figure_of(ax)
            assert figure.get_figwidth() == width
            assert ax.get_title(loc="left") == ""
            assert ax.xaxis.label.get_fontsize() == 8.0
            assert [text.get_fontsize() for text in ax.get_xticklabels()][:1] == [7.0]
            figure.canvas.draw()
            boxes = [figure.legends[0].get_window_extent(), ax.get_tightbbox()]
            for box in boxes:
                assert box is not None
                assert figure.bbox.x0 <= box.x0
                assert box.x1 <= figure.bbox.x1
                assert box.y0 >= figure.bbox.y0
                assert box.y1 <= figure.bbox.y1
            assert boxes[0].y1 <= boxes[1].y0  # type: ignore[union-attr]


def test_what_is_asked_for(runs: list[rai.Result]) -> None:
    """Inches with the legend, a title, the axes' ends."""
    with paper(width=4.0, height=2.5, titles=True, xlim=(1000, 1e6), ylim=(0, 1)):
        ax = distribution(runs)
    assert figure_of(ax).get_size_inches().tolist() == [4.0, 2.5]
    assert ax.get_title(loc="left") == "Distribution of pulls"
    assert (ax.get_xlim(), ax.get_ylim()) == ((1000.0, 1e6), (0.0, 1.0))
    assert legend_of(ax)[0] == "Vanilla"


def test_an_axis_that_falls_goes_on_falling(runs: list[rai.Result]) -> None:
    """Delta falls to the right, whatever its ends."""
    with paper(xlim=(0.001, 0.5)):
        assert mean_pulls(runs[:1]).get_xlim() == (0.5, 0.001)


def test_strokes_are_finer_once(runs: list[rai.Result]) -> None:
    """What is drawn first is not made finer again by what is drawn into the same axes."""
    with paper():
        ax = mean_pulls(runs[:1], bounds=False)
        first = ax.get_lines()[0]
        width, size = first.get_linewidth(), first.get_markersize()
        mean_pulls(runs[3:], ax, bounds=False)
        assert (first.get_linewidth(), first.get_markersize()) == (width, size)
    assert width < mean_pulls(runs[:1], bounds=False).get_lines()[0].get_linewidth()


@pytest.mark.landing
def test_files_embed_fonts_as_type_42(runs: list[rai.Result]) -> None:
    """Those saved inside; outside of `with` matplotlib's default is Type 3."""
    kinds = []
    for inside in (True, False):
        file = io.BytesIO()
        matplotlib.rcParams["pdf.compression"] = 0
        with paper():
            figure = figure_of(distribution(runs))
            if inside:
                figure.savefig(file, format="pdf")
        if not inside:
            figure.savefig(file, format="pdf")
        kinds.append((b"/Subtype /Type3" in file.getvalue(), b"/FontFile2" in file.getvalue()))
    assert kinds == [(False, True), (True, False)]


def test_nothing_stays_behind(runs: list[rai.Result]) -> None:
    """Settings and sizes are as before, after an error too."""
    before = dict(matplotlib.rcParams)

    def fail() -> None:
        with paper(columns=2):
            assert matplotlib.rcParams["pdf.fonttype"] == 42
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert dict(matplotlib.rcParams) == before
    assert figure_of(distribution(runs)).get_figwidth() == 5.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"columns": 3}, "columns is 3; give 1 or 2"),
        ({"columns": True}, "columns is True; give 1 or 2"),
        ({"columns": [1, 2]}, r"columns is \[1, 2\]; give 1 or 2"),
        ({"width": 0.0}, "width is 0.0; give a number of inches"),
        ({"width": 10**400}, "give a number of inches"),
        ({"xlim": (0, 10**400)}, "give two numbers, the lower first"),
        ({"height": "tall"}, "height is 'tall'; give a number of inches"),
        ({"xlim": (2.0, 1.0)}, r"xlim is \(2.0, 1.0\); give two numbers, the lower first"),
        ({"ylim": 3}, "ylim is 3; give two numbers, the lower first"),
        ({"titles": 1}, "titles is 1; it must be True or False"),
    ],
)
def test_bad_input(given: Any, words: str) -> None:
    """Name, value, remedy."""
    with pytest.raises((ValueError, TypeError), match=words), paper(**given):
        raise AssertionError
