"""Mean pulls over ln(1/delta)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from figures import figure_of, legend_of, part, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.bounds.laws import natural_family
from rai_sim.plotting import normalised_pulls
from rai_sim.plotting.inputs import cases_of
from rai_sim.plotting.normalised import bound_words
from rai_sim.study import StudyResults


@pytest.mark.landing
@picture
def test_picture_of_normalised_pulls(deltas: StudyResults) -> Figure:
    """From delta 0.1 to 1e-100: lines come down to levels of their own."""
    return figure_of(normalised_pulls(deltas))


def test_points_are_means_over_ln(study: StudyResults) -> None:
    """Means, bands, the bound and its level; no bounds where none are asked for."""
    some = part(study, "top fifth, n = 10")
    ax, frame = normalised_pulls(some), some.summary()
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    rows = frame.filter(frame["algorithm"].str.starts_with("Vanilla(")).sort(
        "delta", descending=True
    )
    logs = [-math.log(delta) for delta in rows["delta"]]
    assert np.asarray(lines["Vanilla"].get_xdata(), float).tolist() == pytest.approx(logs)
    expected = [mean / log for mean, log in zip(rows["pulls_mean"], logs, strict=True)]
    assert np.asarray(lines["Vanilla"].get_ydata(), float).tolist() == pytest.approx(expected)
    problem = some.tasks[0].experiment.problem
    level = rai.bounds.degenne_koolen(problem, natural_family(problem)).value
    assert np.asarray(lines["its level as δ → 0"].get_ydata(), float) == pytest.approx([level] * 3)
    tight = [rai.bounds.at_delta(problem, delta).pulls for delta in rows["delta"]]
    assert np.asarray(lines["lower bound at δ"].get_ydata(), float).tolist() == pytest.approx(
        [pulls / log for pulls, log in zip(tight, logs, strict=True)]
    )
    without = legend_of(normalised_pulls(some, bounds=False))
    assert without == ["Vanilla", "Butterscotch", "LUCB", "band: 95 % interval"]
    with pytest.raises(TypeError, match="bounds is 1; it must be True or False"):
        normalised_pulls(some, bounds=1)  # type: ignore[arg-type]


def test_captions_tell_of_bounds_that_are_drawn(runs: list[rai.Result]) -> None:
    """The bound and its level, the level alone, or none."""
    (case,) = cases_of(runs[0])
    loud = rai.best_arm(rai.Gaussian([1.0, 0.5, 0.0], sd=0.6), strict=False)
    other = replace(case, experiment=replace(case.experiment, problem=loud))
    assert bound_words([other]) == ""
    either = rai.one_of_top(rai.Bernoulli([0.9, 0.8, 0.1]), 2)
    unsure = replace(case, experiment=replace(case.experiment, problem=either, delta=0.4))
    assert bound_words([unsure]) == ", with the level of the lower bound as δ → 0"
    assert bound_words([case, other]) == ", with the lower bound and its level"
