"""The verb `report`: a study's page of tables, figures and provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rai_sim.cli import options
from rai_sim.cli.options import ALL, FOLDER, SELECT, STUDY, check_file
from rai_sim.cli.outputs import check_apart
from rai_sim.cli.results import beside, parse_select, selected, study_at
from rai_sim.cli.text import interrupts_in_a_line, show, warnings_in_a_line
from rai_sim.support.errors import BadInput
from rai_sim.support.files import PAGES, is_own_output, names_a_page


def report(
    study: Annotated[Path, STUDY],
    output: Annotated[
        Path | None,
        options.path("the page; default: the study's name with .html", "--output", "-o"),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            help="the page's title; default: the study's name", metavar="TEXT", show_default=False
        ),
    ] = None,
    store: Annotated[Path | None, options.path(FOLDER, metavar="FOLDER")] = None,
    select: Annotated[list[str] | None, SELECT] = None,
    everything: Annotated[bool, ALL] = False,
) -> None:
    """Write a study's report, one HTML page.

    It has tables, figures, provenance and warnings, and is complete without a network.
    """
    path = beside(study, ".html") if output is None else output
    check_file(path, "--output")
    if not names_a_page(path):
        raise BadInput(f"--output {path} ends in none of {', '.join(PAGES)}; give a name that does")
    chosen = parse_select(select or [])
    import rai_sim.plotting  # noqa: F401  # without matplotlib nothing is read
    from rai_sim.report import write_report

    with warnings_in_a_line(every=True), interrupts_in_a_line():
        results, definition = study_at(study, store)
        check_apart(path, results.folder)
        named = beside(study, "").name if title is None else title
        write_report(
            selected(results, chosen),
            path,
            title=named,
            definition=definition,
            all_figures=everything,
        )
    if not is_own_output(path):  # the page ends with the page
        show(f"{path}")
