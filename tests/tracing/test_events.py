"""Events: when arms are settled and clusters merged, as the literal twin has it, and how it is
told."""

import math
import time

import naive
import numpy as np
import pytest

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.support.columns import cells
from rai_sim.tracing.events import Event, event_columns

#: Clusters 1 and 2 have what they were asked for before their second arms, which are close, are
#: told apart; cluster 3 keeps the run going.
MEANS, CLUSTERS, REQUIRED = (1.0, 0.75, 0.7, 0.4, 0.1, 0.0), (2, 2, 1, 1), (1, 1, 1, 0)


@pytest.mark.parametrize("merging", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_settlements_and_merges_are_the_twins(merging: bool, seed: int) -> None:
    """On recorded rewards: rounds, pulls, means, what is named for which cluster, what is
    merged."""
    rewards = (np.random.default_rng(seed).random((6, 8000)) < np.array(MEANS)[:, None]) * 1.0
    problem = rai.Problem(rai.Recorded(rewards, MEANS), CLUSTERS, REQUIRED)
    trace = rai.trace(problem, rai.Vanilla(merging), 0.1, seed=seed)
    twin = naive.vanilla(
        naive.replay(rewards.tolist()), 6, CLUSTERS, REQUIRED, 0.1, order=range(6), merging=merging
    )
    assert twin.finished
    settled = [event for event in trace.events if event.kind == "settled"]
    assert {event.arm: event.round for event in settled} == twin.settled
    for event in settled:
        assert event.arm is not None
        assert event.arm_pulls == event.round == twin.counts[event.arm]
        assert event.mean == rewards[event.arm, : event.round].mean()
    for event in trace.events:
        assert event.pulls == sum(min(event.round, count) for count in twin.counts)
    named = [event for event in settled if event.representative]
    named.sort(key=lambda event: event.cluster)
    assert tuple(event.arm for event in named) == twin.representatives == (0, 3, 4)
    assert [event.cluster for event in named] == [1, 2, 3]
    merged = [event for event in trace.events if event.kind == "merged"]
    assert [(event.round, event.cluster - 1) for event in merged] == list(twin.merges)
    assert [event.where for event in merged] == ["clusters 1+2"] * merging
    later = {event.arm: event.where for event in settled if event.arm in (1, 2)}
    assert set(later.values()) <= ({"clusters 1+2"} if merging else {"cluster 1", "cluster 2"})
    assert bool(later) or not merging


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [(1, 1, "cluster 1"), (2, 3, "clusters 2+3"), (4, 9, "clusters 4-9")],
)
def test_events_in_words(first: int, last: int, words: str) -> None:
    """One cluster, two that were merged, a row of them."""
    assert str(Event("merged", 3, 30, first, last)) == f"{words} merged"
    assert str(Event("settled", 3, 30, first, last, 7)) == f"arm 7 settled in {words}"
    named = Event("settled", 3, 30, first, last, 7, representative=True)
    assert str(named) == f"arm 7 settled in {words}, representative"


def test_events_are_shown_with_what_is_known_of_them() -> None:
    """A merge has no arm, so no mean; names stand for arms."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.5]).with_names(["Stalker", "Solaris"]))
    keys = ("round", "pulls", "event", "mean", "radius", "arm_pulls")
    columns = event_columns(problem).pick(*keys)
    settled = Event("settled", 1_000, 2_000, 1, 1, 0, 0.91234, 0.05, 1_000, True)
    assert [cell.text for cell in cells(columns, settled)] == [
        "1,000",
        "2,000",
        "Stalker settled in cluster 1, representative",
        "0.9123",
        "0.0500",
        "1,000",
    ]
    near = event_columns(rai.best_arm(rai.Bernoulli([0.50005, 0.5]))).pick("mean", "radius")
    told = Event("settled", 9, 18, 1, 1, 0, 0.50005, 0.00002, 9, True)
    assert [cell.text for cell in cells(near, told)] == ["0.5000500", "0.0000200"]
    merged = Event("merged", 1_000, 2_000, 1, 2)
    assert [cell.text for cell in cells(columns, merged)] == [
        "1,000",
        "2,000",
        "clusters 1+2 merged",
        "",
        "",
        "",
    ]
    bare = Event("settled", 1_000, 2_000, 1, 1, 0, 0.91234, math.nan, 1_000, True)
    assert [cell.text for cell in cells(columns, bare)][3:] == ["0.9123", "n/a", "1,000"]


@pytest.mark.parametrize("algorithm", [rai.Vanilla(), rai.Butterscotch()], ids=str)
@pytest.mark.parametrize("rounds", [[2], [100], [2**62], [3, 5, 7]])
def test_events_do_not_depend_on_the_states_asked_for(
    algorithm: Algorithm, rounds: list[int]
) -> None:
    """A merge in round 1, when that round's state is not asked for; and no state is there that was
    not."""
    problem = rai.Problem(rai.Bernoulli([0.55, 0.54, 0.5, 0.49]), (2, 1, 1), (1, 0, 0))
    some, all_states = rai.trace(problem, algorithm, rounds=rounds), rai.trace(problem, algorithm)
    assert some.events == all_states.events
    assert some.events[0].pulls == (4 if algorithm == rai.Vanilla() else 4 * 920)
    assert some.rounds[0] >= min(rounds[0], some.result.rounds[0])
    assert len(some.rounds) <= len(rounds) + 1


def test_a_ranking_of_thousands_is_told_quickly() -> None:
    """10,000 clusters, of which one is asked for an arm: 9,998 merges in round 1 and as many
    settled arms, in seconds."""
    problem = rai.Problem(
        rai.Bernoulli(np.linspace(0.95, 0.05, 10_000)), (1,) * 10_000, (*(0,) * 9_999, 1)
    )
    began = time.perf_counter()
    trace = rai.trace(problem, rai.Butterscotch(), 0.1, 0, max_pulls=200_000_000)
    seconds = time.perf_counter() - began
    merges = [event for event in trace.events if event.arm is None]
    assert len(merges) == 9_998
    assert str(merges[-1]) == "clusters 1-9999 merged"
    assert seconds < 20
