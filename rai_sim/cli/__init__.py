"""The command line, `rai-sim` or `python -m rai_sim`: the top floor, which nothing imports.

One verb, one file: what it is told, what it does, and what it prints (the tables of `scaling` have
a file of their own, `scaling_tables`). Beside them live what verbs share (`options`, `problem`,
`results`, `tables`, `text`) and what the parser is told (`parser`).

Exit code 0; 1 where `certify` found a violation or `study --verify` a mismatch; 2 with one line on
the error stream for input that cannot be used; 124 where the time that `study --time` gave was up,
with what was finished stored; 130 after Ctrl-C and 143 after SIGTERM, with what was finished
printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer
import typer.main

import rai_sim
from rai_sim.cli import bounds as _bounds
from rai_sim.cli import certify as _certify
from rai_sim.cli import export as _export
from rai_sim.cli import merge as _merge
from rai_sim.cli import parser
from rai_sim.cli import plot as _plot
from rai_sim.cli import report as _report
from rai_sim.cli import run as _run
from rai_sim.cli import scaling as _scaling
from rai_sim.cli import study as _study
from rai_sim.cli import success as _success
from rai_sim.cli import trace as _trace
from rai_sim.cli import warmup as _warmup
from rai_sim.cli.options import CommandLine
from rai_sim.cli.text import show, warnings_in_a_line
from rai_sim.simulation.progress import command_line
from rai_sim.support import entry
from rai_sim.support.errors import BadInput
from rai_sim.support.files import remedy_of
from rai_sim.support.reading import inputs_noted
from rai_sim.support.wording import printable

# Rich text would cost start-up time and spread messages over several lines.
app = typer.Typer(
    cls=parser.Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(asked: bool) -> None:
    if asked:
        show(f"rai-sim {rai_sim.__version__}")
        raise typer.Exit


_VERSION = typer.Option(
    "--version", "-V", help="Show the version and exit.", callback=_say_version, is_eager=True
)


@app.callback()
def _program(
    version: Annotated[bool, _VERSION] = False,
) -> None:
    """Simulate representative arm identification: how many pulls, how many errors, and the
    bounds."""


_VERBS = (
    _run.run,
    _bounds.bounds,
    _certify.certify,
    _study.study,
    _merge.merge,
    _scaling.scaling,
    _success.success,
    _trace.trace,
    _plot.plot,
    _report.report,
    _export.export,
    _warmup.warmup,
)
for _verb in _VERBS:
    app.command(cls=parser.Command)(_verb)


@cache
def whole_command() -> Any:
    """Return the command with all verbs, made of their signatures once a process."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; those of the process when None.

    Returns
    -------
    int
        0; 1 where `certify` found a violation or `study --verify` a mismatch; 2 for bad input,
        after one line on the error stream; 124 where the time of `study --time` was up; 130 after
        Ctrl-C, 143 after SIGTERM.

    Examples
    --------
    >>> main(["run", "--table-task", "1", "--algorithm", "butterscotch", "--replications", "10"])
    10 Bernoulli arms, clusters 3,5,2, required 1,0,0, bottleneck gap 0.25, delta 0.01
    ...
    Butterscotch(merging=True)      10,370  10,370 to 10,370 ...
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if words[0] == "help":
        words = [*words[1:2], "--help"]
    entry.have_streams()
    entry.print_anything()
    try:
        entry.interrupts_are_raised()
        with warnings_in_a_line(), command_line(), inputs_noted():
            command, width = whole_command(), parser.help_width()
            code = command.main(
                args=words, prog_name="rai-sim", standalone_mode=False, terminal_width=width
            )
    except parser.UsageError as error:
        return _complain(parser.usage(error, words[0]))
    except SystemExit as error:  # completion ends so
        code = error.code
    except BadInput as error:
        return _complain(str(error))
    except (TypeError, ValueError, OverflowError) as error:
        return _complain(_spoken(words[0]).tell(error))
    except OSError as error:
        return _complain(_of_files(error))
    except ImportError as error:  # an extra that is not installed
        return _complain(str(error))
    except MemoryError as error:
        return _complain(f"not enough memory: {error}; ask for fewer --replications")
    except (KeyboardInterrupt, typer.Abort):
        return entry.exit_code()
    if code == 1 and words[0] in parser.COMPLETION:
        return _complain(
            f"{words[0]}: no shell that is known was found above this process; start it from "
            "bash, zsh, fish or PowerShell"
        )
    if code == 130:  # as verbs have it, whatever the signal was
        return entry.exit_code()
    return code if isinstance(code, int) else 0


def _spoken(verb: str) -> CommandLine:
    """Return how a verb speaks of arguments."""
    verbs = getattr(whole_command(), "commands", {})
    return CommandLine(parser.own_options(verbs[verb]) if verb in verbs else ())


def _of_files(error: OSError) -> str:
    """Return what the system says of a file, with the remedy where it is known; errors of studies'
    folders say all themselves."""
    if error.filename is None or error.strerror is None:
        return _of_the_working_folder(error) or str(error)
    remedy = remedy_of(error)
    said = f"{os.fsdecode(error.filename)}: {error.strerror}"
    return f"{said}; {remedy}, or give another place" if remedy else said


def _of_the_working_folder(error: OSError) -> str:
    """Return what is said where names without a folder mean nothing any more; "" elsewhere."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return (
            f"the working folder: {error.strerror or error}; go to one that is there, such as cd ~"
        )
    return ""


def _complain(message: str) -> int:
    """Say in one line what is wrong and return the exit code."""
    print("rai-sim:", printable(" ".join(message.split())), file=sys.stderr)
    return 2
