"""What kernels know of categorical arms, and how they draw.

Sums of k pulls are drawn in one of three ways, the cheapest first that applies:

- from tables, for values on a short lattice: the sum of 2^j pulls has an exact law on consecutive
  integers, which an alias table stands for, j = 0, 1, .. up to some J (`rai_sim.arms.categorical.sums`),
  and a sum of k pulls is a sum of one draw for each binary digit 1 of k (2^J counts as the highest
  digit, however often it is needed);
- pull by pull;
- as multinomial counts, a binomial a level, for large k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.arms.categorical.proxy import largest_variance_proxy
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements, inlined, kernel
from rai_sim.engine.sampling import binomial, bits_set
from rai_sim.engine.streams import GRAIN, State, next_word, uniform

#: Up to so many draws a level, draws by alias table are faster than one binomial a level
#: (measured).
_DRAWS_A_LEVEL = 9
_11, _64 = np.uint64(11), np.uint64(64)
#: Numbers of an arm's block: at its head its mean and its last possible level, then those of each
#: level, then those of each table.
_HEAD, _LEVEL, _TABLE = 2, 4, 3
#: Cells of a level: the step, the probability given that no level before it came, the share and
#: alias of the level's column in the alias table.
_STEP, _CONDITIONAL, _SHARE, _OTHER = 0, 1, 2, 3


class CategoricalLaw(NamedTuple):
    """What kernels know. Levels of an arm stand in order of falling probability.

    Compiled code copies what describes a law's arrays, and counts its references to each, from
    function to function; with an array for each thing that took several times as long as the draws.
    So there is one array, and the properties name its parts for Python. An arm's block holds its
    mean in law units and its last possible level; what `_STEP` and the like name, for each level;
    and for each table of sums its start, digits and first sum (`rai_sim.arms.categorical.sums`).
    After the arms' blocks come the tables.
    """

    memory: NDArray[np.float64]
    n_arms: int
    n_levels: int
    n_tables: int
    unit: float
    width: float
    variance_proxy: float

    def _of_arms(self) -> NDArray[np.float64]:
        block = _HEAD + _LEVEL * self.n_levels + _TABLE * self.n_tables
        return self.memory[: self.n_arms * block].reshape(self.n_arms, block)

    def _of_levels(self, part: int) -> NDArray[np.float64]:
        return self._of_arms()[:, _HEAD + part : _HEAD + _LEVEL * self.n_levels : _LEVEL]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Return (N,) means in law units."""
        return self._of_arms()[:, 0]

    @property
    def last(self) -> NDArray[np.int64]:
        """Return (N,) last possible levels."""
        return self._of_arms()[:, 1].astype(np.int64)

    @property
    def steps(self) -> NDArray[np.float64]:
        """Return (N, L) levels in law units."""
        return self._of_levels(_STEP)

    @property
    def conditional(self) -> NDArray[np.float64]:
        """Return (N, L) probabilities of a level given that none before it came."""
        return self._of_levels(_CONDITIONAL)

    @property
    def keep(self) -> NDArray[np.float64]:
        """Return (N, L) shares of the alias table's columns that are their own level."""
        return self._of_levels(_SHARE)

    @property
    def alias(self) -> NDArray[np.int64]:
        """Return (N, L) levels of the rest of each column."""
        return self._of_levels(_OTHER).astype(np.int64)


def new_law(
    means: NDArray[np.float64],
    steps: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    unit: float,
) -> CategoricalLaw:
    """Return the law of arms of some means and steps in law units; the columns of `probabilities`
    are those of `steps`."""
    # here: with a kernel, which the import of the package need not wait for
    from rai_sim.arms.categorical.alias import alias_tables
    from rai_sim.arms.categorical.sums import sum_tables

    n_arms, n_levels = probabilities.shape
    order = np.argsort(-probabilities, axis=1, kind="stable")
    p = np.take_along_axis(probabilities, order, axis=1)
    last = np.count_nonzero(p > 0.0, axis=1) - 1
    levels = np.stack([steps[order], _conditional(p, last), *alias_tables(p)], axis=2)
    plan, cells = sum_tables(steps, probabilities)
    blocks = np.concatenate(
        [part.reshape(n_arms, -1) for part in (means, last, levels, plan)], axis=1
    )
    # a table's start, now counted from the first number of all
    blocks[:, _HEAD + _LEVEL * n_levels :: _TABLE] += blocks.size
    return CategoricalLaw(
        memory=np.concatenate([blocks.ravel(), cells]),
        n_arms=n_arms,
        n_levels=n_levels,
        n_tables=plan.shape[1],
        unit=unit,
        width=float(np.ptp(steps)),
        variance_proxy=largest_variance_proxy(steps, probabilities),
    )


def _conditional(p: NDArray[np.float64], last: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of each level given that none before it came."""
    remaining = np.cumsum(p[:, ::-1], axis=1)[:, ::-1]
    conditional = np.divide(p, remaining, out=np.ones_like(p), where=remaining > 0.0)
    # From the last possible level on, everything that remains falls into it.
    conditional[np.arange(p.shape[1]) >= last[:, None]] = 1.0
    return conditional


@kernel
def _block(law: CategoricalLaw, arm: int) -> int:
    """Return where an arm's block starts."""
    return arm * (_HEAD + _LEVEL * law.n_levels + _TABLE * law.n_tables)


@implements(operations.one_pull, CategoricalLaw)
def _one_pull(
    law: CategoricalLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    return _pull_by_pull(law.memory, _block(law, arm) + _HEAD, law.n_levels, total, 1, state)


@kernel
def _pull_by_pull(
    memory: NDArray[np.float64], first_level: int, n_levels: int, total: float, k: int, state: State
) -> tuple[float, State]:
    for _ in range(k):
        u, state = uniform(state)
        place = u * n_levels
        column = int(place)
        cell = first_level + _LEVEL * column
        level = column if place - column < memory[cell + _SHARE] else int(memory[cell + _OTHER])
        total += memory[first_level + _LEVEL * level + _STEP]
    return total, state


@implements(operations.more_pulls, CategoricalLaw)
def _more_pulls(
    law: CategoricalLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    return _sum(law.memory, _block(law, arm) + 1, law.n_levels, law.n_tables - 1, total, k, state)


@inlined
def _sum(
    memory: NDArray[np.float64],
    last: int,
    n_levels: int,
    J: int,
    total: float,
    k: int,
    state: State,
) -> tuple[float, State]:
    """Return the sum after k more pulls; `last` is where the arm's last possible level stands, J
    the last table or -1."""
    draws = (k >> J) + bits_set(np.uint64(k & ((1 << J) - 1))) if J >= 0 else k
    if draws > _DRAWS_A_LEVEL * memory[last]:
        return _by_counts(memory, last + 1, total, k, state)
    if J >= 0:
        return _by_tables(memory, last + 1 + _LEVEL * n_levels, J, total, k, state)
    return _pull_by_pull(memory, last + 1, n_levels, total, k, state)


@kernel
def _by_counts(
    memory: NDArray[np.float64], level: int, total: float, k: int, state: State
) -> tuple[float, State]:
    """Draw multinomial counts, a level at a time: each is binomial given what the levels before it
    left; the last takes what is left."""
    while k > 0:
        count, state = binomial(k, memory[level + _CONDITIONAL], state)
        total += count * memory[level + _STEP]
        k -= count
        level += _LEVEL
    return total, state


@kernel
def _by_tables(
    memory: NDArray[np.float64], plan: int, j: int, total: float, k: int, state: State
) -> tuple[float, State]:
    """Draw k >> j sums of 2^j pulls, j the last table, and one sum for each lower binary digit 1 of
    k.

    A random word's first digits choose a column and the others are compared with its share: the sum
    is that of the column or of its alias.
    """
    draws, rest = k >> j, k & ((1 << j) - 1)
    while True:
        start, digits, first = (
            int(memory[plan + _TABLE * j]),
            np.uint64(memory[plan + _TABLE * j + 1]),
            memory[plan + _TABLE * j + 2],
        )
        for _ in range(draws):
            word, state = next_word(state)
            column = np.int64(word >> (_64 - digits))
            share, other = memory[start + 2 * column], memory[start + 2 * column + 1]
            total += first + (
                np.float64(column) if np.float64((word << digits) >> _11) * GRAIN < share else other
            )
        if rest == 0:
            return total, state
        j, draws = bits_set(np.uint64((rest & -rest) - 1)), 1
        rest &= rest - 1


@implements(operations.pulls_available, CategoricalLaw)
def _pulls_available(law: CategoricalLaw) -> int:
    return operations.ENDLESS


@implements(operations.spread, CategoricalLaw)
def _spread(law: CategoricalLaw) -> float:
    return law.width


@implements(operations.mean_of, CategoricalLaw)
def _mean_of(law: CategoricalLaw, arm: int) -> float:
    return law.memory[_block(law, arm)]


@implements(operations.unit, CategoricalLaw)
def _unit(law: CategoricalLaw) -> float:
    return law.unit


@implements(operations.proxy, CategoricalLaw)
def _proxy(law: CategoricalLaw) -> float:
    return law.variance_proxy


@implements(operations.handy, CategoricalLaw)
def _handy(law: CategoricalLaw, k: int) -> int:
    if law.n_tables == 0:
        return k
    # Three binary digits: two draws from tables on average, for less than a tenth of the length.
    cut = 0
    while k >> cut > 7:
        cut += 1
    return (k >> cut) << cut


@implements(operations.has_words, CategoricalLaw)
def _has_words(law: CategoricalLaw) -> bool:
    return False


@implements(operations.word, CategoricalLaw)
def _word(law: CategoricalLaw, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    return np.uint64(0), state
