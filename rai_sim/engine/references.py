"""Named tuples that kernels hand on by reference.

Numba hands a tuple to a function field by field, and an array as seven numbers or more: what a run
of LUCB is given and works in would be 500 to 740 arguments of many a function, and that took a
sixth of the time of compiling them (measured). So an entry point stores what it is given once
(`by_reference`), and hands on where: one number. What is read of it is read where it is needed; a
tuple inside of a tuple is a reference again, unless it is small. To the code of a kernel a
reference is like the tuple, but that its fields are read by name only.

What a reference refers to lives in the frame of the entry point, so it outlives all that are given
it, and nobody writes it. LLVM is told so: else a kernel has to read where an array lies again behind
every number that it writes, which took up to a tenth of LUCB's time (measured).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic

T = TypeVar("T")

#: Tuples of at most so many fields, those of tuples inside counted, are handed on as they are.
_FEW_FIELDS = 4


class Reference(types.Type):  # type: ignore[misc]  # numba is untyped
    """The type of a reference to a named tuple."""

    def __init__(self, tuple_type: Any) -> None:
        """Refer to a type of named tuples."""
        self.tuple_type = tuple_type
        super().__init__(name=f"reference({tuple_type.name})")

    @property
    def instance_class(self) -> type:
        """Return the class of named tuples."""
        return cast(type, self.tuple_type.instance_class)

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return cast("tuple[str, ...]", self.tuple_type.fields)

    @property
    def types(self) -> tuple[Any, ...]:
        """Return the types of the fields, as they are read."""
        return tuple(_as_read(one) for one in self.tuple_type.types)


def _as_read(field: Any) -> Any:
    named = isinstance(field, types.BaseNamedTuple)
    return Reference(field) if named and _leaves(field) > _FEW_FIELDS else field


def _leaves(field: Any) -> int:
    return sum(map(_leaves, field.types)) if isinstance(field, types.BaseTuple) else 1


@register_default(Reference)
class _Model(PrimitiveModel):  # type: ignore[misc]
    """A reference is an address."""

    def __init__(self, manager: Any, reference: Any) -> None:
        stored = manager.lookup(reference.tuple_type).get_value_type()
        super().__init__(manager, reference, stored.as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """Fields are read by name."""

    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:
        """Return the type of a field."""
        if name in reference.fields:
            return reference.types[reference.fields.index(name)]
        return None


@lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, reference: Any, address: Any, name: str) -> Any:
    """Read a field."""
    number = reference.fields.index(name)
    field = cgutils.gep_inbounds(builder, address, 0, number)
    if isinstance(reference.types[number], Reference):
        return field
    value = builder.load(field)
    # nobody writes it: what was read need not be read again behind whatever is written
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@intrinsic  # type: ignore[untyped-decorator]
def _by_reference(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        stored = cgutils.alloca_once_value(builder, arguments[0])
        # An address from elsewhere, as far as LLVM knows: reading what is never written, it must not
        # look behind the storing.
        kind = ir.FunctionType(stored.type, [stored.type])
        return builder.asm(kind, "", "=r,0,~{memory}", [stored], side_effect=True)

    return Reference(value)(value), generate


#: Store a named tuple in the frame of the calling kernel, an entry point; return a reference to it.
by_reference = cast(Callable[[T], T], _by_reference)
