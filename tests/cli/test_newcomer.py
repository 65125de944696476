"""What a newcomer types at the command line: help, version, completion, slips of the pen, narrow
terminals."""

import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, Capture, printed, refused, run

import rai_sim as rai
from rai_sim.cli import run as cli
from rai_sim.cli import tables as cli_tables
from rai_sim.cli.tables import Columns
from rai_sim.problem import Problem, table_problem
from rai_sim.simulation.simulate import SimulationInterrupted

COMMANDS = ("run", "bounds", "study", "trace", "plot", "report", "warmup")
STUDY = 'algorithms = ["vanilla"]\ndelta = [0.1, 0.01]\nreplications = 10\n[[instances]]\nname = "table"\ntable_task = 1\n'


@pytest.mark.parametrize("words", ["--version", "-V"])
def test_the_version(words: str, capsys: Capture) -> None:
    """It is the package's."""
    assert printed(capsys, words) == f"rai-sim {rai.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_way_to_ask_for_help(command: str, capsys: Capture) -> None:
    """-h, --help and `help COMMAND` are the same."""
    shown = printed(capsys, f"{command} --help")
    assert shown.startswith(f"Usage: rai-sim {command} [OPTIONS]")
    assert printed(capsys, f"{command} -h") == printed(capsys, f"help {command}") == shown
    assert not re.search(r"<\w+(\[\w+\])?>", shown.replace("<Path>", "")), (
        "every option says in words what it takes"
    )


def test_the_list_of_commands_is_never_cut_off(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is summed up by one line at 80 columns, and by a whole sentence at 40."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed(capsys, "-h")
    assert shown == printed(capsys, "") == printed(capsys, "help")
    assert "..." not in shown.replace("[ARGS]...", "")
    lines = shown[shown.index("Commands:") :].splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert all(line.endswith(".") for line in lines)
    monkeypatch.setenv("COLUMNS", "40")
    narrow = printed(capsys, "-h")
    assert " ".join(narrow.split()) == " ".join(shown.split())
    assert max(map(len, narrow.splitlines())) <= 40


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("columns", [40, 60, 80])
def test_help_fits_the_terminal(
    command: str, columns: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is longer than the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    assert max(map(len, printed(capsys, f"{command} -h").splitlines())) <= columns


def test_python_m_says_the_same(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m rai_sim` calls itself rai-sim."""
    monkeypatch.setenv("COLUMNS", "80")
    found = subprocess.run(
        [sys.executable, "-m", "rai_sim", "-h"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert found.stdout == printed(capsys, "-h")


# Completion
# --------------------------------------------------------------------------------------------------


def completed(
    words: str, incomplete: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Return what bash offers for the last word."""
    monkeypatch.setenv("_RAI_SIM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"rai-sim {words}{incomplete}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) + 1))
    return printed(capsys, "").split()


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ("", "st", ["study"]),
        ("", "", list(COMMANDS)),
        ("run ", "--re", ["--rewards", "--required", "--replications"]),
        ("plot ", "--f", ["--format"]),
        ("run --law ", "g", ["gaussian"]),
        ("run --algorithm ", "v", ["vanilla", "vanilla:merging=false"]),
        ("bounds --instance ", "", ["mirrored", "printed"]),
        ("plot --format ", "p", ["png", "pdf"]),
        ("warmup --law ", "b", ["bernoulli"]),
    ],
)
def test_completion(
    words: str,
    incomplete: str,
    expected: list[str],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Commands, options, and values of options that are one of a few."""
    assert completed(words, incomplete, capsys, monkeypatch) == expected


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="there is no bash")
def test_completion_is_shown_and_installed_for_the_shell(tmp_path: Path) -> None:
    """bash is found above the process; the script that is printed works in it."""
    program = shlex.join([sys.executable, "-m", "rai_sim"])
    environment = {**os.environ, "HOME": str(tmp_path)}

    def bash(script: str) -> str:
        words = ["/bin/bash", "--norc", "-c", f"{script}; true"]
        return subprocess.run(
            words, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
        ).stdout

    script = bash(f"{program} --show-completion")
    assert "complete -o default -F _rai_sim_completion rai-sim" in script
    assert bash(f"{program} --install-completion").startswith("bash completion installed in ")
    (installed,) = tmp_path.rglob("rai-sim.sh")
    assert installed.read_text().strip() == script.strip()
    (tmp_path / "rai-sim").write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    (tmp_path / "rai-sim").chmod(0o755)
    (tmp_path / "script").write_text(script)
    typed = f'COMP_WORDS=(rai-sim wa); COMP_CWORD=1; _rai_sim_completion {tmp_path}/rai-sim; echo "${{COMPREPLY[@]}}"'
    assert bash(f"source {tmp_path}/script; {typed}") == "warmup\n"


# Slips
# --------------------------------------------------------------------------------------------------

SLIPS: dict[str, tuple[str, ...]] = {
    "RUN": ("No such command 'RUN'; did you mean run? see rai-sim --help",),
    "rn": ("No such command 'rn'; did you mean run?",),
    "stdy x.toml": ("did you mean study?",),
    "'run '": ("No such command 'run '; did you mean run?",),
    "version": ("did you mean --version?",),
    "''": ("No such command ''; see rai-sim --help",),
    "ü": ("No such command 'ü'; see rai-sim --help",),
    "help nothing": ("No such command 'nothing'; see rai-sim --help",),
    "-v": ("No such option: -v; did you mean -V?",),
    "--algorithm lucb": ("it stands after a command, as in rai-sim run --algorithm",),
    "run --reps 5": (
        "No such option: --reps; did you mean --replications? see rai-sim run --help",
    ),
    "run --rep 5": ("did you mean --replications?",),
    "run --deta 0.1": ("did you mean --delta?",),
    "run --alg vanilla": ("did you mean --algorithm?",),
    "run --Seed 3": ("did you mean --seed?",),
    "run --table_task 1": ("did you mean --table-task?",),
    "run --no-progres": ("did you mean --no-progress?",),
    "run --ü 1": ("No such option: --ü; see rai-sim run --help",),
    "run vanilla": ("unexpected extra argument", "(vanilla)", "as in --algorithm vanilla"),
    "run --algorithm ''": ("--algorithm '' is no algorithm; known are",),
    "run --algorithm vanila": (
        "; known are butterscotch",
        "; did you mean vanilla?\n",
    ),
    "run --algorithm Vanilla,LUCB": ("; name one at a time\n",),
    "trace --algorithm lucbb": ("did you mean lucb?",),
    "run --law ''": ("--law '' is no reward law; choose one of",),
    "run --law Bernouli": ("did you mean bernoulli? choose one of",),
    "warmup --law gausian": ("did you mean gaussian?",),
    "run --instance ''": ("instance is ''; choose 'mirrored' or 'printed'",),
    "run --means ''": ("--means '' is empty; give numbers",),
    "run --means means.txt": ("write @means.txt to have that file read",),
    "bounds --means .9,.5 --clusters '' --required 1,0": ("--clusters '' is empty",),
    "run --seed -1": ("seed is -1; it must be a non-negative integer\n",),
    "run --jobs 0": ("n_jobs is 0; give the number of workers, -1 for every core\n",),
    "study ''": ("'FILE.toml': '' is no name",),
    "study .": (". is a folder; name the study's TOML file",),
    "study good": ("'good' cannot be read", "did you mean good.toml?"),
    "study good.toml --store ''": ("'--store': '' is no name",),
    "plot ''": ("'STUDY': '' is no name",),
    "plot nofolder": ("there is no nofolder; name a study's folder or its TOML file",),
    "plot good": ("there is no good; did you mean good.toml? name",),
    "report god.toml": ("there is no god.toml; did you mean good.toml? name",),
    "plot good.toml --format jpeg": ("--format jpeg is no kind of figure; choose png, svg, pdf",),
    "trace --plot ''": ("'--plot': '' is no name",),
}


@pytest.mark.parametrize("words", SLIPS)
def test_slips(
    words: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, which says what was probably meant; nothing is written."""
    monkeypatch.chdir(tmp_path)
    Path("means.txt").write_text("0.9\n0.5\n")
    Path("good.toml").write_text(STUDY)
    line = refused(capsys, words)
    for part in SLIPS[words]:
        assert part in line
    assert sorted(os.listdir()) == ["good.toml", "means.txt"]


def test_case_does_not_matter_in_values(capsys: Capture) -> None:
    """As with algorithms and laws; a text too long for a file's name is still a list of numbers."""
    assert printed(capsys, "bounds --instance Mirrored") == printed(
        capsys, "bounds --instance mirrored"
    )
    means = ",".join(f"{k / 1000:.3f}" for k in range(1, 900))
    assert printed(capsys, f"bounds --means {means} --clusters 1,898 --required 1,0").startswith(
        "899 Bernoulli arms"
    )


# Tables
# --------------------------------------------------------------------------------------------------

NAMES = ("instance", "algorithm", "delta", "mean", "interval", "errors", "interval")
ROWS: list[tuple[str, ...]] = [
    (
        "table, n = 10",
        "Vanilla(merging=True)",
        "0.1",
        "12,345",
        "12,000 to 12,690",
        "1 %",
        "0 % to 2 %",
    ),
    (
        "table, n = 10",
        "Vanilla(merging=True)",
        "0.01",
        "23,456",
        "23,000 to 23,912",
        "0 %",
        "0 % to 1 %",
    ),
]


def drawn(width: int | None, rows: list[tuple[str, ...]] = ROWS) -> list[str]:
    """Return the lines of a table."""
    columns = Columns(
        NAMES, [max(map(len, cells)) for cells in zip(NAMES, *rows, strict=True)], 2, (6, 4), width
    )
    return [
        *columns.head(),
        *(line for row in rows for line in columns.row(row)),
        *columns.left_out("--json has all"),
    ]


def test_a_table_fits_its_width() -> None:
    """The least important columns go first, then the instance becomes a heading, then all stand one
    below the other."""
    whole = drawn(None)
    assert re.split(" {2,}", whole[0]) == list(NAMES)
    assert re.split(" {2,}", whole[2]) == list(ROWS[0])
    assert drawn(len(whole[0])) == whole
    one_less = drawn(len(whole[0]) - 1)
    assert re.split(" {2,}", one_less[0]) == list(NAMES[:-1])
    assert (
        one_less[-1]
        == f"left out to fit {len(whole[0]) - 1} columns: interval of errors; --json has all"
    )
    headed = drawn(50)
    below = [
        "  Vanilla(merging=True)    0.1  12,345     1 %",
        "  Vanilla(merging=True)   0.01  23,456     0 %",
    ]
    assert headed[2:5] == ["table, n = 10", *below]
    assert (
        headed[-1]
        == "left out to fit 50 columns: interval of mean, interval of errors; --json has all"
    )
    assert drawn(40)[:8] == [
        "table, n = 10",
        "Vanilla(merging=True)",
        "  delta     0.1",
        "  mean      12,345",
        "  interval  12,000 to 12,690",
        "  errors    1 %",
        "  interval  0 % to 2 %",
        "table, n = 10",
    ]


@pytest.mark.parametrize("width", [*range(12, 100, 7), 200])
def test_no_line_of_a_table_is_wider(width: int) -> None:
    """But for the line that says what was left out, which is text; and no cell of the columns that
    must stay is lost."""
    long = [(f"a {'very ' * 9}long name, n = 10", *row[1:]) for row in ROWS]
    for rows in (ROWS, long):
        lines = [line for line in drawn(width, rows) if not line.startswith("left out")]
        said = "".join("".join(lines).split())
        assert max(map(len, lines)) <= width
        for row in rows:
            for cell in (*row[:4], row[5]):
                assert "".join(cell.split()) in said


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
        "errors, lower, upper; "
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


def test_widths_are_enough_for_what_is_found() -> None:
    """Rows of the paper's tasks, easy and hard, are as wide as their header."""
    algorithms = [rai.Vanilla(), rai.Butterscotch()]
    for task, delta in itertools.product((1, 3), (0.5, 1e-6)):
        table = cli_tables.RunTable(table_problem(task), delta, algorithms, None)
        lines = [
            line
            for one in algorithms
            for line in table.lines(
                rai.simulate(table_problem(task), one, delta=delta, replications=3, seed=0)
            ).splitlines()
        ]
        assert len(set(map(len, lines[2:]))) == 1
