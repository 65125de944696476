"""Recordings on which LUCB's picks exchange roles, and copies of the package in which they may do so
where Lemma 4 of rai_sim/algorithms/lucb/README.md does not allow it.

The lemma lets two picks exchange the role of an opponent if the cluster in question is alone and
both are picked on other grounds. Random recordings hardly ever need either condition, so rewards are
made up here while the literal twin runs: each arm's mean is led to where it is to be.

*Alone*. Two opponents before a cluster of three are both picked on other grounds, the upper one with
fewer pulls, so that their LCBs are equal and either attains L. The gaps of two arms of the cluster,
UCB - L of the one and U - LCB of the other, are nearly equal. Then the upper opponent falls, and L
with its LCB: the other arm becomes the nearest.

*Sure*. A best and a worst arm are wanted, and of those between them the one with the greatest UCB
and the one with the least LCB are picked for nothing else. Then the latter, with fewer pulls, rises
until its UCB is the greatest as well: it has both roles, and the former is not pulled any more.
"""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import naive
import numpy as np
from mutants import Replaced, mutant
from replay import Instance

#: Rewards are multiples of this, so that sums are exact.
_GRAIN = 1 / 4096
_DELTA = 0.3


@dataclass
class _Arms:
    """Arms whose means go where they are led, and what they are asked to do when.

    Attributes
    ----------
    clusters, required : tuple of int
        The task.
    targets, then : list of float
        Means to go to from the beginning, and from round `swap` on.
    mover : int
        The arm that moves in the end, getting the reward `push` for ten rounds.
    meet : callable
        Changes the targets so that bounds come to lie next to each other, given all radii.
    lead : (int, int)
        How long after `swap` it begins to, and all come to rest.
    """

    clusters: tuple[int, ...]
    required: tuple[int, ...]
    targets: list[float]
    then: list[float]
    mover: int
    push: float
    meet: Callable[[list[float], list[float]], None]
    lead: tuple[int, int]
    moving: bool = False
    rewards: list[list[float]] = field(default_factory=list)

    def pull(self, arm: int) -> float:
        """Return the reward that brings the arm's mean nearest to its target."""
        row = self.rewards[arm]
        wished = (len(row) + 1) * self.targets[arm] - sum(row)
        if self.moving and arm == self.mover:
            wished = self.push
        row.append(round(min(max(wished, 0.0), 1.0) / _GRAIN) * _GRAIN)
        return row[-1]

    def radii(self, R: int) -> list[float]:
        """Return all radii in round R."""
        log_term = math.log(math.pi**2 * R**3 * len(self.targets) / (3 * _DELTA))
        return [math.sqrt(log_term / (2 * len(row))) for row in self.rewards]

    def record(self, swap: int, wait: int) -> Instance:
        """Run the twin and return the recording; the mover moves `wait` rounds after all has come
        to rest."""
        N, rest = len(self.targets), swap + self.lead[1]
        self.rewards = [[] for _ in range(N)]
        run = naive._Run(self.pull, N, self.clusters, self.required, range(N), None)
        for arm in range(N):
            run.sample(arm)
        while run.rounds < rest + wait + 30:
            run.rounds += 1
            if run.rounds == swap:
                self.targets = list(self.then)
            elif swap + self.lead[0] <= run.rounds < rest:
                self.meet(self.targets, self.radii(run.rounds))
            elif run.rounds == rest:
                self.targets = [sum(row) / len(row) for row in self.rewards]
            self.moving = 0 <= run.rounds - rest - wait < 10
            for arm in sorted(naive._lucb_round(run, N, _DELTA, False)):
                run.sample(arm)
        assert len(run.active) == N
        rewards = np.full((N, max(map(len, self.rewards)) + 50), 0.5)
        for row, given in zip(rewards, self.rewards, strict=True):
            row[: len(given)] = given
        return Instance(
            rewards,
            np.linspace(0.7, 0.3, N),
            self.clusters,
            self.required,
            _DELTA,
            max_pulls=sum(map(len, self.rewards)),
            span=1.0,
            seed=1,
            replication=1,
        )


def falling_opponent(swap: int, room: float, wait: int) -> Instance:
    """Return an instance that needs the cluster to be alone; the nearest arm's gap is smaller than
    the next one's by `room`."""
    upper, lower, _top, nearest, other, after = range(6)

    def meet(targets: list[float], radii: list[float]) -> None:
        L = targets[lower] - radii[lower]
        U = targets[nearest] + radii[nearest] - L + targets[other] - radii[other] + room
        targets[upper] = L + radii[upper] + 0.0005
        targets[after] = U - radii[after]

    arms = _Arms(
        (1, 1, 3, 1),
        (0, 1, 1, 0),
        # at first the upper one is a middle arm of the cluster, and seldom pulled
        targets=[0.5, 0.66, 0.62, 0.56, 0.44, 0.3],
        then=[0.68, 0.62, 0.55, 0.5, 0.42, 0.3],
        mover=upper,
        push=0.0,
        meet=meet,
        lead=(120, 270),
    )
    return arms.record(swap, wait)


def rising_opponent(swap: int, wait: int) -> Instance:
    """Return an instance that needs picks to be sure."""
    _best, top, wide, _low, _worst = range(5)

    def meet(targets: list[float], radii: list[float]) -> None:
        targets[top] = targets[wide] + radii[wide] - radii[top] + 0.0005

    arms = _Arms(
        (1, 3, 1),
        (1, 0, 1),
        # at first the wide one is in the middle, and seldom pulled
        targets=[0.62, 0.56, 0.5, 0.44, 0.38],
        then=[0.62, 0.51, 0.46, 0.44, 0.38],
        mover=wide,
        push=1.0,
        meet=meet,
        lead=(10, 60),
    )
    return arms.record(swap, wait)


# --------------------------------------------------------------------------------------------------
# Wrong copies
# --------------------------------------------------------------------------------------------------

#: By the condition that is left out: what is left of `_may_exchange`.
LEFT = {"alone": "walls.sure[x] and walls.sure[holder]", "sure": "alone"}


def needing(condition: str) -> list[Instance]:
    """Return instances of which some need a condition."""
    if condition == "alone":  # where the fall is within one pair of corridors
        return [
            falling_opponent(swap, room, wait)
            for swap, room in ((200, 0.003), (300, 0.008))
            for wait in range(7, 15)
        ]
    return [rising_opponent(swap, wait) for swap in (600, 800) for wait in range(7, 15)]


_PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[2])
from exchange import needing
from rai_sim import LUCB
from replay import run_kernel, run_twin
instances = needing(sys.argv[3])
found = [run_kernel(LUCB(), instance) != run_twin(LUCB(), instance) for instance in instances]
open(sys.argv[1], "w").write(json.dumps(sum(found)))
"""


def asks_no(condition: str) -> Replaced:
    """Return the fault that an exchange does not ask for a condition, a key of `LEFT`."""
    return Replaced(
        "algorithms/lucb/corridors.py",
        "_may_exchange",
        f"def _may_exchange(walls, holder, x, alone):\n    return {LEFT[condition]}\n",
    )


def mismatches_without(condition: str, folder: Path) -> int:
    """Return how many instances differ from the twin in a copy of the package whose exchange does
    not ask for a condition.

    Parameters
    ----------
    condition : str
        A key of `LEFT`.
    folder : Path
        Empty folder for the copy and its compiled kernels.
    """
    arguments = [str(folder / "found"), str(Path(__file__).parent), condition]
    subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments],
        check=True,
        env=mutant(folder, [asks_no(condition)]),
        cwd=folder,
        timeout=600,
    )
    found: int = json.loads((folder / "found").read_text())
    return found
