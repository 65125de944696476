"""Up to sixteen arms side by side, one a lane: vectors of doubles, for kernels that look at all
arms of a round at once.

As in `rai_sim.engine.vectors`, operations are written in LLVM's own vector types, vectors live in
memory, functions take their addresses, and a mask is a uint64 with one bit a lane, lane 0 lowest.
Every operation is that of IEEE arithmetic, lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rai_sim.engine.vectors import _called, _constant, _everywhere, _load, _shuffled, _store

ARMS = 16
#: From one vector to the next, in bytes.
VECTOR = np.uint64(8 * ARMS)
#: Rows of an arm's numbers, one vector a row: n_a, sum of rewards, empirical mean, LCB, UCB, 1 / (2
#: n_a); then what the last four will be in the next round, if the arm is not pulled in this one, and
#: if it is.
TAKEN, TOTAL, MEAN, LOW, HIGH, _RECIPROCAL, _IF_NOT_PULLED, _IF_PULLED = 0, 1, 2, 3, 4, 5, 6, 10
ROWS = 14
#: n_a for which quotients are right.
MOST_TAKEN = 2.0**48
_DOUBLE, _WORD = ir.DoubleType(), ir.IntType(64)
_DOUBLES, _WORDS = ir.VectorType(_DOUBLE, ARMS), ir.VectorType(_WORD, ARMS)


def _chosen(builder: Any, mask: Any) -> Any:
    """Return a mask as a vector of truth values."""
    return builder.bitcast(
        builder.trunc(mask, ir.IntType(ARMS)), ir.VectorType(ir.IntType(1), ARMS)
    )


def _as_mask(builder: Any, truths: Any) -> Any:
    return builder.zext(builder.bitcast(truths, ir.IntType(ARMS)), _WORD)


def _row(row: int) -> int:
    """Return how far behind the first a row begins, in bytes."""
    return 8 * ARMS * row


def _fuses(context: Any) -> bool:
    """Whether the processor multiplies and adds in one operation; what has no `fma` feature has it
    always, but x86."""
    triple, _, features = context.codegen().magic_tuple()
    return not triple.startswith("x86") or "+fma" in features.split(",")


def _quotient(context: Any, builder: Any, a: Any, b: Any, reciprocal: Any) -> Any:
    """Return a / b, rounded as a division is, given 1 / b so rounded; b is an integer below 2^50.

    A division keeps the processor waiting longer than what this takes, where products and sums can
    be rounded once. *Proof* for a > 0; if a = 0, all is 0. Let u = 2^-53, y = (1 + e) / b the
    reciprocal and q = a y as computed, so |e| <= u and q is within a factor of 1 + 2 u + u^2 of
    a / b. As y <= 1, q <= a, and a is a multiple of q's last digit; so is the remainder a - b q,
    and it is less than 2^52 of them, so it is computed exactly; and q + (a - b q) y = a / b + (a /
    b - q) e is off a / b by less than (1 + u) 2^-105 of it. Rounded once, it is a / b rounded
    unless a number halfway between two doubles, M 2^f with 2^53 < M < 2^54 odd, is as close to
    a / b. But b M 2^f is not a, as it has 54 digits or more, and differs from it by 2^f at least,
    or by a's last digit if that is less: by nearly 2^-104 of a. []
    """
    if not _fuses(context):
        return builder.fdiv(a, b)
    q = builder.fmul(a, reciprocal)
    return _called(builder, "fma", _called(builder, "fma", builder.fneg(q), b, a), reciprocal, q)


def _bounds(
    context: Any, builder: Any, mean: Any, log_term: Any, twice: Any, reciprocal: Any
) -> tuple[Any, Any]:
    """Return mean -+ sqrt(log_term / twice), as the operations of the definition give it."""
    radius = _called(builder, "sqrt", _quotient(context, builder, log_term, twice, reciprocal))
    return builder.fsub(mean, radius), builder.fadd(mean, radius)


@intrinsic  # type: ignore[untyped-decorator]  # to mypy, Numba is untyped
def _first_bounds(typing_context: Any, at: Any, log_term: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at, log_term = arguments
        mean, taken = (_load(builder, at, _DOUBLES, _row(row)) for row in (MEAN, TAKEN))
        twice = builder.fadd(taken, taken)
        reciprocal = builder.fdiv(_constant(_DOUBLES, [1.0] * ARMS), twice)
        log_terms = _everywhere(builder, log_term, _DOUBLES)
        low, high = _bounds(context, builder, mean, log_terms, twice, reciprocal)
        for row, value in ((LOW, low), (HIGH, high), (_RECIPROCAL, reciprocal)):
            _store(builder, value, at, _row(row))
        return context.get_dummy_value()

    return types.void(types.uint64, types.float64), generate


#: first_bounds(at, log_term): write LCB and UCB of all lanes, whose arms have been pulled, and what
#: `look_ahead_8` needs beside them.
first_bounds = cast(Callable[[np.uint64, float], None], _first_bounds)


def _look_ahead(lanes: int) -> Any:
    kind, words_kind = ir.VectorType(_DOUBLE, lanes), ir.VectorType(_WORD, lanes)
    one, none = (_constant(kind, [number] * lanes) for number in (1.0, 0.0))
    lowest, no_bits = (_constant(words_kind, [number] * lanes) for number in (1, 0))

    @intrinsic  # type: ignore[untyped-decorator]
    def look_ahead(typing_context: Any, at: Any, words: Any, log_term: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            at, words, log_term = arguments
            log_terms = _everywhere(builder, log_term, kind)
            taken, total, mean, reciprocal = (
                _load(builder, at, kind, _row(row)) for row in (TAKEN, TOTAL, MEAN, _RECIPROCAL)
            )
            bits = builder.and_(_load(builder, words, words_kind), lowest)
            rewards = builder.select(builder.icmp_unsigned("!=", bits, no_bits), one, none)
            more = builder.fadd(taken, one)
            twice = builder.fadd(more, more)
            then = builder.fdiv(one, twice)
            new_mean = _quotient(
                context, builder, builder.fadd(total, rewards), more, builder.fadd(then, then)
            )
            for first, m, two_n, y in (
                (_IF_NOT_PULLED, mean, builder.fadd(taken, taken), reciprocal),
                (_IF_PULLED, new_mean, twice, then),
            ):
                found = m, *_bounds(context, builder, m, log_terms, two_n, y), y
                for row, value in enumerate(found, first):
                    _store(builder, value, at, _row(row))
            return context.get_dummy_value()

        return types.void(types.uint64, types.uint64, types.float64), generate

    return look_ahead


#: look_ahead_4(at, words, log_term), and of eight lanes: write what mean, LCB and UCB will be in the
#: next round, whose logarithm is given, for either case. `words` has the lanes' next rewards.
look_ahead_4 = cast(Callable[[np.uint64, np.uint64, float], None], _look_ahead(4))
look_ahead_8 = cast(Callable[[np.uint64, np.uint64, float], None], _look_ahead(8))


@intrinsic  # type: ignore[untyped-decorator]
def _pull_lanes(typing_context: Any, at: Any, words: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at, words, mask = arguments
        chosen, bits = _chosen(builder, mask), _load(builder, words, _WORDS)
        # No choice between old and new values of the same place, which would become a masked store:
        # a load that follows has to wait for it.
        steps = builder.zext(chosen, _WORDS)
        rewards = builder.uitofp(builder.and_(bits, steps), _DOUBLES)
        pulls = builder.uitofp(steps, _DOUBLES)
        for row, more in ((TAKEN, pulls), (TOTAL, rewards)):
            old = _load(builder, at, _DOUBLES, _row(row))
            _store(builder, builder.fadd(old, more), at, _row(row))
        for row in range(_IF_PULLED - _IF_NOT_PULLED):
            kept, new = (
                _load(builder, at, _DOUBLES, _row(first + row))
                for first in (_IF_NOT_PULLED, _IF_PULLED)
            )
            _store(builder, builder.select(chosen, new, kept), at, _row(MEAN + row))
        _store(builder, builder.lshr(bits, steps), words)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), generate


#: pull_lanes(at, words, mask): pull the lanes of the mask, each by the lowest bit of its word, which
#: is taken; the numbers of all lanes are then those that were looked ahead for the next round.
pull_lanes = cast(Callable[[np.uint64, np.uint64, np.uint64], None], _pull_lanes)


@intrinsic  # type: ignore[untyped-decorator]
def _used_up(typing_context: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = ir.Constant(_WORDS, [ir.Constant(_WORD, 1)] * ARMS)
        return _as_mask(
            builder, builder.icmp_unsigned("==", _load(builder, arguments[0], _WORDS), one)
        )

    return types.uint64(types.uint64), generate


#: Return the lanes whose word is 1, the mark that ends it.
used_up = cast(Callable[[np.uint64], np.uint64], _used_up)


def _extreme(builder: Any, values: Any, mask: Any, order: str, start: float) -> Any:
    """Return the extreme of the values in the lanes of a mask, `start` if there are none, and the
    lanes of the mask that attain it."""
    value = builder.select(
        _chosen(builder, mask), values, _everywhere(builder, ir.Constant(_DOUBLE, start), _DOUBLES)
    )
    lanes = ARMS
    while lanes > 1:
        lanes //= 2
        left = _shuffled(builder, value, value, range(lanes))
        right = _shuffled(builder, value, value, range(lanes, 2 * lanes))
        value = builder.select(builder.fcmp_ordered(order, left, right), left, right)
    value = builder.extract_element(value, ir.Constant(ir.IntType(32), 0))
    equal = builder.fcmp_ordered("==", values, _everywhere(builder, value, _DOUBLES))
    return value, builder.and_(_as_mask(builder, equal), mask)


_EXTREME = types.Tuple((types.float64, types.uint64))


def _reduction(order: str, start: float) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def extreme(typing_context: Any, at: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found = _extreme(
                builder, _load(builder, arguments[0], _DOUBLES), arguments[1], order, start
            )
            return context.make_tuple(builder, signature.return_type, found)

        return _EXTREME(types.uint64, types.uint64), generate

    return extreme


#: Return the least (greatest) value in the lanes of a mask, inf (-inf) if it is empty, and the
#: lanes of the mask that attain it.
least_in = cast(
    Callable[[np.uint64, np.uint64], tuple[float, np.uint64]], _reduction("<", float("inf"))
)
greatest_in = cast(
    Callable[[np.uint64, np.uint64], tuple[float, np.uint64]], _reduction(">", float("-inf"))
)


def _comparison(order: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def compare(typing_context: Any, at: Any, mask: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = _everywhere(builder, arguments[2], _DOUBLES)
            truths = builder.fcmp_ordered(order, _load(builder, arguments[0], _DOUBLES), value)
            return builder.and_(_as_mask(builder, truths), arguments[1])

        return types.uint64(types.uint64, types.uint64, types.float64), generate

    return compare


#: Return the lanes of a mask whose value is at most (at least) the given one.
lanes_at_most = cast(Callable[[np.uint64, np.uint64, float], np.uint64], _comparison("<="))
lanes_at_least = cast(Callable[[np.uint64, np.uint64, float], np.uint64], _comparison(">="))


@intrinsic  # type: ignore[untyped-decorator]
def _least_gap(typing_context: Any, low: Any, high: Any, mask: Any, L: Any, U: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at_low, at_high, mask, L, U = arguments
        by_least = builder.fsub(
            _load(builder, at_high, _DOUBLES), _everywhere(builder, L, _DOUBLES)
        )
        by_greatest = builder.fsub(
            _everywhere(builder, U, _DOUBLES), _load(builder, at_low, _DOUBLES)
        )
        gap = builder.select(
            builder.fcmp_ordered(">", by_least, by_greatest), by_least, by_greatest
        )
        return context.make_tuple(
            builder, signature.return_type, _extreme(builder, gap, mask, "<", float("inf"))
        )

    return _EXTREME(
        types.uint64, types.uint64, types.uint64, types.float64, types.float64
    ), generate


#: least_gap(low, high, mask, L, U): return the least max(high - L, U - low) in the lanes of a mask,
#: and the lanes that attain it.
least_gap = cast(
    Callable[[np.uint64, np.uint64, np.uint64, float, float], tuple[float, np.uint64]], _least_gap
)
