"""Curves of success: counts of what capped runs recommend, bands, frames and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_rules import EachOften

import rai_sim as rai
from rai_sim import Vanilla
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.simulation import success

PROBLEM = rai.table_problem(2)
PULLS = [5, 10, 300, 3_000, 60_000]


@pytest.fixture(scope="module")
def curve() -> rai.SuccessCurve:
    """A curve of 300 replications."""
    return rai.success_by(PROBLEM, Vanilla(), pulls=PULLS[::-1], delta=0.1, replications=300)


def test_counts_are_those_of_a_recording() -> None:
    """On rewards that are fixed a replication is the same at any cap: the curve counts what capped
    runs recommend, number for number."""
    rewards = np.random.default_rng(1).random((4, 4_000)) < [[0.8], [0.6], [0.5], [0.2]]
    problem = rai.Problem(
        rai.Recorded(rewards.astype(float), [0.8, 0.6, 0.5, 0.2]),
        (1, 2, 1),
        (1, 0, 1),
        strict=False,
    )
    pulls = [3, 4, 40, 41, 90, 200, 500, 3_000]
    found = rai.success_by(problem, Vanilla(), pulls=pulls, delta=0.1, replications=20)
    for k, cap in enumerate(pulls):
        result = rai.simulate(problem, Vanilla(), delta=0.1, replications=20, max_pulls=cap)
        assert found.right[k] == result.recommended_correct.sum()
        assert found.stopped[k] == result.finished.sum()


def test_a_curve_rises(curve: rai.SuccessCurve) -> None:
    """From chance to nearly always; who has stopped is no more than all, and in the end everybody."""
    assert curve.pulls.tolist() == PULLS
    assert curve.share[0] < 0.5 < 0.95 < curve.share[-1]
    assert (np.diff(curve.stopped) >= 0).all()
    assert curve.stopped[0] == 0
    assert repr(curve).startswith("SuccessCurve(Vanilla(merging=True), delta=0.1, replications=300")


def test_workers_change_no_number(curve: rai.SuccessCurve) -> None:
    """Nor does the order of the numbers of pulls, or one that is told twice."""
    again = rai.success_by(
        PROBLEM, Vanilla(), pulls=[*PULLS, 10], delta=0.1, replications=300, n_jobs=2
    )
    assert again.right.tolist() == curve.right.tolist()
    assert again.stopped.tolist() == curve.stopped.tolist()
    assert again.experiment == curve.experiment


def test_bands(curve: rai.SuccessCurve) -> None:
    """Hold the estimates, wider for all at once: as for each alone with a fifth of the error."""
    low, high = curve.band()
    assert (low < curve.share).all()
    assert (curve.share <= high).all()
    wide, fifth = curve.band(0.9, simultaneous=True), curve.band(0.98)
    assert np.allclose(wide, fifth, rtol=1e-12)
    narrow = curve.band(0.5)
    assert ((narrow[0] > low) & (narrow[1] <= high)).all()
    with pytest.raises(ValueError, match=r"^confidence is 1.0; give a probability such as 0.95$"):
        curve.band(1.0)
    with pytest.raises(TypeError, match="confidence must be a number; got 'x'"):
        curve.band("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="simultaneous is 1; it must be True or False"):
        curve.to_frame(simultaneous=1)  # type: ignore[arg-type]


def test_frames(curve: rai.SuccessCurve) -> None:
    """A row a number of pulls; the error rate is what is left of 1."""
    frame = curve.to_frame()
    assert frame["pulls"].to_list() == PULLS
    assert frame["right"].to_list() == curve.right.tolist()
    assert (frame["share"] + frame["error_rate"] - 1.0).abs().max() < 1e-12  # type: ignore[operator]


def test_rules_of_ones_own_are_asked_too() -> None:
    """A rule that names the best after 20 pulls of each arm is not asked how it would have done so
    earlier: empirical means are."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
    found = rai.success_by(
        problem, EachOften(each=20).in_python(), pulls=[1, 2, 40], replications=100
    )
    assert found.stopped.tolist() == [0, 0, 100]
    assert 20 < found.right[0] < 80 < found.right[1] < found.right[2] + 1


def test_an_algorithm_that_recommends_nothing(tmp_path: Path) -> None:
    """There is no curve of it, and a result at a cap keeps no recommendations, rather than wrong ones;
    where all have finished it is what they named. Studies keep those of finished replications."""

    class Mute(rai.Vanilla):
        def run_block(self, law: Any, setting: Any, first: int, block: Any) -> None:
            super().run_block(law, setting, first, block)
            block.recommended[:] = -1

    try:
        with pytest.raises(
            ValueError, match=r"^algorithm .*Mute.* recommends nothing at a cap: its"
        ):
            rai.success_by(PROBLEM, Mute(), pulls=[10, 20], replications=2)
        cut, whole = (
            rai.simulate(PROBLEM, Mute(), delta=0.1, replications=20, max_pulls=cap)
            for cap in (40_000, 10**9)
        )
        for keep in ("replications", "aggregates"):
            study = rai.Study.grid(
                {"a": PROBLEM},
                [Mute()],
                [0.1],
                max_pulls=[40_000, 10**9],
                replications=20,
                keep=keep,
            )
            study.run(tmp_path / keep, part="1/3")
            results = study.run(tmp_path / keep)  # in other pieces
            wrong = int((~whole.correct).sum())
            assert results.summary()["errors_at_cap"].to_list() == [None, wrong]
            assert results.verify(40, seed=1).mismatches == ()
            if keep == "replications":
                rows = results.rows().collect()
                unknown = rows["recommended"].is_null()
                assert (unknown == ~rows["finished"]).all()
                assert (unknown == rows["recommended_correct"].is_null()).all()
                assert results.result(study.tasks[0]).recommended is None
    finally:
        ALGORITHMS.pop("mute", None)
    assert 0 < cut.finished.sum() < 20
    assert cut.recommended is None
    assert "recommended" not in cut.to_frame().columns
    with pytest.raises(ValueError, match="recommended was not kept"):
        cut.recommended_correct  # noqa: B018
    assert whole.recommended_correct.tolist() == whole.correct.tolist()


@pytest.mark.parametrize(
    ("pulls", "error", "words"),
    [
        ([], ValueError, "pulls is .*; give numbers of pulls from 1 on"),
        ([0, 5], ValueError, "give numbers of pulls from 1 on, such as"),
        ([1.5], TypeError, "give integers: numbers of pulls"),
        (range(1, 1_100), ValueError, "pulls has 1099 numbers; give at most 1000"),
        ([1 << 63], ValueError, "up to 2"),
    ],
)
def test_refusals(pulls: list[int], error: type[Exception], words: str) -> None:
    """Before anything is run."""
    with pytest.raises(error, match=words):
        rai.success_by(PROBLEM, Vanilla(), pulls=pulls)


def test_an_interrupt_keeps_what_was_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts before Ctrl-C, as of that many replications alone; None where there is none."""
    calls = iter([False, False, True])
    whole = vars(success)["run_part"]

    def part(*given: Any) -> Any:
        if next(calls):
            raise KeyboardInterrupt
        return whole(*given)

    monkeypatch.setattr(success, "run_part", part)
    with pytest.raises(rai.SuccessInterrupted, match=r"\.curve: [\d,]+ finished") as stopped:
        rai.success_by(PROBLEM, Vanilla(), pulls=[10, 300], replications=10**7)
    found = stopped.value.curve
    assert found is not None
    assert 2 <= found.replications < 10**7
    assert f".curve: {found.replications:,} finished" in str(stopped.value)
    monkeypatch.undo()
    alone = rai.success_by(PROBLEM, Vanilla(), pulls=[10, 300], replications=found.replications)
    assert found.right.tolist() == alone.right.tolist()
    assert found.stopped.tolist() == alone.stopped.tolist()
    monkeypatch.setattr(success, "run_part", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(
        rai.SuccessInterrupted, match="before a replication was finished"
    ) as stopped:
        rai.success_by(PROBLEM, Vanilla(), pulls=[10, 300], replications=5)
    assert stopped.value.curve is None
