"""From the text of command-line options to problems and algorithms.

Laws and algorithms come from their registries, and their options from constructors and dataclass fields: a new one needs no change here.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms.base import LAWS, Arms
from rai_sim.problem import Problem, table_problem

#: What is simulated and bounded if no problem is given: the paper's table instance from which its numbers come.
_DEFAULT_TASK, _DEFAULT_INSTANCE, _DEFAULT_LAW = 2, "mirrored", "bernoulli"
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class BadInput(ValueError):
    """An option that cannot be used; the message names option, value and remedy."""


def law_options() -> dict[str, list[str]]:
    """Return the constructor arguments of all reward laws, each with the names of the laws that take it."""
    options: dict[str, list[str]] = {"means": []}
    for law, cls in LAWS.items():
        for name in _arguments(cls):
            options.setdefault(name, []).append(law)
    return options


def _arguments(cls: type[Arms]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(cls.__init__).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "self"}


def takes_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that define a problem; it is handed their texts as the dict `problem_options`."""
    shared = _problem_parameters()
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    own = [p.replace(kind=keyword_only) for p in parameters if p.name != "problem_options"]

    def with_problem(**options: Any) -> None:
        command(problem_options={p.name: options.pop(p.name) for p in shared}, **options)

    with_problem.__name__, with_problem.__doc__ = command.__name__, command.__doc__
    # Where the reader of options looks, depending on its version.
    with_problem.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]
    with_problem.__annotations__ = {p.name: p.annotation for p in (*shared, *own)}
    return with_problem


def _problem_parameters() -> list[inspect.Parameter]:
    def option(name: str, of_type: Any, text: str, default: Any = None) -> inspect.Parameter:
        flag = f"--{name.replace('_', '-')}"
        flags = f"{flag}/--no-{name}" if of_type is bool else flag
        annotation = Annotated[of_type, typer.Option(flags, help=text, show_default=of_type is bool)]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    laws = []
    for name, users in law_options().items():
        scalar = any(_is_scalar(_arguments(LAWS[law])[name]) for law in users)
        kind = "a number" if scalar else "numbers 0.9,0.5 or rows 0.2,0.8;0.6,0.4 or @FILE (.csv, .npy)"
        laws.append(option(name, str | None, f"of --law {' or '.join(users)}: {kind}"))
    return [
        option("means", str | None, "mean reward of each arm, in any order: 0.9,0.5 or @FILE (one a line)"),
        option("law", str | None, f"reward law: {', '.join(LAWS)}; default {_DEFAULT_LAW}"),
        *laws[1:],
        option("clusters", str | None, "cluster sizes, best first, such as 3,5,2"),
        option("required", str | None, "representatives to name from each cluster, such as 1,0,0"),
        option("table_task", int | None, f"instead: a task of the paper's tables, 1 to 5; default {_DEFAULT_TASK}"),
        option("instance", str | None, f"its means: mirrored or printed; default {_DEFAULT_INSTANCE}"),
        option("strict", bool, "refuse rewards that are not 1/2-sub-Gaussian, for which nothing is guaranteed", True),
    ]


def build_problem(options: Mapping[str, Any]) -> Problem:
    """Return the problem that the options of `takes_problem` describe.

    Raises
    ------
    TypeError, ValueError
        As `Problem` and the laws; `BadInput` where it is the text that is at fault.
    """
    laws = law_options()
    own = [name for name in (*laws, "law", "clusters", "required") if options[name] is not None]
    if not own:
        task = _DEFAULT_TASK if options["table_task"] is None else options["table_task"]
        return table_problem(task=task, instance=options["instance"] or _DEFAULT_INSTANCE)
    for name in ("table_task", "instance"):
        if options[name] is not None:
            raise BadInput(f"{_flag(name)} {options[name]} names an instance of the paper and {_flag(own[0])} describes another; "
                           "give one of the two")
    for name, example in (("clusters", "3,5,2"), ("required", "1,0,0")):
        if options[name] is None:
            raise BadInput(f"{_flag(name)} is missing and {_flag(own[0])} is given; give one number a cluster, such as {_flag(name)} {example}")
    arms = _build_arms(options, laws)
    return Problem(arms, parse_integers("clusters", options["clusters"]), parse_integers("required", options["required"]),
                   strict=options["strict"])


def _build_arms(options: Mapping[str, Any], laws: Mapping[str, list[str]]) -> Arms:
    law = (options["law"] or _DEFAULT_LAW).lower()
    if law not in LAWS:
        raise BadInput(f"--law {options['law']} is no reward law; choose one of {', '.join(LAWS)}")
    arguments = _arguments(LAWS[law])
    values: dict[str, Any] = {}
    for name, users in laws.items():
        text = options[name]
        if name not in arguments:
            if text is not None:
                raise BadInput(f"{_flag(name)} {text} does not belong to --law {law}; leave it out or choose --law {' or '.join(users)}")
        elif text is not None:
            values[name] = parse_scalar(name, text) if _is_scalar(arguments[name]) else parse_array(name, text)
        elif arguments[name].default is inspect.Parameter.empty:
            raise BadInput(f"{_flag(name)} is missing; --law {law} needs it: numbers such as 0.9,0.5 or @FILE")
    if "means" in values:
        values["means"] = values["means"].ravel()
    return LAWS[law](**values)


def _is_scalar(parameter: inspect.Parameter) -> bool:
    return parameter.annotation in ("float", "int", float, int)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def real_number(text: str | float) -> float:
    """Return an option's number; the parser of options names the option."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; give one such as 0.01") from None


def whole_number(text: str | int) -> int:
    """Return an option's integer; 1e6 is one, too."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
        if value == int(value):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise typer.BadParameter(f"{text!r} is not an integer; give one such as 1000")


def parse_scalar(name: str, text: str) -> float:
    """Return a number."""
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{_flag(name)} {text} is not a number; give one such as 0.5") from None


def parse_array(name: str, text: str) -> NDArray[np.float64]:
    """Return the numbers of a text or an @FILE.

    One-dimensional for 0.9,0.5 and for a file with one number a line; two-dimensional if there is a semicolon, for a file with several
    numbers a line, and as stored for .npy. A semicolon at the end makes a single row a table: "0.2,0.8;".
    """
    if text.startswith("@") or text.lower().endswith((".csv", ".npy")):
        return _read_array(name, Path(text.removeprefix("@")))
    rows = text.rstrip().removesuffix(";").split(";")
    table = [[_number(name, text, entry) for entry in row.split(",")] for row in rows]
    if len({len(row) for row in table}) > 1:
        raise BadInput(f"{_flag(name)} {_short(text)} has rows of {', '.join(str(len(row)) for row in table)} numbers; "
                       "give every row as many")
    return np.array(table if ";" in text else table[0], dtype=np.float64)


def _read_array(name: str, path: Path) -> NDArray[np.float64]:
    remedy = "give a text file with one number a line or comma-separated rows, or a .npy file of numbers"
    try:
        if path.suffix.lower() == ".npy":
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
        text = path.read_text(encoding="utf-8-sig")
        if not text.strip():
            raise ValueError("it is empty")
        table = np.loadtxt(io.StringIO(text), delimiter="," if "," in text else None, ndmin=2)
    except OSError as error:
        raise BadInput(f"{_flag(name)} {path} cannot be read: {error.strerror or error}; {remedy}") from None
    except (TypeError, ValueError, EOFError) as error:
        raise BadInput(f"{_flag(name)} {path} cannot be used: {str(error).rstrip('.')}; {remedy}") from None
    return table[:, 0] if table.shape[1] == 1 else table


def parse_integers(name: str, text: str) -> tuple[int, ...]:
    """Return the integers of a text such as 3,5,2 or an @FILE."""
    values = parse_array(name, text).ravel()
    wrong = np.flatnonzero((values != np.floor(values)) | ~np.isfinite(values))
    if wrong.size:
        raise BadInput(f"{_flag(name)} {_short(text)} holds {values[wrong[0]]:g}; give integers separated by commas, one a cluster")
    return tuple(int(value) for value in values)


def _number(name: str, text: str, entry: str) -> float:
    try:
        return float(entry)
    except ValueError:
        raise BadInput(f"{_flag(name)} {_short(text)} holds {entry.strip()!r}, which is not a number; separate numbers by commas, "
                       "rows by semicolons, or write @FILE") from None


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def parse_algorithm(text: str) -> Algorithm:
    """Return the algorithm of a text such as `vanilla` or `vanilla:merging=false`; several options are separated by commas."""
    name, _, options = text.partition(":")
    cls = ALGORITHMS.get(name.strip().lower())
    if cls is None:
        raise BadInput(f"--algorithm {text} is no algorithm; known are {describe_algorithms()}")
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]  # every algorithm is a dataclass
    values = {}
    for option in filter(None, options.split(",")):
        key, given, value = option.partition("=")
        key = key.strip().replace("-", "_")
        if key not in known:
            raise BadInput(f"--algorithm {text}: {name} has no option {key!r}; {describe_algorithms(name)}")
        if not given:
            raise BadInput(f"--algorithm {text}: {key} has no value; {describe_algorithms(name)}")
        values[key] = _option_value(text, key, value.strip(), known[key].default)
    return cls(**values)


def _option_value(text: str, key: str, value: str, default: Any) -> Any:
    """Return a value of the type that the field's default has; fields without default take text."""
    kind = str if default is MISSING else type(default)
    try:
        return _BOOLEANS[value.lower()] if kind is bool else kind(value)
    except (KeyError, ValueError):
        words = "true or false" if kind is bool else f"a value of type {kind.__name__}"
        raise BadInput(f"--algorithm {text}: {key} is {value!r}; it must be {words}") from None


def describe_algorithms(only: str | None = None) -> str:
    """Return the registered algorithms with their options and defaults, as they are written on the command line."""
    words = []
    for name, cls in ALGORITHMS.items():
        if only is None or name == only.strip().lower():
            options = [f"{field.name}={_default_word(field.default)}" for field in fields(cls)]  # type: ignore[arg-type]
            words.append(":".join([name, ",".join(options)]) if options else f"{name} (no options)")
    return ", ".join(words)


def _default_word(default: Any) -> str:
    return "..." if default is MISSING else str(default).lower()
