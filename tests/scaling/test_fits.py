"""Exponents of studies."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.scaling import fit, local_exponents, over_gap, power_law
from rai_sim.scaling.fits import _correlation, _used
from rai_sim.scaling.lines import lines_of
from rai_sim.study import StudyResults


def correlation(results: StudyResults, algorithm: str) -> NDArray[np.float64]:
    """Return that of the pulls of equal replications, in the order of the tasks."""
    tasks = [task for task in results.tasks if task.experiment.algorithm.label == algorithm]
    with np.errstate(invalid="ignore"):  # pulls that are all the same go with nothing
        found: NDArray[np.float64] = np.nan_to_num(
            np.corrcoef([results.result(task).pulls for task in tasks])
        )
    np.fill_diagonal(found, 1.0)
    return found


def test_exponents_are_those_of_the_summary(gaps: StudyResults) -> None:
    """The fit of each algorithm's means and standard errors."""
    frame, rows = fit(gaps), gaps.summary()
    assert frame["algorithm"].to_list() == ["Vanilla(merging=True)", "Butterscotch(merging=True)"]
    for found in frame.iter_rows(named=True):
        own = rows.filter(rows["algorithm"] == found["algorithm"])
        law = power_law(
            [1.0 / gap for gap in own["bottleneck_gap_reward"]],
            own["pulls_mean"].to_list(),
            own["pulls_standard_error"].to_list(),
            correlation(gaps, found["algorithm"]),
        )
        ends = (found["exponent"], found["exponent_low_95"], found["exponent_high_95"])
        assert ends == pytest.approx((law.exponent, law.low, law.high))
        assert (found["lack_of_fit"], found["log_factor"]) == (law.lack_of_fit, law.log_factor)
        assert (found["points"], found["left_out"]) == (5, 0)
        assert (found["against"], found["variable"]) == ("gap", "1/gap")
        assert (found["first"], found["last"]) == pytest.approx((0.2, 1e-4))


def test_means_are_correlated_by_replications_of_equal_index() -> None:
    """What two points share counts, wherever parts of a study have left gaps."""

    def pulls(gap: float, first: int, number: int) -> rai.Result:
        problem = rai.best_arm(rai.Bernoulli([0.5 + gap / 2, 0.5 - gap / 2]))
        return rai.simulate(
            problem, rai.Vanilla(), delta=0.1, replications=number, first_replication=first
        )

    whole = pulls(0.3, 0, 40), pulls(0.1, 0, 20)
    runs = whole[0], whole[1] + pulls(0.1, 60, 20)
    points: Any = [SimpleNamespace(task=i, row={"replications": 40}) for i in range(2)]
    results: Any = SimpleNamespace(keeps_rows=True, result=lambda task: runs[task])
    found = _correlation(results, points)
    shared = np.corrcoef(whole[0].pulls[:20], whole[1].pulls)[0, 1]
    assert found[0, 1] == found[1, 0] == pytest.approx(shared / 2.0)


def test_pulls_of_two_arms_grow_as_theory_has_it(gaps: StudyResults) -> None:
    """gap^-2, and more for Vanilla, whose union over rounds costs a logarithm that is felt less and
    less; Butterscotch's rounds of fourfold length are off any power."""
    vanilla, butterscotch = fit(gaps).iter_rows(named=True)
    assert 2.0 < vanilla["exponent_low_95"] < vanilla["exponent_high_95"] < 2.3
    assert butterscotch["exponent_low_95"] - 0.1 < 2.0 < butterscotch["exponent_high_95"]
    assert butterscotch["lack_of_fit"] > 0.05
    local = local_exponents(gaps)
    slopes = local.filter(local["algorithm"] == "Vanilla(merging=True)")
    assert len(slopes) == 4
    assert slopes["exponent_low_95"].min() > 1.9  # type: ignore[operator]
    assert slopes["exponent"][0] > slopes["exponent"][-1]
    assert slopes["last"].to_list()[:-1] == slopes["first"].to_list()[1:]


def test_a_store_without_its_study_has_the_same_exponents(gaps: StudyResults) -> None:
    """What lies on the axis is kept with the tasks."""
    again = rai.open_study(gaps.folder)
    assert fit(again).equals(fit(gaps))
    assert local_exponents(again, "gap").equals(local_exponents(gaps))


def test_local_exponents_are_slopes(deltas: StudyResults) -> None:
    """Between neighbours, with the errors of both means."""
    frame, rows = local_exponents(deltas), deltas.summary()
    own = rows.filter(rows["algorithm"] == "LUCB(as_printed=False)").sort("delta", descending=True)
    found = frame.filter(frame["algorithm"] == "LUCB(as_printed=False)").row(0, named=True)
    (first, second) = own["pulls_mean"].to_list()[:2]
    errors = own["pulls_standard_error"].to_list()
    assert found["exponent"] == pytest.approx(math.log(second / first) / math.log(3.0))
    shared = correlation(deltas, "LUCB(as_printed=False)")[0, 1]
    one, other = errors[0] / first, errors[1] / second
    variance = one**2 + other**2 - 2.0 * shared * one * other
    margin = 1.959963984540054 * math.sqrt(variance) / math.log(3.0)
    assert found["exponent_high_95"] - found["exponent"] == pytest.approx(margin)
    last = frame.filter(frame["first"] == 1e-10)["exponent"].to_list()
    assert all(0.6 < exponent < 1.01 for exponent in last)  # to 1 as delta goes to 0


def test_points_that_would_mislead_are_left_out(tmp_path: Path) -> None:
    """Means of which some replications were given up are too small; of what is left two must be."""
    gaps = [0.3, 0.1, 0.03, 0.01]
    algorithms = [rai.Vanilla()]
    cap = 200_000
    capped = over_gap(gaps=gaps, algorithms=algorithms, replications=20, max_pulls=cap)
    results = capped.run(tmp_path / "capped")
    (row,) = fit(results).iter_rows(named=True)
    assert (row["points"], row["left_out"]) == (3, 1)
    assert row["last"] == pytest.approx(0.03)
    whole = over_gap(gaps=gaps[:3], algorithms=algorithms, replications=20)
    (same,) = fit(whole.run(tmp_path / "whole")).iter_rows(named=True)
    assert same["exponent"] == row["exponent"]
    (line,) = lines_of(results)
    idle = replace(line.points[0], row={**line.points[0].row, "pulls_mean": 0.0})
    assert len(_used(replace(line, points=[idle, *line.points[1:]]))) == 2
    few = over_gap(gaps=gaps, algorithms=algorithms, replications=9).run(tmp_path / "few")
    for function in (fit, local_exponents):
        with pytest.raises(ValueError, match="no line with two points of 10 replications each"):
            function(few)


def test_sums_alone_tell_no_correlation(tmp_path: Path) -> None:
    """The slope is the same, the interval that of independent means, which is wider here."""
    frames = []
    for keep in ("replications", "aggregates"):
        study = over_gap(
            gaps=[0.01, 1e-3, 1e-4], algorithms=[rai.Vanilla()], replications=200, keep=keep
        )
        frames.append(local_exponents(study.run(tmp_path / keep)))
    rows, sums = frames
    assert rows["exponent"].to_list() == sums["exponent"].to_list()
    widths = [(one["exponent_high_95"] - one["exponent_low_95"]).to_list() for one in frames]
    assert all(1.2 * told < alone for told, alone in zip(*widths, strict=True))
