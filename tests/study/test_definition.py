"""What a study wants: of a task, and in the words of records."""

import numpy as np
from studies import grid, unsorted

from rai_sim.simulation.statistics import Aggregate
from rai_sim.study.error_rate import follow_errors
from rai_sim.study.ledger import Piece, Pieces
from rai_sim.study.stopping import Verdict, follow


def test_what_a_study_wants_of_a_task() -> None:
    """A number of replications, wherever they lie; or what its precision asks for."""
    pieces = Pieces(100)
    ones, yes = np.ones(60, np.int64), np.ones(60, bool)
    pieces.add(Piece(60, 120, Aggregate.of(ones, ones, yes, yes)))
    study = grid(replications=100)
    assert study.verdict(study.tasks[0], pieces) == Verdict(100, False, False)
    pieces.add(Piece(0, 60, Aggregate.of(ones, ones, yes, yes)))
    assert study.verdict(study.tasks[0], pieces) == Verdict(100, True, False)
    precise = grid(precision=0.1, most_replications=120)
    nothing = precise.verdict(precise.tasks[0], Pieces())
    assert (nothing.replications, nothing.final) == (120, False)
    assert precise.verdict(precise.tasks[0], pieces) == follow(0.1, 120, pieces.prefix)
    assert precise.verdict(precise.tasks[0], pieces).final


def test_what_a_study_waits_for() -> None:
    """For the error rate at the looks, with a level for each task; with a precision for both."""
    pieces = Pieces()
    for start, stop in ((0, 256), (256, 305)):
        pulls, yes = np.arange(start, stop), np.ones(stop - start, bool)
        pieces.add(Piece(start, stop, Aggregate.of(pulls, pulls, yes, yes)))
    study = grid(until="error-rate", alpha=0.08)
    assert (study.until, study.level, study.limit, study.decides) == (
        "error rate",
        0.01,
        None,
        True,
    )
    task = study.tasks[0]
    assert task.experiment.delta == 0.1
    known = follow_errors(0.1, 0.01, 2048, pieces.prefix)
    assert study.verdict(task, pieces) == known == Verdict(256, True, True)
    strict = study.verdict(study.tasks[1], pieces)  # at 0.01
    assert (strict.final, strict.replications > 305) == (False, True)
    both = grid(until="error rate", precision=0.01)
    wide = follow(0.01, 10**8, pieces.prefix)
    assert both.verdict(task, pieces) == wide
    assert not wide.final
    assert (both.limit, both.most) == (10**8, 10**8)
    assert grid(until="error rate", most_replications=700).limit == 700


def test_a_study_describes_itself_for_records() -> None:
    """By its tasks in any order, and by what is wanted."""
    study, other = unsorted(0.4, 0.05), unsorted(0.05, 0.4)
    said = study.describe()
    assert (said["tasks"], said["replications"], said["precision"]) == (8, 5, None)
    assert said["most_replications"] is None
    assert other.describe() == said
    assert unsorted(0.4, 0.1).describe()["tasks_sha256"] != said["tasks_sha256"]
    precise = grid(precision=0.1, most_replications=50, keep="aggregates").describe()
    assert (precise["replications"], precise["precision"]) == (None, 0.1)
    assert (precise["most_replications"], precise["keep"]) == (50, "aggregates")
