"""The verb `success`: how often algorithms are right if they are asked after so many pulls."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rai_sim.algorithms.text import describe_algorithms
from rai_sim.cli import options
from rai_sim.cli.fitted import fitted_texts
from rai_sim.cli.options import (
    SKIP_ERROR,
    VARIANTS,
    Delta,
    Jobs,
    Json,
    again,
    once,
    parse_algorithms,
    read_option,
)
from rai_sim.cli.outputs import check_output, write_output
from rai_sim.cli.pictures import kind_of, write_picture
from rai_sim.cli.problem import build_problem, takes_problem
from rai_sim.cli.tables import json_text, problem_document
from rai_sim.cli.text import show
from rai_sim.simulation.progress import Bar
from rai_sim.simulation.success import SuccessCurve, SuccessInterrupted, success_by
from rai_sim.support.parsing import parse_integers
from rai_sim.support.wording import count

if TYPE_CHECKING:
    import polars as pl


@takes_problem
def success(
    problem_options: dict[str, Any],
    pulls: Annotated[
        str,
        typer.Option(
            help="numbers of pulls after which the algorithm is asked, such as 100,1000,10000",
            metavar="NUMBERS",
        ),
    ],
    algorithm: Annotated[
        list[str] | None,
        options.names(
            f"repeatable; default: vanilla; known, with defaults: {describe_algorithms()}",
            VARIANTS,
            show_default=False,
        ),
    ] = None,
    delta: Delta = 0.01,
    replications: Annotated[
        int, options.whole("independent replications of each algorithm")
    ] = 1000,
    seed: Annotated[int, options.whole("seed of all streams")] = 0,
    jobs: Jobs = 1,
    skip_error: Annotated[
        float, options.real("total variation that skipping rounds may cost")
    ] = SKIP_ERROR,
    output: Annotated[
        Path | None,
        options.path(
            "write one row an algorithm and number of pulls as .csv or .parquet, or what --json "
            "prints as .json",
            "--output",
            "-o",
        ),
    ] = None,
    plot: Annotated[
        Path | None, options.path("draw the curves into a .png, .svg or .pdf file")
    ] = None,
    json: Json = False,
) -> None:
    """Print how often algorithms are right after so many pulls.

    What they would name then is judged, with 95 % intervals of each number alone.
    """
    problem = build_problem(problem_options)
    caps = once("pulls", list(read_option("pulls", parse_integers, pulls)))
    named = parse_algorithms(algorithm or ["vanilla"])
    check_output(output)
    kind = None if plot is None else kind_of(plot)
    numbers: dict[str, Any] = {
        "delta": delta,
        "replications": replications,
        "seed": seed,
        "skip_error": skip_error,
    }
    curves: list[SuccessCurve] = []
    interrupted = False
    try:
        for chosen in named:
            with Bar(1, None, chosen.label, brief=True) as bar:
                curves.append(success_by(problem, chosen, pulls=caps, n_jobs=jobs, **numbers))
                bar.update(1)
    except SuccessInterrupted as stopped:
        interrupted = True
        curves += [] if stopped.curve is None else [stopped.curve]
        if not curves:
            print("rai-sim: INTERRUPTED before a replication was finished", file=sys.stderr)
            raise typer.Exit(130) from None
    rerun = again("success", **problem_options, pulls=pulls, algorithm=algorithm, **numbers)

    def document() -> dict[str, Any]:
        told = {"problem": problem_document(problem), **numbers, "rerun": rerun}
        told["interrupted"] = interrupted
        return told | {"rows": frame_of(curves).to_dicts()}

    if output is not None:
        write_output(output, lambda: frame_of(curves), document)
    if plot is not None and kind is not None:
        _write_curves(curves, plot, kind)
    if json:
        show(json_text(document()))
    else:
        notes = [] if plot is None else [f"drawn into {plot}"]
        if interrupted:
            done, label = curves[-1].replications, curves[-1].experiment.algorithm.label
            notes.append(
                f"INTERRUPTED: {label} with {done:,} of {count(replications, 'replication')}"
            )
        show("\n".join([*lines_of(curves), "", *notes, f"the same again: {rerun}"]))
    if interrupted:
        raise typer.Exit(130)


def frame_of(curves: Sequence[SuccessCurve]) -> pl.DataFrame:
    """Return the curves' rows, one algorithm after another."""
    import polars as pl

    return pl.concat([curve.to_frame() for curve in curves])


def lines_of(curves: Sequence[SuccessCurve]) -> list[str]:
    """Return the curves as a table; a narrow terminal goes without the error rate, which is what
    is not right, first."""
    rows = [("algorithm", "pulls", "right", "95 % interval", "error rate", "stopped")]
    for curve in curves:
        label, low_high = curve.experiment.algorithm.label, zip(*curve.band(), strict=True)
        shares, over = curve.share.tolist(), (curve.stopped / curve.replications).tolist()
        for pulls, share, (low, high), stopped in zip(
            curve.pulls.tolist(), shares, low_high, over, strict=True
        ):
            rows.append(
                (
                    label,
                    f"{pulls:,}",
                    f"{share:.4f}",
                    f"{low:.4f} to {high:.4f}",
                    f"{1.0 - share:.4f}",
                    f"{stopped:.4f}",
                )
            )
    return fitted_texts(rows, 1, (4, 5, 3), "a pipe, --output or --json has all")


def _write_curves(curves: Sequence[SuccessCurve], path: Path, kind: str) -> None:
    from rai_sim import plotting
    from rai_sim.plotting.style import SIZE

    write_picture(path, kind, SIZE, lambda axes: plotting.success(curves, axes))
