"""The program: verbs and help, version, slips of the pen, start-up."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from command_line import ROOT, Capture, printed, refused, run

import rai_sim as rai


def test_verbs_are_read_once_a_process(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """However often the program is called; with whatever width its help then has."""
    printed(capsys, "--version")
    monkeypatch.setattr(typer.main, "get_command", None)
    for columns in ("60", "100"):
        monkeypatch.setenv("COLUMNS", columns)
        assert max(map(len, printed(capsys, "run --help").splitlines())) <= int(columns)


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


COMMANDS = (
    "run",
    "bounds",
    "certify",
    "study",
    "scaling",
    "success",
    "trace",
    "plot",
    "report",
    "export",
    "warmup",
)
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


@pytest.mark.landing
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
    "run --alg vanilla": ("did you mean --algorithm",),
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


@pytest.mark.landing
def test_start_up_loads_only_what_is_needed() -> None:
    """A fresh run loads neither frames, nor scipy.stats, nor plotting, nor joblib."""
    slow = ("polars", "scipy.stats", "matplotlib", "joblib")
    code = (
        "import sys; from rai_sim.cli import main\n"
        "main(['run', '--algorithm', 'butterscotch', '--replications', '2', '--no-progress'])\n"
        f"print([name for name in {slow} if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.splitlines()[-1] == "[]"


def test_a_working_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """It is named, not nothing; what needs no folder is done."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in ("run -o x.csv", "trace --plot x.png", "report s.study", "merge a b -o c"):
        assert refused(capsys, words) == (
            "rai-sim: the working folder: No such file or directory; go to one that is there, such "
            "as cd ~\n"
        )
    printed(capsys, "bounds --table-task 1")


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("trace --table-task 1", "rai_sim.cli.trace.tracing.trace"),
        ("warmup", "rai_sim.bounds.degenne_koolen"),
        ("merge a -o b", "rai_sim.study.merge_studies"),
        ("bounds", "rai_sim.cli.bounds.bounds_text"),
    ],
)
def test_every_verb_tells_of_an_interrupt(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, words: str, place: str
) -> None:
    """Also where there is nothing to show, or to go on with."""

    def interrupted(*_: object, **__: object) -> None:
        raise rai.SimulationInterrupted(None) if "trace" in words else KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    run(words, expect=130)
    shown = capsys.readouterr()
    assert (shown.out, shown.err.strip()) == ("", "rai-sim: INTERRUPTED")
