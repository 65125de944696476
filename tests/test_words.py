"""Words of 64 rounds, replayed: a law that is recorded like `Recorded` but also hands out its pulls as words.

Through it the walks that only Bernoulli arms take (near the threshold, for two arms and for more) are held against the
literal twin bit for bit.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
import replay
from numpy.typing import NDArray
from replay import DEFAULT_SKIP_ERROR, Instance, mismatches, run_kernel, run_twin, vanilla_length

from rai_sim import Recorded, Vanilla
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements, kernel
from rai_sim.engine.streams import State


class BitsLaw(NamedTuple):
    """Sums of the first t rewards (N, T + 1), means (N,), rewards as bits (N, T / 64 + 2), variance proxy."""

    prefix: NDArray[np.float64]
    mean: NDArray[np.float64]
    bits: NDArray[np.uint64]
    variance_proxy: float


@implements(operations.one_pull, BitsLaw)
def _one_pull(law: BitsLaw, arm: int, total: float, pulls: int, state: State) -> tuple[float, State]:
    return law.prefix[arm, pulls + 1], state


@implements(operations.more_pulls, BitsLaw)
def _more_pulls(law: BitsLaw, arm: int, total: float, pulls: int, k: int, state: State) -> tuple[float, State]:
    return law.prefix[arm, pulls + k], state


@implements(operations.pulls_available, BitsLaw)
def _pulls_available(law: BitsLaw) -> int:
    return law.prefix.shape[1] - 1


@implements(operations.spread, BitsLaw)
def _spread(law: BitsLaw) -> float:
    return 1.0


@implements(operations.mean_of, BitsLaw)
def _mean_of(law: BitsLaw, arm: int) -> float:
    return float(law.mean[arm])


@implements(operations.unit, BitsLaw)
def _unit(law: BitsLaw) -> float:
    return 1.0


@implements(operations.proxy, BitsLaw)
def _proxy(law: BitsLaw) -> float:
    return law.variance_proxy


@implements(operations.has_words, BitsLaw)
def _has_words(law: BitsLaw) -> bool:
    return True


@implements(operations.word, BitsLaw)
def _word(law: BitsLaw, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    return _bits_from(law.bits, arm, pulls), state


@kernel
def _bits_from(bits: NDArray[np.uint64], arm: int, start: int) -> np.uint64:
    place, shift = start >> 6, start & 63
    word = bits[arm, place] >> np.uint64(shift)
    if shift:
        word |= bits[arm, place + 1] << np.uint64(64 - shift)
    return word


def bits_law(arms: Recorded) -> BitsLaw:
    """Return the law that replays 0/1 rewards with words."""
    N, T = arms.rewards.shape
    padded = np.zeros((N, (T // 64 + 2) * 64), np.uint8)
    padded[:, :T] = arms.rewards
    bits = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    prefix = np.concatenate([np.zeros((N, 1)), np.cumsum(arms.rewards, axis=1)], axis=1)
    return BitsLaw(prefix, arms.means.copy(), bits, np.inf)


def draw_instances(seed: int, count: int, gaps: tuple[float, float], most_arms: int) -> list[Instance]:
    """Draw instances with rewards 0 and 1."""
    rng = np.random.default_rng(seed)
    drawn: list[Instance] = []
    while len(drawn) < count:
        instance = replay.draw_instance(rng, vanilla_length, gaps, most_arms=most_arms, twins=0.1)
        if np.isin(instance.rewards, (0.0, 1.0)).all():
            drawn.append(instance)
    return drawn


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let recordings be replayed by the law above."""
    monkeypatch.setattr(Recorded, "kernel_law", bits_law)


@pytest.mark.parametrize("algorithm", [Vanilla(merging=True), Vanilla(merging=False)], ids=str)
@pytest.mark.parametrize("most_arms", [2, 10])
def test_walks_agree_with_the_twin(algorithm: Vanilla, most_arms: int) -> None:
    """skip_error = 0: 200 runs each agree in pulls, rounds, outputs and settle rounds."""
    drawn = draw_instances(11 + most_arms + algorithm.merging, 200, (0.15, 0.6), most_arms)
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.parametrize("most_arms", [2, 10])
def test_walks_and_jumps_agree_with_the_twin(most_arms: int) -> None:
    """The default budget on samples of known means: 100 runs each; one differs with probability 1e-10 at most."""
    drawn = draw_instances(17 + most_arms, 100, (0.08, 0.3), most_arms)
    kernel_run = partial(run_kernel, Vanilla(), skip_error=DEFAULT_SKIP_ERROR, variance_proxy=0.25)
    assert mismatches(drawn, kernel_run, partial(run_twin, Vanilla())) == []


def test_a_wrong_word_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that start a pull late make at least a quarter of 60 runs differ: the walks are really taken."""

    def late(arms: Recorded) -> BitsLaw:
        law = bits_law(arms)
        shifted = (law.bits[:, :-1] >> np.uint64(1)) | (law.bits[:, 1:] << np.uint64(63))
        return law._replace(bits=np.concatenate([shifted, law.bits[:, -1:]], axis=1))

    monkeypatch.setattr(Recorded, "kernel_law", late)
    drawn = draw_instances(23, 60, (0.15, 0.6), 10)
    wrong: Any = mismatches(drawn, partial(run_kernel, Vanilla()), partial(run_twin, Vanilla()))
    assert len(wrong) >= 15
