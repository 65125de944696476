"""The verb `trace`: one replication, event by event, as a table, JSON or a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from rai_sim.algorithms.text import describe_algorithms
from rai_sim.cli import options
from rai_sim.cli.fitted import fitted_table, most_rows
from rai_sim.cli.options import (
    SKIP_ERROR,
    VARIANTS,
    Delta,
    Json,
    Seed,
    SkipError,
    again,
    parse_algorithm,
)
from rai_sim.cli.pictures import kind_of, write_picture
from rai_sim.cli.problem import build_problem, takes_problem
from rai_sim.cli.tables import json_text
from rai_sim.cli.text import show
from rai_sim.simulation.progress import Bar
from rai_sim.support.wording import and_more, json_safe
from rai_sim.tracing import trace as tracing
from rai_sim.tracing.events import event_columns
from rai_sim.tracing.trace import Trace

#: In a terminal a table of events stops after so many; a pipe and JSON have them all.
_MOST_EVENTS = 200
#: Which columns of it a narrow terminal goes without, the first one first.
_LEAST = ("arm_pulls", "radius", "mean")


@takes_problem
def trace(
    problem_options: dict[str, Any],
    algorithm: Annotated[
        str, options.names(f"known, with defaults: {describe_algorithms()}", VARIANTS)
    ] = "vanilla",
    delta: Delta = 0.01,
    seed: Seed = 0,
    replication: Annotated[int, options.whole("index of the replication")] = 0,
    max_pulls: Annotated[
        int | None, options.whole("give the replication up at so many pulls; default: never")
    ] = None,
    skip_error: SkipError = SKIP_ERROR,
    plot: Annotated[
        Path | None, options.path("draw the trace into a .png, .svg or .pdf file")
    ] = None,
    json: Json = False,
) -> None:
    """Print when arms are settled and clusters merged in one replication.

    Its numbers are those of `run`.
    """
    problem, chosen = build_problem(problem_options), parse_algorithm(algorithm)
    kind = None if plot is None else kind_of(plot)
    numbers: dict[str, Any] = {
        "delta": delta,
        "seed": seed,
        "replication": replication,
        "max_pulls": max_pulls,
        "skip_error": skip_error,
    }
    with Bar(1, None, chosen.label, brief=True) as bar:
        found = tracing.trace(problem, chosen, **numbers)
        bar.update(1)
    if plot is not None and kind is not None:
        write_trace(found, plot, kind)
    rerun = again("trace", **problem_options, algorithm=algorithm, **numbers)
    if json:
        show(json_text(trace_document(found, rerun=rerun)))
    else:
        notes = [f"the same again: {rerun}"]
        show(trace_text(found, notes if plot is None else [f"drawn into {plot}", *notes]))


def trace_text(trace: Trace, notes: list[str]) -> str:
    """Return the events as a table."""
    most, remedy = most_rows(_MOST_EVENTS, len(trace.events)), "a pipe or --json has all"
    known, events = event_columns(trace.problem), trace.events[:most]
    # The last column is text of any length.
    width = max((len(known["event"].value(event)) for event in events), default=0)
    words = known["event"].shown("event".ljust(width), lambda said: str(said).ljust(width))
    columns = (*known.pick("round", "pulls", "mean", "radius", "arm_pulls"), words)
    lines = fitted_table(columns, events, 0, _LEAST, remedy)
    if more := and_more(len(trace.events) - most, "event", remedy):
        lines.append(more)
    return "\n".join([trace.headline(), "", *lines, "", *notes])


def trace_document(trace: Trace, **more: Any) -> dict[str, Any]:
    """Return what `trace --json` prints: the result, all events and the states."""
    run = trace.result
    return {
        "algorithm": trace.algorithm.label,
        "delta": run.delta,
        "seed": run.seed,
        "replication": trace.replication,
        "pulls": int(run.pulls[0]),
        "rounds": int(run.rounds[0]),
        "finished": bool(run.finished[0]),
        "correct": bool(run.correct[0]),
        "representatives": run.representatives[0].tolist(),
        "experiment": run.experiment.identity(),
        **more,
        "events": json_safe(trace.events_frame().to_dicts()),
        "states": {
            "rounds": trace.rounds.tolist(),
            "pulls": trace.pulls.tolist(),
            "means": json_safe(trace.means.tolist()),
            "radii": json_safe(trace.radii.tolist()),
            "arm_pulls": trace.arm_pulls.tolist(),
            "active": trace.active.tolist(),
        },
    }


def write_trace(trace: Trace, path: Path, kind: str) -> None:
    """Draw a trace into a file."""
    from rai_sim import plotting
    from rai_sim.plotting.traces import SIZE

    write_picture(path, kind, SIZE, lambda axes: plotting.trace(trace, axes))
