"""Algorithms as they are written on the command line and in files: `vanilla:merging=false`."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.algorithms.options import SPOKEN, Option, either, options_of
from rai_sim.support.errors import ArgumentValueError, BadInput
from rai_sim.support.parsing import near, seen, whole_number

_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

#: An option up to its comma: a name, and after = a value, which may hold commas in double quotes.
_OPTION = re.compile(r'\s*([^=,]*?)\s*(?:(=)\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*)?(?:,|\Z)', re.DOTALL)


def algorithm_from_text(text: str) -> Algorithm:
    """Return the algorithm of a text such as `vanilla` or `vanilla:merging=false`.

    Commas separate options; a text with a comma stands in double quotes. Names and options come
    from the registry and the dataclass fields: new algorithms need no change here.

    Raises
    ------
    BadInput
        If there is no such algorithm or option, or an option cannot have that value.

    Examples
    --------
    >>> algorithm_from_text("vanilla:merging=false")
    Vanilla(merging=False)
    """
    name, _, rest = text.partition(":")
    cls = ALGORITHMS.get(name.strip().lower())
    if cls is None:
        several = ", ".join(
            part for part in re.split(r"[,;\s]+", text.lower()) if part in ALGORITHMS
        )
        hint = "; name one at a time" if "," in several else near(name, ALGORITHMS)
        known = describe_algorithms()
        raise BadInput(f"{seen(text)} is no algorithm; known are {known}{hint.rstrip(';')}")
    try:
        options = options_of(cls)
        values = {}
        for key, value in _given(rest):
            if key not in options or value is None:
                flaw = f"{key} has no value" if key in options else f"there is no option {key!r}"
                raise BadInput(f"{flaw}; write {describe_algorithms(name)}")
            if key in values:
                raise BadInput(f"{key} is given twice; leave one of them out")
            values[key] = read_option(options[key], value)
        for key, option in options.items():
            if option.default is MISSING and key not in values:
                raise BadInput(f"{key} is missing; write {describe_algorithms(name)}")
        return cls(**values)
    # of the class, too, which may check more
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"{text}: {error}") from None


def algorithm_to_text(algorithm: Algorithm) -> str:
    """Return the text that `algorithm_from_text` makes the algorithm of.

    Examples
    --------
    >>> import rai_sim as rai
    >>> algorithm_to_text(rai.LUCB())
    'lucb:as_printed=false'
    """
    options = options_of(type(algorithm))
    words = ",".join(
        f"{name}={write_option(options[name], value)}"
        for name, value in algorithm.options_told().items()
    )
    return f"{type(algorithm).__name__.lower()}:{words}".rstrip(":")


def describe_algorithms(only: str | None = None) -> str:
    """Return the registered algorithms with options and defaults, as they are written.

    Parameters
    ----------
    only : str, optional
        Name of the one to return.

    Examples
    --------
    >>> describe_algorithms("vanilla")
    'vanilla:merging=true,width=paper,tuned_rounds=30'
    """
    words: list[str] = []
    for name, cls in ALGORITHMS.items():
        # one that is just being made, as where a user's class is unpickled, has no options as yet
        if is_dataclass(cls) and (only is None or name == only.strip().lower()):
            words.append(f"{name}:{','.join(_described(cls))}".rstrip(":"))
    return ", ".join(words)


def _described(cls: type[Algorithm]) -> Iterator[str]:
    """Yield each option with its default."""
    try:
        options = options_of(cls)
    except TypeError:  # said where it is made; the other algorithms are described all the same
        options = {}
    for field in fields(cls):  # type: ignore[arg-type]
        if field.default is MISSING:
            text = "..."
        elif field.name in options:
            text = write_option(options[field.name], field.default)
        else:
            text = written(field.default)
        yield f"{field.name}={text}"


def read_option(option: Option, text: str) -> Any:
    """Return the value that a text stands for: none, true, 1e3, 0.5, a text, or one in quotes.

    Raises
    ------
    BadInput
        If it stands for none; the message begins with the option's name.

    Examples
    --------
    >>> option = Option("Race", "limit", (int, str), (), True, None)
    >>> [read_option(option, text) for text in ("1e3", "none", "far", '"none"')]
    [1000, None, 'far', 'none']
    """
    for value in _readings(option, text):
        if option.takes(value):
            try:
                return option.checked(value)
            except ArgumentValueError as error:
                # Whoever wrote the text knows the algorithm's name, which stands first.
                raise BadInput("".join(map(str, error.parts[1:]))) from None
    words = ["true", "false"] if bool in option.kinds else []
    words += [SPOKEN[kind] for kind in option.kinds if kind is not bool]
    words += [*map(written, option.choices), *(["none"] if option.optional else [])]
    raise BadInput(f"{option.name} is {text!r}; give {either(words)}")


def write_option(option: Option, value: Any) -> str:
    """Return the text that `read_option` makes a value of; one that would be misread in quotes.

    Examples
    --------
    >>> option = Option("Race", "limit", (int, str), (), True, None)
    >>> [write_option(option, value) for value in (None, "far", "none", "a, b")]
    ['none', 'far', '"none"', '"a, b"']
    """
    text = written(value)
    if not isinstance(value, str) or text.startswith('"'):
        return text
    try:
        return text if read_option(option, text) == value else json.dumps(value)
    except BadInput:
        return json.dumps(value)


def written(value: Any) -> str:
    """Return a value as it is written on the command line, whatever option it is of.

    Examples
    --------
    >>> written(True), written(None), written(1e-3), written("fast"), written("a, b")
    ('true', 'none', '0.001', 'fast', '"a, b"')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    bare = value == value.strip() and not any(c in value for c in ',"') and value.isprintable()
    return value if value and bare else json.dumps(value)


def _readings(option: Option, text: str) -> list[Any]:
    """Return what a text may stand for, the likeliest first."""
    if text.startswith('"'):
        try:
            quoted = json.loads(text)
        except ValueError:
            return []
        return [quoted] if isinstance(quoted, str) else []
    plain = text.lower()
    found: list[Any] = [None] if plain == "none" else []
    exact = [choice for choice in option.choices if written(choice) == text]
    found += exact or [choice for choice in option.choices if written(choice).lower() == plain]
    if plain in _BOOLEANS:
        found.append(_BOOLEANS[plain])
    # 1e3 is an integer where no other number is meant.
    for parse in (int, float) if float in option.kinds else (whole_number,):
        with contextlib.suppress(ValueError):
            found.append(parse(text))
    return [*found, text]


def _given(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the options that a text names, each with its value, None if it has none."""
    at = 0
    while at < len(text):
        found = _OPTION.match(text, at)
        assert found is not None  # every text up to a comma is an option, if not a good one
        at = found.end()
        key = found.group(1).replace("-", "_")
        if key or found.group(2):
            yield key, found.group(3)
