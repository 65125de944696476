"""A study as a TOML file.

Keys at the top: `algorithms` (texts as on the command line, such as "vanilla" or
"vanilla:merging=false"), `delta` (a number or a list), `replications`, or `precision` and `until` =
"error rate" (one or both, with `most_replications`), `alpha`, `seed`, `skip_error`, `max_pulls` (a
number, or a list of budgets), `keep` ("replications", "aggregates", "arm_pulls" or
"arm_pulls_sum"), `store` (the folder of the results, relative to the file; the file's name with
.study for .toml if it is missing), and `[[instances]]` tables.

An instance has a `name`, and says

- where its means come from: `means` (a list, or the name of a file, relative to the TOML file, with
  one number a line, or with a header: `column` names that of the means if several hold numbers) or
  another argument of the law; or `family` = "evenly_spaced", "linear_gaps", "geometric_gaps",
  "one_apart" or "random_means" with its arguments (`rai_sim.instances`: n, high, low, middle, gap,
  ratio, seed); or `table_task` and `instance` for an instance of the paper,
- what the arms are called, if they have `names`: a column of that file, or a list,
- which `law` the arms have ("bernoulli" if it is missing) with its other arguments, such as `sd`
  and `sigma`,
- what is asked for: `clusters` (a list of sizes, or proportions such as "3:5:2") and `required`; or
  `problem` = "best_arm", "one_of_top", "top", "m_of_top", "coarse" or "full" (ranking) with its
  arguments `k` and `m` (numbers, or shares of the arms such as "20%"),
- `strict` = false for arms without guarantees.

A list in place of one number sweeps: n = [10, 20, 50] makes three instances, several lists all
combinations. Numbers by arm stand in a list of their own where one number would do too: sd = [0.5, 1.0]
makes two instances, sd = [[0.5, 1.0]] one with a deviation an arm.
"""

from __future__ import annotations

import difflib
import inspect
import itertools
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rai_sim import instances as families
from rai_sim import kinds
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.text import algorithm_from_text
from rai_sim.arms.base import LAWS, Arms
from rai_sim.problem import Problem, table_problem
from rai_sim.simulation.simulate import checked_experiment
from rai_sim.study.grid import Study
from rai_sim.study.task import Task
from rai_sim.support.checks import check_delta
from rai_sim.support.errors import ArgumentError, ArgumentTypeError, BadInput, Speech, told
from rai_sim.support.files import place_of
from rai_sim.support.named_means import Means, means_in
from rai_sim.support.parsing import parse_array
from rai_sim.support.reading import read_text
from rai_sim.support.wording import quoted as _short

_FAMILIES = ("evenly_spaced", "linear_gaps", "geometric_gaps", "one_apart", "random_means")
#: Keys at the top whose values `Study` checks, those that decide a task's numbers, with defaults,
#: and all.
_STUDY = ("replications", "precision", "most_replications", "keep", "until", "alpha")
#: Those that say how many replications there are to be: one that is changed puts the others out.
_HOW_MANY = {"replications", "precision", "until"}
_NUMBERS = {"seed": 0, "skip_error": 1e-12}
_TOP = ("algorithms", "delta", *_STUDY, *_NUMBERS, "max_pulls", "store", "instances")
#: Keys of an instance that may hold a list to sweep over.
_SWEPT = (
    "n",
    "high",
    "low",
    "middle",
    "gap",
    "ratio",
    "seed",
    "k",
    "m",
    "sd",
    "sigma",
    "table_task",
)
#: Keys of an instance that hold integers, which may be written as 1e3 too.
_COUNTS = ("n", "seed", "k", "m", "table_task")
#: Keys whose value may be the name of a file.
_TABLES = {"means", "values", "probabilities", "rewards"}

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


def read_study(path: str | os.PathLike[str], **changes: Any) -> Study:
    """Read a study from a TOML file, with some keys' values in place of the file's (see
    `Study.from_toml`)."""
    return _study(_read(path), Path(path).parent, changes)


def store_of(path: str | os.PathLike[str]) -> Path:
    """Return the folder that a study's file names for its results, or the one beside the file with
    its name.

    Raises
    ------
    StudyFileError
        If the file cannot be read, or `store` is no text.
    """
    name = _read(path).get("store")
    if name is None:
        folder = Path(path).with_suffix(".study")
        return folder if folder != Path(path) else Path(path).with_suffix(".results")
    if not isinstance(name, str) or not name or "\0" in name:
        raise StudyFileError(f"store = {name!r}: give the name of a folder, in quotes")
    return place_of(Path(path).parent, name)


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(Path(path)))
    except OSError as error:
        raise StudyFileError(
            f"{os.fspath(path)!r} cannot be read: {error.strerror or error}; name a TOML file"
        ) from None
    except (ValueError, RecursionError) as error:
        escape = "Unescaped '\\'" in str(error)
        hint = (
            ": in names of files write / for \\, or put them in 'single quotes'" if escape else ""
        )
        raise StudyFileError(
            f"{os.fspath(path)!r} is no TOML that can be read: {error}; mend that place{hint}"
        ) from None


def _study(document: dict[str, Any], folder: Path, changes: Mapping[str, Any]) -> Study:
    _known("", document, _TOP)
    document = _replaced(document, changes)
    texts = _list("algorithms", document.get("algorithms"), 'such as ["vanilla", "lucb"]')
    algorithms = [_within(f"algorithms[{i}]", text, _algorithm) for i, text in enumerate(texts)]
    deltas = document.get("delta", 0.01)
    deltas = _list("delta", deltas if isinstance(deltas, list) else [deltas], "such as [0.1, 0.01]")
    levels = [_within(f"delta[{i}]", value, check_delta) for i, value in enumerate(deltas)]
    numbers = {key: _whole(document.get(key, default)) for key, default in _NUMBERS.items()}
    caps = document.get("max_pulls")
    caps = _list("max_pulls", caps, "such as [1e3, 1e4]") if isinstance(caps, list) else [caps]
    grid: tuple[list[Any], ...] = algorithms, levels, caps
    tasks: list[Task] = []
    places: dict[str, str] = {}
    named: dict[str, str] = {}
    for place, swept, name, problem, parameters in _instances(document.get("instances"), folder):
        if named.setdefault(name, place) != place:
            raise StudyFileError(
                f"{place}.name = {name!r}: {named[name]} has this name; give every instance its own"
            )
        for (a, algorithm), (d, delta), (k, cap) in itertools.product(*map(enumerate, grid)):
            of_task = numbers | {"max_pulls": _whole(cap)}
            run = _made(partial(checked_experiment, problem, algorithm, delta), of_task)
            task = Task(name, run, parameters)
            here = f"{place} with {swept}algorithms[{a}] and delta[{d}]"
            here += f" and max_pulls[{k}]" if len(caps) > 1 else ""
            if task.key in places:
                remedy = "; a sweep may be cut into several [[instances]]" if swept else ""
                raise StudyFileError(
                    f"{here} ({task.label}) is the same task as {places[task.key]}; leave one of "
                    f"them out{remedy}"
                )
            places[task.key] = here
            tasks.append(task)
    given = {
        key: _whole(document[key]) if "replications" in key else document[key]
        for key in _STUDY
        if key in document
    }
    return _made(partial(Study, tasks), given)


def _replaced(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with changes; what says how many replications there are to be takes the
    place of all that said so."""
    for key in changes:
        if key not in _STUDY:
            known = ", ".join(_STUDY)
            raise ArgumentTypeError(
                key, f"{key} is no change that a study's file takes; choose among {known}"
            )
    given = {key: value for key, value in changes.items() if value is not None}
    without = _HOW_MANY if given.keys() & _HOW_MANY else set()
    return {key: value for key, value in document.items() if key not in without} | given


# Instances
# --------------------------------------------------------------------------------------------------


def _instances(
    entries: Any, folder: Path
) -> Iterator[tuple[str, str, str, Problem, dict[str, Any]]]:
    """Yield place, place in the sweep (in words, with a comma after it), name, problem and
    parameters of every instance, one by one."""
    for i, entry in enumerate(_list("instances", entries, "one [[instances]] table for each")):
        place = f"instances[{i}]"
        if not isinstance(entry, dict):
            raise StudyFileError(
                f"{place} = {entry!r}: every instance must be a table: write [[instances]]"
            )
        _known(place, entry, _instance_keys())
        name = entry.get("name", f"instance {i + 1}")
        if not isinstance(name, str) or not name:
            raise StudyFileError(f"{place}.name = {name!r}: give a text in quotes")
        entry = {key: _counts(value) if key in _COUNTS else value for key, value in entry.items()}
        swept = {
            key: _list(f"{place}.{key}", value, "with at least one value")
            for key, value in entry.items()
            if key in _SWEPT and isinstance(value, list) and not _is_of_arms(key, entry)
        }
        fixed = {key: value for key, value in entry.items() if key not in swept and key != "name"}
        for values in itertools.product(*(enumerate(values) for values in swept.values())):
            chosen = {key: value for key, (_, value) in zip(swept, values, strict=True)}
            # A value that stands in its list more than once is told by its place.
            points = (
                f"{key}[{at}]" if swept[key].count(value) > 1 else key
                for key, (at, value) in zip(swept, values, strict=True)
            )
            point = "".join(
                f"{key} = {value!r}, " for key, value in zip(points, chosen.values(), strict=True)
            )
            words = ", ".join([name, *(f"{key} = {value}" for key, value in chosen.items())])
            problem = _problem(place, fixed | chosen, folder)
            scalars = {
                key: value
                for key, value in (fixed | chosen).items()
                if isinstance(value, (int, float, str))
            }
            yield place, point, words, problem, scalars


def _is_of_arms(key: str, entry: Mapping[str, Any]) -> bool:
    """Whether a list under a key that may be swept is an argument of the law, a number an arm, such
    as the `low` ends of uniform arms."""
    law = entry.get("law")
    if "family" in entry or not isinstance(law, str) or law not in LAWS:
        return False
    argument = inspect.signature(LAWS[law].__init__).parameters.get(key)
    return argument is not None and argument.annotation == "ArrayLike"


def _instance_keys() -> tuple[str, ...]:
    laws = [
        name
        for cls in LAWS.values()
        for name in inspect.signature(cls.__init__).parameters
        if name != "self"
    ]
    return tuple(
        dict.fromkeys(
            (
                "name",
                "family",
                "n",
                "high",
                "low",
                "middle",
                "gap",
                "ratio",
                "seed",
                "law",
                *laws,
                "column",
                "names",
                "problem",
                "k",
                "m",
                "clusters",
                "required",
                "strict",
                "table_task",
                "instance",
            )
        )
    )


def _problem(place: str, keys: dict[str, Any], folder: Path) -> Problem:
    keys = dict(keys)
    if "table_task" in keys or "instance" in keys:
        given = {
            "task" if key == "table_task" else key: keys.pop(key)
            for key in ("table_task", "instance")
            if key in keys
        }
        _no_more(place, keys, "beside table_task, which names a whole instance")
        return _made(table_problem, given, place)
    strict = {"strict": keys.pop("strict")} if "strict" in keys else {}
    kind = keys.pop("problem", None)
    asked: dict[str, Any] = {key: keys.pop(key) for key in kinds.SIZES if key in keys}
    arms = _arms(place, keys, folder)
    asked = {key: _size(f"{place}.{key}", value, arms.n_arms) for key, value in asked.items()}
    named = None if kind is None else _kind(f"{place}.problem", kind)
    build: Callable[..., Problem] = Problem if named is None else kinds.KINDS[named]
    why = (
        f"problem = {kind!r} needs it"
        if kind
        else "give clusters and required, or a problem such as best_arm"
    )
    wanted = kinds.sizes_of(named)
    for key in wanted:
        if key not in asked:
            raise StudyFileError(f"{place}.{key} is missing: {why}")
    extra: dict[str, Any] = {key: value for key, value in asked.items() if key not in wanted}
    _no_more(place, extra, f"with problem = {kind!r}" if kind else "without a problem such as top")
    problem: Problem = _made(partial(build, arms), asked | strict, place)
    return problem


def _arms(place: str, keys: dict[str, Any], folder: Path) -> Arms:
    law = _choice(f"{place}.law", keys.pop("law", "bernoulli"), tuple(LAWS))
    arguments = inspect.signature(LAWS[law].__init__).parameters
    if "family" in keys:
        name = _choice(f"{place}.family", keys.pop("family"), _FAMILIES)
        if "means" not in arguments or "rewards" in arguments:
            raise StudyFileError(
                f"{place}.family = {name!r}: law {law} is not made from means; choose law "
                "bernoulli or gaussian"
            )
        family = getattr(families, name)
        of_family = {
            key: keys.pop(key) for key in inspect.signature(family).parameters if key in keys
        }
        for key, parameter in inspect.signature(family).parameters.items():
            if parameter.default is inspect.Parameter.empty and key not in of_family:
                raise StudyFileError(f"{place}.{key} is missing: family = {name!r} needs it")
        if "means" in keys:
            raise StudyFileError(
                f"{place}.means = {_short(keys['means'])}: family = {name!r} makes the means; "
                "leave one of the two out"
            )
        keys["means"] = _made(family, of_family, place)
    means, names = _named(place, keys, folder)
    keys |= {} if means is None else {"means": means}
    given = {
        key: _from_file(f"{place}.{key}", keys.pop(key), folder)
        if key in _TABLES
        else keys.pop(key)
        for key in arguments
        if key in keys
    }
    _no_more(place, keys, f"with law = {law!r} here")
    for key, parameter in arguments.items():
        if key != "self" and parameter.default is inspect.Parameter.empty and key not in given:
            raise StudyFileError(
                f"{place}.{key} is missing: law {law} needs it"
                + (", or give a family" if key == "means" else "")
            )
    arms: Arms = _made(LAWS[law], given, place)
    return arms if names is None else _made(arms.with_names, {"names": names}, place)


def _named(place: str, keys: dict[str, Any], folder: Path) -> tuple[Any, Any]:
    """Return the means of a file with a header, None where there is no such file, and the names of
    the arms, which may be a column of it; take `column` and `names` out of the keys."""
    column, names = keys.pop("column", None), keys.pop("names", None)
    if not (column is None or isinstance(column, str)):
        raise StudyFileError(f"{place}.column = {_short(column)}: give the name of a column")
    if not (names is None or isinstance(names, str) or _texts(names)):
        raise StudyFileError(
            f"{place}.names = {_short(names)}: give the name of a column, or a list of texts"
        )
    means, listed = keys.get("means"), None if isinstance(names, str) else names
    file = place_of(folder, means.removeprefix("@")) if isinstance(means, str) else None

    def read(means: object = None, **columns: str) -> Means | None:
        return means_in(file, **columns)

    of_file = {"means": means, "column": column, "names": names if listed is None else None}
    given = {key: value for key, value in of_file.items() if value is not None}
    table = _made(read, given, place)
    return (None, listed) if table is None else (table.values, listed or table.names)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _from_file(path: str, value: Any, folder: Path) -> Any:
    if not isinstance(value, str):
        if _holds_booleans(value):
            raise StudyFileError(
                f"{path} = {_short(value)}: it holds true or false; give numbers, such as 1 and 0"
            )
        return value
    return _within(
        path, value, lambda name: parse_array(f"@{place_of(folder, name.removeprefix('@'))}")
    )


def _holds_booleans(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, list) and any(map(_holds_booleans, value)))


def _size(path: str, value: Any, n: int) -> Any:
    """Return a number from a share such as 20%, sizes from proportions such as 3:5:2."""
    return _within(path, value, partial(kinds.size, n=n)) if isinstance(value, str) else value


# Words
# --------------------------------------------------------------------------------------------------


def _within(path: str, value: Any, make: Callable[[Any], Any]) -> Any:
    """Return what is made of a value, or say where the value stands that cannot be used."""
    try:
        return make(value)
    except _FLAWS as error:
        raise StudyFileError(f"{path} = {_short(value)}: {told(error, _Toml())}") from None


def _made(make: Callable[..., Made], values: Mapping[str, Any], place: str = "") -> Made:
    """Return what is made of values, or say which of them cannot be used."""
    try:
        return make(**values)
    except _FLAWS as error:
        words = told(error, _Toml())
        name = error.argument if isinstance(error, ArgumentError) else None
        if name is not None and name in values:
            path = f"{place}.{'table_task' if name == 'task' else name}".lstrip(".")
            raise StudyFileError(f"{path} = {_short(values[name])}: {words}") from None
        raise StudyFileError(f"{place}: {words}" if place else words) from None


def _known(place: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise StudyFileError(
                f"{f'{place}.{key}'.lstrip('.')} = {_short(value)}: there is no such key; {remedy}"
            )


def _no_more(place: str, keys: Mapping[str, Any], why: str) -> None:
    for key, value in keys.items():
        raise StudyFileError(
            f"{place}.{key} = {_short(value)}: it has no meaning {why}; leave it out"
        )


def _kind(path: str, value: Any) -> str:
    """Return the kind of problem that a value names."""
    kind = kinds.kind_of(value) if isinstance(value, str) else None
    if kind is None:
        known = ", ".join(kinds.names())
        raise StudyFileError(f"{path} = {_short(value)}: choose one of {known}")
    return kind


def _choice(path: str, value: Any, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value.lower() not in known:
        raise StudyFileError(f"{path} = {_short(value)}: choose one of {', '.join(known)}")
    return value.lower()


def _list(path: str, value: Any, example: str) -> list[Any]:
    if value is None or value == []:
        raise StudyFileError(
            f"{path} is {'missing' if value is None else 'empty'}: give a list, {example}"
        )
    if not isinstance(value, list):
        raise StudyFileError(f"{path} = {_short(value)}: give a list, {example}")
    return value


def _algorithm(text: Any) -> Algorithm:
    if not isinstance(text, str):
        raise TypeError('give a text in quotes, such as "vanilla"')
    return algorithm_from_text(text)


def _whole(value: Any) -> Any:
    """Return 1e6 as an integer, for TOML has no other way to write it short; everything else as it
    is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _counts(value: Any) -> Any:
    return [_whole(one) for one in value] if isinstance(value, list) else _whole(value)
