"""What a run has finished and not yet written: it waits in memory, so that a store has few parts,
but not for long, so that little is lost when a process is killed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rai_sim.study.arm_sums import ArmSums, Unwritten, words_of
from rai_sim.study.data import Rows, StudyData, note
from rai_sim.study.ledger import Ledger

#: Finished blocks wait in memory for this share of the time a run has taken, within limits in
#: seconds, or until they have as many bytes.
_SHARE, _LEAST, _MOST, _MOST_BYTES = 0.01, 1.0, 60.0, 1 << 26


def parts_written(seconds: float) -> float:
    """Return how many parts a run of so many seconds writes.

    Examples
    --------
    >>> [round(parts_written(seconds)) for seconds in (0.0, 10.0, 3600.0, 86_400.0)]
    [1, 11, 459, 1850]
    """
    first, last = _LEAST / _SHARE, _MOST / _SHARE
    parts = 1.0 + min(seconds, first) / _LEAST
    if seconds > first:
        parts += math.log(min(seconds, last) / first) / _SHARE
    return parts + max(seconds - last, 0.0) / _MOST


class Backlog:
    """Finished replications of a run that wait for being written, as rows or added up.

    Parameters
    ----------
    data : StudyData
        The store, open for writing; what it keeps decides what is kept here.
    """

    def __init__(self, data: StudyData) -> None:
        """Nothing waits yet."""
        self._data = data
        self._began = self._written = time.monotonic()
        self._clear()

    def _clear(self) -> None:
        self._rows: list[Rows] = []
        self._sums, self._arm_sums = Ledger(self._data.ledger.cut), Unwritten()
        self._bytes = 0

    def add(self, rows: Sequence[Rows]) -> None:
        """Let replications wait that nobody has added before."""
        if self._data.store.kind == "replications":
            self._rows += rows
            self._bytes += sum(
                array.nbytes
                for one in rows
                for array in (*one.block[:5], one.block.arm_pulls, *(one.at_cap or ()))
            )
            return
        note(self._sums, rows)
        if self._data.store.keeps_arm_pulls:
            for one in rows:
                self._add_up_arms(one)

    def _add_up_arms(self, rows: Rows) -> None:
        """Add up pulls by arm, cut where other sums are."""

        def parts_of(task: str, start: int, stop: int) -> Iterable[tuple[int, int]]:
            return pairwise(self._sums[task].cuts_within(start, stop))

        for (one,), block, _ in rows.cut(parts_of):
            task, start, stop = one
            words = words_of(block.arm_pulls, block.finished)
            self._arm_sums[task].append(ArmSums(start, stop, words))
            self._bytes += words.nbytes

    def is_due(self, awaited: bool) -> bool:
        """Return whether it has grown large, or has waited for long; not for longer than at the
        start where it is awaited, as another process can do nothing until it sees these."""
        now = time.monotonic()
        patience = min(max(_SHARE * (now - self._began), _LEAST), _MOST)
        if awaited:
            patience = min(patience, _LEAST)
        return self._bytes > _MOST_BYTES or now - self._written > patience

    def write(self, about: dict[str, str]) -> None:
        """Write all that waits; what could not be written waits on."""
        if self._rows:
            self._data.write_rows(self._rows, about)
        if self._sums:
            arms = self._arm_sums if self._data.store.keeps_arm_pulls else None
            self._data.write_aggregates(self._sums, about, arms)
        self._clear()
        self._written = time.monotonic()
