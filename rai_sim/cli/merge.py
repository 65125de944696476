"""The verb `merge`: one store of several, such as those of a study's parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rai_sim.cli import options
from rai_sim.cli.options import Json, path_name
from rai_sim.cli.tables import json_text
from rai_sim.cli.text import interrupts_in_a_line, show, warnings_in_a_line
from rai_sim.support.errors import BadInput
from rai_sim.support.wording import count


def merge(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="studies' folders, each with its own share of the work",
            metavar="FOLDER",
            parser=path_name,
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        options.path("the new folder, which has everything", "--output", "-o", metavar="FOLDER"),
    ] = None,
    json: Json = False,
) -> None:
    """Unite studies' folders in a new one, each replication once.

    Where two have other numbers for the same replication nothing is written.
    """
    from rai_sim.study import merge_studies

    if output is None:
        raise BadInput("--output is missing; give the name of the new folder")
    with warnings_in_a_line(every=True), interrupts_in_a_line():
        results = merge_studies(sources, output)
        done, _ = results.progress()
    tasks = len(results.tasks)
    found = {"folder": str(output), "tasks": tasks, "replications": done}
    said = f"{count(tasks, 'task')}, {count(done, 'replication')} in {output}"
    show(json_text(found) if json else said)
