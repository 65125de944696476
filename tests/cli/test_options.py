"""How verbs speak of arguments, and options that several of them share."""

from pathlib import Path

import pytest
import typer
import typer.main
from command_line import Capture, refused

from rai_sim.cli import app, options
from rai_sim.cli.options import CommandLine
from rai_sim.cli.parser import own_options
from rai_sim.support.errors import (
    ArgumentValueError,
    BadInput,
    Named,
    OrNone,
    Passing,
    WordedOverflowError,
)
from rai_sim.support.parsing import parse_integers

RUN = CommandLine(
    ["--seed", "--jobs", "--law", "--table-task", "--max-pulls", "--strict", "--no-strict"]
)
PLOT = CommandLine(["--output", "--select"])


@pytest.mark.parametrize(
    ("error", "run", "plot"),
    [
        (ArgumentValueError("seed", "seed is -1"), "--seed: seed is -1", "seed is -1"),
        (
            ArgumentValueError("n_jobs", "n_jobs is 0", OrNone(", or None")),
            "--jobs: n_jobs is 0",
            "n_jobs is 0",
        ),
        (ArgumentValueError("task", "task is 9"), "--table-task: task is 9", "task is 9"),
        (
            ArgumentValueError("arms", "arms; ", Passing("strict", False)),
            "--law: arms; pass --no-strict",
            "arms; pass --no-strict",
        ),
        (
            ArgumentValueError("results", "none; raise ", Named("max_pulls")),
            "none; raise --max-pulls",
            "none; raise max_pulls",
        ),
        (
            WordedOverflowError("too many; cap with ", Named("max_pulls")),
            "too many; cap with --max-pulls",
            "too many; cap with max_pulls",
        ),
        (ValueError("seed is mine"), "seed is mine", "seed is mine"),
    ],
)
def test_a_message_names_the_verbs_own_options(error: Exception, run: str, plot: str) -> None:
    """What the verb has no option for keeps the library's name; what is no error about an argument
    stays as it is."""
    assert RUN.tell(error) == run
    assert PLOT.tell(error) == plot


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "run --max-pulls 0",
            "--max-pulls: max_pulls is 0; it must be at least 1 and at most 2^62",
        ),
        ("run --seed -1", "--seed: seed is -1; it must be a non-negative integer"),
        ("run --jobs 0", "--jobs: n_jobs is 0; give the number of workers, -1 for every core"),
        (
            "run --table-task 6",
            "--table-task: task is 6; it must be an integer from 1 to 5, a row of the table",
        ),
        (
            "bounds --delta 2",
            "--delta: delta is 2.0; it must be an error probability strictly "
            "between 0 and 1, such as 0.01",
        ),
        (
            "trace --replication -1",
            "--replication: replication is -1; it must be at least 0 and at most 2^62",
        ),
        (
            "trace --algorithm lucb:as_printed=2",
            "--algorithm lucb:as_printed=2: as_printed is '2'; give true or false",
        ),
        (
            "bounds --means 0.5,x --clusters 1,1 --required 1,0",
            "--means 0.5,x holds 'x', which is not a number; separate numbers by commas, rows by "
            "semicolons, or write @FILE",
        ),
    ],
)
def test_whole_lines(capsys: Capture, words: str, line: str) -> None:
    """Option, value, remedy, each once."""
    assert refused(capsys, words) == f"rai-sim: {line}\n"


def test_every_verb_knows_its_options() -> None:
    """As they are written; help, which the parser adds, is none of them."""
    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert list(verbs) == [
        "run",
        "bounds",
        "certify",
        "study",
        "merge",
        "scaling",
        "success",
        "trace",
        "plot",
        "report",
        "export",
        "warmup",
    ]
    assert own_options(verbs["warmup"]) == ["--law"]
    assert {"--seed", "--jobs", "--no-strict", "--means", "--progress", "--no-progress"} <= set(
        own_options(verbs["run"])
    )


def test_text_is_refused_by_the_options_name() -> None:
    """Of the parser's own options it is the parser that names them."""
    with pytest.raises(BadInput, match=r"^--clusters 1,x holds 'x', which is not a number"):
        options.read_option("clusters", parse_integers, "1,x")
    with pytest.raises(typer.BadParameter, match=r"^'x' is not an integer; give one such as 1000$"):
        options.whole_number("x")
    with pytest.raises(
        typer.BadParameter, match=r"^' ' is no name; give that of a file or folder$"
    ):
        options.path_name(" ")
    assert options.path_name("a b") == Path("a b")


def test_options_that_would_do_nothing() -> None:
    """Without what they belong to, or with what has no use for them: refused as they were written;
    what goes together is not."""
    rules = options.Belongs(needs={"pilot_time": "dry_run"}, apart=(("output", "dry_run"),))
    none = {"pilot_time": None, "dry_run": False, "output": None}
    with pytest.raises(
        BadInput, match=r"^--pilot-time 2s has no meaning without --dry-run; add it, or leave --pil"
    ):
        rules.check(none | {"pilot_time": "2s"})
    with pytest.raises(
        BadInput, match=r"^--output a.csv has no meaning with --dry-run; leave one of them out$"
    ):
        rules.check(none | {"output": "a.csv", "dry_run": True})
    rules.check(none | {"pilot_time": "2s", "dry_run": True})
    rules.check(none | {"output": "a.csv"})


def test_a_command_again_has_its_switches() -> None:
    """Those that are on, and strictness where it was declined."""
    assert options.again("study", dry_run=True, json=False, strict=False) == (
        "rai-sim study --dry-run --no-strict"
    )


def test_an_own_option_is_named_before_one_of_another_name() -> None:
    """`arms` is --arms where a verb has it, --law where arms are made."""
    assert CommandLine(["--arms"]).argument("arms") == "--arms"
    assert CommandLine(["--law"]).argument("arms") == "--law"
