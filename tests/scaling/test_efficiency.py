"""Ratios to the lower bound."""

from pathlib import Path

import pytest

import rai_sim as rai
from rai_sim.scaling import efficiency, over_gap, over_m, over_n
from rai_sim.study import StudyResults


@pytest.mark.landing
def test_ratios_are_means_over_the_bound(deltas: StudyResults) -> None:
    """With their intervals; oracles, Theorem 1 and the sum of gap^-2 beside them."""
    frame, rows = efficiency(deltas), deltas.summary()
    problem = rai.table_problem(task=2)
    assert len(frame) == len(rows) == 12
    for found in frame.iter_rows(named=True):
        delta = found["delta"]
        (row,) = rows.filter(
            (rows["algorithm"] == found["algorithm"]) & (rows["delta"] == delta)
        ).iter_rows(named=True)
        bound = rai.bounds.at_delta(problem, delta)
        assert found["at"] == delta
        assert found["lower_bound_pulls"] == bound.pulls
        assert found["lower_bound_conditions"] == bound.conditions
        for end in ("", "_low_95", "_high_95"):
            assert found[f"over_bound{end}"] == row[f"pulls_mean{end}"] / bound.pulls
            assert found[f"pulls_mean{end}"] == row[f"pulls_mean{end}"]
        assert found["practical_pulls_pairs"] == rai.bounds.practical(problem, delta, "pairs")
        assert found["practical_pulls_paper"] == rai.bounds.practical(problem, delta, "paper")
        assert found["practical_pulls_gk16_unproven"] == rai.bounds.practical(
            problem, delta, "gk16-unproven"
        )
        assert found["theorem_1_pulls"] == rai.bounds.lower(problem, delta)
        assert found["complexity"] == pytest.approx(sum(problem.arm_gaps**-2.0))
        assert found["over_complexity"] == pytest.approx(row["pulls_mean"] / found["complexity"])
        assert found["asymptotic_pulls"] >= found["lower_bound_pulls"] > found["theorem_1_pulls"]


def test_nobody_is_below_the_bound_and_all_come_nearer(deltas: StudyResults) -> None:
    """From delta 0.1 to 1e-100, for every algorithm."""
    frame = efficiency(deltas)
    assert frame["over_bound_high_95"].min() > 1.0  # type: ignore[operator]
    for algorithm in set(frame["algorithm"]):
        ratios = frame.filter(frame["algorithm"] == algorithm)["over_bound"].to_list()
        assert ratios == sorted(ratios, reverse=True)


def test_what_is_not_known_is_null(tmp_path: Path) -> None:
    """The bound of very many arms, or where one of several answers can be guessed; ratios of means
    that are biased."""
    algorithms = [rai.Butterscotch()]
    many = over_n([10, 501], algorithms=algorithms, replications=3).run(tmp_path / "n")
    few, more = efficiency(many).iter_rows(named=True)
    assert few["over_bound"] > 1.0
    for key in ("over_bound", "lower_bound_pulls", "practical_pulls_pairs", "asymptotic_pulls"):
        assert few[key] is not None
        assert more[key] is None
    assert more["over_complexity"] == pytest.approx(more["pulls_mean"] / (501 / 0.16))
    guessed = over_m(ms=[1, 10], delta=0.1, algorithms=algorithms, replications=3)
    (one, ten) = efficiency(guessed.run(tmp_path / "m")).iter_rows(named=True)
    assert one["over_bound"] is one["lower_bound_pulls"] is one["lower_bound_conditions"] is None
    assert one["practical_pulls_pairs"] > 0.0
    assert ten["lower_bound_conditions"] == "at this delta, Bernoulli arms, one right answer"
    capped = over_gap(gaps=[0.3, 0.01], algorithms=algorithms, replications=3, max_pulls=10_000)
    (easy, hard) = efficiency(capped.run(tmp_path / "gap")).iter_rows(named=True)
    assert (easy["finished"], hard["finished"], hard["pulls_mean"]) == (3, 0, None)
    assert easy["over_bound"] > 1.0
    assert hard["over_bound"] is hard["over_complexity"] is None
    assert hard["lower_bound_pulls"] > 0.0
