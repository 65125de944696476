"""The commands `trace`, `plot` and `report`: what one looks at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rai_sim.cli.parsing import KINDS, BadInput, check_file, near_file, parse_algorithm
from rai_sim.cli.tables import fitted_table
from rai_sim.simulation.summary import json_safe
from rai_sim.support.files import write_atomically
from rai_sim.support.reading import read_text
from rai_sim.tracing.events import event_cells
from rai_sim.tracing.trace import Trace

if TYPE_CHECKING:
    from rai_sim.study import StudyResults

#: A table of events stops after so many; JSON has them all.
_MOST_EVENTS = 200
#: Which columns of it a narrow terminal goes without, the first one first: the arm's pulls, its radius, its mean.
_LEAST = (4, 3, 2)


def kind_of(path: Path, option: str = "--plot") -> str:
    """Return the kind of file that a name asks for; refuse what cannot be written before anything is run."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise BadInput(f"{option} {path} does not end in {', '.join(f'.{known}' for known in KINDS)}; give a name that does")
    check_file(path, option)
    return kind


def trace_text(trace: Trace, notes: list[str]) -> str:
    """Return the events as a table."""
    rows = []
    for event in trace.events[:_MOST_EVENTS]:
        words, mean, radius, arm_pulls = event_cells(trace.problem, event)
        rows.append((f"{event.round:,}", f"{event.pulls:,}", mean, radius, arm_pulls, words))
    # The last column is text of any length.
    width = max((len(row[-1]) for row in rows), default=0)
    names = ("round", "pulls", "arm's mean", "radius", "arm's pulls", "event".ljust(width))
    lines = fitted_table(names, [(*row[:-1], row[-1].ljust(width)) for row in rows], 0, _LEAST, "a pipe or --json has all")
    if len(trace.events) > _MOST_EVENTS:
        lines.append(f"... and {len(trace.events) - _MOST_EVENTS:,} more events; --json lists all")
    return "\n".join([trace.headline(), "", *lines, "", *notes])


def trace_document(trace: Trace, **more: Any) -> dict[str, Any]:
    """Return what `trace --json` prints: the result, all events and the states."""
    run = trace.result
    return {
        "algorithm": trace.algorithm.label, "delta": run.delta, "seed": run.seed, "replication": trace.replication,
        "pulls": int(run.pulls[0]), "rounds": int(run.rounds[0]), "finished": bool(run.finished[0]), "correct": bool(run.correct[0]),
        "representatives": run.representatives[0].tolist(), "experiment": run.experiment.identity(), **more,
        "events": json_safe(trace.events_frame().to_dicts()),
        "states": {
            "rounds": trace.rounds.tolist(), "pulls": trace.pulls.tolist(), "means": json_safe(trace.means.tolist()),
            "radii": json_safe(trace.radii.tolist()), "arm_pulls": trace.arm_pulls.tolist(), "active": trace.active.tolist(),
        },
    }  # fmt: skip


def write_trace(trace: Trace, path: Path, kind: str) -> None:
    """Draw a trace into a file."""
    from rai_sim import plotting
    from rai_sim.plotting.choice import figure_bytes
    from rai_sim.plotting.style import house_style, own_axes
    from rai_sim.plotting.traces import SIZE

    with house_style():
        _write(path, figure_bytes(plotting.trace(trace, own_axes(SIZE)), kind))


def beside(study: Path, suffix: str) -> Path:
    """Return the name of a study's folder or file with another end; dots in a name are kept, but for .study and .toml."""
    place = study.resolve() if study.name in ("", "..") else study
    name = place.name
    for known in (".toml", ".study"):
        name = name.removesuffix(known) or name
    return place.with_name(name + suffix)


def check_apart(output: Path, study: Path, folder: Path) -> None:
    """Refuse to write over a study's definition or among its results."""
    if output.resolve() == study.resolve() or folder.resolve() in (output.resolve(), *output.resolve().parents):
        raise BadInput(f"--output {output} is part of the study; give another name")


def study_at(place: Path, store: Path | None) -> tuple[StudyResults, str | None]:
    """Return the results of a study given by its folder or its TOML file, and the file's text.

    Raises
    ------
    StoreError, StudyFileError
        If the folder is no store, or the file is no study's.
    """
    from rai_sim.study import Study, open_study
    from rai_sim.study.file import store_of

    if place.is_dir():
        if store is not None:
            raise BadInput(f"--store {store} has no meaning with the folder {place}; leave it out, or give the study's file")
        return open_study(place), None
    if not place.exists():
        raise BadInput(f"there is no {place}{near_file(place, '.toml', '.study')} name a study's folder or its TOML file")
    study = Study.from_toml(place)
    folder = store_of(place) if store is None else store
    if not folder.is_dir():
        raise BadInput(f"{place}: there is no folder {folder} with its results; run rai-sim study {place} first")
    return study.results(folder), read_text(place)


def parse_select(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return what `--select` asks for, as `StudyResults.select` takes it: values by argument."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, given, value = (part.strip() for part in text.partition("="))
        if not given or not value or name not in _SELECTABLE:
            raise BadInput(f"--select {text}: write instance=NAME, algorithm=NAME or delta=NUMBER")
        found.setdefault(name, []).append(_select_value(text, name, value))
    return found


#: By what tasks are selected.
_SELECTABLE = ("instance", "algorithm", "delta")


def _select_value(text: str, name: str, value: str) -> Any:
    if name == "algorithm" and ":" in value:  # as options of `run` and `trace` write it: vanilla:merging=false
        return parse_algorithm(value)
    if name != "delta":
        return value
    try:
        return float(value)
    except ValueError:
        raise BadInput(f"--select {text}: {value!r} is not a number; give one such as 0.01") from None


def selected(results: StudyResults, chosen: dict[str, list[Any]]) -> StudyResults:
    """Return the results of the tasks that `--select` asks for."""
    try:
        return results.select(**chosen)
    except ValueError as error:
        raise BadInput(f"--select: {error}") from None


def write_figures(results: StudyResults, folder: Path, kind: str, everything: bool = False) -> list[str]:
    """Draw a study's figures into a folder, made if there is none; return a line for each."""
    from rai_sim.plotting.choice import choose, render

    drawings = choose(results, everything=everything)
    folder.resolve().mkdir(exist_ok=True)  # a link to a folder that is not there yet stays one
    lines = []
    for drawing in drawings:
        path = folder / f"{drawing.name}.{kind}"
        _write(path, render(drawing, kind))
        lines.append(f"{path}  {drawing.caption}")
    return lines


def _write(path: Path, picture: bytes) -> None:
    write_atomically(path, lambda file: file.write(picture))
