"""The verb `run`: simulate algorithms on a problem, and print each one's row as it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from rai_sim.algorithms.base import Algorithm, sharper_algorithms
from rai_sim.algorithms.text import describe_algorithms
from rai_sim.cli import options, tables
from rai_sim.cli.options import (
    PROGRESS,
    SETS,
    SKIP_ERROR,
    VARIANTS,
    Delta,
    Jobs,
    Json,
    again,
    parse_algorithm,
)
from rai_sim.cli.problem import build_problem, takes_problem
from rai_sim.cli.text import show
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.problem import Problem
from rai_sim.simulation.beside import compiled_beside
from rai_sim.simulation.result import Result
from rai_sim.simulation.simulate import SimulationInterrupted, checked_experiment, simulate
from rai_sim.support.checks import check_delta
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import seen

_ALGORITHMS = (
    f"repeatable; default {', '.join(VARIANTS)}; known, with defaults: {describe_algorithms()}"
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
    delta: Delta = 0.01,
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
    progress: Annotated[bool | None, PROGRESS] = None,
    json: Json = False,
) -> None:
    """Simulate algorithms on a problem.

    By default the paper's table instance and all five of its variants.
    """
    problem, delta = build_problem(problem_options), check_delta(delta)
    chosen = [parse_algorithm(text) for text in algorithm or VARIANTS]
    if algorithms not in SETS:
        raise BadInput(f"--algorithms {seen(algorithms)} is no set; choose {' or '.join(SETS)}")
    if algorithms == "all":
        chosen += [one for one in sharper_algorithms(problem, delta) if one not in chosen]
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
            show(table.lines(result))

    interrupted, failure = False, None
    experiments = [
        checked_experiment(problem, one, delta, seed, skip_error, max_pulls) for one in chosen
    ]
    try:
        with compiled_beside(experiments) as helper:
            for one in experiments:
                helper.wait(one)
                found(simulate(problem, one.algorithm, n_jobs=jobs, progress=progress, **numbers))
    except KeyboardInterrupt as error:
        interrupted = True
        if isinstance(error, SimulationInterrupted) and error.result is not None:
            found(error.result)
    except (TypeError, ValueError, OverflowError) as error:
        if not results:
            raise
        failure = error  # an algorithm that fails does not cost the others' results
    rerun = again("run", **problem_options, algorithm=algorithm, algorithms=algorithms, **numbers)
    if json:
        document = run_document(problem, results, **numbers, interrupted=interrupted, rerun=rerun)
        show(tables.json_text(document))
    else:
        notes = [
            f"{replications:,} replications each, seed {seed}; the same numbers again: {rerun}"
        ]
        if interrupted:
            notes.insert(0, f"INTERRUPTED: {_how_far(chosen, results, replications)}")
        show(table.end(notes))
    if failure is not None:
        raise failure
    if interrupted:
        raise typer.Exit(130)


def _how_far(chosen: Sequence[Algorithm], results: Sequence[Result], replications: int) -> str:
    partial = [result for result in results if result.replications < replications]
    words = [f"{len(results) - len(partial)} of {len(chosen)} algorithms are complete"]
    words += [
        f"{result.algorithm.label} has {result.replications:,} of {replications:,} replications"
        for result in partial
    ]
    return ", ".join(words)


def run_document(problem: Problem, results: Sequence[Result], **more: Any) -> dict[str, Any]:
    """Return what `run --json` prints."""
    runs = [
        result.summary().to_dict()
        | {"experiment": result.experiment.identity(), "ranges": result.ranges}
        for result in results
    ]
    return {
        "problem": tables.problem_document(problem),
        "stream_version": STREAM_VERSION,
        **more,
        "runs": runs,
    }
