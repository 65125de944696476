"""Problems: gaps worked out by hand and by an all-pairs twin, identities, and the constructors."""

import copy
import dataclasses
import math
import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unchecked import unchecked

from rai_sim import Bernoulli, Gaussian
from rai_sim.problem import (
    Problem,
    best_arm,
    coarse_ranking,
    full_ranking,
    m_of_top,
    one_of_top,
    table_problem,
    top,
)

INF = math.inf
TEN = Bernoulli([0.85, 0.8, 0.65, 0.6, 0.4, 0.36, 0.35, 0.3, 0.15, 0.1])


def test_gaps_worked_out_by_hand() -> None:
    """Best first the means are 7/8 6/8 | 4/8 3/8 3/8 | 1/8, handed over in another order.

    Gaps: 7/8 - 4/8 = 3/8 and 2/8; min(2/8, 3/8) = 2/8, min(3/8, 2/8) = 2/8 twice; 3/8 - 1/8 = 2/8.
    """
    problem = Problem(Bernoulli([0.375, 0.875, 0.125, 0.5, 0.75, 0.375]), (2, 3, 1), (1, 0, 0))
    assert problem.cluster_of.tolist() == [1, 0, 2, 1, 0, 1]
    assert problem.cluster_of.dtype == np.int64
    assert problem.arm_gaps.tolist() == [0.25, 0.375, 0.25, 0.25, 0.25, 0.25]
    assert problem.arm_gaps.dtype == np.float64
    assert (problem.n_arms, problem.n_clusters) == (6, 3)


@pytest.mark.parametrize(
    ("required", "gap"),
    [
        ((1, 0, 0), 6),
        ((2, 0, 0), 3),
        ((0, 1, 0), 6),
        ((0, 2, 0), 4),
        ((0, 3, 0), 3),
        ((0, 0, 1), 4),
        ((1, 1, 0), 6),
        ((1, 1, 1), 4),
        ((2, 1, 1), 3),
        ((2, 3, 1), 3),
    ],
)
def test_bottleneck_gap_worked_out_by_hand(required: tuple[int, int, int], gap: int) -> None:
    """In sixteenths the means are 16 13 | 10 7 5 | 1.

    Cluster 1: 16 - 10 = 6, 13 - 10 = 3. Cluster 2: min(3, 9) = 3, min(6, 6) = 6, min(8, 4) = 4, in
    falling order 6 4 3. Cluster 3: 5 - 1 = 4.
    """
    problem = Problem(Bernoulli([x / 16 for x in (7, 16, 1, 5, 13, 10)]), (2, 3, 1), required)
    assert problem.bottleneck_gap == gap / 16
    assert type(problem.bottleneck_gap) is float


@st.composite
def instances(draw: st.DrawFn) -> tuple[list[float], list[int], list[int]]:
    """Draw means in eighths in any order, with ties inside clusters and none across borders."""
    clusters = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    required = [draw(st.integers(0, size)) for size in clusters]
    if not any(required):
        required[draw(st.integers(0, len(clusters) - 1))] = 1
    means, level = [], 0
    for size in clusters:
        spread = draw(st.integers(0, 3))
        means += [(level - draw(st.integers(0, spread))) / 8 for _ in range(size)]
        level -= spread + draw(st.integers(1, 5))
    return draw(st.permutations(means)), clusters, required


def all_pairs(
    means: Sequence[float], clusters: Sequence[int], required: Sequence[int]
) -> tuple[list[int], list[float], float]:
    """Work out clusters, arm gaps and bottleneck gap by comparing every arm with every other."""
    ends = [sum(clusters[: i + 1]) for i in range(len(clusters))]
    # An arm's cluster is the first that ends beyond the number of arms that are strictly better.
    cluster_of = [
        next(i for i, end in enumerate(ends) if end > sum(b > a for b in means)) for a in means
    ]
    gaps = [
        min(
            (abs(a - b) for b, j in zip(means, cluster_of, strict=True) if abs(i - j) == 1),
            default=INF,
        )
        for a, i in zip(means, cluster_of, strict=True)
    ]
    bottleneck = min(
        sorted((gap for gap, j in zip(gaps, cluster_of, strict=True) if j == i), reverse=True)[
            r - 1
        ]
        for i, r in enumerate(required)
        if r > 0
    )
    return cluster_of, gaps, bottleneck


@pytest.mark.landing
@settings(derandomize=True, deadline=None, database=None, max_examples=150)
@given(instances())
def test_gaps_agree_with_all_pairs(instance: tuple[list[float], list[int], list[int]]) -> None:
    """Multiples of 1/8 have exact differences, so the twins agree to the last bit."""
    problem = Problem(Gaussian(instance[0]), instance[1], instance[2])
    found = (problem.cluster_of.tolist(), problem.arm_gaps.tolist(), problem.bottleneck_gap)
    assert found == all_pairs(*instance)


def test_a_single_cluster_has_infinite_gaps() -> None:
    """m = 1: no neighbour on either side, ties or not; N = 1 likewise."""
    for problem in (Problem(Bernoulli([0.5, 0.5, 0.25]), (3,), (2,)), best_arm(Bernoulli([0.5]))):
        assert np.isposinf(problem.arm_gaps).all()
        assert problem.bottleneck_gap == INF
        assert not problem.cluster_of.any()


def test_a_difference_beyond_the_double_range_is_infinite() -> None:
    """1e308 - (-1e308) overflows; no warning."""
    # a law from outside; ours refuse such means
    arms = unchecked(Gaussian([1.0, 0.0]), means=np.array([1e308, -1e308]))
    assert np.isposinf(full_ranking(arms).arm_gaps).all()


def test_many_arms_take_no_square() -> None:
    """For 2^18 arms an N-by-N table would need 512 GB; neighbours of a full ranking are one
    step of 2^-18 apart."""
    n = 1 << 18
    means = np.random.default_rng(1).permutation(n) / n
    problem = full_ranking(Bernoulli(means))
    assert (problem.arm_gaps == 1 / n).all()
    assert problem.bottleneck_gap == 1 / n
    assert (problem.cluster_of == n - 1 - means * n).all()
    assert len(problem.identity()) < 300


def test_cached_arrays_are_made_once_and_read_only() -> None:
    """A second look gives the same object, and none can be written, also after pickling and
    copying."""
    problem = table_problem()
    assert problem.arm_gaps is problem.arm_gaps
    for twin in (problem, pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)):
        for array in (twin.arm_gaps, twin.cluster_of):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.clusters = (10,)  # type: ignore[misc]


def test_sizes_become_tuples_of_int() -> None:
    """Lists, arrays and numpy integers are fine."""
    unsigned = np.array([3, 5, 2], np.uint64)
    for sizes in ([3, 5, 2], np.array([3, 5, 2]), unsigned, (np.uint8(3), np.int64(5), 2)):
        problem = Problem(TEN, sizes, sizes)  # type: ignore[arg-type]
        assert problem.clusters == problem.required == (3, 5, 2)
        assert {type(x) for x in (*problem.clusters, *problem.required)} == {int}


def test_identity_covers_arms_clusters_and_required() -> None:
    """It is readable, and another as soon as one part differs; equality and hash follow it."""
    problem = table_problem(task=2)
    same = Problem(TEN, [3, 5, 2], [3, 0, 0], strict=False)
    assert problem.identity() == same.identity()
    assert problem == same
    assert hash(problem) == hash(same)
    head, digest = problem.identity().rsplit(":", 1)
    assert head == "Problem:Bernoulli:10:clusters=(3, 5, 2):required=(3, 0, 0)"
    assert len(digest) == 64
    assert int(digest, 16) >= 0
    others = [
        table_problem(1),
        table_problem(2, "printed"),
        Problem(TEN, (4, 4, 2), (3, 0, 0)),
        Problem(Gaussian(TEN.means), (3, 5, 2), (3, 0, 0)),
    ]
    assert len({p.identity() for p in (problem, *others)}) == 5
    assert all(problem != other for other in others)
    assert pickle.loads(pickle.dumps(problem)) == problem


def test_identity_covers_sizes_that_it_does_not_show() -> None:
    """The readable head stops after a dozen sizes; the digest does not."""
    arms = Bernoulli(np.arange(20) / 20)
    ones = (1,) * 14
    problems = [
        Problem(arms, sizes, required)
        for sizes in ((*ones, 2, 4), (*ones, 4, 2))
        for required in ((*ones, 1, 1), (*ones, 2, 1))
    ]
    assert len({p.identity() for p in problems}) == 4
    assert len({p.identity().rsplit(":", 1)[0] for p in problems}) == 1


@pytest.mark.parametrize(
    ("problem", "clusters", "required"),
    [
        (best_arm(TEN), (1, 9), (1, 0)),
        (one_of_top(TEN, 4), (4, 6), (1, 0)),
        (top(TEN, 4), (4, 6), (4, 0)),
        (m_of_top(TEN, 2, 4), (4, 6), (2, 0)),
        (m_of_top(TEN, np.int64(2), np.uint8(4)), (4, 6), (2, 0)),  # type: ignore[arg-type]
        (coarse_ranking(TEN, [3, 5, 2]), (3, 5, 2), (3, 5, 2)),
        (full_ranking(TEN), (1,) * 10, (1,) * 10),
        (best_arm(Bernoulli([0.5])), (1,), (1,)),
        (one_of_top(TEN, 10), (10,), (1,)),
        (top(TEN, 10), (10,), (10,)),
        (m_of_top(TEN, 3, 10), (10,), (3,)),
        (full_ranking(Bernoulli([0.5])), (1,), (1,)),
    ],
)
def test_constructors(
    problem: Problem, clusters: tuple[int, ...], required: tuple[int, ...]
) -> None:
    """The paper's Table 1, and the cases in which one cluster is left."""
    assert (problem.clusters, problem.required) == (clusters, required)
    assert {type(x) for x in (*problem.clusters, *problem.required)} == {int}
    assert problem.strict


def test_table_problems() -> None:
    """The two instances mirror each other up to .64 for .66, and the tasks are the table's rows."""
    tasks = [(1, 0, 0), (3, 0, 0), (2, 2, 0), (0, 5, 0), (0, 0, 1)]
    for instance in ("mirrored", "printed"):
        assert [table_problem(task, instance).required for task in range(1, 6)] == tasks
        assert table_problem(instance=instance).clusters == (3, 5, 2)
    assert table_problem() == table_problem(1, "mirrored") == Problem(TEN, (3, 5, 2), (1, 0, 0))
    mirror, printed = (
        {round(100 * x) for x in means}
        for means in (1 - TEN.means, table_problem(1, "printed").arms.means)
    )
    assert mirror ^ printed == {64, 66}
