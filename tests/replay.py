"""The literal twin beside the kernels: on recorded rewards of random instances, and on fresh
rewards.

A recording fixes all rewards and the replication's stream the opening permutation, so that nothing
is left to chance: kernel and twin must agree in every number. Comparing costs the twin's time, so
gaps and recordings are chosen together to make a run take a few hundred to a few thousand pulls.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from unittest.mock import patch

import naive
import numpy as np
from numpy.typing import NDArray
from stack import RECORDING, kept_apart, new_stack

from rai_sim import LUCB, Bernoulli, Butterscotch, Categorical, Gaussian, Problem, Recorded, Vanilla
from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import Arms
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.faults import NONE, RECORDING_RAN_OUT
from rai_sim.engine.history import new_history
from rai_sim.engine.jit import driver
from rai_sim.engine.streams import State, new_generators, replication_stream, shuffle, stream_key
from rai_sim.engine.strides import ALL
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.result import Result
from rai_sim.tracing.trace import read_trace

#: What recordings are made of; see `_record`.
KINDS = ("bernoulli", "eighths", "uniform")
#: The budget of `simulate`.
DEFAULT_SKIP_ERROR = 1e-12
#: The literal twins.
TWINS: dict[type[Algorithm], Callable[..., naive.Outcome]] = {
    Vanilla: naive.vanilla,
    Butterscotch: naive.butterscotch,
    LUCB: naive.lucb,
}


@dataclass(frozen=True)
class Instance:
    """A problem, its recorded rewards, and the replication that replays them.

    Attributes
    ----------
    rewards : (N, T) float64
        One row an arm, drawn from a law with the arm's mean.
    means : (N,) float64
        The law's means; those of different clusters are apart unless `twins` bridges a border.
    clusters, required : tuple of int
        c and r.
    delta : float
        Error probability.
    max_pulls : int or None
        Cap on pulls.
    span : float
        Every reward lies in [0, span].
    seed, replication : int
        They decide the stream, and with it the permutation that breaks ties.
    """

    rewards: NDArray[np.float64]
    means: NDArray[np.float64]
    clusters: tuple[int, ...]
    required: tuple[int, ...]
    delta: float
    max_pulls: int | None
    span: float
    seed: int
    replication: int

    @property
    def n_arms(self) -> int:
        """Number of arms N."""
        return len(self.means)

    @property
    def variance_proxy(self) -> float:
        """Hoeffding's: rewards on an interval of length span are sub-Gaussian with span^2 / 4."""
        return self.span**2 / 4

    @property
    def cluster_of(self) -> NDArray[np.int64]:
        """True cluster of each arm (N,); any of those that ties across a border leave open."""
        clusters = np.empty(self.n_arms, np.int64)
        clusters[np.argsort(-self.means, kind="stable")] = np.repeat(
            np.arange(len(self.clusters)), self.clusters
        )
        return clusters


@dataclass(frozen=True)
class Run:
    """What a run did; the arm's pull that was not recorded instead, where the recording ran out.

    Attributes
    ----------
    pulls, rounds : int
        Pulls and rounds until the stop or the cap.
    representatives : tuple of int
        O_1, .., O_m one after another, each in the order of joining; empty if not finished.
    settled : tuple of int
        Round in which each arm was settled, 0 if it was not.
    finished : bool
        Whether every O_i was filled.
    ran_out_at : int
        Number of the pull that the recording does not hold, 0 if it sufficed. Nothing else is told
        then.
    counts : tuple of int
        Pulls of each arm.
    recommended : tuple of int
        Of twins: the representatives, or what is named at the cap. Runs are compared without it;
        see `budgets`.
    """

    pulls: int = 0
    rounds: int = 0
    representatives: tuple[int, ...] = ()
    settled: tuple[int, ...] = ()
    finished: bool = False
    ran_out_at: int = 0
    counts: tuple[int, ...] = ()
    recommended: tuple[int, ...] = field(default=(), compare=False)


Twin = Callable[[Instance], Run]


# --------------------------------------------------------------------------------------------------
# Instances
# --------------------------------------------------------------------------------------------------


def draw_instance(
    rng: np.random.Generator,
    length: Callable[[float, int, float], float],
    gaps: tuple[float, float],
    *,
    kinds: Sequence[str] = KINDS,
    most_arms: int = 12,
    capped: float = 0.2,
    twins: float = 0.2,
) -> Instance:
    """Draw an instance: N, c, r, means, delta, recording, all at random.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of everything.
    length : callable
        Pulls an arm that a run is expected to take, from a gap, N and delta. The recording holds
        from 0.6 to 3 times as many: sometimes it runs out.
    gaps : (float, float)
        The smallest difference of means across borders lies between these, log-uniform.
    kinds : sequence of str
        What the recording may be made of.
    most_arms : int
        Largest N.
    capped : float
        Share of instances with a cap on pulls, log-uniform from 1 to what the recording holds.
    twins : float
        Share of instances in which two arms have one row: of one cluster, or, rarely, of two.
    """
    N = int(rng.integers(1, most_arms + 1))
    clusters, required = _draw_task(rng, N)
    delta = float(rng.choice([0.3, 0.1, 0.01]))
    gap = math.exp(rng.uniform(math.log(gaps[0]), math.log(gaps[1])))
    means, span = _draw_means(rng, clusters, gap)
    T = max(1, math.ceil(length(gap, N, delta) * rng.uniform(0.6, 3.0)))
    rewards = _record(rng, str(rng.choice(kinds)), means / span, T) * span
    if N > 1 and rng.random() < twins:
        cluster_of = np.repeat(np.arange(len(clusters)), clusters)
        first = int(rng.integers(N - 1))
        if cluster_of[first] == cluster_of[first + 1] or rng.random() < 0.2:
            means[first + 1], rewards[first + 1] = means[first], rewards[first]
    cap = int(math.exp(rng.uniform(0.0, math.log(N * T)))) if rng.random() < capped else None
    order = rng.permutation(N)
    return Instance(
        rewards[order],
        means[order],
        clusters,
        required,
        delta,
        cap,
        span,
        seed=int(rng.integers(1 << 32)),
        replication=int(rng.integers(1 << 32)),
    )


def suited(
    rng: np.random.Generator, algorithm: Algorithm, instances: Iterable[Instance]
) -> list[Instance]:
    """Return the instances with tasks for which an algorithm is defined: for picks of LUCB others, at
    random, and fewer of them, as some have too few clusters."""
    found = []
    for instance in instances:
        task = suited_task(rng, algorithm, instance.clusters, instance.required)
        if task is not None:
            found.append(replace(instance, clusters=task[0], required=task[1]))
    return found


def suited_task(
    rng: np.random.Generator,
    algorithm: Algorithm,
    clusters: tuple[int, ...],
    required: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return clusters and what is asked of them, at random, for which an algorithm is defined; None
    if the clusters are too few."""
    picks, m = algorithm.picks if isinstance(algorithm, LUCB) else "all", len(clusters)
    if picks == "rank":
        whole = [bool(flag) for flag in rng.random(m) < 0.6]
        whole[int(rng.integers(m))] = True
        required = tuple(c * flag for c, flag in zip(clusters, whole, strict=True))
    elif picks != "all" and m == 1:
        return None
    elif picks == "k-m":
        required = (int(rng.integers(1, clusters[0] + 1)), *[0] * (m - 1))
    elif picks == "lucb++" and rng.random() < 0.5:
        required = (clusters[0], *[0] * (m - 1))
    elif picks == "lucb++":
        first = sum(clusters[: int(rng.integers(1, m))])
        clusters = (first, sum(clusters) - first)
        required = ((first, 0), (0, clusters[1]), clusters)[int(rng.integers(3))]
    return clusters, required


def _draw_task(rng: np.random.Generator, N: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cut N arms at random borders and ask for something."""
    cut = rng.random(N - 1) < rng.choice([0.1, 0.3, 0.6, 1.0])
    if N > 1 and not cut.any() and rng.random() < 0.9:  # one cluster alone is over after a round
        cut[rng.integers(N - 1)] = True
    clusters = tuple(np.diff([0, *(np.flatnonzero(cut) + 1), N]).tolist())
    while True:
        required = tuple(int(rng.integers(c + 1)) if rng.random() < 0.6 else 0 for c in clusters)
        if any(required):
            return clusters, required


def _draw_means(
    rng: np.random.Generator, clusters: Sequence[int], gap: float
) -> tuple[NDArray[np.float64], float]:
    """Draw falling means with at least `gap` across borders, and the power of two that bounds
    them."""
    steps: list[float] = []
    for size in clusters:
        inside = np.where(rng.random(size - 1) < 0.5, 0.0, rng.uniform(0.0, 0.3 * gap, size - 1))
        steps += [gap * float(rng.choice([1.0, 1.0, 1.5, 3.0])), *inside.tolist()]
    below = np.cumsum(steps) - steps[0]
    span = 1.0
    while below[-1] > 0.95 * span:
        span *= 2
    top = rng.uniform(below[-1], span)
    return top - below, span


def _record(
    rng: np.random.Generator, kind: str, p: NDArray[np.float64], T: int
) -> NDArray[np.float64]:
    """Draw T rewards in [0, 1] of mean p for each arm.

    "bernoulli" gives 0 and 1, and many ties of empirical means; "eighths" multiples of 1/8, whose
    sums are exact as well; "uniform" a continuous law around the mean, whose sums round.
    """
    size = (len(p), T)
    if kind == "bernoulli":
        return (rng.random(size) < p[:, None]).astype(np.float64)
    if kind == "eighths":
        return rng.binomial(8, p[:, None], size) / 8
    return p[:, None] + np.minimum(p, 1 - p)[:, None] * rng.uniform(-1.0, 1.0, size)


def vanilla_length(gap: float, N: int, delta: float) -> float:
    """R at which w_R falls below the gap."""
    R = 1.0
    for _ in range(20):
        R = 2 / gap**2 * math.log(math.pi**2 * R**2 * N / (3 * delta))
    return R


def butterscotch_length(gap: float, N: int, delta: float) -> float:
    """t_R for the first R with w_R below the gap."""
    R = 1
    while gap <= 2.0 ** -(R + 2):
        R += 1
    return 2.0 ** (2 * R + 5) * math.log(math.pi**2 * R**2 * N / (3 * delta))


def lucb_length(gap: float, N: int, delta: float) -> float:
    """Pulls of an arm at which its radius falls below half the gap, in a round as late."""
    n = 1.0
    for _ in range(20):
        n = 2 / gap**2 * math.log(math.pi**2 * n**3 * N / (3 * delta))
    return n


# --------------------------------------------------------------------------------------------------
# The two ways to run them
# --------------------------------------------------------------------------------------------------


def run_kernel(
    algorithm: Algorithm,
    instance: Instance,
    skip_error: float = 0.0,
    max_pulls: int | None = None,
    variance_proxy: float | None = None,
    bits: bool = False,
    block: Block | None = None,
    strides: int = ALL,
) -> Run:
    """Replay an instance through `Algorithm.run_block`.

    Parameters
    ----------
    algorithm : Algorithm
        What to run.
    instance : Instance
        What to run it on.
    skip_error : float
        Budget of certificates that hold up to an error.
    max_pulls : int, optional
        Replaces the instance's cap.
    variance_proxy : float, optional
        What the law claims of its rewards; without one it claims nothing, and such certificates are
        void.
    bits : bool
        Replay rewards 0 and 1 as a law that also gives 64 pulls as one word, as Bernoulli arms do.
    block : Block, optional
        To write into; one for this run is made when None.
    strides : int
        Mask of the strides that the kernel may use.
    """
    law: Any = Recorded(instance.rewards, instance.means).kernel_law()
    if bits:
        assert np.isin(instance.rewards, (0, 1)).all()
        law = new_stack(
            RECORDING, law.mean, math.inf, prefix=law.prefix, available=law.prefix.shape[1] - 1
        )
    if variance_proxy is not None:
        law = law._replace(variance_proxy=variance_proxy)
    cap = instance.max_pulls if max_pulls is None else max_pulls
    setting = Setting(
        sizes=np.array(instance.clusters, np.int64),
        required=np.array(instance.required, np.int64),
        cluster_of=instance.cluster_of,
        delta=instance.delta,
        skip_error=skip_error,
        max_pulls=-1 if cap is None else cap,
        key=stream_key(instance.seed),
        strides=strides,
    )
    if block is None:
        N = instance.n_arms
        block = new_block(1, sum(instance.required), N, arms_with_pulls=N)
    with kept_apart() if bits else nullcontext():
        algorithm.run_block(law, setting, instance.replication, block)
    if block.fault[0] != NONE:
        assert block.fault[0] == RECORDING_RAN_OUT
        assert 0 <= block.fault[1] < instance.n_arms
        return Run(ran_out_at=int(block.fault[2]))
    finished = bool(block.finished[0])
    named = block.representatives[0].tolist()
    assert finished or set(named) == {-1}
    return Run(
        int(block.pulls[0]),
        int(block.rounds[0]),
        tuple(named) if finished else (),
        tuple(block.settled[0, 0].tolist()),
        finished,
        counts=tuple(block.arm_pulls[0].tolist()),
    )


@dataclass
class Story:
    """What happened in a run, and what each round saw.

    Attributes
    ----------
    run : Run
        How it ended.
    seen : dict
        By round: pulls and empirical mean of each active arm, by arm.
    settled : dict
        By arm: round, pulls of all arms, cluster (0 is the best), whether it became a
        representative, its pulls and mean.
    merges : list of (int, int)
        Round and cluster.
    """

    run: Run
    seen: dict[int, dict[int, tuple[int, float]]]
    settled: dict[int, tuple[int, int, int, bool, int, float]]
    merges: list[tuple[int, int]]


def story_of_kernel(
    algorithm: Algorithm, instance: Instance, rounds: NDArray[np.int64], bits: bool = False
) -> Story:
    """Tell what a traced replay through the kernel says, with states at the given rounds or the
    first ones after them."""
    problem = Problem(
        Recorded(instance.rewards, instance.means),
        instance.clusters,
        instance.required,
        strict=False,
    )
    N = instance.n_arms
    caps = () if instance.max_pulls is None else (instance.max_pulls,)
    history = new_history(rounds, N)
    block = new_block(1, sum(instance.required), N, history, arms_with_pulls=N, budgets=caps)
    run = run_kernel(algorithm, instance, bits=bits, block=block)
    if run.ran_out_at:
        return Story(run, {}, {}, [])
    experiment = Experiment(
        problem, algorithm, instance.delta, instance.seed, 0.0, instance.max_pulls
    )
    first = instance.replication
    told = read_trace(Result(experiment, ((first, first + 1),), *block[:5]), block, rounds)
    seen = {}
    for k, R in enumerate(told.rounds.tolist()):
        active = np.flatnonzero(told.active[k]).tolist()
        seen[R] = {arm: (int(told.arm_pulls[k, arm]), float(told.means[k, arm])) for arm in active}
    settled, merges = {}, []
    for e in told.events:
        if e.arm is None:
            merges.append((e.round, e.cluster - 1))
        else:
            settled[e.arm] = (
                e.round,
                e.pulls,
                e.cluster - 1,
                e.representative,
                e.arm_pulls,
                e.mean,
            )
    return Story(run, seen, settled, merges)


def story_of_twin(algorithm: Algorithm, instance: Instance) -> Story:
    """Tell what the literal twin does, with the state of every round."""
    seen: dict[int, dict[int, tuple[int, float]]] = {}
    settled: dict[int, tuple[int, int, int, bool, int, float]] = {}
    merges: list[tuple[int, int]] = []
    remove, outcome = naive._Run.remove, naive._Run.outcome

    def note(run: naive._Run) -> None:
        seen[run.rounds] = {
            arm: (run.counts[arm], run.sums[arm] / run.counts[arm]) for arm in run.active
        }

    def note_settled(run: naive._Run, arm: int, i: int) -> None:
        settled[arm] = (run.rounds, sum(run.counts), i, not run.full(i), *seen[run.rounds][arm])
        remove(run, arm, i)

    def note_end(run: naive._Run, finished: bool) -> naive.Outcome:
        ended = outcome(run, finished)
        merges.extend(ended.merges)
        return ended

    def noted(
        cut: Callable[[naive._Run], list[list[int]]],
    ) -> Callable[[naive._Run], list[list[int]]]:
        def wrapper(run: naive._Run) -> list[list[int]]:
            note(run)
            return cut(run)

        return wrapper

    with (
        patch.object(naive._Run, "partition", noted(naive._Run.partition)),
        patch.object(naive._Run, "partition_by_sums", noted(naive._Run.partition_by_sums)),
        patch.object(naive._Run, "remove", note_settled),
        patch.object(naive._Run, "outcome", note_end),
    ):
        return Story(run_twin(algorithm, instance), seen, settled, merges)


def different_stories(
    instances: Iterable[Instance], algorithm: Algorithm, bits: bool = False
) -> tuple[list[str], int]:
    """Return what traced kernel and twin tell differently, and how many states were compared.

    States are asked for at every round of every other instance, so that words are cut everywhere,
    else at one round in each octave.
    """
    found, states = [], 0
    for number, instance in enumerate(instances):
        try:
            Problem(
                Recorded(instance.rewards, instance.means),
                instance.clusters,
                instance.required,
                strict=False,
            )
        except ValueError:
            continue  # a tie across a border, which no problem may have
        rounds = np.arange(1, 20_000) if number % 2 else 2 ** np.arange(40)
        ours, theirs = (
            story_of_kernel(algorithm, instance, rounds, bits),
            story_of_twin(algorithm, instance),
        )
        same = ours.run == theirs.run and (
            bool(ours.run.ran_out_at)
            or (ours.settled == theirs.settled and ours.merges == theirs.merges)
        )
        # the end is told, be it a cap
        same = same and (ours.run.rounds == 0 or ours.run.rounds in ours.seen)
        for R, state in ours.seen.items():
            same = same and state == theirs.seen.get(R)
        states += len(ours.seen)
        if not same:
            found.append(
                f"instance {number} of {algorithm}, c={instance.clusters} "
                f"r={instance.required}:\n  {ours}\n  {theirs}"
            )
    return found, states


def run_known(algorithm: Algorithm, instance: Instance, bits: bool = False) -> Run:
    """Replay with the budget that `simulate` grants, the law vouching for its means and variance
    proxy."""
    proxy = instance.variance_proxy
    return run_kernel(algorithm, instance, DEFAULT_SKIP_ERROR, variance_proxy=proxy, bits=bits)


def run_twin(algorithm: Algorithm, instance: Instance, width: float = 1.0, **changes: Any) -> Run:
    """Replay an instance through the literal twin; `width` and `changes` (see `twin`) make it a
    wrong one."""
    pull = naive.replay(instance.rewards.tolist())
    options = {"order": opening_order(instance), "max_pulls": instance.max_pulls} | changes
    try:
        outcome = twin(
            algorithm, pull, instance.clusters, instance.required, instance.delta, width, **options
        )
    except naive.RanOut as ran_out:
        return Run(ran_out_at=ran_out.pull_number)
    settled = tuple(outcome.settled.get(arm, 0) for arm in range(instance.n_arms))
    return Run(
        outcome.pulls,
        outcome.rounds,
        outcome.representatives,
        settled,
        outcome.finished,
        counts=outcome.counts,
        recommended=outcome.recommended,
    )


def twin(
    algorithm: Algorithm,
    pull: naive.Pull,
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    width: float = 1.0,
    **options: Any,
) -> naive.Outcome:
    """Run the literal twin of an algorithm.

    Parameters
    ----------
    algorithm : Algorithm
        Whose twin, and with which options.
    pull, clusters, required, delta
        As in `naive.vanilla`.
    width : float
        Factor of every width of a round-robin algorithm: anything but 1 makes it a wrong one.
    options
        The twin's keyword arguments; they come before the algorithm's own options.
    """
    N = sum(clusters)
    options = vars(algorithm) | options  # the fields of a dataclass
    if width != 1.0:
        return _twin_of_another_width(
            TWINS[type(algorithm)], width, pull, N, clusters, required, delta, **options
        )
    return TWINS[type(algorithm)](pull, N, clusters, required, delta, **options)


def _twin_of_another_width(
    twin_of: Callable[..., naive.Outcome], factor: float, *arguments: Any, **options: Any
) -> naive.Outcome:
    """Run a round-robin twin with every width multiplied by a factor."""
    loop = naive._round_robin

    def with_factor(run: Any, merging: bool, pulls_per_arm: Any, width: Any) -> naive.Outcome:
        return loop(run, merging, pulls_per_arm, lambda R: factor * width(R))

    with patch.object(naive, "_round_robin", with_factor):
        return twin_of(*arguments, **options)


def roomy_key(seed: int) -> NDArray[np.uint64]:
    """Return a seed's key with room behind it for the generators of one stream at a time:
    `replication_stream(key, i, key[2:])`."""
    return np.concatenate([stream_key(seed), new_generators()])


def opening_order(instance: Instance) -> list[int]:
    """Return the permutation with which the replication begins: of equals, earlier arms rank
    first."""
    arms = np.empty(instance.n_arms, np.int64)
    _open(arms, roomy_key(instance.seed), instance.replication)
    return arms.tolist()


@driver
def _open(arms: NDArray[np.int64], key: NDArray[np.uint64], replication: int) -> State:
    return shuffle(arms, replication_stream(key, replication, key[2:]))


# --------------------------------------------------------------------------------------------------
# Comparing
# --------------------------------------------------------------------------------------------------


def mismatches(instances: Iterable[Instance], one: Twin, other: Twin) -> list[str]:
    """Return a description of every instance on which two ways of running differ."""
    found = []
    for number, instance in enumerate(instances):
        a, b = one(instance), other(instance)
        if a != b:
            task = f"c={instance.clusters} r={instance.required} delta={instance.delta} cap={instance.max_pulls}"
            found.append(
                f"instance {number} ({task}, T={instance.rewards.shape[1]}):\n  {a}\n  {b}"
            )
    return found


# --------------------------------------------------------------------------------------------------
# Fresh rewards
# --------------------------------------------------------------------------------------------------


def fresh(arms: Arms, rng: Random) -> naive.Pull:
    """Return independent rewards of Bernoulli, Gaussian or Categorical arms, from the standard
    library."""
    means = arms.means.tolist()
    if isinstance(arms, Bernoulli):
        return naive.bernoulli(means, rng)
    if isinstance(arms, Gaussian):
        sds = np.broadcast_to(arms.sd, len(means)).tolist()
        return lambda arm: rng.gauss(means[arm], sds[arm])
    assert isinstance(arms, Categorical)
    values, weights = arms.values.tolist(), arms.probabilities.tolist()
    return lambda arm: float(rng.choices(values, weights[arm])[0])


def twin_pulls(
    algorithm: Algorithm,
    problem: Problem,
    delta: float,
    replications: int,
    seed: int,
    width: float = 1.0,
) -> NDArray[np.int64]:
    """Return the pulls of independent runs of the twin, (replications,); `width` as in `twin`."""
    rng = Random(seed)
    pull = fresh(problem.arms, rng)
    pulls = np.empty(replications, np.int64)
    for run in range(replications):
        order = rng.sample(range(problem.n_arms), problem.n_arms)
        pulls[run] = twin(
            algorithm, pull, problem.clusters, problem.required, delta, width, order=order
        ).pulls
    return pulls


def standard_errors_apart(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> float:
    """Return by how many standard errors the means of two samples differ."""
    variance = ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs)
    assert variance > 0.0  # else the instance says nothing
    return float(abs(ours.mean() - theirs.mean()) / math.sqrt(variance))
