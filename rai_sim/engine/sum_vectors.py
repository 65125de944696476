"""Sums of up to sixteen arms side by side, one a lane, by label: the few operations on them that
compiled Python has no words for.

As in `rai_sim.engine.vectors`, operations are written in LLVM's own vector types and functions take
the addresses of vectors in memory. Sums are integers, less a *base* that they have in common. An
arm's *key* is 64 times its sum less its label: who has the higher key stands before. A lane without
an arm has the key `NOBODY`, below all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from rai_sim.engine.vectors import (
    _BYTES,
    _EIGHT,
    _VALUE,
    _WORD,
    LANES,
    Bytes,
    _called,
    _constant,
    _everywhere,
    _load,
    _shuffled,
    _store,
)

ARMS = 16
NOBODY = -(2**31)
#: A key's steps from one sum to the next, 2 to which power.
_STEP = 6
_LONG = ir.IntType(32)
_LONGS, _DOUBLES = ir.VectorType(_LONG, ARMS), ir.VectorType(ir.DoubleType(), ARMS)


class Keys(types.Type):  # type: ignore[misc]  # numba is untyped
    """A vector of sixteen keys as a kernel's own value, which stays in a register."""


_KEYS = Keys("16 keys")


@register_model(Keys)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _LONGS)


def _all(number: int) -> Any:
    return _constant(_LONGS, [number] * ARMS)


@intrinsic  # type: ignore[untyped-decorator]  # to mypy, Numba is untyped
def _add_rewards(typing_context: Any, keys: Any, words: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at, words, mask = arguments
        asked = builder.bitcast(_everywhere(builder, mask, _EIGHT), _LONGS)
        # each word as two halves, so that their counts are as wide as keys
        halves = [
            _called(builder, "ctpop", builder.and_(_load(builder, words, _LONGS, offset), asked))
            for offset in (0, 64)
        ]
        first, second = (
            _shuffled(builder, halves[0], halves[1], range(i, 2 * ARMS, 2)) for i in range(2)
        )
        more = builder.shl(builder.add(first, second), _all(_STEP))
        keys = builder.add(_load(builder, at, _LONGS), more)
        _store(builder, keys, at)
        return keys

    return _KEYS(types.uint64, types.uint64, types.uint64), generate


#: Add to the keys at the first address, for the words at the second, the bits set under a mask;
#: return the keys after that.
add_rewards = cast(Callable[[np.uint64, np.uint64, np.uint64], Keys], _add_rewards)


@intrinsic  # type: ignore[untyped-decorator]
def _write_sums(typing_context: Any, keys: Any, base: Any, into: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        keys, base, into = arguments
        # up to the next multiple: labels are below a step
        rounded = builder.add(keys, _all((1 << _STEP) - 1))
        sums = builder.sitofp(builder.ashr(rounded, _all(_STEP)), _DOUBLES)
        _store(builder, builder.fadd(_everywhere(builder, base, _DOUBLES), sums), into)
        return context.get_dummy_value()

    return types.void(_KEYS, types.float64, types.uint64), generate


#: Write the sums of keys as doubles, the base added, at an address.
write_sums = cast(Callable[[Keys, float, np.uint64], None], _write_sums)


@intrinsic  # type: ignore[untyped-decorator]
def _keep_lanes(typing_context: Any, keys: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at, mask = arguments
        kept = builder.bitcast(
            builder.trunc(mask, ir.IntType(ARMS)), ir.VectorType(ir.IntType(1), ARMS)
        )
        _store(builder, builder.select(kept, _load(builder, at, _LONGS), _all(NOBODY)), at)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), generate


#: Let nobody be in the lanes of the keys at an address that are not in a mask.
keep_lanes = cast(Callable[[np.uint64, np.uint64], None], _keep_lanes)


@intrinsic  # type: ignore[untyped-decorator]
def _rank_of(typing_context: Any, keys: Any, key: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        keys, key = arguments
        own = _everywhere(builder, _load(builder, key, _LONG), _LONGS)
        higher = builder.bitcast(builder.icmp_signed(">", keys, own), ir.IntType(ARMS))
        return builder.ctpop(builder.zext(higher, _WORD))

    return types.uint64(_KEYS, types.uint64), generate


#: Return how many keys are higher than the one at an address.
rank_of = cast(Callable[[Keys, np.uint64], np.uint64], _rank_of)


@intrinsic  # type: ignore[untyped-decorator]
def _write_leads(typing_context: Any, sums: Any, over: Any, into: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, over, into = arguments
        over = _everywhere(builder, builder.trunc(over, _LONG), _LONGS)
        leads = builder.sub(_load(builder, sums, _LONGS), over)
        leads = _called(builder, "smax", leads, _all(-128))
        leads = builder.bitcast(_called(builder, "smin", leads, _all(127)), _BYTES)
        # four bytes to the lane: wherever there is a vector there is one of four equal bytes
        lowest = [lane // 4 * 4 for lane in range(LANES)]
        _store(builder, _shuffled(builder, leads, leads, lowest), into)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.uint64), generate


#: Write by how much the int32 sums at the first address exceed a number, within -128..127, as four
#: equal bytes each, at the second.
write_leads = cast(Callable[[np.uint64, int, np.uint64], None], _write_leads)


def _row(builder: Any, counts: Any, lead: Any) -> Any:
    """Return the vector of bytes at the first address plus the lead at the second, within
    -128..127."""
    lead = _everywhere(builder, _load(builder, lead, _LONG), _LONGS)
    return _called(
        builder, "sadd.sat", _load(builder, counts, _BYTES), builder.bitcast(lead, _BYTES)
    )


@intrinsic  # type: ignore[untyped-decorator]
def _counts_ahead(typing_context: Any, counts: Any, lead: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _row(builder, *arguments)

    return _VALUE(types.uint64, types.uint64), generate


#: Return the vector of signed bytes at the first address plus the lead at the second; where that is
#: no byte, the nearest one.
counts_ahead = cast(Callable[[np.uint64, np.uint64], Bytes], _counts_ahead)


def _extreme(name: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def extreme(typing_context: Any, present: Any, counts: Any, lead: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _called(builder, name, arguments[0], _row(builder, *arguments[1:]))

        return _VALUE(_VALUE, types.uint64, types.uint64), generate

    return extreme


#: Return a vector raised (lowered) to what `counts_ahead` gives, where that is larger (smaller).
raised_ahead = cast(Callable[[Bytes, np.uint64, np.uint64], Bytes], _extreme("smax"))
lowered_ahead = cast(Callable[[Bytes, np.uint64, np.uint64], Bytes], _extreme("smin"))
