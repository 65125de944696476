"""Values under the keys of a study's file: what is taken, and the words for what cannot be used.

A function belongs here if it knows a key's path and value, but not what they are for.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

from rai_sim.support.errors import ArgumentError, BadInput, Speech, told
from rai_sim.support.wording import quoted

#: What values may make constructors raise.
_FLAWS = (TypeError, ValueError, OverflowError, MemoryError, RecursionError)
Made = TypeVar("Made")


class StudyFileError(BadInput):
    """A study's file cannot be used; the message has the key's path, its value and the remedy, in
    TOML's words."""


class _Toml(Speech):
    """How a file speaks of arguments: they are keys, truth values are small, and there is no
    None."""

    def passing(self, name: str, value: object) -> str:
        return f"set {name} = {str(value).lower() if isinstance(value, bool) else value}"

    def none(self, words: str) -> str:
        return ""

    def truth_values(self) -> str:
        return "true or false"


def within(path: str, value: Any, make: Callable[[Any], Any]) -> Any:
    """Return what is made of a value, or say where the value stands that cannot be used."""
    try:
        return make(value)
    except _FLAWS as error:
        raise StudyFileError(f"{path} = {quoted(value)}: {told(error, _Toml())}") from None


def made(
    make: Callable[..., Made],
    values: Mapping[str, Any],
    place: str = "",
    arguments: Container[str] = (),
) -> Made:
    """Return what is made of values, or say which of them cannot be used; of values that are no
    file's, but `arguments` of Python's, as Python has it."""
    try:
        return make(**values)
    except _FLAWS as error:
        words = told(error, _Toml())
        name = error.argument if isinstance(error, ArgumentError) else None
        if name in arguments:
            raise
        if name is not None and name in values:
            path = f"{place}.{'table_task' if name == 'task' else name}".lstrip(".")
            raise StudyFileError(f"{path} = {quoted(values[name])}: {words}") from None
        raise StudyFileError(f"{place}: {words}" if place else words) from None


def no_other_keys(place: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse keys of a table that are not known, with the one that is meant if any is near.

    Examples
    --------
    >>> no_other_keys("instances[0]", {"nam": "x"}, ("name", "law"))
    Traceback (most recent call last):
    rai_sim.study.file_values.StudyFileError: instances[0].nam = 'x': there is no such key; did you mean name?
    """
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise StudyFileError(
                f"{f'{place}.{key}'.lstrip('.')} = {quoted(value)}: there is no such key; {remedy}"
            )


def no_more(place: str, keys: Mapping[str, Any], why: str) -> None:
    """Refuse the keys that are left when all that has a meaning was taken."""
    for key, value in keys.items():
        raise StudyFileError(
            f"{place}.{key} = {quoted(value)}: it has no meaning {why}; leave it out"
        )


def choice(path: str, value: Any, known: tuple[str, ...]) -> str:
    """Return a text that is one of those known, in their small letters.

    Examples
    --------
    >>> choice("law", "Gaussian", ("bernoulli", "gaussian"))
    'gaussian'
    """
    if not isinstance(value, str) or value.lower() not in known:
        raise StudyFileError(f"{path} = {quoted(value)}: choose one of {', '.join(known)}")
    return value.lower()


def list_of(path: str, value: Any, example: str) -> list[Any]:
    """Return a list that is not empty; `example` says in the message what it may hold."""
    if value is None or value == []:
        raise StudyFileError(
            f"{path} is {'missing' if value is None else 'empty'}: give a list, {example}"
        )
    if not isinstance(value, list):
        raise StudyFileError(f"{path} = {quoted(value)}: give a list, {example}")
    return value


def whole(value: Any) -> Any:
    """Return 1e6 as an integer, for TOML has no other way to write it short; everything else as it
    is.

    Examples
    --------
    >>> whole(1e6), whole(0.5), whole("1e6")
    (1000000, 0.5, '1e6')
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def counts(value: Any) -> Any:
    """Return a value, or the entries of a list, as `whole` has them."""
    return [whole(one) for one in value] if isinstance(value, list) else whole(value)
