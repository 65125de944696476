"""Random bytes for 64 lanes at once: four generators side by side in vector registers.

As in `rai_sim.engine.vectors`, operations are written in LLVM's own vector types. The generators'
states live in memory between two kernels' draws; while words are drawn one after the other they are
values of type `Generators`, which stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from rai_sim.engine.vectors import (
    _BYTE,
    _BYTES,
    _WORD,
    _constant,
    _everywhere,
    _load,
    _mask,
    _shuffled,
    _store,
)

_FOUR = ir.VectorType(_WORD, 4)
#: First, second, third and fourth words of four states.
_STATES = ir.LiteralStructType([_FOUR] * 4)
#: From one of these vectors to the next, in bytes.
_VECTOR = 32


def _rotated(builder: Any, value: Any, by: int) -> Any:
    left = builder.shl(value, _constant(_FOUR, [by] * 4))
    return builder.or_(left, builder.lshr(value, _constant(_FOUR, [64 - by] * 4)))


def _four_words(builder: Any, s: list[Any]) -> Any:
    """Advance four xoshiro256++ generators, s their states, and return a word of each."""
    word = builder.add(_rotated(builder, builder.add(s[0], s[3]), 23), s[0])
    shifted = builder.shl(s[1], _constant(_FOUR, [17] * 4))
    s[2] = builder.xor(s[2], s[0])
    s[3] = builder.xor(s[3], s[1])
    s[1] = builder.xor(s[1], s[2])
    s[0] = builder.xor(s[0], s[3])
    s[2] = builder.xor(s[2], shifted)
    s[3] = _rotated(builder, s[3], 45)
    return word


def _philox_product(builder: Any, factor: int, value: Any) -> tuple[Any, Any]:
    """Return the high and low words of the products, from products of 32-bit halves, for which
    processors have an instruction."""
    low_half, half = _constant(_FOUR, [2**32 - 1] * 4), _constant(_FOUR, [32] * 4)
    al, ah = (_constant(_FOUR, [part] * 4) for part in (factor % 2**32, factor >> 32))
    bl, bh = builder.and_(value, low_half), builder.lshr(value, half)
    lowest = builder.mul(al, bl)
    mid = builder.add(builder.mul(ah, bl), builder.lshr(lowest, half))
    low_mid = builder.add(builder.mul(al, bh), builder.and_(mid, low_half))
    high = builder.add(
        builder.add(builder.mul(ah, bh), builder.lshr(mid, half)), builder.lshr(low_mid, half)
    )
    return high, builder.or_(builder.shl(low_mid, half), builder.and_(lowest, low_half))


@intrinsic  # type: ignore[untyped-decorator]
def _seed_four(typing_context: Any, generators: Any, counter: Any, key0: Any, key1: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, counter, *keys = arguments
        key = [_everywhere(builder, word, _FOUR) for word in keys]
        step = [_constant(_FOUR, [word] * 4) for word in (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)]
        zero = _constant(_FOUR, [0] * 4)
        c = [_everywhere(builder, counter, _FOUR), _constant(_FOUR, [1, 2, 3, 4]), zero, zero]
        for _round in range(10):
            h0, l0 = _philox_product(builder, 0xD2E7470EE14C6C93, c[0])
            h1, l1 = _philox_product(builder, 0xCA5A826395121157, c[2])
            c = [
                builder.xor(builder.xor(h1, c[1]), key[0]),
                l1,
                builder.xor(builder.xor(h0, c[3]), key[1]),
                l0,
            ]
            key = [builder.add(word, by) for word, by in zip(key, step, strict=True)]
        for i in range(4):
            _store(builder, c[i], address, _VECTOR * i)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64, types.uint64), generate


#: Set the states of the four generators at an address to the Philox4x64-10 blocks of counters
#: (counter, 1..4, 0, 0) under a key.
seed_four = cast(Callable[[np.uint64, np.uint64, np.uint64, np.uint64], None], _seed_four)


class Generators(types.Type):  # type: ignore[misc]  # numba is untyped
    """The states of the four generators as a kernel's own value."""


_VALUE = Generators("4 generators")


@register_model(Generators)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _STATES)


def _vectors(builder: Any, states: Any) -> list[Any]:
    return [builder.extract_value(states, i) for i in range(4)]


def _states(builder: Any, vectors: list[Any]) -> Any:
    states = ir.Constant(_STATES, ir.Undefined)
    for i in range(4):
        states = builder.insert_value(states, vectors[i], i)
    return states


@intrinsic  # type: ignore[untyped-decorator]
def _generators_at(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = arguments[0]
        return _states(builder, [_load(builder, address, _FOUR, _VECTOR * i) for i in range(4)])

    return _VALUE(types.uint64), generate


#: Return the generators at an address.
generators_at = cast(Callable[[np.uint64], Generators], _generators_at)


@intrinsic  # type: ignore[untyped-decorator]
def _put_back(typing_context: Any, generators: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        states, address = arguments
        for i, vector in enumerate(_vectors(builder, states)):
            _store(builder, vector, address, _VECTOR * i)
        return context.get_dummy_value()

    return types.void(_VALUE, types.uint64), generate


#: Write generators at an address.
put_back = cast(Callable[[Generators, np.uint64], None], _put_back)


@intrinsic  # type: ignore[untyped-decorator]
def _compare_random_bytes(typing_context: Any, generators: Any, byte: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        s = _vectors(builder, arguments[0])
        first = _four_words(builder, s)
        second = _four_words(builder, s)
        drawn = builder.bitcast(_shuffled(builder, first, second, range(8)), _BYTES)
        limit = _everywhere(builder, builder.trunc(arguments[1], _BYTE), _BYTES)
        masks = [_mask(builder, builder.icmp_unsigned(test, drawn, limit)) for test in ("<", "==")]
        return context.make_tuple(builder, signature.return_type, [*masks, _states(builder, s)])

    return types.Tuple((types.uint64, types.uint64, _VALUE))(_VALUE, types.uint64), generate


#: Draw 64 random bytes; return the masks of those below a byte, and of those equal to it, and the
#: generators after them.
compare_random_bytes = cast(
    Callable[[Generators, np.uint64], tuple[np.uint64, np.uint64, Generators]],
    _compare_random_bytes,
)
