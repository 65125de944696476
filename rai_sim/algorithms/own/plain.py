"""A user's own rule run by Python, step by step, for debuggers and print: the numbers are those of
`loop`, from the same streams. Some thousand times slower."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.own.loop import Work
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block
from rai_sim.engine.faults import (
    MOST_PULLS,
    NOT_FINITE,
    RECORDING_RAN_OUT,
    STOPPED,
    WRONG_ARM,
    WRONG_COUNT,
    wrong_count,
)
from rai_sim.engine.history import keep_state
from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.partition import open_partition
from rai_sim.engine.recommendations import recommend
from rai_sim.engine.streams import State, replication_stream, shuffle, uniform
from rai_sim.engine.strides import SUMS
from rai_sim.support.values import is_integer_type, short

#: As numbers of these types a division by zero gives inf or nan, as it does in compiled code.
_NUMBERS: dict[type, Callable[[Any], Any]] = {int: np.int64, float: np.float64}

Step = Callable[[Any, Any, Any, Any, Any], int]
_stream, _shuffle, _uniform = exposed(replication_stream), exposed(shuffle), exposed(uniform)
_keep_state, _open, _recommend = exposed(keep_state), exposed(open_partition), exposed(recommend)


@driver
def _one_pull(law: Any, arm: int, total: float, pulls: int, state: State) -> tuple[float, State]:
    return laws.one_pull(law, arm, total, pulls, state)


@driver
def _facts(law: Any) -> tuple[int, float]:
    return laws.pulls_available(law), laws.unit(law)


def run_block(step: Step, work: Work, first: int, block: Block) -> None:
    """Run len(block.pulls) replications, indices from `first` on, as `loop.run_block` does."""
    for b in range(block.pulls.size):
        run = _Replication(step, work, first + b)
        answer = run.to_the_end()
        if run.fault is not None:
            code, arm, pull = run.fault
            work.fault[:] = code, b if code == STOPPED else arm, pull
            return
        block.rounds_by_stride[SUMS] += run.rounds
        block.pulls[b], block.rounds[b] = run.pulls, run.rounds
        block.finished[b] = answer is not None
        if answer is not None:
            block.representatives[b] = answer
            wanted = np.repeat(np.arange(work.setting.required.size), work.setting.required)
            block.correct[b] = bool((work.setting.cluster_of[answer] == wanted).all())
        if block.arm_pulls.shape[0] > 0:
            block.arm_pulls[b, work.arm_of] = work.counts
        if block.recommended.shape[0] > 0:
            passed = int(work.budgets.passed[0])
            block.recommended[b, :passed] = work.budgets.named[:passed]
            block.recommended[b, passed:] = -1 if answer is None else answer
        if block.settled.shape[0] > 0:
            block.settled[b] = 0
            if answer is not None:
                block.settled[b, :, answer] = np.stack(
                    [np.full(len(answer), max(run.rounds, 1)), wanted], axis=1
                )


class _Replication:
    """One replication under way."""

    def __init__(self, step: Step, work: Work, replication: int) -> None:
        self._step, self._work = step, work
        self._task = work.task._replace(
            **{
                name: kind(value)
                for name, value in zip(work.task._fields, work.task, strict=True)
                if (kind := _NUMBERS.get(type(value))) is not None
            }
        )
        self._available, self._unit = _facts(work.law)
        self._state = _words(_stream(work.setting.key, replication, work.generators))
        self._state = _words(_shuffle(work.arm_of, self._state))
        _open(work.part, work.setting.sizes)
        work.budgets.passed[0] = 0
        self.rounds = self.pulls = 0
        self.fault: tuple[int, int, int] | None = None
        for array in (work.counts, work.total, work.sums, work.scratch):
            array[:] = 0

    def to_the_end(self) -> NDArray[np.int64] | None:
        """Return the caller's indices of the arms that are named; None if there is no answer."""
        work = self._work
        while self.fault is None:
            if work.history.stop[0] != 0:
                self.fault = STOPPED, 0, 0
                break
            for j in range(work.task.uniforms.size):
                work.task.uniforms[j], state = _uniform(self._state)
                self._state = _words(state)
            with np.errstate(all="ignore"):
                count = _whole(
                    self._step(
                        self._task, work.counts_seen, work.sums_seen, work.scratch, work.arms
                    )
                )
            if count == 0:
                return self._answer()
            if not self._may_pull(count):
                break
            for label in work.arms[:count].tolist():
                self._pull(label)
            self.rounds += 1
            self.pulls += count
            self._see()
        return None

    def _answer(self) -> NDArray[np.int64] | None:
        named = self._work.arms[: int(self._work.setting.required.sum())].tolist()
        for place, label in enumerate(named):
            if not 0 <= label < self._work.arm_of.size or label in named[:place]:
                self.fault = WRONG_ARM, label, place
                return None
        return self._work.arm_of[named]

    def _may_pull(self, count: int) -> bool:
        N = self._work.arm_of.size
        if not 0 <= count <= N:
            self.fault = WRONG_COUNT, count, 0
            return False
        for place, label in enumerate(self._work.arms[:count].tolist()):
            if not 0 <= label < N:
                self.fault = WRONG_ARM, label, place
                return False
        budgets, cap = self._work.budgets, self._work.setting.max_pulls
        for most in budgets.pulls[budgets.passed[0] :].tolist():
            if self.pulls + count <= most:
                return True
            self._recommend()
        return budgets.pulls.size == 0 and self.pulls + count <= (cap if cap >= 0 else MOST_PULLS)

    def _recommend(self) -> None:
        """Recommend at a cap, as `loop.recommend_by_means` does."""
        work, taken = self._work, self._work.counts
        work.budgets.label[:] = np.arange(len(taken))
        work.budgets.key[:] = np.where(taken > 0, work.total / np.maximum(taken, 1), -np.inf)
        _recommend(work.budgets, work.part, work.part.open_sizes, work.arm_of, len(taken))

    def _pull(self, label: int) -> None:
        work = self._work
        arm, taken = int(work.arm_of[label]), int(work.counts[label])
        if taken >= self._available:
            self.fault = RECORDING_RAN_OUT, arm, taken + 1
            return
        total, state = _one_pull(work.law, arm, float(work.total[label]), taken, self._state)
        self._state = _words(state)
        if not abs(total) < np.inf:
            self.fault = NOT_FINITE, arm, taken + 1
        work.total[label], work.counts[label] = total, taken + 1
        work.sums[label] = work.setting.origin * (taken + 1) + self._unit * total

    def _see(self) -> None:
        """Keep the state of the step, for a trace."""
        history, work = self._work.history, self._work
        if history.means.shape[0] == 0:
            return
        arms, taken = work.arm_of, work.counts
        history.means[-1, arms] = np.where(taken > 0, work.total / np.maximum(taken, 1), np.nan)
        history.pulls[-1, 0, arms], history.pulls[-1, 1, arms] = taken, self.pulls
        _keep_state(history, self.rounds)


def _whole(count: object) -> int:
    """Return what `step` returned, as `loop.whole` does."""
    if not (is_integer_type(type(count)) or isinstance(count, (bool, np.bool_))):
        raise wrong_count("nothing" if count is None else short.repr(count))
    return int(count)  # type: ignore[call-overload]


def _words(state: Any) -> State:
    """Return a state as kernels take it: they give back plain integers."""
    s0, s1, s2, s3, generators = (np.uint64(word) for word in state)
    return s0, s1, s2, s3, generators
