"""What is recommended at caps: the rule against its definition, every algorithm on recordings
against runs of its literal twin that are cut short, and, by law, what is drawn at a cap."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any
from unittest.mock import patch

import adaptive
import budgets
import naive
import naive_recommend
import numpy as np
import pytest
from replay import butterscotch_length, draw_instance, lucb_length, suited, vanilla_length
from scipy import stats

import rai_sim as rai
from rai_sim import LUCB, BatchedTrackAndStop, Butterscotch, TopTwo, Vanilla
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine import recommendations
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.jit import exposed
from rai_sim.engine.partition import new_partition
from rai_sim.engine.recommendations import new_budgets
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.workers import block_for, run_into

recommend = exposed(recommendations.recommend)
record = exposed(recommendations.record_recommendations)
LENGTHS = {Vanilla: vanilla_length, Butterscotch: butterscotch_length, LUCB: lucb_length}


def test_the_rule_is_its_definition() -> None:
    """500 random moments of a run, with ties and arms without pulls: some arms are settled, the
    others are named as the literal rule names them; the next cap is then due."""
    rng = np.random.default_rng(3)
    for _ in range(500):
        m = int(rng.integers(1, 5))
        sizes = rng.integers(1, 6, m)
        required = rng.integers(0, sizes + 1)
        required[0] = max(required[0], 1)
        N = int(sizes.sum())
        setting = Setting(
            sizes=sizes,
            required=required,
            cluster_of=np.repeat(np.arange(m), sizes),
            delta=0.1,
            skip_error=0.0,
            max_pulls=9,
            key=np.zeros(2, np.uint64),
        )
        part, arm_of = new_partition(setting), rng.permutation(N)
        part.offset[:] = np.cumsum(required) - required
        part.outputs[:] = -1
        # arms are settled in a random order, each in the cluster of its place
        settled = rng.permutation(N)[: int(rng.integers(0, N))]
        clusters = setting.cluster_of[settled]
        outputs = [arm_of[settled[clusters == i]][: required[i]].tolist() for i in range(m)]
        part.open_sizes[:] = sizes - np.bincount(clusters, minlength=m)
        part.found[:] = [len(output) for output in outputs]
        for i, output in enumerate(outputs):
            part.outputs[part.offset[i] : part.offset[i] + len(output)] = output
        active = np.setdiff1d(np.arange(N), settled)
        key = rng.choice([0.0, 1.0, 2.0, 2.5, 4.0, -math.inf], len(active))
        made = new_budgets(new_block(1, int(required.sum()), budgets=(5, 9)), setting)
        made.label[: len(active)], made.key[: len(active)] = active, key
        recommend(made, part, part.open_sizes, arm_of, len(active))
        ranking = [arm_of[active[x]] for x in np.lexsort((active, -key))]
        parts = [part.tolist() for part in np.split(ranking, np.cumsum(part.open_sizes)[:-1])]
        # far below all others, but alike among themselves
        finite = {arm_of[a]: max(k, -1e300) for a, k in zip(active, key, strict=True)}
        wanted = naive_recommend.recommend(parts, outputs, required.tolist(), finite)
        assert tuple(made.named[0].tolist()) == wanted
        assert made.passed[0] == 1


def test_caps_that_are_not_reached_have_what_was_named() -> None:
    """And the next replication begins before the first cap."""
    block = new_block(2, 2, budgets=(5, 9, 12))
    setting = Setting(
        sizes=np.array([2, 2]),
        required=np.array([1, 1]),
        cluster_of=np.array([0, 0, 1, 1]),
        delta=0.1,
        skip_error=0.0,
        max_pulls=12,
        key=np.zeros(2, np.uint64),
    )
    part, made = new_partition(setting), new_budgets(block, setting)
    part.outputs[:] = 1, 3
    made.named[0], made.passed[0] = (0, 2), 1
    record(block, 1, made, part)
    assert block.recommended[1].tolist() == [[0, 2], [1, 3], [1, 3]]
    assert made.passed[0] == 0
    assert new_budgets(new_block(2, 2), setting).label.size == 0


def drawn(algorithm: Algorithm, seed: int, count: int) -> list[Any]:
    """Return recordings that suit an algorithm."""
    rng, length = np.random.default_rng(seed), LENGTHS[type(algorithm)]
    return suited(rng, algorithm, [draw_instance(rng, length, (0.3, 0.9)) for _ in range(count)])


SLOW = [
    Vanilla(merging=False),
    Vanilla(width="mixture"),
    Butterscotch(width="pairwise"),
    LUCB(as_printed=True),
    LUCB(radius="mixture"),
    LUCB(radius="stitched"),
    LUCB(picks="lucb++"),
    LUCB(picks="k-m"),
    LUCB(picks="rank"),
]


@pytest.mark.parametrize(
    "algorithm",
    [Vanilla(), Butterscotch(), LUCB(), *(pytest.param(a, marks=pytest.mark.slow) for a in SLOW)],
    ids=lambda algorithm: algorithm.label,
)
def test_caps_are_runs_that_are_cut_short(algorithm: Algorithm) -> None:
    """Each of some ten caps of a run recommends what the twin names that knows of this cap alone,
    from before the first pull to the recording's end; and what the kernel does."""
    found, compared = budgets.unlike(algorithm, drawn(algorithm, 21, 14))
    assert found == []
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [Vanilla(), LUCB()], ids=lambda one: one.label)
def test_caps_are_runs_that_are_cut_short_for_words_and_jumps(algorithm: Algorithm) -> None:
    """The same of rewards 0 and 1 that come as words, with certificates that may err."""
    rng, length = np.random.default_rng(5), LENGTHS[type(algorithm)]
    made = [draw_instance(rng, length, (0.3, 0.9), kinds=("bernoulli",)) for _ in range(80)]
    found, compared = budgets.unlike(
        algorithm,
        [one for one in made if one.span == 1.0],
        bits=True,
        skip_error=1e-3,
        variance_proxy=0.25,
    )
    assert found == []
    assert compared > 100


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [TopTwo(), BatchedTrackAndStop()], ids=lambda one: one.label)
def test_leaders_are_recommended(algorithm: Algorithm) -> None:
    """As of the last round that was judged within the cap."""
    found, compared = budgets.unlike(algorithm, adaptive.instances(3, 30))
    assert found == []
    assert compared > 200


def test_another_rule_would_be_seen() -> None:
    """Of a twin that names the first arms of each part, clear or not."""

    def first_of_each(parts: Any, outputs: Any, required: Sequence[int], key: Any) -> Any:
        named = [[*o, *p[: r - len(o)]] for p, o, r in zip(parts, outputs, required, strict=True)]
        return tuple(arm for output in named for arm in output)

    with patch.object(naive, "recommend", first_of_each):
        found, _ = budgets.unlike(Vanilla(), drawn(Vanilla(), 21, 14))
    assert found


# --------------------------------------------------------------------------------------------------
# By law
# --------------------------------------------------------------------------------------------------


def right_at(problem: rai.Problem, delta: float, caps: Sequence[int], count: int) -> Any:
    """Return how many of so many replications of Vanilla are right at each cap, (K,)."""
    experiment = Experiment(problem, Vanilla(), delta, 3, 1e-12, caps[-1])
    block = new_block(count, sum(problem.required), budgets=caps)
    run_into(experiment, 0, block)
    asked = np.repeat(np.arange(problem.n_clusters), problem.required)
    return (problem.cluster_of[block.recommended] == asked).all(axis=2).sum(axis=0)


def of_two_coins(p: float, q: float, n: int) -> float:
    """Return the probability that the first of two coins leads after n tosses each, equal numbers
    counted half."""
    first, other = stats.binom.pmf(np.arange(n + 1), n, p), stats.binom(n, q)
    return float(first @ (other.cdf(np.arange(n + 1)) - 0.5 * other.pmf(np.arange(n + 1))))


@pytest.mark.slow
def test_the_sums_at_a_cap_have_their_law() -> None:
    """Of two arms before any can be settled it is known: 200,000 replications at caps within jumps
    and words, alone and together. Two-sided tests, each at level 1e-6: a false alarm in 80,000. Sums
    of another number of pulls, a tenth less, are told apart."""
    problem = rai.best_arm(rai.Bernoulli([0.55, 0.5]))
    caps, count = (4, 20, 100, 202, 400), 200_000
    together = right_at(problem, 1e-9, caps, count)
    for k, cap in enumerate(caps):
        result = rai.simulate(
            problem, Vanilla(), delta=1e-9, replications=count, seed=4, max_pulls=cap
        )
        assert not result.finished.any()
        known = of_two_coins(0.55, 0.5, cap // 2)
        right = result.recommended_correct
        for hits in (int(right.sum()), int(together[k])):
            assert stats.binomtest(hits, count, known).pvalue > 1e-6
    shorter = of_two_coins(0.55, 0.5, 180)
    assert stats.binomtest(int(together[-1]), count, shorter).pvalue < 1e-6


@pytest.mark.slow
def test_recommendations_have_the_law_of_the_twins() -> None:
    """Of three Gaussian arms, from jumps and leaps, at five caps, the last ones when most runs are
    over: 100,000 replications beside 2,000 of the twin a cap. Fisher's tests, each at level 1e-5: a
    false alarm in 20,000. The twin at a third of a cap is told apart."""
    problem = rai.Problem(rai.Gaussian([0.9, 0.55, 0.4]), (1, 1, 1), (1, 0, 1))
    caps, count, runs = (3, 12, 60, 200, 500), 100_000, 2_000
    rng, means = Random(8), problem.arms.means.tolist()

    def of_twin(cap: int) -> int:
        right = 0
        for _ in range(runs):
            outcome = naive.vanilla(
                lambda arm: rng.gauss(means[arm], 0.5),
                3,
                problem.clusters,
                problem.required,
                0.3,
                order=rng.sample(range(3), 3),
                max_pulls=cap,
            )
            right += outcome.recommended == (0, 2)
        return right

    ours = right_at(problem, 0.3, caps, count)

    def chance(hits: int, theirs: int) -> float:
        table = [[hits, count - hits], [theirs, runs - theirs]]
        return float(stats.fisher_exact(table).pvalue)

    for k, cap in enumerate(caps):
        assert chance(int(ours[k]), of_twin(cap)) > 1e-5
    assert chance(int(ours[2]), of_twin(caps[2] // 3)) < 1e-5


def test_blocks_of_capped_experiments_have_room() -> None:
    """Of one cap; without one nothing is kept."""
    capped = Experiment(rai.table_problem(), Vanilla(), 0.1, 0, 1e-12, 70)
    block = block_for(capped, 4)
    assert block.recommended.shape == (4, 1, sum(capped.problem.required))
    assert block.budgets.tolist() == [70]
