"""The verb `plot`: the figures that suit a study, each in a file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rai_sim.cli import options
from rai_sim.cli.options import (
    ALL,
    FOLDER,
    FORMAT,
    KINDS,
    SELECT,
    STUDY,
    check_folder,
    check_no_store,
)
from rai_sim.cli.outputs import check_apart
from rai_sim.cli.results import beside, parse_select, selected, study_at
from rai_sim.cli.text import interrupts_in_a_line, show, warnings_in_a_line
from rai_sim.support.errors import BadInput
from rai_sim.support.files import write_atomically
from rai_sim.support.parsing import seen

if TYPE_CHECKING:
    from rai_sim.plotting.drawing import Drawing
    from rai_sim.study import StudyResults


def plot(
    study: Annotated[Path, STUDY],
    output: Annotated[
        Path | None,
        options.path(
            "for the figures; default: the study's name with .figures",
            "--output",
            "-o",
            metavar="FOLDER",
        ),
    ] = None,
    form: Annotated[str | None, FORMAT] = None,
    store: Annotated[Path | None, options.path(FOLDER, metavar="FOLDER")] = None,
    select: Annotated[list[str] | None, SELECT] = None,
    everything: Annotated[bool, ALL] = False,
    columns: Annotated[
        int | None,
        options.whole("as wide as so many columns of a paper, 1 or 2, in smaller type; no titles"),
    ] = None,
) -> None:
    """Draw the figures that suit what varies in a study.

    Each goes into a file.
    """
    kind = check_kind(form)
    folder = beside(study, ".figures") if output is None else output
    check_folder(folder, "--output")
    check_no_store(folder, "--output")
    chosen = parse_select(select or [])
    if columns not in (None, 1, 2):
        raise BadInput(
            f"--columns {columns} is no number of columns that a figure spans; give 1 or 2"
        )
    import rai_sim.plotting  # noqa: F401  # without matplotlib nothing is read

    with warnings_in_a_line(every=True), interrupts_in_a_line():
        results, _ = study_at(study, store)
        check_apart(folder, results.folder)
        with for_paper(columns):
            lines = write_figures(selected(results, chosen), folder, kind, everything)
        for line in lines:
            show(line)


def for_paper(columns: int | None) -> AbstractContextManager[None]:
    """Return what makes figures as wide as a paper's columns; None for a screen."""
    from rai_sim.plotting import paper

    return nullcontext() if columns is None else paper(columns)


def check_kind(text: str | None) -> str:
    """Return the kind of files that figures are written as, in lower case; if none is given the
    first."""
    kind = KINDS[0] if text is None else text.strip().lower()
    if kind not in KINDS:
        raise BadInput(f"--format {seen(kind)} is no kind of figure; choose {', '.join(KINDS)}")
    return kind


def write_figures(
    results: StudyResults, folder: Path, kind: str, everything: bool = False
) -> list[str]:
    """Draw a study's figures into a folder, made if there is none; return a line for each."""
    from rai_sim.plotting.choice import choose

    return write_drawings(choose(results, everything=everything), folder, kind)


def write_drawings(drawings: Sequence[Drawing], folder: Path, kind: str) -> list[str]:
    """Draw figures into a folder, made if there is none; return a line for each, of one that cannot be
    drawn why."""
    from rai_sim.plotting.drawing import render_or_say_why

    folder.resolve().mkdir(exist_ok=True)  # a link to a folder that is not there yet stays one
    lines = []
    for drawing in drawings:
        path = folder / f"{drawing.name}.{kind}"
        picture = render_or_say_why(drawing, kind)
        if isinstance(picture, str):
            lines.append(f"{drawing.name} is {picture}")
        else:
            _write(path, picture)
            lines.append(f"{path}  {drawing.caption}")
    return lines


def _write(path: Path, picture: bytes) -> None:
    write_atomically(path, lambda file: file.write(picture))
