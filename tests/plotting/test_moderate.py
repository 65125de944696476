"""Mean pulls over the sum of gap^-2."""

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import moderate_confidence
from rai_sim.scaling import over_n
from rai_sim.study import StudyResults


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """8 and 40 arms, which are too few for LUCB to compile its view of many."""
    return over_n([8, 40], replications=30).run(tmp_path_factory.mktemp("few") / "store")


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """From 10 to 100,000 arms; LUCB to 50."""
    study = over_n(
        [10, 50, 300, 10_000, 100_000], replications=30, limits={"lucb": 50, "vanilla": 300}
    )
    return study.run(tmp_path_factory.mktemp("numbers") / "store")


@pytest.mark.slow
@picture
def test_picture_of_moderate_confidence(numbers: StudyResults) -> Figure:
    """Lines that end where an algorithm takes too long."""
    return figure_of(moderate_confidence(numbers))


def test_heights_are_those_of_the_table(few: StudyResults) -> None:
    """Means over the sum of gap^-2, and the bound over it where it is known."""
    ax, frame = moderate_confidence(few), rai.scaling.efficiency(few)
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    for name in ("Vanilla", "Butterscotch", "LUCB"):
        own = frame.filter(frame["algorithm"].str.starts_with(name))
        assert np.asarray(lines[name].get_xdata(), float).tolist() == own["at"].to_list()
        assert np.asarray(lines[name].get_ydata(), float) == pytest.approx(
            own["over_complexity"].to_list()
        )
    own = frame.filter(frame["algorithm"].str.starts_with("Butter")).drop_nulls("lower_bound_pulls")
    bound = lines["lower bound, where known"]
    assert np.asarray(bound.get_xdata(), float).tolist() == own["at"].to_list() == [8.0, 40.0]
    expected = (own["lower_bound_pulls"] / own["complexity"]).to_list()
    assert np.asarray(bound.get_ydata(), float) == pytest.approx(expected)
    assert ax.get_xscale() == "log"
    assert ax.get_title(loc="left").replace("\n", " ") == (
        "Moderate confidence, δ = 0.1, one arm apart from equal ones"
    )
    assert "band: 95 % interval" in legend_of(ax)


def test_infinite_gaps_are_refused() -> None:
    """There is no sum of gap^-2 to divide by."""
    problem = rai.coarse_ranking(rai.Bernoulli([0.5, 0.4]), (2,))
    run = rai.simulate(problem, rai.Vanilla(), replications=5, seed=0)
    with pytest.raises(ValueError, match="single cluster, whose gaps are infinite"):
        moderate_confidence(run)


def test_on_given_axes_nothing_else_is_made(few: StudyResults) -> None:
    """A caller's axes are drawn into, and returned."""
    axes = Figure().subplots()
    assert moderate_confidence(few, axes) is axes
