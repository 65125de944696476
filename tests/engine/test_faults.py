"""Faults: what a kernel notes, and the error it becomes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rai_sim.engine import faults
from rai_sim.engine.faults import KernelStopped, raise_fault
from rai_sim.engine.jit import exposed

report, finite = exposed(faults.report), exposed(faults.finite)


def noted(code: int, arm: int, pull: int) -> NDArray[np.int64]:
    """Return the record of a fault that a kernel notes."""
    fault = np.zeros(3, np.int64)
    report(fault, code, arm, pull)
    return fault


def test_codes_tell_faults_apart() -> None:
    """None is what a new record says."""
    codes = {
        faults.RECORDING_RAN_OUT,
        faults.TOO_MANY_PULLS,
        faults.NOT_FINITE,
        faults.STOPPED,
    }
    assert len(codes) == 4
    assert faults.NONE == 0
    assert faults.NONE not in codes
    assert noted(faults.NOT_FINITE, 4, 7).tolist() == [faults.NOT_FINITE, 4, 7]


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (
            faults.RECORDING_RAN_OUT,
            ValueError,
            r"^rewards: the recording of arm 4 ran out: pull 7 was asked for but only 6 are "
            r"recorded; record more pulls, raise delta, or cap the replications with max_pulls$",
        ),
        (
            faults.NOT_FINITE,
            ValueError,
            r"^arms: the sum of arm 4's rewards is not finite at pull 7; .*: mend or rescale it$",
        ),
        (
            faults.TOO_MANY_PULLS,
            OverflowError,
            r"^a replication would pass 4611686018427387904 pulls \(2\^62\); the gaps are too "
            r"small to finish: cap it with max_pulls$",
        ),
    ],
)
def test_a_fault_becomes_an_error(code: int, error: type[Exception], message: str) -> None:
    """Which names the argument, the arm and the pull, and the remedy."""
    with pytest.raises(error, match=message):
        raise_fault(noted(code, 4, 7))


def test_who_asked_a_block_to_stop_is_told_how_far_it_came() -> None:
    """The rows before that are finished replications."""
    with pytest.raises(KernelStopped) as stopped:
        raise_fault(noted(faults.STOPPED, 12, 0))
    assert stopped.value.replications == 12


def test_only_finite_sums_can_be_judged() -> None:
    """In compiled code, where a comparison may be taken for one of numbers."""
    large = np.finfo(np.float64).max
    assert all(finite(x) for x in (0.0, -0.0, 5e-324, 1.0, large, -large))
    assert not any(finite(x) for x in (math.nan, -math.nan, math.inf, -math.inf))


def test_a_replication_went_well_or_its_row_is_noted() -> None:
    """The row only where the block was asked to stop; other faults say which arm, and keep that."""
    went_well = exposed(faults.went_well)
    fault = np.array([faults.NONE, 0, 0])
    assert went_well(fault, 5)
    assert fault.tolist() == [faults.NONE, 0, 0]
    for code, second in ((faults.STOPPED, 5), (faults.NOT_FINITE, 3)):
        fault[:] = code, 3, 7
        assert not went_well(fault, 5)
        assert fault.tolist() == [code, second, 7]
