"""What an option of an algorithm may be: made out from the field's annotation, and checked.

An annotation is bool, int, float, str, Literal[...] of such values, or several of these joined
by |, None among them. Constructors check here, and so does all that calls them: studies that are
opened, files, the command line (`rai_sim.algorithms.text`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from inspect import get_annotations
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError, TruthValues
from rai_sim.support.values import is_integer_type, real, short, written_whole

_KINDS = (bool, int, float, str)
#: What all kinds but truth values are called in messages.
SPOKEN = {int: "an integer", float: "a finite number", str: "a text"}
_REMEDY = "annotate it as bool, int, float, str or Literal[...], or as one of these | None"


@dataclass(frozen=True)
class Option:
    """An option of an algorithm.

    Parameters
    ----------
    owner : str
        The algorithm's name, for messages.
    name : str
        The option's.
    kinds : tuple of types
        Those of bool, int, float and str that a value may be of.
    choices : tuple
        Values that it may be besides, from a Literal.
    optional : bool
        Whether it may be None.
    default : object
        The default, `dataclasses.MISSING` if there is none.
    """

    owner: str
    name: str
    kinds: tuple[type, ...]
    choices: tuple[bool | int | str, ...]
    optional: bool
    default: Any

    def checked(self, value: object) -> Any:
        """Return a value as a plain bool, int, float, str or None.

        Raises
        ------
        ArgumentTypeError
            If it is of none of the option's kinds.
        ArgumentValueError
            If it is of one, but none of its choices, not finite, beyond 64 bits, or no text that a
            file can hold.
        """
        if value is None and self.optional:
            return None
        for choice in self.choices:
            if _same(choice, value):
                return choice
        kind = self._kind_of(value)
        if kind is None:
            raise self._refused(value)
        given: Any = value
        if kind is int:
            return self._whole(int(given))
        if kind is float:
            return self._real(real(self.name, given))
        return self._text(str.__str__(given)) if kind is str else given

    def _kind_of(self, value: object) -> type | None:
        """Return as which of the option's kinds a value is taken; None if as none of them."""
        if isinstance(value, bool | np.bool_):
            wanted: tuple[type, ...] = (bool,) if isinstance(value, bool) else ()
        elif isinstance(value, str):
            wanted = (str,)
        elif is_integer_type(type(value)):
            wanted = (int, float)
        else:
            wanted = (float,) if _is_real(value) else ()
        return next((kind for kind in wanted if kind in self.kinds), None)

    def _whole(self, value: int) -> int:
        if not -(2**63) <= value < 2**63:
            raise self._flaw(value, "an integer of 64 bits: from -2^63 to 2^63 - 1")
        return value

    def _real(self, value: float) -> float:
        if not math.isfinite(value):
            raise self._flaw(value, "a finite number")
        return value + 0.0  # not -0.0: equal options must be one experiment

    def _text(self, value: str) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self._flaw(value, "a text without half of a surrogate pair") from None
        return value

    def _flaw(self, value: object, what: str) -> ArgumentValueError:
        shown = ascii(value) if isinstance(value, str) else short.repr(value)
        said = f"{self.name} is {shown}; give {what}"
        return ArgumentValueError(self.name, f"{self.owner}: ", said)

    def _refused(self, value: object) -> ArgumentTypeError | ArgumentValueError:
        head, tail = f"{self.owner}: {self.name} must be ", f"; got {short.repr(value)}"
        if self.kinds == (bool,) and not (self.choices or self.optional):
            return ArgumentTypeError(self.name, head, TruthValues(), tail)
        words = [str(flag) for flag in (True, False) if bool in self.kinds]
        words += [SPOKEN[kind] for kind in self.kinds if kind is not bool]
        words += [*map(repr, self.choices), *(["None"] if self.optional else [])]
        of_a_kind = any(type(choice) is type(value) for choice in self.choices)
        error = ArgumentValueError if of_a_kind else ArgumentTypeError
        more = written_whole(value) if int in self.kinds else ""
        return error(self.name, f"{head}{either(words)}{tail}{more}")

    def takes(self, value: Any) -> bool:
        """Whether a value is of the option's kinds or choices, if not within their limits."""
        if value is None:
            return self.optional
        chosen = any(_same(choice, value) for choice in self.choices)
        return chosen or self._kind_of(value) is not None


def options_of(algorithm: type) -> dict[str, Option]:
    """Return an algorithm's options by name, in their order.

    Raises
    ------
    TypeError
        If a field is annotated with something that no option can be, or is called `name`.

    Examples
    --------
    >>> import rai_sim as rai
    >>> options_of(rai.LUCB)["as_printed"].kinds
    (<class 'bool'>,)
    """
    return {field.name: _option(algorithm, field) for field in fields(algorithm) if field.init}


@lru_cache(maxsize=256)  # every algorithm that is made is asked for its options
def _option(algorithm: type, field: Field[Any]) -> Option:
    where = f"{algorithm.__name__}: option {field.name}"
    if field.name == "name":
        raise TypeError(
            f"{where} has the name under which studies keep the algorithm's own; rename it"
        )
    annotation = _annotation(algorithm, field)
    kinds: list[type] = []
    choices: list[Any] = []
    optional = False
    for part in _parts(annotation):
        if part is NoneType:
            optional = True
        elif part in _KINDS:
            kinds.append(part)
        elif get_origin(part) is Literal and all(
            one is None or type(one) in (bool, int, str) for one in get_args(part)
        ):
            optional = optional or None in get_args(part)
            choices += [one for one in get_args(part) if one is not None]
        else:
            raise TypeError(f"{where} is annotated as {field.type}; {_REMEDY}")
    default = field.default
    if default is MISSING and field.default_factory is not MISSING:
        default = field.default_factory()
    return Option(
        owner=algorithm.__name__,
        name=field.name,
        kinds=tuple(kinds),
        choices=tuple(choices),
        optional=optional,
        default=default,
    )


def _annotation(algorithm: type, field: Field[Any]) -> Any:
    """Return a field's annotation, which may stand there as text, made out where its class is."""
    if not isinstance(field.type, str):
        return field.type
    owner = next(c for c in algorithm.__mro__ if field.name in get_annotations(c))
    names = {**vars(sys.modules[owner.__module__]), **vars(owner)}
    holder: Any = SimpleNamespace(__annotations__={field.name: field.type})
    try:
        return get_type_hints(holder, names)[field.name]
    except (NameError, SyntaxError, AttributeError, TypeError):
        where = f"{algorithm.__name__}: option {field.name}"
        raise TypeError(f"{where} is annotated as {field.type}; {_REMEDY}") from None


def _parts(annotation: Any) -> Sequence[Any]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _is_real(value: object) -> bool:
    try:
        real("", value)
    except TypeError:
        return False
    return True


def _same(choice: bool | int | str, value: object) -> bool:
    """Whether a value is a choice: True is not 1, but 1 of NumPy is."""
    if isinstance(choice, bool) or isinstance(value, bool | np.bool_):
        return value is choice
    alike = is_integer_type(type(value)) if isinstance(choice, int) else isinstance(value, str)
    return alike and bool(value == choice)


def either(words: Sequence[str]) -> str:
    """Return words as a choice.

    Examples
    --------
    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
