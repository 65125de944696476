"""64 rounds of an arm side by side: the few operations on whole vectors that compiled Python has no
words for.

A lane is a round, a vector holds one byte a lane, and a mask is a uint64 with one bit a lane, the
first round lowest. The operations are written in LLVM's own vector types, so they become the widest
instructions that the processor has, whichever that is.

Vectors that are kept live in memory; functions take their addresses. `address_of` gives that of an
array, which the caller must keep alive: kernels get such arrays from their driver's arguments, which
outlive the call. What is made of many of them, one after the other, is a value of type `Bytes`, and
stays in a register; written and read again each time, it took a twentieth of a short replication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

LANES = 64
#: The steepest line that vectors of bytes are compared with, in 1/256 a lane: it rises by 62, so
#: that a count may be added to it.
LONGEST_RISE = 62 * 256 // LANES
_BYTE, _SHORT, _WORD = ir.IntType(8), ir.IntType(16), ir.IntType(64)
_BYTES, _SHORTS = ir.VectorType(_BYTE, LANES), ir.VectorType(_SHORT, LANES)
_EIGHT = ir.VectorType(_WORD, 8)
#: Bytes of a line of the cache, which is as long as the longest vector.
_LINE = 64


def new_vectors(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Allocate an array, of any content, that begins where a line of the cache does: a vector across
    two lines is handed from a store to the next load only by way of the cache."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + _LINE, np.uint8)
    start = -room.__array_interface__["data"][0] % _LINE  # `ctypes` takes three times as long
    return np.ndarray(shape, dtype, room, start)


# --------------------------------------------------------------------------------------------------
# Building blocks
# --------------------------------------------------------------------------------------------------


def _constant(kind: Any, values: Sequence[float]) -> Any:
    return ir.Constant(kind, [ir.Constant(kind.element, value) for value in values])


def _everywhere(builder: Any, scalar: Any, kind: Any) -> Any:
    """Return the vector with the scalar in each lane."""
    one = builder.insert_element(
        ir.Constant(kind, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0)
    )
    return _shuffled(builder, one, one, [0] * kind.count)


def _shuffled(builder: Any, first: Any, second: Any, lanes: Sequence[int]) -> Any:
    return builder.shuffle_vector(
        first, second, _constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    )


def _called(builder: Any, name: str, *operands: Any) -> Any:
    """Return what one of LLVM's operations on vectors gives, of the operands' own type."""
    kind = operands[0].type
    double = isinstance(kind.element, ir.DoubleType)
    element = "f64" if double else f"i{kind.element.width}"
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind] * len(operands)),
        f"llvm.{name}.v{kind.count}{element}",
    )
    return builder.call(function, operands)


def _load(builder: Any, address: Any, kind: Any, offset: int = 0) -> Any:
    pointer = builder.inttoptr(builder.add(address, ir.Constant(_WORD, offset)), kind.as_pointer())
    return builder.load(pointer, align=1)


def _store(builder: Any, value: Any, address: Any, offset: int = 0) -> None:
    pointer = builder.inttoptr(
        builder.add(address, ir.Constant(_WORD, offset)), value.type.as_pointer()
    )
    builder.store(value, pointer, align=1)


def _mask(builder: Any, comparison: Any) -> Any:
    return builder.bitcast(comparison, _WORD)


# --------------------------------------------------------------------------------------------------
# Memory and masks
# --------------------------------------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]  # to mypy, Numba is untyped
def _address_of(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        return builder.ptrtoint(data, _WORD)

    return types.uint64(array), generate


#: Return the address of an array's first element.
address_of = cast(Callable[[NDArray[Any]], np.uint64], _address_of)


@intrinsic  # type: ignore[untyped-decorator]
def _first_lane(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


#: Return the lowest lane of a mask; 64 if it is empty.
first_lane = cast(Callable[[np.uint64], int], _first_lane)


# --------------------------------------------------------------------------------------------------
# Counts and comparisons
# --------------------------------------------------------------------------------------------------


def _bytes_of(builder: Any, words: Any) -> Any:
    """Return byte i // 8 of a mask, of which there are eight copies, for each lane i: that byte of
    the copies that lies in the lane's own group of 16."""
    copies = builder.bitcast(words, _BYTES)
    return _shuffled(builder, copies, copies, [i // 16 * 16 + i // 8 for i in range(LANES)])


def _running_counts(builder: Any, mask: Any) -> Any:
    """Return for every lane how many bits of a mask are set up to it: those of its own byte, and
    those of the bytes before."""
    words = _everywhere(builder, mask, _EIGHT)
    up_to = _constant(_BYTES, [(2 << i % 8) - 1 for i in range(LANES)])
    before = _constant(_EIGHT, [(1 << 8 * g) - 1 for g in range(8)])
    own = _called(builder, "ctpop", builder.and_(_bytes_of(builder, words), up_to))
    rest = builder.bitcast(_called(builder, "ctpop", builder.and_(words, before)), _BYTES)
    return builder.add(own, _shuffled(builder, rest, rest, [i // 8 * 8 for i in range(LANES)]))


@intrinsic  # type: ignore[untyped-decorator]
def _store_counts(typing_context: Any, address: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _store(builder, _running_counts(builder, arguments[1]), arguments[0])
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), generate


#: Write at an address, for each lane, how many bits of the mask are set up to it.
store_counts = cast(Callable[[np.uint64, np.uint64], None], _store_counts)


def _with_offset(builder: Any, counts: Any, offset: Any) -> Any:
    """Return the vector of signed bytes at an address, plus an offset."""
    return builder.add(
        _load(builder, counts, _BYTES), _everywhere(builder, builder.trunc(offset, _BYTE), _BYTES)
    )


@intrinsic  # type: ignore[untyped-decorator]
def _set_to(typing_context: Any, into: Any, counts: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _store(builder, _with_offset(builder, *arguments[1:]), arguments[0])
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.int64), generate


#: Write at the first address the vector of signed bytes at the second plus an offset.
set_to = cast(Callable[[np.uint64, np.uint64, int], None], _set_to)


class Bytes(types.Type):  # type: ignore[misc]  # numba is untyped
    """A vector of 64 signed bytes as a kernel's own value, which stays in a register."""


_VALUE = Bytes("64 bytes")


@register_model(Bytes)
class _BytesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _BYTES)


@intrinsic  # type: ignore[untyped-decorator]
def _counts_plus(typing_context: Any, counts: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _with_offset(builder, *arguments)

    return _VALUE(types.uint64, types.int64), generate


#: Return the vector of signed bytes at an address, plus an offset.
counts_plus = cast(Callable[[np.uint64, int], Bytes], _counts_plus)


def _extreme(order: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def extreme(typing_context: Any, present: Any, counts: Any, offset: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            candidate = _with_offset(builder, *arguments[1:])
            better = builder.icmp_signed(order, candidate, arguments[0])
            return builder.select(better, candidate, arguments[0])

        return _VALUE(_VALUE, types.uint64, types.int64), generate

    return extreme


#: Return a vector raised (lowered) to that of signed bytes at an address plus an offset, where that
#: is larger (smaller).
raised_to = cast(Callable[[Bytes, np.uint64, int], Bytes], _extreme(">"))
lowered_to = cast(Callable[[Bytes, np.uint64, int], Bytes], _extreme("<"))


def _line(builder: Any, start: Any, slope: Any) -> Any:
    """Return (start + (lane + 1) slope) / 256, rounded down, as bytes; all below 2^15."""
    lanes = _constant(_SHORTS, range(1, LANES + 1))
    rise = builder.mul(lanes, _everywhere(builder, builder.trunc(slope, _SHORT), _SHORTS))
    value = builder.add(rise, _everywhere(builder, builder.trunc(start, _SHORT), _SHORTS))
    return builder.trunc(builder.ashr(value, _constant(_SHORTS, [8] * LANES)), _BYTES)


@intrinsic  # type: ignore[untyped-decorator]
def _lanes_above(typing_context: Any, most: Any, least: Any, start: Any, slope: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        level = builder.add(arguments[1], _line(builder, arguments[2], arguments[3]))
        return _mask(builder, builder.icmp_signed(">", arguments[0], level))

    return types.uint64(_VALUE, _VALUE, types.int64, types.int64), generate


#: Return the lanes in which the first vector's byte exceeds the second's plus
#: floor((start + (lane + 1) slope) / 256).
lanes_above = cast(Callable[[Bytes, Bytes, int, int], np.uint64], _lanes_above)


@intrinsic  # type: ignore[untyped-decorator]
def _walk_above(typing_context: Any, up: Any, down: Any, start: Any, slope: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        walk = builder.sub(
            _running_counts(builder, arguments[0]), _running_counts(builder, arguments[1])
        )
        return _mask(
            builder, builder.icmp_signed(">", walk, _line(builder, arguments[2], arguments[3]))
        )

    return types.uint64(types.uint64, types.uint64, types.int64, types.int64), generate


#: Return the lanes in which the bits set in `up` less those in `down`, up to the lane, exceed
#: floor((start + (lane + 1) slope) / 256).
walk_above = cast(Callable[[np.uint64, np.uint64, int, int], np.uint64], _walk_above)


def _reaching(builder: Any, counts: Any, offset: Any, line: Any) -> Any:
    """Return in which lanes an unsigned byte plus an offset, 255 at most, is at least the line's."""
    add = _everywhere(builder, builder.trunc(offset, _BYTE), _BYTES)
    total = builder.add(_load(builder, counts, _BYTES), add)
    most = _constant(_BYTES, [255] * LANES)
    total = builder.select(builder.icmp_unsigned("<", total, add), most, total)
    return builder.icmp_unsigned(">=", total, _load(builder, line, _BYTES))


@intrinsic  # type: ignore[untyped-decorator]
def _lanes_reaching(typing_context: Any, counts: Any, offset: Any, line: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _mask(builder, _reaching(builder, *arguments))

    return types.uint64(types.uint64, types.uint64, types.uint64), generate


#: Return the lanes in which the unsigned byte at the first address plus an offset of 0..255 is at
#: least the one at the last.
lanes_reaching = cast(Callable[[np.uint64, np.uint64, np.uint64], np.uint64], _lanes_reaching)


@intrinsic  # type: ignore[untyped-decorator]
def _count_reaching(typing_context: Any, tally: Any, counts: Any, offset: Any, line: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        reaching = _reaching(builder, *arguments[1:])
        # as bytes, a lane that reaches the line is -1
        more = builder.sub(_load(builder, arguments[0], _BYTES), builder.sext(reaching, _BYTES))
        _store(builder, more, arguments[0])
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64, types.uint64), generate


#: Add 1 to the bytes at the first address in the lanes of `lanes_reaching` of the others.
count_reaching = cast(Callable[[np.uint64, np.uint64, np.uint64, np.uint64], None], _count_reaching)


@intrinsic  # type: ignore[untyped-decorator]
def _exchange(typing_context: Any, upper: Any, lower: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = (_load(builder, address, _BYTES) for address in arguments)
        ordered = builder.icmp_unsigned(">=", first, second)
        _store(builder, builder.select(ordered, first, second), arguments[0])
        _store(builder, builder.select(ordered, second, first), arguments[1])
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), generate


#: Exchange the unsigned bytes at two addresses in the lanes in which the second is larger.
exchange = cast(Callable[[np.uint64, np.uint64], None], _exchange)
