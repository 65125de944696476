"""Where is the fault? From a replication that differs from the literal loop's to the stride that
makes it differ, and to the first round that does.

A failing comparison of `pathwise` names task, seed and replication. From the folder `tests`:

    from locate import located
    from pathwise import two_arms
    from rai_sim import Vanilla

    print("\\n".join(located(Vanilla(), two_arms("words", 0.5, 0.14, 0.1), seed=11, replication=3)))
"""

from typing import Any, NamedTuple

import numpy as np
from pathwise import Runs, Task, run_both
from stack import kept_apart

from rai_sim import LUCB, Butterscotch, Vanilla
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.butterscotch.strides import CHECKS
from rai_sim.algorithms.lucb.strides import (
    CORRIDORS,
    IN_STEP,
    LANES,
    LAST_ARM,
    LEVELS,
    PLAIN,
    VIEW,
)
from rai_sim.engine.blocks import new_block
from rai_sim.engine.history import History, new_history, states_kept
from rai_sim.engine.strides import ALL, LAST_TWO, SUMS, WORDS, without

#: By algorithm: the stride that others fall back on, and the others.
STRIDES: dict[type[Algorithm], tuple[tuple[str, int], dict[str, int]]] = {
    Vanilla: (("sums", SUMS), {"words": WORDS, "last two": LAST_TWO}),
    Butterscotch: (("sums", SUMS), {"checks": CHECKS}),
    LUCB: (
        ("plain", PLAIN),
        {
            "in step": IN_STEP,
            "lanes": LANES,
            "last arm": LAST_ARM,
            "corridors": CORRIDORS,
            "levels": LEVELS,
            "view": VIEW,
        },
    ),
}
#: States of so many rounds are compared.
_MOST_ROUNDS = 100_000


def only(*strides: int) -> int:
    """Return the mask of some strides."""
    return sum(1 << stride for stride in set(strides))


class _Replication(NamedTuple):
    """What is run, again and again."""

    algorithm: Algorithm
    task: Task
    seed: int
    replication: int
    options: dict[str, Any]

    def run(self, mask: int) -> Runs:
        """Run it by kernels and literally."""
        return run_both(
            self.algorithm,
            self.task,
            self.seed,
            self.replication,
            1,
            strides=mask,
            **self.options,
        )

    def states(self, mask: int, stop: int) -> History:
        """Run it by kernels and return its states after rounds 1..stop."""
        asked = np.arange(1, stop + 1, dtype=np.int64)
        history = new_history(asked, len(self.task.means))
        block = new_block(1, sum(self.task.required), len(self.task.means), history)
        law = self.task.stack()
        claimed = law.variance_proxy / self.options.get("proxy_over", 1.0)
        budget, cap = self.options.get("skip_error", 1e-12), self.options.get("max_pulls", -1)
        self.algorithm.run_block(
            law._replace(variance_proxy=claimed),
            self.task.block_setting(self.seed, budget, cap, mask),
            self.replication,
            block,
        )
        return history


def located(
    algorithm: Algorithm, task: Task, seed: int, replication: int, **options: Any
) -> list[str]:
    """Return a line for each set of strides, with what differs from the literal loop where only
    they make rounds; and for each stride at fault the first round whose state is not that of the
    stride all fall back on.

    Options are those of `pathwise.run_both`, but for the strides.
    """
    (name, fallback), others = STRIDES[type(algorithm)]
    masks = {"all strides": ALL, f"{name} alone": only(fallback)}
    masks |= {f"{name} and {other}": only(fallback, stride) for other, stride in others.items()}
    masks |= {f"all but {other}": without(stride) for other, stride in others.items()}
    one, lines = _Replication(algorithm, task, seed, replication, options), list[str]()
    with kept_apart():
        for which, mask in masks.items():
            runs = one.run(mask)
            lines.append(f"{which}: {runs.told(0)} differs")
            if runs.different()[0] and which.startswith(f"{name} and "):
                stop = min(int(runs.ours.rounds[0]), int(runs.theirs.rounds[0]), _MOST_ROUNDS)
                lines.append("  " + _first_round(one, only(fallback), mask, stop))
    return lines


def _first_round(one: _Replication, right_mask: int, wrong_mask: int, stop: int) -> str:
    """Return where the states of two masks part, in rounds that both have judged."""
    right, wrong = one.states(right_mask, stop), one.states(wrong_mask, stop)
    both, rows, others = np.intersect1d(
        right.rounds[: states_kept(right)],
        wrong.rounds[: states_kept(wrong)],
        return_indices=True,
    )
    pulls, means = right.pulls[rows, 0], right.means[rows]
    our_pulls, our_means = wrong.pulls[others, 0], wrong.means[others]
    differs = (pulls != our_pulls) | (means != our_means)
    found = np.flatnonzero(differs.any(axis=1))
    if not found.size:
        return f"states are the same in {both.size} rounds: what differs is judged, not pulled"
    at = found[0]
    arms = "; ".join(
        f"arm {arm} has {our_pulls[at, arm]} pulls, mean {our_means[at, arm]:g}, and should have "
        f"{pulls[at, arm]}, {means[at, arm]:g}"
        for arm in np.flatnonzero(differs[at]).tolist()
    )
    return f"states part in round {both[at]}: {arms}"
