"""Instances in a study's file: what they mean, and what is wrong with them."""

from pathlib import Path

import pytest
from study_files import GOOD, check_refused, study_of

import rai_sim as rai
from rai_sim.study.file_instances import instances_of
from rai_sim.study.file_values import StudyFileError


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "clusters",
            "clustres",
            r"instances\[0\]\.clustres = \[1, 1\]: there is no such key; did "
            r"you mean clusters\?",
        ),
        (
            "[0.9, 0.5]",
            "[0.9, 1.5]",
            r"instances\[0\]\.means = \[0\.9, 1\.5\]: means\[1\] is "
            r"1\.5; a Bernoulli mean is",
        ),
        (
            "[0.9, 0.5]",
            '"none.csv"',
            r"instances\[0\]\.means = 'none\.csv': .*none\.csv cannot be "
            r"read: No such file",
        ),
        (
            "[0.9, 0.5]",
            "[0.5, 0.5]",
            r"instances\[0\]\.clusters = \[1, 1\]: clusters=\(1, 1\) are "
            r"undefined: arms 0 and 1 tie",
        ),
        (
            "[0.9, 0.5]",
            "[true, false]",
            r"instances\[0\]\.means = \[True, False\]: it holds true "
            r"or false; give numbers",
        ),
        (
            "required = [1, 0]",
            'problem = "top"\nk = "0%"',
            r"instances\[0\]\.k = '0%': that is "
            r"none of 2 arms; give a larger share",
        ),
        ("required = [1, 0]", f'problem = "top"\nk = "{"9" * 400}%"', r"instances\[0\]"),
        (
            "means = [0.9, 0.5]",
            'family = "evenly_spaced"\nn = 1000000000000',
            r"\.n = 1000000000000: n is .* at most 100000000",
        ),
        (
            "means = [0.9, 0.5]",
            f'family = "evenly_spaced"\nn = 3\nhigh = 1{"0" * 400}',
            r"\.high = 10+\.\.\.: high is inf",
        ),
        (
            "required = [1, 0]",
            "",
            r"instances\[0\]\.required is missing: give clusters and "
            r"required, or a problem",
        ),
        (
            "required = [1, 0]",
            "required = [2, 0]",
            r"instances\[0\]\.required = \[2, 0\]: "
            r"required\[0\] is 2",
        ),
        (
            "required = [1, 0]",
            "required = [1, 0]\nk = 3",
            r"instances\[0\]\.k = 3: it has no "
            r"meaning without a problem such as top",
        ),
        (
            "required = [1, 0]",
            'problem = "top"',
            r"instances\[0\]\.k is missing: problem = 'top' "
            r"needs it",
        ),
        (
            "required = [1, 0]",
            'problem = "topp"',
            r"instances\[0\]\.problem = 'topp': choose one "
            r"of best_arm",
        ),
        (
            "required = [1, 0]",
            'law = "zipf"',
            r"instances\[0\]\.law = 'zipf': choose one of "
            r"bernoulli",
        ),
        (
            "required = [1, 0]",
            'required = [1, 0]\nlaw = "gaussian"\nsd = 0.7',
            r"instances\[0\]: "
            r"arms are not known to be 1/2-sub",
        ),
        (
            "required = [1, 0]",
            'family = "evenly_spaced"\nn = 2',
            r"\.means = \[0\.9, 0\.5\]: "
            r"family = 'evenly_spaced' makes",
        ),
        (
            "required = [1, 0]",
            "required = [1, 0]\nsd = 0.7",
            r"instances\[0\]\.sd = 0\.7: it has "
            r"no meaning with law = 'bernoulli' here",
        ),
        (
            "required = [1, 0]",
            "table_task = 1",
            r"instances\[0\]\.means = .*: it has no meaning "
            r"beside table_task",
        ),
        (
            "means = [0.9, 0.5]",
            "",
            r"instances\[0\]\.means is missing: law bernoulli needs it, or "
            r"give a family",
        ),
        (
            "means = [0.9, 0.5]",
            'family = "evenly"',
            r"instances\[0\]\.family = 'evenly': choose "
            r"one of evenly_spaced",
        ),
        (
            "means = [0.9, 0.5]",
            'family = "evenly_spaced"',
            r"instances\[0\]\.n is missing: family "
            r"= 'evenly_spaced' needs it",
        ),
        (
            "means = [0.9, 0.5]",
            'family = "evenly_spaced"\nn = []',
            r"instances\[0\]\.n is empty: "
            r"give a list, with at least "
            r"one value",
        ),
        (
            "means = [0.9, 0.5]",
            'family = "evenly_spaced"\nn = 1',
            r"instances\[0\]\.n = 1: n is "
            r"1; it must be at least 2",
        ),
        (
            "means = [0.9, 0.5]",
            'family = "geometric_gaps"\nn = 2\nratio = -1',
            r"\.ratio = -1: ratio is -1\.0; it must be positive",
        ),
        (
            "means = [0.9, 0.5]",
            'law = "recorded"\nfamily = "evenly_spaced"\nn = 2',
            r"\.family = .*law recorded is not made from",
        ),
        (
            "means = [0.9, 0.5]",
            "table_task = [1, 9]\n",
            r"instances\[0\]\.clusters = .*it has no "
            r"meaning beside table_task",
        ),
        (
            "[1, 1]",
            '"1:x"',
            r"instances\[0\]\.clusters = '1:x': give a number, a list of numbers, "
            r"a share",
        ),
        (
            "[1, 1]",
            '"1:0"',
            r"instances\[0\]\.clusters = '1:0': proportions is \(1, 0\); every "
            r"entry must be",
        ),
        ('name = "two arms"', "name = 3", r"instances\[0\]\.name = 3: give a text in quotes"),
        ('name = "two arms"', 'name = " "', r"instances\[0\]\.name = ' ': give a text in quotes"),
        (
            'name = "two arms"',
            "strict = 3",
            r"instances\[0\]\.strict = 3: strict is 3; it must be "
            r"true or false",
        ),
        (
            "[[instances]]",
            "[instances]",
            r"instances = \{'name': 'two arms'.*: give a list, one "
            r"\[\[instances\]\] table for each",
        ),
        (GOOD, 'algorithms = ["lucb"]', "instances is missing: give a list"),
        (GOOD, 'algorithms = ["lucb"]\ninstances = []', "instances is empty: give a list"),
        (
            GOOD,
            'algorithms = ["lucb"]\ninstances = [3]',
            r"instances\[0\] = 3: every instance "
            r"must be a table",
        ),
        (
            GOOD,
            'algorithms = ["lucb"]\n[[instances]]\ntable_task = 9',
            r"instances\[0\]\.table_task = 9: task is 9; it must be",
        ),
        (
            GOOD,
            'algorithms = ["lucb"]\n[[instances]]\ninstance = "x"',
            r"instances\[0\]\.instance "
            r"= 'x': instance is 'x'; "
            r"choose",
        ),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """The key's path, the value, the remedy."""
    check_refused(tmp_path, old, new, message)


FILMS = 'title,year,stars\n"Solaris, 1972",1972,0.75\nStalker,1979,0.875\nMirror,1975,0.5\n'
OWN = """
algorithms = ["vanilla"]
[[instances]]
name = "films"
means = "films.csv"
column = "stars"
names = "title"
problem = "coarse"
clusters = "1:2"
[[instances]]
name = "listed"
means = [0.25, 0.5]
names = ["A", "B"]
problem = "full"
[[instances]]
name = "apart"
means = "films.csv"
column = "stars"
law = "gaussian"
names = ["x", "y", "z"]
problem = "best-arm"
"""


def test_means_and_names_of_a_table(tmp_path: Path) -> None:
    """By their columns, or names as a list; kinds of problems by their short names, as on the
    command line."""
    (tmp_path / "films.csv").write_text(FILMS)
    problems = {task.instance: task.experiment.problem for task in study_of(tmp_path, OWN).tasks}
    means = [0.75, 0.875, 0.5]
    assert problems["films"] == rai.coarse_ranking(rai.Bernoulli(means), (1, 2))
    assert problems["films"].arms.names == ("Solaris, 1972", "Stalker", "Mirror")
    assert problems["listed"] == rai.full_ranking(rai.Bernoulli([0.25, 0.5]))
    assert problems["listed"].arms.names == ("A", "B")
    assert problems["apart"] == rai.best_arm(rai.Gaussian(means))
    assert problems["apart"].arms.names == ("x", "y", "z")


def test_means_in_a_row(tmp_path: Path) -> None:
    """A file may hold them in one line as well, but no table: of decimal commas it would be one."""
    (tmp_path / "row.csv").write_text("0.75,0.5\n")
    (tmp_path / "comma.csv").write_text("0,75\n0,5\n")
    text = 'algorithms = ["vanilla"]\n[[instances]]\nmeans = "row.csv"\nproblem = "full"\n'
    (problem,) = (task.experiment.problem for task in study_of(tmp_path, text).tasks)
    assert problem == rai.full_ranking(rai.Bernoulli([0.75, 0.5]))
    with pytest.raises(
        StudyFileError, match=r"means = 'comma.csv': .*is a table of shape \(2, 2\); give one row"
    ):
        study_of(tmp_path, text.replace("row.csv", "comma.csv"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'column = "stars"\nnames',
            "names",
            r"instances\[0\]: column is not given, but .*'year', ",
        ),
        (
            'column = "stars"',
            'column = "star"',
            r"instances\[0\]\.column = 'star': column is 'star'",
        ),
        (
            'names = "title"',
            'names = "t"',
            r"instances\[0\]\.names = 't': names is 't', but .*films",
        ),
        (
            'names = "title"',
            "names = 3",
            r"instances\[0\]\.names = 3: give the name of a column, or",
        ),
        (
            'column = "stars"',
            "column = 3",
            r"instances\[0\]\.column = 3: give the name of a column",
        ),
        (
            '"stars"\nnames',
            '"title"\nnames',
            r"instances\[0\]\.means = 'films.csv': means: .*holds 'S",
        ),
        ('means = "films.csv"', 'means = "no.csv"', r"instances\[0\]\.means = 'no.csv': .*No such"),
        (
            '["A", "B"]',
            '"A"',
            r"instances\[1\]\.names = 'A': names is 'A', a column of a file with",
        ),
        ('["A", "B"]', '["A"]', r"instances\[1\]\.names = \['A'\]: names has 1 entries for 2 arms"),
        (
            '"full"',
            '"fully"',
            r"instances\[1\]\.problem = 'fully': choose one of best_arm, one_of_top",
        ),
    ],
)
def test_what_is_wrong_with_a_table(tmp_path: Path, old: str, new: str, message: str) -> None:
    """The key's path, the value, the remedy."""
    (tmp_path / "films.csv").write_text(FILMS)
    assert old in OWN
    with pytest.raises(StudyFileError, match=message):
        study_of(tmp_path, OWN.replace(old, new, 1))


def test_laws_with_numbers_by_arm(tmp_path: Path) -> None:
    """Ends of uniform arms are no sweep, deviations by arm stand in a list of their own; sigma is
    swept."""
    text = """
    algorithms = ["vanilla"]
    replications = 10
    [[instances]]
    name = "even"
    law = "uniform"
    low = [0.0, 0.5]
    high = [0.5, 1.0]
    problem = "best_arm"
    [[instances]]
    name = "normal"
    law = "gaussian"
    means = [3.0, 1.0]
    sd = [[1.0, 0.5]]
    sigma = [1.0, 2.0]
    problem = "best_arm"
    """
    even, one, two = (task.experiment.problem.arms for task in study_of(tmp_path, text).tasks)
    assert even == rai.Uniform([0.0, 0.5], [0.5, 1.0])
    assert one == rai.Gaussian([3.0, 1.0], sd=[1.0, 0.5], sigma=1.0)
    assert two == rai.Gaussian([3.0, 1.0], sd=[1.0, 0.5], sigma=2.0)


def test_a_sweep_is_all_combinations_one_by_one() -> None:
    """The last list changes quickest; names and parameters say the values, and a later instance is
    not looked at before it is asked for."""
    swept = {"family": "linear_gaps", "n": [4, 8.0], "problem": "top", "k": [1, "50%"]}
    found = instances_of([{"name": "grid", **swept}, 3], Path())
    points = [next(found) for _ in range(4)]
    assert [(name, point) for _, point, name, _, _ in points] == [
        ("grid, n = 4, k = 1", "n = 4, k = 1, "),
        ("grid, n = 4, k = 50%", "n = 4, k = '50%', "),
        ("grid, n = 8, k = 1", "n = 8, k = 1, "),
        ("grid, n = 8, k = 50%", "n = 8, k = '50%', "),
    ]
    assert [problem.required[0] for _, _, _, problem, _ in points] == [1, 2, 1, 4]
    assert points[3][4] == {"family": "linear_gaps", "problem": "top", "n": 8, "k": "50%"}
    with pytest.raises(StudyFileError, match=r"instances\[1\] = 3: every instance must be a table"):
        next(found)
