"""The verb `study`: run a study's file into its folder, show what there is, and make stored numbers
again."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rai_sim.cli import options
from rai_sim.cli.backends import Address, Backend, Scheduler, Where, Workers
from rai_sim.cli.fitted import fitted_table, most_rows
from rai_sim.cli.options import (
    FOLDER,
    PROGRESS,
    Belongs,
    Json,
    again,
    near_file,
    path_name,
)
from rai_sim.cli.outputs import check_apart, check_output, write_output
from rai_sim.cli.results import check_run
from rai_sim.cli.tables import json_text
from rai_sim.cli.text import interrupts_in_a_line, show, warnings_in_a_line
from rai_sim.support.durations import seconds_of
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import seen
from rai_sim.support.wording import and_more, count, json_safe

if TYPE_CHECKING:
    from rai_sim.study import Estimate, Study, StudyResults
    from rai_sim.study.division import Part

#: Exit code where the time was up, that of timeout(1).
TIME_IS_UP = 124
#: In a terminal a table stops after so many tasks; a pipe, files and JSON have them all.
_MOST_ROWS = 200
_PART = (
    "run the Kth of N shares alone, such as 3/16, or slurm in a job of a SLURM array; into one "
    "folder for all, or one for each (rai-sim merge)"
)
_TIME = (
    "stop after so long, such as 90s, 30m, 2h or 1h30m: what was finished is stored, what is left is "
    "said, and the exit code is 124"
)
#: What a study may keep, as `rai_sim.study.schemas.KEEPS` has it, which is slow to import.
KEEPS = ("replications", "aggregates", "arm_pulls", "arm_pulls_sum")
_KEEP = (
    "replications: rows; aggregates: sums; arm_pulls, arm_pulls_sum: these with the pulls of each "
    "arm; in place of the file's"
)
#: How many replications --verify runs again, and how long --dry-run may take for a task, if nothing
#: is said.
_SAMPLE, _PILOT_TIME = 100, "1s"
_BELONGS = Belongs(
    needs={"sample": "verify", "pilot_time": "dry_run"},
    apart=(
        ("dry_run", "verify"),
        *product(("verify", "dry_run", "output"), ("part",)),
        *product(("output", "time"), ("dry_run", "verify")),
        # which runs what is stored, as it is stored, and has no bar
        *product(("replications", "precision", "until", "alpha", "keep", "progress"), ("verify",)),
    ),
)
_OUTPUT = (
    "write the summary, one row a task, as .csv or .parquet, or what --json prints as .json; in CSV "
    "a text that a spreadsheet would run gets a leading apostrophe"
)


def study(
    file: Annotated[
        Path,
        typer.Argument(
            help="the study's TOML file", metavar="FILE.toml", parser=path_name, show_default=False
        ),
    ],
    store: Annotated[Path | None, options.path(FOLDER, metavar="FOLDER")] = None,
    replications: Annotated[
        int | None, options.whole("of each task, in place of the file's; what is there counts")
    ] = None,
    precision: Annotated[
        float | None,
        options.real("relative half-width of the mean's 95 % interval, in place of the file's"),
    ] = None,
    until: Annotated[
        str | None,
        options.names(
            "error-rate: run each task until its error rate is known to lie above or below delta; "
            "alone, or with --precision",
            ("error-rate",),
            "WHAT",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        options.real("probability of any wrong verdict on an error rate, at most; default: 0.05"),
    ] = None,
    keep: Annotated[str | None, options.names(_KEEP, KEEPS)] = None,
    jobs: Workers = None,
    backend: Backend = "threads",
    scheduler: Scheduler = None,
    address: Address = None,
    part: Annotated[str | None, typer.Option(help=_PART, metavar="K/N", show_default=False)] = None,
    time: Annotated[
        str | None, typer.Option(help=_TIME, metavar="TIME", show_default=False)
    ] = None,
    output: Annotated[Path | None, options.path(_OUTPUT, "--output", "-o")] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="store nothing: run a few replications of each task, and say what all will take, in "
            "seconds, pulls and bytes",
        ),
    ] = False,
    pilot_time: Annotated[
        str | None,
        typer.Option(
            help="most time of --dry-run for one task, such as 2m; default: 1s",
            metavar="TIME",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="instead: run a random sample of stored replications again and compare"
        ),
    ] = False,
    sample: Annotated[
        int | None, options.whole(f"replications that --verify runs again; default: {_SAMPLE}")
    ] = None,
    progress: Annotated[bool | None, PROGRESS] = None,
    json: Json = False,
) -> None:
    """Run a grid of simulations into a folder, or go on with one.

    What is there already is not run again.
    """
    from rai_sim.study import Study
    from rai_sim.study.division import read_part
    from rai_sim.study.file import store_of

    _BELONGS.check(
        {
            "replications": replications,
            "precision": precision,
            "until": until,
            "alpha": alpha,
            "keep": keep,
            "dry_run": dry_run,
            "verify": verify,
            "part": part,
            "output": output,
            "time": time,
            "sample": sample,
            "pilot_time": pilot_time,
            "progress": progress is True,
        }
    )
    where = Where(backend, scheduler, address)
    n_jobs = where.check(jobs)
    check_definition(file)
    share = read_part(part)
    limit = None if time is None else options.read_option("time", _seconds, time)
    longest = options.read_option("pilot-time", _seconds, pilot_time or _PILOT_TIME)
    numbers: dict[str, Any] = {
        "replications": replications,
        "precision": precision,
        "until": until,
        "alpha": alpha,
    }
    wanted = Study.from_toml(file, **numbers, keep=keep)
    folder = store_of(file) if store is None else store
    check_output(output)
    check_apart(output, folder)
    asked = {
        "store": store,
        **numbers,
        "keep": keep,
        "jobs": None if jobs == 1 else jobs,
        "part": share,
        "backend": None if backend == "threads" else backend,
        "scheduler": scheduler,
        "address": address,
        "time": time,
    }
    onward = again(
        "study",
        **asked,
        dry_run=dry_run,
        pilot_time=pilot_time,
        verify=verify,
        sample=sample,
        output=output,
        json=json,
    )
    rerun, onward = (
        f"{words} {shlex.quote(str(file))}" for words in (again("study", **asked), onward)
    )
    with warnings_in_a_line(every=True), interrupts_in_a_line(onward):
        if dry_run:
            with where.configured():
                estimate = wanted.estimate(
                    folder, n_jobs=n_jobs, pilot_time=longest, progress=progress
                )
            show(
                json_text({"folder": str(folder), **estimate.to_dict()})
                if json
                else plan_text(wanted, estimate, folder)
            )
            return
        if verify:
            check_run(file, folder)
            with where.configured():
                found = wanted.results(folder).verify(
                    _SAMPLE if sample is None else sample, n_jobs=n_jobs
                )
            show(
                json_text({"checked": found.checked, "mismatches": found.mismatches})
                if json
                else str(found)
            )
            raise typer.Exit(1 if found.mismatches or not found.checked else 0)
        with where.configured():
            results, code, said, failures = run_or_tell(
                wanted, folder, n_jobs, progress, onward, share, limit
            )

        def document() -> dict[str, Any]:
            return summary_document(
                results,
                rerun=rerun,
                interrupted=code == 130,
                cut_short=results.cut_short,
                failures=failures,
            )

        unwritten: OSError | None = None
        if output is not None:  # before anything is shown: who reads that may leave early
            try:
                write_output(output, results.summary, document)
            except OSError as error:
                unwritten = error
        if json:
            show(json_text(document()))
        elif code != 130:
            partial = share is not None and code != TIME_IS_UP and results.unfinished()
            show(part_text(results, share) if share and partial else summary_text(results))
        if unwritten is not None:
            raise unwritten
    if said:
        print("rai-sim:", said, file=sys.stderr)
    raise typer.Exit(code)


def _seconds(text: str) -> float:
    try:
        return seconds_of("time", text)
    except ValueError:
        raise BadInput(f"{seen(text)} is no time; give such as 90s, 30m, 2h or 1h30m") from None


class Ran(NamedTuple):
    """What a study has come to: its results, the exit code, what is said on the error stream, and
    the tasks that failed with their errors."""

    results: StudyResults
    code: int = 0
    said: str = ""
    failures: Mapping[str, str] = {}


def run_or_tell(
    wanted: Study,
    folder: Path,
    jobs: int,
    progress: bool | None,
    onward: str,
    part: Part | None = None,
    limit: float | None = None,
) -> Ran:
    """Run a study, or a part of it, into a folder; of one that was interrupted, failed or had no
    time left return what there is. `onward` is the command that goes on."""
    from rai_sim.study import StudyFailed, StudyInterrupted, TimeLimitWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TimeLimitWarning)  # told below
            results = wanted.run(
                folder, n_jobs=jobs, progress=progress, part=part, time_limit=limit
            )
        if results.cut_short is None:
            return Ran(results)
        return Ran(results, TIME_IS_UP, f"{results.cut_short}; to go on: {onward}")
    except StudyInterrupted as error:
        if not error.opened:
            raise
        done, total = error.results.progress()
        said = f"INTERRUPTED with {done:,} of {count(total, 'replication')} in {folder}; to go on: {onward}"
        return Ran(error.results, 130, said)
    except StudyFailed as error:
        failures = {task.label: str(flaw) for task, flaw in error.failures.items()}
        return Ran(error.results, 2, str(error), failures)


def check_definition(file: Path) -> None:
    """Refuse what is no file before it is read, and say which is probably meant."""
    if file.is_dir():
        raise BadInput(
            f"{file} is a folder; name the study's TOML file, which a folder of results does not "
            "hold: rai-sim plot and "
            "rai-sim report take such a folder"
        )
    if not file.exists():
        raise BadInput(
            f"{str(file)!r} cannot be read: No such file or directory{near_file(file, '.toml')} "
            "name a TOML file"
        )


def summary_text(results: StudyResults) -> str:
    """Return the summary as a table with what a reader must know below it."""
    from rai_sim.study import tables

    frame = tables.distinct(results.summary())
    remedy, columns = "a pipe, --output or --json has all", tables.shown_of(results)
    most = most_rows(_MOST_ROWS, len(frame))
    rows = frame.head(most).iter_rows(named=True)
    lines = fitted_table(columns, rows, tables.NAMES, tables.least_of(columns), remedy)
    if more := and_more(len(frame) - most, "task", remedy):
        lines.append(more)
    said = [f"WARNING: {sentence}" for sentence in tables.warnings_of(results, frame)]
    return "\n".join([*lines, "", tables.legend_of(results), *said, tables.how_far(results)])


def part_text(results: StudyResults, part: Part) -> str:
    """Return what is said when a part is done and others are not."""
    done, wanted = results.progress()
    return (
        f"part {part} is done; {results.folder} holds {done:,} of {count(wanted, 'replication')} wanted "
        "as far as is known. When all parts are done, rai-sim merge unites their folders; in a "
        "folder for all, the same command without --part shows the summary"
    )


def summary_document(results: StudyResults, **more: Any) -> dict[str, Any]:
    """Return what `study --json` prints."""
    done, wanted = results.progress()
    head = {"folder": str(results.folder), "replications": done, "wanted": wanted, **more}
    return head | {"tasks": json_safe(results.summary().to_dicts())}


def plan_text(study: Study, estimate: Estimate, folder: Path) -> str:
    """Return what running the study would do, and what it would cost."""
    from rai_sim.study import tables
    from rai_sim.study.estimate import COLUMNS, LEAST, NAMES

    remedy, most = "a pipe or --json has all", most_rows(_MOST_ROWS, len(estimate.rows))
    lines = fitted_table(tuple(COLUMNS), estimate.rows[:most], NAMES, LEAST, remedy)
    if more := and_more(len(estimate.rows) - most, "task", remedy):
        lines.append(more)
    there = sum(row.replications - row.left for row in estimate.rows)
    wanted = sum(row.replications for row in estimate.rows)
    return "\n".join(
        [
            f"{count(len(study.tasks), 'task')}, {tables.wanted_words(study)}, into {folder}",
            "",
            *lines,
            "",
            *estimate.statements,
            f"{there:,} replications are there of {wanted:,} wanted as far as is known",
        ]
    )
