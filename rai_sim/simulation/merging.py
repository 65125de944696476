"""Which replications results hold, as ranges of their indices, and whether two results can be one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.arm_pulls import Kept, sums_of, total_of
from rai_sim.simulation.experiment import Experiment
from rai_sim.support.errors import ArgumentValueError, Named
from rai_sim.support.wording import short


def ranges_of(index: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """Return the half-open ranges of ascending indices, at least one.

    Examples
    --------
    >>> ranges_of(np.array([0, 1, 2, 7, 8]))
    ((0, 3), (7, 9))
    """
    breaks = np.flatnonzero(np.diff(index) != 1) + 1
    return tuple((int(part[0]), int(part[-1]) + 1) for part in np.split(index, breaks))


def joined(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return ascending, disjoint ranges with adjacent ones joined.

    Raises
    ------
    ValueError
        If there is none, or they are not ascending, disjoint and of at least one index.

    Examples
    --------
    >>> joined([(0, 3), (3, 5), (7, 9)])
    ((0, 5), (7, 9))
    """
    found: list[tuple[int, int]] = []
    for start, stop in ranges:
        start, stop = int(start), int(stop)
        if not 0 <= start < stop or (found and start < found[-1][1]):
            raise ArgumentValueError(
                "ranges",
                f"ranges holds ({start}, {stop}) in {short.repr(tuple(ranges))}; give ascending, "
                "disjoint, "
                "non-empty ranges (start, stop)",
            )
        if found and start == found[-1][1]:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    if not found:
        raise ArgumentValueError("ranges", "ranges is empty; a result has at least one replication")
    return tuple(found)


def refuse_other_experiment(one: Experiment, other: Experiment) -> None:
    """Refuse two experiments whose results cannot be one.

    Raises
    ------
    ValueError
        If they differ, naming in what.
    """
    different = one.differences(other)
    if not different:
        return
    # Problems are too long to print; for the rest the two values say what to mend.
    words = [
        name if name == "problem" else f"{name} ({getattr(one, name)} and {getattr(other, name)})"
        for name in different
    ]
    raise ArgumentValueError(
        "results",
        f"cannot merge results of different experiments: they differ in {', '.join(words)}; "
        "merge only replications of one experiment",
    )


def kept_by_all(parts: Sequence[Kept]) -> tuple[bool, NDArray[np.int64] | None]:
    """Return whether the union of results keeps pulls by arm by replication, or the sums that it
    keeps; where some have them by replication and others as sums it keeps sums.

    Raises
    ------
    ValueError
        If some keep them and others do not.
    OverflowError
        If the sums are too large.
    """
    if all(part.arm_pulls is not None for part in parts):
        return True, None
    sums = [found[0] for part in parts if (found := sums_of(part)) is not None]
    if not sums:
        return False, None
    if len(sums) < len(parts):
        raise ArgumentValueError(
            "results",
            f"cannot merge: {len(sums)} of {len(parts)} results keep pulls by arm and the others do "
            "not; simulate all with the same ",
            Named("keep"),
        )
    return False, total_of(sums)
