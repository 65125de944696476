"""Results as files, for verbs that have `--output`: the kind is told by the name's end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rai_sim.cli.options import check_file, check_unread
from rai_sim.cli.tables import json_text
from rai_sim.simulation.result import Result
from rai_sim.simulation.summary import found_in
from rai_sim.support.errors import BadInput
from rai_sim.support.files import write_atomically

if TYPE_CHECKING:
    import polars as pl

#: Columns of a study's summary that other results have not.
_OF_A_STUDY = ("instance", "parameters", "complete", "precision_reached", "error_verdict")
#: Tables, which other programs read.
TABLES = (".csv", ".parquet")
#: Ends of names that `--output` takes where it writes what `--json` prints, too.
ANY = (".csv", ".json", ".parquet")


def check_output(path: Path | None, kinds: tuple[str, ...] = ANY) -> None:
    """Refuse a name for `write_output` before anything is run."""
    if path is None:
        return
    check_file(path, "--output")
    if path.suffix.lower() not in kinds:
        raise BadInput(f"--output {path} ends in none of {', '.join(kinds)}; give a name that does")


def check_apart(path: Path | None, store: Path, option: str = "--output") -> None:
    """Refuse the place of a study's results, a name among them, and that of a file that was read,
    its own file among them; links are followed, as they are when it is written."""
    if path is None:
        return
    place = path.resolve()
    if store.resolve() in (place, *place.parents):
        raise BadInput(
            f"{option} {path} lies among the study's results in {store}; give another place"
        )
    check_unread(path, option)


def write_output(
    path: Path, table: Callable[[], pl.DataFrame], document: Callable[[], dict[str, Any]]
) -> None:
    """Write a table as CSV or Parquet, or the document as JSON, as the name's end says."""
    from rai_sim.support.exports import write_table

    if path.suffix.lower() == ".json":
        text = json_text(document()) + "\n"
        write_atomically(path, lambda file: file.write(text.encode()))
    else:
        write_table(table(), path)


def arm_columns(result: Result) -> dict[str, list[float | None]]:
    """Return what a result keeps of pulls by arm, by the caller's index: their means over finished
    replications and the standard errors of these; nothing where it keeps none.

    Examples
    --------
    >>> import rai_sim as rai
    >>> run = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=3, keep="arm_pulls")
    >>> [name for name in arm_columns(run)], arm_columns(run)["arm_pulls_mean"][:2]
    (['arm_pulls_mean', 'arm_pulls_standard_error'], [1037.0, 1037.0])
    """
    if result.arm_pulls is None and result.arm_pulls_sum is None:
        return {}
    frame = result.by_arm()
    means = {"arm_pulls_mean": frame["pulls_mean"].to_list()}
    if result.arm_pulls is None:
        return means
    return means | {"arm_pulls_standard_error": frame["pulls_standard_error"].to_list()}


def results_frame(results: Iterable[Result]) -> pl.DataFrame:
    """Return one row a result: the columns of `StudyResults.summary` that are not about a study, and
    the seconds."""
    import polars as pl

    from rai_sim.study.summary import SUMMARY_SCHEMA

    schema = {key: kind for key, kind in SUMMARY_SCHEMA.items() if key not in _OF_A_STUDY}
    rows, some = [], list(results)
    for result in some:
        found = found_in(result)
        facts = {**found.facts, "task": result.experiment.identity().rpartition(":")[2]}
        found = replace(found, facts=facts)
        times = {"seconds": result.seconds, "compile_seconds": result.compile_seconds}
        rows.append({key: found[key] for key in schema} | times | arm_columns(result))
    schema |= {"seconds": pl.Float64, "compile_seconds": pl.Float64}
    schema |= {key: pl.List(pl.Float64) for key in arm_columns(some[0])} if some else {}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )
