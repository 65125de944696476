"""Slopes of mean pulls along an axis."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from figures import figure_of, legend_of, part, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import exponents
from rai_sim.scaling import fit, local_exponents, over_gap
from rai_sim.study import StudyResults


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Two arms, ever nearer."""
    study = over_gap(gaps=[0.1, 0.03, 0.01, 0.003], replications=200)
    return study.run(tmp_path_factory.mktemp("gaps") / "store")


@pytest.mark.landing
@picture
def test_picture_of_exponents(gaps: StudyResults) -> Figure:
    """Slopes come down towards 2."""
    return figure_of(exponents(gaps))


@pytest.mark.landing
def test_numbers_are_those_of_scaling(gaps: StudyResults) -> None:
    """Between neighbours at the middle of them, on a logarithmic axis; in the legend the one of all
    points."""
    ax, pairs, whole = exponents(gaps), local_exponents(gaps), fit(gaps)
    marks = ax.containers
    assert len(marks) == len(whole) == 3
    for mark, row in zip(marks, whole.iter_rows(named=True), strict=True):
        own = pairs.filter(pairs["algorithm"] == row["algorithm"])
        x, y = (np.asarray(data, float) for data in mark[0].get_data())
        assert x.tolist() == pytest.approx((own["first"] * own["last"]).sqrt().to_list())
        assert y.tolist() == own["exponent"].to_list()
        ends = np.array([segment[:, 1] for segment in mark[2][0].get_segments()])
        assert ends[:, 0].tolist() == pytest.approx(own["exponent_low_95"].to_list())
        assert ends[:, 1].tolist() == pytest.approx(own["exponent_high_95"].to_list())
        name = row["algorithm"].partition("(")[0]
        words = f"{name}: {row['exponent']:.2f} ({row['exponent_low_95']:.2f} to {row['exponent_high_95']:.2f})"
        assert words in legend_of(ax)
    assert ax.xaxis_inverted()
    assert "2: pulls as gap$^{-2}$" in legend_of(ax)


def test_lines_of_several_deltas(study: StudyResults) -> None:
    """Each has its own slope, though the table of `fit` does not tell them apart."""
    some = part(study, "two arms", 0.1, 0.01).select(algorithm="lucb")
    labels = [label for label in legend_of(exponents(some)) if label.startswith("LUCB")]
    assert [label.partition(":")[0] for label in labels] == ["LUCB, δ = 0.1", "LUCB, δ = 0.01"]
    one = fit(some.select(delta=0.01))["exponent"][0]
    assert labels[1].startswith(f"LUCB, δ = 0.01: {one:.2f} (")


def test_against_delta(study: StudyResults) -> None:
    """The slope is that against ln(1/delta), which grows to the right."""
    ax = exponents(part(study, "top fifth, n = 10"), against="delta")
    assert ax.get_ylabel() == "slope of ln(mean pulls) in ln ln(1/δ)"
    assert not ax.xaxis_inverted()
    assert "1: pulls as ln(1/δ)" in legend_of(ax)


def test_what_has_no_slope_is_refused(runs: list[rai.Result], tmp_path: Path) -> None:
    """Results of no study; a single point; too few replications."""
    with pytest.raises(
        TypeError, match="results is of no study, of which slopes are told; run one"
    ):
        exponents(runs[:1])
    results = over_gap(gaps=[0.4, 0.2], replications=5).run(tmp_path / "few")
    with pytest.raises(
        ValueError, match="no line with two points against 'gap' of 10 replications"
    ):
        exponents(results)


@pytest.mark.landing
def test_intervals_stand_side_by_side(gaps: StudyResults) -> None:
    """Between the same two points no algorithm's mark or bar lies upon another's."""
    marks = exponents(gaps).containers
    at = [
        [part.get_transform().transform((0.02, 2.0))[0] for part in (one[0], one[2][0])]
        for one in marks
    ]
    assert [mark for mark, _ in at] == [bar for _, bar in at]
    assert all(first + 5.0 < second for (first, _), (second, _) in pairwise(at))
