"""Instances in a study's file: lists that sweep, where the means come from, which law the arms have,
and what is asked for.

A function belongs here if it reads a key of an `[[instances]]` table (`rai_sim.study.file` has
them all).
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rai_sim import instances as families
from rai_sim import kinds
from rai_sim.arms.base import LAWS, Arms
from rai_sim.problem import Problem, table_problem
from rai_sim.study.file_values import (
    StudyFileError,
    choice,
    counts,
    list_of,
    made,
    no_more,
    no_other_keys,
    within,
)
from rai_sim.support.files import place_of
from rai_sim.support.named_means import Means, means_in
from rai_sim.support.parsing import reader_of
from rai_sim.support.wording import quoted

_FAMILIES = ("evenly_spaced", "linear_gaps", "geometric_gaps", "one_apart", "random_means")
#: Keys of an instance that families of means take.
_OF_FAMILIES = ("n", "high", "low", "middle", "gap", "ratio", "seed")
#: Keys of an instance that may hold a list to sweep over.
_SWEPT = (
    *_OF_FAMILIES,
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


def instances_of(
    entries: Any, folder: Path
) -> Iterator[tuple[str, str, str, Problem, dict[str, Any]]]:
    """Yield place, place in the sweep (in words, with a comma after it), name, problem and
    parameters of every instance, one by one."""
    for i, entry in enumerate(list_of("instances", entries, "one [[instances]] table for each")):
        place = f"instances[{i}]"
        if not isinstance(entry, dict):
            raise StudyFileError(
                f"{place} = {entry!r}: every instance must be a table: write [[instances]]"
            )
        no_other_keys(place, entry, _instance_keys())
        name = entry.get("name", f"instance {i + 1}")
        if not isinstance(name, str) or not name.strip(" "):
            raise StudyFileError(f"{place}.name = {name!r}: give a text in quotes")
        entry = {key: counts(value) if key in _COUNTS else value for key, value in entry.items()}
        swept = {
            key: list_of(f"{place}.{key}", value, "with at least one value")
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
                *_OF_FAMILIES,
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
        no_more(place, keys, "beside table_task, which names a whole instance")
        return made(table_problem, given, place)
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
    no_more(place, extra, f"with problem = {kind!r}" if kind else "without a problem such as top")
    problem: Problem = made(partial(build, arms), asked | strict, place)
    return problem


def _arms(place: str, keys: dict[str, Any], folder: Path) -> Arms:
    law = choice(f"{place}.law", keys.pop("law", "bernoulli"), tuple(LAWS))
    arguments = inspect.signature(LAWS[law].__init__).parameters
    if "family" in keys:
        name = choice(f"{place}.family", keys.pop("family"), _FAMILIES)
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
                f"{place}.means = {quoted(keys['means'])}: family = {name!r} makes the means; "
                "leave one of the two out"
            )
        keys["means"] = made(family, of_family, place)
    means, names = _named(place, keys, folder)
    keys |= {} if means is None else {"means": means}
    given = {
        key: _from_file(place, key, keys.pop(key), folder) if key in _TABLES else keys.pop(key)
        for key in arguments
        if key in keys
    }
    no_more(place, keys, f"with law = {law!r} here")
    for key, parameter in arguments.items():
        if key != "self" and parameter.default is inspect.Parameter.empty and key not in given:
            raise StudyFileError(
                f"{place}.{key} is missing: law {law} needs it"
                + (", or give a family" if key == "means" else "")
            )
    arms: Arms = made(LAWS[law], given, place)
    return arms if names is None else made(arms.with_names, {"names": names}, place)


def _named(place: str, keys: dict[str, Any], folder: Path) -> tuple[Any, Any]:
    """Return the means of a file with a header, None where there is no such file, and the names of
    the arms, which may be a column of it; take `column` and `names` out of the keys."""
    column, names = keys.pop("column", None), keys.pop("names", None)
    if not (column is None or isinstance(column, str)):
        raise StudyFileError(f"{place}.column = {quoted(column)}: give the name of a column")
    if not (names is None or isinstance(names, str) or _texts(names)):
        raise StudyFileError(
            f"{place}.names = {quoted(names)}: give the name of a column, or a list of texts"
        )
    means, listed = keys.get("means"), None if isinstance(names, str) else names
    file = place_of(folder, means.removeprefix("@")) if isinstance(means, str) else None

    def read(means: object = None, **columns: str) -> Means | None:
        return means_in(file, **columns)

    of_file = {"means": means, "column": column, "names": names if listed is None else None}
    given = {key: value for key, value in of_file.items() if value is not None}
    table = made(read, given, place)
    return (None, listed) if table is None else (table.values, listed or table.names)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _from_file(place: str, key: str, value: Any, folder: Path) -> Any:
    path, read = f"{place}.{key}", reader_of(key)
    if not isinstance(value, str):
        if _holds_booleans(value):
            raise StudyFileError(
                f"{path} = {quoted(value)}: it holds true or false; give numbers, such as 1 and 0"
            )
        return value
    return within(path, value, lambda name: read(f"@{place_of(folder, name.removeprefix('@'))}"))


def _holds_booleans(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, list) and any(map(_holds_booleans, value)))


def _size(path: str, value: Any, n: int) -> Any:
    """Return a number from a share such as 20%, sizes from proportions such as 3:5:2."""
    return within(path, value, partial(kinds.size, n=n)) if isinstance(value, str) else value


def _kind(path: str, value: Any) -> str:
    """Return the kind of problem that a value names."""
    kind = kinds.kind_of(value) if isinstance(value, str) else None
    if kind is None:
        known = ", ".join(kinds.names())
        raise StudyFileError(f"{path} = {quoted(value)}: choose one of {known}")
    return kind
