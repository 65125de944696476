"""Problems as options tell them: laws by text and by file, and every refusal in one line."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import typer.main
from command_line import Capture, document, printed, refused

import rai_sim as rai
from rai_sim import (
    LUCB,
    Bernoulli,
    Beta,
    Categorical,
    Gaussian,
    Poisson,
    Recorded,
    StudentT,
    Uniform,
    Vanilla,
)
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.arms.base import LAWS, Arms
from rai_sim.cli.problem import build_arms, build_problem, takes_problem
from rai_sim.problem import Problem

FILMS = 'title,year,stars\n"Solaris, 1972",1972,0.75\nStalker,1979,0.875\nMirror,1975,0.5\n'
ROWS = [[0.0, 0.25, 0.75], [0.5, 0.25, 0.25]]
TABLE = [[0.2, 0.8], [1.0, 0.0]]
REWARDS = np.tile([[1.0], [0.0]], 2_000)
SPOKEN: dict[str, Arms] = {
    "--means 0.75,0.25": Bernoulli([0.75, 0.25]),
    "--means @means.txt": Bernoulli([0.75, 0.25]),
    "--means row.csv": Bernoulli([0.75, 0.25]),
    "--means 0.75\\;0.25": Bernoulli([0.75, 0.25]),
    "--law uniform --low row.csv --high 1,1": Uniform([0.75, 0.25], [1, 1]),
    "--law gaussian --means -0.5,0.25 --sd 0.25": Gaussian([-0.5, 0.25], sd=0.25),
    "--law Gaussian --means '1e-1, 0.25'": Gaussian([0.1, 0.25]),
    "--law gaussian --means 3,1 --sd 2,1 --sigma 2": Gaussian([3, 1], sd=[2, 1], sigma=2),
    "--law beta --means 0.75,0.25 --concentration 4": Beta([0.75, 0.25], 4),
    "--law beta --means 0.75,0.25 --concentration 4,1": Beta([0.75, 0.25], [4, 1]),
    "--law uniform --low 0,0 --high 4,3 --sigma 1.5": Uniform([0, 0], [4, 3], sigma=1.5),
    "--law poisson --means 4,1 --sigma 2 --no-strict": Poisson([4, 1], sigma=2),
    "--law studentt --means 1,0 --df 4 --scale 0.25 --no-strict": StudentT([1, 0], 4, 0.25),
    "--law categorical --values 1,5 --probabilities .2,.8\\;1,0 --sigma 2": Categorical(
        [1, 5], TABLE, sigma=2
    ),
    "--law categorical --values 0,1 --probabilities .2,.8\\;1,0": Categorical([0, 1], TABLE),
    "--law categorical --values 0,.5,1 --probabilities rows.csv": Categorical([0, 0.5, 1], ROWS),
    "--law recorded --rewards rewards.npy": Recorded(REWARDS),
    "--law recorded --rewards @rewards.csv": Recorded(REWARDS),
    "--law recorded --rewards rewards.npy --means 0.9,0.3": Recorded(REWARDS, means=[0.9, 0.3]),
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out the files that options name."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "means.txt": "0.75\n0.25\n",
        "films.csv": FILMS,
        "rows.csv": "# a comment\n0.0, 0.25, 0.75\n0.5, 0.25, 0.25\n",
        "empty.csv": "",
        "words.csv": "0.5,abc\n",
        "ragged.csv": "1,2\n3\n",
        "comma.csv": "0,5\n0,4\n",
        "row.csv": "0.75,0.25\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    np.save("rewards.npy", REWARDS)
    np.savetxt("rewards.csv", REWARDS, delimiter=",")
    np.save("text.npy", np.array(["a", "b"]))


@pytest.mark.parametrize("words", SPOKEN)
def test_laws_by_text_and_by_file(words: str, capsys: Capture) -> None:
    """Numbers, tables, and text and .npy files describe the laws that the library builds."""
    found = document(capsys, f"bounds {words} --clusters 1,1 --required 0,1")
    problem = Problem(SPOKEN[words], (1, 1), (0, 1), strict="--no-strict" not in words)
    assert found["problem"]["identity"] == problem.identity()


def test_algorithms_and_integers_in_other_spellings(capsys: Capture) -> None:
    """Case and spaces do not matter; whole numbers may be written as 1e1."""
    found = document(
        capsys,
        "run --means 0.9,0.1 --clusters 1,1 --required 1,0 --replications 1e1 --delta .1 "
        "--algorithm LUCB:as-printed=no --algorithm 'Vanilla: merging = off' --algorithm vanilla:",
    )
    labels = [one["algorithm"] for one in found["runs"]]
    assert labels == [repr(LUCB()), repr(Vanilla(merging=False)), repr(Vanilla())]
    assert found["replications"] == 10


def test_a_new_algorithm_needs_no_change(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found through its registry, with its fields as options."""
    monkeypatch.setitem(ALGORITHMS, "renamed", Vanilla)
    found = document(
        capsys, "run --table-task 1 --algorithm renamed:merging=false --replications 2"
    )
    assert found["runs"][0]["algorithm"] == "Vanilla(merging=False)"
    assert "renamed:merging=true" in refused(capsys, "run --algorithm unknown")


def test_a_new_law_needs_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found through its registry, with its constructor's arguments as options."""

    class Shifted(Gaussian):
        def __init__(self, means: Any, shift: float, weights: Any = None) -> None:
            super().__init__(np.asarray(means) + shift)

    # The class has registered itself; this test must leave no trace.
    monkeypatch.setitem(LAWS, "moved", LAWS.pop("shifted"))
    problems = []

    def command(problem_options: dict[str, Any]) -> None:
        problems.append(build_problem(problem_options))

    app = typer.Typer()
    app.command()(takes_problem(command))
    words = [
        "--law",
        "moved",
        "--means",
        "1,0",
        "--shift",
        "2",
        "--clusters",
        "1,1",
        "--required",
        "1,0",
    ]
    typer.main.get_command(app).main(words, standalone_mode=False)
    assert problems[0].arms.means.tolist() == [3.0, 2.0]


FOUR = "--means 0.9,0.7,0.5,0.3"
ARMS = Bernoulli([0.9, 0.7, 0.5, 0.3])
ASKED = {
    "--problem best_arm": rai.best_arm(ARMS),
    "--problem Best-Arm": rai.best_arm(ARMS),
    "--problem one_of_top -k 2": rai.one_of_top(ARMS, 2),
    "--problem top -k 50%": rai.top(ARMS, 2),
    "--problem top --k 3e0": rai.top(ARMS, 3),
    "--problem m_of_top -m 2 -k 3": rai.m_of_top(ARMS, 2, 3),
    "--problem coarse --clusters 1,3": rai.coarse_ranking(ARMS, (1, 3)),
    "--problem coarse_ranking --clusters 1:1": rai.coarse_ranking(ARMS, (2, 2)),
    "--problem full": rai.full_ranking(ARMS),
    "--clusters 1:1 --required 1,0": Problem(ARMS, (2, 2), (1, 0)),
}


@pytest.mark.parametrize("words", ASKED)
def test_what_is_asked_for_by_name(words: str, capsys: Capture) -> None:
    """Every constructor, with sizes as study files have them; the command repeats itself."""
    found = document(capsys, f"bounds {FOUR} {words}")
    assert found["problem"]["identity"] == ASKED[words].identity()


def test_verbs_repeat_what_was_asked_for(capsys: Capture) -> None:
    """The problem stands in the command that is printed, and makes the same numbers."""
    words = "--means films.csv --column stars --names title --problem top -k 1 --delta 0.1"
    numbers = {}
    for verb in ("run --algorithm vanilla --replications 4", "trace --replication 3"):
        first = document(capsys, f"{verb} {words}")
        again = document(capsys, first["rerun"].removeprefix("rai-sim "))
        for one in (first, again):
            for run in one.get("runs", ()):
                del run["seconds"], run["compile_seconds"]
        assert first == again
        numbers[verb.split()[0]] = first
    arms = Bernoulli([0.75, 0.875, 0.5]).with_names(["Solaris, 1972", "Stalker", "Mirror"])
    result = rai.simulate(rai.top(arms, 1), Vanilla(), delta=0.1, replications=4)
    (run,) = numbers["run"]["runs"]
    assert run["experiment"] == result.experiment.identity() == numbers["trace"]["experiment"]
    assert run["named"] == {"1": ["Stalker"]}
    assert numbers["run"]["problem"]["names"] == list(arms.names or ())
    assert numbers["trace"]["pulls"] == result.pulls[3]


def test_names_are_shown(capsys: Capture) -> None:
    """In tables of arms, of events, and of what was named; also names that are listed."""
    words = "--means films.csv --column stars --names title --problem best_arm --delta 0.1"
    text = printed(capsys, f"bounds {words}")
    assert re.search(r"\n0    Solaris, 1972   0.75        2  0.125  ", text)
    assert "cheapest answer to prove: arm Stalker of cluster 1\n" in text
    assert "hardest to exclude: arm Stalker down to" in text
    assert "Stalker settled in cluster 1, representative" in printed(capsys, f"trace {words}")
    run = f"run {words} --algorithm butterscotch --replications 3"
    assert "\nnamed most often: cluster 1: Stalker\n" in printed(capsys, run)
    listed = "--means 0.3,0.9 --names 'A,\"B, C\"' --problem best_arm"
    assert "cluster 1: B, C" in printed(
        capsys, f"run {listed} --algorithm butterscotch --replications 3"
    )
    arms = build_arms({"means": "films.csv", "column": "stars", "names": None, "law": None})
    assert arms == Bernoulli([0.75, 0.875, 0.5])
    assert arms.names is None


PAIR = "--clusters 1,1 --required 1,0"
REFUSALS: dict[str, tuple[str, ...]] = {
    # the paper's instances
    "run --table-task 6": ("--table-task", "6", "from 1 to 5"),
    "run --table-task two": ("--table-task", "'two' is not an integer", "such as"),
    "run --instance mirror": ("--instance", "'mirror'", "choose 'mirrored' or 'printed'"),
    "run --table-task 1 --means 0.5,0.4": ("--table-task 1", "--means", "give one of the two"),
    "bounds --instance printed --clusters 3,7": (
        "--instance printed",
        "--clusters",
        "give one of the two",
    ),
    # problems
    "run --means 0.5,0.4 --required 1,0": (
        "--clusters is missing",
        "--means",
        "such as --clusters 3,5,2",
    ),
    "run --means 0.5,0.4 --clusters 1,1": (
        "--required is missing",
        "--means",
        "such as --required 1,0,0",
    ),
    "run --means 0.5,0.5 --problem best_arm": ("--problem", "arms 0 and 1 tie", "make the means"),
    f"run --means 0.5,0.5 {PAIR}": ("--clusters", "arms 0 and 1 tie", "0.5", "make the means"),
    "run --means 0.5,0.4 --clusters 1,2 --required 1,0": (
        "--clusters",
        "add up to 3",
        "2",
        "give sizes",
    ),
    "run --means 0.5,0.4 --clusters 1,1 --required 2,0": (
        "--required",
        "required[0] is 2",
        "ask for 0 to 1",
    ),
    "run --means 0.5,0.4 --clusters 1,1 --required 0,0": (
        "--required",
        "(0, 0)",
        "ask for at least one",
    ),
    "run --means 0.5,0.4 --clusters 1,1 --required 1": (
        "--required",
        "length 1",
        "one number a cluster",
    ),
    "run --means 0.5,0.4 --clusters 1.5,1 --required 1,0": (
        "--clusters 1.5,1",
        "holds 1.5",
        "give int",
    ),
    "run --means 0.5,0.4 --clusters a,1 --required 1,0": (
        "--clusters a,1",
        "'a'",
        "separate numbers by",
    ),
    # kinds of problems
    "run --problem best_arm": ("--means is missing", "such as 0.9,0.5"),
    "run --means 0.5,0.4 --problem best": (
        "--problem best is no kind of problem; did you mean best_arm? choose one of best_arm, ",
        "m_of_top, coarse, full",
    ),
    "run --table-task 1 --problem best_arm": ("--table-task 1", "--problem", "give one of the two"),
    "run --means 0.5,0.4 --problem top": ("--k is missing", "--problem top needs it", "--k 3"),
    "run --means 0.5,0.4 -k 1": (
        "--k 1 belongs to a --problem; give one of one_of_top, top, m_of",
    ),
    "run --means 0.5,0.4 --problem top -k 3": ("--k: k is 3", "from 1 to 2, the number of arms"),
    "run --means 0.5,0.4 --problem top -k 1%": ("--k 1%: that is none of 2 arms",),
    "run --means 0.5,0.4 --problem top -k x": ("--k 'x' is not an integer",),
    "run --means 0.5,0.4 --problem top -k 1 --required 1,0": (
        "--required 1,0 does not belong to --problem top, which takes --k; leave it out",
    ),
    "run --means 0.5,0.4 --problem full -m 1": (
        "--m 1 does not belong to --problem full_ranking, which takes nothing more",
    ),
    # tables
    f"run --means films.csv {PAIR}": ("--column: column is not given", "'year', 'stars'"),
    f"run --means films.csv --names t {PAIR}": (
        "--names: names is 't', but films.csv has no such",
    ),
    f"run --means films.csv --column title {PAIR}": (
        "--means: ",
        "films.csv holds 'Solaris, 1972'",
    ),
    f"run --means none.csv --names title {PAIR}": ("--means none.csv", "No such file"),
    f"run --means 0.5,0.4 --column stars {PAIR}": ("--column: ", "but means is no such file"),
    f"run --means 0.5,0.4 --names a, {PAIR}": ("--names: names[1] is '', which nobody would see",),
    f"run --means 0.5,0.4 --names a {PAIR}": ("--names: names has 1 entries for 2 arms",),
    # laws
    f"run --means 0.5,0.4;0.3,0.2 {PAIR}": (
        "--means 0.5,0.4;0.3,0.2 is a table of shape (2, 2); give one row of numbers",
    ),
    f"run --means comma.csv {PAIR}": (
        "--means comma.csv is a table of shape (2, 2)",
        "with decimal points",
    ),
    "run --sd 0.6": ("--sd 0.6 does not belong to --law bernoulli", "--law gaussian"),
    "run --sigma 1": ("--sigma 1 does not belong to --law bernoulli", "leave it out or choose"),
    "run -k 3": ("--k 3 belongs to a --problem; give one of one_of_top, top, m_of_top",),
    "run --problem best_arm -k 3": ("--k 3 does not belong to --problem best_arm",),
    f"run --means 0.5,nan {PAIR}": ("--means", "means[1] is nan", "finite"),
    f"run --means 0.5,inf {PAIR}": ("--means", "means[1] is inf", "finite"),
    f"run --means 0.5,x {PAIR}": ("--means 0.5,x", "'x'", "separate numbers by commas"),
    f"run --means 0.5, {PAIR}": ("--means 0.5,", "''", "separate numbers by commas"),
    f"run --means 1.5,0.4 {PAIR}": ("--means", "means[0] is 1.5", "rescale"),
    "run --law zipf": ("--law zipf", "choose one of", "bernoulli", "recorded"),
    "run --law gaussian": ("--means is missing", "--law gaussian needs it", "such as 0.9,0.5"),
    "run --law categorical --values 0,1": ("--probabilities is missing", "--law categorical"),
    "run --law categorical --means 0.5,0.4 --values 0,1 --probabilities 1,0;0,1": (
        "--means 0.5,0.4",
        "does not belong to --law categorical",
        "choose --law bernoulli or beta or gaussian",
    ),
    f"run --sd 0.5 --means 0.5,0.4 {PAIR}": (
        "--sd 0.5",
        "not belong to --law bernoulli",
        "--law gaussian",
    ),
    "run --law gaussian --sd wide --means 1,0": ("--sd wide", "'wide'", "not a number"),
    f"run --law gaussian --sd -1 --means 1,0 {PAIR}": ("--sd", "-1.0", "positive"),
    f"run --law categorical --values 0,1 --probabilities 0.5,0.4;0,1 {PAIR}": (
        "--probabilities",
        "probabilities[0] sums to 0.9",
        "divide the row",
    ),
    "run --law categorical --values 0,1 --probabilities .5,.5;1": (
        "--probabilities",
        "rows of 2, 1",
    ),
    f"run --law categorical --values 0,9 --probabilities 0.5,0.5;0,1 {PAIR}": (
        "--law",
        "values[1] is 9.0",
        "--no-strict",
    ),
    "run --law recorded --rewards @nowhere.csv": (
        "--rewards nowhere.csv",
        "No such file",
        "give a text",
    ),
    "run --law recorded --rewards empty.csv": ("--rewards empty.csv", "empty", "give a text file"),
    "run --law recorded --rewards words.csv": ("--rewards words.csv", "abc", "give a text file"),
    "run --law recorded --rewards ragged.csv": (
        "--rewards ragged.csv",
        "line 2 holds 1 number, line 1 2",
        "give a text file",
    ),
    "run --law recorded --rewards text.npy": (
        "--rewards text.npy",
        "cannot be used",
        "a .npy file of",
    ),
    f"run --law recorded --rewards 1,1;0,0 {PAIR} --algorithm vanilla": (
        "--rewards",
        "the recording of arm",
        "ran out: pull 3",
        "--max-pulls",
    ),
    # algorithms
    "run --algorithm vanila": (
        "--algorithm vanila",
        "vanilla:merging=true",
        "lucb:as_printed=false",
    ),
    "run --algorithm vanilla:merge=true": ("no option 'merge'", "write vanilla:merging=true"),
    "run --algorithm vanilla:merging": (
        "vanilla:merging",
        "merging has no value",
        "write vanilla:merging=",
    ),
    "run --algorithm lucb:as_printed=maybe": (
        "lucb:as_printed=maybe",
        "'maybe'",
        "give true or false",
    ),
    # numbers
    "run --delta 0": ("--delta", "0.0", "between 0 and 1"),
    "run --delta 1": ("--delta", "1.0", "between 0 and 1"),
    "bounds --delta nan": ("--delta", "nan", "between 0 and 1"),
    "run --delta small": ("--delta", "'small' is not a number", "such as 0.01"),
    "run --replications 0": ("--replications", "0", "at least 1"),
    "run --replications -5": ("--replications", "-5", "at least 1"),
    "run --replications 1.5": ("--replications", "'1.5' is not an integer", "such as 1000"),
    "run --replications inf": ("--replications", "'inf' is not an integer", "such as 1000"),
    "run --replications 1e15": ("not enough memory", "ask for fewer --replications"),
    "run --seed -1": ("--seed", "-1", "non-negative"),
    "run --jobs 0": ("--jobs", "0", "-1 for every core"),
    "run --max-pulls 0": ("--max-pulls", "0", "at least 1"),
    "run --skip-error 0.5": ("--skip-error", "0.5", "between 0"),
    # words
    "run --frobnicate": ("No such option", "--frobnicate", "rai-sim run --help"),
    "run --seed": ("--seed", "requires an argument", "rai-sim run --help"),
    "run extra": ("extra", "rai-sim run --help"),
    "simulate": ("simulate", "rai-sim --help"),
    "--frobnicate": ("No such option", "rai-sim --help"),
}


@pytest.mark.parametrize("words", REFUSALS)
def test_bad_input(words: str, capsys: Capture) -> None:
    """One line names option, value and remedy; exit code 2."""
    line = refused(capsys, words.replace(";", "\\;"))
    for part in REFUSALS[words]:
        assert part in line
