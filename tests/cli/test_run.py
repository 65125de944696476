"""The verb `run`: its table, its JSON, its warnings, and Ctrl-C."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from command_line import ROOT, Capture, document, printed, refused, run

import rai_sim as rai
from rai_sim import LUCB, Butterscotch, Vanilla
from rai_sim.cli import run as cli
from rai_sim.problem import Problem, table_problem
from rai_sim.simulation.simulate import SimulationInterrupted
from rai_sim.study.summary import SUMMARY_SCHEMA
from rai_sim.support.files import MARKER

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
        "keep": None,
    }
    for problem, _, options in calls:
        assert problem == table_problem(task=2)
        assert options == expected


@pytest.mark.slow
def test_all_algorithms(capsys: Capture) -> None:
    """Those named first, then the sharper ones that are made for the problem; the command repeats
    it; another word is refused."""
    command = "run --algorithm vanilla --algorithms all --replications 20 --seed 3 --no-progress"
    text = printed(capsys, f"{command} {TWO}")
    for label in ("Vanilla(merging=True) ", "width='mixture')", "picks='lucb++')", "'pairwise')"):
        assert label in text
    assert text.index("Vanilla(merging=True) ") < text.index("mixture")
    assert "picks='k-m'" not in printed(capsys, f"{command} --table-task 3")
    assert "--algorithms all" in text
    assert "--algorithms some is no set; choose paper or all" in refused(
        capsys, f"run --algorithms some {TWO}"
    )


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
        assert f" {rai.bounds.at_delta(table_problem(task=1), 0.01).pulls:.1f} " in line
        assert (
            "none" if summary.upper_bound is None else f"{summary.upper_bound:,.0f} (Th. "
        ) in line
        assert re.search(r" \d+\.\d\d$", line)
    assert (
        "lower bound: of the mean, at this delta, Bernoulli arms, 3 right answers "
        "(Theorem 1, asymptotic (delta -> 0), as for Gaussian arms of sd 1/2: 36.8)"
    ) in text
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
    table, _, beneath = text.partition("lower bound: of the mean")
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
    assert "lower bound: none holds for these arms" in text
    assert "Theorem" not in text
    text = printed(capsys, f"bounds {words} --no-strict")
    assert "WARNING: the bounds do not hold for these arms: sd is 3.0" in text
    assert "Theorem" not in text
    assert json.loads(printed(capsys, f"bounds {words} --no-strict --json"))["bounds"] == []


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
    assert "\n8 replications each wanted, seed 0; the same numbers again: " in text
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


def in_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Let standard output be a terminal of so many columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)


def counting(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, stop_at: int | None = None
) -> tuple[list[str], list[str]]:
    """Let `run` note what was printed before each simulation, and be interrupted in one of them."""
    before: list[str] = []
    printed_so_far: list[str] = []

    def simulate(problem: Problem, algorithm: Any, **options: Any) -> rai.Result:
        printed_so_far.append(capsys.readouterr().out)
        before.append("".join(printed_so_far))
        if len(before) - 1 == stop_at:
            raise SimulationInterrupted(None)
        return rai.simulate(problem, algorithm, **options)

    monkeypatch.setattr(cli, "simulate", simulate)
    return before, printed_so_far


def test_run_prints_each_row_as_it_is_done(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the second algorithm begins, the first one's row is there; with --json nothing is, until
    the end."""
    before, so_far = counting(monkeypatch, capsys)
    words = "run --algorithm butterscotch --algorithm butterscotch:merging=false --replications 3 --no-progress --table-task 1"
    run(words)
    rest = capsys.readouterr().out
    assert before[0] == ""
    assert before[1].startswith("10 Bernoulli arms, clusters 3,5,2")
    assert re.match(
        r"Butterscotch\(merging=True\) +10,370  10,370 to 10,370 .* \d+\.\d\d$",
        before[1].splitlines()[-1],
    )
    text = "".join(so_far) + rest
    lines = text.splitlines()
    assert [line.split("(")[0] for line in lines[4:6]] == ["Butterscotch"] * 2
    assert len(lines[2]) == len(lines[3]) == len(lines[4]) == len(lines[5])
    before, _ = counting(monkeypatch, capsys)
    run(f"{words} --json")
    assert before == ["", ""]
    capsys.readouterr()
    before, so_far = counting(monkeypatch, capsys, stop_at=1)
    run(words, expect=130)
    rest = capsys.readouterr().out
    assert before[1].splitlines()[-1].startswith("Butterscotch(merging=True)")
    assert "INTERRUPTED: 1 of 2 algorithms are complete" in rest
    assert "Butterscotch(" not in rest.partition("the same numbers again")[0]


def test_run_in_narrow_terminals(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns keep mean, interval and errors; 40 have all, one below the other."""
    words = "run --algorithm butterscotch --replications 3 --no-progress --table-task 1"
    in_terminal(monkeypatch, 80)
    lines = printed(capsys, words).splitlines()
    assert re.split(" {2,}", lines[2]) == ["algorithm", "mean pulls", "95 % interval", "errors"]
    assert (
        "left out to fit 80 columns: 95 % interval of errors, lower bound, upper bound, seconds; "
        "a pipe or --json has all" in lines
    )
    in_terminal(monkeypatch, 40)
    lines = printed(capsys, words).splitlines()
    assert lines[2:5] == [
        "Butterscotch(merging=True)",
        "  mean pulls     10,370",
        "  95 % interval  10,370 to 10,370",
    ]


def test_an_algorithm_that_fails_does_not_cost_the_others_results(
    tmp_path: Path, capsys: Capture
) -> None:
    """LUCB is done before the recording ends, Butterscotch is not."""
    np.save(tmp_path / "short.npy", np.tile([[1.0], [0.0]], 200))
    words = (
        "--clusters 1,1 --required 1,0 --algorithm lucb --algorithm butterscotch --replications 4"
    )
    run(f"run --law recorded --rewards '{tmp_path}/short.npy' {words}", expect=2)
    captured = capsys.readouterr()
    assert "LUCB(as_printed=False)" in captured.out
    assert "Butterscotch(" not in captured.out
    assert "--rewards: rewards: the recording of arm" in captured.err


PROGRAM = (sys.executable, "-m", "rai_sim")


@pytest.mark.landing
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_real_interrupt_ends_a_simulation_promptly(number: signal.Signals) -> None:
    """SIGINT in the middle of a long simulation: what is finished is printed, exit code 130; of
    SIGTERM 143."""
    words = [
        "--table-task",
        "1",
        "--algorithm",
        "butterscotch",
        "--replications",
        "2e7",
        "--progress",
    ]
    with subprocess.Popen(
        [*PROGRAM, "run", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = b""
        # Compilation may come first; the bar moves when replications do.
        while not re.search(rb"[1-9][.\d]*[kM]?/20\.0M", seen):
            more = os.read(process.stderr.fileno(), 4096)
            assert more, seen.decode()
            seen += more
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert b"INTERRUPTED: 0 of 1 algorithms are complete, Butterscotch(merging=True) has" in out


def test_several_deltas(capsys: Capture) -> None:
    """Each algorithm at all of them before the next one, a column that tells which; given at once
    or one by one; the command repeats the run."""
    words = "run --table-task 1 --algorithm butterscotch --algorithm vanilla --replications 4"
    text = printed(capsys, f"{words} --delta 0.1,1e-2 --no-progress")
    lines = text.splitlines()
    assert lines[0].endswith("bottleneck gap 0.25, delta 0.1, 0.01")
    assert lines[2].split()[:2] == ["algorithm", "delta"]
    assert [line.split()[:2] for line in lines[4:8]] == [
        ["Butterscotch(merging=True)", "0.1"],
        ["Butterscotch(merging=True)", "0.01"],
        ["Vanilla(merging=True)", "0.1"],
        ["Vanilla(merging=True)", "0.01"],
    ]
    assert len({len(line) for line in lines[2:8]}) == 1
    assert (
        "(Theorem 1, asymptotic (delta -> 0), as for Gaussian arms of sd 1/2: 18.4 at delta 0.1, 36.8 at delta 0.01)"
        in text
    )
    assert "upper bound: with probability 1 - delta" in text
    first = document(capsys, f"{words} --delta 0.1,1e-2")
    assert first["delta"] == [0.1, 0.01]
    again = document(capsys, first["rerun"].removeprefix("rai-sim "))
    for found in (first, again):
        for one in found["runs"]:
            del one["seconds"], one["compile_seconds"]
    assert first == again
    assert [one["delta"] for one in first["runs"]] == [0.1, 0.01] * 2
    alone = document(capsys, f"{words} --delta 0.01")
    assert alone["delta"] == 0.01
    assert [one["experiment"] for one in alone["runs"]] == [
        one["experiment"] for one in first["runs"][1::2]
    ]
    for wrong, said in {
        "0.1 --delta 0.10": "--delta 0.10 is given twice; leave one of them out",
        "0.1,": "--delta '' is not a number; give one such as 0.01",
        "0.1,2": "--delta: delta is 2.0; it must be an error probability",
    }.items():
        assert said in refused(capsys, f"{words} --delta {wrong}")


def test_warnings_and_interrupts_tell_the_delta(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are several."""
    words = f"run {TWO} --algorithm butterscotch --algorithm vanilla --delta 0.1,0.01"
    text = printed(capsys, f"{words} --replications 8 --max-pulls 3")
    assert "WARNING: Vanilla(merging=True), delta 0.1: 8 of 8 replications stopped at" in text
    interrupt_vanilla(monkeypatch, after=3)
    text = printed(capsys, f"{words} --replications 8", expect=130)
    assert "2 of 4 runs are complete, Vanilla(merging=True), delta 0.1, has 3 of 8 repl" in text


def test_sharper_algorithms_at_several_deltas(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each at each of them; here Butterscotch runs in the place of all."""
    monkeypatch.setattr(
        cli,
        "simulate",
        lambda problem, _, **options: rai.simulate(problem, Butterscotch(), **options),
    )
    words = f"run {TWO} --algorithms all --algorithm vanilla --delta 0.1,0.2 --replications 2"
    runs = document(capsys, words)["runs"]
    assert [one["delta"] for one in runs] == [0.1, 0.2] * (len(runs) // 2)
    assert len(runs) > 10


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_output_into_a_file(tmp_path: Path, capsys: Capture, kind: str) -> None:
    """One row an algorithm and delta with the columns of a study's summary, or what --json prints;
    the table is shown all the same."""
    words = f"run --table-task 1 {QUICK} --delta 0.1,0.01"
    place = tmp_path / f"runs.{kind}"
    assert "Butterscotch(" in printed(capsys, f"{words} --output '{place}'")
    shown = document(capsys, words)
    if kind == "json":
        written = json.loads(place.read_text())
        for found in (shown, written):
            for one in found["runs"]:
                del one["seconds"], one["compile_seconds"]
        assert written == shown
        return
    frame = pl.read_csv(place) if kind == "csv" else pl.read_parquet(place)
    assert frame["delta"].to_list() == [0.1, 0.01]
    assert frame["pulls_mean"].to_list() == [one["mean"] for one in shown["runs"]]
    assert set(frame.columns) - set(SUMMARY_SCHEMA) == {"seconds", "compile_seconds"}
    study = rai.Study.grid([table_problem(1)], [Butterscotch()], [0.1, 0.01], replications=3)
    theirs = study.run(tmp_path / "study").summary()
    same = [name for name in frame.columns if name in theirs.columns]
    if kind == "parquet":
        assert frame.select(same).equals(theirs.select(same))


def test_output_that_cannot_be_written(tmp_path: Path, capsys: Capture) -> None:
    """A name of another kind is refused before anything runs; of a disk that fails later the table
    is shown first; what an interrupt leaves is written."""
    words = f"run --table-task 1 {QUICK}"
    assert "ends in none of .csv, .json, .parquet" in refused(capsys, f"{words} -o a.txt")
    assert "there is no folder" in refused(capsys, f"{words} -o '{tmp_path}/none/a.csv'")
    (tmp_path / "a.csv").symlink_to("/dev/full")
    run(f"{words} -o '{tmp_path}/a.csv'", expect=2)
    captured = capsys.readouterr()
    assert "the same numbers again" in captured.out
    assert "No space left on device; free space" in captured.err


def test_output_after_an_interrupt(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was finished is written."""
    interrupt_vanilla(monkeypatch, after=3)
    words = f"run {TWO} --algorithm butterscotch --algorithm vanilla --replications 8"
    printed(capsys, f"{words} -o '{tmp_path}/a.csv'", expect=130)
    assert pl.read_csv(tmp_path / "a.csv")["replications"].to_list() == [8, 3]


def test_pulls_by_arm_are_kept(tmp_path: Path, capsys: Capture) -> None:
    """In files and documents; a table alone has no place for them, and what is kept is checked."""
    words = "run --means 0.9,0.5 --clusters 1,1 --required 1,0 --algorithm vanilla --replications 5"
    found = document(capsys, f"{words} --keep arm_pulls")["runs"][0]
    assert len(found["arm_pulls_mean"]) == len(found["arm_pulls_standard_error"]) == 2
    assert sum(found["arm_pulls_mean"]) == pytest.approx(found["mean"])
    file = tmp_path / "a.parquet"
    printed(capsys, f"{words} --keep arm_pulls_sum --output '{file}'")
    frame = pl.read_parquet(file)
    assert frame["arm_pulls_mean"].to_list() == [found["arm_pulls_mean"]]
    assert "arm_pulls_standard_error" not in frame.columns
    assert "--keep arm_pulls has no place" in refused(capsys, f"{words} --keep arm_pulls")
    assert "--keep rows is neither arm_pulls nor arm_pulls_sum" in refused(
        capsys, f"{words} --keep rows --json"
    )


def test_an_algorithm_is_run_once(capsys: Capture) -> None:
    """Also if it is named in two ways."""
    assert refused(capsys, f"run {TWO} --algorithm vanilla --algorithm vanilla:merging=true") == (
        "rai-sim: --algorithm Vanilla(merging=True) is given twice; leave one of them out\n"
    )


def test_one_replication_is_one(capsys: Capture) -> None:
    """Of which there is no interval."""
    text = printed(capsys, f"run {TWO} --algorithm butterscotch --replications 1")
    assert "\n1 replication each, seed 0; " in text
    assert "n/a to n/a" not in text


def test_results_are_not_written_among_a_studys(capsys: Capture, tmp_path: Path) -> None:
    """Of any study, in any folder of it."""
    (tmp_path / MARKER).write_text("{}")
    (tmp_path / "below").mkdir()
    for name in ("a.csv", "below/a.csv"):
        assert f"--output {tmp_path}/{name} lies among the study's results in {tmp_path}; " in (
            refused(capsys, f"run {TWO} --output {tmp_path}/{name}")
        )
