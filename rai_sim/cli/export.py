"""The verb `export`: what a study's folder holds, as a file for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rai_sim.cli import options
from rai_sim.cli.options import FOLDER, SELECT, STUDY
from rai_sim.cli.outputs import TABLES, check_apart, check_output
from rai_sim.cli.results import beside, parse_select, selected, study_at
from rai_sim.cli.text import interrupts_in_a_line, show, warnings_in_a_line
from rai_sim.support.errors import BadInput

if TYPE_CHECKING:
    from rai_sim.study import StudyResults

_ROWS = typer.Option("--rows", help="one row a replication, not one a task")
_ARMS = typer.Option("--arms", help="one row a task and arm: pulls, of a study that keeps them")
_OUTPUT = "the file, .csv or .parquet; default: the study's name with .csv"


def export(
    study: Annotated[Path, STUDY],
    output: Annotated[Path | None, options.path(_OUTPUT, "--output", "-o")] = None,
    rows: Annotated[bool, _ROWS] = False,
    arms: Annotated[bool, _ARMS] = False,
    store: Annotated[Path | None, options.path(FOLDER, metavar="FOLDER")] = None,
    select: Annotated[list[str] | None, SELECT] = None,
) -> None:
    """Write a study's results into a CSV or Parquet file.

    Nothing is run. In CSV a text that a spreadsheet would run gets a leading apostrophe.
    """
    if rows and arms:
        raise BadInput("--rows and --arms are two tables; give one of them")
    path = beside(study, ".csv") if output is None else output
    check_output(path, TABLES)
    chosen = parse_select(select or [])
    with warnings_in_a_line(every=True), interrupts_in_a_line():
        results, _ = study_at(study, store)
        check_apart(path, results.folder)
        _check_kept(results, rows, arms)
        found = selected(results, chosen)
        write = found.to_csv if path.suffix.lower() == ".csv" else found.to_parquet
        write(path, rows=rows, arms=arms)
    show(f"{path}")


def _check_kept(results: StudyResults, rows: bool, arms: bool) -> None:
    """Refuse a table of what the study does not keep."""
    for option, asked, kept, what, keep in (
        ("--rows", rows, results.keeps_rows, "no rows, but sums", "replications"),
        ("--arms", arms, results.keeps_arm_pulls, "no pulls by arm", "arm_pulls_sum"),
    ):
        if asked and not kept:
            raise BadInput(
                f"{option}: store {results.folder} keeps {what}; leave it out, or run the study into "
                f"another folder with rai-sim study --keep {keep}"
            )
