"""The study that `plot`, `report` and `export` are given: its results, those of the tasks asked
for, and places beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rai_sim.algorithms.text import algorithm_from_text
from rai_sim.cli.options import near_file
from rai_sim.support.errors import BadInput
from rai_sim.support.reading import read_text

if TYPE_CHECKING:
    from rai_sim.study import StudyResults


#: By what tasks are selected.
_SELECTABLE = ("instance", "algorithm", "delta")


def beside(study: Path, suffix: str) -> Path:
    """Return the name of a study's folder or file with another end; dots in a name are kept, but
    for .study and .toml."""
    place = study.resolve() if study.name in ("", "..") else study
    name = place.name
    for known in (".toml", ".study"):
        name = name.removesuffix(known) or name
    return place.with_name(name + suffix)


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
            raise BadInput(
                f"--store {store} has no meaning with the folder {place}; leave it out, or give "
                "the study's file"
            )
        results = open_study(place)
        if not results.tasks:
            raise BadInput(
                f"{place} holds no task that can be read; run its study into it again, or give "
                "another folder"
            )
        return results, None
    if not place.exists():
        raise BadInput(
            f"there is no {place}{near_file(place, '.toml', '.study')} name a study's folder or "
            "its TOML file"
        )
    study = Study.from_toml(place)
    folder = store_of(place) if store is None else store
    check_run(place, folder)
    return study.results(folder), read_text(place)


def check_run(file: Path, folder: Path) -> None:
    """Refuse to look for results of a study, given by its file, in a folder that is not there."""
    if not folder.is_dir():
        raise BadInput(
            f"{file}: there is no folder {folder} with its results; run rai-sim study {file} first"
        )


def parse_select(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return what `--select` asks for, as `StudyResults.select` takes it: values by argument."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, given, value = (part.strip() for part in text.partition("="))
        if not given or not value or name not in _SELECTABLE:
            raise BadInput(f"--select {text}: write instance=NAME, algorithm=NAME or delta=NUMBER")
        found.setdefault(name, []).append(_select_value(text, name, value))
    return found


def _select_value(text: str, name: str, value: str) -> Any:
    # as options of `run` and `trace` write it: vanilla:merging=false
    if name == "algorithm" and ":" in value:
        try:
            return algorithm_from_text(value)
        except BadInput as error:
            raise BadInput(f"--select {text}: {error}") from None
    if name != "delta":
        return value
    try:
        return float(value)
    except ValueError:
        raise BadInput(
            f"--select {text}: {value!r} is not a number; give one such as 0.01"
        ) from None


def selected(results: StudyResults, chosen: dict[str, list[Any]]) -> StudyResults:
    """Return the results of the tasks that `--select` asks for."""
    try:
        return results.select(**chosen)
    except ValueError as error:
        raise BadInput(f"--select: {error}") from None
