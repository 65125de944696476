"""Studies as TOML files: what they mean, and what is wrong with them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study_files import GOOD, SWEEP, check_refused, study_of

import rai_sim as rai
from rai_sim.study import Study
from rai_sim.study.file import store_of
from rai_sim.study.file_values import StudyFileError
from rai_sim.support.errors import ArgumentValueError


def test_a_whole_study(tmp_path: Path) -> None:
    """Every way to give an instance, swept keys, all keys at the top."""
    np.savetxt(tmp_path / "means.csv", [0.9, 0.7, 0.2])
    np.save(tmp_path / "rewards.npy", np.array([[1.0, 1.0], [0.0, 0.0]]))
    study = study_of(
        tmp_path,
        """
        algorithms = ["vanilla:merging=false", "lucb"]
        delta = [0.2, 0.05]
        precision = 0.02
        most_replications = 1e6
        seed = 7
        skip_error = 1e-9
        max_pulls = 1e9
        keep = "aggregates"
        [[instances]]
        table_task = [1, 3]
        instance = "printed"
        [[instances]]
        name = "file"
        means = "means.csv"
        problem = "full_ranking"
        [[instances]]
        name = "gaussian"
        law = "gaussian"
        sd = [0.1, 0.4]
        family = "geometric_gaps"
        n = [10, 20]
        ratio = 1.5
        problem = "m_of_top"
        k = "50%"
        m = "20%"
        [[instances]]
        name = "stars"
        law = "Categorical"
        values = [0.0, 0.5, 1.0]
        probabilities = [[0.1, 0.2, 0.7], [0.7, 0.2, 0.1]]
        problem = "best_arm"
        [[instances]]
        name = "log"
        law = "recorded"
        rewards = "rewards.npy"
        problem = "top"
        k = 1
        [[instances]]
        name = "wide"
        law = "gaussian"
        means = [3.0, 1.0]
        sd = 2.0
        strict = false
        clusters = [1, 1]
        required = [0, 1]
        [[instances]]
        name = "random"
        family = "random_means"
        n = 20
        seed = [1, 2]
        problem = "coarse_ranking"
        clusters = "3:5:2"
    """,
    )
    names = [
        "instance 1, table_task = 1",
        "instance 1, table_task = 3",
        "file",
        *(f"gaussian, sd = {sd}, n = {n}" for n in (10, 20) for sd in (0.1, 0.4)),
        "stars",
        "log",
        "wide",
        "random, seed = 1",
        "random, seed = 2",
    ]
    assert sorted({task.instance for task in study.tasks}) == sorted(names)
    assert len(study.tasks) == len(names) * 4
    assert (study.replications, study.precision, study.most_replications, study.keep) == (
        None,
        0.02,
        10**6,
        "aggregates",
    )
    found = {task.instance: task.experiment for task in study.tasks}
    one = found["gaussian, sd = 0.4, n = 20"]
    assert (one.seed, one.skip_error, one.max_pulls) == (7, 1e-9, 10**9)
    assert {(task.experiment.algorithm, task.experiment.delta) for task in study.tasks} == {
        (algorithm, delta)
        for algorithm in (rai.Vanilla(merging=False), rai.LUCB())
        for delta in (0.2, 0.05)
    }
    assert one.problem == rai.m_of_top(
        rai.Gaussian(rai.instances.geometric_gaps(20, ratio=1.5), sd=0.4), 4, 10
    )
    assert found["instance 1, table_task = 3"].problem == rai.table_problem(
        task=3, instance="printed"
    )
    assert found["file"].problem == rai.full_ranking(rai.Bernoulli([0.9, 0.7, 0.2]))
    assert found["stars"].problem == rai.best_arm(
        rai.Categorical([0.0, 0.5, 1.0], [[0.1, 0.2, 0.7], [0.7, 0.2, 0.1]])
    )
    assert found["log"].problem == rai.top(rai.Recorded([[1.0, 1.0], [0.0, 0.0]]), 1)
    assert found["wide"].problem.clusters == (1, 1)
    assert found["random, seed = 2"].problem == rai.coarse_ranking(
        rai.Bernoulli(rai.instances.random_means(20, seed=2)), (6, 10, 4)
    )
    parameters = {task.instance: task.parameters for task in study.tasks}
    assert parameters["gaussian, sd = 0.4, n = 20"] == {
        "law": "gaussian",
        "sd": 0.4,
        "family": "geometric_gaps",
        "n": 20,
        "ratio": 1.5,
        "problem": "m_of_top",
        "k": "50%",
        "m": "20%",
    }


def test_defaults_and_changes(tmp_path: Path) -> None:
    """delta 0.01, seed 0, 1000 replications; changes take the place of both ways to say how
    many."""
    text = GOOD.replace("replications = 10", "")
    study = study_of(tmp_path, text)
    assert study.replications == 1000
    assert (
        study.tasks[0].experiment.identity()
        == rai.simulate(
            rai.best_arm(rai.Bernoulli([0.9, 0.5])), rai.Vanilla(), replications=1, seed=0
        ).experiment.identity()
    )
    path = tmp_path / "study.toml"
    path.write_text(GOOD)
    assert Study.from_toml(path, replications=5).replications == 5
    assert Study.from_toml(path, replications=None, precision=None).replications == 10
    changed = Study.from_toml(path, precision=0.1, keep="aggregates")
    assert (changed.replications, changed.precision, changed.keep) == (None, 0.1, "aggregates")
    known = Study.from_toml(path, until="error-rate", alpha=0.01)
    assert (known.replications, known.until, known.alpha) == (None, "error rate", 0.01)
    path.write_text(
        path.read_text().replace("replications = 10", 'until = "error rate"\nalpha = 0.02')
    )
    read_again = Study.from_toml(path)
    assert (read_again.until, read_again.alpha, read_again.precision) == ("error rate", 0.02, None)
    assert Study.from_toml(path, replications=7).until is None
    assert Study.from_toml(path, precision=0.1).until is None
    both = Study.from_toml(path, precision=0.1, until="error rate")
    assert (both.until, both.precision) == ("error rate", 0.1)
    with pytest.raises(
        TypeError,
        match="seed is no change that a study's file takes; choose among replications, precision",
    ):
        Study.from_toml(path, seed=3)
    changes: tuple[dict[str, Any], ...] = ({"precision": 2.0}, {"keep": "all"}, {"alpha": 0.0})
    for change in changes:
        (name,) = change
        with pytest.raises(ArgumentValueError, match=f"^{name} is ") as refusal:
            Study.from_toml(path, **change)
        assert refusal.value.argument == name


def test_where_results_are_kept(tmp_path: Path) -> None:
    """Beside the file, unless it says where."""
    path = tmp_path / "a.b.toml"
    path.write_text(GOOD)
    assert store_of(path) == tmp_path / "a.b.study"
    path.write_text('store = "results/here"\n' + GOOD)
    assert store_of(path) == tmp_path / "results" / "here"
    path.write_text("store = 3\n" + GOOD)
    with pytest.raises(StudyFileError, match="store = 3: give the name of a folder, in quotes"):
        store_of(path)
    path.write_text('store = "a\\u0000b"\n' + GOOD)
    with pytest.raises(StudyFileError, match=r"store = .*: give the name of a folder, in quotes"):
        store_of(path)
    odd = tmp_path / "odd.study"
    odd.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert store_of(odd) == tmp_path / "odd.results"
    assert len(Study.from_toml(odd).tasks) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("replications", "xyz", "xyz = 10: there is no such key; known are algorithms, delta"),
        ('["vanilla"]', "[]", r"algorithms is empty: give a list, such as"),
        ('algorithms = ["vanilla"]', "", r"algorithms is missing: give a list, such as"),
        ('["vanilla"]', '"vanilla"', r"algorithms = 'vanilla': give a list"),
        (
            '["vanilla"]',
            '["vanila"]',
            r"algorithms\[0\] = 'vanila': vanila is no algorithm; known are",
        ),
        (
            '["vanilla"]',
            '["lucb", "vanilla:merg=1"]',
            r"algorithms\[1\] = 'vanilla:merg=1': "
            r".*there is no option 'merg'; write",
        ),
        ('["vanilla"]', "[3]", r"algorithms\[0\] = 3: give a text in quotes"),
        (
            "replications = 10",
            "replications = 10.5",
            r"replications = 10\.5: replications must be "
            r"an integer",
        ),
        (
            "replications = 10",
            'replications = "x"',
            r"replications = 'x': replications must be an "
            r"integer",
        ),
        (
            "replications = 10",
            "precision = 2",
            r"precision = 2: precision is 2; it is a share of "
            r"the mean",
        ),
        (
            "replications = 10",
            "precision = 1e-200",
            r"precision = 1e-200: precision is 1e-200; it "
            r"is a share of the mean",
        ),
        ("replications = 10", f"skip_error = 1{'0' * 400}", r"skip_error = 10+\.\.\.: .*"),
        ("replications = 10", f"seed = 1{'0' * 5000}", r"is no TOML that can be read: .*"),
        (
            "replications = 10",
            f"seed = {'[' * 5000}1{']' * 5000}",
            r"is no TOML that can be read: .*",
        ),
        (
            "replications = 10",
            "delta = 2020-01-01",
            r"delta\[0\] = datetime\.date\(2020, 1, 1\): "
            r"delta is",
        ),
        (
            "replications = 10",
            'until = "errors"',
            r"until = 'errors': until is 'errors'; the one that there is is 'error rate'",
        ),
        (
            "replications = 10",
            "replications = 5\nprecision = 0.1",
            r"precision = 0\.1: .* give "
            r"one of the two",
        ),
        (
            "replications = 10",
            "seed = -1",
            r"seed = -1: seed is -1; it must be a non-negative "
            r"integer$",
        ),
        ("replications = 10", "seed = [1]", r"seed = \[1\]: seed must be an integer"),
        ("replications = 10", "skip_error = 1", r"skip_error = 1: .*it must lie between 0"),
        (
            "replications = 10",
            "max_pulls = 0",
            r"max_pulls = 0: max_pulls is 0; it must be at "
            r"least 1",
        ),
        ("replications = 10", 'keep = "all"', r"keep = 'all': keep is 'all'; choose one of"),
        (
            "replications = 10",
            "delta = 2",
            r"delta\[0\] = 2: delta is 2; it must be an error "
            r"probability",
        ),
        ("replications = 10", "delta = [0.1, true]", r"delta\[1\] = True: delta is True"),
        ("replications = 10", "delta = []", "delta is empty: give a list"),
        (
            "replications = 10",
            "delta = [0.1, 0.1]",
            r"instances\[0\] with algorithms\[0\] and "
            r"delta\[1\] .* is the same task as instances",
        ),
        (
            "means = [0.9, 0.5]",
            'family = "evenly_spaced"\nn = [2, 2]',
            r"instances\[0\] with "
            r".*two arms, n = 2.* is "
            r"the same task as",
        ),
        ("algorithms =", "algorithms", r"'.*study\.toml' is no TOML that can be read: .*line 2"),
        (GOOD, "", "algorithms is missing"),
        (
            GOOD,
            GOOD + GOOD[GOOD.index("[[") :],
            r"instances\[1\]\.name = 'two arms': "
            r"instances\[0\] has this name",
        ),
        (
            GOOD,
            GOOD + GOOD[GOOD.index("[[") :].replace("two", "2"),
            r"instances\[1\] with .* is "
            r"the same task as "
            r"instances\[0\] with",
        ),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """The key's path, the value, the remedy."""
    check_refused(tmp_path, old, new, message)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Said as for every other file."""
    with pytest.raises(
        StudyFileError, match="cannot be read: No such file or directory; name a TOML file"
    ):
        Study.from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("swept", "message"),
    [
        (
            "",
            "instances[0] with n = 4, k = '50%', algorithms[0] and delta[0] (top, n = 4, k = "
            "50%, Vanilla(merging=True), delta 0.01) "
            "is the same task as instances[0] with n = 4, k = 2, algorithms[0] and delta[0]; "
            "leave one of them out; a sweep may be cut "
            "into several [[instances]]",
        ),
        (
            "n = [4, 4]",
            "instances[0] with k = 1, n[1] = 4, algorithms[0] and delta[0] (top, k = "
            "1, n = 4, Vanilla(merging=True), delta "
            "0.01) is the same task as instances[0] with k = 1, n[0] = 4, "
            "algorithms[0] and delta[0]; leave one",
        ),
        (
            "k = [1, 1]",
            "instances[0] with n = 4, k[1] = 1, algorithms[0] and delta[0] (top, n = "
            "4, k = 1, Vanilla",
        ),
        (
            "high = [0.9, 9e-1]",
            "instances[0] with n = 4, k = 1, high[1] = 0.9, algorithms[0] and "
            "delta[0] (top, n = 4, k = 1, high = ",
        ),
    ],
)
def test_a_task_twice_in_a_sweep_is_named_by_both_places(
    tmp_path: Path, swept: str, message: str
) -> None:
    """The place in the sweep is said of either; nothing is left out in silence."""
    key = swept.partition(" ")[0]
    lines = [line for line in SWEEP.splitlines() if not key or not line.startswith(f"{key} =")]
    text = "\n".join([*lines, swept])
    with pytest.raises(StudyFileError) as caught:
        study_of(tmp_path, text)
    assert str(caught.value).startswith(message)


def test_a_sweep_in_pieces_has_each_task_once(tmp_path: Path) -> None:
    """The remedy that the message names works."""
    piece = SWEEP[SWEEP.index("[[") :]
    half = (
        piece.replace('"top"\nfamily', '"half"\nfamily')
        .replace('[1, 2, "50%"]', '"50%"')
        .replace("[4, 8]", "8")
    )
    text = SWEEP.replace('[1, 2, "50%"]', "[1, 2]") + half
    assert [
        task.experiment.problem.required[0] for task in study_of(tmp_path, text).tasks[::2]
    ] == [
        1,
        2,
        1,
        2,
        4,
    ]


@pytest.mark.landing
def test_a_file_is_read_without_the_command_line() -> None:
    """Neither its modules nor its parser are loaded."""
    code = "import sys, rai_sim.study.file; print([name for name in sys.modules if name.startswith(('rai_sim.cli', 'typer'))])"
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(rai.__file__).parents[1],
    )
    assert found.stdout == "[]\n"


def test_a_file_from_windows_is_read(tmp_path: Path) -> None:
    """Lines end in CR and LF, and folders in names are parted by backslashes, also in the file of
    means and in that of the results; a backslash that TOML takes for an escape is explained."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "m.csv").write_bytes(b"0.9\r\n0.1\r\n")
    lines = [
        'algorithms = ["vanilla"]',
        "store = 'out\\gaps.study'",
        "[[instances]]",
        'name = "two"',
        'means = "data\\\\m.csv"',
        'problem = "best_arm"',
    ]
    file = tmp_path / "gaps.toml"
    file.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    (task,) = rai.Study.from_toml(file).tasks
    assert task.experiment.problem.arms.means.tolist() == [0.9, 0.1]
    assert store_of(file) == tmp_path / "out" / "gaps.study"
    file.write_text(file.read_text().replace("\\\\", "\\"))
    with pytest.raises(StudyFileError, match=r"write / for .*, or put them in 'single quotes'"):
        rai.Study.from_toml(file)


def test_several_budgets(tmp_path: Path) -> None:
    """A list of caps makes a task of each; one twice is told by its place, and a wrong one by its
    value."""
    file = tmp_path / "budgets.toml"
    text = 'algorithms = ["lucb"]\nmax_pulls = {}\n[[instances]]\nmeans = [0.9, 0.1]\nproblem = "best_arm"'
    file.write_text(text.format("[100, 1e3]"))
    caps = [task.experiment.max_pulls for task in Study.from_toml(file).tasks]
    assert caps == [100, 1000]
    for value, words in (
        ("[]", "max_pulls is empty"),
        ("[100, 0]", "max_pulls = 0: max_pulls is 0; it must be at least 1"),
        ("[100, 100]", r"delta\[0\] and max_pulls\[1\] .* is the same task as .*max_pulls\[0\]"),
    ):
        file.write_text(text.format(value))
        with pytest.raises(StudyFileError, match=words):
            Study.from_toml(file)
