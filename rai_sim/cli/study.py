"""The command `study`: run a study's file into its folder, show what there is, and make stored numbers again."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rai_sim.cli.parsing import BadInput, check_file, near_file
from rai_sim.cli.tables import fitted_table
from rai_sim.simulation.summary import json_safe, percent

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.study import Study, StudyResults

#: A table stops after so many tasks; files and JSON have them all.
_MOST_ROWS = 200


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a summary as CSV or Parquet, as the name's end says; in CSV lists become text, and texts are made `harmless`."""
    import polars as pl

    from rai_sim.support.files import harmless, write_atomically

    if path.suffix.lower() == ".parquet":
        write_atomically(path, frame.write_parquet)
    elif path.suffix.lower() == ".csv":
        lists = [pl.col(pl.List(pl.Int64)).cast(pl.List(pl.String)).list.join(" ")]
        texts = [pl.col(pl.String).map_elements(harmless, return_dtype=pl.String)]
        plain = frame.with_columns(lists).with_columns(texts)
        write_atomically(path, plain.write_csv)
    else:
        check_output(path)


def check_definition(file: Path) -> None:
    """Refuse what is no file before it is read, and say which is probably meant."""
    if file.is_dir():
        raise BadInput(f"{file} is a folder; name the study's TOML file, which a folder of results does not hold: rai-sim plot and "
                       "rai-sim report take such a folder")
    if not file.exists():
        raise BadInput(f"{str(file)!r} cannot be read: No such file or directory{near_file(file, '.toml')} name a TOML file")


def check_output(path: Path | None, store: Path | None = None, study: Path | None = None) -> None:
    """Refuse a name for `write_table` before anything is run; links are followed, as they are when it is written."""
    if path is None:
        return
    check_file(path, "--output")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise BadInput(f"--output {path} ends in neither .csv nor .parquet; give a name that does")
    if store is not None and store.resolve() in path.resolve().parents:
        raise BadInput(f"--output {path} lies among the study's results in {store}; give another folder")
    if study is not None and path.resolve() == study.resolve():
        raise BadInput(f"--output {path} is the study's own file; give another name")


def summary_text(results: StudyResults) -> str:
    """Return the summary as a table with what a reader must know below it."""
    from rai_sim.study import tables

    frame = tables.distinct(results.summary())
    rows = [[cell.text for cell in tables.cells(row)] for row in frame.head(_MOST_ROWS).iter_rows(named=True)]
    lines = fitted_table(tables.COLUMNS, rows, tables.NAMES, tables.LEAST, "a pipe, --output or --json has all")
    if len(frame) > _MOST_ROWS:
        lines.append(f"... and {len(frame) - _MOST_ROWS:,} more tasks; --output FILE.csv or --json has all")
    said = [f"WARNING: {sentence}" for sentence in tables.warnings_of(results, frame)]
    return "\n".join([*lines, "", tables.LEGEND, *said, tables.how_far(results)])


def summary_document(results: StudyResults, **more: Any) -> dict[str, Any]:
    """Return what `study --json` prints."""
    done, wanted = results.progress()
    head = {"folder": str(results.folder), "replications": done, "wanted": wanted, **more}
    return head | {"tasks": json_safe(results.summary().to_dicts())}


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Show warnings of the store as one line each on the error stream."""
    def show(message: Warning | str, *_: object, **__: object) -> None:
        print("rai-sim: WARNING:", message, file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextmanager
def interrupts_in_a_line(again: str | None = None) -> Iterator[None]:
    """After Ctrl-C while nothing runs (folders are read, tables are made) say how to go on, too."""
    try:
        yield
    except KeyboardInterrupt as error:
        told = f"rai-sim: {str(error) or 'INTERRUPTED'}" if again is None else f"rai-sim: INTERRUPTED; to go on: {again}"
        print(told, file=sys.stderr)
        raise typer.Exit(130) from None


def plan_text(study: Study, results: StudyResults | None, folder: Path) -> str:
    """Return what running the study would do."""
    wanted = f"to a precision of {percent(study.precision)}" if study.precision is not None else f"{study.replications:,} replications each"
    lines = [f"{len(study.tasks)} tasks, {wanted}, into {folder}", *(f"  {task.label}" for task in study.tasks[:_MOST_ROWS])]
    if len(study.tasks) > _MOST_ROWS:
        lines.append(f"  ... and {len(study.tasks) - _MOST_ROWS:,} more")
    done, total = (0, None) if results is None else results.progress()
    return "\n".join([*lines, f"{done:,} replications are there" + ("" if total is None else f" of {total:,} wanted so far")])
