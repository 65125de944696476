"""Rewards that were drawn ahead of the pulls: how they are kept, and the law of arms of which some
are known.

An arm's rewards X_1, X_2, .. are independent of all else, so they may be drawn before they are pulled,
as long as what was drawn binds: no law changes. Of those ahead of an arm's n pulls *pieces* are kept,
one after the other, the first beginning at n. Of a piece the sum at its end is known or, if it is no
longer than a word, each reward. Given the pieces, rewards of different pieces are independent, those of
a piece of which the sum alone is known are exchangeable, and what lies beyond the last is new.

`AheadLaw` is the law under which an arm with pieces gives what they hold. What is pulled is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as operations
from rai_sim.engine.jit import for_type, gives_words, implements, inlined, kernel
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State

#: Pieces of an arm that there is room for.
ROOM = 2048
_0, _1 = np.uint64(0), np.uint64(1)


class Pieces(NamedTuple):
    """Pieces by the caller's arm index, on stacks; between pulls the first piece is on top."""

    held: NDArray[np.int64]  # (N,)
    start: NDArray[np.int64]  # (N, ROOM) the arm's pulls before the piece, and at its end
    end: NDArray[np.int64]
    before: NDArray[np.float64]  # (N, ROOM) its sums there
    after: NDArray[np.float64]
    bits: NDArray[np.uint64]  # (N, ROOM) the rewards, the first lowest, where they are known
    known: NDArray[np.bool_]  # (N, ROOM) whether they are


@gives_words
class AheadLaw(NamedTuple):
    """A law of rewards 0 and 1 that gives words and sums between known ones, and what is known of its
    arms."""

    base: Any
    pieces: Pieces


def new_pieces(N: int) -> Pieces:
    """Allocate; nothing is known."""
    shape = (N, ROOM)
    return Pieces(
        held=np.zeros(N, np.int64),
        start=np.zeros(shape, np.int64),
        end=np.zeros(shape, np.int64),
        before=np.zeros(shape),
        after=np.zeros(shape),
        bits=np.zeros(shape, np.uint64),
        known=np.zeros(shape, np.bool_),
    )


# --------------------------------------------------------------------------------------------------
# Stacks
# --------------------------------------------------------------------------------------------------


@inlined
def push(
    p: Pieces,
    arm: int,
    start: int,
    end: int,
    before: float,
    after: float,
    bits: np.uint64,
    known: bool,
) -> None:
    """Put a piece on top; the caller sees to it that there is room."""
    i = p.held[arm]
    p.start[arm, i], p.end[arm, i] = start, end
    p.before[arm, i], p.after[arm, i] = before, after
    p.bits[arm, i], p.known[arm, i] = bits, known
    p.held[arm] = i + 1


@inlined
def move_top(giver: Pieces, taker: Pieces, arm: int) -> None:
    """Move the top piece to another stack."""
    i = giver.held[arm] - 1
    giver.held[arm] = i
    push(
        taker,
        arm,
        giver.start[arm, i],
        giver.end[arm, i],
        giver.before[arm, i],
        giver.after[arm, i],
        giver.bits[arm, i],
        giver.known[arm, i],
    )


@kernel
def split_sum(base: Any, p: Pieces, arm: int, k: int, state: State) -> State:
    """Cut the top piece, of which the sum alone is known, after k pulls, fewer than it has: the sum
    there is drawn."""
    i = p.held[arm] - 1
    start, before, size = p.start[arm, i], p.before[arm, i], p.end[arm, i] - p.start[arm, i]
    middle, state = operations.sum_between(
        base, arm, before, start, k, p.after[arm, i], size, state
    )
    p.start[arm, i], p.before[arm, i] = start + k, middle
    push(p, arm, start, start + k, before, middle, _0, False)
    return state


@inlined
def split_bits(p: Pieces, arm: int, k: int, taker: Pieces) -> None:
    """Cut the top piece, whose rewards are known, after k pulls, fewer than it has; those go to the
    top of another stack, or of the same."""
    i = p.held[arm] - 1
    start, before, bits = p.start[arm, i], p.before[arm, i], p.bits[arm, i]
    middle = _drop_bits(p, arm, k)
    push(taker, arm, start, start + k, before, middle, bits & lanes(0, k), True)


@inlined
def _drop_bits(p: Pieces, arm: int, k: int) -> float:
    """Drop the first k pulls of the top piece, whose rewards are known; return the sum after them."""
    i = p.held[arm] - 1
    total = p.before[arm, i] + bits_set(p.bits[arm, i] & lanes(0, k))
    p.bits[arm, i] >>= np.uint64(k)
    p.start[arm, i] += k
    p.before[arm, i] = total
    return total


@kernel
def draw_bits(base: Any, p: Pieces, arm: int, state: State) -> State:
    """Draw the rewards of the top piece, 64 at most, of which the sum is known."""
    i = p.held[arm] - 1
    start, end, total, after = p.start[arm, i], p.end[arm, i], p.before[arm, i], p.after[arm, i]
    bits = _0
    for j in range(end - start):
        now = after
        if start + j + 1 < end:
            now, state = operations.sum_between(
                base, arm, total, start + j, 1, after, end - start - j, state
            )
        if now > total:
            bits |= _1 << np.uint64(j)
        total = now
    p.bits[arm, i], p.known[arm, i] = bits, True
    return state


# --------------------------------------------------------------------------------------------------
# The law
# --------------------------------------------------------------------------------------------------


def _never(law: Any, arm: int) -> bool:
    return False


@for_type(AheadLaw, _never)
def foreseen(law: Any, arm: int) -> bool:
    """Whether anything of the arm's rewards is known: then its pulls are no sample of its law."""
    return law.pieces.held[arm] > 0


def _nothing(law: Any) -> None:
    return None


@for_type(AheadLaw, _nothing)
def forget(law: Any) -> None:
    """Forget what is known, before a replication begins."""
    for arm in range(law.pieces.held.size):
        law.pieces.held[arm] = 0


@implements(operations.more_pulls, AheadLaw)
def _more_pulls(
    law: AheadLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    p, base = law.pieces, law.base
    while k > 0 and p.held[arm] > 0:
        i = p.held[arm] - 1
        size = p.end[arm, i] - pulls
        if size <= k:
            total = p.after[arm, i]
            p.held[arm] = i
            pulls += size
            k -= size
        elif p.known[arm, i]:
            return _drop_bits(p, arm, k), state
        else:
            total, state = operations.sum_between(
                base, arm, total, pulls, k, p.after[arm, i], size, state
            )
            p.start[arm, i], p.before[arm, i] = pulls + k, total
            return total, state
    if k > 0:
        total, state = operations.more_pulls(base, arm, total, pulls, k, state)
    return total, state


@implements(operations.one_pull, AheadLaw)
def _one_pull(
    law: AheadLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    if law.pieces.held[arm] > 0:
        total, state = operations.more_pulls(law, arm, total, pulls, 1, state)
    else:
        total, state = operations.one_pull(law.base, arm, total, pulls, state)
    return total, state


@implements(operations.word, AheadLaw)
def _word(law: AheadLaw, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    """Only of an arm of which nothing is known: a word may be used in part, and asked for again."""
    return operations.word(law.base, arm, pulls, state)


@implements(operations.mean_of, AheadLaw)
def _mean_of(law: AheadLaw, arm: int) -> float:
    return operations.mean_of(law.base, arm)


@implements(operations.handy, AheadLaw)
def _handy(law: AheadLaw, k: int) -> int:
    return k


def _pass_on(operation: Callable[..., Any]) -> None:
    """Have an operation of the law alone answered by the law beneath."""

    def answer(law: AheadLaw) -> Any:
        return operation(law.base)

    implements(operation, AheadLaw)(answer)


for _operation in (
    operations.pulls_available,
    operations.spread,
    operations.unit,
    operations.proxy,
    operations.has_words,
):
    _pass_on(_operation)
