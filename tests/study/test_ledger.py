"""Pieces of a task: which replications are there, and what they add up to."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai_sim.simulation.at_cap import NO_CAP
from rai_sim.simulation.statistics import Aggregate, stretches_of
from rai_sim.study.ledger import Ledger, Piece, Pieces
from rai_sim.study.stopping import looks_within


def test_a_look_is_kept_apart_where_it_is_the_next_best_cut() -> None:
    """Sums that were cut at looks, of a study that wants fewer: the first border beyond its number
    stays one."""
    one, yes = np.ones(363, np.int64), np.ones(363, bool)
    pieces = Pieces(cut=300, looks=False)
    for start, stop in ((305, 363), (0, 256), (256, 305)):
        pieces.add(
            Piece(
                start,
                stop,
                Aggregate.of(one[start:stop], one[start:stop], yes[start:stop], yes[start:stop]),
            )
        )
    assert [(piece.start, piece.stop) for piece in pieces] == [(0, 305), (305, 363)]
    assert pieces.total(300)[0] == 305


def test_pieces_know_their_gaps_and_prefixes() -> None:
    """Disjoint pieces in any order; neighbours are joined except at looks and at the cut."""
    pulls = np.arange(1, 1001)
    yes = np.ones(1000, bool)
    pieces = Pieces(cut=90)
    for start, stop in (
        (500, 600),
        (0, 90),
        (90, 100),
        (256, 300),
        (100, 256),
        (300, 305),
        (305, 363),
    ):
        pieces.add(
            Piece(
                start,
                stop,
                Aggregate.of(
                    pulls[start:stop], pulls[start:stop], yes[start:stop], yes[start:stop]
                ),
            )
        )
    assert [(piece.start, piece.stop) for piece in pieces] == [
        (0, 90),
        (90, 256),
        (256, 305),
        (305, 363),
        (500, 600),
    ]
    assert pieces.gaps(0, 700) == [(363, 500), (600, 700)]
    assert pieces.gaps(100, 300) == []
    assert pieces.gaps(550, 650) == [(600, 650)]
    assert [
        None if (sums := pieces.prefix(n)) is None else sums.pulls_sum
        for n in (90, 256, 305, 363, 300, 600)
    ] == [sum(range(1, 91)), sum(range(1, 257)), sum(range(1, 306)), sum(range(1, 364)), None, None]
    assert pieces.total()[0] == 363
    assert pieces.total(200)[0] == 256
    assert pieces.replications == 463
    assert pieces.cuts_within(0, 400) == [0, 90, 256, 305, 363, 400]


def piece(start: int, stop: int) -> Piece:
    """Return replications of which number i took i + 1 pulls."""
    pulls, yes = np.arange(start + 1, stop + 1), np.ones(stop - start, bool)
    return Piece(start, stop, Aggregate.of(pulls, pulls, yes, yes))


@pytest.mark.landing
@given(
    borders=st.sets(st.integers(0, 700), min_size=2, max_size=14),
    keep=st.integers(0, 2**13 - 1),
    order=st.randoms(use_true_random=False),
    cut=st.none() | st.integers(1, 700),
    looks=st.booleans(),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_pieces_are_the_set_of_their_replications(
    borders: set[int], keep: int, order: Any, cut: int | None, looks: bool
) -> None:
    """Added in any order: gaps, numbers and sums are those of a set, and at looks and at the cut
    the sum of what lies before is known."""
    ranges = [one for k, one in enumerate(pairwise(sorted(borders))) if keep >> k & 1]
    order.shuffle(ranges)
    pieces, there = Pieces(cut, looks), set[int]()
    for start, stop in ranges:
        for one in pairwise(pieces.cuts_within(start, stop)):
            pieces.add(piece(*one))
        there |= set(range(start, stop))
        held = [set(range(one.start, one.stop)) for one in pieces]
        assert sum(map(len, held)) == len(there) == pieces.replications
        assert set[int]().union(*held) == there
        whole = next(n for n in range(702) if n not in there)
        known = {one.stop for one in pieces if one.stop <= whole}
        for n in range(1, 702):
            seen = pieces.prefix(n)
            assert (seen is not None) == (n in known)
            assert seen is None or seen.pulls_sum == n * (n + 1) // 2
        assert pieces.total()[0] == whole
        wanted = {*(looks_within(0, whole) if looks else ()), *([cut] if cut else ())}
        assert {n for n in wanted if 0 < n <= whole} <= known
    for start, stop in pairwise(sorted({0, 350, 701, *borders})):
        missing = {n for at, end in pieces.gaps(start, stop) for n in range(at, end)}
        assert missing == set(range(start, stop)) - there


def test_a_ledger_hands_its_cut_to_each_task() -> None:
    """A task of which nothing is there has pieces all the same, none."""
    ledger = Ledger(cut=10, looks=False)
    assert ledger["a"].gaps(0, 20) == [(0, 20)]
    for start, stop in ((0, 10), (10, 20)):
        ledger["a"].add(piece(start, stop))
    assert [(one.start, one.stop) for one in ledger["a"]] == [(0, 10), (10, 20)]
    assert ledger["b"].replications == 0
    assert (ledger.cut, list(ledger)) == (10, ["a", "b"])


@pytest.mark.parametrize("most", [300, 2**40], ids=["short sums", "long sums"])
def test_many_ranges_are_added_as_each_by_itself(most: int) -> None:
    """Unfinished ones, none finished, and what is right at a cap included; neighbours are joined."""
    rng = np.random.default_rng(most)
    ranges = [("a", 0, 40), ("b", 7, 9), ("a", 40, 60), ("c", 0, 300)]
    starts = np.array([0, 40, 42, 62])
    pulls = rng.integers(1, most, 362)
    finished = rng.random(362) < 0.8
    finished[40:42] = False
    correct, right = finished & (rng.random(362) < 0.7), (rng.random(362) < 0.5).astype(np.int8)
    right[62:] = NO_CAP
    at_once, one_by_one = Ledger(looks=False), Ledger(looks=False)
    at_once.add(ranges, stretches_of(pulls, pulls, correct, finished, starts, right))
    for (task, start, stop), a in zip(ranges, starts, strict=True):
        rows = slice(a, a + stop - start)
        known = None if task == "c" else right[rows] == 1
        aggregate = Aggregate.of(pulls[rows], pulls[rows], correct[rows], finished[rows], known)
        one_by_one[task].add(Piece(start, stop, aggregate))
    assert list(at_once) == list(one_by_one) == ["a", "b", "c"]
    for task, pieces in at_once.items():
        assert list(pieces) == list(one_by_one[task])
    assert [len(list(pieces)) for pieces in at_once.values()] == [1, 1, 1]
