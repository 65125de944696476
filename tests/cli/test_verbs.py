"""The commands of the command line: their tables, JSON and warnings."""

import re
import shlex
from typing import Any

import pytest
from command_line import Capture, document, printed, refused, run

import rai_sim as rai
from rai_sim import LUCB, Bernoulli, Butterscotch, Vanilla, bounds
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.arms.base import LAWS
from rai_sim.cli import run as cli
from rai_sim.cli import warmup
from rai_sim.problem import Problem, table_problem
from rai_sim.simulation.simulate import SimulationInterrupted

VARIANTS = [Vanilla(), Vanilla(merging=False), Butterscotch(), Butterscotch(merging=False), LUCB()]
TWO = "--means 0.9,0.1 --clusters 1,1 --required 1,0"
QUICK = "--algorithm butterscotch --replications 3"


def test_run_alone_means_the_table_instance_and_all_five_variants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Task 2, mirrored; 1,000 replications; delta = 0.01; seed 0."""
    calls = []

    def simulate(problem: Problem, algorithm: Any, **options: Any) -> rai.Result:
        calls.append((problem, algorithm, options))
        return rai.simulate(problem, Butterscotch(), replications=2, seed=0)

    monkeypatch.setattr(cli, "simulate", simulate)
    run("run")
    assert [call[1] for call in calls] == VARIANTS
    expected = {
        "delta": 0.01,
        "replications": 1000,
        "seed": 0,
        "n_jobs": 1,
        "progress": None,
        "skip_error": 1e-12,
        "max_pulls": None,
    }
    for problem, _, options in calls:
        assert problem == table_problem(task=2)
        assert options == expected


def test_the_table_shows_what_the_library_finds(capsys: Capture) -> None:
    """One line an algorithm: mean, intervals, error rate, bounds, time; beneath, how to repeat
    it."""
    text = printed(capsys, "run --table-task 1 --replications 40 --seed 5 --no-progress")
    lines = text.splitlines()
    assert (
        lines[0]
        == "10 Bernoulli arms, clusters 3,5,2, required 1,0,0, bottleneck gap 0.25, delta 0.01"
    )
    header = next(line for line in lines if line.startswith("algorithm"))
    for column in (
        "mean pulls",
        "95 % interval",
        "errors",
        "lower bound",
        "upper bound",
        "seconds",
    ):
        assert column in header
    for algorithm in VARIANTS:
        summary = rai.simulate(table_problem(task=1), algorithm, replications=40, seed=5).summary()
        line = next(line for line in lines if line.startswith(repr(algorithm)))
        assert len(line) == len(header)
        assert f" {summary.mean:,.0f} " in line
        assert "{:,.0f} to {:,.0f}".format(*summary.interval) in line
        assert re.search(f" {100 * summary.error_rate:.3g} % +0 to 8.81 % ", line)
        assert " 36.8 " in line
        assert (
            "none" if summary.upper_bound is None else f"{summary.upper_bound:,.0f} (Th. "
        ) in line
        assert re.search(r" \d+\.\d\d$", line)
    assert "lower bound: Theorem 1, of the mean, asymptotic (delta -> 0)" in text
    assert "WARNING" not in text
    assert lines[-1].startswith(
        "40 replications each, seed 5; the same numbers again: rai-sim run "
    )


def test_the_printed_command_repeats_the_run(capsys: Capture) -> None:
    """Whatever defines the numbers is in it, the seed also where it was not given; the rest is
    not."""
    first = document(
        capsys,
        "run --law gaussian --means 2.5,0.5 --sd 1.5 --clusters 1,1 --required 1,0 --no-strict "
        "--delta 0.2 "
        "--algorithm vanilla:merging=false --algorithm lucb --replications 7 --max-pulls 4000 "
        "--skip-error 0 "
        "--jobs 2",
    )
    again = first["rerun"]
    assert again.startswith("rai-sim run ")
    assert "--seed 0" in again
    assert "--jobs" not in again
    second = document(capsys, shlex.join(shlex.split(again)[1:]))
    for one in (*first["runs"], *second["runs"]):
        del one["seconds"], one["compile_seconds"]
    assert first == second


def test_json_holds_everything(capsys: Capture) -> None:
    """Problem, options, every summary, and what identifies the experiment."""
    options = "--replications 20 --seed 3 --max-pulls 13000"
    found = document(capsys, f"run --table-task 3 --algorithm lucb:as_printed=true {options}")
    problem = table_problem(task=3)
    result = rai.simulate(problem, LUCB(as_printed=True), replications=20, seed=3, max_pulls=13_000)
    assert found["problem"] == {
        "law": "Bernoulli",
        "means": problem.arms.means.tolist(),
        "clusters": [3, 5, 2],
        "required": [2, 2, 0],
        "bottleneck_gap": problem.bottleneck_gap,
        "identity": problem.identity(),
    }
    assert found["stream_version"] == rai.STREAM_VERSION
    assert (found["delta"], found["replications"], found["seed"]) == (0.01, 20, 3)
    assert (found["max_pulls"], found["skip_error"], found["interrupted"]) == (13_000, 1e-12, False)
    expected = result.summary().to_dict() | {
        "experiment": result.experiment.identity(),
        "ranges": [[0, 20]],
    }
    assert 0 < expected["finished"] < 20
    (one,) = found["runs"]
    assert one.pop("seconds") > 0.0
    assert one.pop("compile_seconds") >= 0.0
    del expected["seconds"], expected["compile_seconds"]
    assert one == expected


def test_warnings_stand_beneath_the_table(capsys: Capture) -> None:
    """LUCB as printed errs far more often than delta allows; a cap leaves replications
    unfinished."""
    text = printed(
        capsys, "run --algorithm lucb:as_printed=true --replications 200 --max-pulls 50000"
    )
    table, _, beneath = text.partition("lower bound: Theorem 1")
    assert "WARNING" not in table
    assert "WARNING: LUCB(as_printed=True): the error rate lies above delta = 0.01: " in beneath
    assert re.search(
        r"WARNING: .*\d of 200 replications stopped at the cap of 50,000 pulls;", beneath
    )


def test_a_problem_without_guarantee_is_run_and_warned_of(capsys: Capture) -> None:
    """--no-strict is the way to arms that are not 1/2-sub-Gaussian."""
    words = "--law gaussian --sd 3 --means 9,0 --clusters 1,1 --required 1,0"
    for command in ("run", "bounds"):
        line = refused(capsys, f"{command} {words}")
        for part in (
            "--law: ",
            "1/2-sub-Gaussian",
            "sd is 3.0, more than 0.5",
            "or pass --no-strict to go",
        ):
            assert part in line
    text = printed(capsys, f"run {words} --no-strict {QUICK}")
    assert "WARNING: Butterscotch(merging=True): guarantees and bounds do not hold" in text
    text = printed(capsys, f"bounds {words} --no-strict")
    assert "WARNING: the bounds do not hold for these arms: sd is 3.0" in text


def test_bounds_prints_gaps_and_the_three_theorems(capsys: Capture) -> None:
    """Arms best first with their clusters, the bottleneck gap, and each bound with its meaning."""
    words = "bounds --means 0.25,0.875,0.5 --clusters 1,2 --required 1,0 --delta 0.05"
    lines = printed(capsys, words).splitlines()
    assert (
        lines[0] == "3 Bernoulli arms, clusters 1,2, required 1,0, bottleneck gap 0.375, delta 0.05"
    )
    assert lines[4].split() == ["1", "0.875", "1", "0.375"]
    assert lines[5].split() == ["2", "0.5", "2", "0.375"]
    assert lines[6].split() == ["0", "0.25", "2", "0.625"]
    problem = Problem(Bernoulli([0.25, 0.875, 0.5]), (1, 2), (1, 0))
    exact = [
        function(problem, 0.05) for function in (bounds.lower, bounds.vanilla, bounds.butterscotch)
    ]
    said = (
        "lower bound of any algorithm's mean, asymptotic",
        "for Vanilla, with",
        "for Butterscotch, with",
    )
    for number, (line, pulls, words_) in enumerate(
        zip(lines[-3:], exact, said, strict=True), start=1
    ):
        assert line.startswith(f"Theorem {number} ")
        assert f" {pulls:,.{0 if pulls >= 1000 else 1}f} pulls " in line
        assert words_ in line
    found = document(capsys, words)
    assert [bound["pulls"] for bound in found["bounds"]] == exact
    assert found["arm_gaps"] == [0.625, 0.375, 0.375]
    assert found["cluster_of"] == [1, 0, 1]


def test_infinite_gaps_are_null_in_json(capsys: Capture) -> None:
    """JSON has no infinity."""
    found = document(capsys, "bounds --means 0.5,0.25 --clusters 2 --required 1")
    assert found["arm_gaps"] == [None, None]
    assert found["problem"]["bottleneck_gap"] is None


def test_many_arms_are_not_all_listed(capsys: Capture) -> None:
    """A text stays readable; JSON has them all."""
    means = ",".join(str(k / 100) for k in range(60))
    words = f"bounds --means {means} --clusters 30,30 --required 1,0"
    assert "... and 10 arms more; --json lists all" in printed(capsys, words)
    assert len(document(capsys, words)["arm_gaps"]) == 60


def interrupt_vanilla(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let Ctrl-C come when Vanilla has done so many replications."""

    def simulate(problem: Problem, algorithm: Any, **options: Any) -> rai.Result:
        if algorithm != Vanilla():
            return rai.simulate(problem, algorithm, **options)
        part = (
            rai.simulate(problem, algorithm, **(options | {"replications": after}))
            if after
            else None
        )
        raise SimulationInterrupted(part)

    monkeypatch.setattr(cli, "simulate", simulate)


def test_ctrl_c_prints_what_was_finished(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of three algorithms is interrupted after 3 of its 8 replications: exit code
    130."""
    interrupt_vanilla(monkeypatch, after=3)
    words = (
        f"run {TWO} --algorithm butterscotch --algorithm vanilla --algorithm lucb --replications 8"
    )
    text = printed(capsys, words, expect=130)
    assert (
        "INTERRUPTED: 1 of 3 algorithms are complete, Vanilla(merging=True) has 3 of 8 repl" in text
    )
    assert re.findall(r"^(\w+)\(", text, flags=re.MULTILINE) == ["Butterscotch", "Vanilla"]
    found = document(capsys, words, expect=130)
    assert found["interrupted"] is True
    assert [one["replications"] for one in found["runs"]] == [8, 3]


def test_ctrl_c_before_anything_is_finished(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no table, and still a line that says so."""
    interrupt_vanilla(monkeypatch, after=0)
    text = printed(capsys, f"run {TWO} --algorithm vanilla", expect=130)
    assert text.startswith("INTERRUPTED: 0 of 1 algorithms are complete\n")
    assert document(capsys, f"run {TWO} --algorithm vanilla", expect=130)["runs"] == []


def test_help_lists_commands_and_options(capsys: Capture) -> None:
    """Without words there is help, too."""
    text = printed(capsys, "")
    for command in ("run", "bounds", "warmup"):
        assert command in text
    text = printed(capsys, "run --help")
    for option in (
        "means",
        "law",
        "sd",
        "clusters",
        "algorithm",
        "seed",
        "jobs",
        "max-pulls",
        "no-strict",
    ):
        assert f"--{option} " in text
    assert "--clusters" in printed(capsys, "bounds --help")
    assert "rai-sim warmup" in printed(capsys, "warmup --help")


def test_warmup_of_an_unknown_law(capsys: Capture) -> None:
    """One line."""
    assert refused(capsys, "warmup --law luck").startswith(
        "rai-sim: --law luck is no reward law; choose one of bernoulli"
    )


def test_warmup_runs_every_law_with_every_algorithm(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each combination of law, algorithm and switches is simulated; every pair's time is told."""
    ran = set()

    def simulate(problem: Problem, algorithm: Any, **options: Any) -> None:
        ran.add((type(problem.arms).__name__.lower(), repr(algorithm)))

    monkeypatch.setattr(warmup, "simulate", simulate)
    lines = [line.split() for line in printed(capsys, "warmup").splitlines()]
    laws = ("bernoulli", "categorical", "gaussian", "recorded")
    others = [LUCB(as_printed=True)]
    assert {(law, repr(algorithm)) for law in laws for algorithm in VARIANTS + others} <= ran
    assert [line[:2] for line in lines[:-1]] == [[law, name] for law in LAWS for name in ALGORITHMS]
    assert all(
        line[-1] == "s" and float(line[-2]) >= 0.0 for line in lines if line[0] in (*laws, "total")
    )
    assert lines[-1][0] == "total"
    ran.clear()
    printed(capsys, "warmup --law gaussian --law Recorded")
    assert {law for law, _ in ran} == {"gaussian", "recorded"}
