"""Options of algorithms, one of each kind: through the constructor, simulations, studies and
files."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Capture, document, printed
from own_algorithm import FULL, FULL_TEXT, VARIANTS, Race, known

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.algorithms.text import algorithm_to_text
from rai_sim.study.file_values import StudyFileError
from rai_sim.support.errors import ArgumentError

PAIR = rai.Problem(rai.Bernoulli([0.75, 0.25]), (1, 1), (1, 0))


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Have `Race` known in these tests."""
    with known():
        yield


def test_values_become_plain_ones_and_equal_ones_are_one_experiment() -> None:
    """NumPy's numbers and texts, whole numbers for a float, -0.0."""
    given_: Any = Race
    race = given_(np.float32(0.25), np.int64(5), True, np.str_("x"), np.int8(7), np.uint8(3), 1)
    assert race == Race(0.25, 5, True, "x", 7, 3, 1.0)
    assert [type(getattr(race, f.name)) for f in fields(race)] == [
        float,
        int,
        bool,
        str,
        int,
        int,
        float,
    ]
    assert repr(given_(-0.0)) == repr(Race(0.0))
    assert rai.simulate(PAIR, given_(1), replications=2, seed=0) == rai.simulate(
        PAIR, Race(1.0), replications=2, seed=0
    )
    assert (
        FULL.label
        == "Race(width=0.25, rounds=5, greedy=True, note='a, \"b\"=:ü', mode='slow', limit=12, "
        "share=0.5)"
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"width": "wide"}, TypeError, "Race: width must be a finite number; got 'wide'"),
        ({"width": True}, TypeError, "Race: width must be a finite number; got True"),
        ({"width": None}, TypeError, "Race: width must be a finite number; got None"),
        ({"width": float("nan")}, ValueError, "Race: width is nan; give a finite number"),
        ({"width": 10**400}, ValueError, "Race: width is inf; give a finite number"),
        ({"rounds": 2.0}, TypeError, "Race: rounds must be an integer; got 2.0; write 2"),
        ({"rounds": True}, TypeError, "Race: rounds must be an integer; got True"),
        (
            {"rounds": 2**63},
            ValueError,
            "Race: rounds is 9223372036854775808; give an integer of 64 bits: from -2^63 to 2^63 - 1",
        ),
        ({"greedy": 1}, TypeError, "Race: greedy must be True or False; got 1"),
        ({"greedy": np.True_}, TypeError, "Race: greedy must be True or False; got np.True_"),
        ({"note": 3}, TypeError, "Race: note must be a text; got 3"),
        (
            {"note": "\ud800"},
            ValueError,
            "Race: note is '\\ud800'; give a text without half of a surrogate pair",
        ),
        ({"mode": "medium"}, ValueError, "Race: mode must be 'fast', 'slow' or 7; got 'medium'"),
        ({"mode": 7.0}, TypeError, "Race: mode must be 'fast', 'slow' or 7; got 7.0"),
        ({"mode": True}, TypeError, "Race: mode must be 'fast', 'slow' or 7; got True"),
        ({"limit": "none"}, TypeError, "Race: limit must be an integer or None; got 'none'"),
        ({"share": [0.5]}, TypeError, "Race: share must be a finite number or None; got [0.5]"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """The option, its value and the remedy; the error carries the option's name."""
    with pytest.raises(error) as caught:
        Race(**({"width": 1.0} | options))
    assert str(caught.value) == message
    assert isinstance(caught.value, ArgumentError)
    assert caught.value.argument == next(iter(options))


def test_annotations_that_are_no_options_are_refused() -> None:
    """When such an algorithm is made, with the way out; so is the one name that studies need."""

    @dataclass(frozen=True)
    class Listed(Race):
        weights: list[float] = field(default_factory=list)

    @dataclass(frozen=True)
    class Named(Race):
        name: str = "x"

    del ALGORITHMS["listed"], ALGORITHMS["named"]
    with pytest.raises(
        TypeError,
        match=r"Listed: option weights is annotated as .*list\[float\].*; annotate it as bool, "
        r"int, float",
    ):
        Listed(0.5)
    with pytest.raises(
        TypeError,
        match="Named: option name has the name under which studies keep the algorithm's own; "
        "rename it",
    ):
        Named(0.5)


def test_a_study_runs_reopens_and_resumes(tmp_path: Path) -> None:
    """Every variant is a task of its own, with its own numbers, found again by identity."""
    study = rai.Study.grid({"pair": PAIR}, VARIANTS, [0.1], replications=4)
    assert len({task.key for task in study.tasks}) == len(VARIANTS)
    first = study.run(tmp_path)
    opened = rai.open_study(tmp_path)
    found = {task.experiment.algorithm: task.key for task in opened.tasks}
    assert found == {task.experiment.algorithm: task.key for task in study.tasks}
    assert {repr(algorithm) for algorithm in found} == set(map(repr, VARIANTS))
    assert not opened.verify(8, n_jobs=1).mismatches
    for task in study.tasks:
        race = task.experiment.algorithm
        assert first.result(task) == rai.simulate(PAIR, race, delta=0.1, replications=4, seed=0)
    more = rai.Study.grid({"pair": PAIR}, VARIANTS, [0.1], replications=6).run(tmp_path)
    assert more.progress() == (6 * len(VARIANTS), 6 * len(VARIANTS))
    assert more.summary()["algorithm"].to_list() == [race.label for race in VARIANTS]
    assert [task.experiment.algorithm for task in more.select(algorithm=FULL).tasks] == [FULL]


def test_files_and_the_command_line_take_them(tmp_path: Path, capsys: Capture) -> None:
    """The same tasks as from Python; run repeats itself by its own words."""
    file = tmp_path / "race.toml"
    lines = [
        f"algorithms = {json.dumps(list(map(algorithm_to_text, VARIANTS)))}",
        "delta = 0.1",
        "replications = 4",
    ]
    file.write_text(
        "\n".join(
            [
                *lines,
                '[[instances]]\nname = "pair"\nmeans = [0.75, 0.25]\nclusters = [1, 1]\nrequired '
                "= [1, 0]\n",
            ]
        )
    )
    wanted = rai.Study.grid({"pair": PAIR}, VARIANTS, [0.1], replications=4)
    assert [task.key for task in rai.Study.from_toml(file).tasks] == [
        task.key for task in wanted.tasks
    ]
    printed(capsys, f"study '{file}' --no-progress")
    assert wanted.results(tmp_path / "race.study").progress() == (
        4 * len(VARIANTS),
        4 * len(VARIANTS),
    )
    words = "run --means 0.75,0.25 --clusters 1,1 --required 1,0 --delta 0.1 --replications 4 --algorithm"
    found = document(capsys, f"{words} '{FULL_TEXT}'")
    assert found["runs"][0]["algorithm"] == FULL.label
    again = document(capsys, found["rerun"].removeprefix("rai-sim "))
    assert [run["experiment"] for run in again["runs"]] == [
        run["experiment"] for run in found["runs"]
    ]
    file.write_text(file.read_text().replace("rounds=4", "rounds=4.5"))
    with pytest.raises(
        StudyFileError,
        match=r"algorithms\[2\] = 'race:width=0.25,rounds=4.5.*: rounds is '4.5'; give an integer",
    ):
        rai.Study.from_toml(file)


def test_a_study_of_an_algorithm_that_is_not_imported(tmp_path: Path) -> None:
    """It opens with stand-ins that keep label and identity; other options than the class has now
    are told of."""
    study = rai.Study.grid({"pair": PAIR}, [FULL], [0.1], replications=4)
    study.run(tmp_path)
    del ALGORITHMS["race"]
    try:
        with pytest.warns(
            rai.StoreWarning,
            match=rf"algorithm race is not known here: import {Race.__module__}\.Race before the store "
            "is opened",
        ):
            opened = rai.open_study(tmp_path)
        assert [(task.key, task.experiment.algorithm.label) for task in opened.tasks] == [
            (study.tasks[0].key, FULL.label)
        ]
    finally:
        ALGORITHMS["race"] = Race
