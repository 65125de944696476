"""The verb `run`: simulate algorithms on a problem, and print each one's row as it is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from rai_sim.algorithms.base import Algorithm, sharper_algorithms
from rai_sim.algorithms.text import describe_algorithms
from rai_sim.cli import options, tables
from rai_sim.cli.fitted import terminal_width
from rai_sim.cli.options import (
    PROGRESS,
    SETS,
    SKIP_ERROR,
    VARIANTS,
    Jobs,
    Json,
    again,
    error_probabilities,
    parse_algorithms,
)
from rai_sim.cli.outputs import arm_columns, check_output, results_frame, write_output
from rai_sim.cli.problem import build_problem, takes_problem
from rai_sim.cli.text import show
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.problem import Problem
from rai_sim.simulation.arm_pulls import BY_REPLICATION, SUMMED, check_keep
from rai_sim.simulation.beside import compiled_beside
from rai_sim.simulation.result import Experiment, Result
from rai_sim.simulation.simulate import SimulationInterrupted, checked_experiment, simulate
from rai_sim.support.checks import check_count, check_workers
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import seen
from rai_sim.support.wording import count

#: What `--keep` may be.
KEEPS = (BY_REPLICATION, SUMMED)
#: What is run if no delta is given.
_DEFAULT_DELTA = 0.01
_DELTA = typer.Option(
    help="error probability, in (0, 1); repeatable, or several as in 0.1,0.01; default: "
    f"{_DEFAULT_DELTA}",
    metavar="NUMBERS",
    show_default=False,
)
_OUTPUT = (
    "write one row an algorithm and delta as .csv or .parquet, or what --json prints as .json; in "
    "CSV a text that a spreadsheet would run gets a leading apostrophe"
)
_KEEP = (
    "pulls of each arm, too, of which --output and --json have the means: arm_pulls by replication, "
    "with standard errors, or arm_pulls_sum, their sums, in little memory"
)
_ALGORITHMS = (
    f"repeatable; default: {', '.join(VARIANTS)}; known, with defaults: {describe_algorithms()}"
)


@takes_problem
def run(
    problem_options: dict[str, Any],
    algorithm: Annotated[
        list[str] | None, options.names(_ALGORITHMS, VARIANTS, show_default=False)
    ] = None,
    algorithms: Annotated[
        str,
        options.names(
            "paper or all: those above alone, or the package's sharper ones that are made for the "
            "problem, too",
            SETS,
        ),
    ] = SETS[0],
    delta: Annotated[list[str] | None, _DELTA] = None,
    replications: Annotated[
        int, options.whole("independent replications of each algorithm")
    ] = 1000,
    seed: Annotated[
        int, options.whole("seed of all streams; the same seed gives the same numbers")
    ] = 0,
    jobs: Jobs = 1,
    max_pulls: Annotated[
        int | None, options.whole("give a replication up at so many pulls; default: never")
    ] = None,
    skip_error: Annotated[
        float, options.real("total variation that skipping rounds may cost")
    ] = SKIP_ERROR,
    keep: Annotated[str | None, options.names(_KEEP, KEEPS)] = None,
    output: Annotated[Path | None, options.path(_OUTPUT, "--output", "-o")] = None,
    progress: Annotated[bool | None, PROGRESS] = None,
    json: Json = False,
) -> None:
    """Simulate algorithms on a problem.

    By default the five variants of the paper's tables, on the instance of its second task.
    """
    problem = build_problem(problem_options)
    deltas = error_probabilities(delta or [str(_DEFAULT_DELTA)])
    check_output(output)
    check_count("replications", replications, 1)
    check_workers(jobs)  # before anything is compiled
    if keep is not None and keep not in KEEPS:
        raise BadInput(f"--keep {seen(keep)} is neither {' nor '.join(KEEPS)}; give one of them")
    check_keep(keep, replications, problem.n_arms)
    if keep is not None and output is None and not json:
        raise BadInput(
            f"--keep {keep} has no place in the table; add --output FILE.csv or --json, which have "
            "the means by arm"
        )
    numbers: dict[str, Any] = {
        "replications": replications,
        "seed": seed,
        "max_pulls": max_pulls,
        "skip_error": skip_error,
    }
    experiments = [
        checked_experiment(problem, one, level, seed, skip_error, max_pulls)
        for one, level in _grid(problem, deltas, algorithm or VARIANTS, algorithms)
    ]
    results: list[Result] = []
    chosen = list(dict.fromkeys(one.algorithm for one in experiments))
    table = tables.RunTable(problem, deltas, chosen, terminal_width(), max_pulls is not None)

    def found(result: Result) -> None:
        results.append(result)
        if not json:
            show(table.lines(result), or_end=output is None)

    interrupted, failure = False, None
    try:
        with compiled_beside(experiments) as helper:
            for one in experiments:
                helper.wait(one)
                found(
                    simulate(
                        problem,
                        one.algorithm,
                        delta=one.delta,
                        n_jobs=jobs,
                        progress=progress,
                        keep=keep,
                        **numbers,
                    )
                )
    except KeyboardInterrupt as error:
        interrupted = True
        if isinstance(error, SimulationInterrupted) and error.result is not None:
            found(error.result)
    except (TypeError, ValueError, OverflowError) as error:
        if not results:
            raise
        failure = error  # an algorithm that fails does not cost the others' results
    rerun = again(
        "run",
        **problem_options,
        algorithm=algorithm,
        algorithms=algorithms,
        delta=[str(level) for level in deltas],
        keep=keep,
        **numbers,
    )

    def document() -> dict[str, Any]:
        level = deltas[0] if len(deltas) == 1 else deltas
        return run_document(
            problem, results, delta=level, **numbers, interrupted=interrupted, rerun=rerun
        )

    unwritten: OSError | None = None
    if output is not None:  # before the end is shown: who reads that may leave early
        try:
            write_output(output, lambda: results_frame(results), document)
        except OSError as error:
            unwritten = error
    if json:
        show(tables.json_text(document()))
    else:
        each = f"{count(replications, 'replication')} each{' wanted' if interrupted else ''}"
        notes = [f"{each}, seed {seed}; the same numbers again: {rerun}"]
        if interrupted:
            notes.insert(0, f"INTERRUPTED: {_how_far(experiments, results, replications)}")
        show(table.end(notes))
    for flaw in (failure, unwritten):
        if flaw is not None:
            raise flaw
    if interrupted:
        raise typer.Exit(130)


def _grid(
    problem: Problem, deltas: Sequence[float], texts: Sequence[str], algorithms: str
) -> Iterator[tuple[Algorithm, float]]:
    """Yield what is run, each algorithm at all error probabilities before the next one: those that
    are named, and the sharper ones if they are asked for, as far as they are made for the
    problem."""
    named = parse_algorithms(texts)
    if algorithms not in SETS:
        raise BadInput(f"--algorithms {seen(algorithms)} is no set; choose {' or '.join(SETS)}")
    yield from product(named, deltas)
    if algorithms == "all":
        made_for = {delta: sharper_algorithms(problem, delta) for delta in deltas}
        sharper = dict.fromkeys(one for found in made_for.values() for one in found)
        yield from (
            (one, delta)
            for one in sharper
            for delta in deltas
            if one not in named and one in made_for[delta]
        )


def _how_far(wanted: Sequence[Experiment], results: Sequence[Result], replications: int) -> str:
    partial = [result for result in results if result.replications < replications]
    several = len({one.delta for one in wanted}) > 1
    things = "runs" if several else "algorithms"
    words = [f"{len(results) - len(partial)} of {len(wanted)} {things} are complete"]
    words += [
        f"{result.algorithm.label}{f', delta {result.delta:g},' if several else ''} has "
        f"{result.replications:,} of {count(replications, 'replication')}"
        for result in partial
    ]
    return ", ".join(words)


def run_document(problem: Problem, results: Sequence[Result], **more: Any) -> dict[str, Any]:
    """Return what `run --json` prints."""
    runs = [
        result.summary().to_dict()
        | {"experiment": result.experiment.identity(), "ranges": result.ranges}
        | arm_columns(result)
        for result in results
    ]
    return {
        "problem": tables.problem_document(problem),
        "stream_version": STREAM_VERSION,
        **more,
        "runs": runs,
    }
