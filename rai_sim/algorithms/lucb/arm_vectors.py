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
from numba.core import cgutils
from numba.extending import intrinsic

from rai_sim.engine.vectors import _everywhere, _load, _shuffled, _store

ARMS = 16
#: From one vector to the next, in bytes.
VECTOR = np.uint64(8 * ARMS)
_DOUBLE, _WORD = ir.DoubleType(), ir.IntType(64)
_DOUBLES, _WORDS = ir.VectorType(_DOUBLE, ARMS), ir.VectorType(_WORD, ARMS)
_HALF = ir.VectorType(_DOUBLE, ARMS // 2)


def _chosen(builder: Any, mask: Any) -> Any:
    """Return a mask as a vector of truth values."""
    return builder.bitcast(
        builder.trunc(mask, ir.IntType(ARMS)), ir.VectorType(ir.IntType(1), ARMS)
    )


def _as_mask(builder: Any, truths: Any) -> Any:
    return builder.zext(builder.bitcast(truths, ir.IntType(ARMS)), _WORD)


@intrinsic  # type: ignore[untyped-decorator]  # to mypy, Numba is untyped
def _half_bounds(
    typing_context: Any, taken: Any, mean: Any, low: Any, high: Any, log_term: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at_taken, at_mean, at_low, at_high, log_term = arguments
        root = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_HALF, [_HALF]), f"llvm.sqrt.v{ARMS // 2}f64"
        )
        twice = builder.fmul(
            _everywhere(builder, ir.Constant(_DOUBLE, 2.0), _HALF), _load(builder, at_taken, _HALF)
        )
        radius = builder.call(root, [builder.fdiv(_everywhere(builder, log_term, _HALF), twice)])
        means = _load(builder, at_mean, _HALF)
        _store(builder, builder.fsub(means, radius), at_low)
        _store(builder, builder.fadd(means, radius), at_high)
        return context.get_dummy_value()

    return types.void(
        types.uint64, types.uint64, types.uint64, types.uint64, types.float64
    ), generate


#: half_bounds(taken, mean, low, high, log_term): write mean -+ sqrt(log_term / (2 taken)) of eight
#: lanes at `low` and `high`.
half_bounds = cast(
    Callable[[np.uint64, np.uint64, np.uint64, np.uint64, float], None], _half_bounds
)


@intrinsic  # type: ignore[untyped-decorator]
def _half_quotients(typing_context: Any, total: Any, taken: Any, into: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _store(
            builder,
            builder.fdiv(_load(builder, arguments[0], _HALF), _load(builder, arguments[1], _HALF)),
            arguments[2],
        )
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), generate


#: half_quotients(total, taken, into): write total / taken of eight lanes at `into`.
half_quotients = cast(Callable[[np.uint64, np.uint64, np.uint64], None], _half_quotients)


@intrinsic  # type: ignore[untyped-decorator]
def _add_in_lanes(typing_context: Any, at: Any, mask: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Not a choice between old and new values, which would become a masked store: a load that
        # follows has to wait for it.
        nothing = _everywhere(builder, ir.Constant(_DOUBLE, 0.0), _DOUBLES)
        more = builder.select(
            _chosen(builder, arguments[1]), _everywhere(builder, arguments[2], _DOUBLES), nothing
        )
        _store(builder, builder.fadd(_load(builder, arguments[0], _DOUBLES), more), arguments[0])
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.float64), generate


#: add_in_lanes(at, mask, value): add a value in the mask's lanes.
add_in_lanes = cast(Callable[[np.uint64, np.uint64, float], None], _add_in_lanes)


@intrinsic  # type: ignore[untyped-decorator]
def _next_bits(typing_context: Any, words: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = ir.Constant(_WORDS, [ir.Constant(_WORD, 1)] * ARMS)
        chosen, before = _chosen(builder, arguments[1]), _load(builder, arguments[0], _WORDS)
        _store(builder, builder.select(chosen, builder.lshr(before, one), before), arguments[0])
        odd = builder.icmp_unsigned(
            "!=", builder.and_(before, one), ir.Constant(_WORDS, [ir.Constant(_WORD, 0)] * ARMS)
        )
        return _as_mask(builder, builder.and_(chosen, odd))

    return types.uint64(types.uint64, types.uint64), generate


#: next_bits(words, mask): take the lowest bit from the word of each lane of the mask; return the
#: lanes in which it was set.
next_bits = cast(Callable[[np.uint64, np.uint64], np.uint64], _next_bits)


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
