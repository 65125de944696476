"""Studies as TOML files: what they mean, and what is wrong with them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.study import Study
from rai_sim.study.file import StudyFileError, store_of

GOOD = """
algorithms = ["vanilla"]
replications = 10

[[instances]]
name = "two arms"
means = [0.9, 0.5]
clusters = [1, 1]
required = [1, 0]
"""


def read(tmp_path: Path, text: str) -> Study:
    """Return the study of a text."""
    path = tmp_path / "study.toml"
    path.write_text(text)
    return Study.from_toml(path)


def test_a_whole_study(tmp_path: Path) -> None:
    """Every way to give an instance, swept keys, all keys at the top."""
    np.savetxt(tmp_path / "means.csv", [0.9, 0.7, 0.2])
    np.save(tmp_path / "rewards.npy", np.array([[1.0, 1.0], [0.0, 0.0]]))
    study = read(
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
    study = read(tmp_path, text)
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
        (
            "clusters",
            "clustres",
            r"instances\[0\]\.clustres = \[1, 1\]: there is no such key; did "
            r"you mean clusters\?",
        ),
        ("replications", "xyz", "xyz = 10: there is no such key; known are algorithms, delta"),
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
            'family = "evenly_spaced"\nn = [2, 2]',
            r"instances\[0\] with "
            r".*two arms, n = 2.* is "
            r"the same task as",
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
        ("algorithms =", "algorithms", r"'.*study\.toml' is no TOML that can be read: .*line 2"),
        (GOOD, "", "algorithms is missing"),
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
    assert old in GOOD
    with pytest.raises(StudyFileError, match=message):
        read(tmp_path, GOOD.replace(old, new))
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Said as for every other file."""
    with pytest.raises(
        StudyFileError, match="cannot be read: No such file or directory; name a TOML file"
    ):
        Study.from_toml(tmp_path / "none.toml")


SWEEP = """
algorithms = ["vanilla", "butterscotch"]
replications = 10
[[instances]]
name = "top"
family = "linear_gaps"
n = [4, 8]
problem = "top"
k = [1, 2, "50%"]
"""


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
        read(tmp_path, text)
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
    assert [task.experiment.problem.required[0] for task in read(tmp_path, text).tasks[::2]] == [
        1,
        2,
        1,
        2,
        4,
    ]


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
        read(tmp_path, GOOD.replace(old, new))
    assert message in str(caught.value)
    assert "strict=False" not in str(caught.value)


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


def test_whole_numbers_may_be_written_short(tmp_path: Path) -> None:
    """As 1e1, also where they are swept; what is no integer is refused with the remedy."""
    study = read(tmp_path, SWEEP.replace("[4, 8]", "[1e1, 2e1]").replace('[1, 2, "50%"]', "2e0"))
    assert [(task.instance, task.experiment.problem.n_arms) for task in study.tasks[::2]] == [
        ("top, n = 10", 10),
        ("top, n = 20", 20),
    ]
    with pytest.raises(
        StudyFileError,
        match=r"clusters\[0\] is 1\.0 of type float in clusters=\[1\.0, 1\]; write 1; give integers",
    ):
        read(tmp_path, GOOD.replace("clusters = [1, 1]", "clusters = [1.0, 1]"))
    with pytest.raises(StudyFileError, match=r"\.n = 2\.5: n must be an integer; got 2\.5$"):
        read(tmp_path, SWEEP.replace("[4, 8]", "2.5"))


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
    problems = {task.instance: task.experiment.problem for task in read(tmp_path, OWN).tasks}
    means = [0.75, 0.875, 0.5]
    assert problems["films"] == rai.coarse_ranking(rai.Bernoulli(means), (1, 2))
    assert problems["films"].arms.names == ("Solaris, 1972", "Stalker", "Mirror")
    assert problems["listed"] == rai.full_ranking(rai.Bernoulli([0.25, 0.5]))
    assert problems["listed"].arms.names == ("A", "B")
    assert problems["apart"] == rai.best_arm(rai.Gaussian(means))
    assert problems["apart"].arms.names == ("x", "y", "z")


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
        read(tmp_path, OWN.replace(old, new, 1))


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
    even, one, two = (task.experiment.problem.arms for task in read(tmp_path, text).tasks)
    assert even == rai.Uniform([0.0, 0.5], [0.5, 1.0])
    assert one == rai.Gaussian([3.0, 1.0], sd=[1.0, 0.5], sigma=1.0)
    assert two == rai.Gaussian([3.0, 1.0], sd=[1.0, 0.5], sigma=2.0)


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
