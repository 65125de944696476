"""What tests of figures share."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.study import StudyResults

picture = pytest.mark.mpl_image_compare(savefig_kwargs={"dpi": 80})
ALGORITHMS = [rai.Vanilla(), rai.Vanilla(merging=False), rai.Butterscotch(), rai.LUCB()]
STUDY = """
algorithms = ["vanilla", "butterscotch", "lucb"]
delta = [0.1, 0.03, 0.01]
replications = 60
[[instances]]
name = "two arms"
family = "evenly_spaced"
n = 2
middle = 0.5
gap = [0.4, 0.2, 0.1]
problem = "best_arm"
[[instances]]
name = "top fifth"
family = "linear_gaps"
n = [5, 10]
problem = "top"
k = "20%"
"""


def part(study: StudyResults, instance: str, *deltas: float) -> StudyResults:
    """Return some tasks' results."""
    some = StudyResults(study._data, study.study)
    wanted = deltas or (0.1, 0.03, 0.01)
    some.tasks = tuple(
        task
        for task in study.tasks
        if task.instance.startswith(instance) and task.experiment.delta in wanted
    )
    return some


def figure_of(ax: Axes) -> Figure:
    """Return the axes' figure."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def legend_of(ax: Axes) -> list[str]:
    """Return the texts of the legend, wherever it stands."""
    legends = [*figure_of(ax).legends, *([ax.get_legend()] if ax.get_legend() else [])]
    return [
        text.get_text() for legend in legends if legend is not None for text in legend.get_texts()
    ]


def band(ax: Axes, number: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the corners of a band."""
    bands = [one for one in ax.collections if isinstance(one, FillBetweenPolyCollection)]
    corners = bands[number].get_paths()[0].vertices
    assert isinstance(corners, np.ndarray)
    return corners[:, 0], corners[:, 1]
