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

import itertools
import os
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.text import algorithm_from_text
from rai_sim.simulation.simulate import checked_experiment
from rai_sim.study.file_instances import instances_of
from rai_sim.study.file_values import StudyFileError, list_of, made, no_other_keys, whole, within
from rai_sim.study.grid import Study
from rai_sim.study.task import Task
from rai_sim.support.checks import check_delta
from rai_sim.support.errors import ArgumentTypeError
from rai_sim.support.files import place_of, remedy_of
from rai_sim.support.reading import inputs_noted, read_text
from rai_sim.support.values import path_of

#: Keys at the top whose values `Study` checks, those that decide a task's numbers, with defaults,
#: and all.
_STUDY = ("replications", "precision", "most_replications", "keep", "until", "alpha")
#: Those that say how many replications there are to be: one that is changed puts the others out.
_HOW_MANY = {"replications", "precision", "until"}
_NUMBERS = {"seed": 0, "skip_error": 1e-12}
_TOP = ("algorithms", "delta", *_STUDY, *_NUMBERS, "max_pulls", "store", "instances")


def read_study(path: str | os.PathLike[str], **changes: Any) -> Study:
    """Read a study from a TOML file, with some keys' values in place of the file's, which are refused
    as arguments (see `Study.from_toml`)."""
    place = path_of("path", path)
    with inputs_noted():  # a sweep reads a file of means once for each of its values
        return _study(_read(place), place.parent, changes)


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
            f"{os.fspath(path)!r} cannot be read: {error.strerror or error}; "
            f"{remedy_of(error) or 'name a TOML file'}"
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
    no_other_keys("", document, _TOP)
    document = _replaced(document, changes)
    texts = list_of("algorithms", document.get("algorithms"), 'such as ["vanilla", "lucb"]')
    algorithms = [within(f"algorithms[{i}]", text, _algorithm) for i, text in enumerate(texts)]
    deltas = document.get("delta", 0.01)
    deltas = list_of(
        "delta", deltas if isinstance(deltas, list) else [deltas], "such as [0.1, 0.01]"
    )
    levels = [within(f"delta[{i}]", value, check_delta) for i, value in enumerate(deltas)]
    numbers = {key: whole(document.get(key, default)) for key, default in _NUMBERS.items()}
    caps = document.get("max_pulls")
    caps = list_of("max_pulls", caps, "such as [1e3, 1e4]") if isinstance(caps, list) else [caps]
    grid: tuple[list[Any], ...] = algorithms, levels, caps
    tasks: list[Task] = []
    places: dict[str, str] = {}
    named: dict[str, str] = {}
    for place, swept, name, problem, parameters in instances_of(document.get("instances"), folder):
        if named.setdefault(name, place) != place:
            raise StudyFileError(
                f"{place}.name = {name!r}: {named[name]} has this name; give every instance its own"
            )
        for (a, algorithm), (d, delta), (k, cap) in itertools.product(*map(enumerate, grid)):
            of_task = numbers | {"max_pulls": whole(cap)}
            run = made(partial(checked_experiment, problem, algorithm, delta), of_task)
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
        key: whole(document[key]) if "replications" in key else document[key]
        for key in _STUDY
        if key in document
    }
    asked = [key for key, value in changes.items() if value is not None]
    return made(partial(Study, tasks), given, arguments=asked)


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


def _algorithm(text: Any) -> Algorithm:
    if not isinstance(text, str):
        raise TypeError('give a text in quotes, such as "vanilla"')
    return algorithm_from_text(text)
