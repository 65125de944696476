"""A study as one page of HTML that needs no network: contents, tables that sort, figures, what was
run, provenance, warnings."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rai_sim.certification.verdicts import how_sure
from rai_sim.report.look import SCRIPT, STYLE
from rai_sim.scaling.lines import refuse_other_results
from rai_sim.simulation.columns import COLUMNS
from rai_sim.simulation.provenance import environment, now
from rai_sim.simulation.statistics import ABOVE, OPEN
from rai_sim.study import tables
from rai_sim.support import html_tables
from rai_sim.support.checks import check_title
from rai_sim.support.columns import Column, cells, titles
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.files import PAGES, names_a_page, write_atomically
from rai_sim.support.wording import count, percent

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.plotting.drawing import Drawing
    from rai_sim.study import StudyResults

#: Instances, tasks and runs that the page lists: what a browser still shows at once.
_INSTANCES, _TASKS, _RUNS = 10_000, 10_000, 50
#: Figures of more inches than these have the width of the page.
_BROAD = 6.5


def report(
    results: StudyResults,
    *,
    title: str | None = None,
    definition: str | None = None,
    all_figures: bool = False,
) -> str:
    """Return a study's report as the text of an HTML page; needs the extra `plot`.

    Parameters
    ----------
    results : StudyResults
        What `Study.run`, `Study.results` or `open_study` returned.
    title : str, optional
        The page's title; the store's name when None.
    definition : str, optional
        The study's definition, such as its TOML file, to be shown.
    all_figures : bool, default False
        Whether to draw all figures that suit the study, not only three of a kind.

    Returns
    -------
    str
        The page, complete: style, script and figures are inside.

    Raises
    ------
    TypeError
        If `results` is no study's, or the title no text.
    ValueError
        If the title is blank.
    ImportError
        Without matplotlib.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=20)
    >>> page = report(study.run(tempfile.mkdtemp()), title="Two and two")
    >>> "<h1>Two and two</h1>" in page
    True
    """
    refuse_other_results(results)
    check_title(title, "the store's name")
    from rai_sim.plotting.drawing import render_or_say_why

    summary, named = results.summary(), title if title is not None else results.folder.name
    frame = tables.distinct(summary)
    listed = _listed(frame)
    drawings = [
        (drawing, render_or_say_why(drawing, "svg"))
        for drawing in _drawings(results, summary, all_figures)
    ]
    parts = [
        f"<h1>{html.escape(named)}</h1>",
        f"<p>{html.escape(_in_short(results, frame))}</p>",
        html_tables.warnings(tables.warnings_of(results, frame)),
        _contents(listed, [drawing for drawing, _ in drawings]),
        _section("Pulls", _pulls_table(listed) + _left_out(frame, listed)),
        _section(
            "Errors",
            _errors_table(
                listed, how_sure(results.alpha, results.judged), tables.at_cap_of(results)
            )
            + _left_out(frame, listed),
        ),
        _section("Figures", _figures(drawings)),
        _section("What was run", _what(results, definition)),
        _section("Provenance", _provenance(results)),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta '
        f'charset="utf-8"><title>{html.escape(named)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" '
        'href="data:,">'
        f"<style>{STYLE}</style></head><body>{''.join(parts)}<script>{SCRIPT}</script></body></html>\n"
    )


def _contents(listed: pl.DataFrame, drawings: Sequence[Drawing]) -> str:
    """Return links to everything below, each figure among it."""
    rows = count(len(listed), "row")
    figures = ", ".join(_link(drawing.name, drawing.name) for drawing in drawings)
    items = [
        f"{_link('Pulls')}, a table of {rows}",
        f"{_link('Errors')}, a table of {rows}",
        _link("Figures") + (f": {figures}" if figures else ""),
        _link("What was run"),
        _link("Provenance"),
    ]
    return (
        f'<nav aria-label="contents"><ul>{"".join(f"<li>{item}</li>" for item in items)}</ul></nav>'
    )


def _link(head: str, place: str | None = None) -> str:
    return (
        f'<a href="#{html.escape(_id(head) if place is None else place)}">{html.escape(head)}</a>'
    )


def _id(head: str) -> str:
    """Return a section's place in the page; figures have their names."""
    return "section-" + head.lower().replace(" ", "-")


def _section(head: str, content: str) -> str:
    return f'<section id="{_id(head)}"><h2>{html.escape(head)}</h2>{content}</section>'


def _sorted_table(columns: Sequence[Column], rows: Iterable[Any], left: int) -> str:
    table = html_tables.table(titles(columns), (cells(columns, row) for row in rows), left, "sorts")
    return f'<div class="wide" tabindex="0">{table}</div>'


def _in_short(results: StudyResults, frame: pl.DataFrame) -> str:
    done, wanted = results.progress()
    errors, finished = int(frame["errors"].sum()), int(frame["finished"].sum())
    words = (
        f"{count(len(results.tasks), 'task')}, {done:,} of {count(wanted, 'replication')}, "
        f"{count(errors, 'wrong output')} of {finished:,}"
    )
    return words + ("." if done == wanted else "; unfinished.")


# What was run
# --------------------------------------------------------------------------------------------------


def _what(results: StudyResults, definition: str | None) -> str:
    instances = tables.instance_rows(results.tasks)
    columns = tables.INSTANCE_COLUMNS.pick(
        "instance", "law", "n_arms", "clusters", "required", "bottleneck_gap_reward", "means"
    )
    more = (
        f"<p>... and {count(len(instances) - _INSTANCES, 'more instance')}.</p>"
        if len(instances) > _INSTANCES
        else ""
    )
    runs = [task.experiment for task in results.tasks]
    facts: dict[str, Sequence[object]] = {
        "replications of each task": [_wanted(results)],
        "algorithms": sorted({run.algorithm.label for run in runs}),
        "delta": sorted({run.delta for run in runs}),
        "seeds": sorted({run.seed for run in runs}),
        "skip_error": sorted({run.skip_error for run in runs}),
        "max_pulls": sorted(
            {"none" if run.max_pulls is None else f"{run.max_pulls:,}" for run in runs}
        ),
    }
    listed = "".join(
        f"<li>{html.escape(name)}: {html.escape(', '.join(map(str, values)))}</li>"
        for name, values in facts.items()
    )
    shown = (
        ""
        if definition is None
        else "<details><summary>The study's "
        f"file</summary><pre>{html.escape(definition)}</pre></details>"
    )
    return f"<ul>{listed}</ul>{shown}{_sorted_table(columns, instances[:_INSTANCES], len(columns))}{more}"


def _wanted(results: StudyResults) -> str:
    study = results.study
    if study is None:
        return "all that the folder holds"
    return tables.wanted_words(study).removesuffix(" each")


def _listed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that the page lists: all, or of very many the first ones and those that
    warn."""
    import polars as pl

    if len(frame) <= _TASKS:
        return frame
    return frame.filter((pl.col("error_verdict") == ABOVE) | (pl.int_range(pl.len()) < _TASKS))


def _left_out(frame: pl.DataFrame, listed: pl.DataFrame) -> str:
    left = len(frame) - len(listed)
    return (
        f"<p>Not listed: {count(left, 'more task')}; `rai-sim study --output FILE.csv` writes all.</p>"
        if left
        else ""
    )


# Results
# --------------------------------------------------------------------------------------------------


def _verdict(row: Mapping[str, Any]) -> str:
    """Return on which side of delta an error rate lies, as far as is known of all tasks
    together."""
    if not row["finished"]:
        return "none finished"
    if row["error_verdict"] == OPEN:
        return f"open: up to {percent(row['error_rate_high_95'])} possible"
    return f"lies {row['error_verdict']}"


_PULLS = COLUMNS.pick(
    "instance",
    "algorithm",
    "delta",
    "replications",
    "pulls_mean",
    "pulls_interval",
    "relative_half_width_95",
    "tight_bound_pulls",
    "lower_bound_pulls",
    "upper_bound_pulls",
)
_ERRORS = (
    *COLUMNS.pick("instance", "algorithm", "delta", "finished", "errors"),
    COLUMNS["error_rate"].shown("error rate"),
    COLUMNS["error_interval"],
    Column(key="verdict", title="verdict", get=_verdict, warns=COLUMNS["error_rate"].warns),
)


def _pulls_table(frame: pl.DataFrame) -> str:
    return (
        _sorted_table(_PULLS, frame.iter_rows(named=True), tables.NAMES)
        + f"<p>{html.escape(tables.LEGEND)}</p>"
    )


def _errors_table(frame: pl.DataFrame, sure: str, at_cap: Sequence[Column] = ()) -> str:
    table = _sorted_table((*_ERRORS, *at_cap), frame.iter_rows(named=True), tables.NAMES)
    return (
        f"{table}<p>Intervals are Clopper and Pearson's, of single tasks: of many, one in forty "
        "lies above delta by chance where the error probability is delta itself. "
        f"{html.escape(sure[0].upper() + sure[1:])}: replications that the cap ended count as right "
        "for above, as wrong for below.</p>"
    )


def _drawings(results: StudyResults, summary: pl.DataFrame, everything: bool) -> list[Drawing]:
    """Return the figures that suit the study; none where nothing finished, nor error rates can be
    drawn against several caps."""
    from rai_sim.plotting.choice import choose

    try:
        return choose(results, summary, everything=everything)
    except ArgumentValueError:
        if summary["finished"].sum():
            raise
        return []


def _figures(drawings: Sequence[tuple[Drawing, bytes | str]]) -> str:
    if not drawings:
        return (
            "<p>No replication finished, and no instance has two caps for error rates against the "
            "cap: there is nothing to draw.</p>"
        )
    return (
        f'<div class="figures">{"".join(_figure(drawing, svg) for drawing, svg in drawings)}</div>'
    )


def _figure(drawing: Drawing, svg: bytes | str) -> str:
    name, caption = html.escape(drawing.name), html.escape(drawing.caption)
    if isinstance(svg, str):
        picture = f"<p>{html.escape(f'Figure {drawing.name} is {svg}')}</p>"
    else:
        source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
        picture = f'<img src="{source}" alt="figure {name}; its numbers are in the tables">'
    broad = ' class="broad"' if drawing.size[0] > _BROAD else ""
    return f'<figure id="{name}"{broad}>{picture}<figcaption>{caption}</figcaption></figure>'


# Provenance
# --------------------------------------------------------------------------------------------------


def _of_run(key: str, title: str | None = None, form: Callable[[Any], str] = str) -> Column:
    """Return a column of the runs' records; older ones may miss what newer ones keep."""

    def shown(value: Any) -> str:
        return "n/a" if value is None else form(value)

    return Column(key=key, title=title or key, get=lambda run: run.get(key), form=shown)


_RUN_COLUMNS = (
    _of_run("started"),
    _of_run("ended"),
    _of_run("status"),
    _of_run("replications_added", "replications added", "{:,}".format),
    _of_run("workers"),
    _of_run("rai_sim"),
    _of_run("stream_version", "stream version"),
    _of_run("processor"),
)


def _provenance(results: StudyResults) -> str:
    runs = results.runs()
    more = f"<p>The last {_RUNS} of {len(runs):,} runs.</p>" if len(runs) > _RUNS else ""
    records = html.escape(json.dumps(runs[-_RUNS:], indent=1))
    here = environment()
    made = f"This page: {now()}, rai_sim {here['rai_sim']}, streams of version {here['stream_version']}."
    return (
        f"<p>{html.escape(made)} Every replication is a function of seed and index alone and can "
        "be made again.</p>"
        f"{_sorted_table(_RUN_COLUMNS, runs[-_RUNS:], 3)}{more}"
        f"<details><summary>The runs' whole records</summary><pre>{records}</pre></details>"
    )


def write_report(
    results: StudyResults,
    path: str | Path,
    *,
    title: str | None = None,
    definition: str | None = None,
    all_figures: bool = False,
) -> None:
    """Write `report` to a file.

    Parameters
    ----------
    results, title, definition, all_figures
        As in `report`.
    path : path
        The file, replaced if it exists, in a folder that exists; its name ends in .html or .htm.

    Raises
    ------
    TypeError
        As `report`.
    ValueError
        If a regular file's name ends otherwise, or the title is blank.
    ImportError
        Without matplotlib.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=20)
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(study.run(path.parent / "store"), path)
    >>> path.stat().st_size > 10_000
    True
    """
    place = Path(path)
    if not names_a_page(place):
        raise ArgumentValueError(
            "path",
            f"path is {str(path)!r}; a report is a page of HTML: give a name that ends in one of "
            f"{', '.join(PAGES)}",
        )
    page = report(results, title=title, definition=definition, all_figures=all_figures).encode()
    write_atomically(place, lambda file: file.write(page))
