"""Rows and sums as parts of a store hold them: columns of tasks of unlike widths, and there and
back."""

import numpy as np
import pytest

from rai_sim.engine.blocks import new_block
from rai_sim.simulation.at_cap import NO_CAP, AtCap
from rai_sim.simulation.statistics import NOTHING, Aggregate
from rai_sim.study.data import Rows
from rai_sim.study.frames import aggregate_of, aggregates_frame, rows_frame
from rai_sim.study.ledger import Piece
from rai_sim.study.schemas import schema_of


def rows(task: str, first: int, named: list[list[int]], at_cap: AtCap | None = None) -> Rows:
    """Return finished replications that name these arms of three, with pulls that tell them
    apart."""
    n = len(named)
    block = new_block(n, len(named[0]), arms_with_pulls=3)
    block.pulls[:], block.rounds[:] = 10 * (first + np.arange(n)), first + np.arange(n)
    block.finished[:], block.correct[:] = True, np.arange(n) % 2 == 0
    block.representatives[:], block.arm_pulls[:] = named, [[first, 1, 2]] * n
    return Rows([(task, first, first + n)], block, at_cap)


def test_tasks_of_unlike_widths_stand_one_below_the_other() -> None:
    """In their order, each with as many arms as it names."""
    found = rows_frame([rows("a", 3, [[1, 0], [0, 2]]), rows("b", 0, [[2]]), rows("c", 7, [[0]])])
    assert found.schema == schema_of("replications", "replications")
    assert found["task"].to_list() == ["a", "a", "b", "c"]
    assert found["replication"].to_list() == [3, 4, 0, 7]
    assert found["pulls"].to_list() == [30, 40, 0, 70]
    assert found["correct"].to_list() == [True, False, True, True]
    assert found["representatives"].to_list() == [[1, 0], [0, 2], [2], [0]]
    assert found["recommended"].null_count() == found["recommended_correct"].null_count() == 4


def test_pulls_by_arm_are_written_where_they_are_kept() -> None:
    """Else the column is not there."""
    some = [rows("a", 5, [[1]]), rows("b", 6, [[2], [0]])]
    found = rows_frame(some, arm_pulls=True)
    assert found.schema == schema_of("replications", "arm_pulls")
    assert found["arm_pulls"].to_list() == [[5, 1, 2], [6, 1, 2], [6, 1, 2]]
    assert "arm_pulls" not in rows_frame(some).columns


def test_recommendations_are_null_where_there_are_none() -> None:
    """Of tasks without a cap, and of single replications of an algorithm that recommends
    nothing."""
    right = np.array([1, NO_CAP, 0], np.int8)
    capped = AtCap(np.array([[1], [-1], [2]], np.int32), right)
    found = rows_frame([rows("free", 0, [[1]]), rows("capped", 0, [[1], [0], [2]], capped)])
    assert found["recommended"].to_list() == [None, [1], None, [2]]
    assert found["recommended_correct"].to_list() == [None, True, None, False]


@pytest.mark.parametrize("arms", [None, [["7", str(2**80)]]], ids=["pulls alone", "by arm"])
def test_sums_are_read_back_exactly(arms: list[list[str]] | None) -> None:
    """Beyond what 64 bits hold, too, and what nothing adds up to."""
    pulls, yes = np.array([2**62, 2**62 - 2, 5]), np.ones(3, bool)
    whole = Aggregate.of(pulls, pulls, yes, yes, np.array([True, False, True]))
    frame = aggregates_frame([("a", Piece(4, 7, whole))], arms)
    keep = "aggregates" if arms is None else "arm_pulls_sum"
    assert frame.schema == schema_of("aggregates", keep)
    (row,) = frame.iter_rows(named=True)
    assert (row["task"], row["first"], row["stop"]) == ("a", 4, 7)
    assert aggregate_of(row) == whole
    assert whole.errors_at_cap == 1
    assert aggregate_of(row) != NOTHING
    assert arms is None or row["arm_pulls_sum"] == arms[0]
