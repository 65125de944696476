"""Categorical arms: rewards from a short list of values, such as star ratings.

Sums of k pulls are drawn in one of three ways, the cheapest first that applies:

- from tables, for values on a short lattice: the sum of 2^j pulls has an exact law on consecutive
  integers, which `sum_tables` keeps as an alias table for j = 0, 1, .. up to some J, and a sum of k
  pulls is a sum of one draw for each binary digit 1 of k (2^J counts as the highest digit, however
  often it is needed);
- pull by pull;
- as multinomial counts, a binomial a level, for large k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, frozen_array
from rai_sim.engine import law as operations
from rai_sim.engine.jit import driver, implements, kernel
from rai_sim.engine.sampling import binomial, bits_set
from rai_sim.engine.streams import State, next_word, uniform
from rai_sim.support.errors import ArgumentValueError

#: Probabilities may miss a sum of 1 by this much (rounded tables); they are then divided by their
#: sum.
_SUM_TOLERANCE = 1e-9
#: Up to so many draws a level, draws by alias table are faster than one binomial a level
#: (measured).
_DRAWS_A_LEVEL = 9
#: Sums of at most 2^11 pulls have tables, of at most so many entries each, and of at most so many
#: in all: sixteen bytes an entry.
_MOST_DOUBLINGS, _WIDEST_TABLE, _MOST_ENTRIES = 11, 4096, 1 << 17
_11, _64 = np.uint64(11), np.uint64(64)
_TO_UNIT = 2.0**-53
#: What may be cut off each end of a sum's law. Each doubling doubles it, and it stays far below the
#: grain of the tables.
_CUT = 1e-25
#: With more arms than this, every arm's variance proxy is Hoeffding's bound instead of the best
#: one.
_MOST_ARMS_FOR_BEST_PROXY = 1000


@dataclass(frozen=True, eq=False, init=False)
class Categorical(Arms):
    """Arms whose rewards are `values[l]` with probability `probabilities[k, l]`.

    Parameters
    ----------
    values : array_like, shape (L,)
        The possible rewards, distinct. Outside [0, 1] the rewards are not known to be
        1/2-sub-Gaussian and `Problem` asks for strict=False.
    probabilities : array_like, shape (N, L)
        One row an arm; each row sums to 1 (within 1e-9, then divided by its sum).

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If a shape is wrong, a value repeats or is beyond 1e50, an entry is NaN, a probability
        negative, or a row does not sum to 1.

    Examples
    --------
    >>> Categorical([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]).means
    array([0.65, 0.3 ])
    """

    values: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    means: NDArray[np.float64]

    #: Means come from rounded probabilities: 7/10 of two ratings and of six differ in their last
    #: digits.
    means_rounding: ClassVar[float] = 2.0**-49

    def __init__(self, values: ArrayLike, probabilities: ArrayLike) -> None:
        """Check and freeze the arguments."""
        levels = frozen_array("values", values, 1)
        table = frozen_array("probabilities", probabilities, 2)
        if table.shape[1] != len(levels):
            raise ArgumentValueError(
                "probabilities",
                f"probabilities has {table.shape[1]} columns but values has {len(levels)} "
                "entries; give one column a value",
            )
        if len(np.unique(levels)) != len(levels):
            raise ArgumentValueError(
                "values",
                f"values repeats an entry: {levels.tolist()}; give each value once and add up its "
                "probabilities",
            )
        if (table < 0.0).any():
            arm, level = (int(i) for i in np.argwhere(table < 0.0)[0])
            raise ArgumentValueError(
                "probabilities",
                f"probabilities[{arm}, {level}] is {table[arm, level]}; a probability cannot be "
                "negative",
            )
        sums = table.sum(axis=1)
        off = np.flatnonzero(abs(sums - 1.0) > _SUM_TOLERANCE)
        if off.size:
            arm = int(off[0])
            raise ArgumentValueError(
                "probabilities",
                f"probabilities[{arm}] sums to {sums[arm]:.12g}, not 1; divide the row by its sum "
                "or mend it",
            )
        # A row that sums to 1 but for rounding stays as it is: the law can be made again from its
        # own table.
        table = table / np.where(abs(sums - 1.0) > table.shape[1] * 2.0**-52, sums, 1.0)[:, None]
        # Means that are equal on paper must come out equal, so that a tie across a border is
        # noticed: sum exactly, then round once.
        means = np.array([math.fsum(row) for row in table * levels])
        for array in (table, means):
            array.setflags(write=False)
        object.__setattr__(self, "values", levels)
        object.__setattr__(self, "probabilities", table)
        object.__setattr__(self, "means", means)

    def kernel_law(self) -> CategoricalLaw:
        """Return the kernels' view of the law."""
        origin, unit, steps = _lattice(self.values)
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        p = np.take_along_axis(self.probabilities, order, axis=1)
        remaining = np.cumsum(p[:, ::-1], axis=1)[:, ::-1]
        conditional = np.divide(p, remaining, out=np.ones_like(p), where=remaining > 0.0)
        # From the last possible level on, everything that remains falls into it.
        last = np.count_nonzero(p > 0.0, axis=1) - 1
        conditional[np.arange(p.shape[1]) >= last[:, None]] = 1.0
        keep, alias = _alias_tables(p)
        proxy = (
            max(float(np.ptp(steps)) ** 2 / 4, 1e-300)
            if self.n_arms > _MOST_ARMS_FOR_BEST_PROXY
            else max(best_variance_proxy(steps, row) for row in self.probabilities)
        )
        levels = np.stack([steps[order], conditional, keep, alias], axis=2)
        plan, cells = sum_tables(steps, self.probabilities)
        parts = [(self.means - origin) / unit, last, levels, plan]
        facts = np.concatenate([part.reshape(self.n_arms, -1) for part in parts], axis=1)
        plan_at = 2 + levels[0].size
        facts[:, plan_at::3] += facts.size  # a table's start, now counted from the first fact
        return CategoricalLaw(
            np.concatenate([facts.ravel(), cells]),
            self.n_arms,
            levels.shape[1],
            plan.shape[1],
            unit,
            float(np.ptp(steps)),
            proxy,
        )

    def law_units(self) -> tuple[float, float]:
        """Return the lattice's origin and step."""
        origin, unit, _ = _lattice(self.values)
        return origin, unit

    def why_not_sub_gaussian(self) -> str | None:
        """Return None if every value lies in [0, 1]."""
        outside = np.flatnonzero((self.values < 0.0) | (self.values > 1.0))
        if not outside.size:
            return None
        return f"values[{outside[0]}] is {self.values[outside[0]]}, outside [0, 1]"

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.values, self.probabilities.shape, self.probabilities)


def _lattice(values: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64]]:
    """Return origin, unit and integer steps with values = origin + unit * steps, or (0, 1, values)
    if there is no short lattice.

    A value counts as the fraction of denominator up to 10,000 that it is within rounding: 0.1 is
    one tenth, and so is 1.1 - 1.
    """
    fractions = [Fraction(v).limit_denominator(10_000) for v in values.tolist()]
    if len(set(fractions)) < len(fractions):  # values closer than rounding stay apart
        return 0.0, 1.0, values.copy()
    if any(
        abs(float(f) - v) > 1e-14 * max(1.0, abs(v))
        for f, v in zip(fractions, values.tolist(), strict=True)
    ):
        return 0.0, 1.0, values.copy()
    origin = min(fractions)
    denominator = math.lcm(*(f.denominator for f in fractions))
    numerators = [int((f - origin) * denominator) for f in fractions]
    common = math.gcd(*numerators) or 1
    steps = [n // common for n in numerators]
    if max(steps) > 1_000_000:
        return 0.0, 1.0, values.copy()
    return float(origin), float(Fraction(common, denominator)), np.array(steps, dtype=np.float64)


def _alias_tables(p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Vose's alias tables of every row: the share of a column that keeps its own level, and
    the other level."""
    n, levels = p.shape
    keep, alias = np.ones((n, levels)), np.tile(np.arange(levels), (n, 1))
    for arm in range(n):
        scaled = p[arm] * levels
        small = [i for i in range(levels) if scaled[i] < 1.0]
        large = [i for i in range(levels) if scaled[i] >= 1.0]
        while small and large:
            low, high = small.pop(), large[-1]
            keep[arm, low], alias[arm, low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            if scaled[high] < 1.0:
                small.append(large.pop())
    return keep, alias


def best_variance_proxy(values: NDArray[np.float64], p: NDArray[np.float64]) -> float:
    """Return a number, at most 2.1 % above the smallest, of which a law is sub-Gaussian as a
    variance proxy.

    The smallest is the supremum over t of 2 K(t) / t^2, K the centred cumulant generating function.
    K is convex with minimum K(0) = 0, so between grid points of ratio 1.01 the quotient is at most
    1.01^2 times its value at the farther one. In units of the width: below the grid the variance
    times 1 + t bounds it (Bernstein). Above the grid K(t) <= |t| leaves less than the variance, or
    than 1/6000, which the supremum passes: one of the extreme levels lies 1/2 or more from the
    mean, and no double is a probability below 2^-1074 = e^-744.5, so on that side K(3000) >= 1500 -
    744.5.
    """
    possible = p > 0.0
    width = float(np.ptp(values[possible]))
    if width == 0.0:
        return 1e-300
    centred, p = (values[possible] - float(p @ values)) / width, p[possible]
    variance = float(p @ centred**2)
    best = 1.001 * variance
    first, last = 1e-3, 2.0 / max(variance, 1.0 / 6000.0)
    grid = first * 1.01 ** np.arange(math.ceil(math.log(last / first, 1.01)) + 1)
    for t in (grid, -grid):
        exponents = np.outer(t, centred)
        top = exponents.max(axis=1)
        cumulant = top + np.log(np.exp(exponents - top[:, None]) @ p)
        best = max(best, 1.01**2 * float((2.0 * cumulant / t**2).max()))
    return max(min(best, 0.25) * width * width, 1e-300)


def sum_tables(
    steps: NDArray[np.float64], probabilities: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the alias tables of the sums of 2^j pulls, j = 0..J, as many as fit into memory; none
    if the steps are no short lattice.

    The first array, (N, J + 1, 3), tells of a table where it starts, how many binary digits number
    its columns, and which sum column 0 stands for. The second holds two numbers a column, its share
    and the other column, see `_by_tables`.

    The law of twice as many pulls is the convolution of a law with itself: sums of positive
    products, so every mass is right but for a few roundings. Arms with the same probabilities share
    tables.
    """
    rows, row_of = np.unique(probabilities, axis=0, return_inverse=True)
    levels: list[
        list[tuple[int, NDArray[np.float64]]]
    ] = []  # by j and row: the smallest sum and the masses from there on
    width, entries = float(np.ptp(steps)), 0
    fits = (
        bool((steps == np.floor(steps)).all())
        and width < _WIDEST_TABLE
        and width * len(rows) < _MOST_ENTRIES
    )
    while fits and len(levels) <= _MOST_DOUBLINGS:
        laws = (
            [_trimmed(2 * first, np.convolve(p, p)) for first, p in levels[-1]]
            if levels
            else [_one_pull_law(steps, p) for p in rows]
        )
        entries += sum(1 << _digits(p.size) for _, p in laws)
        fits = max(p.size for _, p in laws) <= _WIDEST_TABLE and entries <= _MOST_ENTRIES
        if fits:
            levels.append(laws)
    plan = np.zeros((len(levels), len(rows), 3), np.int64)
    plan[:, :, 1] = np.array([[_digits(p.size) for _, p in laws] for laws in levels]).reshape(
        plan.shape[:2]
    )
    plan[:, :, 2] = np.array([[first for first, _ in laws] for laws in levels]).reshape(
        plan.shape[:2]
    )
    ends = np.cumsum(1 << plan[:, :, 1]).reshape(plan.shape[:2])
    plan[:, :, 0] = ends - (1 << plan[:, :, 1])
    masses = np.zeros(ends[-1, -1] if levels else 0)
    cells = np.empty(2 * masses.size)
    for j, laws in enumerate(levels):
        for row, (_, p) in enumerate(laws):
            masses[plan[j, row, 0] : plan[j, row, 0] + p.size] = p / p.sum()
    if levels:
        room = np.empty((2, int((1 << plan[:, :, 1]).max())), np.int64)
        _fill_cells(plan.reshape(-1, 3), masses, cells, room[0], room[1])
    plan[:, :, 0] *= 2
    return plan.transpose(1, 0, 2)[row_of.ravel()].astype(np.float64), cells


def _digits(size: int) -> int:
    """Return the binary digits that number `size` columns, at least one."""
    return max(1, (size - 1).bit_length())


def _one_pull_law(
    steps: NDArray[np.float64], p: NDArray[np.float64]
) -> tuple[int, NDArray[np.float64]]:
    """Return the smallest possible step and the masses from there on."""
    possible = steps[p > 0.0].astype(np.int64)
    first = int(possible.min())
    masses: NDArray[np.float64] = np.bincount(possible - first, weights=p[p > 0.0]).astype(
        np.float64
    )
    return first, masses


def _trimmed(first: int, p: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
    """Return the law without its ends of mass below _CUT."""
    low = int(np.searchsorted(np.cumsum(p), _CUT))
    high = p.size - int(np.searchsorted(np.cumsum(p[::-1]), _CUT))
    return first + low, p[low:high]


@driver
def _fill_cells(
    plan: NDArray[np.int64],
    masses: NDArray[np.float64],
    cells: NDArray[np.float64],
    small: NDArray[np.int64],
    large: NDArray[np.int64],
) -> None:
    """Write Vose's alias table of each row of `plan`; the masses are used up; `small` and `large`
    are room for the longest."""
    for table in range(plan.shape[0]):
        start, size = plan[table, 0], 1 << plan[table, 1]
        p, cell = masses[start : start + size], cells[2 * start : 2 * (start + size)]
        smalls = larges = 0
        for column in range(size):
            p[column] *= size
            cell[2 * column], cell[2 * column + 1] = 1.0, column
            if p[column] < 1.0:
                small[smalls] = column
                smalls += 1
            else:
                large[larges] = column
                larges += 1
        while smalls > 0 and larges > 0:
            smalls -= 1
            low, high = small[smalls], large[larges - 1]
            cell[2 * low], cell[2 * low + 1] = p[low], high
            p[high] -= 1.0 - p[low]
            if p[high] < 1.0:
                larges -= 1
                small[smalls] = high
                smalls += 1


class CategoricalLaw(NamedTuple):
    """What kernels know. Levels of an arm stand in order of falling probability.

    Compiled code copies what describes a law's arrays, and counts its references to each, from
    function to function; with an array for each thing that took several times as long as the draws.
    So there is one array, and the properties name its parts for Python. An arm's block holds its
    mean in law units and its last possible level; for each level the step, the probability given
    that no level before it came, and the share and alias of the level's column in the alias table;
    and for each table of sums its start, digits and first sum (`sum_tables`). After the arms'
    blocks come the tables.
    """

    memory: NDArray[np.float64]
    n_arms: int
    n_levels: int
    n_tables: int
    unit: float
    width: float
    variance_proxy: float

    def _of_arms(self) -> NDArray[np.float64]:
        block = 2 + 4 * self.n_levels + 3 * self.n_tables
        return self.memory[: self.n_arms * block].reshape(self.n_arms, block)

    def _of_levels(self, part: int) -> NDArray[np.float64]:
        return self._of_arms()[:, 2 + part : 2 + 4 * self.n_levels : 4]

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
        return self._of_levels(0)

    @property
    def conditional(self) -> NDArray[np.float64]:
        """Return (N, L) probabilities of a level given that none before it came."""
        return self._of_levels(1)

    @property
    def keep(self) -> NDArray[np.float64]:
        """Return (N, L) shares of the alias table's columns that are their own level."""
        return self._of_levels(2)

    @property
    def alias(self) -> NDArray[np.int64]:
        """Return (N, L) levels of the rest of each column."""
        return self._of_levels(3).astype(np.int64)


@kernel
def _block(law: CategoricalLaw, arm: int) -> int:
    """Return where an arm's block starts."""
    return arm * (2 + 4 * law.n_levels + 3 * law.n_tables)


@implements(operations.one_pull, CategoricalLaw)
def _one_pull(
    law: CategoricalLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    return _pull_by_pull(law.memory, _block(law, arm) + 2, law.n_levels, total, 1, state)


@kernel
def _pull_by_pull(
    memory: NDArray[np.float64], levels: int, n_levels: int, total: float, k: int, state: State
) -> tuple[float, State]:
    for _ in range(k):
        u, state = uniform(state)
        place = u * n_levels
        column = int(place)
        level = (
            column
            if place - column < memory[levels + 4 * column + 2]
            else int(memory[levels + 4 * column + 3])
        )
        total += memory[levels + 4 * level]
    return total, state


@implements(operations.more_pulls, CategoricalLaw)
def _more_pulls(
    law: CategoricalLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    return _sum(law.memory, _block(law, arm) + 1, law.n_levels, law.n_tables - 1, total, k, state)


@kernel
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
        return _by_tables(memory, last + 1 + 4 * n_levels, J, total, k, state)
    return _pull_by_pull(memory, last + 1, n_levels, total, k, state)


@kernel
def _by_counts(
    memory: NDArray[np.float64], level: int, total: float, k: int, state: State
) -> tuple[float, State]:
    """Draw multinomial counts, a level at a time: each is binomial given what the levels before it
    left; the last takes what is left."""
    while k > 0:
        count, state = binomial(k, memory[level + 1], state)
        total += count * memory[level]
        k -= count
        level += 4
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
            int(memory[plan + 3 * j]),
            np.uint64(memory[plan + 3 * j + 1]),
            memory[plan + 3 * j + 2],
        )
        for _ in range(draws):
            word, state = next_word(state)
            column = np.int64(word >> (_64 - digits))
            share, other = memory[start + 2 * column], memory[start + 2 * column + 1]
            total += first + (
                np.float64(column)
                if np.float64((word << digits) >> _11) * _TO_UNIT < share
                else other
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
