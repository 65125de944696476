"""What each stride buys: time a pull with one of them left out, over the time with all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import rai_sim as rai
from benchmarks.rows import Effort, Side, bare_kernel, interleaved, two_arms
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.lucb.strides import CORRIDORS, IN_STEP, LANES, LAST_ARM, VIEW
from rai_sim.engine.strides import LAST_TWO, WORDS, without

#: What is left out, by the name of the column; of a pair that pays as a pair only, the pair too.
LUCBS: dict[str, tuple[int, ...]] = {
    "in step": (IN_STEP,),
    "lanes": (LANES,),
    "last arm": (LAST_ARM,),
    "lanes, last arm": (LANES, LAST_ARM),
    "corridors": (CORRIDORS,),
    "view": (VIEW,),
    "all but plain": (IN_STEP, LANES, LAST_ARM, CORRIDORS, VIEW),
}
VANILLAS: dict[str, tuple[int, ...]] = {
    "words": (WORDS,),
    "last two": (LAST_TWO,),
    "words, last two": (WORDS, LAST_TWO),
}


class Case(NamedTuple):
    """A problem, how many replications of it are enough, and the algorithm."""

    name: str
    problem: Callable[[], rai.Problem]
    replications: int
    algorithm: Algorithm = rai.LUCB()


class Gain(NamedTuple):
    """Seconds a replication with all strides, and by column how many times as long a pull takes
    without."""

    case: str
    seconds: float
    without: list[float]


def _thousand() -> rai.Problem:
    return rai.best_arm(rai.Bernoulli(np.concatenate([[0.9], np.linspace(0.6, 0.1, 999)])))


def _ten() -> rai.Bernoulli:
    return rai.Bernoulli(np.linspace(0.75, 0.3, 10))


#: Ten cases, between them the home of every stride.
CASES = (
    Case("table task 1", lambda: rai.table_problem(task=1), 100),
    Case("table task 3", lambda: rai.table_problem(task=3), 60),
    Case("table task 4", lambda: rai.table_problem(task=4), 60),
    Case("two arms, gap 0.1", lambda: two_arms(0.1), 400),
    Case("two arms, gap 0.01", lambda: two_arms(0.01), 100),
    Case("best of ten", lambda: rai.best_arm(_ten()), 60),
    Case("ranking of ten", lambda: rai.full_ranking(_ten()), 100),
    Case("best of 1,000", _thousand, 1),
    Case("Gaussian, best of three", lambda: rai.best_arm(rai.Gaussian([0.6, 0.5, 0.4])), 60),
    Case(
        "as printed, table task 3", lambda: rai.table_problem(task=3), 20, rai.LUCB(as_printed=True)
    ),
)


def cases_of_vanilla() -> list[Case]:
    """Return the same for Vanilla, but for the rule that it does not have; more replications, as
    they take less time."""
    return [
        case._replace(algorithm=rai.Vanilla(), replications=4 * case.replications)
        for case in CASES[:-1]
    ]


def gain(case: Case, columns: Sequence[tuple[int, ...]], effort: Effort) -> Gain:
    """Measure a case, sides taking turns."""
    problem, sides, blocks = case.problem(), list[Side](), []
    for off in [(), *columns]:
        side, block = bare_kernel(problem, case.algorithm, case.replications, strides=without(*off))
        sides.append(side)
        blocks.append(block)
    seconds = interleaved(sides, effort)
    a_pull = [each / float(block.pulls.sum()) for each, block in zip(seconds, blocks, strict=True)]
    return Gain(
        case.name, seconds[0] / case.replications, [each / a_pull[0] for each in a_pull[1:]]
    )
