"""Up to sixteen arms side by side, one a lane: vectors of doubles, for kernels that look at all
arms of a round at once.

As in `rai_sim.engine.vectors`, operations are written in LLVM's own vector types, and a mask is a
uint64 with one bit a lane, lane 0 lowest. A vector is a value of type `Doubles` or `Words`, which
stays in registers from round to round; where arms are looked at one by one it is put into memory.
Every operation is that of IEEE arithmetic, lane by lane, but for those whose names begin with
`near`, which are a little off.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from rai_sim.engine.vectors import _called, _constant, _everywhere, _load, _shuffled, _store

ARMS = 16
#: From one vector in memory to the next, in bytes.
VECTOR = np.uint64(8 * ARMS)
#: n_a for which quotients are right.
MOST_TAKEN = 2.0**48
#: More than a comparison of gaps made of `near_bounds` may be off. With u = 2^-53 and r the radius,
#: roots are off by less than 3 u of them, so radii by less than 6 u r; bounds, of means of at most 1,
#: by less than 8 u r + 2 u; gaps by less than 20 u r + 8 u, and the difference of two of them by
#: twice that and 3 u r for the sum with `NEAR`. As ln(pi^2 R^3 N / (3 delta)) < 1,000 for all
#: doubles, r < 23, and all that is less than 1,100 u.
NEAR = 2.0**-42

_DOUBLE, _WORD, _TRUTH = ir.DoubleType(), ir.IntType(64), ir.IntType(1)
_DOUBLES, _WORDS = ir.VectorType(_DOUBLE, ARMS), ir.VectorType(_WORD, ARMS)
_ALL = ir.IntType(ARMS)
_HALF = ARMS // 2


class Doubles(types.Type):  # type: ignore[misc]  # numba is untyped
    """A vector of a double a lane, as a kernel's own value."""


class Words(types.Type):  # type: ignore[misc]
    """A vector of a word a lane, as a kernel's own value."""


@register_model(Doubles)
class _DoublesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _DOUBLES)


@register_model(Words)
class _WordsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORDS)


_VALUES, _BITS = Doubles("16 doubles"), Words("16 words")
_MASK, _NUMBER = types.uint64, types.float64
_TWO = types.UniTuple(_VALUES, 2)


def _operation(returns: Any, *given: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make an operation of a function that generates it, of Numba's context, LLVM's builder and the
    operands; a list of values becomes a tuple."""

    def make(generator: Callable[..., Any]) -> Any:
        def operation(typing_context: Any, *operands: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                found = generator(context, builder, *arguments)
                if found is None:
                    return context.get_dummy_value()
                if isinstance(found, list):
                    return context.make_tuple(builder, signature.return_type, found)
                return found

            return returns(*given), generate

        # Numba asks for operands by name, and a generator names them, after context and builder
        named = list(inspect.signature(generator).parameters.values())
        operation.__signature__ = inspect.Signature(named[1:])  # type: ignore[attr-defined]
        return intrinsic(operation)

    return make


# --------------------------------------------------------------------------------------------------
# Memory and masks
# --------------------------------------------------------------------------------------------------


def _chosen(builder: Any, mask: Any) -> Any:
    """Return a mask as a vector of truth values."""
    return builder.bitcast(builder.trunc(mask, _ALL), ir.VectorType(_TRUTH, ARMS))


def _as_mask(builder: Any, truths: Any) -> Any:
    return builder.zext(builder.bitcast(truths, _ALL), _WORD)


def _any(builder: Any, truths: Any) -> Any:
    return builder.icmp_unsigned("!=", builder.bitcast(truths, _ALL), ir.Constant(_ALL, 0))


@_operation(_VALUES, _MASK)
def _doubles_at(context: Any, builder: Any, at: Any) -> Any:
    return _load(builder, at, _DOUBLES)


@_operation(_BITS, _MASK)
def _words_at(context: Any, builder: Any, at: Any) -> Any:
    return _load(builder, at, _WORDS)


def _put(context: Any, builder: Any, vector: Any, at: Any) -> None:
    _store(builder, vector, at)


#: Return the vector of doubles (of words) at an address.
doubles_at = cast(Callable[[np.uint64], Doubles], _doubles_at)
words_at = cast(Callable[[np.uint64], Words], _words_at)
#: Write a vector at an address.
put_doubles = cast(
    Callable[[Doubles, np.uint64], None], _operation(types.void, _VALUES, _MASK)(_put)
)
put_words = cast(Callable[[Words, np.uint64], None], _operation(types.void, _BITS, _MASK)(_put))


@_operation(_VALUES, _NUMBER)
def _all_of(context: Any, builder: Any, number: Any) -> Any:
    return _everywhere(builder, number, _DOUBLES)


@_operation(_NUMBER, _VALUES)
def _number_of(context: Any, builder: Any, vector: Any) -> Any:
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


@_operation(_VALUES, _MASK, _VALUES, _VALUES)
def _either(context: Any, builder: Any, mask: Any, first: Any, second: Any) -> Any:
    return builder.select(_chosen(builder, mask), first, second)


#: Return a vector with a number in every lane; the number in lane 0.
everywhere = cast(Callable[[float], Doubles], _all_of)
number_of = cast(Callable[[Doubles], float], _number_of)
#: either(mask, first, second): return the first vector in the lanes of the mask, the second in the
#: others.
either = cast(Callable[[np.uint64, Doubles, Doubles], Doubles], _either)


@_operation(types.boolean, types.boolean)
def _seldom(context: Any, builder: Any, condition: Any) -> Any:
    kind = ir.FunctionType(_TRUTH, [_TRUTH, _TRUTH])
    expect = cgutils.get_or_insert_function(builder.module, kind, "llvm.expect.i1")
    return builder.call(expect, [condition, ir.Constant(_TRUTH, 0)])


#: Return a condition that seldom holds. What is done then is compiled out of the way: vectors are
#: taken out of registers there only, not in every round.
seldom = cast(Callable[[bool], bool], _seldom)


# --------------------------------------------------------------------------------------------------
# Bounds
# --------------------------------------------------------------------------------------------------


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


@_operation(_TWO, _VALUES, _VALUES, _NUMBER)
def _bounds(context: Any, builder: Any, mean: Any, taken: Any, log_term: Any) -> Any:
    log_terms, twice = _everywhere(builder, log_term, _DOUBLES), builder.fadd(taken, taken)
    radius = _called(builder, "sqrt", builder.fdiv(log_terms, twice))
    return [builder.fsub(mean, radius), builder.fadd(mean, radius)]


@_operation(_TWO, _VALUES, _VALUES, _NUMBER)
def _near_bounds(context: Any, builder: Any, mean: Any, root: Any, log_root: Any) -> Any:
    log_roots = _everywhere(builder, log_root, _DOUBLES)
    if _fuses(context):
        low = _called(builder, "fma", builder.fneg(log_roots), root, mean)
        return [low, _called(builder, "fma", log_roots, root, mean)]
    radius = builder.fmul(log_roots, root)
    return [builder.fsub(mean, radius), builder.fadd(mean, radius)]


@_operation(_VALUES, _VALUES)
def _near_roots(context: Any, builder: Any, taken: Any) -> Any:
    one = _constant(_DOUBLES, [1.0] * ARMS)
    return _called(builder, "sqrt", builder.fdiv(one, builder.fadd(taken, taken)))


#: bounds(mean, taken, log_term): return LCB and UCB of arms that have been pulled, by the operations
#: of the definition.
bounds = cast(Callable[[Doubles, Doubles, float], tuple[Doubles, Doubles]], _bounds)
#: near_bounds(mean, root, log_root): return the same without divisions and roots, see `NEAR`.
near_bounds = cast(Callable[[Doubles, Doubles, float], tuple[Doubles, Doubles]], _near_bounds)
#: Return 1 / sqrt(2 n_a).
near_roots = cast(Callable[[Doubles], Doubles], _near_roots)


# --------------------------------------------------------------------------------------------------
# Pulls
# --------------------------------------------------------------------------------------------------


def _rewarded(builder: Any, words: Any) -> Any:
    """Return in which lanes the lowest bit is set."""
    lowest, none = (_constant(words.type, [bit] * words.type.count) for bit in (1, 0))
    return builder.icmp_unsigned("!=", builder.and_(words, lowest), none)


def _after_a_pull(
    context: Any, builder: Any, taken: Any, total: Any, words: Any
) -> tuple[Any, Any]:
    """Return means and roots after one more pull."""
    one, none = (_constant(taken.type, [number] * taken.type.count) for number in (1.0, 0.0))
    rewards = builder.select(_rewarded(builder, words), one, none)
    more = builder.fadd(taken, one)
    then = builder.fdiv(one, builder.fadd(more, more))
    total, reciprocal = builder.fadd(total, rewards), builder.fadd(then, then)
    return _quotient(context, builder, total, more, reciprocal), _called(builder, "sqrt", then)


def _look_ahead(lanes: int) -> Any:
    """Look ahead for so many lanes, 8, 12 or 16: divisions and roots are what a round of few arms
    waits for. The other lanes repeat some of these."""

    @_operation(_TWO, _VALUES, _VALUES, _BITS)
    def look_ahead(context: Any, builder: Any, taken: Any, total: Any, words: Any) -> Any:
        halves = []
        for first, count in ((0, _HALF), (_HALF, lanes - _HALF)):
            # of no more lanes, the first ones again, which costs nothing
            place = range(first, first + count) if count else range(_HALF)
            given = [_shuffled(builder, each, each, place) for each in (taken, total, words)]
            found = _after_a_pull(context, builder, *given)
            repeated = [x % len(place) for x in range(_HALF)]
            halves.append(tuple(_shuffled(builder, each, each, repeated) for each in found))
        (mean, root), (other_mean, other_root) = halves
        return [
            _shuffled(builder, mean, other_mean, range(ARMS)),
            _shuffled(builder, root, other_root, range(ARMS)),
        ]

    return look_ahead


#: look_ahead_8(taken, total, words), and of 12 or 16 lanes: return mean and, nearly, 1 / sqrt(2 n_a)
#: as they are after one more pull. `words` has the lanes' next rewards.
look_ahead_8 = cast(Callable[[Doubles, Doubles, Words], tuple[Doubles, Doubles]], _look_ahead(8))
look_ahead_12 = cast(Callable[[Doubles, Doubles, Words], tuple[Doubles, Doubles]], _look_ahead(12))
look_ahead_16 = cast(Callable[[Doubles, Doubles, Words], tuple[Doubles, Doubles]], _look_ahead(16))


@_operation(types.Tuple((_VALUES, _VALUES, _BITS)), _VALUES, _VALUES, _BITS, _MASK)
def _pull_lanes(context: Any, builder: Any, taken: Any, total: Any, words: Any, mask: Any) -> Any:
    chosen, one = _chosen(builder, mask), _constant(_DOUBLES, [1.0] * ARMS)
    rewarded = builder.and_(chosen, _rewarded(builder, words))
    return [
        builder.select(chosen, builder.fadd(taken, one), taken),
        builder.select(rewarded, builder.fadd(total, one), total),
        builder.lshr(words, builder.zext(chosen, _WORDS)),
    ]


@_operation(types.boolean, _BITS, _MASK)
def _any_used_up(context: Any, builder: Any, words: Any, mask: Any) -> Any:
    ended = builder.icmp_unsigned("==", words, _constant(_WORDS, [1] * ARMS))
    return _any(builder, builder.and_(ended, _chosen(builder, mask)))


#: pull_lanes(taken, total, words, mask): return them after pulls of the lanes of the mask, each by
#: the lowest bit of its word, which is taken.
pull_lanes = cast(
    Callable[[Doubles, Doubles, Words, np.uint64], tuple[Doubles, Doubles, Words]], _pull_lanes
)
#: Whether a lane of the mask has a word of 1, the mark that ends it.
any_used_up = cast(Callable[[Words, np.uint64], bool], _any_used_up)


# --------------------------------------------------------------------------------------------------
# Extremes and comparisons
# --------------------------------------------------------------------------------------------------


def _better(builder: Any, order: str, first: Any, second: Any) -> Any:
    return builder.select(builder.fcmp_ordered(order, first, second), first, second)


def _reduction(order: str, start: float) -> Any:
    @_operation(_VALUES, _VALUES, _MASK)
    def extreme(context: Any, builder: Any, values: Any, mask: Any) -> Any:
        value = builder.select(_chosen(builder, mask), values, _constant(_DOUBLES, [start] * ARMS))
        halves = (
            _shuffled(builder, value, value, range(first, first + _HALF)) for first in (0, _HALF)
        )
        value, lanes = _better(builder, order, *halves), _HALF
        # every lane with its partner: the result is where it is compared, in all of them
        while lanes > 1:
            lanes //= 2
            partner = _shuffled(builder, value, value, [x ^ lanes for x in range(_HALF)])
            value = _better(builder, order, value, partner)
        return _shuffled(builder, value, value, [x % _HALF for x in range(ARMS)])

    return extreme


#: Return, in every lane, the least (greatest) value in the lanes of a mask, inf (-inf) if it is
#: empty.
least_in = cast(Callable[[Doubles, np.uint64], Doubles], _reduction("<", float("inf")))
greatest_in = cast(Callable[[Doubles, np.uint64], Doubles], _reduction(">", float("-inf")))


@_operation(_VALUES, _VALUES, _NUMBER)
def _plus(context: Any, builder: Any, vector: Any, number: Any) -> Any:
    return builder.fadd(vector, _everywhere(builder, number, _DOUBLES))


@_operation(_VALUES, _VALUES, _VALUES)
def _lesser(context: Any, builder: Any, first: Any, second: Any) -> Any:
    return _better(builder, "<", first, second)


@_operation(_VALUES, _VALUES, _VALUES)
def _greater(context: Any, builder: Any, first: Any, second: Any) -> Any:
    return _better(builder, ">", first, second)


@_operation(_VALUES, _VALUES, _VALUES, _VALUES, _VALUES)
def _gaps(context: Any, builder: Any, low: Any, high: Any, L: Any, U: Any) -> Any:
    return _better(builder, ">", builder.fsub(high, L), builder.fsub(U, low))


#: Return a vector with a number added in every lane.
plus = cast(Callable[[Doubles, float], Doubles], _plus)
#: Return the lesser (greater) of two numbers a lane.
lesser = cast(Callable[[Doubles, Doubles], Doubles], _lesser)
greater = cast(Callable[[Doubles, Doubles], Doubles], _greater)
#: gaps(low, high, L, U): return max(high - L, U - low).
gaps = cast(Callable[[Doubles, Doubles, Doubles, Doubles], Doubles], _gaps)


def _comparison(order: str) -> Any:
    @_operation(_MASK, _VALUES, _MASK, _VALUES)
    def compare(context: Any, builder: Any, values: Any, mask: Any, limits: Any) -> Any:
        return builder.and_(_as_mask(builder, builder.fcmp_ordered(order, values, limits)), mask)

    return compare


@_operation(types.boolean, _VALUES, _MASK, _VALUES, _VALUES)
def _any_outside(context: Any, builder: Any, values: Any, mask: Any, low: Any, high: Any) -> Any:
    outside = builder.or_(
        builder.fcmp_ordered("<=", values, low), builder.fcmp_ordered(">=", values, high)
    )
    return _any(builder, builder.and_(outside, _chosen(builder, mask)))


#: Return the lanes of a mask whose value is at most (at least) its limit.
lanes_at_most = cast(Callable[[Doubles, np.uint64, Doubles], np.uint64], _comparison("<="))
lanes_at_least = cast(Callable[[Doubles, np.uint64, Doubles], np.uint64], _comparison(">="))
#: any_outside(values, mask, low, high): whether a lane of the mask has a value that is not between
#: its limits; equality counts as outside.
any_outside = cast(Callable[[Doubles, np.uint64, Doubles, Doubles], bool], _any_outside)
