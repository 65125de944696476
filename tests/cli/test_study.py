"""The command `study`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from command_line import ROOT, Capture, document, printed, refused, run
from studies import Endless

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.problem import table_problem
from rai_sim.study import open_study

TEXT = """
algorithms = ["vanilla", "butterscotch"]
delta = [0.1]
replications = 30
[[instances]]
name = "table"
table_task = [1, 2]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a study's file."""
    path = tmp_path / "my study.toml"
    path.write_text(TEXT)
    return path


def test_a_study_is_run_and_shown(file: Path, capsys: Capture) -> None:
    """One line a task; the folder lies beside the file; more replications go on from there."""
    shown = printed(capsys, f"study '{file}'")
    lines = shown.splitlines()
    assert re.split(" {2,}", lines[0]) == [
        "instance",
        "algorithm",
        "delta",
        "replications",
        "mean pulls",
        "95 % interval",
        "+- of mean",
        "errors",
        "95 % interval",
        "tight",
        "lower",
        "upper",
    ]
    assert re.match(r"table, table_task = 1 +Vanilla\(merging=True\) +0\.1 +30 ", lines[2])
    assert lines[-1] == f"120 of 120 replications of 4 tasks are in {file.with_suffix('.study')}"
    assert "200 of 200" in printed(capsys, f"study '{file}' --replications 50 --jobs 2")
    assert [run["replications_added"] for run in open_study(file.with_suffix(".study")).runs()] == [
        120,
        80,
    ]
    assert "0.2" not in printed(capsys, f"study '{file}' --replications 50")


def test_options(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """Another folder, a precision, a summary as CSV and Parquet, JSON, a dry run."""
    plan = printed(capsys, f"study '{file}' --dry-run --store {tmp_path}/x")
    assert plan.startswith(f"4 tasks, 30 replications each, into {tmp_path}/x\n\n")
    assert re.search(r"table, table_task = 1  Vanilla\(merging=True\) +0\.1 +30 +30 ", plan)
    assert "in all some 120 replications of 4 tasks are left: some " in plan
    assert plan.endswith("0 replications are there of 120 wanted as far as is known\n")
    assert not (tmp_path / "x").exists()
    estimate = document(capsys, f"study '{file}' --dry-run --store {tmp_path}/x --jobs 2")
    assert (estimate["workers"], estimate["replications"], estimate["at_least"]) == (2, 120, False)
    assert estimate["tasks"][1]["pulls"] == 30 * 7420  # Butterscotch takes as many each time
    assert "--pilot-time 0s is no time" in refused(
        capsys, f"study '{file}' --dry-run --pilot-time 0s"
    )
    found = document(
        capsys, f"study '{file}' --store {tmp_path}/x --precision 0.05 --output {tmp_path}/s.csv"
    )
    assert (
        found["replications"]
        == found["wanted"]
        == sum(task["replications"] for task in found["tasks"])
        >= 4 * 256
    )
    assert found["rerun"] == f"rai-sim study --store {tmp_path}/x --precision 0.05 '{file}'"
    assert found["interrupted"] is False
    frame = pl.read_csv(tmp_path / "s.csv")
    assert frame["pulls_mean"].to_list() == [task["pulls_mean"] for task in found["tasks"]]
    assert frame["clusters"][0] == "3 5 2"
    run(f"study '{file}' --store {tmp_path}/x --precision 0.05 --output {tmp_path}/s.parquet")
    assert pl.read_parquet(tmp_path / "s.parquet")["clusters"][0].to_list() == [3, 5, 2]
    capsys.readouterr()
    plan = printed(capsys, f"study '{file}' --dry-run --store {tmp_path}/x --replications 300")
    there = int(
        re.findall(r"([\d,]+) replications are there of 1,200 wanted", plan)[0].replace(",", "")
    )
    assert 4 * 256 <= there <= 1200


def test_until_the_error_rate_is_known(file: Path, capsys: Capture) -> None:
    """On the command line in the place of the file's number; the verdict is shown, and how sure."""
    options = "--until error-rate --alpha 0.02"
    found = document(capsys, f"study '{file}' {options}")
    assert {task["error_verdict"] for task in found["tasks"]} == {"below delta"}
    assert [task["replications"] for task in found["tasks"]] == [256] * 4
    assert found["rerun"] == f"rai-sim study --until error-rate --alpha 0.02 '{file}'"
    shown = printed(capsys, f"study '{file}' {options}")
    assert shown.splitlines()[0].endswith("verdict")
    assert "verdicts on 4 tasks, all right with probability 98 % (Bonferroni)" in shown
    plan = printed(capsys, f"study '{file}' {options} --dry-run")
    assert (
        "4 tasks, until the error rate is known to lie above or below delta, at most some" in plan
    )


def test_a_time_limit(file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """One replication never ends: it is given up, the rest is stored and shown, the exit code is
    124, and what is said is how to go on. A limit that is not reached changes nothing."""
    monkeypatch.setitem(ALGORITHMS, "endless", Endless)
    file.write_text(TEXT.replace('"butterscotch"', '"endless:ends=29"'))
    run(f"study '{file}' --time 1s --part 1/1", expect=124)
    shown = capsys.readouterr()
    assert "Endless" in shown.out
    assert "is done" not in shown.out
    assert re.fullmatch(
        r"rai-sim: the time limit of 1 s is up: \d+ of 120 replications are in .*; not finished: "
        r"\d of 4 tasks.*; to go on: rai-sim study --part 1/1 --time 1s '.*my study\.toml'\n",
        shown.err,
    )
    run(f"study '{file}' --time 0.3s --store {file.parent}/x --json", expect=124)
    read = json.loads(capsys.readouterr().out)
    assert read["cut_short"].startswith("the time limit of 0.3 s is up: ")
    assert (read["interrupted"], read["wanted"]) == (False, 120)
    assert open_study(file.with_suffix(".study")).runs()[-1]["status"] == "time limit"
    file.write_text(TEXT)
    assert document(capsys, f"study '{file}' --time 1h")["cut_short"] is None
    for wrong in ("2x", "0s", "1m1h"):
        assert f"--time {wrong} is no time; give such as 90s, 30m, 2h or 1h30m" in refused(
            capsys, f"study '{file}' --time {wrong}"
        )


def test_verify(file: Path, capsys: Capture) -> None:
    """Stored replications are the same again; a store without any is no success; a changed one is
    exit code 1."""
    assert refused(capsys, f"study '{file}' --verify") == (
        f"rai-sim: {file}: there is no folder {file.with_suffix('.study')} with its results; run "
        f"rai-sim study {file} first\n"
    )
    run(f"study '{file}'")
    capsys.readouterr()
    assert (
        printed(capsys, f"study '{file}' --verify --sample 50")
        == "50 stored replications were run again: all are the same to the bit\n"
    )
    assert document(capsys, f"study '{file}' --verify --sample 1000") == {
        "checked": 120,
        "mismatches": [],
    }
    from rai_sim.study.store import Store

    folder = file.with_suffix(".study")
    (part,) = folder.glob("replications-*")
    frame = pl.read_parquet(part)
    part.unlink()
    assert "nothing of this study is stored yet, so nothing was checked" in printed(
        capsys, f"study '{file}' --verify", expect=1
    )
    Store(folder, "replications").write(
        "replications", frame.with_columns(pl.col("rounds") + 1), {}
    )
    assert "120 stored replications were run again: 120 mismatches, first table" in printed(
        capsys, f"study '{file}' --verify --sample 200", expect=1
    )


def test_what_cannot_be_used_is_one_line(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """Bad files and options run and write nothing."""
    assert (
        refused(capsys, "study none.toml")
        == "rai-sim: 'none.toml' cannot be read: No such file or directory; name a TOML file\n"
    )
    assert "--output x.txt ends in none of .csv, .json, .parquet" in refused(
        capsys, f"study '{file}' --output x.txt"
    )
    assert "there is no folder" in refused(capsys, f"study '{file}' --output {tmp_path}/none/x.csv")
    assert "--jobs: n_jobs is 0" in refused(capsys, f"study '{file}' --jobs 0")
    assert "--output x.csv has no meaning with --verify" in refused(
        capsys, f"study '{file}' --verify --output x.csv"
    )
    assert f"--output {tmp_path} is a folder" in refused(
        capsys, f"study '{file}' --output {tmp_path}"
    )
    inside = f"study '{file}' --store {tmp_path} --output {tmp_path}/s.csv"
    assert "lies among the study's results" in refused(capsys, inside)
    file.write_text(TEXT.replace("replications = 30", "max_pulls = 0"))
    assert (
        refused(capsys, f"study '{file}'")
        == "rai-sim: max_pulls = 0: max_pulls is 0; it must be at least 1 and at most 2^62\n"
    )
    file.write_text(TEXT.replace("table_task", "table_tusk"))
    assert (
        "instances[0].table_tusk = [1, 2]: there is no such key; did you mean table_task?"
        in refused(capsys, f"study '{file}'")
    )
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--replications 0", "--replications: replications is 0; "),
        ("--precision 3", "--precision: precision is 3.0; it is a share of the mean"),
        ("--alpha=2", "--alpha: alpha is 2.0; it must be a probability"),
        ("--keep all", "--keep: keep is 'all'; choose one of"),
        ("--until pulls", "--until: until is 'pulls'; the one that there is is 'error rate'"),
        (
            "--until error-rate --replications 300",
            "--until: until is 'error-rate' and replications is 300; give one of the two",
        ),
        ("--replications 10 --precision 0.1", "--precision: precision is 0.1 and replications is"),
    ],
)
def test_what_takes_the_place_of_the_files_is_refused_by_its_option(
    file: Path, capsys: Capture, words: str, said: str
) -> None:
    """Not in the file's words, which has no such value."""
    assert refused(capsys, f"study '{file}' {words}").startswith(f"rai-sim: {said}")


def test_files_set_aside_are_told_in_a_line(file: Path, capsys: Capture) -> None:
    """On the error stream; the study goes on."""
    run(f"study '{file}'")
    folder = file.with_suffix(".study")
    (folder / "foreign.parquet").write_bytes(b"")
    capsys.readouterr()
    run(f"study '{file}'")
    assert capsys.readouterr().err == (
        f"rai-sim: WARNING: {folder}/foreign.parquet is set aside as foreign.parquet.set-aside: "
        "it was not written by a study\n"
    )


def test_a_precision_that_is_not_reached_is_told(file: Path, capsys: Capture) -> None:
    """No replication finishes within four pulls."""
    file.write_text(TEXT.replace("replications = 30", "precision = 0.1\nmax_pulls = 4"))
    shown = printed(capsys, f"study '{file}'")
    assert (
        "WARNING: 4 tasks stopped short of the precision, the first is table, table_task = 1, "
        "Vanilla" in shown
    )
    assert "WARNING: 1,024 replications stopped at their cap of pulls" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--dry-run --output x.csv", "--output x.csv has no meaning with --dry-run"),
        ("--dry-run --verify", "--dry-run has no meaning with --verify"),
        ("--dry-run --time 1s", "--time 1s has no meaning with --dry-run"),
        ("--verify --time 1s", "--time 1s has no meaning with --verify"),
        ("--verify --progress", "--progress has no meaning with --verify"),
        ("--verify --replications 5", "--replications 5 has no meaning with --verify"),
        ("--verify --precision 0.1", "--precision 0.1 has no meaning with --verify"),
        ("--verify --until error-rate", "--until error-rate has no meaning with --verify"),
        ("--verify --alpha 0.1", "--alpha 0.1 has no meaning with --verify"),
        ("--verify --keep aggregates", "--keep aggregates has no meaning with --verify"),
        ("--sample 5", "--sample 5 has no meaning without --verify"),
        ("--pilot-time 2s", "--pilot-time 2s has no meaning without --dry-run"),
    ],
)
def test_options_that_would_do_nothing(file: Path, capsys: Capture, words: str, said: str) -> None:
    """Are refused before anything is run."""
    assert refused(capsys, f"study '{file}' {words}").startswith(f"rai-sim: {said}; ")
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("--dry-run --pilot-time 30s", "rai_sim.study.Study.estimate"),
        ("--verify --sample 1000000", "rai_sim.cli.study.check_run"),
        ("--output s.csv --json", "rai_sim.cli.study.run_or_tell"),
    ],
)
def test_what_goes_on_is_what_was_asked_for(
    file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, words: str, place: str
) -> None:
    """A plan or a verification that is interrupted is not gone on with by running the study, and
    the output is written then, too."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    run(f"study '{file}' {words}", expect=130)
    assert capsys.readouterr().err == (
        f"rai-sim: INTERRUPTED; to go on: rai-sim study {words} '{file}'\n"
    )


def test_an_interrupt_while_nothing_runs_is_told(
    file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the table is made: how to go on, in one line."""

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("rai_sim.cli.study.summary_text", interrupted)
    run(f"study '{file}'", expect=130)
    assert capsys.readouterr().err == f"rai-sim: INTERRUPTED; to go on: rai-sim study '{file}'\n"


def test_a_failing_task_is_told_after_the_table(file: Path, capsys: Capture) -> None:
    """Exit code 2; the others are shown."""
    file.write_text(
        TEXT
        + '[[instances]]\nname = "log"\nlaw = "recorded"\nrewards = [[1, 1], [0, 0]]\nproblem = '
        '"best_arm"\n'
    )
    run(f"study '{file}'", expect=2)
    shown = capsys.readouterr()
    assert "120 of 180 replications of 6 tasks" in shown.out
    assert "2 of 6 tasks failed" in shown.err
    run(f"study '{file}' --json", expect=2)
    assert (
        "recording"
        in json.loads(capsys.readouterr().out)["failures"]["log, Vanilla(merging=True), delta 0.1"]
    )
    assert "recording" in shown.err


def wait_for_end_of_group(group: int) -> None:
    """Wait until no process of a group is there: what watches over workers ends after them."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("processes are left")


@pytest.mark.landing
@pytest.mark.parametrize(
    ("number", "backend"),
    [
        (signal.SIGINT, ""),
        pytest.param(signal.SIGTERM, "", marks=pytest.mark.slow),
        *(
            pytest.param(signal.SIGTERM, f" --jobs 2 --backend {engine}", marks=pytest.mark.slow)
            for engine in ("multiprocessing", "loky")
        ),
    ],
)
def test_a_real_interrupt_keeps_what_is_finished(
    number: signal.Signals, backend: str, file: Path
) -> None:
    """SIGINT in the middle: exit code 130, one line that says how to go on, and what was finished
    is there; of SIGTERM 143. No process is left of those that it started."""
    words = [
        sys.executable,
        "-m",
        "rai_sim",
        "study",
        str(file),
        "--replications",
        "2e7",
        "--progress",
        *backend.split(),
    ]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stderr is not None
        seen = b""
        while not re.search(rb"[1-9][.\d]*k/80\.0M", seen):
            more = os.read(process.stderr.fileno(), 4096)
            assert more, seen.decode()
            seen += more
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    wait_for_end_of_group(process.pid)
    assert out == b""
    last = errors.decode().splitlines()[-1]
    found = re.fullmatch(
        r"rai-sim: INTERRUPTED with ([\d,]+) of 80,000,000 replications in "
        rf"{file.with_suffix('.study')}; "
        rf"to go on: rai-sim study --replications 20000000.* '{file}'",
        last,
    )
    assert found, last
    done = int(found.group(1).replace(",", ""))
    results = open_study(file.with_suffix(".study"))
    assert done > 0
    assert results.rows().collect().height == done
    assert results.runs()[-1]["status"] == "interrupted"


STUDY = 'algorithms = ["vanilla"]\ndelta = [0.1, 0.01]\nreplications = 10\n[[instances]]\nname = "table"\ntable_task = 1\n'


def in_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Let standard output be a terminal of so many columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)


def test_a_studys_table_in_a_terminal(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in a pipe, whatever COLUMNS says; what fits in a terminal, and what is left out is said;
    the file has all."""
    (tmp_path / "a.toml").write_text(STUDY.replace("vanilla", "butterscotch"))
    monkeypatch.setenv("COLUMNS", "40")
    words = f"study {tmp_path}/a.toml --no-progress"
    whole = printed(capsys, words)
    assert "left out" not in whole
    assert "+- of mean: half-width of the interval over the mean" in whole
    in_terminal(monkeypatch, 80)
    table = printed(capsys, words).partition("\n\n")[0].splitlines()
    assert max(map(len, table[:-1])) <= 80
    assert table[-1] == (
        "left out to fit 80 columns: replications, 95 % interval of mean pulls, 95 % interval of "
        "errors, tight, lower, upper; "
        "a pipe, --output or --json has all"
    )
    in_terminal(monkeypatch, 40)
    table = printed(capsys, words).partition("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 40
    assert table[:4] == [
        "table",
        "Butterscotch(merging=True)",
        "  delta          0.1",
        "  replications   10",
    ]
    mean = (
        rai.simulate(table_problem(1), rai.Butterscotch(), delta=0.1, replications=10, seed=0)
        .summary()
        .mean
    )
    assert table[4] == f"  mean pulls     {mean:,.0f}"
    in_terminal(monkeypatch, 500)
    assert printed(capsys, words) == whole


def test_a_pipe_has_all_tasks(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal has the first ones, and the words for how to have the others; so it is with a
    plan."""
    (tmp_path / "a.toml").write_text(STUDY.replace("vanilla", "butterscotch"))
    monkeypatch.setattr("rai_sim.cli.study._MOST_ROWS", 1)
    words = f"study {tmp_path}/a.toml --no-progress"
    for more in (" --dry-run", ""):
        assert printed(capsys, words + more).count("Butterscotch(merging=True)") == 2
    in_terminal(monkeypatch, 500)
    for more, remedy in (("--dry-run", "a pipe"), ("", "a pipe, --output")):
        shown = printed(capsys, f"{words} {more}")
        assert shown.count("Butterscotch(merging=True)") == 1
        assert f"... and 1 more task; {remedy} or --json has all\n" in shown


def test_no_word_on_verdicts_that_are_not_shown(file: Path, capsys: Capture) -> None:
    """How sure they are is said where there is a column of them."""
    assert "verdicts on" not in printed(capsys, f"study '{file}'")


def test_errors_at_the_cap_are_shown_with_their_interval(file: Path, capsys: Capture) -> None:
    """Where a cap is set; what is not known, n/a once."""
    file.write_text(
        TEXT.replace("[1, 2]", "1").replace("replications = 30", "max_pulls = [4, 5e5]")
    )
    lines = printed(capsys, f"study '{file}' --replications 30").splitlines()
    assert re.split(" {2,}", lines[0])[-2:] == ["errors at cap", "95 % interval"]
    unfinished, finished = (re.split(" {2,}", line) for line in lines[2:4])
    assert unfinished[4:9] == ["n/a"] * 5
    assert unfinished[-2:] == ["60 %", "40.6 % to 77.3 %"]  # 18 of 30, by Clopper and Pearson
    assert finished[-2:] == ["0 %", "0 % to 11.6 %"]
