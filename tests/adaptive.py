"""Kernels of the algorithms that pull as they like beside their literal twins, on recordings: the
opening permutation, the uniforms and the shares are handed to the twin, all else it finds itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import naive
import naive_adaptive
import numpy as np
from numpy.typing import NDArray
from replay import Instance, Run, draw_instance, opening_order, run_kernel

from rai_sim import BatchedTrackAndStop, Problem, TopTwo
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.stopping.run import new_answer
from rai_sim.algorithms.track_and_stop.shares import find_shares, new_game
from rai_sim.engine.blocks import Setting
from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.stop import new_flag
from rai_sim.engine.streams import (
    new_generators,
    replication_stream,
    shuffle,
    stream_key,
    uniform,
)

#: Both algorithms with both thresholds.
ALL: list[TopTwo | BatchedTrackAndStop] = [
    kind(threshold=threshold)
    for kind in (TopTwo, BatchedTrackAndStop)
    for threshold in ("pairs", "gk16-unproven")
]


def setting_of(problem: Problem, delta: float = 0.1, max_pulls: int = -1) -> Setting:
    """Return what a block of a problem is run with."""
    return Setting(
        sizes=np.array(problem.clusters, np.int64),
        required=np.array(problem.required, np.int64),
        cluster_of=np.repeat(np.arange(problem.n_clusters), problem.clusters),
        delta=delta,
        skip_error=0.0,
        max_pulls=max_pulls,
        key=stream_key(3),
    )


def instances(seed: int, count: int, most_arms: int = 5, **options: Any) -> list[Instance]:
    """Draw instances of continuous rewards, among which nothing is ever tied."""
    rng = np.random.default_rng(seed)
    told: dict[str, Any] = {"kinds": ("uniform",), "twins": 0.0} | options
    return [
        draw_instance(rng, _length, (0.2, 0.8), most_arms=most_arms, **told) for _ in range(count)
    ]


def wide(seed: int, count: int) -> list[Instance]:
    """Draw instances in which arms of the leader's own cluster lie near the border, so that
    alternatives move them."""
    rng = np.random.default_rng(seed)
    means = np.array([0.9, 0.5, 0.35, 0.2])
    spread = np.minimum(means, 1.0 - means)
    found = []
    for replication in range(count):
        noise = rng.uniform(-1.0, 1.0, (4, 2000))
        rewards = means[:, None] + spread[:, None] * noise
        found.append(Instance(rewards, means, (2, 2), (1, 0), 0.1, None, 1.0, seed, replication))
    return found


def _length(gap: float, N: int, delta: float) -> float:
    return 40.0 + 12.0 / gap**2


def uniforms_of(instance: Instance) -> Iterator[float]:
    """Yield the uniforms that follow the opening permutation in a replication's stream."""
    found = np.empty(100_000)
    _draw(
        found,
        np.empty(instance.n_arms, np.int64),
        stream_key(instance.seed),
        instance.replication,
        new_generators(),
    )
    yield from found.tolist()


@driver
def _draw(
    found: NDArray[np.float64],
    arms: NDArray[np.int64],
    key: NDArray[np.uint64],
    replication: int,
    generators: NDArray[np.uint64],
) -> None:
    state = replication_stream(key, replication, generators)
    state = shuffle(arms, state)
    for j in range(found.size):
        found[j], state = uniform(state)


def shares_of(instance: Instance) -> naive_adaptive.Shares:
    """Return what finds shares as the kernel does, from one round to the next."""
    sizes, required = np.array(instance.clusters), np.array(instance.required)
    answer, game = new_answer(sizes, required), new_game(instance.n_arms, int(required.sum()))
    game.shares[:] = 1.0 / instance.n_arms

    def shares(means: list[float], named: list[int]) -> list[float]:
        game.named[:] = named
        game.others[:] = answer.others[np.searchsorted(answer.asked, named)]
        exposed(find_shares)(game, np.array(means), new_flag())
        found: list[float] = game.shares.tolist()
        return found

    return shares


def run_twin(algorithm: Algorithm, instance: Instance, **changes: Any) -> Run:
    """Replay an instance through the literal twin of an algorithm, made wrong by `changes`."""
    told = {
        **dataclasses.asdict(algorithm),  # type: ignore[call-overload]
        "order": opening_order(instance),
        "max_pulls": instance.max_pulls,
    }
    twin: Callable[..., naive.Outcome]
    if isinstance(algorithm, TopTwo):
        twin, told["uniforms"] = naive_adaptive.top_two, uniforms_of(instance)
    else:
        assert isinstance(algorithm, BatchedTrackAndStop)
        twin, told["shares"] = naive_adaptive.track_and_stop, shares_of(instance)
    pull = naive.replay(instance.rewards.tolist())
    try:
        outcome = twin(
            pull,
            instance.n_arms,
            instance.clusters,
            instance.required,
            instance.delta,
            **(told | changes),
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


def different(algorithm: Algorithm, drawn: list[Instance], **changes: Any) -> list[str]:
    """Return the instances on which kernel and twin differ."""
    found = []
    for number, instance in enumerate(drawn):
        ours, theirs = run_kernel(algorithm, instance), run_twin(algorithm, instance, **changes)
        if ours != theirs:
            found.append(
                f"{number}: c={instance.clusters} r={instance.required}\n {ours}\n {theirs}"
            )
    return found
