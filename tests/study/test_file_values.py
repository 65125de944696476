"""Values in a study's file: what is taken, and the words for what cannot be used."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from study_files import GOOD, SWEEP, study_of

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
from rai_sim.support.errors import ArgumentValueError


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "required = [1, 0]",
            'required = [1, 0]\nlaw = "gaussian"\nsd = 0.7',
            "rescale the rewards, or set strict = false to go without",
        ),
        (
            "means = [0.9, 0.5]",
            'law = "categorical"\nvalues = [0, 2]\nprobabilities = [[0.5, 0.5], [0.9, 0.1]]',
            "or set strict = false",
        ),
        ('name = "two arms"', 'strict = "no"', "strict is 'no'; it must be true or false"),
    ],
)
def test_messages_are_in_tomls_words(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Not in Python's."""
    with pytest.raises(StudyFileError) as caught:
        study_of(tmp_path, GOOD.replace(old, new))
    assert message in str(caught.value)
    assert "strict=False" not in str(caught.value)


def test_whole_numbers_may_be_written_short(tmp_path: Path) -> None:
    """As 1e1, also where they are swept; what is no integer is refused with the remedy."""
    study = study_of(
        tmp_path, SWEEP.replace("[4, 8]", "[1e1, 2e1]").replace('[1, 2, "50%"]', "2e0")
    )
    assert [(task.instance, task.experiment.problem.n_arms) for task in study.tasks[::2]] == [
        ("top, n = 10", 10),
        ("top, n = 20", 20),
    ]
    with pytest.raises(
        StudyFileError,
        match=r"clusters\[0\] is 1\.0 of type float in clusters=\[1\.0, 1\]; write 1; give integers",
    ):
        study_of(tmp_path, GOOD.replace("clusters = [1, 1]", "clusters = [1.0, 1]"))
    with pytest.raises(StudyFileError, match=r"\.n = 2\.5: n must be an integer; got 2\.5$"):
        study_of(tmp_path, SWEEP.replace("[4, 8]", "2.5"))


def refuse(task: int) -> int:
    """Refuse a task, by name."""
    raise ArgumentValueError("task", f"task is {task}; give less")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: list_of("a", None, "such as [1]"), "a is missing: give a list, such as [1]"),
        (lambda: list_of("a", [], "such as [1]"), "a is empty: give a list, such as [1]"),
        (lambda: list_of("a", 3, "such as [1]"), "a = 3: give a list, such as [1]"),
        (lambda: choice("a.law", "x", ("p", "q")), "a.law = 'x': choose one of p, q"),
        (lambda: choice("a.law", 3, ("p", "q")), "a.law = 3: choose one of p, q"),
        (
            lambda: no_more("a", {"k": 1, "m": 2}, "here"),
            "a.k = 1: it has no meaning here; leave it out",
        ),
        (
            lambda: no_other_keys("", {"delt": 1}, ("delta",)),
            "delt = 1: there is no such key; did you mean delta?",
        ),
        (
            lambda: no_other_keys("a", {"x": 1}, ("law", "n")),
            "a.x = 1: there is no such key; known are law, n",
        ),
        (
            lambda: within("a[0]", "x", int),
            "a[0] = 'x': invalid literal for int() with base 10: 'x'",
        ),
        (lambda: made(refuse, {"task": 9}, "a"), "a.table_task = 9: task is 9; give less"),
        (lambda: made(refuse, {"task": 9}), "table_task = 9: task is 9; give less"),
        (lambda: made(int, {"base": 2}, "a"), "a: int() missing string argument"),
    ],
)
def test_a_value_is_named_by_its_path(ask: Callable[[], Any], message: str) -> None:
    """Key, value, remedy."""
    with pytest.raises(StudyFileError) as caught:
        ask()
    assert str(caught.value) == message


def test_what_can_be_used_is_taken() -> None:
    """In the form that the package has for it."""
    assert list_of("a", [1], "") == [1]
    assert choice("a", "P", ("p", "q")) == "p"
    assert counts([1e3, 2, 0.5, "20%"]) == [1000, 2, 0.5, "20%"]
    assert within("a", "3", int) == 3
    assert made(dict, {"n": 1}, "a") == {"n": 1}
    no_more("a", {}, "here")
    no_other_keys("a", {"n": 1}, ("n",))
