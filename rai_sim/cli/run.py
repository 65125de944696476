"""The command line, `rai-sim` or `python -m rai_sim`.

Exit code 0; 2 with one line on the error stream for input that cannot be used; 130 after Ctrl-C, with what
was finished printed.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main

import rai_sim
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms.base import LAWS, Arms
from rai_sim.cli import parser as cli_parser
from rai_sim.cli import tables
from rai_sim.cli.parsing import (
    KINDS,
    BadInput,
    check_file,
    check_folder,
    check_law,
    describe_algorithms,
    flag,
    parse_algorithm,
    path_name,
    real_number,
    seen,
    whole_number,
)
from rai_sim.cli.problem import build_problem, law_options, takes_problem
from rai_sim.problem import Problem, check_delta
from rai_sim.simulation.progress import command_line
from rai_sim.simulation.result import Result
from rai_sim.simulation.simulate import SimulationInterrupted, simulate
from rai_sim.support import entry
from rai_sim.support.files import is_own_output

#: What `run` runs if no algorithm is named: the five variants of the paper's tables.
_VARIANTS = ("vanilla", "vanilla:merging=false", "butterscotch", "butterscotch:merging=false", "lucb")
_SKIP_ERROR = 1e-12
#: Arguments of the library, besides those of laws, whose options have the same name, and those with another.
_SAME_NAMES = ("clusters", "required", "instance", "delta", "replications", "replication", "seed", "max_pulls", "skip_error")
_OTHER_NAMES = {"n_jobs": "jobs", "task": "table-task", "arms": "law"}
#: Words of the library's messages that are others on the command line.
_WORDS = {
    "strict=False": "--no-strict", "max_pulls": "--max-pulls", ", or None for joblib's configuration": "", ", or None to draw one": "",
}  # fmt: skip
#: Examples by argument, with which `warmup` builds two arms of any law that takes no other.
_EXAMPLES: dict[str, Any] = {
    "means": [0.9, 0.1],
    "values": [0.0, 0.5, 1.0],
    "probabilities": [[0.0, 0.2, 0.8], [0.8, 0.2, 0.0]],
    "rewards": [[1.0] * 4096, [0.0] * 4096],
}
# Rich text would cost start-up time and spread messages over several lines.
app = typer.Typer(
    cls=cli_parser.Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(asked: bool) -> None:
    if asked:
        _show(f"rai-sim {rai_sim.__version__}")
        raise typer.Exit


_VERSION = typer.Option("--version", "-V", help="Show the version and exit.", callback=_say_version, is_eager=True)


@app.callback()
def _program(
    version: Annotated[bool, _VERSION] = False,
) -> None:
    """Simulate representative arm identification: how many pulls, how many errors, and the bounds."""


def _real(text: str) -> Any:
    return typer.Option(help=text, parser=real_number, metavar="NUMBER")


def _whole(text: str) -> Any:
    return typer.Option(help=text, parser=whole_number, metavar="INTEGER")


def _path(text: str, *names: str, metavar: str = "FILE") -> Any:
    return typer.Option(*names, help=text, parser=path_name, metavar=metavar, show_default=False)


def _names(text: str, known: Sequence[str], metavar: str = "NAME", **more: Any) -> Any:
    return typer.Option(help=text, metavar=metavar, autocompletion=cli_parser.among(known), **more)


_ALGORITHMS = f"repeatable; default {', '.join(_VARIANTS)}; known, with defaults: {describe_algorithms()}"
_PROGRESS = typer.Option("--progress/--no-progress", help="progress: bars, in a log lines; default: on a terminal, in a log from 30 s on")
Delta = Annotated[float, _real("error probability, in (0, 1)")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON document instead of a table")]


@app.command(cls=cli_parser.Command)
@takes_problem
def run(
    problem_options: dict[str, Any],
    algorithm: Annotated[list[str] | None, _names(_ALGORITHMS, _VARIANTS, show_default=False)] = None,
    delta: Delta = 0.01,
    replications: Annotated[int, _whole("independent replications of each algorithm")] = 1000,
    seed: Annotated[int, _whole("seed of all streams; the same seed gives the same numbers")] = 0,
    jobs: Annotated[int, _whole("workers; -1 for all cores; does not change the numbers")] = 1,
    max_pulls: Annotated[int | None, _whole("give a replication up at so many pulls; default: never")] = None,
    skip_error: Annotated[float, _real("total variation that skipping rounds may cost")] = _SKIP_ERROR,
    progress: Annotated[bool | None, _PROGRESS] = None,
    json: Json = False,
) -> None:
    """Simulate algorithms on a problem.

    By default the paper's table instance and all five variants.
    """
    problem, delta = build_problem(problem_options), check_delta(delta)
    chosen = [parse_algorithm(text) for text in algorithm or _VARIANTS]
    numbers: dict[str, Any] = {
        "delta": delta,
        "replications": replications,
        "seed": seed,
        "max_pulls": max_pulls,
        "skip_error": skip_error,
    }
    results: list[Result] = []
    table = tables.RunTable(problem, delta, chosen, tables.terminal_width())

    def found(result: Result) -> None:
        results.append(result)
        if not json:
            _show(table.lines(result))

    interrupted, failure = False, None
    try:
        for one in chosen:
            found(simulate(problem, one, n_jobs=jobs, progress=progress, **numbers))
    except KeyboardInterrupt as error:
        interrupted = True
        if isinstance(error, SimulationInterrupted) and error.result is not None:
            found(error.result)
    except (TypeError, ValueError, OverflowError) as error:
        if not results:
            raise
        failure = error  # an algorithm that fails does not cost the others' results
    again = _again("run", **problem_options, algorithm=algorithm, **numbers)
    if json:
        document = tables.run_document(problem, results, **numbers, interrupted=interrupted, rerun=again)
        _show(tables.json_text(document))
    else:
        notes = [f"{replications:,} replications each, seed {seed}; the same numbers again: {again}"]
        if interrupted:
            notes.insert(0, f"INTERRUPTED: {_how_far(chosen, results, replications)}")
        _show(table.end(notes))
    if failure is not None:
        raise failure
    if interrupted:
        raise typer.Exit(130)


def _show(text: str) -> None:
    """Print a text."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader has seen enough; what is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def _how_far(chosen: Sequence[Algorithm], results: Sequence[Result], replications: int) -> str:
    partial = [result for result in results if result.replications < replications]
    words = [f"{len(results) - len(partial)} of {len(chosen)} algorithms are complete"]
    words += [f"{result.algorithm.label} has {result.replications:,} of {replications:,} replications"
              for result in partial]
    return ", ".join(words)


def _again(command: str, **options: Any) -> str:
    """Return the command that gives the same numbers; what does not change them is left out."""
    words = ["rai-sim", command]
    for name, value in options.items():
        if name == "strict":
            words += [] if value else ["--no-strict"]
        elif isinstance(value, list):
            words += [word for entry in value for word in (flag(name), entry)]
        elif value is not None and (name, value) != ("skip_error", _SKIP_ERROR):
            words += [flag(name), str(value)]
    return shlex.join(words)


@app.command(cls=cli_parser.Command)
@takes_problem
def bounds(problem_options: dict[str, Any], delta: Delta = 0.01, json: Json = False) -> None:
    """Print a problem's gaps and the bounds on pulls."""
    problem, delta = build_problem(problem_options), check_delta(delta)
    if json:
        _show(tables.json_text(tables.bounds_document(problem, delta)))
    else:
        _show(tables.bounds_text(problem, delta))


_FOLDER = "where results are kept; default: the file's `store`, else the file's name with .study"

_OUTPUT = "write the summary, one row a task, as .csv or .parquet; in CSV a text that a spreadsheet would run gets a leading apostrophe"


@app.command(cls=cli_parser.Command)
def study(
    file: Annotated[Path, typer.Argument(help="the study's TOML file", metavar="FILE.toml", parser=path_name, show_default=False)],
    store: Annotated[Path | None, _path(_FOLDER, metavar="FOLDER")] = None,
    replications: Annotated[int | None, _whole("of each task, in place of the file's; what is there counts")] = None,
    precision: Annotated[float | None, _real("relative half-width of the mean's 95 % interval, in place of the file's")] = None,
    jobs: Annotated[int, _whole("workers; -1 for all cores; does not change the numbers")] = 1,
    output: Annotated[Path | None, _path(_OUTPUT)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="show the tasks, and run and write nothing")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="instead: run a random sample of stored replications again and compare")] = False,
    sample: Annotated[int, _whole("replications that --verify runs again")] = 100,
    progress: Annotated[bool | None, _PROGRESS] = None,
    json: Json = False,
) -> None:
    """Run a grid of simulations into a folder, or go on with one.

    What is there already is not run again.
    """
    from rai_sim.cli import study as cli_study
    from rai_sim.study import Study, StudyFailed, StudyInterrupted
    from rai_sim.study.file import store_of

    cli_study.check_definition(file)
    if verify and output is not None:
        raise BadInput(f"--output {output} has no meaning with --verify; leave one of them out")
    wanted = Study.from_toml(file, replications=replications, precision=precision)
    folder = store_of(file) if store is None else store
    cli_study.check_output(output, folder, file)
    again = _again("study", store=store, replications=replications, precision=precision, jobs=None if jobs == 1 else jobs)
    again = f"{again} {shlex.quote(str(file))}"
    code, said, failures = 0, "", {}
    with cli_study.warnings_in_a_line(), cli_study.interrupts_in_a_line(again):
        if dry_run:
            there = wanted.results(folder) if folder.is_dir() and any(folder.iterdir()) else None
            _show(cli_study.plan_text(wanted, there, folder))
            return
        if verify:
            found = wanted.results(folder).verify(sample, n_jobs=jobs)
            _show(tables.json_text({"checked": found.checked, "mismatches": found.mismatches}) if json else str(found))
            raise typer.Exit(1 if found.mismatches or not found.checked else 0)
        try:
            results = wanted.run(folder, n_jobs=jobs, progress=progress)
        except StudyInterrupted as error:
            if not error.opened:
                raise
            results, code = error.results, 130
            done, total = results.progress()
            said = f"INTERRUPTED with {done:,} of {total:,} replications in {folder}; to go on: {again}"
        except StudyFailed as error:
            results, code, said = error.results, 2, str(error)
            failures = {task.label: str(flaw) for task, flaw in error.failures.items()}
        unwritten: OSError | None = None
        if output is not None:  # before anything is shown: who reads that may leave early
            try:
                cli_study.write_table(results.summary(), output)
            except OSError as error:
                unwritten = error
        if json:
            document = cli_study.summary_document(results, rerun=again, interrupted=code == 130, failures=failures)
            _show(tables.json_text(document))
        elif code != 130:
            _show(cli_study.summary_text(results))
        if unwritten is not None:
            raise unwritten
    if said:
        print("rai-sim:", said, file=sys.stderr)
    raise typer.Exit(code)


@app.command(cls=cli_parser.Command)
@takes_problem
def trace(
    problem_options: dict[str, Any],
    algorithm: Annotated[str, _names(f"known, with defaults: {describe_algorithms()}", _VARIANTS)] = "vanilla",
    delta: Delta = 0.01,
    seed: Annotated[int, _whole("seed of all streams")] = 0,
    replication: Annotated[int, _whole("index of the replication")] = 0,
    max_pulls: Annotated[int | None, _whole("give the replication up at so many pulls; default: never")] = None,
    skip_error: Annotated[float, _real("total variation that skipping rounds may cost")] = _SKIP_ERROR,
    plot: Annotated[Path | None, _path("draw the trace into a .png, .svg or .pdf file")] = None,
    json: Json = False,
) -> None:
    """Print when arms are settled and clusters merged in one replication.

    Its numbers are those of `run`.
    """
    from rai_sim.cli import figures as cli_figures
    from rai_sim.tracing.trace import trace as trace_replication

    problem, chosen = build_problem(problem_options), parse_algorithm(algorithm)
    kind = None
    if plot is not None:
        kind = cli_figures.kind_of(plot)
        import rai_sim.plotting  # noqa: F401  # without matplotlib nothing is run
    numbers: dict[str, Any] = {"delta": delta, "seed": seed, "replication": replication, "max_pulls": max_pulls, "skip_error": skip_error}
    found = trace_replication(problem, chosen, **numbers)
    if plot is not None and kind is not None:
        cli_figures.write_trace(found, plot, kind)
    again = _again("trace", **problem_options, algorithm=algorithm, **numbers)
    if json:
        _show(tables.json_text(cli_figures.trace_document(found, rerun=again)))
    else:
        notes = [f"the same again: {again}"]
        _show(cli_figures.trace_text(found, notes if plot is None else [f"drawn into {plot}", *notes]))


_STUDY = typer.Argument(help="a study's folder, or its TOML file", metavar="STUDY", parser=path_name, show_default=False)
_SELECT = typer.Option(help="repeatable: only tasks of instance=NAME, algorithm=NAME or delta=NUMBER; in names * and ? stand for any "
                            "text and any letter", metavar="WHAT=VALUE", show_default=False)
_ALL = typer.Option("--all", help="all figures, not only three of a kind")


@app.command(cls=cli_parser.Command)
def plot(
    study: Annotated[Path, _STUDY],
    output: Annotated[Path | None, _path("for the figures; default: the study's name with .figures", "--output", "-o",
                                         metavar="FOLDER")] = None,
    kind: Annotated[str, typer.Option("--format", help="png, svg or pdf", metavar="NAME", autocompletion=cli_parser.among(KINDS))] = "png",
    store: Annotated[Path | None, _path(_FOLDER, metavar="FOLDER")] = None,
    select: Annotated[list[str] | None, _SELECT] = None,
    everything: Annotated[bool, _ALL] = False,
) -> None:
    """Draw the figures that suit what varies in a study.

    Each goes into a file.
    """
    from rai_sim.cli import figures as cli_figures
    from rai_sim.cli import study as cli_study

    kind = kind.strip().lower()
    if kind not in KINDS:
        raise BadInput(f"--format {seen(kind)} is no kind of figure; choose {', '.join(KINDS)}")
    folder = cli_figures.beside(study, ".figures") if output is None else output
    check_folder(folder, "--output")
    chosen = cli_figures.parse_select(select or [])
    import rai_sim.plotting  # noqa: F401  # without matplotlib nothing is read

    with cli_study.warnings_in_a_line(), cli_study.interrupts_in_a_line():
        results, _ = cli_figures.study_at(study, store)
        cli_figures.check_apart(folder, study, results.folder)
        for line in cli_figures.write_figures(cli_figures.selected(results, chosen), folder, kind, everything):
            _show(line)


@app.command(cls=cli_parser.Command)
def report(
    study: Annotated[Path, _STUDY],
    output: Annotated[Path | None, _path("the page; default: the study's name with .html", "--output", "-o")] = None,
    title: Annotated[str | None, typer.Option(help="the page's title; default: the study's name", metavar="TEXT",
                                              show_default=False)] = None,
    store: Annotated[Path | None, _path(_FOLDER, metavar="FOLDER")] = None,
    select: Annotated[list[str] | None, _SELECT] = None,
    everything: Annotated[bool, _ALL] = False,
) -> None:
    """Write a study's report, one HTML page.

    It has tables, figures, provenance and warnings, and is complete without a network.
    """
    from rai_sim.cli import figures as cli_figures
    from rai_sim.cli import study as cli_study

    path = cli_figures.beside(study, ".html") if output is None else output
    check_file(path, "--output")
    chosen = cli_figures.parse_select(select or [])
    import rai_sim.plotting  # noqa: F401  # without matplotlib nothing is read
    from rai_sim.report import write_report

    with cli_study.warnings_in_a_line(), cli_study.interrupts_in_a_line():
        results, definition = cli_figures.study_at(study, store)
        cli_figures.check_apart(path, study, results.folder)
        named = cli_figures.beside(study, "").name if title is None else title
        write_report(cli_figures.selected(results, chosen), path, title=named, definition=definition, all_figures=everything)
    if not is_own_output(path):  # the page ends with the page
        _show(f"{path}")


@app.command(cls=cli_parser.Command)
def warmup(
    law: Annotated[list[str] | None, _names(f"repeatable: {', '.join(LAWS)}; default: all", tuple(LAWS), "LAW", show_default=False)] = None,
) -> None:
    """Compile the kernels ahead of time, or load them from the cache.

    Those of all reward laws, or of some.
    """
    wanted = [check_law(name) for name in law or LAWS]
    began = time.perf_counter()
    for law_name in dict.fromkeys(wanted):
        arms = _example(LAWS[law_name])
        for name, algorithm_class in ALGORITHMS.items():
            if arms is None:
                _show(f"{law_name:<12} {name:<16} left out: no example of this law is known here")
                continue
            started = time.perf_counter()
            problem = Problem(arms, (1, 1), (1, 0))
            for algorithm in _every_switch(algorithm_class):
                simulate(problem, algorithm, delta=0.1, replications=2, seed=0)
            _show(f"{law_name:<12} {name:<16} {time.perf_counter() - started:8.2f} s")
    _show(f"{'total':<29} {time.perf_counter() - began:8.2f} s")


def _every_switch(cls: type[Algorithm]) -> Iterator[Algorithm]:
    """Yield an algorithm with every combination of its yes-or-no options."""
    switches = [field.name for field in fields(cls) if isinstance(field.default, bool)]  # type: ignore[arg-type]
    for choice in itertools.product((True, False), repeat=len(switches)):
        yield cls(**dict(zip(switches, choice, strict=True)))


def _example(cls: type[Arms]) -> Arms | None:
    arguments = (name for name, users in law_options().items() if cls.__name__.lower() in users)
    try:
        return cls(**{name: _EXAMPLES[name] for name in arguments if name in _EXAMPLES})
    except (TypeError, ValueError):
        return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; those of the process when None.

    Returns
    -------
    int
        0; 2 for bad input, after one line on the error stream; 130 after Ctrl-C.

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
    entry.print_anything()
    try:
        entry.interrupts_are_raised()
        with _warnings_in_a_line(), command_line():
            command, width = typer.main.get_command(app), cli_parser.help_width()
            code = command.main(args=words, prog_name="rai-sim", standalone_mode=False, terminal_width=width)
    except cli_parser.UsageError as error:
        return _complain(cli_parser.usage(error, words[0]))
    except SystemExit as error:  # completion ends so
        code = error.code
    except BadInput as error:
        return _complain(str(error))
    except (TypeError, ValueError, OverflowError) as error:
        return _complain(_in_options(str(error)))
    except OSError as error:
        return _complain(_of_files(error))
    except ImportError as error:  # an extra that is not installed
        return _complain(str(error))
    except MemoryError as error:
        return _complain(f"not enough memory: {error}; ask for fewer --replications")
    except (KeyboardInterrupt, typer.Abort):
        return 130
    if code == 1 and words[0] in cli_parser.COMPLETION:
        return _complain(f"{words[0]}: no shell that is known was found above this process; start it from bash, zsh, fish or PowerShell")
    return code if isinstance(code, int) else 0


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show what is warned of without the place in the program."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print("rai-sim: WARNING:", message, file=sys.stderr)
        yield


#: What helps against an error of the system.
_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "change permissions, or give another place"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free space, or give another place"),
}


def _of_files(error: OSError) -> str:
    """Return what the system says of a file, with the remedy where it is known; errors of studies' folders say all themselves."""
    if error.filename is None or error.strerror is None:
        return str(error)
    remedy = _REMEDIES.get(error.errno or 0)
    return f"{os.fsdecode(error.filename)}: {error.strerror}" + (f"; {remedy}" if remedy else "")


def _complain(message: str) -> int:
    """Say in one line what is wrong and return the exit code."""
    print("rai-sim:", " ".join(message.split()), file=sys.stderr)
    return 2


def _in_options(message: str) -> str:
    """Return a message of the library in the words of the command line."""
    first = re.match(r"[a-z_]+", message)
    name = first.group() if first else ""
    known = name in _SAME_NAMES or name in law_options()
    option = _OTHER_NAMES.get(name, name if known else "")
    for argument, replacement in _WORDS.items():
        message = message.replace(argument, replacement)
    return f"{flag(option)}: {message}" if option else message
